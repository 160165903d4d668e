// Questions about texts in the form of SQuAD (Rajpurkar 2016, 2018), which CMRC 2018 (Cui 2019) and DRCD
// (Shao 2018) share.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace askbase::datasets {

struct SquadAnswer {
  std::string text;
  std::size_t begin = 0, end = 0;  // half-open, in code points of the context
};

struct SquadQuestion {
  std::string id, question;
  std::size_t context = 0;           // index into SquadSet::contexts
  std::vector<SquadAnswer> answers;  // none: the context does not answer it
};

struct SquadContext {
  std::string title, text;
};

struct SquadSet {
  std::vector<SquadContext> contexts;
  std::vector<SquadQuestion> questions;
};

// Reads {"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "answers":
// [{"answer_start", "text"}], "is_impossible"}]}]}]}, plain or compressed. Errors: not_found, io; bad_input
// names the question where an answer does not stand in its context at its place, an id comes twice, or a
// question has no answer and is not said to be impossible; a file without questions is bad_input, too.
base::Result<SquadSet> read_squad(const std::filesystem::path& path);

}  // namespace askbase::datasets
