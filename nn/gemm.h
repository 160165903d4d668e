// Matrix products: C = alpha * op(A) * op(B) + beta * C, rows of C shared between the threads of a team.
//
// Built with oneDNN (ASKBASE_ONEDNN) its kernels do the float products, otherwise Eigen's; double is always
// Eigen's. The results agree within rounding; for one backend, CPU type and team size they are the same every
// time.
#pragma once

#include <string>

#include "nn/matrix.h"
#include "nn/team.h"

namespace askbase::nn {

enum class Op { none, transpose };

// bf16: operands rounded to bfloat16 (8 bits of precision), sums in float; twice as fast where the CPU has
// instructions for it, and the same as f32 elsewhere (bf16_products()).
enum class Precision { f32, bf16 };
bool bf16_products();

// op(A) is (m, k), op(B) is (k, n), c is (m, n); a size that does not fit is a programmer error
// (std::logic_error). bf16 applies to float, alpha 1, beta 0 or 1, and products worth the rounding. With beta
// 0, c need not hold numbers before. c must not overlap a or b.
template <typename T>
void gemm(Op op_a, Op op_b, T alpha, View<const std::type_identity_t<T>> a,
          View<const std::type_identity_t<T>> b, T beta, View<std::type_identity_t<T>> c,
          Team& team = one_thread(), Precision precision = Precision::f32);

// "oneDNN 2.6.3 (avx512_core_bf16)" or "Eigen 3.4.0": what answers, for logs and benchmarks.
std::string gemm_backend();

extern template void gemm<float>(Op, Op, float, View<const float>, View<const float>, float, View<float>,
                                 Team&, Precision);
extern template void gemm<double>(Op, Op, double, View<const double>, View<const double>, double,
                                  View<double>, Team&, Precision);

}  // namespace askbase::nn
