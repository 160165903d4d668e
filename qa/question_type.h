// What kind of answer an English question wants, by a small neural network (qa/question_type_network.h)
// trained on TREC's question classification (Li and Roth 2002): six coarse types (ABBR, DESC, ENTY, HUM, LOC,
// NUM) and fifty fine ones ("HUM:ind", "LOC:city", "NUM:date").
//
//   ASKBASE_ASSIGN(const auto classifier, QuestionTypeClassifier::load("models/question-type"));
//   classifier->classify("Who wrote Hamlet?").coarse;   // "HUM"
//
// The data is English only, and so is the model: Chinese questions are read by rules (qa/words_zh.cpp).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace askbase::qa {

struct QuestionType {
  std::string coarse, fine;
  double coarse_probability = 0, fine_probability = 0;
  std::vector<std::pair<std::string, double>> words;  // and how much attention each got; they sum to 1
};

// Immutable; any number of threads may ask it.
class QuestionTypeClassifier {
 public:
  // A model folder of kind "question-type". Errors: those of nn/model_folder.h.
  static base::Result<std::shared_ptr<const QuestionTypeClassifier>> load(
      const std::filesystem::path& folder);
  virtual ~QuestionTypeClassifier() = default;

  // Of valid UTF-8. A text without words is of the type that is most common, with its probability.
  virtual QuestionType classify(std::string_view question) const = 0;
};

}  // namespace askbase::qa
