// Attention in all its kinds against the formulas in PyTorch, and its gradients against differences.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "nn/attention.h"
#include "nn/attention_levels.h"
#include "nn/co_attention.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::golden;
using test::matrix_of;
using test::random_matrix;
using test::segments_of;

namespace {

constexpr std::array kScores{Score::dot,     Score::scaled_dot,     Score::cosine,
                             Score::general, Score::biased_general, Score::activated_general,
                             Score::kernel,  Score::concat,         Score::additive,
                             Score::deep,    Score::location};
constexpr std::array kDistributions{Distribution::softmax, Distribution::sparsemax, Distribution::entmax,
                                    Distribution::sigmoid};
constexpr std::array kWindows{Window::global, Window::hard, Window::local_m, Window::local_p};

AttentionConfig parsed(const std::string& text) {
  const auto config = parse_attention(text);
  REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().message));
  const base::Status valid = validate(*config);
  REQUIRE_MESSAGE(valid.has_value(), (valid ? "" : valid.error().message));
  return *config;
}

bool same_numbers(const Matrix<double>& expected, const std::vector<double>& actual, double tolerance) {
  return static_cast<Index>(actual.size()) == expected.size() &&
         difference(View<const double>(actual.data(), 1, expected.size()),
                    View<const double>(expected.data(), 1, expected.size())) <= tolerance;
}

template <typename T>
void append(std::vector<double>& all, View<const T> view) {
  for (Index r = 0; r < view.rows; ++r) all.insert(all.end(), view.row(r), view.row(r) + view.cols);
}

template <typename T>
void check_case(const std::string& name, const nlohmann::json& expected, double tolerance) {
  INFO(name);
  const AttentionConfig config = parsed(expected["config"]);
  const Segments queries = segments_of({2, 1}), keys = segments_of({3, 5});
  Parameters<T> p;
  const Attention<T> layer(p, "a", config);
  test::set_parameters(p, expected["parameters"], "a.");
  CHECK(p.count() == static_cast<int>(expected["parameters"].size()));
  Context context;
  context.training = expected["training"];
  AttentionCache<T> cache;
  Gradients<T> g(p);
  const Matrix<T> k = matrix_of<T>(expected["k"]), v = matrix_of<T>(expected["v"]);
  const Matrix<T> dy = matrix_of<T>(expected["dy"]);
  Matrix<T> y(dy.rows(), dy.cols()), dk(k.rows(), k.cols()), dv(v.rows(), v.cols());
  dk.fill(T(7));  // backward writes, whatever was there
  if (config.query > 0) {
    const Matrix<T> q = matrix_of<T>(expected["q"]);
    Matrix<T> dq(q.rows(), q.cols());
    layer.forward(p, q, queries, k, v, keys, y, cache, context);
    layer.backward(p, q, k, v, cache, dy, dq, dk, dv, g, context);
    CHECK(difference(dq, matrix_of<T>(expected["dq"])) < tolerance);
  } else {
    layer.pool(p, k, v, keys, y, cache, context);
    if (expected.contains("penalty"))
      CHECK(layer.penalty(cache, T(0.1)) ==
            doctest::Approx(expected["penalty"].get<double>()).epsilon(tolerance));
    layer.pool_backward(p, k, v, cache, dy, dk, dv, g, context);
  }
  CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
  CHECK(difference(dk, matrix_of<T>(expected["dk"])) < tolerance);
  CHECK(difference(dv, matrix_of<T>(expected["dv"])) < tolerance);
  test::check_gradients(p, g, expected["gradients"], tolerance, "a.");
  for (Index head = 0; head < config.heads; ++head) {
    std::vector<double> weights;
    for (Index i = 0; i < 2; ++i) append(weights, layer.weights(cache, i, head));
    CHECK(same_numbers(matrix_of(expected[head == 0 ? "weights" : "weights1"]), weights, tolerance));
  }
}

}  // namespace

TEST_CASE("every score, distribution, window and use is its paper's formula") {
  int checked = 0;
  const auto cases = golden("attention.json");
  for (const auto& [name, expected] : cases.items()) {
    if (!expected.contains("config")) continue;
    check_case<double>(name, expected, 1e-8);
    // A position computed in float may round into another window: the rest agrees in float too.
    if (name.find("local_p") == std::string::npos) check_case<float>(name, expected, 3e-5);
    ++checked;
  }
  CHECK(checked >= 67);
}

TEST_CASE("gradients are the differences of the values, for every score, distribution and window") {
  std::uint64_t seed = 100;
  int combinations = 0;
  for (const Score score : kScores) {
    for (const Distribution distribution : kDistributions) {
      for (const Window window : kWindows) {
        AttentionConfig config{.score = score, .distribution = distribution, .window = window};
        config.query = 2;
        config.key = 2;
        config.value = 1;
        config.hidden = 2;
        config.positions = 3;
        config.half_width = 2;
        INFO(attention_text(config));
        const Segments queries = segments_of({2, 0, 1, 1}), keys = segments_of({3, 2, 0, 4});
        Parameters<double> p;
        const Attention<double> layer(p, "a", config);
        p.initialise(++seed);
        Matrix<double> q = random_matrix<double>(4, 2, ++seed), k = random_matrix<double>(9, 2, ++seed),
                       v = random_matrix<double>(9, 1, ++seed);
        const Matrix<double> dy = random_matrix<double>(4, 1, ++seed);
        Matrix<double> y(4, 1), dq(4, 2), dk(9, 2), dv(9, 1);
        Context context;
        context.training = seed % 2 == 0;
        AttentionCache<double> cache;
        Gradients<double> g(p);
        const auto loss = [&] {
          layer.forward(p, q, queries, k, v, keys, y, cache, context);
          return test::weighted_sum(y.view(), dy.view());
        };
        loss();
        CHECK(y(2, 0) == 0.0);  // no keys
        layer.backward(p, q, k, v, cache, dy, dq, dk, dv, g, context);
        test::check_by_differences(p, g, &q, &dq, loss, 2e-6);
        const Gradients<double> none{Parameters<double>()};
        Parameters<double> nothing;
        test::check_by_differences(nothing, none, &k, &dk, loss, 2e-6);
        test::check_by_differences(nothing, none, &v, &dv, loss, 2e-6);
        ++combinations;
      }
    }
  }
  CHECK(combinations == 11 * 4 * 4);
}

TEST_CASE("gradients of pooling, features, rows with penalty, and heads are differences") {
  std::uint64_t seed = 900;
  for (const char* text :
       {"score=additive key=3 rows=2", "score=dot key=3 rows=2 value=2", "score=cosine key=3",
        "score=kernel key=3 hidden=4", "score=deep key=3 by_feature=true value=2",
        "score=location key=3 by_feature=true", "score=deep key=3 activation=relu layers=3",
        "score=deep query=2 key=3 activation=gelu layers=3", "score=kernel query=3 key=3 activation=gelu",
        "score=activated_general query=2 key=3 activation=relu",
        "score=concat query=2 key=3 activation=sigmoid", "score=location key=3 rows=2 value=2",
        "score=concat key=3 by_feature=true query=2", "score=additive key=3 heads=2 projected=4 value=2",
        "score=additive query=2 key=3 heads=2 projected=4 by_feature=true",
        "score=general query=2 key=3 heads=2 projected=4 value=2 window=local_p half_width=2",
        "score=biased_general key=3 heads=2 projected=4 distribution=entmax alpha=1.3",
        "score=location query=2 key=3 positions=4 heads=2 projected=2 distribution=sparsemax"}) {
    INFO(text);
    const AttentionConfig config = parsed(text);
    const bool pooling = config.query == 0;
    const Segments queries = segments_of({1, 2, 1}), keys = segments_of({3, 0, 2});
    Parameters<double> p;
    const Attention<double> layer(p, "a", config);
    p.initialise(++seed);
    Matrix<double> q = random_matrix<double>(4, std::max<Index>(1, config.query), ++seed),
                   k = random_matrix<double>(5, 3, ++seed),
                   v = random_matrix<double>(5, config.value > 0 ? config.value : 3, ++seed);
    const Index rows = pooling ? 3 * config.rows : 4;
    const Matrix<double> dy = random_matrix<double>(rows, layer.out(), ++seed);
    Matrix<double> y(rows, layer.out()), dq(4, q.cols()), dk(5, 3), dv(5, v.cols());
    AttentionCache<double> cache;
    Gradients<double> g(p);
    const auto loss = [&] {
      if (pooling) {
        layer.pool(p, k, v, keys, y, cache, {});
      } else {
        layer.forward(p, q, queries, k, v, keys, y, cache, {});
      }
      const double penalty = config.rows > 1 ? layer.penalty(cache, 0.5) : 0.0;
      return test::weighted_sum(y.view(), dy.view()) + penalty;
    };
    loss();
    if (pooling) {
      layer.pool_backward(p, k, v, cache, dy, dk, dv, g, {});
    } else {
      layer.backward(p, q, k, v, cache, dy, dq, dk, dv, g, {});
    }
    Parameters<double> nothing;
    const Gradients<double> none(nothing);
    test::check_by_differences(p, g, &k, &dk, loss, 2e-6);
    test::check_by_differences(nothing, none, &v, &dv, loss, 2e-6);
    if (!pooling) test::check_by_differences(nothing, none, &q, &dq, loss, 2e-6);
  }
}

TEST_CASE("self-attention: one memory for three gradients receives their sum") {
  const AttentionConfig config = parsed("score=general query=3 key=3");
  const Segments segments = segments_of({4, 0, 2});
  Parameters<double> p;
  const Attention<double> layer(p, "a", config);
  p.initialise(3);
  Matrix<double> x = random_matrix<double>(6, 3, 4);
  const Matrix<double> dy = random_matrix<double>(6, 3, 5);
  Matrix<double> y(6, 3), dx(6, 3);
  AttentionCache<double> cache;
  Gradients<double> g(p);
  const auto loss = [&] {
    layer.forward(p, x, segments, x, x, segments, y, cache, {});
    return test::weighted_sum(y.view(), dy.view());
  };
  loss();
  layer.backward(p, x, x, x, cache, dy, dx, dx, dx, g, {});
  test::check_by_differences(p, g, &x, &dx, loss);
}

TEST_CASE("what weights promise: sums of 1, windows, segments of their own, the same in a team") {
  std::uint64_t seed = 40;
  Team team(3);
  for (const Score score : kScores) {
    for (const Distribution distribution : kDistributions) {
      for (const Window window : kWindows) {
        AttentionConfig config{.score = score, .distribution = distribution, .window = window};
        config.query = config.key = 4;
        config.positions = 5;
        config.half_width = 2;
        INFO(attention_text(config));
        const Segments queries = segments_of({3, 1, 6, 2}), keys = segments_of({2, 0, 9, 4});
        Parameters<double> p;
        const Attention<double> layer(p, "a", config);
        p.initialise(++seed);
        const Matrix<double> q = random_matrix<double>(12, 4, ++seed, 2.0),
                             k = random_matrix<double>(15, 4, ++seed, 2.0);
        Matrix<double> y(12, 4), again(12, 4);
        AttentionCache<double> cache;
        layer.forward(p, q, queries, k, k, keys, y, cache, {});
        for (Index i = 0; i < 4; ++i) {
          const View<const double> weights = layer.weights(cache, i);
          CHECK(weights.rows == queries.length(i));
          CHECK(weights.cols == keys.length(i));
          for (Index r = 0; r < weights.rows; ++r) {
            double sum = 0;
            Index inside = 0;
            for (Index c = 0; c < weights.cols; ++c) {
              CHECK(weights(r, c) >= 0);
              sum += weights(r, c);
              if (window == Window::local_m && std::abs(r - c) > 2) CHECK(weights(r, c) == 0);
              if (score == Score::location && c >= 5) CHECK(weights(r, c) == 0);
              if (window == Window::local_m && std::abs(r - c) <= 2 && (score != Score::location || c < 5))
                ++inside;
            }
            const bool some = window == Window::local_m ? inside > 0 : weights.cols > 0;
            if (window == Window::hard) {
              CHECK(sum == (some ? 1.0 : 0.0));
            } else if (distribution != Distribution::sigmoid) {
              if (window == Window::local_p) {
                CHECK(sum <= 1 + 1e-12);
                if (score != Score::location)
                  CHECK((sum > 0) == some);  // location: its positions may lie outside
              } else {
                CHECK(sum == doctest::Approx(some ? 1.0 : 0.0).epsilon(1e-12));
              }
            }
          }
        }
        Context shared;
        shared.team = &team;
        layer.forward(p, q, queries, k, k, keys, again, cache, shared);
        CHECK(difference(y, again) < 1e-12);
        // A segment alone gives what it gives in the batch.
        Matrix<double> alone(6, 4);
        layer.forward(p, q.view().rows_from(4, 6), Segments::one(6), k.view().rows_from(2, 9),
                      k.view().rows_from(2, 9), Segments::one(9), alone, cache, {});
        CHECK(difference(View<const double>(alone), View<const double>(y.view().rows_from(4, 6))) < 1e-12);
      }
    }
  }
}

TEST_CASE_TEMPLATE("sparsemax and entmax are what bisection for their threshold gives", T, float, double) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const Index n = 1 + static_cast<Index>(random.below(40));
    const double scale = random.uniform(0.01, 8);
    std::vector<T> x(static_cast<std::size_t>(n)), y(x.size());
    for (T& value : x) value = static_cast<T>(scale * random.normal());
    if (n > 2) x[1] = x[0];  // equals
    for (const double alpha : {1.1, 1.5, 2.0, 3.0}) {
      distribute<T>(alpha == 2.0 ? Distribution::sparsemax : Distribution::entmax, alpha, x.data(), y.data(),
                    n);
      // sum of max(0, (alpha - 1) x - tau)^(1 / (alpha - 1)) = 1
      const auto weight = [&](double tau, T value) {
        return std::pow(std::max(0.0, (alpha - 1) * static_cast<double>(value) - tau), 1 / (alpha - 1));
      };
      const double top = (alpha - 1) * static_cast<double>(*std::max_element(x.begin(), x.end()));
      double low = top - 1, high = top;
      for (int i = 0; i < 200; ++i) {
        const double middle = (low + high) / 2;
        double sum = 0;
        for (const T value : x) sum += weight(middle, value);
        (sum >= 1 ? low : high) = middle;
      }
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        worst = std::max(worst, std::abs(weight(low, x[i]) - static_cast<double>(y[i])));
      CHECK_MESSAGE(worst < (sizeof(T) == 4 ? 1e-6 : 1e-10), n << " scores, alpha " << alpha);
    }
  }
}

TEST_CASE("entmax lies between softmax and sparsemax, and 2 is sparsemax") {
  const std::vector<double> x{0.3, -1.2, 2.0, 1.9, 0.1};
  std::vector<double> a(5), b(5);
  distribute<double>(Distribution::softmax, 0, x.data(), a.data(), 5);
  distribute<double>(Distribution::entmax, 1.0001, x.data(), b.data(), 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-3));
  distribute<double>(Distribution::sparsemax, 0, x.data(), a.data(), 5);
  distribute<double>(Distribution::entmax, 2, x.data(), b.data(), 5);
  CHECK(a == b);
  // By hand: 2.0 and 1.9 share, tau = (3.9 - 1) / 2.
  CHECK(a[2] == doctest::Approx(0.55));
  CHECK(a[3] == doctest::Approx(0.45));
  CHECK(a[0] == 0.0);
  CHECK_THROWS_AS(distribute<double>(Distribution::entmax, 1.0, x.data(), b.data(), 5), std::logic_error);
}

TEST_CASE("scores that are no numbers show in the weights, minus infinity is no weight") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Distribution kind : {Distribution::softmax, Distribution::sparsemax, Distribution::entmax}) {
    for (const double alpha : {1.5, 1.7}) {
      std::vector<double> y(3);
      const std::vector<double> lost{1.0, nan, 0.5}, masked{1.0, -inf, 0.9}, nothing{-inf, -inf, -inf};
      distribute<double>(kind, alpha, lost.data(), y.data(), 3);
      CHECK(std::isnan(y[0]));
      distribute<double>(kind, alpha, masked.data(), y.data(), 3);
      CHECK(y[1] == 0.0);
      CHECK(y[0] + y[2] == doctest::Approx(1.0));
      distribute<double>(kind, alpha, nothing.data(), y.data(), 3);
      CHECK(y[0] + y[1] + y[2] == 0.0);
    }
  }
}

TEST_CASE("a number that is none comes out as one, in no other segment, and nothing breaks") {
  std::uint64_t seed = 500;
  for (const Score score : {Score::general, Score::additive, Score::location}) {
    for (const Distribution distribution : kDistributions) {
      for (const Window window : kWindows) {
        AttentionConfig config{.score = score, .distribution = distribution, .window = window};
        config.query = config.key = 2;
        config.positions = 4;
        INFO(attention_text(config));
        Parameters<double> p;
        const Attention<double> layer(p, "a", config);
        p.initialise(++seed);
        const Segments queries = segments_of({1, 1}), keys = segments_of({3, 3});
        Matrix<double> q = random_matrix<double>(2, 2, ++seed), k = random_matrix<double>(6, 2, ++seed);
        q(0, 0) = q(0, 1) = NAN;
        const Matrix<double> dy = random_matrix<double>(2, 2, ++seed);
        Matrix<double> y(2, 2), dq(2, 2), dk(6, 2), dv(6, 2);
        AttentionCache<double> cache;
        Gradients<double> g(p);
        layer.forward(p, q, queries, k, k, keys, y, cache, {});
        layer.backward(p, q, k, k, cache, dy, dq, dk, dv, g, {});
        if (window != Window::hard) CHECK(std::isnan(y(0, 0)));  // the largest of such scores is some key
        CHECK(!std::isnan(y(1, 0)));
        CHECK(!std::isnan(dv(4, 0)));
      }
    }
  }
}

TEST_CASE("co-attention is Lu's, and its gradients are differences") {
  for (const Distribution distribution : {Distribution::softmax, Distribution::sparsemax}) {
    const auto expected =
        golden("attention.json").at("co-attention " + std::string(distribution_name(distribution)));
    Parameters<double> p;
    const CoAttention<double> layer(p, "c", 3, 2, 4, distribution);
    test::set_parameters(p, expected["parameters"], "c.");
    Matrix<double> a = matrix_of(expected["a"]), b = matrix_of(expected["b"]);
    const Matrix<double> dya = matrix_of(expected["dya"]), dyb = matrix_of(expected["dyb"]);
    const Segments as = segments_of({2, 1}), bs = segments_of({3, 5});
    Matrix<double> ya(2, 3), yb(2, 2), da(3, 3), db(8, 2);
    CoAttention<double>::Cache cache;
    Gradients<double> g(p);
    layer.forward(p, a, as, b, bs, ya, yb, cache, {});
    layer.backward(p, a, b, cache, dya, dyb, da, db, g, {});
    CHECK(difference(ya, matrix_of(expected["ya"])) < 1e-8);
    CHECK(difference(yb, matrix_of(expected["yb"])) < 1e-8);
    CHECK(difference(da, matrix_of(expected["da"])) < 1e-8);
    CHECK(difference(db, matrix_of(expected["db"])) < 1e-8);
    test::check_gradients(p, g, expected["gradients"], 1e-8, "c.");
    std::vector<double> weights_a, weights_b;
    for (Index i = 0; i < 2; ++i) {
      append(weights_a, layer.weights_a(cache, i));
      append(weights_b, layer.weights_b(cache, i));
    }
    CHECK(same_numbers(matrix_of(expected["weights_a"]), weights_a, 1e-8));
    CHECK(same_numbers(matrix_of(expected["weights_b"]), weights_b, 1e-8));
  }
  // With texts of length 0 on either side.
  Parameters<double> p;
  const CoAttention<double> layer(p, "c", 2, 3, 2, Distribution::entmax);
  p.initialise(8);
  Matrix<double> a = random_matrix<double>(4, 2, 1), b = random_matrix<double>(5, 3, 2);
  const Segments as = segments_of({2, 0, 2, 0}), bs = segments_of({3, 2, 0, 0});
  const Matrix<double> dya = random_matrix<double>(4, 2, 3), dyb = random_matrix<double>(4, 3, 4);
  Matrix<double> ya(4, 2), yb(4, 3), da(4, 2), db(5, 3);
  CoAttention<double>::Cache cache;
  Gradients<double> g(p);
  const auto loss = [&] {
    layer.forward(p, a, as, b, bs, ya, yb, cache, {});
    return test::weighted_sum(ya.view(), dya.view()) + test::weighted_sum(yb.view(), dyb.view());
  };
  loss();
  CHECK(ya(1, 0) == 0.0);
  CHECK(yb(2, 2) == 0.0);
  layer.backward(p, a, b, cache, dya, dyb, da, db, g, {});
  test::check_by_differences(p, g, &a, &da, loss);
  Parameters<double> nothing;
  test::check_by_differences(nothing, Gradients<double>(nothing), &b, &db, loss);
}

TEST_CASE("words then sentences are Yang's") {
  const auto expected = golden("attention.json").at("multi-level");
  const std::array levels{parsed("score=additive key=3 hidden=4"), parsed("score=additive key=3 hidden=2")};
  Parameters<double> p;
  const MultiLevelAttention<double> layer(p, "m", levels);
  test::set_parameters(p, expected["parameters"], "m.");
  Matrix<double> x = matrix_of(expected["x"]);
  const Matrix<double> dy = matrix_of(expected["dy"]);
  const std::array segments{segments_of({3, 2, 2}), segments_of({2, 1})};
  Matrix<double> y(2, 3), dx(7, 3);
  MultiLevelAttention<double>::Cache cache;
  Gradients<double> g(p);
  layer.forward(p, x, segments, y, cache, {});
  layer.backward(p, x, cache, dy, dx, g, {});
  CHECK(difference(y, matrix_of(expected["y"])) < 1e-8);
  CHECK(difference(dx, matrix_of(expected["dx"])) < 1e-8);
  test::check_gradients(p, g, expected["gradients"], 1e-8, "m.");
  std::vector<double> words, sentences;
  for (Index i = 0; i < 3; ++i) append(words, layer.weights(cache, 0, i));
  for (Index i = 0; i < 2; ++i) append(sentences, layer.weights(cache, 1, i));
  CHECK(same_numbers(matrix_of(expected["weights0"]), words, 1e-8));
  CHECK(same_numbers(matrix_of(expected["weights1"]), sentences, 1e-8));
  const std::array wrong{parsed("score=additive key=3"), parsed("score=additive key=4")};
  Parameters<double> q;
  CHECK_THROWS_AS(MultiLevelAttention<double>(q, "m", wrong), std::logic_error);
}

TEST_CASE("several word vectors of one word are weighed as Kiela's") {
  const auto expected = golden("attention.json").at("representations");
  const std::array<Index, 3> widths{2, 3, 4};
  Parameters<double> p;
  const RepresentationAttention<double> layer(p, "r", widths, parsed("score=location key=3"));
  test::set_parameters(p, expected["parameters"], "r.");
  std::array<Matrix<double>, 3> x, dx;
  std::vector<View<const double>> views;
  std::vector<View<double>> d_views;
  for (std::size_t i = 0; i < 3; ++i) {
    x.at(i) = matrix_of(expected["x"][i]);
    dx.at(i) = Matrix<double>(4, widths.at(i));
    views.emplace_back(x.at(i));
    d_views.emplace_back(dx.at(i));
  }
  const Matrix<double> dy = matrix_of(expected["dy"]);
  Matrix<double> y(4, 3);
  RepresentationAttention<double>::Cache cache;
  Gradients<double> g(p);
  layer.forward(p, views, y, cache, {});
  layer.backward(p, views, cache, dy, d_views, g, {});
  CHECK(difference(y, matrix_of(expected["y"])) < 1e-8);
  for (std::size_t i = 0; i < 3; ++i) CHECK(difference(dx.at(i), matrix_of(expected["dx"][i])) < 1e-8);
  test::check_gradients(p, g, expected["gradients"], 1e-8, "r.");
  std::vector<double> weights;
  for (Index i = 0; i < 4; ++i) append(weights, layer.weights(cache, i));
  CHECK(same_numbers(matrix_of(expected["weights"]), weights, 1e-8));
}

TEST_CASE("batches of nothing pass through") {
  for (const char* text :
       {"score=general query=3 key=2", "score=deep query=3 key=2", "score=location query=3 key=2 positions=4",
        "score=dot query=3 key=2 heads=2 projected=4", "score=additive key=2",
        "score=cosine key=2 rows=2 distribution=sparsemax"}) {
    INFO(text);
    const AttentionConfig config = parsed(text);
    Parameters<double> p;
    const Attention<double> layer(p, "a", config);
    p.initialise(1);
    for (const Segments& none : {Segments(), Segments::equal(2, 0)}) {
      const Matrix<double> q(0, config.query), k(0, 2);
      const Index rows = config.query > 0 ? 0 : none.count() * config.rows;
      Matrix<double> y(rows, layer.out()), dq(0, config.query), dk(0, 2), dv(0, 2);
      y.fill(5);
      const Matrix<double> dy(rows, layer.out());
      AttentionCache<double> cache;
      Gradients<double> g(p);
      if (config.query > 0) {
        layer.forward(p, q, none, k, k, none, y, cache, {});
        layer.backward(p, q, k, k, cache, dy, dq, dk, dv, g, {});
      } else {
        layer.pool(p, k, k, none, y, cache, {});
        layer.pool_backward(p, k, k, cache, dy, dk, dv, g, {});
      }
      for (Index i = 0; i < y.size(); ++i) CHECK(y.data()[i] == 0.0);
      CHECK(g.squared_norm() == 0.0);
    }
  }
}

TEST_CASE("configurations are read by name, written back, and turned down with what is allowed") {
  const AttentionConfig config = parsed(
      "score=additive distribution=entmax alpha=1.25\n window=local_p half_width=3 hidden=64 query=5 key=7");
  CHECK(config.score == Score::additive);
  CHECK(config.window == Window::local_p);
  CHECK(config.hidden == 64);
  CHECK(attention_text(config) ==
        "score=additive distribution=entmax window=local_p alpha=1.25 query=5 key=7 hidden=64 half_width=3");
  CHECK(attention_text({}).empty());
  for (const Score score : kScores) CHECK(score_by_name(score_name(score)) == score);
  for (const Distribution d : kDistributions) CHECK(distribution_by_name(distribution_name(d)) == d);
  for (const Window window : kWindows) CHECK(window_by_name(window_name(window)) == window);

  const auto error = [](const char* text) {
    const auto result = parse_attention(text);
    if (!result) return result.error().message;
    const base::Status valid = validate(*result);
    return valid ? std::string() : valid.error().message;
  };
  CHECK(error("score=dott") ==
        "attention: score \"dott\" is not known; allowed: dot, scaled_dot, cosine, general, biased_general, "
        "activated_general, kernel, concat, additive, deep, location");
  CHECK(error("distribution=argmax").find("allowed: softmax, sparsemax, entmax, sigmoid") !=
        std::string::npos);
  CHECK(error("windows=hard").find("no setting \"windows\"; allowed: score, ") != std::string::npos);
  CHECK(error("score").find("name=value") != std::string::npos);
  CHECK(error("key=3x").find("not a number") != std::string::npos);
  CHECK(error("key=99999999999999999999").find("not a number") != std::string::npos);
  CHECK(error("score=dot").find("key") != std::string::npos);
  CHECK(error("score=dot query=2 key=3").find("as wide as keys") != std::string::npos);
  CHECK(error("score=dot query=-2 key=3").find("negative") != std::string::npos);
  CHECK(error("score=dot key=3 by_feature=true").find("by_feature needs") != std::string::npos);
  CHECK(error("score=additive key=3 window=local_p").find("needs queries") != std::string::npos);
  CHECK(error("score=additive key=3 heads=2").find("projected") != std::string::npos);
  CHECK(error("score=additive key=3 heads=2 projected=3").find("multiple") != std::string::npos);
  CHECK(error("score=location query=3 key=3").find("positions") != std::string::npos);
  CHECK(error("score=general query=3 key=3 rows=2").find("rows") != std::string::npos);
  CHECK(error("score=general key=3 distribution=entmax alpha=1").find("alpha") != std::string::npos);
  CHECK(error("score=general key=3 distribution=entmax alpha=nan").find("alpha") != std::string::npos);
  Parameters<double> p;
  CHECK_THROWS_AS(Attention<double>(p, "a", AttentionConfig{}), std::logic_error);
}

TEST_CASE("views of a wrong shape are programmer errors") {
  Parameters<double> p;
  const Attention<double> layer(p, "a", parsed("score=general query=3 key=2"));
  const Matrix<double> q(2, 3), k(4, 2);
  Matrix<double> y(2, 2), narrow(2, 1);
  AttentionCache<double> cache;
  const Segments two = Segments::one(2), four = Segments::one(4);
  CHECK_THROWS_AS(layer.forward(p, q, two, k, k, four, narrow, cache, {}), std::logic_error);
  CHECK_THROWS_AS(layer.forward(p, k, two, k, k, four, y, cache, {}), std::logic_error);
  CHECK_THROWS_AS(layer.forward(p, q, two, k, q, four, y, cache, {}), std::logic_error);
  CHECK_THROWS_AS(layer.forward(p, q, Segments::equal(2, 1), k, k, four, y, cache, {}), std::logic_error);
  CHECK_THROWS_AS(layer.pool(p, k, k, four, y, cache, {}), std::logic_error);
}

}  // namespace askbase::nn
