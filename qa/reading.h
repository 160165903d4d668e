// Readings: what a question may mean. A reading joins a name, a predicate, a direction and perhaps a class,
// and carries the facts that then answer. Readings are made by the ReadingBuilder and judged by judge().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kb/store.h"
#include "qa/analysis.h"
#include "qa/chain_search.h"
#include "qa/learned.h"
#include "qa/lexicon.h"
#include "qa/linker.h"
#include "qa/ranker.h"
#include "qa/relation.h"

namespace askbase::qa {

enum class Shape : std::uint8_t {
  forward,     // (entity, predicate, ?)
  inverse,     // (?, predicate, entity or value)
  members,     // (?, type, class)
  flagged,     // (?, predicate, true) of a class: "which countries are landlocked"
  check,       // (entity, predicate, entity or value)?
  check_flag,  // (entity, predicate, true)?
  check_kind,  // (entity, type, class)?
  definition,  // what is this entity
  chain,       // (entity, path of several predicates, ?): "the capital of the country of Lyon"
  identity,    // the entity itself, asked for by a code or another name: "which element is Bh"
};
std::string_view shape_name(Shape shape);

struct Reading {
  Shape shape = Shape::forward;
  const Mention* mention = nullptr;      // null for members and flagged
  const Candidate* candidate = nullptr;  // null when the mention is a value
  kb::TermId entity;                     // the candidate's, or the value
  const Mention* second = nullptr;       // of a check
  const Candidate* second_candidate = nullptr;
  kb::TermId second_entity;
  std::optional<std::size_t> predicate;  // index into the lexicon; of a chain its last step's
  Chain chain;                           // all steps of a chain
  std::optional<std::size_t> of_class;   // the class asked for, index into the lexicon
  RelationMatch match;
  Mask names;  // units that the names take
  Mask explained_by_class;
  std::vector<kb::TermId> answers;  // entities or values; empty for checks
  std::vector<kb::Triple> facts;    // the first ones that support the answer
  std::uint64_t fact_count = 0;
  bool truth = false;     // of a check
  bool inferred = false;  // no word of the question names the predicate
  bool count = false;     // the number of answers is asked for
  Features features{};
  double score = 0;  // log-odds that it is right
  double confidence = 0;
  // Whether the answers are the predicate's objects, not its subjects.
  bool asks_objects() const {
    return shape == Shape::forward || (shape == Shape::chain && !chain.back().inverse);
  }
  bool missing() const { return features[static_cast<std::size_t>(Feature::missing)] > 0; }
};

inline float& feature(Reading& reading, Feature which) {
  return reading.features[static_cast<std::size_t>(which)];
}
inline float feature(const Reading& reading, Feature which) {
  return reading.features[static_cast<std::size_t>(which)];
}

// The question with all that was found in it, shared by the stages of one ask.
struct Context {
  const kb::View& view;
  const Lexicon& lexicon;
  const Question& question;
  const Frame& frame;
  const Links& links;
  const std::vector<ClassMention>& classes;
  const RelationMatcher& relations;
  const Deadline& deadline;
  const RankWeights& weights = lexical_weights();
  // Of the question's language; both null without learned parts.
  const LanguageModels* models = nullptr;
  const RelationCodes* codes = nullptr;
  bool chains = true;  // paths of several relations are read, too
};

inline constexpr std::size_t max_evidence = 20;
inline constexpr std::size_t max_answers = 20000;  // of one reading

class ReadingBuilder {
 public:
  explicit ReadingBuilder(const Context& context);
  // All readings worth judging, unordered. Errors: corrupt, io.
  base::Result<std::vector<Reading>> build();

 private:
  using Facts = std::vector<kb::Triple>;
  struct InverseCount;

  base::Status build_from(const Mention& mention);
  base::Status build_from_entity(const Mention& mention, const Candidate& candidate,
                                 const std::vector<RelationMatch>& matches, const Mask& names);
  // Of the entity's own predicates those that a learned matcher finds likely and that are not among the
  // matches.
  std::vector<RelationMatch> own_matches(const std::vector<RelationMatch>& matches, const Facts& facts,
                                         const Mask& names) const;
  // Other names of the question that only say more of the candidate: "Paris, France", or that are the choices
  // offered: "solid, liquid or gas". Their units count as taken.
  base::Result<Mask> with_qualifiers(const Mention& mention, const Candidate& candidate, const Mask& names);
  base::Status build_identity(const Mention& mention, const Candidate& candidate, const Mask& names);
  base::Status build_from_value(const Mention& mention, const std::vector<RelationMatch>& matches,
                                const Mask& names);
  base::Status build_definition(const Mention& mention, const Candidate& candidate, const Mask& names);
  base::Status build_checks();
  void drop_refuted_checks();
  base::Status build_pair(const Mention& a, const Mention& b);
  base::Status build_pair_check(const Mention& a, const Candidate& first, const Mention& b,
                                const Candidate* second, kb::TermId object,
                                const std::vector<RelationMatch>& matches, const Mask& names);
  base::Status build_kind_checks(const Mention& mention, const Candidate& candidate, const Mask& names);
  base::Status build_class_readings();
  // Readings of several steps, where a matcher is there; see reading_chain.cpp.
  base::Status build_chains();
  base::Status build_learned_chains(const Mention& mention, const Candidate& candidate,
                                    std::size_t most_paths);
  base::Status build_spoken_chains(const Mention& mention, const Candidate& candidate);
  base::Result<Reading> chain_reading(const Mention& mention, const Candidate& candidate, const Chain& chain,
                                      const std::vector<const RelationMatch*>& said);
  void apply_class_to_chain(Reading& reading) const;

  // Facts with the entity as subject, by predicate of the lexicon.
  base::Result<const Facts*> facts_of(kb::TermId entity);
  static Facts with_predicate(const Facts& facts, kb::TermId predicate);
  base::Result<Facts> inverse_facts(std::size_t predicate, kb::TermId object);
  // Keeps the answers of the class asked for; sets of_class.
  base::Status apply_class(Reading& reading);
  base::Result<bool> is_of_class(kb::TermId entity, const std::vector<std::size_t>& classes);
  bool is_head(const ClassMention& mention) const;
  // The noun that the question word asks for, and not a part of it ("country" of "country code").
  bool is_final_head(const ClassMention& mention) const;
  Reading start(Shape shape, const Mention* mention, const Candidate* candidate, const Mask& names) const;
  void set_forward(Reading& reading, const Facts& facts) const;
  void set_inverse(Reading& reading, const Facts& facts) const;
  static RelationMatch no_match(std::size_t predicate, std::size_t units);
  Mask mask_of(const Mention& a, const Mention* b = nullptr) const;

  const Context& context_;
  std::unordered_map<std::uint64_t, Facts> facts_;
  std::unordered_map<std::uint64_t, bool> of_class_;  // entity and class index mixed
  std::vector<Reading> readings_;
};

// The features of the learned parts, for all readings of a question. Part of judge().
void set_learned_features(const Context& context, std::vector<Reading>& readings);
// Fills features, score and confidence, and puts the best first.
void judge(const Context& context, std::vector<Reading>& readings);
// The confidence of the best reading once its rivals are known: another answer that is nearly as good takes
// from it.
double calibrated(const Context& context, const Reading& best, double rival_score);

}  // namespace askbase::qa
