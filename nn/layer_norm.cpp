#include "nn/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "nn/eigen.h"

namespace askbase::nn {

template <typename T>
LayerNorm<T>::LayerNorm(Parameters<T>& p, const std::string& name, Index d, double epsilon)
    : d_(d), epsilon_(static_cast<T>(epsilon)) {
  weight_ = p.add(name + ".weight", {d}, {.initial = Initial::ones, .decay = false});
  bias_ = p.add(name + ".bias", {d}, {.initial = Initial::zeros, .decay = false});
}

template <typename T>
void LayerNorm<T>::forward_row(const T* weight, const T* bias, const T* x, T* y, T* mean_rstd) const {
  const auto in = row_array<const T>(x, d_);
  const T mean = in.mean();
  // Two passes: the square of the mean taken from the mean of squares loses digits.
  const T rstd = T(1) / std::sqrt((in - mean).square().mean() + epsilon_);
  mean_rstd[0] = mean;
  mean_rstd[1] = rstd;
  row_array<T>(y, d_) = (in - mean) * rstd * row_array<const T>(weight, d_) + row_array<const T>(bias, d_);
}

template <typename T>
void LayerNorm<T>::forward(const Parameters<T>& p, View<const T> x, View<T> y, Cache& cache,
                           const Context& context) const {
  if (x.cols != d_ || y.cols != d_ || x.rows != y.rows)
    throw std::logic_error("nn::LayerNorm: sizes do not fit");
  cache.mean_rstd.resize(x.rows, 2);
  const T *weight = p[weight_].data, *bias = p[bias_].data;
  context.team->parallel_for(x.rows, row_grain(d_), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) forward_row(weight, bias, x.row(r), y.row(r), cache.mean_rstd.row(r));
  });
}

template <typename T>
void LayerNorm<T>::backward(const Parameters<T>& p, const Cache& cache, View<const T> x, View<const T> dy,
                            View<T> dx, Gradients<T>& g, const Context&) const {
  if (x.cols != d_ || dy.cols != d_ || dx.cols != d_ || x.rows != dy.rows || x.rows != dx.rows ||
      cache.mean_rstd.rows() != x.rows) {
    throw std::logic_error("nn::LayerNorm: sizes do not fit");
  }
  const auto weight = row_array<const T>(p[weight_].data, d_);
  const bool wants_weight = g.wants(weight_), wants_bias = g.wants(bias_);
  T* dw = wants_weight ? g[weight_].data : nullptr;
  T* db = wants_bias ? g[bias_].data : nullptr;
  Eigen::Array<T, Eigen::Dynamic, 1> normalised(d_), scaled(d_);
  for (Index r = 0; r < x.rows; ++r) {
    const T mean = cache.mean_rstd(r, 0), rstd = cache.mean_rstd(r, 1);
    const auto d = row_array<const T>(dy.row(r), d_);
    normalised = (row_array<const T>(x.row(r), d_) - mean) * rstd;
    if (dw != nullptr) row_array<T>(dw, d_) += d * normalised;
    if (db != nullptr) row_array<T>(db, d_) += d;
    scaled = d * weight;
    const T mean_scaled = scaled.mean(), mean_product = (scaled * normalised).mean();
    row_array<T>(dx.row(r), d_) = (scaled - mean_scaled - normalised * mean_product) * rstd;
  }
}

template class LayerNorm<float>;
template class LayerNorm<double>;

}  // namespace askbase::nn
