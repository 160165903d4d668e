#include "datasets/benchmarks.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/language.h"
#include "base/text.h"
#include "datasets/text_lines.h"

namespace askbase::datasets {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;

constexpr std::string_view freebase = "www.freebase.com/";
constexpr std::string_view bars = " ||| ";

struct FormTraits {
  BenchmarkForm form;
  std::string_view name;
  bool questions, facts;
};
constexpr std::array traits = {
    FormTraits{BenchmarkForm::questions, "questions as JSON lines", true, false},
    FormTraits{BenchmarkForm::facts, "facts in three columns", false, true},
    FormTraits{BenchmarkForm::names, "names of ids", false, false},
    FormTraits{BenchmarkForm::simplequestions, "SimpleQuestions", true, false},
    FormTraits{BenchmarkForm::freebase_facts, "facts of Freebase (FB2M, FB5M)", false, true},
    FormTraits{BenchmarkForm::metaqa, "questions of MetaQA", true, false},
    FormTraits{BenchmarkForm::metaqa_facts, "facts of MetaQA", false, true},
    FormTraits{BenchmarkForm::nlpcc, "questions of NLPCC KBQA", true, false},
    FormTraits{BenchmarkForm::nlpcc_facts, "facts of NLPCC KBQA", false, true},
    FormTraits{BenchmarkForm::webquestions, "WebQuestions", true, false},
    FormTraits{BenchmarkForm::webqsp, "WebQSP", true, false},
};
const FormTraits& traits_of(BenchmarkForm form) {
  return *std::find_if(traits.begin(), traits.end(), [&](const FormTraits& t) { return t.form == form; });
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t end = text.find(at);
    fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end + at.size());
  }
}

bool any_empty(const std::vector<std::string_view>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](std::string_view f) { return f.empty(); });
}

// "Q42", "P19", "R19": a letter of `letters` and digits.
bool is_wikidata(std::string_view id, std::string_view letters) {
  return id.size() > 1 && letters.find(id.front()) != std::string_view::npos &&
         id.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// "www.freebase.com/m/04whkz5" as "m.04whkz5"; empty for anything else.
std::string freebase_name(std::string_view text) {
  if (!text.starts_with(freebase) || text.size() == freebase.size()) return {};
  std::string out(text.substr(freebase.size()));
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

std::string stem_of(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  return name.substr(0, name.find('.', 1));
}

std::string split_of(const std::filesystem::path& path) {
  const std::string name = base::fold_case(path.filename().string());
  for (const char* word : {"train", "valid", "dev", "test"}) {
    if (name.find(word) != std::string::npos) return word;
  }
  return {};
}

// What the questions of a file have in common.
class Maker {
 public:
  explicit Maker(const std::filesystem::path& path) : stem_(stem_of(path)), split_(split_of(path)) {}
  KbQuestion make(std::string_view text, std::string_view lang, std::uint64_t number) const {
    KbQuestion question;
    question.id = stem_ + "-" + std::to_string(number);
    question.split = split_;
    question.lang = lang.empty() ? base::language_code(base::detect_language(text)) : lang;
    question.question = base::trim(text);
    return question;
  }

 private:
  std::string stem_, split_;
};

using Questions = std::vector<KbQuestion>;

base::Result<Questions> read_simplequestions(const std::filesystem::path& path) {
  const std::string hint = "a line is: subject TAB relation TAB object TAB question";
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  const Maker maker(path);
  Questions questions;
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return questions;
    if (base::trim(line).empty()) continue;
    const auto fields = base::split(line, '\t');
    if (fields.size() != 4 || base::trim(fields[3]).empty()) return lines.bad("not four fields", hint);
    KbQuestion question = maker.make(fields[3], "en", lines.number());
    if (is_wikidata(fields[0], "Q") && is_wikidata(fields[1], "PR") && !fields[2].empty()) {
      question.topics = {std::string(fields[0])};
      question.path = {{"P" + std::string(fields[1].substr(1)), fields[1].front() == 'R'}};
      question.answers = {std::string(fields[2])};
    } else {
      const std::string subject = freebase_name(fields[0]), relation = freebase_name(fields[1]),
                        object = freebase_name(fields[2]);
      if (subject.empty() || relation.empty() || object.empty()) {
        return lines.bad("no names of Freebase or Wikidata",
                         "they look like www.freebase.com/m/04whkz5, or Q42 and P19");
      }
      question.topics = {subject};
      question.path = {{relation, false}};
      question.answers = {object};
    }
    questions.push_back(std::move(question));
  }
}

base::Result<Questions> read_metaqa(const std::filesystem::path& path) {
  const std::string hint =
      "a line is: question with the [entity] in brackets "
      "TAB answers, separated by |";
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  const Maker maker(path);
  Questions questions;
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return questions;
    if (base::trim(line).empty()) continue;
    const auto fields = base::split(line, '\t');
    const std::size_t open = fields[0].find('['), close = fields[0].find(']');
    if (fields.size() != 2 || open == std::string_view::npos || close == std::string_view::npos ||
        close < open + 2) {
      return lines.bad("no question with an entity", hint);
    }
    const std::string topic(fields[0].substr(open + 1, close - open - 1));
    std::string text(fields[0]);
    text.erase(close, 1).erase(open, 1);
    KbQuestion question = maker.make(text, "en", lines.number());
    question.topics = question.topic_names = {topic};
    question.mention = topic;
    const auto answers = base::split(fields[1], '|');
    if (any_empty(answers)) return lines.bad("an empty answer", hint);
    question.answers.assign(answers.begin(), answers.end());
    questions.push_back(std::move(question));
  }
}

// "<question id=1>\ttext": the text where the tag is the one named, else
// nothing.
std::optional<std::string_view> tagged(std::string_view line, std::string_view tag) {
  if (!line.starts_with("<" + std::string(tag))) return std::nullopt;
  const std::size_t end = line.find('>');
  if (end == std::string_view::npos) return std::nullopt;
  return base::trim(line.substr(end + 1));
}

base::Result<Questions> read_nlpcc(const std::filesystem::path& path) {
  const std::string hint =
      "a question is: <question id=1> TAB text, <triple "
      "id=1> TAB s ||| p ||| o, <answer id=1> TAB answer";
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  const Maker maker(path);
  Questions questions;
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return questions;
    line = base::trim(line);
    if (line.empty() || line.find_first_not_of('=') == std::string_view::npos) continue;
    if (const auto text = tagged(line, "question")) {
      if (text->empty()) return lines.bad("an empty question", hint);
      questions.push_back(maker.make(*text, "zh", lines.number()));
      continue;
    }
    if (questions.empty()) return lines.bad("no <question id=...> before it", hint);
    KbQuestion& question = questions.back();
    if (const auto triple = tagged(line, "triple")) {
      const auto fields = split(*triple, bars);
      if (fields.size() != 3 || any_empty(fields)) return lines.bad("no triple", hint);
      question.topics = question.topic_names = {std::string(base::trim(fields[0]))};
      question.path = {{std::string(base::trim(fields[1])), false}};
      if (question.answers.empty()) question.answers = {std::string(base::trim(fields[2]))};
    } else if (const auto answer = tagged(line, "answer")) {
      question.answers.clear();
      for (const std::string_view part : split(*answer, bars)) {
        if (!base::trim(part).empty()) question.answers.emplace_back(base::trim(part));
      }
    } else {
      return lines.bad("no question, triple or answer", hint);
    }
  }
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The texts of "(list (description Paris) (description \"Los Angeles\"))".
std::vector<std::string> descriptions(std::string_view list) {
  constexpr std::string_view begin = "(description ";
  std::vector<std::string> out;
  for (std::size_t at = list.find(begin); at != std::string_view::npos; at = list.find(begin, at)) {
    at += begin.size();
    std::string text;
    if (at < list.size() && list[at] == '"') {
      for (++at; at < list.size() && list[at] != '"'; ++at) {
        if (list[at] == '\\' && at + 1 < list.size()) ++at;
        text += list[at];
      }
    } else {
      const std::size_t end = std::min(list.find(')', at), list.size());
      text = list.substr(at, end - at);
      at = end;
    }
    if (!text.empty()) out.push_back(std::move(text));
  }
  return out;
}

base::Result<Json> read_json(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  std::string all;
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    all.append(line).append("\n");
  }
  auto json = base::parse_json(all);
  if (!json) return fail(ErrorCode::bad_input, path.string() + ": " + json.error().message);
  return json;
}

base::Result<Questions> read_webquestions(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const Json json, read_json(path));
  const Maker maker(path);
  Questions questions;
  for (const Json& entry : json) {
    const std::uint64_t number = questions.size() + 1;
    const std::string text = entry.is_object() ? text_of(entry, "utterance") : "";
    if (text.empty()) {
      return fail(ErrorCode::bad_input,
                  path.string() + ": entry " + std::to_string(number) + ": no \"utterance\"",
                  R"(an entry is {"utterance", "url", "targetValue"})");
    }
    questions.push_back(maker.make(text, "en", number));
    questions.back().answers = descriptions(text_of(entry, "targetValue"));
  }
  return questions;
}

// The first parse with answers, and the answers of all of them.
void read_parses(const Json& parses, KbQuestion& question) {
  for (const Json& parse : parses) {
    if (!parse.is_object()) continue;
    const auto answers = parse.find("Answers");
    if (answers == parse.end() || !answers->is_array() || answers->empty()) continue;
    if (question.topics.empty() && !text_of(parse, "TopicEntityMid").empty()) {
      question.topics = {text_of(parse, "TopicEntityMid")};
      question.topic_names = {text_of(parse, "TopicEntityName")};
      question.mention = text_of(parse, "PotentialTopicEntityMention");
      const auto chain = parse.find("InferentialChain");
      if (chain != parse.end() && chain->is_array()) {
        for (const Json& relation : *chain) {
          if (relation.is_string()) question.path.push_back({relation.get<std::string>(), false});
        }
      }
    }
    for (const Json& answer : *answers) {
      std::string id = answer.is_object() ? text_of(answer, "AnswerArgument") : "";
      if (!id.empty() &&
          std::find(question.answers.begin(), question.answers.end(), id) == question.answers.end()) {
        question.answers.push_back(std::move(id));
      }
    }
  }
}

base::Result<Questions> read_webqsp(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const Json json, read_json(path));
  const Maker maker(path);
  Questions questions;
  const auto list = json.find("Questions");
  if (list == json.end() || !list->is_array()) {
    return fail(ErrorCode::bad_input, path.string() + ": no list \"Questions\"");
  }
  for (const Json& entry : *list) {
    const std::uint64_t number = questions.size() + 1;
    const std::string text = entry.is_object() ? text_of(entry, "RawQuestion") : "";
    const auto parses = entry.is_object() ? entry.find("Parses") : entry.end();
    if (text.empty() || parses == entry.end() || !parses->is_array()) {
      return fail(ErrorCode::bad_input, path.string() + ": entry " + std::to_string(number) +
                                            ": no \"RawQuestion\", or no list \"Parses\"");
    }
    KbQuestion question = maker.make(text, "en", number);
    if (const std::string id = text_of(entry, "QuestionId"); !id.empty()) question.id = id;
    read_parses(*parses, question);
    questions.push_back(std::move(question));
  }
  return questions;
}

using FactSink = std::function<bool(const NamedFact&)>;

base::Status read_freebase_facts(const std::filesystem::path& path, const FactSink& sink) {
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    if (base::trim(line).empty()) continue;
    const auto fields = base::split(line, '\t');
    const std::string subject = fields.size() == 3 ? freebase_name(fields[0]) : "",
                      relation = fields.size() == 3 ? freebase_name(fields[1]) : "";
    bool good = !subject.empty() && !relation.empty();
    for (const std::string_view object : good ? base::split(fields[2], ' ') : fields) {
      if (!good || object.empty()) continue;
      const std::string name = freebase_name(object);
      good = !name.empty();
      if (good && !sink({subject, relation, name})) return {};
    }
    if (!good) {
      return lines.bad("no fact of Freebase",
                       "a fact is: www.freebase.com/m/... TAB "
                       "www.freebase.com/... TAB www.freebase.com/m/...");
    }
  }
}

base::Status read_separated_facts(const std::filesystem::path& path, std::string_view separator,
                                  const FactSink& sink) {
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    if (base::trim(line).empty()) continue;
    auto fields = split(line, separator);
    for (std::string_view& field : fields) field = base::trim(field);
    if (fields.size() != 3 || any_empty(fields)) {
      return lines.bad("not three fields", "a fact is: subject" + std::string(separator) + "relation" +
                                               std::string(separator) + "object");
    }
    if (!sink({std::string(fields[0]), std::string(fields[1]), std::string(fields[2])})) return {};
  }
}

// As read_named_facts(), but fields may be empty: published files have such facts.
base::Status read_column_facts(const std::filesystem::path& path, const FactSink& sink) {
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    if (base::trim(line).empty()) continue;
    const auto fields = base::split(line, '\t');
    if (fields.size() != 3) {
      return lines.bad("not three fields", "a fact is a line: subject TAB relation TAB object");
    }
    if (!sink({std::string(fields[0]), std::string(fields[1]), std::string(fields[2])})) return {};
  }
}

base::Result<BenchmarkForm> form_of_line(std::string_view line) {
  if (line.starts_with("[")) {
    return BenchmarkForm::webquestions;
  }
  if (line.starts_with("{")) {
    // A line that is a whole object is one of many; WebQSP is one object over
    // many lines.
    const auto object = base::parse_json(line);
    return object && object->contains("question") ? BenchmarkForm::questions : BenchmarkForm::webqsp;
  }
  if (line.starts_with("<question")) return BenchmarkForm::nlpcc;
  const auto fields = base::split(line, '\t');
  if (fields.size() == 3) {
    return fields[0].starts_with(freebase) ? BenchmarkForm::freebase_facts : BenchmarkForm::facts;
  }
  if (fields.size() == 4 &&
      (fields[0].starts_with(freebase) || (is_wikidata(fields[0], "Q") && is_wikidata(fields[1], "PR")))) {
    return BenchmarkForm::simplequestions;
  }
  if (fields.size() == 4 || fields.size() == 5) return BenchmarkForm::names;
  if (fields.size() == 2 && fields[0].find('[') != std::string_view::npos) return BenchmarkForm::metaqa;
  if (split(line, bars).size() == 3) return BenchmarkForm::nlpcc_facts;
  if (split(line, "|").size() == 3) return BenchmarkForm::metaqa_facts;
  return fail(ErrorCode::bad_input, "a form that is not known");
}

}  // namespace

std::string_view benchmark_form_name(BenchmarkForm form) { return traits_of(form).name; }
bool has_questions(BenchmarkForm form) { return traits_of(form).questions; }
bool has_facts(BenchmarkForm form) { return traits_of(form).facts; }

base::Result<BenchmarkForm> benchmark_form(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(TextLines lines, TextLines::open(path));
  std::string_view line;
  for (;;) {
    ASKBASE_ASSIGN(const bool more, lines.next(line));
    if (!more) return fail(ErrorCode::bad_input, path.string() + ": nothing is in it");
    if (base::trim(line).empty()) continue;
    const auto form = form_of_line(line);
    if (form) return form;
    return lines.bad(form.error().message,
                     "docs/evaluation.md lists the forms of questions, facts "
                     "and names that are read");
  }
}

base::Result<Questions> read_benchmark_questions(const std::filesystem::path& path, BenchmarkForm form) {
  const auto read = [&]() -> base::Result<Questions> {
    switch (form) {
      case BenchmarkForm::questions:
        return read_kb_questions({path});
      case BenchmarkForm::simplequestions:
        return read_simplequestions(path);
      case BenchmarkForm::metaqa:
        return read_metaqa(path);
      case BenchmarkForm::nlpcc:
        return read_nlpcc(path);
      case BenchmarkForm::webquestions:
        return read_webquestions(path);
      case BenchmarkForm::webqsp:
        return read_webqsp(path);
      default:
        throw std::logic_error("read_benchmark_questions: a form without questions");
    }
  };
  ASKBASE_ASSIGN(Questions questions, read());
  if (questions.empty()) return fail(ErrorCode::bad_input, path.string() + ": no questions");
  return questions;
}

base::Status read_benchmark_facts(const std::filesystem::path& path, BenchmarkForm form,
                                  const FactSink& sink) {
  switch (form) {
    case BenchmarkForm::facts:
      return read_column_facts(path, sink);
    case BenchmarkForm::freebase_facts:
      return read_freebase_facts(path, sink);
    case BenchmarkForm::metaqa_facts:
      return read_separated_facts(path, "|", sink);
    case BenchmarkForm::nlpcc_facts:
      return read_separated_facts(path, "|||", sink);
    default:
      throw std::logic_error("read_benchmark_facts: a form without facts");
  }
}

}  // namespace askbase::datasets
