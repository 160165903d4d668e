#include "reader/retrieval.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/language.h"

namespace askbase::reader {
namespace {

struct Scale {
  double mean = 0, deviation = 1, least = 0;
  double of(double score) const { return (score - mean) / deviation; }
};

Scale scale_of(const std::vector<PassageHit>& hits) {
  Scale scale;
  if (hits.empty()) return scale;
  const auto count = static_cast<double>(hits.size());
  double squares = 0;
  scale.least = hits.front().score;
  for (const PassageHit& hit : hits) {
    scale.mean += hit.score / count;
    scale.least = std::min(scale.least, hit.score);
  }
  for (const PassageHit& hit : hits) squares += (hit.score - scale.mean) * (hit.score - scale.mean);
  scale.deviation = std::max(1e-9, std::sqrt(squares / count));
  return scale;
}

std::vector<RetrievedPassage> fuse_scored(
    const std::vector<PassageHit>& words, const std::vector<PassageHit>& meaning,
    const std::function<std::optional<double>(std::uint32_t)>& similarity, std::size_t most,
    const FusionOptions& options) {
  const Scale by_words = scale_of(words), by_meaning = scale_of(meaning);
  // A passage that a ranking lacks scores there as its last one does: it is no better than that.
  std::map<std::uint32_t, RetrievedPassage> candidates;
  for (const PassageHit& hit : words) candidates[hit.passage].words = hit.score;
  for (const PassageHit& hit : meaning) candidates[hit.passage].meaning = hit.score;
  std::vector<RetrievedPassage> fused;
  for (auto& [passage, scores] : candidates) {
    if (!scores.meaning && similarity) scores.meaning = similarity(passage);
    const double a = by_words.of(scores.words.value_or(by_words.least));
    const double b = by_meaning.of(scores.meaning.value_or(by_meaning.least));
    scores.passage = passage;
    scores.score = options.words_weight * a + (1 - options.words_weight) * b;
    fused.push_back(scores);
  }
  std::sort(fused.begin(), fused.end(), [](const RetrievedPassage& a, const RetrievedPassage& b) {
    return a.score != b.score ? a.score > b.score : a.passage < b.passage;
  });
  fused.resize(std::min(most, fused.size()));
  return fused;
}

std::vector<PassageHit> without_parts(const std::vector<RetrievedPassage>& passages) {
  std::vector<PassageHit> hits;
  hits.reserve(passages.size());
  for (const RetrievedPassage& one : passages) hits.push_back({one.passage, one.score});
  return hits;
}

}  // namespace

std::vector<PassageHit> fuse(const std::vector<PassageHit>& words, const std::vector<PassageHit>& meaning,
                             const std::function<std::optional<double>(std::uint32_t)>& similarity,
                             std::size_t most, const FusionOptions& options) {
  return without_parts(fuse_scored(words, meaning, similarity, most, options));
}

base::Result<std::vector<PassageHit>> retrieve(const PassageIndex& index, const PassageVectors* vectors,
                                               const SentenceModel* model, std::string_view query,
                                               std::size_t most, const FusionOptions& options) {
  ASKBASE_ASSIGN(const auto found, retrieve_scored(index, vectors, model, query, most, options));
  return without_parts(found);
}

base::Result<std::vector<RetrievedPassage>> retrieve_scored(const PassageIndex& index,
                                                            const PassageVectors* vectors,
                                                            const SentenceModel* model,
                                                            std::string_view query, std::size_t most,
                                                            const FusionOptions& options) {
  const bool meaning_too = vectors != nullptr && model != nullptr && model->embed && vectors->size() > 0 &&
                           vectors->missing() <= index.passages() / 20 && vectors->model() == model->hash &&
                           base::detect_language(query) == base::Language::english;
  if (!meaning_too) {
    ASKBASE_ASSIGN(const auto hits, index.search(query, most));
    std::vector<RetrievedPassage> found;
    for (const PassageHit& hit : hits) found.push_back({hit.passage, hit.score, hit.score, {}});
    return found;
  }
  const std::size_t candidates = std::max(most, options.candidates);
  ASKBASE_ASSIGN(const auto words, index.search(query, candidates));
  const std::vector<std::string_view> texts = {query};
  ASKBASE_ASSIGN(const nn::Matrix<float> vector, model->embed(texts));
  const std::span<const float> row(vector.row(0), model->width);
  std::vector<PassageHit> meaning = vectors->nearest(row, candidates);
  const auto similarity = [&](std::uint32_t passage) { return vectors->similarity(row, passage); };
  const std::vector<RetrievedPassage> fused = fuse_scored(words, meaning, similarity, most, options);
  // The vectors may be older than the index: a passage may have gone meanwhile.
  std::vector<RetrievedPassage> present;
  for (const RetrievedPassage& hit : fused) {
    ASKBASE_ASSIGN(const bool there, index.has_passage(hit.passage));
    if (there) present.push_back(hit);
  }
  return present;
}

}  // namespace askbase::reader
