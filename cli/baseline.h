// The simplest system that could answer: what `eval kbqa` prints beside its figures.
//
// The longest name of the KB that stands in the question is the entity, and the predicate of the entity's own
// facts whose label shares most words (in Chinese: characters) with the rest of the question is the relation;
// its objects are the answer. No wording, no index of relations, no confidence. It shares with the engine
// only the KB's name lookup.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tokenize.h"
#include "datasets/judge.h"
#include "kb/entity_index.h"
#include "kb/store.h"

namespace askbase::cli {

// The values that stand for a term among predictions: an entity with all its names, a literal with its form.
base::Result<datasets::PredictedValue> predicted_value(const kb::View& view, const kb::Term& term,
                                                       const std::string& shown);

// The longest span of the question that is a name of the KB, the first of several.
struct LongestName {
  std::vector<kb::EntityMatch> matches;  // best first, at least one
  std::string text;
  std::size_t begin = 0, end = 0;  // tokens of the question
  std::size_t length = 0;          // code points
};
// tokens: base::tokenize_characters(question). accept: the entities that count; null: all. Nothing when no
// span is a name. Errors: corrupt, io.
base::Result<std::optional<LongestName>> longest_name(
    const kb::View& view, const std::string& question, const std::vector<base::Token>& tokens,
    const std::function<bool(kb::TermId)>& accept = nullptr);

// The words (qa::path_words) before and after a name, which stands at these code points, half-open: what
// naive Bayes tells a relation by.
std::vector<std::string> words_beside(std::string_view question, std::size_t begin, std::size_t end);

// Thread-safe. An empty prediction is a declined question.
base::Result<datasets::Prediction> baseline_answer(const kb::View& view, const std::string& question,
                                                   const std::string& lang);

}  // namespace askbase::cli
