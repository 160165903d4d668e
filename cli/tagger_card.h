// The card of a mention tagger.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/tagged_questions.h"
#include "qa/mention_tagger_training.h"

namespace askbase::cli {

struct TaggerCard {
  std::string lang;
  std::vector<std::string> data, valid, names, subjects, test;  // files
  std::string vectors, options, alignment;
  std::size_t train = 0, valid_questions = 0;
  const qa::TrainedTagger* trained = nullptr;
  const MentionFigures* figures = nullptr;  // on the test questions; null: not measured
};

// Errors: those of reading the files, whose hashes the card states.
base::Result<std::string> card_text(const TaggerCard& card);

}  // namespace askbase::cli
