#include <algorithm>
#include <chrono>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "kb/entity_index.h"
#include "web/api.h"

namespace askbase::web {
namespace {

using base::Json;

constexpr std::size_t max_code_points = 200;
constexpr std::size_t examples_kept = 60;
constexpr std::size_t max_starts = 12;  // places of the question where a name may begin
constexpr std::size_t names_looked_at = 24;
constexpr std::chrono::milliseconds question_patience{100}, patience{150};

struct Suggestion {
  std::string text, kind;  // kind: "question", "entity"
  std::string id;          // of the entity that completes it
};

// Byte offsets where the name that is being typed may begin, the earliest first: words, and in Chinese every
// character, of the last stretch of the text.
std::vector<std::size_t> name_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  const std::u32string points = base::to_code_points(text);
  const base::OffsetMap offsets(text);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool after_gap =
        i == 0 || points[i - 1] == U' ' || base::is_han(points[i]) || base::is_han(points[i - 1]);
    if (after_gap && points[i] != U' ') starts.push_back(offsets.byte(i));
  }
  if (starts.size() > max_starts) starts.erase(starts.begin(), starts.end() - max_starts);
  return starts;
}

// Completes the end of the text with names of entities: "capital of Fra" -> "capital of France". The longest
// end that begins a name counts; one letter is no beginning, one Chinese character is. Labels come before
// aliases, which are often codes and abbreviations.
base::Result<std::vector<Suggestion>> complete(const kb::View& view, std::string_view text,
                                               std::string_view lang) {
  std::vector<Suggestion> labels, aliases;
  for (const std::size_t start : name_starts(text)) {
    const std::string_view end = text.substr(start);
    const std::string key = base::match_key(end);
    if (base::count_code_points(key) < 2 && !base::contains_han(key)) continue;
    ASKBASE_ASSIGN(const bool begins, kb::has_prefix(view, key));
    if (!begins) continue;
    ASKBASE_ASSIGN(const auto matches, kb::search(view, end, lang, names_looked_at));
    for (const kb::EntityMatch& match : matches) {
      if (!base::match_key(match.name.text).starts_with(key)) continue;
      ASKBASE_ASSIGN(const kb::Term term, view.term(match.entity));
      if (term.kind != kb::TermKind::iri) continue;
      auto& list = match.name.kind == kb::NameKind::label ? labels : aliases;
      list.push_back({std::string(text.substr(0, start)) + match.name.text,
                      start == 0 ? "entity" : "question", term.value});
    }
    if (!labels.empty() || !aliases.empty()) break;
  }
  std::move(aliases.begin(), aliases.end(), std::back_inserter(labels));
  return labels;
}

// Only a question that has an answer is worth suggesting. Asks the engine, for a moment at most.
bool can_be_answered(const qa::Engine& engine, const Suggestion& suggestion, base::Language lang) {
  qa::Request request;
  request.question = suggestion.text;
  request.lang = lang;
  request.top = 1;
  request.timeout = question_patience;
  const auto response = engine.ask(request);
  return response && !response->answers.empty();
}

base::Result<std::vector<Suggestion>> suggestions(const ApiContext& context, std::string_view text,
                                                  base::Language lang, std::size_t limit) {
  std::vector<Suggestion> all;
  ASKBASE_ASSIGN(const auto examples, context.examples.get(context.engine, lang));
  const std::string key = base::match_key(text);
  for (const std::string& example : examples) {
    if (base::match_key(example).starts_with(key)) all.push_back({example, "question", {}});
  }
  const bool complete_question = text.ends_with("?") || text.ends_with("？");
  if (!key.empty() && !complete_question) {
    ASKBASE_ASSIGN(const auto names, complete(*context.engine.view(), text, base::language_code(lang)));
    const auto end = std::chrono::steady_clock::now() + patience;
    for (const Suggestion& name : names) {
      if (all.size() >= limit || std::chrono::steady_clock::now() > end) break;
      if (name.kind == "entity" || can_be_answered(context.engine, name, lang)) all.push_back(name);
    }
  }
  std::set<std::string> seen;
  std::erase_if(all, [&](const Suggestion& one) { return !seen.insert(one.text).second; });
  if (all.size() > limit) all.resize(limit);
  return all;
}

}  // namespace

base::Result<std::vector<std::string>> ExampleQuestions::get(const qa::Engine& engine, base::Language lang) {
  const std::uint64_t version = engine.view()->version();
  {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(lang);
    if (known != entries_.end() && known->second.version == version) return known->second.questions;
  }
  ASKBASE_ASSIGN(auto questions, engine.example_questions(lang, examples_kept));
  const std::lock_guard lock(mutex_);
  entries_[lang] = {version, questions};
  return questions;
}

ApiResult suggest(const ApiContext& context, const Query& query) {
  if (auto allowed = query.allow({"q", "lang", "limit"}); !allowed) return tl::unexpected(allowed.error());
  auto lang = parse_language("lang", query.get("lang"));
  if (!lang) return tl::unexpected(lang.error());
  const auto limit = query.number("limit", 8, 1, 50);
  if (!limit) return tl::unexpected(limit.error());
  std::string_view text = query.get("q");
  if (auto length = check_length("q", text, max_code_points); !length) return tl::unexpected(length.error());
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (*lang == base::Language::unknown) *lang = base::detect_language(text);
  if (*lang == base::Language::unknown) *lang = base::Language::english;

  auto found = suggestions(context, text, *lang, static_cast<std::size_t>(*limit));
  if (!found) return tl::unexpected(problem_of(found.error()));
  Json list = Json::array();
  for (Suggestion& one : *found) {
    Json json = {{"text", std::move(one.text)}, {"kind", std::move(one.kind)}};
    if (!one.id.empty()) json["id"] = std::move(one.id);
    list.push_back(std::move(json));
  }
  return base::dump_json(
      {{"query", std::string(text)}, {"lang", base::language_code(*lang)}, {"suggestions", std::move(list)}});
}

}  // namespace askbase::web
