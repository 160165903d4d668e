// int8 and bfloat16 products. The build runs these twice: as the CPU is, and as if it had AVX2 only.
#include <array>
#include <atomic>
#include <bit>
#include <signal.h>
#include <sys/time.h>

#include "nn/backend.h"
#include "nn/gemm.h"
#include "nn/quantized_linear.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::random_matrix;

TEST_CASE("int8 products are exact at the largest activations and weights") {
  const int limit = backend::activation_limit();
  CHECK((limit == 255 || limit == 127));
  Random random(3);
  for (const auto& [rows, in, out] :
       std::vector<std::array<Index, 3>>{{1, 1, 1}, {5, 7, 3}, {16, 64, 48}, {100, 130, 77}, {64, 384, 30}}) {
    for (const bool extreme : {true, false}) {
      Matrix<std::uint8_t> a(rows, in);
      Matrix<std::int8_t> w(out, in);
      // The worst for sums in sixteen bits: all the largest, of one sign.
      for (Index i = 0; i < a.size(); ++i) {
        a.data()[i] = static_cast<std::uint8_t>(extreme ? limit : static_cast<int>(random.below(limit + 1)));
      }
      for (Index i = 0; i < w.size(); ++i) {
        const int sign = (i / in) % 2 == 0 ? 1 : -1;
        w.data()[i] =
            static_cast<std::int8_t>(extreme ? 127 * sign : static_cast<int>(random.below(255)) - 127);
      }
      Matrix<std::int32_t> expected(rows, out), fast(rows, out), plain(rows, out);
      for (Index r = 0; r < rows; ++r) {
        for (Index o = 0; o < out; ++o) {
          std::int32_t sum = 0;
          for (Index i = 0; i < in; ++i) sum += a(r, i) * w(o, i);
          expected(r, o) = sum;
        }
      }
      backend::pack_int8(w.view())->product(a.data(), rows, fast.data());
      backend::plain_pack_int8(w.view())->product(a.data(), rows, plain.data());
      CHECK(difference(fast, expected) == 0.0);
      CHECK(difference(plain, expected) == 0.0);
    }
  }
}

TEST_CASE(
    "a quantised linear layer is close to the float one, in one thread and three, whatever the rows hold") {
  const Index in = 96, out = 50;
  const Matrix<float> w = random_matrix<float>(out, in, 1);
  const Matrix<float> b = random_matrix<float>(1, out, 2);
  const QuantizedLinear layer(w, {b.data(), static_cast<std::size_t>(out)});
  CHECK(layer.in() == in);
  CHECK(layer.out() == out);
  for (const Index n : {0, 1, 15, 64, 200}) {
    Matrix<float> x = random_matrix<float>(n, in, 4);
    for (Index r = 0; r < n; ++r) {
      for (Index c = 0; c < in; ++c) {
        switch (r % 5) {
          case 1:
            x(r, c) = std::abs(x(r, c)) + 3;
            break;  // all positive
          case 2:
            x(r, c) = -std::abs(x(r, c)) * 100;
            break;  // all negative, large
          case 3:
            x(r, c) = 0;
            break;
          case 4:
            x(r, c) *= 1e-6F;
            break;
          default:
            break;
        }
      }
    }
    Matrix<float> exact(n, out), y(n, out), again(n, out);
    gemm<float>(Op::none, Op::transpose, 1.0F, x, w, 0.0F, exact);
    QuantizedLinear::Scratch scratch;
    layer.forward(x, y, scratch, {});
    for (Index r = 0; r < n; ++r) {
      // Rounding of x is at most half a step, of w too: errors add like a random walk over `in` products.
      float low = 0, high = 0;
      for (const float v : x.view().row_span(r)) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
      const float bound = 0.15F * (high - low) * static_cast<float>(255 / backend::activation_limit());
      for (Index o = 0; o < out; ++o) CHECK(std::abs(y(r, o) - b(0, o) - exact(r, o)) <= bound);
    }
    Team three(3);
    layer.forward(x, again, scratch, {.team = &three});
    CHECK(difference(y, again) == 0.0);
  }
}

TEST_CASE("every activation row keeps its range: no wrap at the ends") {
  // Ranges whose zero rounds either way; the largest must not become 0, nor the least the largest.
  const Matrix<float> w = [] {
    Matrix<float> m(1, 2);
    m(0, 0) = 1;
    m(0, 1) = 0;
    return m;
  }();
  const QuantizedLinear layer(w, {});
  QuantizedLinear::Scratch scratch;
  Random random(8);
  for (int i = 0; i < 2000; ++i) {
    Matrix<float> x(2, 2), y(2, 1);
    const float low = static_cast<float>(-random.uniform()), high = static_cast<float>(random.uniform());
    x(0, 0) = x(1, 1) = high;
    x(0, 1) = x(1, 0) = low;
    layer.forward(x, y, scratch, {});
    const float step = (high - low) / static_cast<float>(backend::activation_limit());
    CHECK(std::abs(y(0, 0) - high) <= 0.51F * step + 1e-6F);
    CHECK(std::abs(y(1, 0) - low) <= 0.51F * step + 1e-6F);
  }
}

TEST_CASE("stored int8 weights give what their floats give") {
  Matrix<std::int8_t> v(2, 3);
  for (Index i = 0; i < v.size(); ++i) v.data()[i] = static_cast<std::int8_t>(40 * i - 100);
  const std::vector<float> scales{0.5F, 0.01F}, bias{1.0F, -1.0F};
  const QuantizedLinear layer(v.view(), scales, bias);
  Matrix<float> x(1, 3), y(1, 2);
  x(0, 0) = 255;
  x(0, 1) = 0;
  x(0, 2) = 127.5F;
  QuantizedLinear::Scratch scratch;
  layer.forward(x, y, scratch, {});
  for (Index o = 0; o < 2; ++o) {
    const float exact = static_cast<float>(v(o, 0)) * 255 + static_cast<float>(v(o, 2)) * 127.5F;
    const float scale = scales[static_cast<std::size_t>(o)];
    CHECK(std::abs(y(0, o) - (exact * scale + bias[static_cast<std::size_t>(o)])) <= 130 * 1.1F * scale);
  }
  CHECK_THROWS_AS(QuantizedLinear(v.view(), std::vector<float>{1.0F}, {}), std::logic_error);
  CHECK_THROWS_AS(layer.forward(y, x, scratch, {}), std::logic_error);
}

TEST_CASE("signals that arrive in the middle of products harm nothing") {
  // oneDNN 2.6's kernels use the stack pointer as a register; a handler on the thread's own stack then
  // overwrote memory, and an interrupted training ended in a corrupted heap.
  struct sigaction action = {}, before = {};
  static std::atomic<int> arrived{0};
  action.sa_handler = [](int) { ++arrived; };
  action.sa_flags = SA_ONSTACK | SA_RESTART;  // as base::watch_interrupts asks for
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, &before);
  const auto multiply = [] {
    for (int round = 0; round < 12; ++round) {
      const Matrix<float> a = random_matrix<float>(24, 8192, 1), b = random_matrix<float>(8192, 200, 2);
      Matrix<float> c(24, 200), again(24, 200);
      gemm<float>(Op::none, Op::none, 1.0F, a, b, 0.0F, c);
      for (int i = 0; i < 4; ++i) gemm<float>(Op::none, Op::none, 1.0F, a, b, 0.0F, again);
      CHECK(difference(c, again) == 0.0);
    }
  };
  multiply();  // a thread's first product prepares it
  const itimerval often{{0, 200}, {0, 200}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  multiply();
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  CHECK(arrived > 10);
}

TEST_CASE("the float backends agree") {
  const Matrix<float> a = random_matrix<float>(70, 90, 1), b = random_matrix<float>(90, 33, 2);
  Matrix<float> fast(70, 33), plain(70, 33);
  backend::product(Op::none, Op::none, 1.0F, a, b, 0.0F, fast);
  backend::plain_product(Op::none, Op::none, 1.0F, a, b, 0.0F, plain);
  CHECK(difference(fast, plain) < 1e-5);
}

TEST_CASE("bfloat16 products are the products of rounded operands; elsewhere they are float's") {
  const auto rounded = [](const Matrix<float>& m) {
    Matrix<float> r = m;
    for (Index i = 0; bf16_products() && i < r.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(r.data()[i]);
      r.data()[i] = std::bit_cast<float>((bits + 0x7FFFU + ((bits >> 16) & 1U)) & 0xFFFF0000U);
    }
    return r;
  };
  Team two(2);
  for (const Op op_a : {Op::none, Op::transpose}) {
    for (const Op op_b : {Op::none, Op::transpose}) {
      for (const float beta : {0.0F, 1.0F}) {
        const Matrix<float> a =
            op_a == Op::none ? random_matrix<float>(130, 100, 1) : random_matrix<float>(100, 130, 1);
        const Matrix<float> b =
            op_b == Op::none ? random_matrix<float>(100, 96, 2) : random_matrix<float>(96, 100, 2);
        const Matrix<float> before = random_matrix<float>(130, 96 + 5, 3);
        Matrix<float> expected = before, actual = before;
        gemm<float>(op_a, op_b, 1.0F, rounded(a), rounded(b), beta, expected.view().cols_from(2, 96));
        gemm<float>(op_a, op_b, 1.0F, a, b, beta, actual.view().cols_from(2, 96), two, Precision::bf16);
        CHECK(difference(actual, expected) < 1e-4);
      }
    }
  }
  // Too small to be worth it: float's own result.
  const Matrix<float> a = random_matrix<float>(4, 100, 1), b = random_matrix<float>(100, 96, 2);
  Matrix<float> expected(4, 96), actual(4, 96);
  gemm<float>(Op::none, Op::none, 1.0F, a, b, 0.0F, expected);
  gemm<float>(Op::none, Op::none, 1.0F, a, b, 0.0F, actual, one_thread(), Precision::bf16);
  CHECK(difference(actual, expected) == 0.0);
}

}  // namespace askbase::nn
