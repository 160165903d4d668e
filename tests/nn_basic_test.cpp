// Teams, random numbers, products, activations, softmax, losses and linear against other ways to compute
// them.
#include <atomic>
#include <thread>

#include "nn/elementwise.h"
#include "nn/gemm.h"
#include "nn/linear.h"
#include "nn/softmax.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::golden;
using test::matrix_of;
using test::random_matrix;

TEST_CASE("a team covers every index once, whoever calls and from wherever") {
  for (const int threads : {1, 2, 3}) {
    Team team(threads);
    for (const Index count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      team.parallel_for(count, 1, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          // A loop inside a loop runs on the thread that it is in.
          team.parallel_for(1, 1, [&](Index, Index) { ++seen[static_cast<std::size_t>(i)]; });
        }
      });
      for (const auto& s : seen) CHECK(s == 1);
    }
    std::atomic<Index> sum = 0;
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&] {
        for (int i = 0; i < 500; ++i)
          team.parallel_for(100, 1, [&](Index begin, Index end) { sum += end - begin; });
      });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(sum == 4 * 500 * 100);
  }
}

TEST_CASE("Philox gives the numbers of its authors' test vectors") {
  // Random123, kat_vectors: philox4x32 10, all zeros; all ones; digits of pi.
  CHECK(Philox(0, 0).block(0) ==
        std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(Philox(~0ULL, ~0ULL).block(~0ULL) ==
        std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(Philox(0x299f31d0a4093822ULL, 0x0370734413198a2eULL).block(0x85a308d3243f6a88ULL) ==
        std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random draws have their distribution, and seek goes back") {
  Random random(7);
  double sum = 0, squares = 0;
  std::array<int, 10> bins{};
  for (int i = 0; i < 100000; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    ++bins[random.below(10)];
  }
  CHECK(std::abs(sum / 1e5) < 0.02);
  CHECK(std::abs(squares / 1e5 - 1) < 0.02);
  for (const int bin : bins) CHECK(std::abs(bin - 10000) < 500);
  Random a(3);
  a.next_u32();
  const std::uint64_t position = a.position();
  const std::uint64_t next = a.next_u64();
  Random b(3);
  b.seek(position);
  CHECK(b.next_u64() == next);
}

TEST_CASE_TEMPLATE("products of every form agree with three loops, alone and in a team", T, float, double) {
  Team two(2), three(3);
  int seed = 0;
  for (const auto& [m, n, k] : std::vector<std::array<Index, 3>>{{1, 1, 1},
                                                                 {3, 5, 7},
                                                                 {64, 150, 33},
                                                                 {130, 70, 260},
                                                                 {5, 1000, 300},
                                                                 {1000, 4, 300},
                                                                 {4, 4, 0},
                                                                 {0, 3, 2}}) {
    for (const Op op_a : {Op::none, Op::transpose}) {
      for (const Op op_b : {Op::none, Op::transpose}) {
        for (const T beta : {T(0), T(0.5)}) {
          // Views with gaps: what surrounds them must stay as it is.
          Matrix<T> a =
              op_a == Op::none ? random_matrix<T>(m, k + 2, ++seed) : random_matrix<T>(k, m + 2, ++seed);
          Matrix<T> b =
              op_b == Op::none ? random_matrix<T>(k, n + 1, ++seed) : random_matrix<T>(n, k + 1, ++seed);
          const View<const T> va = a.view().cols_from(1, a.cols() - 2),
                              vb = b.view().cols_from(0, b.cols() - 1);
          const Matrix<T> before = random_matrix<T>(m, n + 3, ++seed);
          Matrix<T> expected = before;
          for (Index i = 0; i < m; ++i) {
            for (Index j = 0; j < n; ++j) {
              double sum = 0;
              for (Index x = 0; x < k; ++x) {
                sum += static_cast<double>(op_a == Op::none ? va(i, x) : va(x, i)) *
                       static_cast<double>(op_b == Op::none ? vb(x, j) : vb(j, x));
              }
              expected(i, j + 2) = static_cast<T>(2 * sum + static_cast<double>(beta * before(i, j + 2)));
            }
          }
          for (Team* team : {&one_thread(), &two, &three}) {
            Matrix<T> c = before;
            gemm<T>(op_a, op_b, T(2), va, vb, beta, c.view().cols_from(2, n), *team);
            CHECK(difference(c, expected) < (sizeof(T) == 4 ? 2e-4 : 1e-12));
          }
        }
      }
    }
  }
  Matrix<T> a(2, 3), b(2, 3), c(2, 2);
  CHECK_THROWS_AS(gemm<T>(Op::none, Op::none, T(1), a, b, T(0), c), std::logic_error);
}

TEST_CASE_TEMPLATE("activations and their derivatives are PyTorch's", T, float, double) {
  const auto cases = golden("basic.json");
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 1e-9;
  for (const Activation kind : {Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu}) {
    const auto& expected = cases.at(std::string(activation_name(kind)));
    const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
    Matrix<T> y(x.rows(), x.cols()), dx(x.rows(), x.cols());
    activate<T>(kind, x, y);
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    activate_backward<T>(kind, x, y, dy, dx);
    CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
    CHECK(activation_by_name(activation_name(kind)) == kind);
  }
  CHECK(!activation_by_name("swish").has_value());
}

TEST_CASE(
    "float activations stay close to the exact functions far out, and in views with gaps and in teams") {
  Team two(2);
  Matrix<float> x(40, 1100), y(40, 1100);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i - x.size() / 2) / 500.0F;
  const auto gap = [](Matrix<float>& m) { return m.view().cols_from(3, 1090); };
  for (const Activation kind : {Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu}) {
    y.fill(-7.0F);
    activate<float>(kind, gap(x), gap(y), two);
    double worst = 0;
    for (Index r = 0; r < 40; ++r) {
      CHECK(y(r, 2) == -7.0F);
      CHECK(y(r, 1093) == -7.0F);
      for (Index c = 3; c < 1093; ++c) {
        const double v = static_cast<double>(x(r, c));
        double exact = 0;
        switch (kind) {
          case Activation::relu:
            exact = std::max(0.0, v);
            break;
          case Activation::tanh:
            exact = std::tanh(v);
            break;
          case Activation::sigmoid:
            exact = 1 / (1 + std::exp(-v));
            break;
          default:
            exact = 0.5 * v * std::erfc(-v / std::sqrt(2.0));
            break;
        }
        worst =
            std::max(worst, std::abs(static_cast<double>(y(r, c)) - exact) / std::max(1.0, std::abs(exact)));
      }
    }
    CHECK_MESSAGE(worst < 2e-6, activation_name(kind) << " " << worst);
  }
}

TEST_CASE_TEMPLATE("softmax and log-softmax with masks are PyTorch's", T, float, double) {
  const auto cases = golden("basic.json");
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 1e-9;
  for (const std::string name : {"softmax", "log_softmax"}) {
    const auto& expected = cases.at(name);
    const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
    const Matrix<T> mask_numbers = matrix_of<T>(expected["mask"]);
    const std::vector<unsigned char> mask(mask_numbers.data(), mask_numbers.data() + mask_numbers.size());
    Matrix<T> y(x.rows(), x.cols()), dx(x.rows(), x.cols());
    if (name == "softmax") {
      softmax<T>(x, y, mask);
      softmax_backward<T>(y, dy, dx);
    } else {
      log_softmax<T>(x, y, mask);
      log_softmax_backward<T>(y, dy, dx);
      for (Index i = 0; i < y.size(); ++i) {
        CHECK(std::isinf(y.data()[i]) == (mask[static_cast<std::size_t>(i)] == 0));
        if (std::isinf(y.data()[i])) y.data()[i] = T(0);
      }
    }
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
  }
  Matrix<T> x(1, 3), y(1, 3);
  const std::vector<unsigned char> nothing(3, 0);
  softmax<T>(x, y, nothing);
  CHECK(y(0, 0) + y(0, 1) + y(0, 2) == T(0));
}

TEST_CASE("cross-entropy and margin ranking are PyTorch's") {
  const auto cases = golden("basic.json");
  {
    const auto& expected = cases.at("cross_entropy");
    const Matrix<double> x = matrix_of(expected["x"]);
    const auto targets = expected["targets"].get<std::vector<Index>>();
    Matrix<double> dx(x.rows(), x.cols());
    CHECK(cross_entropy<double>(x, targets, dx) ==
          doctest::Approx(expected["loss"].get<double>()).epsilon(1e-9));
    CHECK(difference(dx, matrix_of(expected["dx"])) < 1e-9);
    const std::vector<Index> wrong{0, 1, 2, 6};
    CHECK_THROWS_AS(cross_entropy<double>(x, wrong, dx), std::logic_error);
  }
  const auto& expected = cases.at("margin_ranking");
  const Matrix<double> positive = matrix_of(expected["positive"]), negative = matrix_of(expected["negative"]);
  Matrix<double> dp(1, 6), dn(1, 6);
  Index active = 0;
  const double loss =
      margin_ranking<double>({positive.data(), 6}, {negative.data(), 6}, expected["margin"].get<double>(),
                             dp.data(), dn.data(), 1.0, &active);
  CHECK(loss == doctest::Approx(expected["loss"].get<double>()).epsilon(1e-9));
  CHECK(difference(dp, matrix_of(expected["d_positive"])) < 1e-12);
  CHECK(difference(dn, matrix_of(expected["d_negative"])) < 1e-12);
  CHECK(active > 0);
}

TEST_CASE_TEMPLATE("linear is PyTorch's", T, float, double) {
  const auto expected = golden("basic.json").at("linear");
  Parameters<T> p;
  const Linear<T> layer(p, "l", 5, 3);
  test::set_parameters(p, expected["parameters"], "l.");
  const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
  Matrix<T> y(4, 3), dx(4, 5);
  layer.forward(p, x, y, {});
  Gradients<T> g(p);
  layer.backward(p, x, dy, dx, g, {});
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-9;
  CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
  CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
  test::check_gradients(p, g, expected["gradients"], tolerance, "l.");
}

TEST_CASE("linear's gradients are the differences of its values") {
  Parameters<double> p;
  const Linear<double> layer(p, "l", 4, 3);
  p.initialise(5);
  Matrix<double> x = random_matrix<double>(6, 4, 1);
  const Matrix<double> dy = random_matrix<double>(6, 3, 2);
  Matrix<double> y(6, 3), dx(6, 4);
  Gradients<double> g(p);
  layer.backward(p, x, dy, dx, g, {});
  test::check_by_differences(p, g, &x, &dx, [&] {
    layer.forward(p, x, y, {});
    return test::weighted_sum(y.view(), dy.view());
  });
}

TEST_CASE("parameters: names once, first values by name and seed, frozen ones without gradients") {
  Parameters<float> p, q;
  const Linear<float> a(p, "a", 3, 2);
  const Linear<float> first(q, "other", 7, 7), second(q, "a", 3, 2);
  p.initialise(1);
  q.initialise(1);
  CHECK(difference(p[a.weight()], q[second.weight()]) == 0.0);
  CHECK_THROWS_AS(p.add("a.weight", {1}), std::logic_error);
  CHECK(p.total() == 8);
  p.set_frozen(a.weight(), true);
  Gradients<float> g(p);
  CHECK(!g.wants(a.weight()));
  CHECK(g.wants(a.bias()));
  std::string where;
  CHECK(p.finite(&where));
  p.mutable_view(a.bias())(0, 1) = NAN;
  CHECK(!p.finite(&where));
  CHECK(where == "a.bias");
}

TEST_CASE("sparse gradients add up by row, in a stated order") {
  SparseRows<double> rows(2);
  rows.row(9)[0] += 1;
  rows.row(4)[1] += 2;
  rows.row(9)[0] += 3;
  CHECK(rows.count() == 2);
  rows.sort();
  CHECK(rows.table_row(0) == 4);
  CHECK(rows.values(1)[0] == 4);
  rows.row(4)[0] = 5;
  CHECK(rows.values(0)[0] == 5);
}

}  // namespace askbase::nn
