// What the ranker learns from: the readings that answering finds for questions with a known fact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/memory_data.h"
#include "qa/ranker_training.h"

namespace askbase::cli {

struct RankerDataOptions {
  std::uint64_t seed = 1;
  std::size_t most = 4000;       // questions of a source; drawn by the seed
  double hidden_facts = 0.1;     // share of the questions whose fact is taken away: it is then missing
  double hidden_entities = 0.1;  // share whose entity is taken away: then no reading is right
};

struct RankerQuestions {
  std::vector<qa::RankExample> fit, held_out;  // held_out: a quarter, with nothing taken away
};

struct RankerSource {
  std::size_t questions = 0;  // that were asked
  std::size_t left_out = 0;   // of them those whose topic is not among the candidates
  bool familiar = false;      // Findings::familiar, of most of them
  RankerQuestions english, chinese;
};

// Asks the questions of the splits `valid` and `dev`, or of all where none is called so, with the models of
// the folder. A question without answers has none in the KB: where it states a path its entity lacks that
// fact, otherwise no reading is right. The source's examples weigh as much as those of any other source.
// Errors: those of the store, of the models and of reading questions; not_found without a question.
base::Result<RankerSource> read_ranker_source(const MemorySource& source, const RankerDataOptions& options,
                                              const Globals& globals);

}  // namespace askbase::cli
