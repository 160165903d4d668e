// What a model writes in its configuration to choose an attention.
//
//   ASKBASE_ASSIGN(AttentionConfig c, parse_attention("score=additive hidden=64 distribution=sparsemax"));
//   c.query = 300; c.key = 300;
//
// Sources: the surveys of Chaudhari et al. 2021 (table 4) and Brauwers and Frasincar 2021 (section 3), and
// the papers named below. q is a query, k a key, as columns.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "nn/distribution.h"
#include "nn/elementwise.h"

namespace askbase::nn {

// Alignment score e(q, k).
enum class Score {
  dot,                // q^T k (Luong 2015)
  scaled_dot,         // q^T k / sqrt(width) (Vaswani 2017)
  cosine,             // q^T k / (|q| |k|) (Graves 2014); 0 for a vector of zeros
  general,            // q^T W k (Luong 2015)
  biased_general,     // k^T (W q + b) (Sordoni 2016)
  activated_general,  // act(q^T W k + b) (Ma 2017)
  kernel,    // phi(q)^T phi(k), phi(x) = act(W x) / sqrt(hidden), W learned (Choromanski 2021, generalised)
  concat,    // w^T act(W [q; k] + b) (Luong 2015)
  additive,  // w^T act(W1 q + W2 k + b) (Bahdanau 2014)
  deep,      // as additive, with `layers` hidden layers and a bias at the end (Pavlopoulos 2017)
  location,  // of the s-th key: row s of W q + b, keys past `positions` get no weight (Luong 2015)
};

// Which keys a query looks at. Positions count from 0 in the segment of keys; S is its length.
enum class Window {
  global,  // all of them
  hard,    // training: as global. Inference: the arg-max key alone, with weight 1; no gradient reaches scores
  local_m,  // query t: keys t - D .. t + D; none of them there: a context of zeros (Luong 2015)
  local_p,  // keys p - D .. p + D, p = S sigmoid(v^T tanh(W q)), weights times exp(-(s - p)^2 / (2 (D/2)^2)):
            // they sum to less than 1 (Luong 2015, equations 9 and 10)
};

struct AttentionConfig {
  Score score = Score::scaled_dot;
  Distribution distribution = Distribution::softmax;
  Window window = Window::global;
  Activation activation = Activation::tanh;  // "act" above
  double alpha = 1.5;                        // of entmax

  // Widths. query 0 is pooling: there are no queries, each segment of keys gives `rows` context vectors.
  // dot .. kernel then learn `rows` query vectors; concat, additive and deep score act(W2 k + b) by `rows`
  // vectors w (Yang 2016; rows > 1: Lin 2017, equation 6); location scores w^T k + b.
  Index query = 0, key = 0;
  Index value = 0;       // 0: as key
  Index hidden = 0;      // of kernel, concat, additive, deep and local_p; 0: as key
  Index layers = 2;      // deep
  Index positions = 0;   // location with queries
  Index half_width = 4;  // D
  Index rows = 1;        // pooling

  // Multi-dimensional (Shen 2018): every feature of the values has its own score and weight; w is a matrix.
  // For concat, additive, deep, and location when pooling.
  bool by_feature = false;

  // Queries, keys and values are projected to `projected` numbers (0: not at all), split between the heads,
  // whose contexts pass through one more layer together (Vaswani 2017).
  Index heads = 1, projected = 0;
};

// As configurations spell them: the names of the enumerators above.
std::string_view score_name(Score score);
std::string_view distribution_name(Distribution distribution);
std::string_view window_name(Window window);
// Error invalid_argument that lists what is allowed.
base::Result<Score> score_by_name(std::string_view name);
base::Result<Distribution> distribution_by_name(std::string_view name);
base::Result<Window> window_by_name(std::string_view name);

// "name=value" pairs apart by blanks, in any order; the names are those of the fields, and what is not named
// keeps its default. Errors (invalid_argument) say which pair is wrong and what is allowed. Widths may be
// left to code, so validate() is a step of its own.
base::Result<AttentionConfig> parse_attention(std::string_view text);
// What parse_attention reads back: the fields that differ from the defaults.
std::string attention_text(const AttentionConfig& config);
// Whether the parts fit each other: invalid_argument says which do not.
base::Status validate(const AttentionConfig& config);

}  // namespace askbase::nn
