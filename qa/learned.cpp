#include "qa/learned.h"

#include <algorithm>
#include <string>

#include "qa/path_text.h"

namespace askbase::qa {
namespace {

// Parts of Freebase and Wikidata have above 0.8; KBs of their own words, which chance to call things like
// those, below 0.6.
constexpr double familiar_share = 0.7;

// Labels, aliases and wordings in the language, labels first; those without a
// language serve for all. Where there are none, whatever the predicate is
// called.
std::vector<std::string> texts_of(const Predicate& predicate, std::string_view language) {
  std::vector<std::string> mine, other;
  for (const RelationText& text : predicate.texts) {
    if (text.origin == RelationText::Origin::identifier) continue;
    const bool fits = text.lang.empty() || std::string_view(text.lang).substr(0, 2) == language;
    (fits ? mine : other).push_back(text.text);
  }
  return mine.empty() ? other : mine;
}

// A Freebase name stands at the end of an IRI as a whole.
std::string identifier_of(const Predicate& predicate) {
  const std::size_t end = predicate.iri.find_last_of("/#:");
  std::string local = end == std::string::npos ? predicate.iri : predicate.iri.substr(end + 1);
  return is_freebase_name(local) ? local : predicate.iri;
}

std::string object_of(const Lexicon& lexicon, const Predicate& predicate, std::string_view language) {
  if (predicate.kind != ValueKind::entity) return std::string(value_kind_name(predicate.kind));
  if (predicate.object_classes.empty()) return {};
  const auto most =
      std::max_element(predicate.object_classes.begin(), predicate.object_classes.end(),
                       [](const ClassShare& a, const ClassShare& b) { return a.share < b.share; });
  const std::optional<std::size_t> index = lexicon.class_index(most->id);
  if (!index) return {};
  for (const RelationText& text : lexicon.classes()[*index].texts) {
    if (text.lang.empty() || std::string_view(text.lang).substr(0, 2) == language) return text.text;
  }
  return {};
}

}  // namespace

RelationStep relation_step(const Predicate& predicate, std::string_view language) {
  return {.identifier = identifier_of(predicate), .texts = texts_of(predicate, language)};
}

RelationCodes encode_relations(const Lexicon& lexicon, const LanguageModels& models,
                               base::Language language) {
  RelationCodes codes;
  const std::string_view tag = base::language_code(language);
  std::vector<MatchPath> paths;
  std::size_t known = 0;
  if (!models.matcher && !models.memory) return codes;
  for (const Predicate& predicate : lexicon.predicates()) {
    RelationStep step = relation_step(predicate, tag);
    if (models.memory) {
      const MemoryPredicate key = memory_predicate(step.identifier, step.texts);
      for (const bool inverse : {false, true}) {
        const MemoryStep way{.predicate = &key, .inverse = inverse};
        codes.keys.push_back(models.memory->encode({&way, 1}));
      }
    }
    if (!models.matcher) continue;
    codes.steps.push_back(step);
    for (const bool inverse : {false, true}) {
      step.inverse = inverse;
      MatchPath path;
      path.texts = path_texts({&step, 1});
      if (!inverse && models.matcher->knows(path)) ++known;
      if (!inverse) path.answer_type = path_words(object_of(lexicon, predicate, tag));
      paths.push_back(std::move(path));
    }
  }
  const auto all = static_cast<double>(lexicon.predicates().size());
  codes.familiar = known > 0 && static_cast<double>(known) >= familiar_share * all;
  if (models.matcher) codes.paths = models.matcher->encode(paths);
  return codes;
}

}  // namespace askbase::qa
