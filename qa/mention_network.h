// The network behind qa/mention_tagger.h: what is known of each token goes through a bidirectional LSTM to
// the scores of three tags, and a conditional random field over these (Huang, Xu and Yu 2015, "Bidirectional
// LSTM-CRF models for sequence tagging"; letters by a convolution: Ma and Hovy 2016, "End-to-end sequence
// labeling via bi-directional LSTM-CNNs-CRF"). Internal to qa/.
//
//   c = max over a word's letters of relu(conv(letters))              once for each spelling of a batch
//   x = [words[w]; own[w]; c; shape; pairs[w-1 w]; pairs[w w+1]]      own: of frequent words; pairs: hashed
//   h = BiLSTM(dropout(x))       s = W dropout(h) + b                 (tokens, 3): outside, begin, inside
//   log p(tags) as nn/crf.h has it; "inside" comes only after "begin" or "inside"
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "nn/conv1d.h"
#include "nn/crf.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/recurrent.h"

namespace askbase::qa {

enum MentionTag : nn::Index { tag_outside, tag_begin, tag_inside, mention_tags };

struct MentionConfig {
  std::string language = "en";
  nn::Index words = 0;          // rows of the table of words
  nn::Index first_learned = 0;  // rows below it are learned; when learn_words, all are
  nn::Index dimensions = 100;   // of a word's vector
  nn::Index own_words = 0;  // rows of the table of frequent words, with 0 for all others; 0: no such table
  nn::Index own_dimensions = 32;
  nn::Index letters = 0;  // rows of the table of letters
  nn::Index letter_dimensions = 24, filters = 48;
  nn::Index pair_rows = 0;  // 0: no table of pairs
  nn::Index pair_dimensions = 24;
  nn::Index shapes = 10;   // the first so many of qa/mention_text.h
  nn::Index hidden = 128;  // of the LSTM, each direction
  nn::Index layers = 1;
  bool learn_words = false;
  double input_dropout = 0.3, output_dropout = 0.4;

  nn::Index input() const;  // of x
};

// Immutable; templated so that its gradients can be checked in double precision.
template <typename T>
class MentionNetwork {
 public:
  struct Cache {
    // Set before forward: sentences below each other, at least one token in all.
    nn::Segments sentences;
    std::vector<std::int32_t> words, own;  // one a token; own stays empty where the model has none
    std::vector<std::int32_t> pairs;       // two a token, or none
    std::vector<std::uint32_t> shapes;     // qa/mention_text.h
    std::vector<nn::Index> spellings;      // of each token
    nn::Segments spelled;                  // a segment a spelling, each of at least one letter
    std::vector<std::int32_t> letters;     // (spelled.total())
    std::unordered_map<std::u32string, nn::Index> known_spellings;  // of whoever fills the cache
    // Set by forward.
    nn::Matrix<T> scores;  // (sentences.total(), mention_tags)

    nn::Matrix<T> letter_vectors, filtered, spelling_vectors, x, h;
    nn::Matrix<T> pair_vectors;  // two rows a token; in backward their gradients
    std::vector<nn::Index> chosen;
    typename nn::Conv1d<T>::Cache convolution;
    nn::RecurrentCache<T> recurrent;
    nn::CrfCache crf;
    nn::Matrix<T> d_scores, d_h, d_x, d_spellings, d_filtered, d_letters;
  };

  // Parameters: "words", "own", "letters", "convolution", "pairs", "encoder", "tags", "crf".
  MentionNetwork(nn::Parameters<T>& p, const MentionConfig& config);
  void initialise(nn::Parameters<T>& p, std::uint64_t seed) const;

  void forward(const nn::Parameters<T>& p, Cache& cache, const nn::Context& context) const;
  // The sum of -log p(tags) after forward, and its gradients to g.
  double loss(const nn::Parameters<T>& p, Cache& cache, std::span<const nn::Index> tags, nn::Gradients<T>& g,
              const nn::Context& context) const;

  const MentionConfig& config() const { return config_; }
  const nn::Crf<T>& crf() const { return crf_; }
  nn::ParameterId table() const { return words_.weight(); }

 private:
  void backward(const nn::Parameters<T>& p, Cache& cache, nn::Gradients<T>& g,
                const nn::Context& context) const;

  MentionConfig config_;
  nn::Embedding<T> words_, own_, letters_, pairs_;
  nn::Conv1d<T> convolution_;
  nn::Dropout<T> input_dropout_, output_dropout_;
  nn::Recurrent<T> encoder_;
  nn::Linear<T> tags_;
  nn::Crf<T> crf_;
};

extern template class MentionNetwork<float>;
extern template class MentionNetwork<double>;

}  // namespace askbase::qa
