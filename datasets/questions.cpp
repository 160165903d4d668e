#include "datasets/questions.h"

#include <memory>
#include <set>
#include <utility>

#include "base/input.h"
#include "base/json.h"
#include "base/language.h"
#include "base/text.h"
#include "datasets/json_members.h"

namespace askbase::datasets {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;

}  // namespace

base::Result<Question> parse_question(std::string_view line) {
  ASKBASE_ASSIGN(const Json object, base::parse_json(line));
  if (!object.is_object()) return fail(ErrorCode::bad_input, "not a JSON object");
  Question question;
  for (const auto& [key, member] :
       {std::pair{"id", &Question::id}, std::pair{"lang", &Question::lang},
        std::pair{"question", &Question::question}, std::pair{"kind", &Question::kind},
        std::pair{"split", &Question::split}, std::pair{"reason", &Question::reason}}) {
    ASKBASE_TRY(read_optional_text(object, key, question.*member));
  }
  if (base::trim(question.question).empty()) return fail(ErrorCode::bad_input, "no \"question\"");
  const auto answers = object.find("answers");
  if (answers == object.end() || !answers->is_array()) {
    return fail(ErrorCode::bad_input, "no array \"answers\" (an empty one says that there is no answer)");
  }
  for (const Json& answer : *answers) {
    if (answer.is_string()) {
      question.answers.push_back(answer.get<std::string>());
    } else if (answer.is_number() || answer.is_boolean()) {
      question.answers.push_back(base::dump_json(answer));
    } else {
      return fail(ErrorCode::bad_input, "an answer is neither a string nor a number nor a boolean");
    }
  }
  if (question.lang.empty()) question.lang = base::language_code(base::detect_language(question.question));
  return question;
}

base::Result<std::vector<Question>> read_questions(const std::vector<std::filesystem::path>& paths,
                                                   const QuestionFilter& filter) {
  std::vector<Question> questions;
  std::set<std::string> ids;
  for (const std::filesystem::path& path : paths) {
    ASKBASE_ASSIGN(const std::unique_ptr<base::Input> input, base::Input::open(path));
    base::LineReader lines(*input);
    std::string_view line;
    while (true) {
      ASKBASE_ASSIGN(const bool more, lines.next(line));
      if (!more) break;
      if (base::trim(line).empty()) continue;
      const std::string place = input->name() + ":" + std::to_string(lines.line_number());
      auto question = parse_question(line);
      if (!question) {
        return fail(
            question.error().code, place + ": " + question.error().message,
            "a question is one JSON object a line: {\"id\", \"lang\", \"question\", \"answers\": [...]}");
      }
      if (question->id.empty()) question->id = place;
      if (!ids.insert(question->id).second) {
        return fail(ErrorCode::bad_input, place + ": the id \"" + question->id + "\" comes twice");
      }
      if (!filter.split.empty() && question->split != filter.split) continue;
      if (!filter.lang.empty() && question->lang != filter.lang) continue;
      if (filter.limit == 0 || questions.size() < filter.limit) questions.push_back(std::move(*question));
    }
  }
  if (questions.empty()) {
    std::string wanted;
    if (!filter.split.empty()) wanted += " of split \"" + filter.split + "\"";
    if (!filter.lang.empty()) wanted += " in language \"" + filter.lang + "\"";
    return fail(ErrorCode::not_found, "no question" + wanted + " in the data");
  }
  return questions;
}

}  // namespace askbase::datasets
