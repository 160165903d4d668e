// 1-D convolution over sequences of different lengths, as a product over unfolded windows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nn/context.h"
#include "nn/parameters.h"

namespace askbase::nn {

// Length of the output for a sequence of n > 0 with windows of w = dilation (kernel - 1) + 1 positions.
enum class Padding {
  valid,  // n - w + 1, at least 0
  same,   // n; (w - 1) / 2 zeros before, the rest behind, as PyTorch
  full,   // n + w - 1: "wide" convolution (Kalchbrenner 2014)
};
std::optional<Padding> padding_by_name(std::string_view name);
std::string_view padding_name(Padding padding);

// Immutable after construction; any number of threads, each with its own cache.
template <typename T>
class Conv1d {
 public:
  struct Cache {
    Segments input;
    Matrix<T> unfolded, d_unfolded;  // (output rows, kernel * in)
    Matrix<T> weight, d_weight;      // (out, kernel * in): taps outside, so that windows are copied in whole
  };

  Conv1d() = default;
  // Adds "<name>.weight" (out, in, kernel) and "<name>.bias" (out), as PyTorch's nn.Conv1d. Stride is 1.
  // kernel and dilation below 1 are a programmer error (std::logic_error).
  Conv1d(Parameters<T>& p, const std::string& name, Index in, Index out, Index kernel,
         Padding padding = Padding::same, Index dilation = 1);

  // Segments of the output; a sequence of length 0 gives one of length 0.
  Segments output(const Segments& input) const;
  // x (input.total(), in) -> y (output(input).total(), out)
  void forward(const Parameters<T>& p, View<const T> x, const Segments& input, View<T> y, Cache& cache,
               const Context& context) const;
  // Adds the parameters' gradients to g; writes dx (input.total(), in) when not empty.
  void backward(const Parameters<T>& p, Cache& cache, View<const T> dy, View<T> dx, Gradients<T>& g,
                const Context& context) const;

  Index in() const { return in_; }
  Index out() const { return out_; }

 private:
  Index output_length(Index n) const;
  Index before() const;  // zeros in front of a sequence

  Index in_ = 0, out_ = 0, kernel_ = 1, dilation_ = 1;
  Padding padding_ = Padding::same;
  ParameterId weight_ = -1, bias_ = -1;
};

extern template class Conv1d<float>;
extern template class Conv1d<double>;

}  // namespace askbase::nn
