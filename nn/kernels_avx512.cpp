// Compiled for AVX-512 with VNNI and BF16; called only where the CPU has them. See kernels.h for what must
// not stand here.
#include "nn/kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__AVX512BF16__)

#include <immintrin.h>

namespace askbase::nn::kernels {

namespace {

#define ASKBASE_INLINE [[gnu::always_inline]] inline

constexpr int kRows = 12;    // of a tile: 24 sums of sixteen stay in registers beside three operands
constexpr Size kAhead = 12;  // units that the panel is fetched ahead
constexpr Size kQueryRows = kRows;

ASKBASE_INLINE Size smaller(Size a, Size b) { return a < b ? a : b; }
ASKBASE_INLINE Size up(Size n, Size step) { return (n + step - 1) / step * step; }

// The lanes of columns [at, at + 16) that are below n.
ASKBASE_INLINE __mmask16 lanes(Size at, Size n) {
  const Size left = n - at;
  return left >= 16  ? __mmask16{0xFFFF}
         : left <= 0 ? __mmask16{0}
                     : static_cast<__mmask16>((1U << left) - 1U);
}

template <Form F>
ASKBASE_INLINE void multiply_add(__m512& sum, __m512i a, __m512i b) {
  if constexpr (F == Form::f32) {
    sum = _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), sum);
  } else if constexpr (F == Form::bf16) {
    sum = _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  } else {
    // The sums are integers in a register called float. Not the intrinsic and its type: GCC 12 spills them
    // then.
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
}

// M rows times one panel; store(row, left sixteen, right sixteen).
template <Form F, int M, typename Store>
ASKBASE_INLINE void tile(const std::uint32_t* a, Size stride, const std::uint32_t* panel, Size units,
                         const Store& store) {
  __m512 sums[M][2];
#pragma GCC unroll 12
  for (int r = 0; r < M; ++r) sums[r][0] = sums[r][1] = _mm512_setzero_ps();
  // Rows in threes: a base and once or twice the stride are an address, so that pointers stay in registers.
  const std::uint32_t* bases[4] = {a, a + 3 * stride, a + 6 * stride, a + 9 * stride};
  for (Size i = 0; i < units; ++i, panel += kPanel) {
    _mm_prefetch(reinterpret_cast<const char*>(panel + kAhead * kPanel), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(panel + kAhead * kPanel + 16), _MM_HINT_T0);
    const __m512i left = _mm512_load_si512(panel), right = _mm512_load_si512(panel + 16);
#pragma GCC unroll 12
    for (int r = 0; r < M; ++r) {
      const __m512i unit = _mm512_set1_epi32(static_cast<int>(bases[r / 3][(r % 3) * stride + i]));
      multiply_add<F>(sums[r][0], unit, left);
      multiply_add<F>(sums[r][1], unit, right);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < M; ++r) store(r, sums[r][0], sums[r][1]);
}

template <Form F, typename Store>
ASKBASE_INLINE void tile_of(Size m, const std::uint32_t* a, Size stride, const std::uint32_t* panel,
                            Size units, const Store& store) {
  switch (m) {
    // clang-format off
    case 1: return tile<F, 1>(a, stride, panel, units, store);
    case 2: return tile<F, 2>(a, stride, panel, units, store);
    case 3: return tile<F, 3>(a, stride, panel, units, store);
    case 4: return tile<F, 4>(a, stride, panel, units, store);
    case 5: return tile<F, 5>(a, stride, panel, units, store);
    case 6: return tile<F, 6>(a, stride, panel, units, store);
    case 7: return tile<F, 7>(a, stride, panel, units, store);
    case 8: return tile<F, 8>(a, stride, panel, units, store);
    case 9: return tile<F, 9>(a, stride, panel, units, store);
    case 10: return tile<F, 10>(a, stride, panel, units, store);
    case 11: return tile<F, 11>(a, stride, panel, units, store);
    default: return tile<F, kRows>(a, stride, panel, units, store);
      // clang-format on
  }
}

// body(first, count): rows in tiles of nearly the same height.
template <typename Body>
ASKBASE_INLINE void tiles(Size rows, const Body& body) {
  const Size count = (rows + kRows - 1) / kRows;
  for (Size t = 0; t < count; ++t) {
    const Size first = rows * t / count;
    body(first, rows * (t + 1) / count - first);
  }
}

// erf as Eigen and XLA compute it in float: x P(x^2) / Q(x^2) on [-4, 4], good to some units in the last
// place.
ASKBASE_INLINE __m512 gelu(__m512 x) {
  const auto c = [](float v) { return _mm512_set1_ps(v); };
  const __m512 z = _mm512_max_ps(_mm512_min_ps(_mm512_mul_ps(x, c(0.70710678118654752F)), c(4.0F)), c(-4.0F));
  const __m512 z2 = _mm512_mul_ps(z, z);
  __m512 p = _mm512_fmadd_ps(z2, c(-2.72614225801306e-10F), c(2.77068142495902e-08F));
  p = _mm512_fmadd_ps(z2, p, c(-2.10102402082508e-06F));
  p = _mm512_fmadd_ps(z2, p, c(-5.69250639462346e-05F));
  p = _mm512_fmadd_ps(z2, p, c(-7.34990630326855e-04F));
  p = _mm512_fmadd_ps(z2, p, c(-2.95459980854025e-03F));
  p = _mm512_fmadd_ps(z2, p, c(-1.60960333262415e-02F));
  __m512 q = _mm512_fmadd_ps(z2, c(-1.45660718464996e-05F), c(-2.13374055278905e-04F));
  q = _mm512_fmadd_ps(z2, q, c(-1.68282697438203e-03F));
  q = _mm512_fmadd_ps(z2, q, c(-7.37332916720468e-03F));
  q = _mm512_fmadd_ps(z2, q, c(-1.42647390514189e-02F));
  const __m512 erf = _mm512_div_ps(_mm512_mul_ps(z, p), q);
  const __m512 half = _mm512_mul_ps(x, c(0.5F));
  return _mm512_fmadd_ps(half, erf, half);
}

// 2^x, relative error 3e-7; 0 for very small x.
ASKBASE_INLINE __m512 exp2(__m512 x) {
  const auto c = [](float v) { return _mm512_set1_ps(v); };
  const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(x, whole);
  __m512 p = _mm512_fmadd_ps(f, c(1.5469731978e-04F), c(1.3400432165e-03F));
  p = _mm512_fmadd_ps(f, p, c(9.6180256030e-03F));
  p = _mm512_fmadd_ps(f, p, c(5.5503272142e-02F));
  p = _mm512_fmadd_ps(f, p, c(2.4022651214e-01F));
  p = _mm512_fmadd_ps(f, p, c(6.9314720671e-01F));
  p = _mm512_fmadd_ps(f, p, c(1.0F));
  return _mm512_scalef_ps(p, whole);
}

// Sixteen sums, as they lie in y, to numbers: bias, and the scales of int8.
template <Form F>
ASKBASE_INLINE __m512 finished(const Weights& w, const Rows& rows, Size row, Size column, __mmask16 m,
                               const float* y) {
  const __m512 bias = _mm512_maskz_loadu_ps(m, w.bias + column);
  if constexpr (F == Form::int8) {
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(m, y)),
                 shift = _mm512_mul_ps(_mm512_set1_ps(rows.zeros[row]),
                                       _mm512_maskz_loadu_ps(m, w.sums + column)),
                 scale = _mm512_mul_ps(_mm512_set1_ps(rows.scales[row]),
                                       _mm512_maskz_loadu_ps(m, w.scales + column));
    return _mm512_fmadd_ps(_mm512_sub_ps(sum, shift), scale, bias);
  } else {
    return _mm512_add_ps(_mm512_maskz_loadu_ps(m, y), bias);
  }
}

template <Form F>
void linear_in(const Weights& w, const Rows& rows, bool with_gelu, float* y, Size y_stride) {
  for (Size column = 0; column < w.columns; column += kPanel) {
    const __mmask16 masks[2] = {lanes(column, w.columns), lanes(column + 16, w.columns)};
    tiles(rows.count, [&](Size first, Size count) {
      // The sums go to memory as they are: with more to do here, the compiler finds no registers for them.
      tile_of<F>(count, rows.units + first * rows.stride, rows.stride, w.panels + column * w.units, w.units,
                 [&](int r, __m512 left, __m512 right) {
                   float* to = y + (first + r) * y_stride + column;
                   _mm512_mask_storeu_ps(to, masks[0], left);
                   _mm512_mask_storeu_ps(to + 16, masks[1], right);
                 });
      for (Size r = first; r < first + count; ++r) {
        for (Size side = 0; side < 2; ++side) {
          const __mmask16 m = masks[side];
          float* to = y + r * y_stride + column + 16 * side;
          const __m512 out = finished<F>(w, rows, r, column + 16 * side, m, to);
          _mm512_mask_storeu_ps(to, m, with_gelu ? gelu(out) : out);
        }
      }
    });
  }
}

void linear(const Weights& w, const Rows& rows, bool with_gelu, float* y, Size y_stride) {
  switch (w.form) {
    case Form::f32:
      return linear_in<Form::f32>(w, rows, with_gelu, y, y_stride);
    case Form::bf16:
      return linear_in<Form::bf16>(w, rows, with_gelu, y, y_stride);
    case Form::int8:
      return linear_in<Form::int8>(w, rows, with_gelu, y, y_stride);
  }
}

// factor * x as bfloat16 pairs.
ASKBASE_INLINE void pack_bf16(const float* x, Size n, float factor, std::uint32_t* units) {
  const __m512 f = _mm512_set1_ps(factor);
  for (Size i = 0; i < n; i += 32) {
    const __m512 a = _mm512_mul_ps(f, _mm512_maskz_loadu_ps(lanes(i, n), x + i)),
                 b = _mm512_mul_ps(f, _mm512_maskz_loadu_ps(lanes(i + 16, n), x + i + 16));
    _mm512_mask_storeu_epi32(units + i / 2, lanes(i / 2, (n + 1) / 2),
                             reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
  }
}

ASKBASE_INLINE void pack_f32(const float* x, Size n, float factor, std::uint32_t* units) {
  const __m512 f = _mm512_set1_ps(factor);
  for (Size i = 0; i < n; i += 16) {
    const __m512 a = _mm512_mul_ps(f, _mm512_maskz_loadu_ps(lanes(i, n), x + i));
    _mm512_mask_storeu_epi32(units + i, lanes(i, n), _mm512_castps_si512(a));
  }
}

ASKBASE_INLINE void pack_int8(const float* x, Size n, std::uint32_t* units, float* scale, float* zero) {
  __m512 low = _mm512_setzero_ps(), high = low;
  for (Size i = 0; i < n; i += 16) {
    const __m512 v = _mm512_maskz_loadu_ps(lanes(i, n), x + i);
    low = _mm512_min_ps(low, v);
    high = _mm512_max_ps(high, v);
  }
  const float least = _mm512_reduce_min_ps(low), most = _mm512_reduce_max_ps(high);
  *scale = most > least ? (most - least) / 255.0F : 1.0F;
  const float inverse = 1.0F / *scale;
  const __m128 z = _mm_set_ss(-least * inverse);
  *zero = _mm_cvtss_f32(_mm_roundscale_ss(z, z, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  const __m512 factor = _mm512_set1_ps(inverse), offset = _mm512_set1_ps(*zero);
  const Size bytes = up(n, 4);
  for (Size i = 0; i < n; i += 16) {
    // Saturation at both ends is the instructions'.
    const __m512i q = _mm512_max_epi32(
        _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes(i, n), x + i), factor, offset)),
        _mm512_setzero_si512());
    _mm_mask_storeu_epi8(reinterpret_cast<std::uint8_t*>(units) + i, lanes(i, bytes),
                         _mm512_cvtusepi32_epi8(q));
  }
}

void pack_row(Form form, const float* x, Size n, std::uint32_t* units, float* scale, float* zero) {
  switch (form) {
    case Form::f32:
      return pack_f32(x, n, 1.0F, units);
    case Form::bf16:
      return pack_bf16(x, n, 1.0F, units);
    case Form::int8:
      return pack_int8(x, n, units, scale, zero);
  }
}

void add_and_norm(const float* x, const float* residual, const float* weight, const float* bias,
                  float epsilon, Size n, float* y) {
  __m512 sum = _mm512_setzero_ps();
  for (Size i = 0; i < n; i += 16) {
    const __mmask16 m = lanes(i, n);
    const __m512 v = _mm512_add_ps(_mm512_maskz_loadu_ps(m, x + i), _mm512_maskz_loadu_ps(m, residual + i));
    sum = _mm512_add_ps(sum, v);
    _mm512_mask_storeu_ps(y + i, m, v);
  }
  const float count = static_cast<float>(n);
  const __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / count);
  __m512 squares = _mm512_setzero_ps();
  for (Size i = 0; i < n; i += 16) {
    const __mmask16 m = lanes(i, n);
    const __m512 d = _mm512_maskz_sub_ps(m, _mm512_maskz_loadu_ps(m, y + i), mean);
    squares = _mm512_fmadd_ps(d, d, squares);
  }
  const __m128 variance = _mm_set_ss(_mm512_reduce_add_ps(squares) / count + epsilon);
  const __m512 rstd = _mm512_set1_ps(1.0F / _mm_cvtss_f32(_mm_sqrt_ss(variance)));
  for (Size i = 0; i < n; i += 16) {
    const __mmask16 m = lanes(i, n);
    const __m512 d = _mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(m, y + i), mean), rstd);
    _mm512_mask_storeu_ps(
        y + i, m,
        _mm512_fmadd_ps(d, _mm512_maskz_loadu_ps(m, weight + i), _mm512_maskz_loadu_ps(m, bias + i)));
  }
}

// Where the parts of an attention's scratch memory lie, in units. The keys become panels of 32 keys with a
// row's numbers as units, the values panels of 32 columns with keys as units.
struct Places {
  Size keys, values, queries, scores, weights, end;
  Size key_units, value_units, query_stride, score_stride, weight_stride;
  Places(Form form, Size length, Size width) {
    key_units = units_for(form, width);
    value_units = units_for(form, length);
    // Odd numbers of cache lines: rows then lie in different sets of the first cache.
    query_stride = up(key_units, 16);
    score_stride = up(length, kPanel) + 16;
    weight_stride = up(value_units, kPanel) + 16;
    keys = 0;
    values = keys + up(length, kPanel) * key_units;
    queries = values + up(width, kPanel) * value_units;
    scores = queries + kQueryRows * query_stride;
    weights = scores + kQueryRows * score_stride;
    end = weights + (form == Form::f32 ? 0 : kQueryRows * weight_stride);
  }
};

Size scratch(Form form, Size length, Size width) { return Places(form, length, width).end; }

template <Form F>
ASKBASE_INLINE void pack(const float* x, Size n, float factor, std::uint32_t* units) {
  if constexpr (F == Form::f32) {
    pack_f32(x, n, factor, units);
  } else {
    pack_bf16(x, n, factor, units);
  }
}

// Sixteen rows of sixteen units, transposed. Rows beyond `rows` count as zeros, units beyond `count` are
// left.
ASKBASE_INLINE void transpose(const std::uint32_t* from, Size stride, Size rows, Size count,
                              std::uint32_t* to, Size to_stride) {
  __m512i r[16], t[16];
  const __mmask16 m = lanes(0, count);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    r[i] = i < rows ? _mm512_maskz_loadu_epi32(m, from + i * stride) : _mm512_setzero_si512();
  }
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 2
  for (int h = 0; h < 16; h += 8) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      t[h + i] = _mm512_shuffle_i32x4(r[h + i], r[h + i + 4], 0x88);
      t[h + i + 4] = _mm512_shuffle_i32x4(r[h + i], r[h + i + 4], 0xDD);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if (i < count) _mm512_storeu_si512(to + i * to_stride, r[i]);
  }
}

template <Form F>
ASKBASE_INLINE void pack_keys(const Head& h, const Places& at) {
  alignas(64) std::uint32_t rows[16 * 64];
  for (Size first = 0; first < up(h.length, kPanel); first += 16) {
    std::uint32_t* panel = h.scratch + at.keys + first / kPanel * kPanel * at.key_units + first % kPanel;
    const Size count = smaller(16, h.length - first);
    for (Size unit = 0; unit < at.key_units; unit += 64) {  // as many units of a row at once as `rows` holds
      const Size units = smaller(64, at.key_units - unit), number = unit * per_unit(F);
      for (Size r = 0; r < count; ++r) {
        pack<F>(h.k + (first + r) * h.stride + number, smaller(64 * per_unit(F), h.width - number), 1.0F,
                rows + r * 64);
      }
      for (Size u = 0; u < units; u += 16) {
        transpose(rows + u, 64, count, smaller(16, units - u), panel + (unit + u) * kPanel, kPanel);
      }
    }
  }
}

template <Form F>
ASKBASE_INLINE void pack_values(const Head& h, const Places& at) {
  const __m512i pairs = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                         22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  for (Size column = 0; column < h.width; column += kPanel) {
    std::uint32_t* to = h.scratch + at.values + column * at.value_units;
    for (Size unit = 0; unit < at.value_units; ++unit, to += kPanel) {
      for (Size side = 0; side < kPanel; side += 16) {
        const __mmask16 m = lanes(column + side, h.width);
        const float* v = h.v + unit * per_unit(F) * h.stride + column + side;
        const __m512 a = _mm512_maskz_loadu_ps(m, v);
        if constexpr (F == Form::f32) {
          _mm512_store_ps(to + side, a);
        } else {
          const __m512 b =
              2 * unit + 1 < h.length ? _mm512_maskz_loadu_ps(m, v + h.stride) : _mm512_setzero_ps();
          _mm512_store_si512(to + side, _mm512_permutexvar_epi16(
                                            pairs, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a))));
        }
      }
    }
  }
}

// exp2(x - largest) of a row of scores, as units; the inverse of their sum.
template <Form F>
ASKBASE_INLINE float weigh(float* x, Size n, std::uint32_t* units) {
  __m512 top = _mm512_set1_ps(x[0]);
  Size i = 0;
  for (; i + 16 <= n; i += 16) top = _mm512_max_ps(top, _mm512_load_ps(x + i));
  if (i < n) top = _mm512_mask_max_ps(top, lanes(i, n), top, _mm512_load_ps(x + i));
  const __m512 most = _mm512_set1_ps(_mm512_reduce_max_ps(top));
  __m512 sum = _mm512_setzero_ps();
  const auto part = [&](Size at) {
    const __m512 e = _mm512_maskz_mov_ps(lanes(at, n), exp2(_mm512_sub_ps(_mm512_load_ps(x + at), most)));
    sum = _mm512_add_ps(sum, e);
    return e;
  };
  for (i = 0; i < n; i += 32) {
    const __m512 a = part(i), b = part(i + 16);
    if constexpr (F == Form::f32) {
      _mm512_store_ps(x + i, a);
      _mm512_store_ps(x + i + 16, b);
    } else {
      _mm512_store_si512(units + i / 2, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
    }
  }
  return 1.0F / _mm512_reduce_add_ps(sum);
}

template <Form F>
void attend_in(const Head& h) {
  const Places at(F, h.length, h.width);
  pack_keys<F>(h, at);
  pack_values<F>(h, at);
  float* scores = reinterpret_cast<float*>(h.scratch + at.scores);
  std::uint32_t* queries = h.scratch + at.queries;
  std::uint32_t* weights = F == Form::f32 ? h.scratch + at.scores : h.scratch + at.weights;
  const Size weight_stride = F == Form::f32 ? at.score_stride : at.weight_stride;
  const float log2_e = 1.44269504088896341F;
  tiles(h.length, [&](Size first, Size count) {
    for (Size r = 0; r < count; ++r) {
      pack<F>(h.q + (first + r) * h.stride, h.width, h.scale * log2_e, queries + r * at.query_stride);
    }
    for (Size key = 0; key < h.length; key += kPanel) {
      tile_of<F>(count, queries, at.query_stride, h.scratch + at.keys + key * at.key_units, at.key_units,
                 [&](int r, __m512 a, __m512 b) {
                   _mm512_store_ps(scores + r * at.score_stride + key, a);
                   _mm512_store_ps(scores + r * at.score_stride + key + 16, b);
                 });
    }
    float inverse[kQueryRows];
    for (Size r = 0; r < count; ++r) {
      inverse[r] = weigh<F>(scores + r * at.score_stride, h.length, weights + r * weight_stride);
    }
    for (Size column = 0; column < h.width; column += kPanel) {
      const __mmask16 left = lanes(column, h.width), right = lanes(column + 16, h.width);
      tile_of<F>(count, weights, weight_stride, h.scratch + at.values + column * at.value_units,
                 at.value_units, [&](int r, __m512 a, __m512 b) {
                   float* to = h.out + (first + r) * h.out_stride + column;
                   const __m512 factor = _mm512_set1_ps(inverse[r]);
                   _mm512_mask_storeu_ps(to, left, _mm512_mul_ps(a, factor));
                   _mm512_mask_storeu_ps(to + 16, right, _mm512_mul_ps(b, factor));
                 });
    }
  });
}

void attend(const Head& head) {
  if (head.form == Form::f32) {
    attend_in<Form::f32>(head);
  } else {
    attend_in<Form::bf16>(head);
  }
}

}  // namespace

const Kernels* avx512() {
  static constexpr Kernels plain{false, linear, pack_row, add_and_norm, scratch, attend};
  static constexpr Kernels full{true, linear, pack_row, add_and_norm, scratch, attend};
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512vnni")) {
    return nullptr;
  }
  return __builtin_cpu_supports("avx512bf16") ? &full : &plain;
}

}  // namespace askbase::nn::kernels

#else

namespace askbase::nn::kernels {

const Kernels* avx512() { return nullptr; }

}  // namespace askbase::nn::kernels

#endif
