// The card (README.md) that `askbase train matcher` writes into its model folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "qa/path_matcher_training.h"

namespace askbase::cli {

struct MatcherCard {
  std::string language, options;
  std::vector<std::pair<std::string, std::vector<std::string>>> files;  // by option
  std::size_t train = 0, valid = 0, left_out = 0;
  const qa::TrainedPathMatcher* model = nullptr;
};

// Markdown. Errors: those of reading the files, whose hashes it names.
base::Result<std::string> matcher_card(const MatcherCard& card);

}  // namespace askbase::cli
