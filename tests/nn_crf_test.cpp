// The conditional random field against all taggings one by one (in PyTorch, and here), against differences,
// at scores far apart, and with what it refuses.
#include <algorithm>

#include "nn/crf.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::matrix_of;
using test::random_matrix;
using test::segments_of;

namespace {

std::vector<unsigned char> bytes_of(const nlohmann::json& tensor) {
  return tensor.at("data").get<std::vector<unsigned char>>();
}

}  // namespace

TEST_CASE_TEMPLATE("a CRF gives what enumerating every tagging gives", T, float, double) {
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-8;
  const auto cases = test::golden("crf.json");
  Team two(2);
  for (const auto& item : cases.items()) {
    const std::string& name = item.key();
    const nlohmann::json& expected = item.value();
    for (Team* team : {&one_thread(), &two}) {
      CAPTURE(name);
      const Context context{.team = team};
      const Index tags = expected["tags"].template get<Index>();
      Parameters<T> p;
      const Crf<T> crf(
          p, "crf", tags,
          {bytes_of(expected["may"]), bytes_of(expected["may_start"]), bytes_of(expected["may_end"])});
      test::set_parameters(p, expected["parameters"], "crf.");
      const Segments segments = segments_of(expected["lengths"].template get<std::vector<Index>>());
      const Matrix<T> x = matrix_of<T>(expected["x"]);
      const auto gold = expected["gold"].template get<std::vector<Index>>();
      Matrix<T> dx(x.rows(), tags), marginals(x.rows(), tags);
      Gradients<T> g(p);
      CrfCache cache;
      const double loss = expected["loss"].template get<double>();
      CHECK(crf.loss(p, x, segments, gold, dx, &g, cache, context) ==
            doctest::Approx(loss).epsilon(tolerance));
      CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
      test::check_gradients(p, g, expected["gradients"], tolerance, "crf.");
      CHECK(crf.loss(p, x, segments, gold, {}, nullptr, cache, context) ==
            doctest::Approx(loss).epsilon(tolerance));
      crf.marginals(p, x, segments, marginals, cache, context);
      CHECK(difference(marginals, matrix_of<T>(expected["marginals"])) < tolerance);
      std::vector<Index> best(gold.size());
      std::vector<double> scores(static_cast<std::size_t>(segments.count()));
      crf.viterbi(p, x, segments, best, scores, cache, context);
      CHECK(best == expected["best"].template get<std::vector<Index>>());
      for (std::size_t s = 0; s < scores.size(); ++s) {
        CHECK(scores[s] ==
              doctest::Approx(expected["best_scores"][s].template get<double>()).epsilon(tolerance));
      }
    }
  }
}

TEST_CASE("gradients of a CRF are the differences of its loss") {
  CrfConstraints constraints;
  constraints.transitions = {1, 0, 1, 1, 1, 1, 0, 1, 1};
  for (const CrfConstraints& c : {CrfConstraints{}, constraints}) {
    Parameters<double> p;
    const Crf<double> crf(p, "crf", 3, c);
    p.initialise(1);
    const Segments segments = segments_of({3, 0, 1, 2});
    Matrix<double> x = random_matrix<double>(6, 3, 1), dx(6, 3);
    const std::vector<Index> gold{0, 2, 1, 1, 1, 0};
    Gradients<double> g(p);
    CrfCache cache;
    crf.loss(p, x, segments, gold, dx, &g, cache, {}, 0.25);
    test::check_by_differences(p, g, &x, &dx,
                               [&] { return 0.25 * crf.loss(p, x, segments, gold, {}, nullptr, cache, {}); });
  }
}

TEST_CASE("a random CRF decodes the best of all taggings, and probabilities sum to one") {
  Team two(2);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index tags = 2 + static_cast<Index>(seed % 3), length = 1 + static_cast<Index>(seed % 5);
    Parameters<double> p;
    const Crf<double> crf(p, "crf", tags);
    for (ParameterId id = 0; id < p.count(); ++id) {
      const Matrix<double> values =
          random_matrix<double>(1, p[id].size(), 100 * seed + static_cast<std::uint64_t>(id));
      std::copy_n(values.data(), values.size(), p.mutable_view(id).data);
    }
    const Matrix<double> x = random_matrix<double>(length, tags, seed);
    const Segments segments = Segments::one(length);
    CrfCache cache;
    std::vector<Index> best(static_cast<std::size_t>(length)), path = best, greatest;
    std::vector<double> score(1);
    crf.viterbi(p, x, segments, best, score, cache, {});
    double sum = 0, most = 0;
    for (;;) {
      const double probability = std::exp(-crf.loss(p, x, segments, path, {}, nullptr, cache, {}));
      sum += probability;
      if (probability > most) greatest = path;
      most = std::max(most, probability);
      std::size_t at = 0;
      while (at < path.size() && ++path[at] == tags) path[at++] = 0;
      if (at == path.size()) break;
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-10));
    CHECK(greatest == best);
    Matrix<double> marginals(length, tags);
    crf.marginals(p, x, segments, marginals, cache, {.team = &two});
    for (Index t = 0; t < length; ++t) {
      double row = 0;
      for (Index j = 0; j < tags; ++j) row += marginals(t, j);
      CHECK(row == doctest::Approx(1).epsilon(1e-10));
    }
  }
}

TEST_CASE("teams give the very same losses and gradients") {
  Parameters<float> p;
  const Crf<float> crf(p, "crf", 7);
  p.initialise(3);
  std::vector<Index> lengths, gold;
  for (Index i = 0; i < 30; ++i) lengths.push_back(i % 11);
  const Segments segments = segments_of(lengths);
  for (Index i = 0; i < segments.total(); ++i) gold.push_back((3 * i) % 7);
  const Matrix<float> x = random_matrix<float>(segments.total(), 7, 1);
  Matrix<float> dx(x.rows(), 7), dx_two(x.rows(), 7);
  Gradients<float> g(p), g_two(p);
  Team two(2);
  CrfCache cache, other;
  CHECK(crf.loss(p, x, segments, gold, dx, &g, cache, {}) ==
        crf.loss(p, x, segments, gold, dx_two, &g_two, other, {.team = &two}));
  CHECK(difference(dx, dx_two) == 0.0);
  for (ParameterId id = 0; id < p.count(); ++id)
    CHECK(difference(View<const float>(g[id]), View<const float>(g_two[id])) == 0.0);
}

TEST_CASE("scores far apart and long sequences neither overflow nor vanish") {
  Parameters<float> p;
  const Crf<float> crf(p, "crf", 2);
  Matrix<float> x(3000, 2), dx(3000, 2);
  for (Index t = 0; t < 3000; ++t) x(t, t % 2) = 2000.0F;
  std::vector<Index> gold;
  for (Index t = 0; t < 3000; ++t) gold.push_back(t % 2);
  CrfCache cache;
  CHECK(crf.loss(p, x, Segments::one(3000), gold, dx, nullptr, cache, {}) == doctest::Approx(0));
  gold[7] = 0;  // wrong: all the loss is there
  CHECK(crf.loss(p, x, Segments::one(3000), gold, dx, nullptr, cache, {}) == doctest::Approx(2000));
  CHECK(dx(7, 0) == doctest::Approx(-1));
  CHECK(dx(8, 0) == doctest::Approx(0));
}

TEST_CASE("IOB constraints: no inside without a beginning, and never decoded") {
  const std::vector<std::string> names{"O", "B-PER", "I-PER", "B-LOC", "I-LOC"};
  Parameters<double> p;
  const Crf<double> crf(p, "crf", 5, iob_constraints(names));
  p.initialise(2);
  const auto allows = [&](std::vector<Index> tags) { return crf.allows(tags); };
  CHECK(allows({}));
  CHECK(allows({1, 2, 2, 0, 3, 4, 1}));
  CHECK(!allows({2}));
  CHECK(!allows({0, 2}));
  CHECK(!allows({1, 4}));
  CHECK(!allows({1, 5}));
  CHECK(!allows({-1}));
  CrfCache cache;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Matrix<double> x = random_matrix<double>(9, 5, seed, 4);
    std::vector<Index> tags(9);
    crf.viterbi(p, x, Segments::one(9), tags, {}, cache, {});
    CHECK(crf.allows(tags));
  }
}

TEST_CASE("a CRF refuses wrong shapes, wrong tags and constraints that allow nothing") {
  Parameters<double> p;
  CrfConstraints constraints;
  constraints.transitions = {0, 0, 0, 0};  // sequences of one element alone
  const Crf<double> crf(p, "crf", 2, constraints);
  CrfCache cache;
  const Matrix<double> x = random_matrix<double>(2, 2, 1);
  Matrix<double> y(2, 2);
  std::vector<Index> tags(2);
  std::vector<double> score(1);
  const auto loss = [&](const std::vector<Index>& gold, const Segments& segments) {
    return crf.loss(p, x, segments, gold, {}, nullptr, cache, {});
  };
  CHECK_THROWS_AS(loss({0, 1}, Segments::one(2)), std::logic_error);
  CHECK_THROWS_AS(loss({0, 2}, Segments::equal(2, 1)), std::logic_error);
  CHECK_THROWS_AS(loss({0}, Segments::equal(2, 1)), std::logic_error);
  CHECK_THROWS_AS(loss({0, 1}, Segments::one(3)), std::logic_error);
  CHECK(loss({0, 1}, Segments::equal(2, 1)) > 0);
  CHECK_THROWS_AS(crf.viterbi(p, x, Segments::one(2), tags, {}, cache, {}), std::logic_error);
  CHECK_THROWS_AS(crf.viterbi(p, x, Segments::equal(2, 1), tags, score, cache, {}), std::logic_error);
  CHECK_THROWS_AS(crf.marginals(p, x, Segments::one(2), y, cache, {}), std::logic_error);
  constraints.start = {1};
  CHECK_THROWS_AS(Crf<double>(p, "other", 2, constraints), std::logic_error);
}

}  // namespace askbase::nn
