// How well a question asks for a path of relations, by a BiLSTM with attention (qa/path_matcher_network.h)
// that reads both as text. Relations that were never seen in training are scored by their words.
//
//   ASKBASE_ASSIGN(const auto matcher, PathMatcher::load("models/en-matcher"));
//   std::vector<MatchPath> paths;                       // once for each state of the KB
//   paths.push_back({.texts = path_texts(steps)});
//   const EncodedPaths encoded = matcher->encode(paths);
//   const std::vector<MentionRange> mentions = {{.begin = 10, .end = 22}};
//   const MatchQuestion question = matcher->prepare("where was Ada Lovelace born", mentions);
//   PathMatcher::Scratch scratch;
//   std::vector<float> scores(encoded.size());
//   matcher->score(question, encoded, {}, scores, scratch);   // of all of them
//
// Encoding costs some 120 microseconds a path, preparing 350 a question, scoring 2,000 paths less than a
// millisecond (one core).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/matrix.h"
#include "nn/team.h"
#include "qa/path_text.h"

namespace askbase::qa {

// What a question may ask for.
struct MatchPath {
  std::vector<PathText> texts;  // ways of saying it (path_texts()); none: its score is the lowest
  // Words of the answer's type and of what surrounds the answer (path_words()), for models with these
  // aspects; others leave them alone, and an aspect that is empty does not count.
  std::vector<std::string> answer_type = {}, answer_context = {};
};

// A part of the question that names an entity: code points, half-open.
struct MentionRange {
  std::size_t begin = 0, end = 0;
  std::string type = {};  // of the entity, "city": stands in its place; empty: any entity
};

// Paths as the network sees them. Belongs to the model that made it; immutable afterwards.
struct EncodedPaths {
  std::size_t size() const { return first.size() - 1; }

  std::vector<std::uint32_t> first = {
      0};                     // path i: rows [first[i], first[i + 1]), a row each way of saying it
  std::vector<char> silent;   // whether path i has no text
  nn::Matrix<float> vectors;  // (rows, width)
  nn::Matrix<float> words;    // (different words, dimensions), of length 1
  std::vector<std::uint32_t> word_first = {0};  // row r: its words [word_first[r], word_first[r + 1])
  std::vector<std::uint32_t> word;              // rows of `words`
  std::vector<float> weight;                    // of each of these in its row; they sum to 1
  std::vector<nn::Matrix<float>> aspects;       // answer type, answer context: (rows, width); zeros: none
};

// A question as the network sees it. Belongs to the model that made it; immutable afterwards.
struct MatchQuestion {
  std::vector<std::string> text;  // of each word, as written; a mention as a whole
  nn::Matrix<float> words;        // (words, dimensions), of length 1
  nn::Matrix<float> states;       // (words, width)
  nn::Matrix<float> pooled;       // (1, width)
};

// Immutable; any number of threads may ask it, each with its own scratch.
class PathMatcher {
 public:
  // The score of a path that has no text.
  static constexpr float no_text_score = -30.0F;

  // A model folder of kind "path-matcher". Errors: those of nn/model_folder.h; corrupt where config.json or a
  // vocabulary does not fit.
  static base::Result<std::shared_ptr<const PathMatcher>> load(const std::filesystem::path& folder);
  virtual ~PathMatcher() = default;

  // "en" or "zh": of the questions that it was trained on.
  virtual const std::string& language() const = 0;
  // Of the longest paths that it learned; 1: single relations alone, and what it says of longer ones is a
  // guess.
  virtual std::size_t steps() const { return 1; }

  // Whether it learned this path as a whole; another one is told by its words alone.
  virtual bool knows(const MatchPath& path) const = 0;

  virtual EncodedPaths encode(std::span<const MatchPath> paths, nn::Team& team = nn::one_thread()) const = 0;

  // Of valid UTF-8. Each mention becomes one word; of overlapping ones the first counts. At most max_words
  // are read, the first ones.
  static constexpr std::size_t max_words = 128;
  virtual MatchQuestion prepare(std::string_view question, std::span<const MentionRange> mentions) const = 0;

  // Scores of the paths `which` of encoded, or of all when it is empty, to `scores` (as many). A score is a
  // logit: the network was trained so that softmax over the paths that compete (relations of one entity, or
  // of the KB) gives the probability of each. They lie between about -30 and 30; between right and wrong
  // paths 3 or more is a clear difference. A path with several texts has the score of the best one. A
  // question without words scores 0 everywhere.
  struct Scratch {
    std::vector<std::uint32_t> rows;
    std::vector<float> row_scores;
    std::shared_ptr<void> cache;  // of the network
  };
  virtual void score(const MatchQuestion& question, const EncodedPaths& encoded,
                     std::span<const std::uint32_t> which, std::span<float> scores,
                     Scratch& scratch) const = 0;

  // How much each word of the question counts for a path: what explain shows. Sums to 1.
  virtual std::vector<std::pair<std::string, double>> attention(const MatchQuestion& question,
                                                                const EncodedPaths& encoded,
                                                                std::uint32_t path) const = 0;
};

}  // namespace askbase::qa
