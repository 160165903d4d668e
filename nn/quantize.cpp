#include "nn/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace askbase::nn {

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {  // a quiet NaN with the upper bits of the payload, as the processor makes it
    return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x1FFU));
  }
  if (magnitude >= 0x477FF000U)
    return static_cast<std::uint16_t>(sign | 0x7C00U);       // 65520 and more: infinite
  std::uint32_t shift = 13, kept = magnitude - 0x38000000U;  // the exponent's bias falls from 127 to 15
  if (magnitude < 0x38800000U) {                             // below 2^-14: subnormal, in units of 2^-24
    const std::uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below 2^-25
    shift = 126 - exponent;
    kept = (magnitude & 0x007FFFFFU) | 0x00800000U;
  }
  const std::uint32_t half = 1U << (shift - 1), rest = kept & ((1U << shift) - 1);
  std::uint32_t result = kept >> shift;
  if (rest > half || (rest == half && (result & 1U) != 0)) ++result;  // may carry into the exponent: right so
  return static_cast<std::uint16_t>(sign | result);
}

float of_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16, exponent = (bits >> 10) & 0x1FU,
                      fraction = bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
    return sign == 0 ? magnitude : -magnitude;
  }
  if (exponent == 31) {  // a NaN becomes quiet
    return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13) | (fraction != 0 ? 0x00400000U : 0U));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

float of_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

void float_to_half(const float* in, std::uint16_t* out, Index n) {
  Index i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
#endif
  for (; i < n; ++i) out[i] = half_of(in[i]);
}

void half_to_float(const std::uint16_t* in, float* out, Index n) {
  Index i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
#endif
  for (; i < n; ++i) out[i] = of_half(in[i]);
}

void float_to_bfloat16(const float* in, std::uint16_t* out, Index n) {
  // bfloat16_of() without its branch, so that the compiler makes vectors of it.
  for (Index i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(in[i]);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const std::uint32_t nan = (bits >> 16) | 0x40U;
    out[i] = static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : rounded);
  }
}

void bfloat16_to_float(const std::uint16_t* in, float* out, Index n) {
  for (Index i = 0; i < n; ++i) out[i] = of_bfloat16(in[i]);
}

namespace {

float half_not_below(float value) {
  std::uint16_t bits = half_of(value);
  if (of_half(bits) < value) ++bits;
  return of_half(bits);
}

}  // namespace

void quantize_rows(View<const float> w, std::int8_t* q, float* scales, bool half_scales) {
  for (Index r = 0; r < w.rows; ++r) {
    const float* row = w.row(r);
    float largest = 0.0F;
    for (Index c = 0; c < w.cols; ++c) largest = std::max(largest, std::abs(row[c]));
    const float scale = half_scales ? half_not_below(largest / 127.0F) : largest / 127.0F;
    scales[r] = scale;
    std::int8_t* out = q + r * w.cols;
    // A row so small that its scale is 0 in float counts as zeros.
    if (scale == 0.0F) {
      std::fill_n(out, w.cols, std::int8_t{0});
      continue;
    }
    for (Index c = 0; c < w.cols; ++c) {
      out[c] = static_cast<std::int8_t>(std::clamp(std::nearbyint(row[c] / scale), -127.0F, 127.0F));
    }
  }
}

void dequantize_rows(const std::int8_t* q, const float* scales, View<float> w) {
  for (Index r = 0; r < w.rows; ++r) {
    const std::int8_t* in = q + r * w.cols;
    float* row = w.row(r);
    for (Index c = 0; c < w.cols; ++c) row[c] = static_cast<float>(in[c]) * scales[r];
  }
}

}  // namespace askbase::nn
