#include "nn/gemm.h"

#include <algorithm>
#include <stdexcept>

#include "nn/backend.h"

namespace askbase::nn {

namespace {

// Multiplications worth a thread of their own: a quarter of a millisecond's tenth.
constexpr Index kGrain = 1 << 19;

template <typename T>
void scale(T beta, View<T> c) {
  for (Index r = 0; r < c.rows; ++r) {
    for (T& x : c.row_span(r)) x = beta == T(0) ? T(0) : x * beta;
  }
}

// Rounding reads and writes (m + n) k numbers, the product does m n k.
bool worth_rounding(float alpha, float beta, Index m, Index n, Index k) {
  return bf16_products() && alpha == 1.0F && (beta == 0.0F || beta == 1.0F) && m >= 64 && n >= 64 && k >= 64;
}

}  // namespace

bool bf16_products() { return backend::bf16_available(); }

template <typename T>
void gemm(Op op_a, Op op_b, T alpha, View<const std::type_identity_t<T>> a,
          View<const std::type_identity_t<T>> b, T beta, View<std::type_identity_t<T>> c, Team& team,
          Precision precision) {
  const bool ta = op_a == Op::transpose, tb = op_b == Op::transpose;
  const Index m = ta ? a.cols : a.rows, k = ta ? a.rows : a.cols, n = tb ? b.rows : b.cols;
  if (m != c.rows || n != c.cols || k != (tb ? b.cols : b.rows))
    throw std::logic_error("nn::gemm: sizes do not fit");
  if (m == 0 || n == 0) return;
  if (k == 0) return scale(beta, c);
  const auto product = [&](View<const T> x, View<const T> y, View<T> z) {
    if constexpr (std::is_same_v<T, float>) {
      if (precision == Precision::bf16 && worth_rounding(alpha, beta, z.rows, n, k)) {
        return backend::product_bf16(op_a, op_b, alpha, x, y, beta, z);
      }
    }
    backend::product(op_a, op_b, alpha, x, y, beta, z);
  };
  if (m * n * k < 2 * kGrain || team.size() == 1) return product(a, b, c);
  // Rows where there are enough of them; columns for a wide product of few rows. Borders at multiples of 16,
  // which the kernels like.
  const bool by_rows = m >= n || m >= 64 * team.size();
  const Index side = by_rows ? m : n, tiles = (side + 15) / 16;
  const Index grain = std::max<Index>(1, kGrain / std::max<Index>(1, 16 * (m * n / side) * k));
  team.parallel_for(tiles, grain, [&](Index first, Index last) {
    const Index begin = first * 16, count = std::min(last * 16, side) - begin;
    if (by_rows) {
      product(ta ? a.cols_from(begin, count) : a.rows_from(begin, count), b, c.rows_from(begin, count));
    } else {
      product(a, tb ? b.rows_from(begin, count) : b.cols_from(begin, count), c.cols_from(begin, count));
    }
  });
}

std::string gemm_backend() { return backend::name(); }

template void gemm<float>(Op, Op, float, View<const float>, View<const float>, float, View<float>, Team&,
                          Precision);
template void gemm<double>(Op, Op, double, View<const double>, View<const double>, double, View<double>,
                           Team&, Precision);

}  // namespace askbase::nn
