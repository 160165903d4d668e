#include "cli/pool_ranker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "base/stem.h"

namespace askbase::cli {

namespace {

// Solves A x = b for a symmetric positive matrix; b becomes x.
void solve(std::vector<std::vector<double>> a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t r = i + 1; r < n; ++r) {
      const double factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c < n; ++c) a[r][c] -= factor * a[i][c];
      b[r] -= factor * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = i + 1; c < n; ++c) b[i] -= a[i][c] * b[c];
    b[i] /= a[i][i];
  }
}

// Softmax of the candidates; those of gold alone when only_gold.
std::vector<double> shares(const std::vector<float>& scores, const std::vector<char>& gold, bool only_gold) {
  std::vector<double> out(scores.size());
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (!only_gold || gold[c] != 0) most = std::max(most, static_cast<double>(scores[c]));
  }
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (only_gold && gold[c] == 0) continue;
    sum += out[c] = std::exp(static_cast<double>(scores[c]) - most);
  }
  for (double& share : out) share /= sum;
  return out;
}

// Log-likelihood of the gold candidates, less the ridge.
template <typename Counts>
double objective(const std::vector<RankedPool>& pools, const Counts& counts,
                 const std::vector<double>& weights, double ridge) {
  double sum = 0;
  for (const double weight : weights) sum -= ridge * weight * weight / 2;
  for (const RankedPool& pool : pools) {
    if (!counts(pool)) continue;
    const std::vector<float> scores = ranked_scores(weights, pool.features);
    const double most = static_cast<double>(*std::max_element(scores.begin(), scores.end()));
    double all = 0, gold = 0;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      const double share = std::exp(static_cast<double>(scores[c]) - most);
      all += share;
      if (pool.gold[c] != 0) gold += share;
    }
    sum += std::log(std::max(gold, 1e-300)) - std::log(all);
  }
  return sum;
}

}  // namespace

base::Result<std::vector<double>> fit_ranker(const std::vector<RankedPool>& pools) {
  constexpr int kSteps = 40;
  constexpr double kRidge = 1e-3;
  const auto counts = [](const RankedPool& pool) {
    const auto gold = std::count_if(pool.gold.begin(), pool.gold.end(), [](char g) { return g != 0; });
    return gold > 0 && static_cast<std::size_t>(gold) < pool.gold.size();
  };
  const auto first = std::find_if(pools.begin(), pools.end(), counts);
  if (first == pools.end()) {
    return base::fail(base::ErrorCode::bad_input, "no question with a choice to fit the ranker's weights to");
  }
  const std::size_t n = first->features.size();
  std::vector<double> weights(n, 0.0);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> gradient(n);
    std::vector<std::vector<double>> curvature(n, std::vector<double>(n));
    for (std::size_t f = 0; f < n; ++f) {
      gradient[f] = -kRidge * weights[f];
      curvature[f][f] = kRidge;
    }
    for (const RankedPool& pool : pools) {
      if (!counts(pool)) continue;
      const std::vector<float> scores = ranked_scores(weights, pool.features);
      const std::vector<double> all = shares(scores, pool.gold, false),
                                gold = shares(scores, pool.gold, true);
      std::vector<double> mean(n);
      for (std::size_t f = 0; f < n; ++f) {
        for (std::size_t c = 0; c < all.size(); ++c) {
          const double x = static_cast<double>(pool.features[f][c]);
          mean[f] += all[c] * x;
          gradient[f] += (gold[c] - all[c]) * x;
        }
      }
      for (std::size_t c = 0; c < all.size(); ++c) {
        for (std::size_t f = 0; f < n; ++f) {
          for (std::size_t k = 0; k < n; ++k) {
            curvature[f][k] += all[c] * (static_cast<double>(pool.features[f][c]) - mean[f]) *
                               (static_cast<double>(pool.features[k][c]) - mean[k]);
          }
        }
      }
    }
    solve(curvature, gradient);
    // A whole step may overshoot where scores are large: the objective is concave, so some part of it helps.
    const double before = objective(pools, counts, weights, kRidge);
    std::vector<double> next(n);
    double part = 1, moved = 0;
    for (; part > 1e-6; part /= 2) {
      for (std::size_t f = 0; f < n; ++f) next[f] = weights[f] + part * gradient[f];
      if (objective(pools, counts, next, kRidge) >= before) break;
    }
    if (part <= 1e-6) break;
    for (std::size_t f = 0; f < n; ++f) moved = std::max(moved, std::abs(next[f] - weights[f]));
    weights = next;
    if (moved < 1e-6) break;
  }
  return weights;
}

std::vector<float> ranked_scores(const std::vector<double>& weights,
                                 const std::vector<std::vector<float>>& features) {
  std::vector<float> out(features.empty() ? 0 : features.front().size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += static_cast<float>(weights[f]) * features[f][c];
  }
  return out;
}

double right_share(const std::vector<float>& scores, const std::vector<char>& gold) {
  if (scores.empty()) return 0;
  const float best = *std::max_element(scores.begin(), scores.end());
  double right = 0, all = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (scores[c] < best) continue;
    all += 1;
    right += gold[c] != 0 ? 1 : 0;
  }
  return all > 0 ? right / all : 0;
}

void RelationCounts::add(const std::string& relation, const std::vector<std::string>& words) {
  Relation& entry = relations_[relation];
  ++entry.questions;
  ++questions_;
  for (const std::string& word : words) {
    ++entry.count[word];
    ++entry.words;
    ++vocabulary_[word];
  }
}

double RelationCounts::prior(const std::string& relation) const {
  const auto found = relations_.find(relation);
  const double count = found == relations_.end() ? 0 : static_cast<double>(found->second.questions);
  return std::log((count + 1) / static_cast<double>(questions_ + relations_.size() + 1));
}

double RelationCounts::bayes(const std::string& relation, const std::vector<std::string>& words) const {
  const auto found = relations_.find(relation);
  const double all = (found == relations_.end() ? 0 : static_cast<double>(found->second.words)) +
                     static_cast<double>(vocabulary_.size()) + 1;
  double sum = prior(relation);
  for (const std::string& word : words) {
    double count = 0;
    if (found != relations_.end()) {
      if (const auto known = found->second.count.find(word); known != found->second.count.end()) {
        count = static_cast<double>(known->second);
      }
    }
    sum += std::log((count + 1) / all);
  }
  return sum;
}

float word_overlap(const std::vector<std::string>& question, const std::vector<std::string>& path) {
  std::unordered_set<std::string> stems;
  for (const std::string& word : question) stems.insert(base::stem_english(word));
  std::size_t shared = 0;
  for (const std::string& word : path) shared += stems.count(base::stem_english(word));
  return path.empty() ? 0 : static_cast<float>(shared) / static_cast<float>(path.size());
}

}  // namespace askbase::cli
