// Fitting the ranker: against brute force, and on examples whose answer is known.
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include "nn/random.h"
#include "qa/ranker_training.h"

using namespace askbase;
using qa::Feature;
using qa::RankedReading;
using qa::RankExample;
using qa::RankWeights;

namespace {

RankedReading reading(double coverage, double link, bool right, std::uint32_t answers) {
  RankedReading out;
  out.features[static_cast<std::size_t>(Feature::coverage)] = static_cast<float>(coverage);
  out.features[static_cast<std::size_t>(Feature::link)] = static_cast<float>(link);
  out.right = right;
  out.answers = answers;
  return out;
}

// Readings drawn at random; the right one is chosen by a softmax over 4 coverage - 1 and "none".
std::vector<RankExample> drawn(std::size_t count, std::uint64_t seed) {
  nn::Random random(seed);
  std::vector<RankExample> out;
  for (std::size_t i = 0; i < count; ++i) {
    RankExample example;
    double all = 1;
    std::vector<double> shares;
    for (std::uint32_t r = 0; r < 4; ++r) {
      const double coverage = random.uniform();
      example.readings.push_back(reading(coverage, random.uniform(), false, r));
      shares.push_back(std::exp(4 * coverage - 1));
      all += shares.back();
    }
    double at = random.uniform() * all;
    for (std::size_t r = 0; r < shares.size(); ++r) {
      if (at < shares[r]) {
        example.readings[r].right = true;
        break;
      }
      at -= shares[r];
    }
    out.push_back(std::move(example));
  }
  return out;
}

double loss_of(const std::vector<RankExample>& examples, const RankWeights& weights, const RankWeights& prior,
               double strength) {
  double sum = 0;
  for (const RankExample& example : examples) {
    double all = 1, right = 0;
    bool answerable = false;
    for (const RankedReading& one : example.readings) {
      if (one.neutral) continue;
      const double share = std::exp(weights.score(one.features));
      all += share;
      if (one.right) right += share;
      answerable = answerable || one.right;
    }
    sum -= std::log((answerable ? right : 1) / all);
  }
  sum /= static_cast<double>(examples.size());
  double distance = std::pow(weights.bias - prior.bias, 2);
  for (std::size_t i = 0; i < qa::feature_count; ++i) distance += std::pow(weights.of[i] - prior.of[i], 2);
  return sum + strength / 2 * distance;
}

double& weight(RankWeights& weights, Feature feature) {
  return weights.of[static_cast<std::size_t>(feature)];
}

}  // namespace

TEST_CASE("ranker training: the weights that made the choices are found again") {
  const std::vector<RankExample> examples = drawn(4000, 7);
  qa::RankerFit fit = qa::fit_ranker(examples, RankWeights(), 1e-6);
  CHECK(weight(fit.weights, Feature::coverage) == doctest::Approx(4).epsilon(0.06));
  CHECK(std::abs(weight(fit.weights, Feature::link)) < 0.2);
  CHECK(fit.weights.bias == doctest::Approx(-1).epsilon(0.2));
  CHECK(fit.loss < fit.prior_loss);
}

TEST_CASE("ranker training: no weights nearby have a smaller loss") {
  std::vector<RankExample> examples = drawn(60, 3);
  // Several right ones and a neutral one, too.
  examples[0].readings[1].right = true;
  examples[1].readings[2].neutral = true;
  RankWeights prior;
  prior.bias = -0.5;
  weight(prior, Feature::coverage) = 1;
  for (const double strength : {0.01, 0.3}) {
    const qa::RankerFit fit = qa::fit_ranker(examples, prior, strength);
    const double least = loss_of(examples, fit.weights, prior, strength);
    for (const double step : {-0.02, 0.02}) {
      for (const Feature feature : {Feature::coverage, Feature::link, Feature::echo}) {
        RankWeights other = fit.weights;
        weight(other, feature) += step;
        CHECK(loss_of(examples, other, prior, strength) > least);
      }
      RankWeights other = fit.weights;
      other.bias += step;
      CHECK(loss_of(examples, other, prior, strength) > least);
    }
  }
}

TEST_CASE("ranker training: a strong prior stays, and so does a fixed feature") {
  const std::vector<RankExample> examples = drawn(200, 5);
  RankWeights prior;
  weight(prior, Feature::coverage) = 1.5;
  weight(prior, Feature::direction) = 0.7;
  qa::RankerFit held = qa::fit_ranker(examples, prior, 1e6);
  CHECK(weight(held.weights, Feature::coverage) == doctest::Approx(1.5).epsilon(1e-3));
  const Feature fixed[] = {Feature::coverage};
  qa::RankerFit fit = qa::fit_ranker(examples, prior, 1e-4, fixed);
  CHECK(weight(fit.weights, Feature::coverage) == 1.5);
  CHECK(fit.weights.bias != prior.bias);
  // Nothing speaks of it.
  CHECK(weight(fit.weights, Feature::direction) == doctest::Approx(0.7));
  CHECK_THROWS_AS((void)qa::fit_ranker({}, prior, 1), std::logic_error);
}

TEST_CASE("ranker training: confidence becomes the share of right answers") {
  // The best reading's score is coverage; it is right in as many of ten cases.
  std::vector<RankExample> examples;
  nn::Random random(11);
  for (std::size_t i = 0; i < 4000; ++i) {
    const double z = random.uniform(-3, 3);
    RankExample example;
    example.readings = {reading(z, 0, random.uniform() < 1 / (1 + std::exp(-(0.5 * z + 1))), 0),
                        reading(-9, 0, false, 1)};
    examples.push_back(std::move(example));
  }
  RankWeights weights;
  weight(weights, Feature::coverage) = 1;
  const qa::RankerFigures before = qa::measure_ranker(weights, examples);
  qa::calibrate(weights, examples);
  CHECK(weights.scale == doctest::Approx(0.5).epsilon(0.2));
  CHECK(weights.shift == doctest::Approx(1).epsilon(0.2));
  CHECK(qa::measure_ranker(weights, examples).log_loss < before.log_loss);
}

TEST_CASE("ranker training: a rival close by takes from the confidence, the same answers do not") {
  std::vector<RankExample> examples;
  for (std::size_t i = 0; i < 400; ++i) {
    RankExample close, same;
    close.readings = {reading(2, 0, i % 2 == 0, 0), reading(1.9, 0, i % 2 != 0, 1)};
    same.readings = {reading(2, 0, i % 20 != 0, 0), reading(1.9, 0, false, 0)};
    examples.push_back(std::move(close));
    examples.push_back(std::move(same));
  }
  RankWeights weights;
  weight(weights, Feature::coverage) = 1;
  qa::calibrate(weights, examples);
  CHECK(weights.confidence(2, 1.9) == doctest::Approx(0.5).epsilon(0.05));
  CHECK(weights.confidence(2) == doctest::Approx(0.95).epsilon(0.05));
  const RankWeights calibrated = weights;
  // What is always right says nothing of how sure to be.
  RankExample right;
  right.readings = {reading(2, 0, true, 0)};
  qa::calibrate(weights, {&right, 1});
  CHECK(weights.scale == calibrated.scale);
}

TEST_CASE("ranker training: what finds nothing is no answer, however high it stands") {
  RankExample example;
  example.readings = {reading(3, 0, false, 0), reading(1, 0, true, 1)};
  example.readings[0].features[static_cast<std::size_t>(Feature::missing)] = 1;
  RankWeights weights;
  weight(weights, Feature::coverage) = 1;
  CHECK(qa::measure_ranker(weights, {&example, 1}).right == 1);
  example.readings[0].features[static_cast<std::size_t>(Feature::missing)] = 0;
  CHECK(qa::measure_ranker(weights, {&example, 1}).right == 0);
}
