// Multinomial naive Bayes over bags of words: what learned models are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace askbase::datasets {

// Immutable after training; thread-safe.
class NaiveBayes {
 public:
  struct Example {
    std::vector<std::string> words;
    std::string label;
  };
  // smoothing: added to every count (Lidstone).
  explicit NaiveBayes(const std::vector<Example>& examples, double smoothing = 0.01);

  const std::vector<std::string>& labels() const { return labels_; }  // sorted
  // log p(label) + sum of log p(word | label), for each label; words never seen count for nothing.
  std::vector<double> scores(const std::vector<std::string>& words) const;
  std::size_t place(const std::string& label) const;  // labels().size(): not there

 private:
  struct Count {
    std::uint32_t label = 0;
    double log_gain = 0;  // over a word that the label never had
  };
  std::vector<std::string> labels_;
  std::vector<double> prior_, unseen_;  // log p(label); log p of a word that the label never had
  std::unordered_map<std::string, std::vector<Count>> words_;
};

}  // namespace askbase::datasets
