// What a matrix backend gives to gemm.cpp: one product on the calling thread. Internal to nn/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nn/gemm.h"

namespace askbase::nn::backend {

// Sizes are checked and not zero. The plain ones are Eigen's and there in every build: what others are
// compared with.
void product(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
             View<float> c);
void product(Op op_a, Op op_b, double alpha, View<const double> a, View<const double> b, double beta,
             View<double> c);
void plain_product(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
                   View<float> c);
std::string name();

// The same with a and b rounded to bfloat16, sums in float. Only where bf16_available().
void product_bf16(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
                  View<float> c);
bool bf16_available();

// Rows that an int8 product is cut into: quantised rows and sums stay in the second cache.
constexpr Index kInt8Rows = 64;

// int8 weights (out, in) in the order that the kernels read.
class Int8Weights {
 public:
  virtual ~Int8Weights() = default;
  // c (rows, out) = a (rows, in) * weights^T, exact where activations stay within activation_limit(). Rows
  // lie without gaps. Any thread.
  virtual void product(const std::uint8_t* a, Index rows, std::int32_t* c) const = 0;
};
std::unique_ptr<Int8Weights> pack_int8(View<const std::int8_t> weight);
std::unique_ptr<Int8Weights> plain_pack_int8(View<const std::int8_t> weight);
// Largest activation: 255, or 127 where pairs of products are summed in sixteen bits.
int activation_limit();

}  // namespace askbase::nn::backend
