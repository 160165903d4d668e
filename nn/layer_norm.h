// Layer normalisation (Ba 2016): y = (x - mean) / sqrt(variance + epsilon) * weight + bias, over each row.
#pragma once

#include <string>
#include <vector>

#include "nn/context.h"
#include "nn/parameters.h"

namespace askbase::nn {

template <typename T>
class LayerNorm {
 public:
  struct Cache {
    Matrix<T> mean_rstd;  // (n, 2)
  };

  LayerNorm() = default;
  // Adds "<name>.weight" (d) of ones and "<name>.bias" (d) of zeros.
  LayerNorm(Parameters<T>& p, const std::string& name, Index d, double epsilon = 1e-12);

  // x (n, d) -> y (n, d); y may be x unless backward follows.
  void forward(const Parameters<T>& p, View<const T> x, View<T> y, Cache& cache,
               const Context& context) const;
  // x is what forward saw; dx may be dy.
  void backward(const Parameters<T>& p, const Cache& cache, View<const T> x, View<const T> dy, View<T> dx,
                Gradients<T>& g, const Context& context) const;

  // The pieces that a fused loop uses, for one row: statistics, then y.
  void forward_row(const T* weight, const T* bias, const T* x, T* y, T* mean_rstd) const;

  Index width() const { return d_; }
  ParameterId weight() const { return weight_; }
  ParameterId bias() const { return bias_; }

 private:
  Index d_ = 0;
  T epsilon_ = T(1e-12);
  ParameterId weight_ = -1, bias_ = -1;
};

extern template class LayerNorm<float>;
extern template class LayerNorm<double>;

}  // namespace askbase::nn
