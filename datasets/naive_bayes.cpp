#include "datasets/naive_bayes.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace askbase::datasets {

NaiveBayes::NaiveBayes(const std::vector<Example>& examples, double smoothing) {
  for (const Example& example : examples) labels_.push_back(example.label);
  std::sort(labels_.begin(), labels_.end());
  labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
  std::vector<double> examples_of(labels_.size(), 0), words_of(labels_.size(), 0);
  std::map<std::string, std::map<std::uint32_t, double>> counts;
  for (const Example& example : examples) {
    const auto label = static_cast<std::uint32_t>(place(example.label));
    examples_of[label] += 1;
    words_of[label] += static_cast<double>(example.words.size());
    for (const std::string& word : example.words) counts[word][label] += 1;
  }
  const auto vocabulary = static_cast<double>(counts.size());
  for (std::size_t label = 0; label < labels_.size(); ++label) {
    prior_.push_back(std::log(examples_of[label] / static_cast<double>(examples.size())));
    unseen_.push_back(std::log(smoothing / (words_of[label] + smoothing * vocabulary)));
  }
  for (const auto& [word, of_label] : counts) {
    std::vector<Count>& list = words_[word];
    for (const auto& [label, count] : of_label) {
      list.push_back({label, std::log((count + smoothing) / smoothing)});
    }
  }
}

std::size_t NaiveBayes::place(const std::string& label) const {
  const auto found = std::lower_bound(labels_.begin(), labels_.end(), label);
  return found != labels_.end() && *found == label ? static_cast<std::size_t>(found - labels_.begin())
                                                   : labels_.size();
}

std::vector<double> NaiveBayes::scores(const std::vector<std::string>& words) const {
  std::vector<double> out = prior_;
  for (const std::string& word : words) {
    const auto found = words_.find(word);
    if (found == words_.end()) continue;
    for (std::size_t label = 0; label < out.size(); ++label) out[label] += unseen_[label];
    for (const Count& count : found->second) out[count.label] += count.log_gain;
  }
  return out;
}

}  // namespace askbase::datasets
