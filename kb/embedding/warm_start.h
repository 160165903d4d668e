// A vector for an entity that came after the training, from its facts with entities that have one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kb/embedding/facts.h"
#include "kb/embedding/vectors.h"

namespace askbase::kb::embedding {

// A fact of the new entity: which end it stands at, and the row of the other end.
struct NewFact {
  Side missing = Side::head;  // the end where the new entity stands
  std::uint32_t other = 0, relation = 0;
};

// A padded row. It begins where the facts say it should be (the mean of their queries) and is then moved by
// gradient steps such that the facts score above others; nothing else moves. At most 64 facts are looked at.
// A function of its arguments. Nothing when there is no fact. Thread-safe.
std::optional<std::vector<float>> warm_start(const Model<float>& model, const EmbeddingSet& set,
                                             std::span<const NewFact> facts);

}  // namespace askbase::kb::embedding
