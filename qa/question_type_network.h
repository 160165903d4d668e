// The network behind qa/question_type.h: word vectors, a bidirectional LSTM, attention and largest values
// over its outputs, and two linear layers, one for the coarse and one for the fine types. Internal to qa/.
//
//   x = dropout(table[words]); h = BiLSTM(x)
//   r = dropout([attention(h); max(h)])                 additive attention, a learned query (Yang 2016)
//   coarse = W_c r + b_c; fine = W_f r + b_f
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "nn/attention.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/recurrent.h"

namespace askbase::qa {

// Words and their rows in the table of vectors. The first rows are learned and stand for what has no vector:
// any other word, numbers by their shape, and words that hold digits.
class QuestionVocabulary {
 public:
  static constexpr std::int32_t unknown = 0, special = 8;  // rows [0, special) are learned

  // words: in the order of their rows, from `special` on.
  explicit QuestionVocabulary(std::vector<std::string> words);
  // Lines of the file vocab.txt, and back. Errors: corrupt (not UTF-8, a word twice, an empty line).
  static base::Result<QuestionVocabulary> parse(std::string_view text);
  std::string text() const;

  nn::Index size() const { return special + static_cast<nn::Index>(words_.size()); }
  const std::vector<std::string>& words() const { return words_; }
  std::int32_t row(const std::string& word) const;  // of a folded word

  // The words of a question and their rows; case is folded. At most max_words, the first ones.
  static constexpr std::size_t max_words = 128;
  struct Words {
    std::vector<std::string> text;  // as written
    std::vector<std::int32_t> rows;
  };
  Words words_of(std::string_view question) const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int32_t> rows_;
};

struct QuestionTypeConfig {
  nn::Index dimensions = 100;  // of a word vector
  nn::Index hidden = 128;      // of the LSTM, each direction
  nn::Index attention = 64;    // of the alignment score's hidden layer
  double word_dropout = 0.3, output_dropout = 0.5;
  std::vector<std::string> labels;                 // fine ones, "HUM:ind", sorted
  std::vector<std::string> coarse_labels() const;  // sorted
  std::vector<nn::Index> coarse_of_fine() const;   // for each label its place in coarse_labels()
};

// Immutable; templated so that its gradients can be checked in double precision.
template <typename T>
class QuestionTypeNetwork {
 public:
  struct Cache {
    nn::Segments segments;
    std::vector<std::int32_t> rows;
    nn::Matrix<T> x, h, pooled, features, coarse, fine;  // coarse and fine: logits
    std::vector<nn::Index> chosen;
    nn::RecurrentCache<T> recurrent;
    nn::AttentionCache<T> attention;
    nn::Matrix<T> d_features, d_h, d_x;
  };

  // Parameters are called "words", "encoder", "attention", "coarse" and "fine".
  QuestionTypeNetwork(nn::Parameters<T>& p, const QuestionTypeConfig& config, nn::Index vocabulary);

  // Takes cache.segments and cache.rows; leaves cache.coarse (n, coarse) and cache.fine (n, labels). A
  // question without words has the features 0.
  void forward(const nn::Parameters<T>& p, Cache& cache, const nn::Context& context) const;
  // Of the logits' gradients.
  void backward(const nn::Parameters<T>& p, Cache& cache, nn::View<const T> d_coarse,
                nn::View<const T> d_fine, nn::Gradients<T>& g, const nn::Context& context) const;
  // How much each word of question i counted, after forward; they sum to 1.
  std::vector<T> weights(const Cache& cache, nn::Index i) const;

  nn::ParameterId table() const { return words_.weight(); }

 private:
  nn::Index width_;  // of h
  nn::Embedding<T> words_;
  nn::Recurrent<T> encoder_;
  nn::Attention<T> attention_;
  nn::Dropout<T> word_dropout_, output_dropout_;
  nn::Linear<T> coarse_, fine_;
};

extern template class QuestionTypeNetwork<float>;
extern template class QuestionTypeNetwork<double>;

}  // namespace askbase::qa
