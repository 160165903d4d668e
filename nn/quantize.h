// Smaller forms of numbers: IEEE half, bfloat16, and int8 with one scale a row.
//
// All conversions round to nearest, ties to even. Infinities stay, NaN stays NaN, subnormal numbers are
// exact. Thread-safe; ranges must not overlap.
#pragma once

#include <cstdint>

#include "nn/matrix.h"

namespace askbase::nn {

// IEEE 754 binary16. A float beyond 65504 (after rounding) becomes infinite.
void float_to_half(const float* in, std::uint16_t* out, Index n);
void half_to_float(const std::uint16_t* in, float* out, Index n);
// The upper half of a float.
void float_to_bfloat16(const float* in, std::uint16_t* out, Index n);
void bfloat16_to_float(const std::uint16_t* in, float* out, Index n);

// One number, in plain integer arithmetic: what the vector code is checked against.
std::uint16_t half_of(float value);
float of_half(std::uint16_t bits);
std::uint16_t bfloat16_of(float value);
float of_bfloat16(std::uint16_t bits);

// Symmetric int8 by row (output channel): scale(r) = max |w(r, :)| / 127, q = round(w / scale) in [-127,
// 127], so that |w - q scale| <= scale / 2. A row of zeros has scale 0. q holds rows * cols numbers without
// gaps, scales one a row. w must be finite. half_scales: scales are rounded up to numbers that binary16 holds
// (infinity where there is none) before q is.
void quantize_rows(View<const float> w, std::int8_t* q, float* scales, bool half_scales = false);
void dequantize_rows(const std::int8_t* q, const float* scales, View<float> w);

}  // namespace askbase::nn
