#include "qa/ranker_training.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace askbase::qa {
namespace {

constexpr std::size_t weight_count = feature_count + 1;  // the last one is the bias
constexpr int most_steps = 200;
// Where right and wrong are apart no scale is too large, and another KB would suffer for it.
constexpr double most_scale = 3;

using Vector = Eigen::Matrix<double, static_cast<int>(weight_count), 1>;
using Square = Eigen::Matrix<double, static_cast<int>(weight_count), static_cast<int>(weight_count)>;

Vector vector_of(const RankWeights& weights) {
  Vector out;
  for (std::size_t i = 0; i < feature_count; ++i) out[static_cast<int>(i)] = weights.of[i];
  out[static_cast<int>(feature_count)] = weights.bias;
  return out;
}

Vector vector_of(const Features& features) {
  Vector out;
  for (std::size_t i = 0; i < feature_count; ++i) out[static_cast<int>(i)] = features[i];
  out[static_cast<int>(feature_count)] = 1;
  return out;
}

// exp(score) of readings relative to the largest, "none" of score 0 included.
struct Shares {
  std::vector<double> of;  // of each reading, 0 for neutral ones
  double none = 0, right = 0, all = 0;
};

Shares shares_of(const RankExample& example, const RankWeights& weights) {
  Shares out;
  out.of.resize(example.readings.size());
  double largest = 0;
  for (std::size_t i = 0; i < example.readings.size(); ++i) {
    out.of[i] = weights.score(example.readings[i].features);
    if (!example.readings[i].neutral) largest = std::max(largest, out.of[i]);
  }
  bool answerable = false;
  out.none = std::exp(-largest);
  out.all = out.none;
  for (std::size_t i = 0; i < example.readings.size(); ++i) {
    const RankedReading& reading = example.readings[i];
    out.of[i] = reading.neutral ? 0 : std::exp(out.of[i] - largest);
    out.all += out.of[i];
    if (reading.right && !reading.neutral) {
      answerable = true;
      out.right += out.of[i];
    }
  }
  if (!answerable) out.right = out.none;
  return out;
}

double mean_loss(std::span<const RankExample> examples, const RankWeights& weights, double total) {
  double sum = 0;
  for (const RankExample& example : examples) {
    const Shares shares = shares_of(example, weights);
    sum -= example.weight * std::log(std::max(shares.right / shares.all, 1e-300));
  }
  return sum / total;
}

struct Slope {
  Vector gradient = Vector::Zero();
  Square curvature = Square::Zero();  // of the convex part
};

Slope slope_of(std::span<const RankExample> examples, const RankWeights& weights, double total) {
  Slope out;
  for (const RankExample& example : examples) {
    const Shares shares = shares_of(example, weights);
    Vector mean = Vector::Zero(), right = Vector::Zero();
    Square second = Square::Zero();
    bool answerable = false;
    for (std::size_t i = 0; i < example.readings.size(); ++i) {
      const double share = shares.of[i] / shares.all;
      if (share < 1e-9) continue;
      const Vector x = vector_of(example.readings[i].features);
      mean += share * x;
      second.selfadjointView<Eigen::Lower>().rankUpdate(x, share);
      if (example.readings[i].right) {
        answerable = true;
        right += shares.of[i] / shares.right * x;
      }
    }
    second.selfadjointView<Eigen::Lower>().rankUpdate(mean, -1);
    if (!answerable) right.setZero();  // "none" has no features
    out.gradient += example.weight / total * (mean - right);
    out.curvature += example.weight / total * second;
  }
  return out;
}

RankWeights weights_of(const Vector& vector, const RankWeights& rest) {
  RankWeights out = rest;
  for (std::size_t i = 0; i < feature_count; ++i) out.of[i] = vector[static_cast<int>(i)];
  out.bias = vector[static_cast<int>(feature_count)];
  return out;
}

// The best reading that has answers, and how far the best other answer lies behind it.
struct Decision {
  double score = 0, gap = 0;
  bool right = false;
};

std::optional<Decision> decide(const RankWeights& weights, const RankExample& example) {
  constexpr auto missing = static_cast<std::size_t>(Feature::missing);
  const RankedReading* best = nullptr;
  double score = 0, rival = -std::numeric_limits<double>::infinity();
  for (const RankedReading& reading : example.readings) {
    if (reading.features[missing] > 0) continue;
    const double mine = weights.score(reading.features);
    if (best == nullptr || mine > score) {
      best = &reading;
      score = mine;
    }
  }
  if (best == nullptr) return std::nullopt;
  for (const RankedReading& reading : example.readings) {
    if (reading.features[missing] > 0 || reading.answers == best->answers) continue;
    rival = std::max(rival, weights.score(reading.features));
  }
  // Without another answer the gap is infinite, and takes nothing from the confidence.
  return Decision{score, score - rival, best->right || best->neutral};
}

double log_loss(const RankWeights& weights, const Decision& decision) {
  const double p =
      std::clamp(weights.confidence(decision.score, decision.score - decision.gap), 1e-6, 1 - 1e-6);
  return -std::log(decision.right ? p : 1 - p);
}

double mean_log_loss(const RankWeights& weights, const std::vector<Decision>& decisions) {
  double sum = 0;
  for (const Decision& decision : decisions) sum += log_loss(weights, decision);
  return sum / static_cast<double>(decisions.size());
}

}  // namespace

RankerFit fit_ranker(std::span<const RankExample> examples, const RankWeights& prior, double strength,
                     std::span<const Feature> fixed) {
  double total = 0;
  for (const RankExample& example : examples) total += example.weight;
  if (total <= 0) throw std::logic_error("qa::fit_ranker: no examples");
  const Vector start = vector_of(prior);
  Vector at = start;
  const auto penalised = [&](const Vector& point) {
    return mean_loss(examples, weights_of(point, prior), total) +
           strength / 2 * (point - start).squaredNorm();
  };
  double loss = penalised(at);
  RankerFit out;
  out.prior_loss = loss;
  for (; out.steps < most_steps; ++out.steps) {
    Slope slope = slope_of(examples, weights_of(at, prior), total);
    slope.gradient += strength * (at - start);
    Square curvature = slope.curvature.selfadjointView<Eigen::Lower>();
    curvature.diagonal().array() += strength + 1e-9;
    for (const Feature feature : fixed) {
      const auto i = static_cast<int>(feature);
      slope.gradient[i] = 0;
      curvature.row(i).setZero();
      curvature.col(i).setZero();
      curvature(i, i) = 1;
    }
    const Vector step = curvature.ldlt().solve(slope.gradient);
    double size = 1;
    double next = penalised(at - step);
    while (next > loss && size > 1e-6) {
      size /= 2;
      next = penalised(at - size * step);
    }
    if (next >= loss - 1e-10) break;
    at -= size * step;
    loss = next;
  }
  out.weights = weights_of(at, prior);
  out.loss = mean_loss(examples, out.weights, total);
  return out;
}

void calibrate(RankWeights& weights, std::span<const RankExample> examples) {
  std::vector<Decision> decisions;
  std::size_t right = 0;
  for (const RankExample& example : examples) {
    const std::optional<Decision> decision = decide(weights, example);
    if (!decision) continue;
    decisions.push_back(*decision);
    right += decision->right ? 1 : 0;
  }
  if (right == 0 || right == decisions.size()) return;
  // Three numbers: a pattern search (Hooke and Jeeves 1961) is quick and needs no slope at the borders.
  RankWeights best = weights;
  best.scale = 1;
  best.shift = 0;
  best.rival = 0.5;
  double loss = mean_log_loss(best, decisions);
  for (double reach = 0.5; reach > 1e-4;) {
    bool better = false;
    for (int which = 0; which < 6; ++which) {
      RankWeights next = best;
      double& value = which / 2 == 0 ? next.scale : which / 2 == 1 ? next.shift : next.rival;
      value += which % 2 == 0 ? reach : -reach;
      next.scale = std::clamp(next.scale, 0.01, most_scale);
      next.rival = std::clamp(next.rival, 0.0, 1.0);
      const double tried = mean_log_loss(next, decisions);
      if (tried < loss - 1e-9) {
        loss = tried;
        best = next;
        better = true;
      }
    }
    if (!better) reach /= 2;
  }
  weights = best;
}

RankerFigures measure_ranker(const RankWeights& weights, std::span<const RankExample> examples) {
  RankerFigures out;
  double right = 0;
  for (const RankExample& example : examples) {
    ++out.examples;
    const bool answerable = std::any_of(example.readings.begin(), example.readings.end(),
                                        [](const RankedReading& reading) { return reading.right; });
    out.answerable += answerable ? 1 : 0;
    const std::optional<Decision> decision = decide(weights, example);
    if (!decision) continue;
    out.log_loss += log_loss(weights, *decision);
    if (answerable && decision->right) right += 1;
  }
  if (out.examples > 0) out.log_loss /= static_cast<double>(out.examples);
  if (out.answerable > 0) out.right = right / static_cast<double>(out.answerable);
  return out;
}

}  // namespace askbase::qa
