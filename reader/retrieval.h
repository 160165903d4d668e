// The passages that a question is to be read in: by their words, by their meaning, or both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reader/passage_index.h"
#include "reader/passage_vectors.h"

namespace askbase::reader {

// How the two rankings become one: each passage gets the sum of its two scores, brought to a common scale:
// less the mean, and divided by the standard deviation, of the candidates' scores. Chosen on SQuAD v1.1's
// training articles (docs/benchmarks.md), where it does better than reciprocal ranks.
struct FusionOptions {
  std::size_t candidates = 100;  // of each ranking
  double words_weight = 0.5;     // the other's is 1 less this
};

// A passage with what it scored in each ranking; nothing where a ranking lacks it.
struct RetrievedPassage {
  std::uint32_t passage = 0;
  double score = 0;  // in common; BM25's where there are no vectors
  std::optional<double> words, meaning;
};

// The best passages, best first. vectors and model: null or empty where there are none; the passages are then
// those of BM25, as they are for a query that is not in English, and while more than a twentieth of the
// passages still lack their vectors. Errors: corrupt, io, the model's.
base::Result<std::vector<PassageHit>> retrieve(const PassageIndex& index, const PassageVectors* vectors,
                                               const SentenceModel* model, std::string_view query,
                                               std::size_t most, const FusionOptions& options = {});
// The same, with the scores that were put together.
base::Result<std::vector<RetrievedPassage>> retrieve_scored(const PassageIndex& index,
                                                            const PassageVectors* vectors,
                                                            const SentenceModel* model,
                                                            std::string_view query, std::size_t most,
                                                            const FusionOptions& options = {});

// Two rankings as one, `words` by BM25 and `meaning` by cosine. similarity: the cosine of a passage that
// `meaning` lacks, nothing when it has no vector.
std::vector<PassageHit> fuse(const std::vector<PassageHit>& words, const std::vector<PassageHit>& meaning,
                             const std::function<std::optional<double>(std::uint32_t)>& similarity,
                             std::size_t most, const FusionOptions& options);

}  // namespace askbase::reader
