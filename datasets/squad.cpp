#include "datasets/squad.h"

#include <unordered_set>

#include "base/input.h"
#include "base/json.h"
#include "base/text.h"

namespace askbase::datasets {

namespace {

using base::ErrorCode;
using base::Json;

constexpr std::size_t kChunk = 1 << 20, kMostBytes = 1 << 30;

// The string or the list under a name; null: not there, or something else.
const Json* member(const Json& object, const char* name, Json::value_t type) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() && found->type() == type ? &*found : nullptr;
}

class Reader {
 public:
  Reader(std::string name, SquadSet& set) : name_(std::move(name)), set_(set) {}

  base::Status read(const Json& whole) {
    const Json* data = member(whole, "data", Json::value_t::array);
    if (data == nullptr) return bad("no list \"data\"");
    for (const Json& article : *data) {
      const Json* paragraphs = member(article, "paragraphs", Json::value_t::array);
      if (paragraphs == nullptr) return bad("an article without a list \"paragraphs\"");
      const Json* title = member(article, "title", Json::value_t::string);
      for (const Json& paragraph : *paragraphs) {
        ASKBASE_TRY(read_paragraph(paragraph, title ? title->get<std::string>() : std::string()));
      }
    }
    if (set_.questions.empty()) return bad("no questions in it");
    return {};
  }

 private:
  base::Status bad(const std::string& what) const {
    return base::fail(
        ErrorCode::bad_input, name_ + ": " + what,
        "the form is SQuAD's: data, paragraphs, context, qas, answers with answer_start in code "
        "points");
  }

  base::Status read_paragraph(const Json& paragraph, std::string title) {
    const Json* context = member(paragraph, "context", Json::value_t::string);
    const Json* qas = member(paragraph, "qas", Json::value_t::array);
    if (context == nullptr || qas == nullptr) return bad("a paragraph without \"context\" and \"qas\"");
    set_.contexts.push_back({std::move(title), context->get<std::string>()});
    const std::u32string text = base::to_code_points(set_.contexts.back().text);
    for (const Json& qa : *qas) ASKBASE_TRY(read_question(qa, text));
    return {};
  }

  base::Status read_question(const Json& qa, const std::u32string& context) {
    const Json* id = member(qa, "id", Json::value_t::string);
    const Json* question = member(qa, "question", Json::value_t::string);
    if (id == nullptr || question == nullptr) return bad("a question without \"id\" and \"question\"");
    SquadQuestion read{*id, *question, set_.contexts.size() - 1, {}};
    if (!ids_.insert(read.id).second) return bad("the id " + read.id + " comes twice");
    const Json* impossible = member(qa, "is_impossible", Json::value_t::boolean);
    const bool none = impossible != nullptr && impossible->get<bool>();
    if (const Json* answers = member(qa, "answers", Json::value_t::array); answers != nullptr && !none) {
      for (const Json& answer : *answers) {
        const Json* text = member(answer, "text", Json::value_t::string);
        const auto start = answer.is_object() ? answer.find("answer_start") : answer.end();
        if (text == nullptr || start == answer.end() || !start->is_number_unsigned()) {
          return bad("question " + read.id + ": an answer without \"text\" and \"answer_start\"");
        }
        SquadAnswer span{*text, start->get<std::size_t>(), 0};
        const std::u32string points = base::to_code_points(span.text);
        span.end = span.begin + points.size();
        if (points.empty() || span.begin > context.size() ||
            context.compare(span.begin, points.size(), points) != 0) {
          return bad("question " + read.id + ": \"" + span.text + "\" does not stand in the context at " +
                     std::to_string(span.begin));
        }
        read.answers.push_back(std::move(span));
      }
    }
    if (read.answers.empty() && !none) {
      return bad("question " + read.id + " has no answer, and \"is_impossible\" is not true");
    }
    set_.questions.push_back(std::move(read));
    return {};
  }

  std::string name_;
  SquadSet& set_;
  std::unordered_set<std::string> ids_;
};

}  // namespace

base::Result<SquadSet> read_squad(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const auto input, base::Input::open(path));
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    if (before > kMostBytes) {
      return base::fail(ErrorCode::too_large, path.string() + ": more than 1 GiB",
                        "cut it into several files");
    }
    text.resize(before + kChunk);
    ASKBASE_ASSIGN(const std::size_t got, input->read(text.data() + before, kChunk));
    text.resize(before + got);
    if (got == 0) break;
  }
  auto whole = base::parse_json(text);
  if (!whole) return base::fail(whole.error().code, path.string() + ": " + whole.error().message);
  SquadSet set;
  ASKBASE_TRY(Reader(path.string(), set).read(*whole));
  return set;
}

}  // namespace askbase::datasets
