// Questions with their gold answers, as JSON lines (docs/evaluation.md):
//
//   {"id": "q1", "lang": "en", "question": "...", "answers": ["urn:x:paris" | "Paris" | 42 | true, ...],
//    "kind"?: "single", "split"?: "test", "reason"?: "fact_missing"}
//
// An empty "answers" says that the KB has no answer, and that declining is right; "reason" is then the reason
// that should be given. Further keys are allowed and ignored. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::datasets {

struct Question {
  std::string id;    // "FILE:LINE" when the line has none
  std::string lang;  // told from the text when the line has none
  std::string question;
  std::vector<std::string> answers;  // ids or strings; numbers and booleans by their JSON spelling
  std::string kind, split, reason;   // empty when not stated
  bool answerable() const { return !answers.empty(); }
};

struct QuestionFilter {
  std::string split, lang;  // empty: any
  std::size_t limit = 0;    // 0: all; otherwise the first so many that pass the other two
};

// Reads and joins the files in order (plain, gzip or zstd). Errors: bad_input with file:line: reason (also
// for an id that comes twice), not_found, io; not_found too when no question passes the filter.
base::Result<std::vector<Question>> read_questions(const std::vector<std::filesystem::path>& paths,
                                                   const QuestionFilter& filter);

// One line. Error bad_input without the place.
base::Result<Question> parse_question(std::string_view line);

}  // namespace askbase::datasets
