// How a question-type model does on labelled questions: what `train` and `eval question-type` measure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "datasets/metrics.h"
#include "datasets/question_types.h"
#include "qa/question_type.h"

namespace askbase::cli {

struct QuestionTypeFigures {
  std::size_t questions = 0;
  datasets::Figure accuracy, fine_accuracy;  // with 95 % bootstrap intervals
  double milliseconds = 0;                   // a question, mean
};
QuestionTypeFigures measure_question_types(const qa::QuestionTypeClassifier& classifier,
                                           const std::vector<datasets::TypedQuestion>& questions);
// The share of `answers` that are the questions' coarse types.
datasets::Figure coarse_accuracy(const std::vector<datasets::TypedQuestion>& questions,
                                 const std::vector<std::string>& answers);
base::Json figures_json(const QuestionTypeFigures& figures);
// Rows for table(): name and figure.
std::vector<std::vector<std::string>> figure_rows(const QuestionTypeFigures& figures);

}  // namespace askbase::cli
