// Dropout with counter-based random numbers (Srivastava 2014; inverted, so inference needs no scaling).
//
// The mask is not stored: whether number (row, column) of a stream is kept is a pure function of the pass's
// dropout_key, the stream and the place, and backward asks again. Threads and batching order do not matter.
#pragma once

#include <cstdint>

#include "nn/context.h"
#include "nn/matrix.h"

namespace askbase::nn {

template <typename T>
class Dropout {
 public:
  Dropout() = default;
  // rate in [0, 1): how often a number becomes 0 (in steps of 2^-16). stream: one a place in a model, so that
  // two layers do not drop alike.
  Dropout(double rate, std::uint64_t stream);

  // Whether it does anything in this pass.
  bool active(const Context& context) const { return context.training && threshold_ > 0; }
  // y = x * mask / (1 - rate), or y = x when not active; y may be x. backward: the same with dy and dx.
  void apply(View<const T> x, View<T> y, const Context& context) const;
  // One row, for fused loops: n numbers of row `row`.
  void apply_row(Index row, const T* x, T* y, Index n, const Context& context) const;
  // The mask itself: what apply multiplies with (0 or 1 / (1 - rate)), n numbers of one row.
  void mask_row(Index row, T* mask, Index n, const Context& context) const;

  double rate() const { return static_cast<double>(threshold_) / 65536.0; }
  T factor() const { return factor_; }

 private:
  std::uint32_t threshold_ = 0;
  T factor_ = T(1);
  std::uint64_t stream_ = 0;
};

extern template class Dropout<float>;
extern template class Dropout<double>;

}  // namespace askbase::nn
