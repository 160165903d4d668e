// Gated recurrent unit (Cho et al. 2014, in the form of PyTorch and cuDNN, where the reset gate acts after
// the product), one direction of one layer.
//
//   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)        h: the state before
//   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//   n =    tanh(W_in x + b_in + r * (W_hn h + b_hn))
//   h' = (1 - z) * n + z * h
#pragma once

#include <string>

#include "nn/context.h"
#include "nn/parameters.h"
#include "nn/recurrent_cell.h"

namespace askbase::nn {

// Immutable after construction; any number of threads may call it, each with its own cache and gradients.
template <typename T>
class Gru {
 public:
  Gru() = default;
  // Adds "<prefix>weight_ih<suffix>" (3H, in), "weight_hh" (3H, H), "bias_ih" and "bias_hh" (3H), the gates
  // in the order r, z, n as PyTorch's nn.GRU.
  Gru(Parameters<T>& p, const std::string& prefix, const std::string& suffix, Index in, Index hidden);

  // Makes room for a batch: forward and backward allocate nothing, so that they may run in a team.
  void size_cache(const Packing& packing, CellCache<T>& cache) const;
  // x (N, in), packed; cache.h holds the states before, and after it the last ones.
  void forward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction, CellOutput<T> y,
               CellCache<T>& cache, const Context& context) const;
  // Adds the parameters' gradients to g; cache.dh holds the gradients of the states after, and after it those
  // before. x is what forward saw.
  void backward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction,
                CellOutput<const T> dy, CellCache<T>& cache, Gradients<T>& g, const Context& context) const;
  // After backward: dx (N, in) = beta * dx + gradient of x.
  void input_gradient(const Parameters<T>& p, const CellCache<T>& cache, T beta, View<T> dx,
                      const Context& context) const;

 private:
  Index hidden_ = 0;
  ParameterId weight_ih_ = -1, weight_hh_ = -1, bias_ih_ = -1, bias_hh_ = -1;
};

extern template class Gru<float>;
extern template class Gru<double>;

}  // namespace askbase::nn
