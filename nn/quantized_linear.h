// y = x W^T + b with int8 weights: a scale per output channel, and activations quantised row by row as they
// come.
//
//   x[r, :] ~ s_r (q[r, :] - z_r), q in 0 .. 255; W[o, :] ~ t_o v[o, :], v in -127 .. 127
//   y[r, o] = s_r t_o (sum_i q[r, i] v[o, i] - z_r sum_i v[o, i]) + b[o]
//
// The product u8 x s8 -> s32 is exact on every CPU: where no instruction multiplies eight bits without
// saturating sixteen (VNNI), activations use 0 .. 127, so that two products fit. Results therefore differ in
// the last digits between CPUs with VNNI and without.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nn/context.h"
#include "nn/matrix.h"

namespace askbase::nn {

// Immutable after construction; any number of threads may call it, each with its own Scratch.
class QuantizedLinear {
 public:
  struct Scratch {
    struct Part {
      Matrix<std::uint8_t> quantized;
      Matrix<std::int32_t> sums;
      std::vector<float> scales, zeros;
    };
    std::vector<Part> parts;  // one a thread
  };

  QuantizedLinear();
  // weight (out, in) as quantised, scales (out), bias (out) or empty. Copies and packs them.
  QuantizedLinear(View<const std::int8_t> weight, std::span<const float> scales, std::span<const float> bias);
  // Quantises float weights, each row by its largest size / 127.
  QuantizedLinear(View<const float> weight, std::span<const float> bias);
  QuantizedLinear(QuantizedLinear&&) noexcept;
  QuantizedLinear& operator=(QuantizedLinear&&) noexcept;
  ~QuantizedLinear();

  // x (n, in) -> y (n, out)
  void forward(View<const float> x, View<float> y, Scratch& scratch, const Context& context) const;

  Index in() const { return in_; }
  Index out() const { return out_; }

 private:
  void pack(View<const std::int8_t> weight, std::span<const float> bias);
  struct Packed;
  Index in_ = 0, out_ = 0;
  std::vector<float> scales_, bias_, row_sums_;  // row_sums: sum_i v[o, i]
  std::unique_ptr<Packed> packed_;
};

}  // namespace askbase::nn
