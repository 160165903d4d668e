#include "nn/conv1d.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "nn/eigen.h"
#include "nn/gemm.h"
#include "nn/linear.h"

namespace askbase::nn {

namespace {

constexpr std::array<std::pair<std::string_view, Padding>, 3> kNames{
    {{"valid", Padding::valid}, {"same", Padding::same}, {"full", Padding::full}}};

}  // namespace

std::optional<Padding> padding_by_name(std::string_view name) {
  for (const auto& [text, padding] : kNames) {
    if (text == name) return padding;
  }
  return std::nullopt;
}

std::string_view padding_name(Padding padding) {
  for (const auto& [text, other] : kNames) {
    if (other == padding) return text;
  }
  return "?";
}

template <typename T>
Conv1d<T>::Conv1d(Parameters<T>& p, const std::string& name, Index in, Index out, Index kernel,
                  Padding padding, Index dilation)
    : in_(in), out_(out), kernel_(kernel), dilation_(dilation), padding_(padding) {
  if (in < 1 || out < 1 || kernel < 1 || dilation < 1) throw std::logic_error("nn::Conv1d: a size below 1");
  weight_ = p.add(name + ".weight", {out, in, kernel});
  bias_ = p.add(name + ".bias", {out}, {.fan_in = in * kernel, .decay = false});
}

template <typename T>
Index Conv1d<T>::output_length(Index n) const {
  if (n == 0) return 0;
  const Index reach = dilation_ * (kernel_ - 1);
  switch (padding_) {
    case Padding::valid:
      return std::max<Index>(0, n - reach);
    case Padding::full:
      return n + reach;
    case Padding::same:
      break;
  }
  return n;
}

template <typename T>
Index Conv1d<T>::before() const {
  const Index reach = dilation_ * (kernel_ - 1);
  if (padding_ == Padding::valid) return 0;
  return padding_ == Padding::full ? reach : reach / 2;
}

template <typename T>
Segments Conv1d<T>::output(const Segments& input) const {
  Segments s;
  for (Index i = 0; i < input.count(); ++i) s.add(output_length(input.length(i)));
  return s;
}

template <typename T>
void Conv1d<T>::forward(const Parameters<T>& p, View<const T> x, const Segments& input, View<T> y,
                        Cache& cache, const Context& context) const {
  const Segments output = this->output(input);
  if (x.rows != input.total() || x.cols != in_ || y.rows != output.total() || y.cols != out_)
    throw std::logic_error("nn::Conv1d: x or y of the wrong shape");
  cache.input = input;
  const View<const T> weight = p[weight_];
  cache.weight.resize(out_, kernel_ * in_);
  for (Index o = 0; o < out_; ++o) {
    // (in, kernel) -> (kernel, in)
    matrix(View<T>(cache.weight.row(o), kernel_, in_)) =
        matrix(View<const T>(weight.row(o), in_, kernel_)).transpose();
  }
  cache.unfolded.resize(output.total(), kernel_ * in_);
  context.team->parallel_for(input.count(), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Index n = input.length(i);
      for (Index r = 0; r < output.length(i); ++r) {
        T* row = cache.unfolded.row(output.begin(i) + r);
        for (Index t = 0; t < kernel_; ++t, row += in_) {
          const Index at = r + t * dilation_ - before();
          if (at < 0 || at >= n) {
            std::fill_n(row, in_, T(0));
          } else {
            std::copy_n(x.row(input.begin(i) + at), in_, row);
          }
        }
      }
    }
  });
  gemm<T>(Op::none, Op::transpose, T(1), cache.unfolded, cache.weight, T(0), y, *context.team);
  add_to_rows<T>(p[bias_], y, *context.team);
}

template <typename T>
void Conv1d<T>::backward(const Parameters<T>&, Cache& cache, View<const T> dy, View<T> dx, Gradients<T>& g,
                         const Context& context) const {
  const Segments& input = cache.input;
  const Segments output = this->output(input);
  if (g.wants(bias_)) add_row_sums<T>(dy, g[bias_]);
  if (g.wants(weight_)) {
    cache.d_weight.resize(out_, kernel_ * in_);
    gemm<T>(Op::transpose, Op::none, T(1), dy, cache.unfolded, T(0), cache.d_weight, *context.team);
    const View<T> d = g[weight_];
    for (Index o = 0; o < out_; ++o) {
      matrix(View<T>(d.row(o), in_, kernel_)) +=
          matrix(View<const T>(cache.d_weight.row(o), kernel_, in_)).transpose();
    }
  }
  if (dx.empty()) return;
  cache.d_unfolded.resize(output.total(), kernel_ * in_);
  gemm<T>(Op::none, Op::none, T(1), dy, cache.weight, T(0), cache.d_unfolded, *context.team);
  array(dx).setZero();
  context.team->parallel_for(input.count(), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Index n = input.length(i);
      for (Index r = 0; r < output.length(i); ++r) {
        for (Index t = 0; t < kernel_; ++t) {
          const Index at = r + t * dilation_ - before();
          if (at < 0 || at >= n) continue;
          array(dx.rows_from(input.begin(i) + at, 1)) +=
              array(View<const T>(cache.d_unfolded.row(output.begin(i) + r) + t * in_, 1, in_));
        }
      }
    }
  });
}

template class Conv1d<float>;
template class Conv1d<double>;

}  // namespace askbase::nn
