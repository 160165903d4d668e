#include "qa/mention_spans.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "qa/mention_network.h"

namespace askbase::qa {

namespace {

constexpr double none = -std::numeric_limits<double>::infinity();
constexpr std::size_t kTags = mention_tags;
using Tags = std::array<double, kTags>;

template <typename Values>
double log_sum(const Values& values) {
  const double most = *std::max_element(values.begin(), values.end());
  if (most == none) return none;
  double sum = 0;
  for (const double value : values) sum += std::exp(value - most);
  return most + std::log(sum);
}

}  // namespace

SpanSums span_sums(nn::View<const float> scores, nn::View<const float> transitions,
                   nn::View<const float> start, nn::View<const float> end, std::size_t max_length,
                   double least_probability) {
  SpanSums out;
  const auto n = static_cast<std::size_t>(scores.rows);
  out.inside.assign(n, 0.0);
  if (n == 0) return out;
  const auto emission = [&](std::size_t t, std::size_t k) {
    return static_cast<double>(scores(static_cast<nn::Index>(t), static_cast<nn::Index>(k)));
  };
  const auto step = [&](std::size_t from, std::size_t to) {
    if (from == tag_outside && to == tag_inside) return none;
    return static_cast<double>(transitions(static_cast<nn::Index>(from), static_cast<nn::Index>(to)));
  };
  std::vector<Tags> alpha(n), beta(n);
  for (std::size_t k = 0; k < kTags; ++k) {
    alpha[0][k] =
        k == tag_inside ? none : static_cast<double>(start(0, static_cast<nn::Index>(k))) + emission(0, k);
    beta[n - 1][k] = static_cast<double>(end(0, static_cast<nn::Index>(k)));
  }
  for (std::size_t t = 1; t < n; ++t) {
    for (std::size_t k = 0; k < kTags; ++k) {
      Tags terms;
      for (std::size_t from = 0; from < kTags; ++from) terms[from] = alpha[t - 1][from] + step(from, k);
      alpha[t][k] = log_sum(terms) + emission(t, k);
    }
  }
  for (std::size_t t = n - 1; t-- > 0;) {
    for (std::size_t k = 0; k < kTags; ++k) {
      Tags terms;
      for (std::size_t to = 0; to < kTags; ++to)
        terms[to] = step(k, to) + emission(t + 1, to) + beta[t + 1][to];
      beta[t][k] = log_sum(terms);
    }
  }
  Tags last;
  for (std::size_t k = 0; k < kTags; ++k) last[k] = alpha[n - 1][k] + beta[n - 1][k];
  const double all = log_sum(last), least = std::log(least_probability);
  for (std::size_t t = 0; t < n; ++t) {
    out.inside[t] = std::clamp(1.0 - std::exp(alpha[t][tag_outside] + beta[t][tag_outside] - all), 0.0, 1.0);
  }
  for (std::size_t first = 0; first < n; ++first) {
    double path = alpha[first][tag_begin] - all;
    std::size_t tag = tag_begin;
    for (std::size_t t = first; t < n && t - first < max_length; ++t) {
      // What is left for this and all longer spans.
      if (path + beta[t][tag] < least) break;
      double ends = 0;
      if (t + 1 == n) {
        ends = beta[t][tag];
      } else {
        const std::array<double, 2> ways{
            step(tag, tag_outside) + emission(t + 1, tag_outside) + beta[t + 1][tag_outside],
            step(tag, tag_begin) + emission(t + 1, tag_begin) + beta[t + 1][tag_begin]};
        ends = log_sum(ways);
      }
      if (path + ends >= least) out.spans.push_back({{first, t + 1}, std::min(1.0, std::exp(path + ends))});
      if (t + 1 == n) break;
      path += step(tag, tag_inside) + emission(t + 1, tag_inside);
      tag = tag_inside;
    }
  }
  std::stable_sort(out.spans.begin(), out.spans.end(),
                   [](const ScoredSpan& a, const ScoredSpan& b) { return a.probability > b.probability; });
  return out;
}

}  // namespace askbase::qa
