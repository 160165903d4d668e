// Relation matching: how well each predicate's ways of being said fit the words of a question.
//
// RelationScorer is the seam: the lexical scorer below compares stems, characters and concepts; a learned one
// may take its place. Thread-safe; the matcher that prepare() returns belongs to one question and one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "qa/analysis.h"
#include "qa/lexicon.h"

namespace askbase::qa {

struct RelationMatch {
  std::size_t predicate = 0;     // index into Lexicon::predicates()
  std::size_t text = 0;          // its text that fits best
  float text_cover = 0;          // share of that text that the question says, in [0, 1]
  bool exact = false;            // that text is said in full, in its own words
  bool opposite = false;         // the question says the opposite of the predicate's label
  float score = 0;               // for ordering: cover of the question's words and of the text
  std::vector<float> explained;  // for each unit: how well the predicate's texts explain it, in [0, 1]
  // By a learned matcher, from subject to object and from object to subject; see qa/learned_relations.h.
  bool learned = false;
  std::array<float, 2> logit = {}, log_share = {};  // the latter: among all predicates of the KB
};

// The matches of one question.
class RelationMatcher {
 public:
  virtual ~RelationMatcher() = default;
  // Best first, at most limit; words in the mask belong to names and do not count.
  virtual std::vector<RelationMatch> match(const Mask& names, std::size_t limit) const = 0;
  // Of these predicates the likeliest, whether a word names them or not; none where only words tell.
  virtual std::vector<RelationMatch> best_of(const Mask& /*names*/,
                                             std::span<const std::size_t> /*predicates*/,
                                             std::size_t /*limit*/) const {
    return {};
  }
};

class RelationScorer {
 public:
  virtual ~RelationScorer() = default;
  // The question and the lexicon must outlive the matcher.
  virtual std::unique_ptr<RelationMatcher> prepare(const Question& question,
                                                   const Lexicon& lexicon) const = 0;
};

std::unique_ptr<RelationScorer> make_lexical_relation_scorer();

}  // namespace askbase::qa
