// Trains the memory network of qa/fact_memory.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/parameters.h"
#include "nn/team.h"
#include "qa/fact_memory.h"

namespace askbase::qa {

// An entity that a question may be about. paths: 2 p for predicate p from subject to object, 2 p + 1 back;
// what it has facts of, each once.
struct MemoryCandidate {
  std::string name;
  std::uint32_t facts = 0;
  std::vector<std::uint32_t> paths;
};

struct MemoryExample {
  std::string question;
  MemoryMention mention;
  std::vector<MemoryCandidate> candidates;  // the right one first
  std::uint32_t path = 0;                   // the right one of the first candidate
};

struct MemoryData {
  std::vector<MemoryPredicate> predicates;
  // Where the predicates of each knowledge base begin; empty: all are of one. Those of different ones do not
  // compete: two of them may mean the same.
  std::vector<std::uint32_t> first_predicates;
  std::vector<MemoryExample> train, valid;
};

// The paths that `relation` chooses among: every predicate forward, and those that some training example
// follows backwards.
std::vector<std::uint32_t> relations_of(const MemoryData& data);

// Words with vectors to begin with; those without begin at random.
struct MemoryWords {
  std::vector<std::string> words;  // path_words(), each once
  nn::Index dimensions = 0;
  std::vector<float> vectors;  // a row a word; a row of zeros: none is known
};

struct MemoryTraining {
  std::string language = "en";
  std::uint64_t seed = 1;
  std::int64_t epochs = 6;
  nn::Index hops = 2;
  bool episodic = false;
  std::int32_t buckets = 12288;
  double rate = 2e-3;
  double minutes = 0;          // of this call; 0: no limit
  std::size_t negatives = 24;  // relations of the KB beside those of the candidates, for each example
  std::filesystem::path checkpoint = {}, curves = {};
  bool resume = false;
  bool progress = true;
};

// On the validation examples.
struct MemoryFigures {
  double both = 0;      // share with the right candidate and path before all others
  double relation = 0;  // with the right path before all paths of its KB, given the right candidate;
                        // predicates that read the same count as one
  double own = 0;       // with the right path before the right candidate's others
};

struct TrainedMemory {
  nn::Parameters<float> parameters;
  std::string config, vocabulary;
  std::int64_t epochs = 0;
  MemoryFigures valid;
  double seconds = 0;
};

// The same input, options, CPU type and team size give the same model. Errors: those of nn/trainer.h;
// invalid_argument for an example without the right path among those of its first candidate.
base::Result<TrainedMemory> train_memory(const MemoryData& data, const MemoryWords& words,
                                         const MemoryTraining& options, nn::Team& team);

// A model folder with this text as its card: the table of words as int8, everything else as half floats.
base::Status save_memory(const std::filesystem::path& folder, const TrainedMemory& model, std::string card);

// The same figures by a model that was loaded, one value an example: 1 right, 0 wrong.
struct MemoryVerdicts {
  std::vector<double> both, relation, own;
};
MemoryVerdicts judge_memory(const FactMemory& memory, const MemoryData& data,
                            const std::vector<MemoryExample>& examples, nn::Team& team);

}  // namespace askbase::qa
