#include "nn/pooling.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "nn/eigen.h"

namespace askbase::nn {

namespace {

constexpr std::array<std::pair<std::string_view, Pooling>, 4> kNames{
    {{"max", Pooling::max}, {"mean", Pooling::mean}, {"first", Pooling::first}, {"last", Pooling::last}}};

template <typename T>
void check(View<T> v, Index rows, Index cols) {
  if (v.rows != rows || v.cols != cols) throw std::logic_error("nn: pooling with a view of the wrong shape");
}

// y(0, :) = largest of rows [begin, begin + n); a NaN is larger than all, so that it is not lost.
template <typename T>
void largest(View<const T> x, Index begin, Index n, T* y, Index* chosen) {
  for (Index c = 0; c < x.cols; ++c) {
    Index best = n > 0 ? begin : -1;
    for (Index r = begin + 1; r < begin + n; ++r) {
      if (!(x(r, c) <= x(best, c)) && x(best, c) == x(best, c)) best = r;
    }
    y[c] = best < 0 ? T(0) : x(best, c);
    if (chosen != nullptr) chosen[c] = best;
  }
}

Index* row_of(std::vector<Index>* chosen, Index row, Index cols) {
  return chosen == nullptr ? nullptr : chosen->data() + row * cols;
}

template <typename T>
void give_back(const std::vector<Index>& chosen, View<const T> dy, View<T> dx) {
  if (static_cast<Index>(chosen.size()) != dy.size())
    throw std::logic_error("nn: pooling backward without the rows that forward chose");
  array(dx).setZero();
  for (Index r = 0; r < dy.rows; ++r) {
    for (Index c = 0; c < dy.cols; ++c) {
      const Index from = chosen[static_cast<std::size_t>(r * dy.cols + c)];
      if (from >= 0) dx(from, c) += dy(r, c);
    }
  }
}

}  // namespace

std::optional<Pooling> pooling_by_name(std::string_view name) {
  for (const auto& [text, kind] : kNames) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

std::string_view pooling_name(Pooling kind) {
  for (const auto& [text, other] : kNames) {
    if (other == kind) return text;
  }
  return "?";
}

template <typename T>
void pool(Pooling kind, View<const std::type_identity_t<T>> x, const Segments& segments, View<T> y,
          std::vector<Index>* chosen) {
  check(x, segments.total(), y.cols);
  check(y, segments.count(), x.cols);
  if (chosen != nullptr) chosen->assign(static_cast<std::size_t>(y.size()), -1);
  for (Index i = 0; i < segments.count(); ++i) {
    const Index begin = segments.begin(i), n = segments.length(i);
    if (kind == Pooling::max) {
      largest<T>(x, begin, n, y.row(i), row_of(chosen, i, y.cols));
    } else if (n == 0) {
      array(y.rows_from(i, 1)).setZero();
    } else if (kind == Pooling::mean) {
      array(y.rows_from(i, 1)).row(0) = array(x.rows_from(begin, n)).colwise().sum() / static_cast<T>(n);
    } else {
      array(y.rows_from(i, 1)) = array(x.rows_from(kind == Pooling::first ? begin : begin + n - 1, 1));
    }
  }
}

template <typename T>
void pool_backward(Pooling kind, const Segments& segments, const std::vector<Index>& chosen,
                   View<const std::type_identity_t<T>> dy, View<T> dx) {
  check(dy, segments.count(), dx.cols);
  check(dx, segments.total(), dy.cols);
  if (kind == Pooling::max) {
    give_back<T>(chosen, dy, dx);
    return;
  }
  array(dx).setZero();
  for (Index i = 0; i < segments.count(); ++i) {
    const Index begin = segments.begin(i), n = segments.length(i);
    if (n == 0) continue;
    if (kind == Pooling::mean) {
      array(dx.rows_from(begin, n)).rowwise() = array(dy.rows_from(i, 1)).row(0) / static_cast<T>(n);
    } else {
      array(dx.rows_from(kind == Pooling::first ? begin : begin + n - 1, 1)) = array(dy.rows_from(i, 1));
    }
  }
}

Segments window_output(const Segments& segments, Index width) {
  if (width < 1) throw std::logic_error("nn: a pooling window below 1");
  Segments s;
  for (Index i = 0; i < segments.count(); ++i) s.add(std::max<Index>(0, segments.length(i) - width + 1));
  return s;
}

template <typename T>
void window_sum(View<const std::type_identity_t<T>> x, std::span<const std::type_identity_t<T>> weights,
                const Segments& segments, Index width, T factor, View<T> y) {
  const Segments output = window_output(segments, width);
  check(x, segments.total(), y.cols);
  check(y, output.total(), x.cols);
  if (!weights.empty() && static_cast<Index>(weights.size()) != x.rows)
    throw std::logic_error("nn: pooling wants a weight a row");
  array(y).setZero();
  for (Index i = 0; i < output.count(); ++i) {
    for (Index r = 0; r < output.length(i); ++r) {
      auto target = array(y.rows_from(output.begin(i) + r, 1));
      for (Index s = segments.begin(i) + r; s < segments.begin(i) + r + width; ++s)
        target += array(x.rows_from(s, 1)) *
                  (weights.empty() ? factor : factor * weights[static_cast<std::size_t>(s)]);
    }
  }
}

template <typename T>
void window_sum_backward(View<const std::type_identity_t<T>> x,
                         std::span<const std::type_identity_t<T>> weights, const Segments& segments,
                         Index width, T factor, View<const std::type_identity_t<T>> dy, View<T> dx,
                         std::span<std::type_identity_t<T>> d_weights) {
  const Segments output = window_output(segments, width);
  check(dy, output.total(), x.cols);
  check(dx, segments.total(), x.cols);
  array(dx).setZero();
  // First the sum of what the windows over a row say, then its share in x and in the weight.
  for (Index i = 0; i < output.count(); ++i) {
    for (Index r = 0; r < output.length(i); ++r) {
      for (Index s = segments.begin(i) + r; s < segments.begin(i) + r + width; ++s)
        array(dx.rows_from(s, 1)) += array(dy.rows_from(output.begin(i) + r, 1)) * factor;
    }
  }
  if (weights.empty()) return;
  for (Index s = 0; s < dx.rows; ++s) {
    const std::size_t at = static_cast<std::size_t>(s);
    if (!d_weights.empty()) d_weights[at] = (array(dx.rows_from(s, 1)) * array(x.rows_from(s, 1))).sum();
    array(dx.rows_from(s, 1)) *= weights[at];
  }
}

template <typename T>
void window_max(View<const std::type_identity_t<T>> x, const Segments& segments, Index width, View<T> y,
                std::vector<Index>* chosen) {
  const Segments output = window_output(segments, width);
  check(x, segments.total(), y.cols);
  check(y, output.total(), x.cols);
  if (chosen != nullptr) chosen->assign(static_cast<std::size_t>(y.size()), -1);
  for (Index i = 0; i < output.count(); ++i) {
    for (Index r = 0; r < output.length(i); ++r) {
      const Index row = output.begin(i) + r;
      largest<T>(x, segments.begin(i) + r, width, y.row(row), row_of(chosen, row, y.cols));
    }
  }
}

template <typename T>
void window_max_backward(const std::vector<Index>& chosen, View<const std::type_identity_t<T>> dy,
                         View<T> dx) {
  give_back<T>(chosen, dy, dx);
}

#define ASKBASE_INSTANTIATE(T)                                                                        \
  template void pool<T>(Pooling, View<const T>, const Segments&, View<T>, std::vector<Index>*);       \
  template void pool_backward<T>(Pooling, const Segments&, const std::vector<Index>&, View<const T>,  \
                                 View<T>);                                                            \
  template void window_sum<T>(View<const T>, std::span<const T>, const Segments&, Index, T, View<T>); \
  template void window_sum_backward<T>(View<const T>, std::span<const T>, const Segments&, Index, T,  \
                                       View<const T>, View<T>, std::span<T>);                         \
  template void window_max<T>(View<const T>, const Segments&, Index, View<T>, std::vector<Index>*);   \
  template void window_max_backward<T>(const std::vector<Index>&, View<const T>, View<T>);
ASKBASE_INSTANTIATE(float)
ASKBASE_INSTANTIATE(double)
#undef ASKBASE_INSTANTIATE

}  // namespace askbase::nn
