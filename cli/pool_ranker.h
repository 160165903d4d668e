// Choosing one candidate of a list: a linear ranker over a few scores, and what choices without a network
// make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace askbase::cli {

// The scores of one question's candidates: features[f][c].
struct RankedPool {
  std::vector<std::vector<float>> features;
  std::vector<char> gold;  // of each candidate
};

// Conditional logistic regression (McFadden 1974): the weights for which softmax of the weighed scores gives
// the gold candidates the most probability, by Newton's method with a little ridge. Weights are of the scores
// as they are. Pools without a gold candidate or with one candidate do not count. Error bad_input where none
// is left.
base::Result<std::vector<double>> fit_ranker(const std::vector<RankedPool>& pools);

// Sum of weight times score of each candidate.
std::vector<float> ranked_scores(const std::vector<double>& weights,
                                 const std::vector<std::vector<float>>& features);

// The chance that the best candidate is a gold one, where equals are drawn from at random. 0 without
// candidates.
double right_share(const std::vector<float>& scores, const std::vector<char>& gold);

// Multinomial naive Bayes of relations over the words of questions, with add-one smoothing, and how common
// each relation is. Thread-safe once it is filled.
class RelationCounts {
 public:
  void add(const std::string& relation, const std::vector<std::string>& words);
  bool empty() const { return questions_ == 0; }
  // Logarithms of the share among the questions; of the joint probability with the words.
  double prior(const std::string& relation) const;
  double bayes(const std::string& relation, const std::vector<std::string>& words) const;

 private:
  struct Relation {
    std::uint64_t questions = 0, words = 0;
    std::unordered_map<std::string, std::uint64_t> count;
  };
  std::unordered_map<std::string, Relation> relations_;
  std::unordered_map<std::string, std::uint64_t> vocabulary_;
  std::uint64_t questions_ = 0;
};

// How many of the path's words stand in the question, as a share of the path's; stems count as well.
float word_overlap(const std::vector<std::string>& question, const std::vector<std::string>& path);

}  // namespace askbase::cli
