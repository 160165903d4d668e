// Embeddings of a knowledge base: from its facts to vectors and back to its entities.
//
// They are kept in the KB's folder, in embeddings/vectors.safetensors, with the state of the KB that they
// were trained on. Facts that are loaded later do not make them wrong: entities that came since get a vector
// from their facts when they are asked about (warm_start.h), and what has no fact with a known entity has
// none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kb/embedding/neighbours.h"
#include "kb/embedding/vectors.h"
#include "kb/embedding/warm_start.h"
#include "kb/store.h"

namespace askbase::kb::embedding {

std::filesystem::path vectors_file(const std::filesystem::path& kb_folder);
std::filesystem::path checkpoint_file(const std::filesystem::path& kb_folder);

struct KbFactOptions {
  bool literals = false;  // literal objects are entities, too (never those of names and descriptions)
};

// The facts of one state of a KB, in small numbers. Subjects, and objects that are no literals, are entities.
struct KbFacts {
  std::vector<Fact> facts;
  std::vector<TermId> entities, relations;
  std::uint64_t version = 0, kb_facts = 0;
};
// Errors: io, corrupt, cancelled.
base::Result<KbFacts> read_kb_facts(const View& view, const KbFactOptions& options = {});

// The names of a set for these facts: N-Triples spelling. Fills entities, relations, ids, version.
base::Status name_set(const View& view, const KbFacts& facts, EmbeddingSet& set);
// Finds the terms of a set that was imported by name ("http://...", "<http://...>", "_:b"); drops the rows of
// those that the KB does not have. Error invalid_argument when it has none of them.
base::Status bind_names(const View& view, EmbeddingSet& set);

// Thread-safe. Every call with a view may fail with io or corrupt.
class KbEmbeddings {
 public:
  // Errors: not_found (none were trained; the hint says how), corrupt, unsupported, invalid_argument when the
  // vectors are of another KB.
  static base::Result<std::shared_ptr<const KbEmbeddings>> open(const std::filesystem::path& kb_folder,
                                                                const View& view);
  static base::Result<std::shared_ptr<const KbEmbeddings>> make(EmbeddingSet set, const View& view,
                                                                const std::filesystem::path& graph_file = {});

  const EmbeddingSet& set() const { return set_; }
  const Model<float>& model() const { return *model_; }
  TermId entity(std::uint32_t row) const { return TermId{set_.entity_ids[row]}; }
  std::optional<std::uint32_t> row(TermId entity) const;
  std::optional<std::uint32_t> relation_row(TermId relation) const;

  // The entity's padded row, or one made for it from its facts; nothing when it has no fact with an entity
  // that has one.
  base::Result<std::optional<std::vector<float>>> vector(const View& view, TermId entity) const;

  struct Similar {
    TermId entity;
    double similarity = 0;  // cosine
  };
  // Nearest first; nothing when the entity has no vector. Entities without facts in the view are left out.
  base::Result<std::optional<std::vector<Similar>>> similar(const View& view, TermId entity,
                                                            std::size_t count) const;

  // Rows for all entities of the view that have none and can get one, appended to a copy of the set.
  base::Result<EmbeddingSet> extended(const View& view, std::uint64_t* added = nullptr) const;

 private:
  KbEmbeddings() = default;
  base::Result<std::vector<NewFact>> new_facts(const View& view, TermId entity) const;
  const NeighbourIndex& neighbours() const;

  EmbeddingSet set_;
  std::unique_ptr<const Model<float>> model_;
  std::unordered_map<std::uint64_t, std::uint32_t> rows_, relation_rows_;
  std::filesystem::path graph_file_;
  mutable std::once_flag neighbours_made_;
  mutable std::optional<NeighbourIndex> neighbours_;
};

}  // namespace askbase::kb::embedding
