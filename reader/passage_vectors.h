// Sentence vectors of passages, beside the index of words: what a passage means, whatever its words. English
// passages have one; others are found by their words alone.
//
// A vector is kept as 384 (or whatever the model's width) numbers of eight bits and a factor; it records
// which model made it, and counts for nothing with another. Vectors come after the passages: a passage that
// has none yet is found by its words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "kb/store.h"
#include "nn/matrix.h"
#include "reader/passage_index.h"
#include "reader/text_encoder.h"

namespace askbase::reader {

// What makes vectors: texts -> (texts, width), rows of length 1. Thread-safe.
struct SentenceModel {
  std::string hash;  // of the model, hexadecimal; vectors of another hash are not comparable
  std::size_t width = 0;
  std::function<base::Result<nn::Matrix<float>>(std::span<const std::string_view>)> embed;
};
// threads: for many texts at once; a few are embedded by one.
SentenceModel sentence_model(std::shared_ptr<const TextEncoder> encoder, int threads);

// Below this many vectors all are compared; from it on a graph is searched (HNSW, Malkov & Yashunin 2018).
inline constexpr std::size_t compare_all_below = 100'000;

// The vectors that one state of a KB has of one model, in memory (388 bytes each). Immutable and thread-safe.
class PassageVectors {
 public:
  // threads: for building the graph. Errors: corrupt, io, cancelled.
  static base::Result<std::shared_ptr<const PassageVectors>> load(
      const kb::Snapshot& snapshot, const SentenceModel& model, int threads,
      std::size_t exact_below = compare_all_below);
  ~PassageVectors();
  PassageVectors(const PassageVectors&) = delete;
  PassageVectors& operator=(const PassageVectors&) = delete;

  std::size_t size() const;     // passages with a vector
  std::size_t missing() const;  // passages that are yet to be looked at
  bool exact() const;
  const std::string& model() const;
  // Which vectors a KB has of any model: equal marks, equal vectors.
  std::uint64_t mark() const;
  static base::Result<std::uint64_t> mark_of(const kb::Snapshot& snapshot);

  // By the cosine, best first, then by number. The vector has the model's width and length 1.
  std::vector<PassageHit> nearest(std::span<const float> vector, std::size_t most) const;
  // The cosine with one passage's vector; nothing when it has none.
  std::optional<double> similarity(std::span<const float> vector, std::uint32_t passage) const;

 private:
  struct State;
  explicit PassageVectors(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct VectorReport {
  std::uint64_t made = 0;      // vectors
  std::uint64_t passages = 0;  // looked at: the others are not in English
};
// Makes the vectors that passages lack, and writes them, some thousand at a time: what is written stays when
// it is stopped. Other changes of the store are kept away for moments only. stop: asked between batches, with
// error cancelled when it says so. Errors: the model's; locked never (it waits).
base::Result<VectorReport> make_vectors(kb::Store& store, const SentenceModel& model,
                                        const base::Progress::Sink& progress = {},
                                        const std::function<bool()>& stop = {});

}  // namespace askbase::reader
