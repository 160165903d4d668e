// The network behind qa/path_matcher.h. Internal to qa/.
//
// A question, with a mention as one word, and paths as words and as units (qa/path_text.h) pass through one
// bidirectional LSTM; the question passes through a second one with a residual connection (HR-BiLSTM: Yu et
// al. 2017, "Improved neural relation detection for knowledge base question answering"):
//
//   h = BiLSTM1(x); H = h + BiLSTM2(h)                      of the question, x its word vectors
//   q = max over words of H;  r = max over words and units of BiLSTM1(path)
//   c = sum of a_t H_t, a = attention of r over H           cross-attention (Hao et al. 2017, equations 4 to
//   8) score = s cos(q + c, r) + l align + sum over aspects of w cos(q + c_aspect, r_aspect)
//
// where p r is how common it is to be asked for r, and align is the mean over the path's words, weighed by
// softmax of u x, of the cosine of the word with the question's nearest one: what tells the names of
// relations that training has not seen. The aspects of the answer, its type and what surrounds it, are Hao's;
// each has an attention of its own.
//
// A word has a row in a table; one that has none is the mean of the vectors of its character n-grams (hashed,
// as Bojanowski et al. 2017).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "nn/attention.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/recurrent.h"
#include "qa/path_text.h"

namespace askbase::qa {

struct PathMatcherConfig {
  std::string language = "en";
  nn::Index dimensions = 100;  // of a word vector
  nn::Index hidden = 100;      // of the LSTMs, each direction
  nn::Index buckets = 16384;   // of character n-grams
  std::string attention =
      "score=scaled_dot";  // of a path over the question (nn/attention_config.h); or "none"
  bool alignment = true;
  nn::Index mention_tail = 0;  // so many last words of a mention's name stand after it: "站", "公司"
  nn::Index aspects = 0;       // 1: the answer's type, too; 2: and what surrounds the answer
  nn::Index steps = 1;         // of the longest paths of the training
  double word_dropout = 0.3, state_dropout = 0.2;

  nn::Index width() const { return 2 * hidden; }
};
// The attention of the configuration with its widths; nothing where there is none. Errors: invalid_argument.
base::Result<std::optional<nn::AttentionConfig>> path_attention(const PathMatcherConfig& config);

// Words or units and their rows in a table. The first rows stand for what the text does not spell.
class PathVocabulary {
 public:
  static constexpr std::int32_t unknown = 0, special = 4;  // then mention, inverse, step

  // words: in the order of their rows, from `special` on.
  explicit PathVocabulary(std::vector<std::string> words);
  // Lines of a file, and back. Errors: corrupt (not UTF-8, a word twice, an empty line).
  static base::Result<PathVocabulary> parse(std::string_view text, const std::string& name);
  std::string text() const;

  nn::Index size() const { return special + static_cast<nn::Index>(words_.size()); }
  std::int32_t row(std::string_view word) const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int32_t> rows_;
};

// The buckets of a word's character n-grams, n from 3 to 5, with signs for its ends.
std::vector<std::int32_t> character_ngrams(std::string_view word, nn::Index buckets);

// Questions and paths to encode together. Words are those of `table` and `ngrams`, each different word once.
struct PathBatch {
  // A word: its row in the table, or, where that is unknown, the n-grams from ngram_first[i] to the next.
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> ngrams;
  std::vector<nn::Index> ngram_first = {0};

  nn::Segments questions;
  std::vector<nn::Index> question_words;
  nn::Segments path_words, path_units;  // as many segments in both
  std::vector<nn::Index> path_word_ids;
  std::vector<std::int32_t> path_unit_rows;
  // Of each path the words of its answer's type and surroundings; config.aspects of them.
  struct Aspect {
    nn::Segments segments;
    std::vector<nn::Index> words;
  };
  std::array<Aspect, 2> aspects;

  // Returns the number of the word in the batch. as_unknown: by its n-grams even where the table has it.
  nn::Index add_word(const std::string& word, const PathVocabulary& table, nn::Index buckets,
                     bool as_unknown = false);
  void clear();

 private:
  std::unordered_map<std::string, nn::Index> places_;
};

// A question and paths as score() sees them.
template <typename T>
struct QuestionView {
  nn::View<const T> states, pooled, words;  // (n, width), (1, width), (n, dimensions) of length 1
};
template <typename T>
struct PathsView {
  nn::View<const T> vectors;                 // (paths, width)
  std::array<nn::View<const T>, 2> aspects;  // (paths, width)
  nn::View<const T> words;                   // (different words, dimensions) of length 1
  std::span<const std::uint32_t> word_first,
      word;                   // words of path i: word[word_first[i] .. word_first[i + 1])
  std::span<const T> weight;  // in the order of `word`
};

// Immutable; templated so that its gradients can be checked in double precision.
template <typename T>
class PathMatcherNetwork {
 public:
  struct Cache {
    nn::Matrix<T> vectors, unit_vectors;  // of the words, of length as they are; of units
    nn::Matrix<T> unit_length;            // the words at length 1
    std::vector<T> lengths;
    nn::Segments segments, pooled_segments;
    nn::Matrix<T> x, h, between, states, pooled, paths;
    std::array<nn::Matrix<T>, 2> aspects;
    std::vector<nn::Index> question_chosen, path_chosen;
    nn::RecurrentCache<T> first, second;
    std::vector<std::uint32_t> word_first, word;
    std::vector<T> weight;
    // Gradients that score_backward adds to.
    nn::Matrix<T> d_states, d_pooled, d_paths, d_unit_length;
    std::array<nn::Matrix<T>, 2> d_aspects;
    std::vector<T> d_weight;

    QuestionView<T> question(nn::Index i, const PathBatch& batch);
    PathsView<T> all_paths() const;
    nn::Matrix<T> question_words;  // of question(i)
  };
  struct ScoreCache {
    nn::Matrix<T> vectors, context, d_context, d_vectors, d_states;
    std::array<nn::Matrix<T>, 3> sums;  // q + c of the path and of the aspects
    std::array<std::vector<T>, 3> cosines, sum_lengths, lengths;
    std::array<nn::AttentionCache<T>, 3> attention;
    nn::Matrix<T> needed, similarity;
    std::vector<std::uint32_t> needed_words;  // rows of `needed`
    std::vector<std::int32_t> place;          // of a word among them; -1: none
    std::vector<T> best, d_best;
    std::vector<nn::Index> best_at;
    std::vector<T> align;
  };

  // Parameters are called "words", "ngrams", "units", "first", "second", "attention", "attention.type",
  // "attention.context", "alignment", "prior" and "score". The configuration must be a valid one.
  PathMatcherNetwork(nn::Parameters<T>& p, const PathMatcherConfig& config, nn::Index words, nn::Index units);
  // After Parameters::initialise: what does not begin at random.
  void set_initial(nn::Parameters<T>& p) const;

  // Questions and paths of the batch -> cache.states, pooled, paths, aspects, weights of words.
  void encode(const nn::Parameters<T>& p, const PathBatch& batch, Cache& cache,
              const nn::Context& context) const;

  // Scores of the paths `which`, of all when it is empty, to `scores`.
  void score(const nn::Parameters<T>& p, const QuestionView<T>& question, const PathsView<T>& paths,
             std::span<const std::uint32_t> which, std::span<T> scores, ScoreCache& cache,
             const nn::Context& context) const;

  // Begins the gradients of a batch.
  void start_backward(Cache& cache) const;
  // After score() of question i of the batch, with the same `which`.
  void score_backward(const nn::Parameters<T>& p, const PathBatch& batch, nn::Index i, Cache& cache,
                      std::span<const std::uint32_t> which, std::span<const T> d_scores, ScoreCache& scored,
                      nn::Gradients<T>& g, const nn::Context& context) const;
  // After all of these.
  void backward(const nn::Parameters<T>& p, const PathBatch& batch, Cache& cache, nn::Gradients<T>& g,
                const nn::Context& context) const;

  // Weights of a question's words for candidate c of the last score(); even where there is no attention.
  std::vector<T> weights(const ScoreCache& cache, nn::Index c, nn::Index words) const;

  const PathMatcherConfig& config() const { return config_; }
  nn::ParameterId word_table() const { return words_.weight(); }
  nn::ParameterId ngram_table() const { return ngrams_.weight(); }

 private:
  nn::Index parts() const { return 1 + config_.aspects; }
  void encode_words(const nn::Parameters<T>& p, const PathBatch& batch, Cache& cache,
                    const nn::Context& context) const;
  void weigh_words(const nn::Parameters<T>& p, const PathBatch& batch, Cache& cache) const;
  void align(const QuestionView<T>& question, const PathsView<T>& paths, std::span<const std::uint32_t> rows,
             ScoreCache& cache) const;

  PathMatcherConfig config_;
  nn::Embedding<T> words_, ngrams_, units_;
  nn::Recurrent<T> first_, second_;
  std::vector<nn::Attention<T>> attention_;  // path, type, context; empty: none
  nn::ParameterId word_weight_ = -1, prior_ = -1, score_ = -1;
  nn::Dropout<T> word_dropout_, state_dropout_;
};

extern template class PathMatcherNetwork<float>;
extern template class PathMatcherNetwork<double>;

}  // namespace askbase::qa
