#include "datasets/question_types.h"

#include <algorithm>

#include "base/input.h"
#include "base/text.h"

namespace askbase::datasets {

namespace {

// "HUM:ind", both parts of letters.
bool is_label(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ':' || c == '_';
  });
}

}  // namespace

base::Result<std::vector<TypedQuestion>> read_typed_questions(const std::filesystem::path& path) {
  using base::ErrorCode;
  ASKBASE_ASSIGN(const auto input, base::Input::open(path));
  base::LineReader lines(*input);
  const auto bad = [&](const std::string& what) {
    return base::fail(
        ErrorCode::bad_input, input->name() + ":" + std::to_string(lines.line_number()) + ": " + what,
        "a line is HUM:ind Who wrote Hamlet ? or columns label, fine_label, question apart by tabs");
  };
  std::vector<TypedQuestion> questions;
  bool table = false;
  std::size_t fine_column = 0, question_column = 0, columns = 0;
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (!base::valid_utf8(line)) return bad("not UTF-8");
    const std::vector<std::string_view> fields = base::split(line, '\t');
    if (lines.line_number() == 1 && fields.size() > 1) {
      const auto find = [&](std::string_view name) {
        return static_cast<std::size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
      };
      fine_column = find("fine_label");
      question_column = find("question");
      columns = fields.size();
      if (fine_column == columns || question_column == columns)
        return bad("no columns fine_label and question");
      table = true;
      continue;
    }
    if (base::trim(line).empty()) continue;
    TypedQuestion question;
    if (table) {
      if (fields.size() != columns) {
        return bad(std::to_string(fields.size()) + " columns where the first line names " +
                   std::to_string(columns));
      }
      question = {std::string(base::trim(fields[question_column])), std::string(fields[fine_column])};
    } else {
      const std::size_t blank = std::min(line.find(' '), line.size());
      question = {std::string(base::trim(line.substr(blank))), std::string(line.substr(0, blank))};
    }
    if (!is_label(question.fine)) return bad("no label like HUM:ind");
    if (question.question.empty()) return bad("an empty question");
    questions.push_back(std::move(question));
  }
  if (questions.empty()) return base::fail(ErrorCode::bad_input, input->name() + ": no questions in it");
  return questions;
}

}  // namespace askbase::datasets
