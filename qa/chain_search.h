// Paths of several relations that lead from an entity, found by a beam: at each step the best paths so far
// are made longer by every relation, forwards and backwards, that the entities they reach really have, and
// scored anew. The work is bounded by ChainLimits, whatever the knowledge base looks like.
//
// All functions are thread-safe. Errors: corrupt, io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "kb/store.h"
#include "qa/analysis.h"
#include "qa/lexicon.h"

namespace askbase::qa {

struct ChainStep {
  std::size_t predicate = 0;  // index into Lexicon::predicates()
  bool inverse = false;       // followed from object to subject
  auto operator<=>(const ChainStep&) const = default;
};
using Chain = std::vector<ChainStep>;

struct ChainLimits {
  std::size_t steps = 3;
  std::size_t beam = 8;       // paths that are made longer at each step
  std::size_t paths = 96;     // paths that are scored at each step
  std::size_t entities = 32;  // of those that a path reaches, how many are looked at
  std::size_t facts = 1024;   // read of these together, in each direction
  std::size_t likely = 32;    // relations asked for by name where an entity has more facts than are read
};

// One more relation, and where it leads: each entity or value once, at most ChainLimits::entities.
struct ReachedBy {
  ChainStep step;
  std::vector<kb::TermId> ends;
};

// Every relation of these entities, in order of step. An entity with more facts than may be read is asked for
// the `likely` ones by name, so that a common relation hides no other.
base::Result<std::vector<ReachedBy>> expand(const kb::View& view, const Lexicon& lexicon,
                                            std::span<const kb::TermId> from, const ChainLimits& limits,
                                            std::span<const ChainStep> likely);

struct FoundChain {
  Chain chain;
  std::vector<kb::TermId> ends;  // at most ChainLimits::entities, the start itself behind the others
  float score = 0;
};
// Scores of paths, as many.
using ChainScorer = std::function<void(std::span<const Chain> chains, std::span<float> scores)>;

// Every path that was scored, of one step and more, best first. alone: how likely each relation is by itself,
// at 2 * predicate + inverse; it decides which paths are scored where there are too many. Ends early, with
// what it has, when the deadline has passed.
base::Result<std::vector<FoundChain>> search_chains(const kb::View& view, const Lexicon& lexicon,
                                                    kb::TermId start, std::span<const float> alone,
                                                    const ChainLimits& limits, const ChainScorer& scorer,
                                                    const Deadline& deadline);

struct Followed {
  std::vector<kb::TermId> answers;  // each once, the start itself behind the others
  // The facts of a walk to the first answer, in order, then those of walks to the next ones.
  std::vector<kb::Triple> facts;
  std::uint64_t fact_count = 0;  // on some walk to an answer
  bool cut = false;              // there may be more answers
};
// Follows the path to its end. At each step at most `most` facts are read; `most_facts` of them are kept.
base::Result<Followed> follow_chain(const kb::View& view, const Lexicon& lexicon, kb::TermId start,
                                    const Chain& chain, std::size_t most, std::size_t most_facts,
                                    const Deadline& deadline);

}  // namespace askbase::qa
