// Whole articles kept apart for validation, and nothing of them left in the training questions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "datasets/squad.h"

namespace askbase::datasets {

struct SquadSplit {
  SquadSet train, valid;
  // Training questions left out because their text is part of a validation text (or holds one), or because a
  // validation text is asked the same.
  std::size_t overlapping = 0;
};

// All questions of all sets. Articles whose title is among held_out go to `valid`; texts and questions are
// compared by lower case, white space and punctuation aside. Ids of different sets may be the same; contexts
// of equal title and text become one. Error not_found names a title that no set has.
base::Result<SquadSplit> split_squad(std::vector<SquadSet> sets, const std::vector<std::string>& held_out);

// Lower case, letters and digits only, single blanks between: what texts are compared by.
std::string comparable_text(std::string_view text);

// The questions of `train` that split_squad would leave out for the sake of `valid`: indices, in order.
std::vector<std::size_t> overlapping_questions(const SquadSet& train, const SquadSet& valid);

}  // namespace askbase::datasets
