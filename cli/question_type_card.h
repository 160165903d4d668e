// The card of a trained question-type model: the README.md of its folder.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "cli/question_types.h"
#include "qa/question_type_training.h"

namespace askbase::cli {

struct QuestionTypeCard {
  std::string data, test, vectors;  // files as they were named; test may be empty
  std::string options;              // of the command, those that shape the model
  std::size_t train = 0, valid = 0;
  const qa::TrainedQuestionType* model = nullptr;
  // Of the test questions, of those that do not stand among the training ones, and of the linear model; null
  // where nothing was measured.
  const QuestionTypeFigures* figures = nullptr;
  const QuestionTypeFigures* unseen = nullptr;
  const datasets::Figure* linear = nullptr;
};

// Markdown. Reads the files for their hashes. Errors: not_found, io.
base::Result<std::string> card_text(const QuestionTypeCard& card);

}  // namespace askbase::cli
