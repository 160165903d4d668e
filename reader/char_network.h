// The network behind reader/char_reader.h: a bidirectional LSTM reader over characters after DrQA (Chen,
// Fisch, Weston and Bordes 2017) and BiDAF (Seo et al. 2017). What LAC says of the characters
// (reader/lexical_encoder.h) goes in; how well each character of the context begins and ends the answer comes
// out.
//
//   e = relu(W_e x + b_e)                 of contexts and questions alike
//   h = BiLSTM(e)                         one encoder for both
//   a_i = sum_j softmax_j(h_i^T W q_j) q_j            what of the question each place of the context meets
//   u = attention(q)                      the question as one vector
//   r = relu(W_r [h; a; h * a; e; f] + b_r)           f: the pair's features (reader/char_text.h)
//   m = BiLSTM(r)   o = [m; r]            start_i = o_i^T (W_s u + b_s)   end_i = o_i^T (W_t u + b_t)
//
// A context is encoded once for all its questions; dropout masks are the same along a sequence (Gal and
// Ghahramani 2016).
#pragma once

#include <vector>

#include "nn/attention.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "nn/recurrent.h"

namespace askbase::reader {

struct CharNetworkConfig {
  nn::Index input = 0;    // of x: LAC's vector, states and tag of a character
  nn::Index pair = 0;     // of f
  nn::Index width = 128;  // of e and r
  nn::Index hidden = 96;  // of the LSTMs, each direction
  nn::Index layers = 1;   // of the second LSTM
  double input_dropout = 0.2, dropout = 0.3;
};

// Immutable; templated so that its gradients can be checked in double precision.
template <typename T>
class CharNetwork {
 public:
  struct Cache {
    // Set before forward: the contexts, then the questions, one below the other, and the context of each.
    nn::Segments texts;
    nn::Matrix<T> x;                    // (texts.total(), input)
    std::vector<nn::Index> context_of;  // [questions]
    nn::Matrix<T> pair;                 // (rows, pair): the context's characters for each question
    // Set by forward.
    nn::Segments pairs;    // a segment a question, as long as its context
    nn::Matrix<T> scores;  // (pairs.total(), 2): start and end

    nn::Segments questions;
    nn::Matrix<T> dropped, e, h, joined, u, r, o, weights;
    nn::RecurrentCache<T> encoder, reader;
    nn::AttentionCache<T> align, pooling;
    nn::Matrix<T> d_weights, d_o, d_m, d_joined, d_u, d_h, d_e, d_pooled;
  };

  // Parameters: "embed", "encoder", "align", "pooling", "join", "reader", "start", "end".
  CharNetwork(nn::Parameters<T>& p, const CharNetworkConfig& config);
  void initialise(nn::Parameters<T>& p, std::uint64_t seed) const;

  void forward(const nn::Parameters<T>& p, Cache& cache, const nn::Context& context) const;
  // d_scores (pairs.total(), 2). No gradient reaches x and the pair's features.
  void backward(const nn::Parameters<T>& p, Cache& cache, nn::View<const T> d_scores, nn::Gradients<T>& g,
                const nn::Context& context) const;

  const CharNetworkConfig& config() const { return config_; }

 private:
  nn::Index context_rows(const Cache& cache) const;

  CharNetworkConfig config_;
  nn::Linear<T> embed_, join_, start_, end_;
  nn::Recurrent<T> encoder_, reader_;
  nn::Attention<T> align_, pooling_;
  nn::Dropout<T> input_dropout_, encoded_dropout_, joined_dropout_, read_dropout_;
};

extern template class CharNetwork<float>;
extern template class CharNetwork<double>;

}  // namespace askbase::reader
