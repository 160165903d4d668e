// y = x W^T + b.
#pragma once

#include <string>

#include "nn/context.h"
#include "nn/parameters.h"

namespace askbase::nn {

// Immutable after construction; any number of threads may call it, each with its own views.
template <typename T>
class Linear {
 public:
  Linear() = default;
  // Adds "<name>.weight" (out, in) and "<name>.bias" (out), as PyTorch's nn.Linear.
  Linear(Parameters<T>& p, const std::string& name, Index in, Index out, bool bias = true,
         Initial initial = Initial::fan_in_uniform);

  // x (n, in) -> y (n, out)
  void forward(const Parameters<T>& p, View<const T> x, View<T> y, const Context& context) const;
  // Adds the parameters' gradients to g; dx (n, in) = dy W when not empty. x is what forward saw.
  void backward(const Parameters<T>& p, View<const T> x, View<const T> dy, View<T> dx, Gradients<T>& g,
                const Context& context) const;

  Index in() const { return in_; }
  Index out() const { return out_; }
  ParameterId weight() const { return weight_; }
  ParameterId bias() const { return bias_; }  // -1: none

 private:
  Index in_ = 0, out_ = 0;
  ParameterId weight_ = -1, bias_ = -1;
};

// db(0, :) += sum of the rows of dy; x(r, :) += b(0, :).
template <typename T>
void add_row_sums(View<const std::type_identity_t<T>> dy, View<T> db);
template <typename T>
void add_to_rows(View<const std::type_identity_t<T>> b, View<T> x, Team& team = one_thread());

extern template class Linear<float>;
extern template class Linear<double>;

}  // namespace askbase::nn
