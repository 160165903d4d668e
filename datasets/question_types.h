// Questions labelled with the type of answer they want: TREC question classification (Li and Roth 2002).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace askbase::datasets {

struct TypedQuestion {
  std::string question;  // tokens apart by blanks, as the data has them
  std::string fine;      // "HUM:ind"
  std::string coarse() const { return fine.substr(0, fine.find(':')); }
};

// Reads, plain or compressed, either form:
//   a tab-separated table whose first line names the columns label, fine_label and question;
//   the official files, a line "HUM:ind Who wrote Hamlet ?".
// Errors (not_found, io, bad_input with file:line) name what is wrong; a file without questions is bad_input.
base::Result<std::vector<TypedQuestion>> read_typed_questions(const std::filesystem::path& path);

}  // namespace askbase::datasets
