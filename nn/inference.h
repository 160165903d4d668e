// The parts of a Transformer made for inference alone: weights laid out once for the inner loops, attention
// without copies of the whole, additions and norms in one pass. Everything runs on the calling thread;
// callers share rows and heads between threads.
//
// On CPUs with AVX-512 and VNNI the loops are those of kernels_avx512.cpp, elsewhere those of gemm.h and
// quantized_linear.h. Each number depends on its own row (its own sequence) only: results do not change with
// the number of rows that are computed together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nn/elementwise.h"
#include "nn/matrix.h"
#include "nn/quantized_linear.h"

namespace askbase::nn {

// What a product multiplies; sums and results are float.
//   f32   floats
//   bf16  both sides rounded to bfloat16, where the CPU has instructions for it; as f32 elsewhere
//   int8  weights with a scale an output, activations with a scale and a zero a row (quantized_linear.h)
enum class Numbers { f32, bf16, int8 };

// plain: the loops for any CPU, for comparison.
enum class Loops { best, plain };

// y = x W^T + b. Immutable after construction; any number of threads may use it, each with its own Scratch.
class PackedLinear {
 public:
  struct Scratch {
    Matrix<std::uint32_t> units;
    std::vector<float> scales, zeros;
    QuantizedLinear::Scratch plain;
  };

  PackedLinear();
  // weight (out, in), bias (out). Copies them in the form of `numbers`.
  PackedLinear(View<const float> weight, std::span<const float> bias, Numbers numbers,
               Loops loops = Loops::best);
  // int8 as stored, with a scale a row.
  PackedLinear(View<const std::int8_t> weight, std::span<const float> scales, std::span<const float> bias,
               Loops loops = Loops::best);
  PackedLinear(PackedLinear&&) noexcept;
  PackedLinear& operator=(PackedLinear&&) noexcept;
  ~PackedLinear();

  // x (n, in) -> y (n, out), through the activation.
  void forward(View<const float> x, View<float> y, Activation activation, Scratch& scratch) const;

  Index in() const { return in_; }
  Index out() const { return out_; }

 private:
  struct Packed;
  void check(std::size_t biases, std::size_t scales) const;
  Index in_ = 0, out_ = 0;
  std::unique_ptr<Packed> packed_;  // for kernels_avx512.cpp; otherwise one of the next two
  QuantizedLinear quantised_;
  Matrix<float> weight_;
  std::vector<float> bias_;
};

struct AttentionScratch {
  Matrix<std::uint32_t> units;
  Matrix<float> scores;
};

// Scaled dot-product attention (Vaswani 2017) of one head over one sequence: out = softmax(q k^T /
// sqrt(width)) v, all of them (length, width). Numbers::int8 multiplies as bf16 does.
void attend(View<const float> q, View<const float> k, View<const float> v, View<float> out, Numbers numbers,
            Loops loops, AttentionScratch& scratch);
// Its weights alone, in float: (length, length), rows summing to 1.
void attention_weights(View<const float> q, View<const float> k, View<float> weights);

// y = layer norm (layer_norm.h) of x + residual, by rows; y may be x. weight and bias have a number a column.
void add_and_norm(View<const float> x, View<const float> residual, std::span<const float> weight,
                  std::span<const float> bias, double epsilon, View<float> y, Loops loops);

// Whether Loops::best is more than plain here, and whether bf16 is: for logs and tests.
bool has_inference_kernels();
bool has_bf16_kernels();

}  // namespace askbase::nn
