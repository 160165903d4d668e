// The inner loops of inference (packed_linear.h, head_attention.h) in vector code. Internal to nn/.
//
// Plain structs and pointers only: the file that is compiled for AVX-512 (kernels_avx512.cpp) must not emit
// an inline function of a header, which the linker might then give to everybody.
//
// All products are of one shape. The left side is rows of units of four bytes: a float, two bfloat16 numbers,
// or four bytes. The right side is panels of 32 columns: unit i of its 32 columns lies together, then unit
// i + 1. One instruction multiplies a unit with sixteen others and adds to sixteen sums.
#pragma once

#include <cstddef>
#include <cstdint>

namespace askbase::nn::kernels {

using Size = std::ptrdiff_t;

enum class Form { f32, bf16, int8 };

inline constexpr Size kPanel = 32;
constexpr Size per_unit(Form form) { return form == Form::f32 ? 1 : form == Form::bf16 ? 2 : 4; }
constexpr Size units_for(Form form, Size n) { return (n + per_unit(form) - 1) / per_unit(form); }

struct Rows {
  const std::uint32_t* units = nullptr;
  Size count = 0, stride = 0;  // stride in units
  // int8: number = scale (byte - zero), a scale and a zero a row.
  const float* scales = nullptr;
  const float* zeros = nullptr;
};

struct Weights {
  Form form = Form::f32;
  const std::uint32_t* panels = nullptr;  // zeros beyond the last column and the last number of a unit
  Size units = 0, columns = 0;
  const float* bias = nullptr;    // a column, as the next two
  const float* scales = nullptr;  // int8
  const float* sums = nullptr;    // int8: of the bytes of a column
};

// One head of one sequence: out = softmax(scale q k^T) v. q, k and v are (length, width), rows `stride`
// apart.
struct Head {
  Form form = Form::f32;  // not int8
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  Size stride = 0, length = 0, width = 0;
  float scale = 1;
  float* out = nullptr;
  Size out_stride = 0;
  std::uint32_t* scratch = nullptr;  // scratch() units
};

struct Kernels {
  bool bf16 = false;  // the form bf16 can be used
  // y (rows, columns) = rows * weights + bias, gelu of it when asked for.
  void (*linear)(const Weights& weights, const Rows& rows, bool gelu, float* y, Size y_stride);
  // n numbers as units, the last one filled up with zeros. int8 sets scale and zero.
  void (*pack_row)(Form form, const float* x, Size n, std::uint32_t* units, float* scale, float* zero);
  // y = layer norm of x + residual; y may be either.
  void (*add_and_norm)(const float* x, const float* residual, const float* weight, const float* bias,
                       float epsilon, Size n, float* y);
  Size (*scratch)(Form form, Size length, Size width);
  void (*attend)(const Head& head);
};

// Null where the CPU, or this build, has no AVX-512 with VNNI.
const Kernels* avx512();

}  // namespace askbase::nn::kernels
