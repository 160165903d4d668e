#include "nn/softmax.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "nn/eigen.h"

namespace askbase::nn {

namespace {

template <typename T>
constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();

template <typename A, typename B>
void check(View<A> a, View<B> b, Mask mask = {}) {
  if (a.rows != b.rows || a.cols != b.cols) throw std::logic_error("nn: two views of different shapes");
  if (!mask.empty() && static_cast<Index>(mask.size()) != a.size())
    throw std::logic_error("nn: the mask's size");
}

const unsigned char* mask_row(Mask mask, Index row, Index cols) {
  return mask.empty() ? nullptr : mask.data() + row * cols;
}

// Largest number that counts; minus infinity when none does.
template <typename T>
T largest(const T* x, Index n, const unsigned char* mask) {
  if (mask == nullptr) return n == 0 ? kMinusInfinity<T> : row_array(x, n).maxCoeff();
  T best = kMinusInfinity<T>;
  for (Index i = 0; i < n; ++i) {
    if (mask[i] && x[i] > best) best = x[i];
  }
  return best;
}

// y = exp(x - largest), masked ones 0; returns the sum.
template <typename T>
T shifted_exp(const T* x, T* y, Index n, T shift, const unsigned char* mask) {
  row_array(y, n) = (row_array(x, n) - shift).exp();
  if (mask != nullptr) {
    for (Index i = 0; i < n; ++i) {
      if (!mask[i]) y[i] = T(0);
    }
  }
  return row_array<const T>(y, n).sum();
}

}  // namespace

template <typename T>
void softmax(View<const std::type_identity_t<T>> x, View<T> y, Mask mask, Team& team) {
  check(x, y, mask);
  team.parallel_for(x.rows, row_grain(x.cols), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const unsigned char* m = mask_row(mask, r, x.cols);
      const T top = largest(x.row(r), x.cols, m);
      if (top == kMinusInfinity<T>) {
        row_array(y.row(r), y.cols).setZero();
        continue;
      }
      const T sum = shifted_exp(x.row(r), y.row(r), x.cols, top, m);
      row_array(y.row(r), y.cols) *= T(1) / sum;
    }
  });
}

template <typename T>
void softmax_backward(View<const std::type_identity_t<T>> y, View<const std::type_identity_t<T>> dy,
                      View<T> dx, Team& team) {
  check(y, dy);
  check(y, dx);
  team.parallel_for(y.rows, row_grain(y.cols), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const T dot = (row_array(y.row(r), y.cols) * row_array(dy.row(r), y.cols)).sum();
      row_array(dx.row(r), y.cols) = row_array(y.row(r), y.cols) * (row_array(dy.row(r), y.cols) - dot);
    }
  });
}

template <typename T>
void log_softmax(View<const std::type_identity_t<T>> x, View<T> y, Mask mask, Team& team) {
  check(x, y, mask);
  team.parallel_for(x.rows, row_grain(x.cols), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const unsigned char* m = mask_row(mask, r, x.cols);
      const T top = largest(x.row(r), x.cols, m);
      T sum = T(0);
      for (Index i = 0; i < x.cols && top != kMinusInfinity<T>; ++i) {
        if (m == nullptr || m[i]) sum += std::exp(x(r, i) - top);
      }
      const T shift = top + std::log(sum);
      for (Index i = 0; i < x.cols; ++i) {
        y(r, i) = top != kMinusInfinity<T> && (m == nullptr || m[i]) ? x(r, i) - shift : kMinusInfinity<T>;
      }
    }
  });
}

template <typename T>
void log_softmax_backward(View<const std::type_identity_t<T>> y, View<const std::type_identity_t<T>> dy,
                          View<T> dx, Team& team) {
  check(y, dy);
  check(y, dx);
  team.parallel_for(y.rows, row_grain(y.cols), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      T sum = T(0);
      for (Index i = 0; i < y.cols; ++i) {
        if (y(r, i) != kMinusInfinity<T>) sum += dy(r, i);
      }
      for (Index i = 0; i < y.cols; ++i) {
        dx(r, i) = y(r, i) == kMinusInfinity<T> ? T(0) : dy(r, i) - std::exp(y(r, i)) * sum;
      }
    }
  });
}

template <typename T>
double cross_entropy(View<const std::type_identity_t<T>> x, std::span<const Index> targets, View<T> dx,
                     T scale, Mask mask) {
  if (static_cast<Index>(targets.size()) != x.rows)
    throw std::logic_error("nn::cross_entropy: a target a row");
  if (dx.data != nullptr) check(x, dx, mask);
  double loss = 0;
  Matrix<T> p(1, x.cols);  // aligned, unlike a vector: vector code sums in an order that the address decides
  for (Index r = 0; r < x.rows; ++r) {
    const Index target = targets[static_cast<std::size_t>(r)];
    if (target == -1) {
      if (dx.data != nullptr) row_array(dx.row(r), x.cols).setZero();
      continue;
    }
    const unsigned char* m = mask_row(mask, r, x.cols);
    if (target < 0 || target >= x.cols || (m != nullptr && !m[target])) {
      throw std::logic_error("nn::cross_entropy: a target that is not among the columns");
    }
    const T top = largest(x.row(r), x.cols, m);
    const T sum = shifted_exp(x.row(r), p.data(), x.cols, top, m);
    loss += static_cast<double>(std::log(sum)) + static_cast<double>(top) - static_cast<double>(x(r, target));
    if (dx.data == nullptr) continue;
    row_array(dx.row(r), x.cols) = row_array<const T>(p.data(), x.cols) * (scale / sum);
    dx(r, target) -= scale;
  }
  return loss;
}

template <typename T>
double margin_ranking(std::span<const T> positive, std::span<const T> negative, T margin, T* d_positive,
                      T* d_negative, T scale, Index* active) {
  if (positive.size() != negative.size()) throw std::logic_error("nn::margin_ranking: a negative a positive");
  double loss = 0;
  Index inside = 0;
  for (std::size_t i = 0; i < positive.size(); ++i) {
    const T gap = margin - positive[i] + negative[i];
    const bool counts = gap > T(0);
    if (counts) {
      loss += static_cast<double>(gap);
      ++inside;
    }
    if (d_positive != nullptr) d_positive[i] = counts ? -scale : T(0);
    if (d_negative != nullptr) d_negative[i] = counts ? scale : T(0);
  }
  if (active != nullptr) *active = inside;
  return loss;
}

template void softmax<float>(View<const float>, View<float>, Mask, Team&);
template void softmax_backward<float>(View<const float>, View<const float>, View<float>, Team&);
template void log_softmax<float>(View<const float>, View<float>, Mask, Team&);
template void log_softmax_backward<float>(View<const float>, View<const float>, View<float>, Team&);
template double cross_entropy<float>(View<const float>, std::span<const Index>, View<float>, float, Mask);
template double margin_ranking<float>(std::span<const float>, std::span<const float>, float, float*, float*,
                                      float, Index*);
template void softmax<double>(View<const double>, View<double>, Mask, Team&);
template void softmax_backward<double>(View<const double>, View<const double>, View<double>, Team&);
template void log_softmax<double>(View<const double>, View<double>, Mask, Team&);
template void log_softmax_backward<double>(View<const double>, View<const double>, View<double>, Team&);
template double cross_entropy<double>(View<const double>, std::span<const Index>, View<double>, double, Mask);
template double margin_ranking<double>(std::span<const double>, std::span<const double>, double, double*,
                                       double*, double, Index*);

}  // namespace askbase::nn
