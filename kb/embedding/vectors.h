// Trained vectors with the names of what they stand for, and the files that hold them.
//
// The file is in the safetensors format (nn/safetensors.h), written whole or not at all:
//   entities        F32 (N, n)   rows without padding; complex rows are real parts, then imaginary parts
//   relations       F32 (R, m)   TransH: d, w; TransR: r, then M by rows; inverse relations follow all others
//   entity_names    U8           UTF-8, each ended by NUL: as in N-Triples for a KB, as written for a dataset
//   relation_names  U8
//   entity_ids, relation_ids  I64   ids of the KB's terms; only for vectors of a KB
//   metadata        "format" = "askbase-embeddings 1", "model", "dim", "relation_dim", "norm", "reciprocal",
//                   "trained_entities", "kb_version", "kb_facts", and free words of the training
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kb/embedding/model.h"

namespace askbase::kb::embedding {

struct EmbeddingSet {
  ModelConfig model;
  bool reciprocal = false;
  std::vector<std::string> entities, relations;
  Tables<float> tables;  // relations: twice as many rows with reciprocal
  // The first so many entities stood in facts of the training; the others have first vectors.
  std::uint64_t trained_entities = 0;
  // Of a KB, else empty or 0: ids of the terms, and the state that was trained on.
  std::vector<std::uint64_t> entity_ids, relation_ids;
  std::uint64_t kb_version = 0, kb_facts = 0;
  std::vector<std::pair<std::string, std::string>> notes;  // how they were trained: "loss", "seed", ...

  bool of_kb() const { return !entity_ids.empty(); }
};

// Errors: io, bad_input when a number is not finite (a run that diverged is not kept).
base::Status save(const EmbeddingSet& set, const std::filesystem::path& path);
// Errors: not_found, io, corrupt (sizes that disagree, numbers that are not finite), unsupported.
base::Result<EmbeddingSet> load(const std::filesystem::path& path);

// Two .npy files (format 1.0, float32, C order) and two lists of names, one a line: FOLDER/entities.npy,
// relations.npy, entities.tsv, relations.tsv ("row TAB name"). Makes the folder.
base::Status export_npy(const EmbeddingSet& set, const std::filesystem::path& folder);
// FOLDER/entities.tsv and relations.tsv: "name TAB number TAB number ...".
base::Status export_tsv(const EmbeddingSet& set, const std::filesystem::path& folder);

// What an import must be told that its files do not hold.
struct ImportOptions {
  ModelKind kind = ModelKind::transe;
  Norm norm = Norm::l2;
  bool reciprocal = false;
};
// The files of export_npy(), or such as numpy.save writes: float32 or float64, C order, two dimensions.
// Names: entities.tsv or entities.txt, the row's name being the last field; likewise relations. Errors:
// not_found, bad_input (file, reason), unsupported (another dtype or order).
base::Result<EmbeddingSet> import_npy(const std::filesystem::path& folder, const ImportOptions& options);
// An OpenKE folder: entity2id.txt, relation2id.txt and the vectors as OpenKE's export writes them:
// entity2vec.vec, relation2vec.vec (one row a line, tabs or spaces; TransH and TransR: A.vec with the normal
// vectors or matrices), or embedding.vec.json with the parameters of its PyTorch version
// (ent_embeddings.weight, rel_embeddings.weight, norm_vector.weight, transfer_matrix.weight,
// ent_re_embeddings and so on). Errors as above.
base::Result<EmbeddingSet> import_openke(const std::filesystem::path& folder, const ImportOptions& options);

// Error bad_input naming the first row with a number that is not finite.
base::Status check_finite(const EmbeddingSet& set, const std::string& where);

}  // namespace askbase::kb::embedding
