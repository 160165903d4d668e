#include "nn/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "nn/eigen.h"
// Vector erf for arrays of float (Eigen marks it unsupported; it is what its own tests call).
#include <unsupported/Eigen/SpecialFunctions>

namespace askbase::nn {

namespace {

constexpr std::array<std::pair<std::string_view, Activation>, 5> kNames{{{"identity", Activation::identity},
                                                                         {"relu", Activation::relu},
                                                                         {"tanh", Activation::tanh},
                                                                         {"sigmoid", Activation::sigmoid},
                                                                         {"gelu", Activation::gelu}}};

template <typename T>
using Vector = Eigen::Array<T, Eigen::Dynamic, 1>;
template <typename T>
using In = Eigen::Map<const Vector<T>>;
template <typename T>
using Out = Eigen::Map<Vector<T>>;

// One row (or all of a view without gaps) at a time, in pieces that stay in the first cache.
constexpr Index kPiece = 1024;

// body(offset_x, offset_y, ..., n) for every stretch of numbers that lie one after the other in all the
// views.
template <typename T, typename Body>
void stretches(View<T> shape, bool contiguous, Team& team, Body&& body) {
  const Index rows = contiguous ? 1 : shape.rows, cols = contiguous ? shape.size() : shape.cols;
  const Index pieces = (cols + kPiece - 1) / kPiece;
  team.parallel_for(rows * pieces, 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index row = i / pieces, at = (i % pieces) * kPiece;
      body(row, at, std::min(kPiece, cols - at));
    }
  });
}

template <typename T>
void check(View<T> a, View<T> b) {
  if (a.rows != b.rows || a.cols != b.cols) throw std::logic_error("nn: two views of different shapes");
}

template <typename T>
void forward(Activation kind, In<T> x, Out<T> y) {
  switch (kind) {
    case Activation::identity:
      y = x;
      break;
    case Activation::relu:
      y = x.max(T(0));
      break;
    case Activation::tanh:
      y = x.tanh();
      break;
    case Activation::sigmoid:
      y = x.logistic();
      break;
    case Activation::gelu:
      y = T(0.5) * x * (T(1) + (x * T(std::numbers::sqrt2 / 2)).erf());
      break;
  }
}

template <typename T>
void backward(Activation kind, In<T> x, In<T> y, In<T> dy, Out<T> dx) {
  switch (kind) {
    case Activation::identity:
      dx = dy;
      break;
    case Activation::relu:
      dx = (x > T(0)).select(dy, T(0));
      break;
    case Activation::tanh:
      dx = dy * (T(1) - y * y);
      break;
    case Activation::sigmoid:
      dx = dy * y * (T(1) - y);
      break;
    case Activation::gelu: {
      constexpr T half_inverse = T(std::numbers::sqrt2 / 2),
                  density = T(0.3989422804014327);  // 1 / sqrt(2 pi)
      dx = dy * (T(0.5) * (T(1) + (x * half_inverse).erf()) + x * density * (T(-0.5) * x * x).exp());
      break;
    }
  }
}

}  // namespace

std::optional<Activation> activation_by_name(std::string_view name) {
  for (const auto& [text, kind] : kNames) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

std::string_view activation_name(Activation kind) {
  for (const auto& [text, other] : kNames) {
    if (other == kind) return text;
  }
  return "?";
}

template <typename T>
void activate(Activation kind, View<const std::type_identity_t<T>> x, View<T> y, Team& team) {
  check(x, View<const T>(y));
  stretches(y, x.contiguous() && y.contiguous(), team, [&](Index row, Index at, Index n) {
    forward<T>(kind, In<T>(x.row(row) + at, n), Out<T>(y.row(row) + at, n));
  });
}

template <typename T>
void activate_backward(Activation kind, View<const std::type_identity_t<T>> x,
                       View<const std::type_identity_t<T>> y, View<const std::type_identity_t<T>> dy,
                       View<T> dx, Team& team) {
  check(dy, View<const T>(dx));
  const bool needs_y = kind == Activation::tanh || kind == Activation::sigmoid;
  const bool needs_x = kind == Activation::relu || kind == Activation::gelu;
  if (needs_x) check(x, dy);
  if (needs_y) check(y, dy);
  // What is not looked at is read as dy, so that one loop serves all.
  const View<const T> in = needs_x ? x : dy, out = needs_y ? y : dy;
  stretches(dx, in.contiguous() && out.contiguous() && dy.contiguous() && dx.contiguous(), team,
            [&](Index row, Index at, Index n) {
              backward<T>(kind, In<T>(in.row(row) + at, n), In<T>(out.row(row) + at, n),
                          In<T>(dy.row(row) + at, n), Out<T>(dx.row(row) + at, n));
            });
}

template <typename T>
void sigmoid(const T* x, T* y, Index n) {
  Out<T>(y, n) = In<T>(x, n).logistic();
}
template <typename T>
void tanh(const T* x, T* y, Index n) {
  Out<T>(y, n) = In<T>(x, n).tanh();
}
template <typename T>
void exp(const T* x, T* y, Index n) {
  Out<T>(y, n) = In<T>(x, n).exp();
}

template void activate<float>(Activation, View<const float>, View<float>, Team&);
template void activate_backward<float>(Activation, View<const float>, View<const float>, View<const float>,
                                       View<float>, Team&);
template void sigmoid<float>(const float*, float*, Index);
template void tanh<float>(const float*, float*, Index);
template void exp<float>(const float*, float*, Index);
template void activate<double>(Activation, View<const double>, View<double>, Team&);
template void activate_backward<double>(Activation, View<const double>, View<const double>,
                                        View<const double>, View<double>, Team&);
template void sigmoid<double>(const double*, double*, Index);
template void tanh<double>(const double*, double*, Index);
template void exp<double>(const double*, double*, Index);

}  // namespace askbase::nn
