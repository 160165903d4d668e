// Linear layers, attention and norms made for inference, against plain arithmetic and against the layers that
// train. The build runs these as the CPU is; Loops::plain is what other CPUs run.
#include <array>

#include "nn/gemm.h"
#include "nn/inference.h"
#include "nn/layer_norm.h"
#include "nn/multi_head_attention.h"
#include "nn/quantize.h"
#include "tests/nn_support.h"

namespace askbase::nn {
namespace {

using test::difference;
using test::random_matrix;

constexpr std::array<Loops, 2> kLoops{Loops::best, Loops::plain};

std::span<const float> numbers(const Matrix<float>& m) {
  return {m.data(), static_cast<std::size_t>(m.size())};
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

// Rows 3 numbers longer than needed: strides are not widths.
struct Padded {
  Matrix<float> all;
  Padded(Index rows, Index cols, std::uint64_t seed) : all(random_matrix<float>(rows, cols + 3, seed)) {}
  View<float> view() { return all.view().cols_from(1, all.cols() - 3); }
};

TEST_SUITE("nn_inference") {
  TEST_CASE("linear layers: every size of tile and panel, with and without an activation") {
    for (const auto& [n, in, out] : std::vector<std::array<Index, 3>>{{0, 4, 3},
                                                                      {1, 1, 1},
                                                                      {2, 3, 31},
                                                                      {5, 64, 33},
                                                                      {11, 7, 64},
                                                                      {12, 16, 17},
                                                                      {13, 96, 100},
                                                                      {25, 130, 5}}) {
      CAPTURE(n);
      CAPTURE(out);
      Padded x(n, in, 1);
      const Matrix<float> w = random_matrix<float>(out, in, 2), b = random_matrix<float>(1, out, 3);
      for (const Activation activation : {Activation::identity, Activation::gelu, Activation::relu}) {
        Matrix<double> exact(n, out);
        Matrix<float> widest(n, 1);
        for (Index r = 0; r < n; ++r) {
          for (Index o = 0; o < out; ++o) {
            double sum = static_cast<double>(b(0, o));
            for (Index i = 0; i < in; ++i)
              sum += static_cast<double>(x.view()(r, i)) * static_cast<double>(w(o, i));
            exact(r, o) = activation == Activation::gelu   ? gelu(sum)
                          : activation == Activation::relu ? std::max(sum, 0.0)
                                                           : sum;
          }
        }
        for (const Loops loops : kLoops) {
          PackedLinear::Scratch scratch;
          // float: rounding of the sums. bfloat16: eight bits of both sides. int8: half a step of both sides.
          const double spread = std::sqrt(static_cast<double>(in));
          for (const auto& [form, tolerance] : {std::pair(Numbers::f32, 2e-6), std::pair(Numbers::bf16, 0.02),
                                                std::pair(Numbers::int8, 0.05)}) {
            const PackedLinear layer(w, numbers(b), form, loops);
            CHECK(layer.in() == in);
            CHECK(layer.out() == out);
            Padded y(n, out, 4);
            const Matrix<float> before = y.all;
            layer.forward(x.view(), y.view(), activation, scratch);
            double worst = 0;
            for (Index r = 0; r < n; ++r) {
              for (Index o = 0; o < out; ++o) {
                worst = std::max(worst, std::abs(static_cast<double>(y.view()(r, o)) - exact(r, o)));
              }
              // What lies beside the view stays.
              CHECK(y.all(r, 0) == before(r, 0));
              CHECK(y.all(r, out + 1) == before(r, out + 1));
            }
            CHECK(worst <= tolerance * std::max(1.0, spread));
            // A row is what it is alone.
            for (Index r = 0; r < n; r += 5) {
              Matrix<float> alone(1, out);
              layer.forward(x.view().rows_from(r, 1), alone, activation, scratch);
              const double same =
                  loops == Loops::best ? 0 : 1e-5;  // Eigen's sums depend on the number of rows
              CHECK(difference(View<const float>(alone.view()),
                               View<const float>(y.view().rows_from(r, 1))) <= same);
            }
          }
        }
      }
    }
    CHECK_THROWS_AS(PackedLinear(random_matrix<float>(3, 2, 1), numbers(Matrix<float>(1, 2)), Numbers::f32),
                    std::logic_error);
    const PackedLinear layer(random_matrix<float>(3, 2, 1), numbers(Matrix<float>(1, 3)), Numbers::f32);
    PackedLinear::Scratch scratch;
    Matrix<float> x(2, 3), y(2, 3);
    CHECK_THROWS_AS(layer.forward(x, y, Activation::identity, scratch), std::logic_error);
  }

  TEST_CASE("int8 is exact at the largest bytes, and stored weights are taken as they are") {
    const Index in = 260, out = 70;
    Matrix<std::int8_t> w(out, in);
    for (Index i = 0; i < w.size(); ++i)
      w.data()[i] = static_cast<std::int8_t>((i / in) % 2 == 0 ? 127 : -127);
    std::vector<float> scales(static_cast<std::size_t>(out), 0.5F);
    const Matrix<float> b = random_matrix<float>(1, out, 1);
    Matrix<float> x(3, in), y(3, out);
    x.fill(255.0F);
    for (const Loops loops : kLoops) {
      const PackedLinear layer(w.view(), scales, numbers(b), loops);
      PackedLinear::Scratch scratch;
      layer.forward(x, y, Activation::identity, scratch);
      for (Index o = 0; o < out; ++o) {
        const double exact = (o % 2 == 0 ? 1 : -1) * 127.0 * 255 * 260 * 0.5 + static_cast<double>(b(0, o));
        CHECK(static_cast<double>(y(2, o)) == doctest::Approx(exact).epsilon(1e-6));
      }
    }
    CHECK_THROWS_AS(PackedLinear(w.view(), std::vector<float>{1.0F}, numbers(b)), std::logic_error);
  }

  TEST_CASE("gelu over its whole range, and rows of extreme numbers") {
    // One number in, one out: y = gelu(x).
    Matrix<float> one(1, 1), none(1, 1);
    one.fill(1);
    const PackedLinear layer(one, numbers(none), Numbers::f32);
    PackedLinear::Scratch scratch;
    Matrix<float> x(4001, 1), y(4001, 1);
    for (Index i = 0; i < x.rows(); ++i) x(i, 0) = static_cast<float>(i - 2000) * 0.005F;
    layer.forward(x, y, Activation::gelu, scratch);
    double worst = 0;
    for (Index i = 0; i < x.rows(); ++i) {
      const double error = std::abs(static_cast<double>(y(i, 0)) - gelu(static_cast<double>(x(i, 0))));
      worst = std::max(worst, error / std::max(1.0, std::abs(static_cast<double>(x(i, 0)))));
    }
    CHECK(worst < 5e-7);
    // Zeros, a constant, tiny and huge numbers: int8 keeps their range.
    const PackedLinear eight(one, numbers(none), Numbers::int8);
    for (const float v : {0.0F, 3.0F, -3.0F, 1e-30F, 1e30F}) {
      Matrix<float> in(1, 1), out(1, 1);
      in.fill(v);
      eight.forward(in, out, Activation::identity, scratch);
      CHECK(static_cast<double>(out(0, 0)) == doctest::Approx(static_cast<double>(v)).epsilon(0.005));
    }
  }

  TEST_CASE("attention of a head is that of the layer that trains") {
    for (const Index width : {1, 5, 32, 40, 64}) {
      for (const Index length : {0, 1, 2, 12, 13, 33, 70}) {
        CAPTURE(width);
        CAPTURE(length);
        const Matrix<float> rows = random_matrix<float>(length, 3 * width + 2, 7, 1.5);
        const View<const float> q = rows.view().cols_from(0, width), k = rows.view().cols_from(width, width),
                                v = rows.view().cols_from(2 * width + 2, width);
        Matrix<float> expected(length, width), weights(length, length), by_weights(length, width);
        const MultiHeadAttention<float> layer(width, 1);
        MultiHeadAttention<float>::Cache cache;
        layer.forward(q, k, v, Segments::one(length), Segments::one(length), expected, cache, {});
        attention_weights(q, k, weights);
        gemm<float>(Op::none, Op::none, 1.0F, weights, v, 0.0F, by_weights);
        CHECK(difference(by_weights, expected) < 1e-5);
        for (const Loops loops : kLoops) {
          AttentionScratch scratch;
          for (const auto& [form, tolerance] : {std::pair(Numbers::f32, 1e-5), std::pair(Numbers::bf16, 0.05),
                                                std::pair(Numbers::int8, 0.05)}) {
            Padded out(length, width, 1);
            const Matrix<float> before = out.all;
            attend(q, k, v, out.view(), form, loops, scratch);
            CHECK(difference(View<const float>(out.view()), View<const float>(expected.view())) < tolerance);
            for (Index r = 0; r < length; ++r) CHECK(out.all(r, width + 1) == before(r, width + 1));
          }
        }
      }
    }
    // Scores far apart: the largest takes all, and nothing overflows.
    Matrix<float> rows(3, 3);
    for (Index r = 0; r < 3; ++r) {
      rows(r, 0) = 1e4F;
      rows(r, 1) = static_cast<float>(r - 1) * 1e4F;
      rows(r, 2) = static_cast<float>(r);
    }
    for (const Loops loops : kLoops) {
      AttentionScratch scratch;
      Matrix<float> out(3, 1);
      attend(rows.view().cols_from(0, 1), rows.view().cols_from(1, 1), rows.view().cols_from(2, 1), out,
             Numbers::f32, loops, scratch);
      for (Index r = 0; r < 3; ++r) CHECK(out(r, 0) == 2.0F);
    }
    AttentionScratch scratch;
    Matrix<float> wrong(2, 1);
    CHECK_THROWS_AS(attend(rows.view().cols_from(0, 1), rows.view().cols_from(1, 1),
                           rows.view().cols_from(2, 1), wrong, Numbers::f32, Loops::best, scratch),
                    std::logic_error);
  }

  TEST_CASE("norms of sums are those of the layer that trains") {
    for (const Index d : {1, 7, 16, 100}) {
      Parameters<float> p;
      const LayerNorm<float> layer(p, "n", d, 1e-3);
      const Matrix<float> x = random_matrix<float>(9, d, 1), residual = random_matrix<float>(9, d, 2),
                          weight = random_matrix<float>(1, d, 3), bias = random_matrix<float>(1, d, 4);
      std::copy_n(weight.data(), d, p.mutable_view(layer.weight()).data);
      std::copy_n(bias.data(), d, p.mutable_view(layer.bias()).data);
      Matrix<float> sum(9, d), expected(9, d);
      for (Index i = 0; i < sum.size(); ++i) sum.data()[i] = x.data()[i] + residual.data()[i];
      LayerNorm<float>::Cache cache;
      layer.forward(p, sum, expected, cache, {});
      for (const Loops loops : kLoops) {
        Matrix<float> y = x;
        add_and_norm(y, residual, numbers(weight), numbers(bias), 1e-3, y, loops);
        CHECK(difference(y, expected) < 1e-5);
        y = residual;
        add_and_norm(x, y, numbers(weight), numbers(bias), 1e-3, y, loops);
        CHECK(difference(y, expected) < 1e-5);
      }
    }
    Matrix<float> x(2, 3);
    CHECK_THROWS_AS(
        add_and_norm(x, x, numbers(Matrix<float>(1, 2)), numbers(Matrix<float>(1, 3)), 0, x, Loops::best),
        std::logic_error);
  }
}

}  // namespace
}  // namespace askbase::nn
