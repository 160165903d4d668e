// Long short-term memory (Hochreiter and Schmidhuber 1997; forget gates: Gers 2000), one direction of one
// layer.
//
//   i = sigmoid(W_ii x + b_ii + W_hi h + b_hi [+ p_i * c])     h, c: the states before
//   f = sigmoid(W_if x + b_if + W_hf h + b_hf [+ p_f * c])     c' = f * c + i * g
//   g =    tanh(W_ig x + b_ig + W_hg h + b_hg)                 h' = o * tanh(c')
//   o = sigmoid(W_io x + b_io + W_ho h + b_ho [+ p_o * c'])
//
// Peepholes, in brackets: Gers and Schmidhuber 2000, "Recurrent nets that time and count". Coupled gates:
// i = 1 - f and no weights of its own (Greff et al. 2017, "LSTM: a search space odyssey", CIFG).
#pragma once

#include <string>

#include "nn/context.h"
#include "nn/parameters.h"
#include "nn/recurrent_cell.h"

namespace askbase::nn {

struct LstmOptions {
  bool peepholes = false;
  bool coupled = false;
};

// Immutable after construction; any number of threads may call it, each with its own cache and gradients.
template <typename T>
class Lstm {
 public:
  Lstm() = default;
  // Adds "<prefix>weight_ih<suffix>" (4H, in), "weight_hh" (4H, H), "bias_ih" and "bias_hh" (4H), the gates
  // in the order i, f, g, o as PyTorch's nn.LSTM (coupled: 3H, f, g, o); with peepholes "peephole_i",
  // "peephole_f" and "peephole_o" (H) (coupled: without i).
  Lstm(Parameters<T>& p, const std::string& prefix, const std::string& suffix, Index in, Index hidden,
       LstmOptions options = {});

  // Makes room for a batch: forward and backward allocate nothing, so that they may run in a team.
  void size_cache(const Packing& packing, CellCache<T>& cache) const;
  // x (N, in), packed; cache.h and cache.c hold the states before, and after it the last ones.
  void forward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction, CellOutput<T> y,
               CellCache<T>& cache, const Context& context) const;
  // Adds the parameters' gradients to g; cache.dh and cache.dc hold the gradients of the states after, and
  // after it those before. x is what forward saw.
  void backward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction,
                CellOutput<const T> dy, CellCache<T>& cache, Gradients<T>& g, const Context& context) const;
  // After backward: dx (N, in) = beta * dx + gradient of x.
  void input_gradient(const Parameters<T>& p, const CellCache<T>& cache, T beta, View<T> dx,
                      const Context& context) const;

  // The bias of the forget gate: `value`, in both bias vectors together. 1 lets a new cell remember from the
  // start (Jozefowicz et al. 2015). To be called after Parameters::initialise.
  void set_forget_bias(Parameters<T>& p, T value) const;

 private:
  Index gates() const { return options_.coupled ? 3 : 4; }
  Index in_ = 0, hidden_ = 0;
  LstmOptions options_;
  ParameterId weight_ih_ = -1, weight_hh_ = -1, bias_ih_ = -1, bias_hh_ = -1;
  ParameterId peephole_i_ = -1, peephole_f_ = -1, peephole_o_ = -1;
};

extern template class Lstm<float>;
extern template class Lstm<double>;

}  // namespace askbase::nn
