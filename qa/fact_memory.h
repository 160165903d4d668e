// Retrieval from a memory of facts: which facts around the candidates does a question ask for? A key-value
// memory network (Miller et al. 2016, "Key-Value Memory Networks for Directly Reading Documents"; for simple
// questions Bordes et al. 2015) with one to three hops of attention (Sukhbaatar et al. 2015), the question's
// state between hops changed by a linear map, or by a gated unit (the episodic memory of Kumar et al. 2016).
//
//   ASKBASE_ASSIGN(const auto memory, FactMemory::load("models/en-memory"));
//   // Once a state of the KB, for each predicate and direction:
//   const MemoryKey key = memory->encode({{.predicate = &predicate, .inverse = false}});
//   // Once a question: the mentions that it may be about, and a slot for each candidate, predicate,
//   direction. const MemoryReading reading = memory->read("who wrote hamlet", {{{10, 16}}}, slots);
//   reading.attention[i];   // of slot i
//
// A slot stands for all facts of one entity, predicate and direction, so that an entity with 500,000 facts
// costs as many slots as it has predicates. Reading costs about 100 multiplications a slot and hop.
//
// Predicates enter as text, so those of a KB that the network never saw are scored, too. One model reads one
// language. Immutable after loading; any number of threads may share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace askbase::qa {

// A predicate as text. UTF-8.
struct MemoryPredicate {
  std::string name;                // its label: "place of birth"
  std::vector<std::string> other;  // further names and wordings: "born in"
  std::string context;             // where it belongs, domain and type: "people person"
  std::string object;              // what its objects are: "city", "date"; may be empty
};
// That of a predicate from its IRI and its names (label first). Names and context that the last part of the
// IRI tells ("people.person.place_of_birth", "placeOfBirth") are added.
MemoryPredicate memory_predicate(std::string_view iri, std::span<const std::string> names,
                                 std::string_view object = {});

struct MemoryStep {
  const MemoryPredicate* predicate = nullptr;
  bool inverse = false;  // followed from object to subject
};

// A path of one to three predicates, encoded. Belongs to the model that made it.
class MemoryKey {
 public:
  MemoryKey() = default;

 private:
  friend class FactMemoryModel;
  std::vector<float> key_, value_;
};

struct MemoryMention {
  std::uint32_t begin = 0, end = 0;  // code points of the question, half-open
};

struct MemorySlot {
  const MemoryKey* key = nullptr;
  std::string_view subject;   // the candidate's name, the one that fits the mention
  std::uint32_t facts = 0;    // how many the candidate has in the KB
  std::uint32_t mention = 0;  // which of the mentions names it
};

struct MemoryReading {
  std::vector<float> scores;     // of each slot; trained so that the right one leads by a margin of 1
  std::vector<float> attention;  // of each slot at the end, over all mentions: the softmax of the scores
  std::vector<std::vector<float>> hops;              // of each hop: its attention to each slot
  std::vector<std::pair<std::string, float>> words;  // of the first mention's question, and their weight
};

class FactMemory {
 public:
  // A model folder of kind "fact-memory". Errors: those of nn/model_folder.h; corrupt for sizes that do not
  // fit.
  static base::Result<std::shared_ptr<const FactMemory>> load(const std::filesystem::path& folder);
  virtual ~FactMemory() = default;

  virtual const std::string& language() const = 0;  // "en", "zh"
  // One to three steps; others are a programmer error.
  virtual MemoryKey encode(std::span<const MemoryStep> path) const = 0;
  // question: valid UTF-8; words beyond the first 80 are not read. A mention outside the question, a slot
  // with no key or of a mention that is not there: programmer errors. Without slots everything but the words
  // is empty.
  virtual MemoryReading read(std::string_view question, std::span<const MemoryMention> mentions,
                             std::span<const MemorySlot> slots) const = 0;
};

}  // namespace askbase::qa
