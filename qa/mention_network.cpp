#include "qa/mention_network.h"

#include <algorithm>
#include <stdexcept>

#include "nn/elementwise.h"
#include "nn/pooling.h"

namespace askbase::qa {

namespace {

using nn::Index;
using nn::View;

constexpr Index kernel = 3;  // letters

nn::EmbeddingOptions learned(Index rows, Index dim) {
  nn::EmbeddingOptions options;
  options.rows = rows;
  options.dim = dim;
  return options;
}

nn::EmbeddingOptions word_table(const MentionConfig& config) {
  nn::EmbeddingOptions options = learned(config.words, config.dimensions);
  if (!config.learn_words) {
    options.frozen_begin = config.first_learned;
    options.frozen_end = config.words;
  }
  return options;
}

nn::RecurrentOptions encoder_options(const MentionConfig& config) {
  nn::RecurrentOptions options;
  options.input = config.input();
  options.hidden = config.hidden;
  options.layers = config.layers;
  options.bidirectional = true;
  options.dropout = config.output_dropout;
  options.dropout_stream = 10;
  return options;
}

nn::CrfConstraints constraints() {
  const std::string names[] = {"O", "B-M", "I-M"};
  return nn::iob_constraints(names);
}

}  // namespace

Index MentionConfig::input() const {
  return dimensions + (own_words > 0 ? own_dimensions : 0) + filters + shapes +
         (pair_rows > 0 ? 2 * pair_dimensions : 0);
}

template <typename T>
MentionNetwork<T>::MentionNetwork(nn::Parameters<T>& p, const MentionConfig& config)
    : config_(config),
      words_(p, "words", word_table(config)),
      letters_(p, "letters", learned(config.letters, config.letter_dimensions)),
      convolution_(p, "convolution", config.letter_dimensions, config.filters, kernel),
      input_dropout_(config.input_dropout, 1),
      output_dropout_(config.output_dropout, 2),
      encoder_(p, "encoder", encoder_options(config)),
      tags_(p, "tags", 2 * config.hidden, mention_tags),
      crf_(p, "crf", mention_tags, constraints()) {
  if (config.own_words > 0) own_ = {p, "own", learned(config.own_words, config.own_dimensions)};
  if (config.pair_rows > 0) pairs_ = {p, "pairs", learned(config.pair_rows, config.pair_dimensions)};
}

template <typename T>
void MentionNetwork<T>::initialise(nn::Parameters<T>& p, std::uint64_t seed) const {
  p.initialise(seed);
  encoder_.set_forget_bias(p, T(1));
}

template <typename T>
void MentionNetwork<T>::forward(const nn::Parameters<T>& p, Cache& cache, const nn::Context& context) const {
  const Index n = cache.sentences.total();
  const auto tokens = static_cast<std::size_t>(n);
  if (cache.words.size() != tokens || cache.shapes.size() != tokens || cache.spellings.size() != tokens ||
      cache.own.size() != (config_.own_words > 0 ? tokens : 0) ||
      cache.pairs.size() != (config_.pair_rows > 0 ? 2 * tokens : 0) ||
      static_cast<Index>(cache.letters.size()) != cache.spelled.total()) {
    throw std::logic_error("qa::MentionNetwork: inputs of the wrong shape");
  }
  cache.letter_vectors.resize(cache.spelled.total(), config_.letter_dimensions);
  letters_.forward(p, cache.letters, cache.letter_vectors, context);
  cache.filtered.resize(cache.spelled.total(), config_.filters);
  convolution_.forward(p, cache.letter_vectors, cache.spelled, cache.filtered, cache.convolution, context);
  nn::activate<T>(nn::Activation::relu, cache.filtered, cache.filtered, *context.team);
  cache.spelling_vectors.resize(cache.spelled.count(), config_.filters);
  nn::pool<T>(nn::Pooling::max, cache.filtered, cache.spelled, cache.spelling_vectors, &cache.chosen);

  cache.x.resize(n, config_.input());
  const View<T> x = cache.x;
  Index at = 0;
  words_.forward(p, cache.words, x.cols_from(at, config_.dimensions), context);
  at += config_.dimensions;
  if (config_.own_words > 0) {
    own_.forward(p, cache.own, x.cols_from(at, config_.own_dimensions), context);
    at += config_.own_dimensions;
  }
  for (Index r = 0; r < n; ++r) {
    const auto i = static_cast<std::size_t>(r);
    T* row = x.row(r) + at;
    std::copy_n(cache.spelling_vectors.row(cache.spellings[i]), config_.filters, row);
    for (Index bit = 0; bit < config_.shapes; ++bit)
      row[config_.filters + bit] = T((cache.shapes[i] >> bit) & 1U);
  }
  at += config_.filters + config_.shapes;
  if (config_.pair_rows > 0) {
    nn::Matrix<T>& pairs = cache.pair_vectors;
    pairs.resize(2 * n, config_.pair_dimensions);
    pairs_.forward(p, cache.pairs, pairs, context);
    for (Index r = 0; r < n; ++r) std::copy_n(pairs.row(2 * r), 2 * config_.pair_dimensions, x.row(r) + at);
  }
  input_dropout_.apply(x, x, context);
  cache.h.resize(n, 2 * config_.hidden);
  encoder_.forward(p, x, cache.sentences, cache.h, cache.recurrent, context);
  output_dropout_.apply(cache.h, cache.h, context);
  cache.scores.resize(n, mention_tags);
  tags_.forward(p, cache.h, cache.scores, context);
}

template <typename T>
double MentionNetwork<T>::loss(const nn::Parameters<T>& p, Cache& cache, std::span<const Index> tags,
                               nn::Gradients<T>& g, const nn::Context& context) const {
  cache.d_scores.resize(cache.scores.rows(), cache.scores.cols());
  const double loss =
      crf_.loss(p, cache.scores, cache.sentences, tags, cache.d_scores, &g, cache.crf, context);
  backward(p, cache, g, context);
  return loss;
}

template <typename T>
void MentionNetwork<T>::backward(const nn::Parameters<T>& p, Cache& cache, nn::Gradients<T>& g,
                                 const nn::Context& context) const {
  const Index n = cache.sentences.total();
  cache.d_h.resize(n, 2 * config_.hidden);
  tags_.backward(p, cache.h, cache.d_scores, cache.d_h, g, context);
  output_dropout_.apply(cache.d_h, cache.d_h, context);
  cache.d_x.resize(n, config_.input());
  encoder_.backward(p, cache.recurrent, cache.d_h, cache.d_x, g, context);
  const View<T> d_x = cache.d_x;
  input_dropout_.apply(d_x, d_x, context);

  Index at = 0;
  words_.backward(cache.words, d_x.cols_from(at, config_.dimensions), g);
  at += config_.dimensions;
  if (config_.own_words > 0) {
    own_.backward(cache.own, d_x.cols_from(at, config_.own_dimensions), g);
    at += config_.own_dimensions;
  }
  cache.d_spellings.resize(cache.spelled.count(), config_.filters);
  cache.d_spellings.fill(T(0));
  for (Index r = 0; r < n; ++r) {
    T* sum = cache.d_spellings.row(cache.spellings[static_cast<std::size_t>(r)]);
    for (Index c = 0; c < config_.filters; ++c) sum[c] += d_x(r, at + c);
  }
  at += config_.filters + config_.shapes;
  if (config_.pair_rows > 0) {
    nn::Matrix<T>& d_pairs = cache.pair_vectors;
    d_pairs.resize(2 * n, config_.pair_dimensions);
    for (Index r = 0; r < n; ++r)
      std::copy_n(d_x.row(r) + at, 2 * config_.pair_dimensions, d_pairs.row(2 * r));
    pairs_.backward(cache.pairs, d_pairs, g);
  }
  cache.d_filtered.resize(cache.spelled.total(), config_.filters);
  nn::pool_backward<T>(nn::Pooling::max, cache.spelled, cache.chosen, cache.d_spellings, cache.d_filtered);
  // relu is positive where what came out of it is.
  nn::activate_backward<T>(nn::Activation::relu, cache.filtered, {}, cache.d_filtered, cache.d_filtered,
                           *context.team);
  cache.d_letters.resize(cache.spelled.total(), config_.letter_dimensions);
  convolution_.backward(p, cache.convolution, cache.d_filtered, cache.d_letters, g, context);
  letters_.backward(cache.letters, cache.d_letters, g);
}

template class MentionNetwork<float>;
template class MentionNetwork<double>;

}  // namespace askbase::qa
