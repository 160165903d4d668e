// Matrix products, as a share of what the cores can do at most: float on one and two threads, int8
// (quantising the activations included) on one.
//
//   bench_nn_gemm
#include <cstdio>
#include <functional>
#include <span>
#include <vector>

#include "nn/gemm.h"
#include "nn/quantized_linear.h"
#include "nn/random.h"
#include "tests/bench/peak.h"

namespace {

using namespace askbase::nn;
using askbase::bench::best_seconds;

Matrix<float> random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix<float> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.normal());
  return m;
}

}  // namespace

int main() {
  const double peak = askbase::bench::peak_gflops();
  // Four byte products where float has one, on CPUs with VNNI.
  std::printf("%s; one core's peak %.1f GFLOP/s (int8 with VNNI %.1f)\n", gemm_backend().c_str(), peak,
              4 * peak);
  std::printf("%-16s %-5s %22s %22s %22s\n", "m x k x n", "form", "f32, 1 thread", "f32, 2 threads",
              "int8, 1 thread");
  Team two(2);
  struct Case {
    Index m, k, n;
    Op op_a, op_b;
    const char* form;
  };
  constexpr Op N = Op::none, T = Op::transpose;
  const std::vector<Case> cases{
      {384, 768, 768, N, N, "NN"},   {384, 768, 768, N, T, "NT"},   {384, 768, 3072, N, N, "NN"},
      {384, 768, 3072, N, T, "NT"},  {384, 384, 1536, N, N, "NN"},  {384, 384, 1536, N, T, "NT"},
      {64, 300, 1200, N, N, "NN"},   {64, 300, 1200, N, T, "NT"},   {384, 1536, 384, N, T, "NT"},
      {1360, 384, 1536, N, T, "NT"}, {1360, 1536, 384, N, N, "NN"}, {1536, 1360, 384, T, N, "TN"}};
  for (const Case& c : cases) {
    const Matrix<float> a = c.op_a == N ? random_matrix(c.m, c.k, 1) : random_matrix(c.k, c.m, 1);
    const Matrix<float> b = c.op_b == N ? random_matrix(c.k, c.n, 2) : random_matrix(c.n, c.k, 2);
    Matrix<float> out(c.m, c.n);
    const double operations =
        2.0 * static_cast<double>(c.m) * static_cast<double>(c.k) * static_cast<double>(c.n);
    const int rounds = std::max(1, static_cast<int>(4e8 / operations));
    const auto rate = [&](const std::function<void()>& body) {
      return operations * rounds /
             best_seconds(30,
                          [&] {
                            for (int i = 0; i < rounds; ++i) body();
                          }) *
             1e-9;
    };
    const double one = rate([&] { gemm<float>(c.op_a, c.op_b, 1.0F, a, b, 0.0F, out); });
    const double pair = rate([&] { gemm<float>(c.op_a, c.op_b, 1.0F, a, b, 0.0F, out, two); });
    std::printf("%4td x %4td x %4td %-4s %9.1f (%5.1f %%) %9.1f (%5.1f %%)", c.m, c.k, c.n, c.form, one,
                100 * one / peak, pair, 50 * pair / peak);
    if (c.op_a == N && c.op_b == T) {
      const QuantizedLinear linear(b, {});
      QuantizedLinear::Scratch scratch;
      const Context context;
      const double eight = rate([&] { linear.forward(a, out, scratch, context); });
      std::printf(" %9.1f (%5.1f %%)", eight, 25 * eight / peak);
    }
    std::printf("\n");
  }
  return 0;
}
