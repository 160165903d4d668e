#include "cli/baseline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/text.h"
#include "base/tokenize.h"
#include "kb/entity_index.h"
#include "qa/path_text.h"

namespace askbase::cli {

namespace {

constexpr std::size_t longest_name_tokens = 24;

std::string span_text(const std::string& question, const std::vector<base::Token>& tokens, std::size_t begin,
                      std::size_t end) {
  return question.substr(tokens[begin].begin_byte, tokens[end - 1].end_byte - tokens[begin].begin_byte);
}

}  // namespace

base::Result<std::optional<LongestName>> longest_name(const kb::View& view, const std::string& question,
                                                      const std::vector<base::Token>& tokens,
                                                      const std::function<bool(kb::TermId)>& accept) {
  std::optional<LongestName> best;
  for (std::size_t begin = 0; begin < tokens.size(); ++begin) {
    for (std::size_t end = begin + 1; end <= std::min(tokens.size(), begin + longest_name_tokens); ++end) {
      const std::string text = span_text(question, tokens, begin, end);
      const std::string key = base::match_key(text);
      if (key.empty()) continue;
      ASKBASE_ASSIGN(const bool goes_on, kb::has_prefix(view, key));
      if (!goes_on) break;
      const std::size_t length = tokens[end - 1].end - tokens[begin].begin;
      if (best && length <= best->length) continue;
      ASKBASE_ASSIGN(auto matches, kb::find_exact(view, text));
      if (accept) std::erase_if(matches, [&](const kb::EntityMatch& match) { return !accept(match.entity); });
      if (!matches.empty()) best = LongestName{std::move(matches), text, begin, end, length};
    }
  }
  return best;
}

base::Result<datasets::PredictedValue> predicted_value(const kb::View& view, const kb::Term& term,
                                                       const std::string& shown) {
  datasets::PredictedValue value;
  value.texts.push_back(shown);
  if (term.kind == kb::TermKind::literal && term.value != shown && !term.value.empty()) {
    value.texts.push_back(term.value);
  }
  if (term.kind == kb::TermKind::iri && !term.value.empty()) {
    value.id = term.value;
    ASKBASE_ASSIGN(const auto id, view.find(term));
    if (id) {
      ASKBASE_ASSIGN(const auto names, kb::names_of(view, *id));
      for (const kb::EntityName& name : names) value.texts.push_back(name.text);
    }
  }
  return value;
}

std::vector<std::string> words_beside(std::string_view question, std::size_t begin, std::size_t end) {
  const base::OffsetMap places(question);
  std::vector<std::string> words = qa::path_words(question.substr(0, places.byte(begin)));
  for (std::string& word : qa::path_words(question.substr(places.byte(end))))
    words.push_back(std::move(word));
  return words;
}

base::Result<datasets::Prediction> baseline_answer(const kb::View& view, const std::string& question,
                                                   const std::string& lang) {
  datasets::Prediction prediction;
  prediction.reason = "entity_unknown";
  const std::vector<base::Token> tokens = base::tokenize_characters(question);
  ASKBASE_ASSIGN(const std::optional<LongestName> mention, longest_name(view, question, tokens));
  if (!mention) return prediction;

  std::set<std::string> rest;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool inside = i >= mention->begin && i < mention->end;
    if (!inside && !tokens[i].key.empty()) rest.insert(tokens[i].key);
  }
  std::map<kb::TermId, std::vector<kb::TermId>> objects;  // by predicate
  ASKBASE_TRY(view.match({.subject = mention->matches.front().entity, .predicate = {}, .object = {}},
                         [&](const kb::Triple& triple) {
                           objects[triple.predicate].push_back(triple.object);
                           return true;
                         }));
  double best_score = 0;
  const std::vector<kb::TermId>* best = nullptr;
  for (const auto& [predicate, values] : objects) {
    ASKBASE_ASSIGN(const std::string label, kb::display_name(view, predicate, lang));
    std::set<std::string> words;
    for (const base::Token& token : base::tokenize_characters(label)) {
      if (!token.key.empty()) words.insert(token.key);
    }
    if (words.empty()) continue;
    const auto shared = std::count_if(words.begin(), words.end(),
                                      [&](const std::string& word) { return rest.contains(word); });
    const double score = static_cast<double>(shared) / static_cast<double>(words.size());
    if (score > best_score) {
      best_score = score;
      best = &values;
    }
  }
  if (best == nullptr) {
    prediction.reason = "relation_unmatched";
    return prediction;
  }
  std::vector<datasets::PredictedValue> answer;
  for (const kb::TermId object : *best) {
    ASKBASE_ASSIGN(const kb::Term term, view.term(object));
    ASKBASE_ASSIGN(const std::string shown, kb::display_name(view, object, lang));
    ASKBASE_ASSIGN(datasets::PredictedValue value, predicted_value(view, term, shown));
    answer.push_back(std::move(value));
  }
  prediction.answers.push_back(std::move(answer));
  prediction.confidence = best_score;
  prediction.reason.clear();
  return prediction;
}

}  // namespace askbase::cli
