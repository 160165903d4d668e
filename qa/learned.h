// The learned parts of answering from facts, as far as they are there, and what they know of one KB state.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/language.h"
#include "base/result.h"
#include "qa/fact_memory.h"
#include "qa/lexicon.h"
#include "qa/mention_tagger.h"
#include "qa/path_matcher.h"
#include "qa/ranker.h"

namespace askbase::qa {

// Any may be null: what it would say is then left out of the judgement.
struct LanguageModels {
  std::shared_ptr<const MentionTagger> tagger;
  std::shared_ptr<const PathMatcher> matcher;
  std::shared_ptr<const FactMemory> memory;
};

struct LearnedModels {
  LanguageModels english, chinese;
  std::shared_ptr<const Ranker> ranker;  // never null: it weighs what the others say
  const LanguageModels& of(base::Language language) const {
    return language == base::Language::chinese ? chinese : english;
  }
};

// The predicates of one KB state as the models of one language see them. Immutable, thread-safe. Path 2 p
// is predicate p of the lexicon from subject to object, 2 p + 1 from object to subject.
struct RelationCodes {
  EncodedPaths paths;  // empty without a matcher
  std::vector<RelationStep>
      steps;                    // of each predicate, from subject to object: what longer paths are made of
  std::vector<MemoryKey> keys;  // empty without a memory
  // The matcher learned most of the predicates as such, as of a part of Freebase or Wikidata: what it says
  // of this KB is worth more.
  bool familiar = false;
};
inline std::size_t path_of(std::size_t predicate, bool inverse) { return 2 * predicate + (inverse ? 1 : 0); }

// A predicate as text, from subject to object. language: "en" or "zh".
RelationStep relation_step(const Predicate& predicate, std::string_view language);

// Predicates without a text in the language are seen by what they are called in another, or by the end of
// their IRI. Takes some 100 microseconds a predicate.
RelationCodes encode_relations(const Lexicon& lexicon, const LanguageModels& models, base::Language language);

}  // namespace askbase::qa
