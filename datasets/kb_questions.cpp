#include "datasets/kb_questions.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "base/input.h"
#include "base/json.h"
#include "base/language.h"
#include "base/text.h"
#include "datasets/json_members.h"
#include "datasets/text_lines.h"

namespace askbase::datasets {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;

const char* const question_hint =
    R"(a question is one JSON object a line: {"id", "question", "topic": [...], "path": [...], "answers": [...]})";

// Strings; numbers and booleans by their spelling.
base::Status read_list(const Json& object, const char* key, std::vector<std::string>& out) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_array()) return fail(ErrorCode::bad_input, std::string("\"") + key + "\" is not an array");
  for (const Json& member : *found) {
    if (member.is_string()) {
      out.push_back(member.get<std::string>());
    } else if (member.is_number() || member.is_boolean()) {
      out.push_back(base::dump_json(member));
    } else {
      return fail(ErrorCode::bad_input, std::string("a member of \"") + key + "\" is not a string");
    }
  }
  return {};
}

// Line numbers from 1, separated by spaces, as indices from 0; nothing when one is no line of the list.
bool read_numbers(std::string_view text, std::size_t relations, std::vector<std::uint32_t>& out) {
  for (const std::string_view word : base::split(text, ' ')) {
    if (word.empty()) continue;
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number == 0 || number > relations)
      return false;
    out.push_back(number - 1);
  }
  return !out.empty();
}

}  // namespace

std::string path_step_text(const PathStep& step) { return (step.inverse ? "^" : "") + step.relation; }

base::Result<KbQuestion> parse_kb_question(std::string_view line) {
  ASKBASE_ASSIGN(const Json object, base::parse_json(line));
  if (!object.is_object()) return fail(ErrorCode::bad_input, "not a JSON object");
  KbQuestion out;
  for (const auto& [key, member] :
       {std::pair{"id", &KbQuestion::id}, std::pair{"split", &KbQuestion::split},
        std::pair{"lang", &KbQuestion::lang}, std::pair{"question", &KbQuestion::question},
        std::pair{"mention", &KbQuestion::mention}, std::pair{"qtype", &KbQuestion::type}}) {
    ASKBASE_TRY(read_optional_text(object, key, out.*member));
  }
  if (base::trim(out.question).empty()) return fail(ErrorCode::bad_input, "no \"question\"");
  ASKBASE_TRY(read_list(object, "topic", out.topics));
  ASKBASE_TRY(read_list(object, "topic_names", out.topic_names));
  ASKBASE_TRY(read_list(object, "answers", out.answers));
  std::vector<std::string> path;
  ASKBASE_TRY(read_list(object, "path", path));
  for (std::string& relation : path) {
    const bool inverse = !relation.empty() && relation.front() == '^';
    if (inverse) relation.erase(0, 1);
    if (relation.empty()) return fail(ErrorCode::bad_input, "an empty relation in \"path\"");
    out.path.push_back({std::move(relation), inverse});
  }
  if (out.lang.empty()) out.lang = base::language_code(base::detect_language(out.question));
  return out;
}

base::Result<std::vector<KbQuestion>> read_kb_questions(const std::vector<std::filesystem::path>& paths) {
  std::vector<KbQuestion> questions;
  std::unordered_set<std::string> ids;
  for (const std::filesystem::path& path : paths) {
    ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
    const std::size_t before = questions.size();
    std::string_view line;
    for (;;) {
      ASKBASE_ASSIGN(const bool more, lines.next(line));
      if (!more) break;
      if (base::trim(line).empty()) continue;
      auto question = parse_kb_question(line);
      if (!question) return lines.bad(question.error().message, question_hint);
      if (question->id.empty()) question->id = lines.place();
      if (!ids.insert(question->id).second) {
        return lines.bad("the id \"" + question->id + "\" comes twice",
                         "give every question an id of its own");
      }
      questions.push_back(std::move(*question));
    }
    if (questions.size() == before) {
      return fail(ErrorCode::bad_input, path.string() + ": no questions", question_hint);
    }
  }
  return questions;
}

base::Status read_named_facts(const std::filesystem::path& path,
                              const std::function<bool(const NamedFact&)>& sink, bool skip_incomplete) {
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    if (line.empty()) continue;
    const auto fields = base::split(line, '\t');
    const bool incomplete =
        std::any_of(fields.begin(), fields.end(), [](auto field) { return field.empty(); });
    if (fields.size() == 3 && incomplete && skip_incomplete) continue;
    if (fields.size() != 3 || incomplete) {
      return lines.bad("not three fields", "a fact is a line: subject TAB relation TAB object");
    }
    if (!sink({std::string(fields[0]), std::string(fields[1]), std::string(fields[2])})) return {};
  }
}

base::Status read_entity_names(const std::filesystem::path& path,
                               const std::function<bool(const EntityName&)>& sink) {
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    if (line.empty()) continue;
    const auto fields = base::split(line, '\t');
    if (fields.size() < 4 || fields[0].empty() || fields[2].empty()) {
      return lines.bad("not four fields", "a name is a line: id TAB language TAB name TAB kind");
    }
    const std::string_view sources = fields.size() > 4 ? fields[4] : std::string_view();
    if (!sink({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), std::string(fields[3]),
               std::string(sources)}))
      return {};
  }
}

base::Result<RelationPools> read_relation_pools(const std::filesystem::path& relations,
                                                const std::filesystem::path& questions) {
  RelationPools out;
  std::string_view line;
  ASKBASE_ASSIGN(TextLines names, TextLines::open(relations));
  for (;;) {
    ASKBASE_ASSIGN(const bool more, names.next(line));
    if (!more) break;
    out.relations.emplace_back(base::trim(line));
  }
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(questions));
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (base::trim(line).empty()) continue;
    const auto fields = base::split(line, '\t');
    RelationPoolQuestion question;
    if (fields.size() != 3 || !read_numbers(fields[0], out.relations.size(), question.gold)) {
      return lines.bad("no gold relation of the list",
                       "a line is: gold TAB pool TAB question, with line numbers");
    }
    // Some copies leave the gold relations out of the pool, and write this where nothing else is in it.
    if (fields[1] != "noNegativeAnswer" && !read_numbers(fields[1], out.relations.size(), question.pool)) {
      return lines.bad("no pool of relations of the list",
                       "a line is: gold TAB pool TAB question, with line numbers");
    }
    for (const std::uint32_t gold : question.gold) {
      if (std::find(question.pool.begin(), question.pool.end(), gold) == question.pool.end())
        question.pool.push_back(gold);
    }
    question.question = fields[2];
    out.questions.push_back(std::move(question));
  }
  if (out.questions.empty()) return fail(ErrorCode::bad_input, questions.string() + ": no questions");
  return out;
}

}  // namespace askbase::datasets
