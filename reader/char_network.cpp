#include "reader/char_network.h"

#include <algorithm>
#include <stdexcept>

#include "nn/elementwise.h"

namespace askbase::reader {

namespace {

using nn::Index;
using nn::Segments;
using nn::View;

// One mask a segment, for all of its rows; y may be x.
template <typename T>
void drop_alike(const nn::Dropout<T>& dropout, View<const std::type_identity_t<T>> x,
                const Segments& segments, View<T> y, const nn::Context& context) {
  std::vector<T> mask(static_cast<std::size_t>(x.cols), T(1));
  for (Index s = 0; s < segments.count(); ++s) {
    if (dropout.active(context)) dropout.mask_row(s, mask.data(), x.cols, context);
    for (Index r = segments.begin(s); r < segments.end(s); ++r) {
      const T* from = x.row(r);
      T* to = y.row(r);
      for (Index c = 0; c < x.cols; ++c) to[c] = from[c] * mask[static_cast<std::size_t>(c)];
    }
  }
}

nn::RecurrentOptions recurrent(Index input, Index hidden, Index layers, double dropout,
                               std::uint64_t stream) {
  nn::RecurrentOptions options;
  options.input = input;
  options.hidden = hidden;
  options.layers = layers;
  options.bidirectional = true;
  options.dropout = dropout;
  options.dropout_stream = stream;
  return options;
}

nn::AttentionConfig attention(nn::Score score, Index query, Index key, Index hidden) {
  nn::AttentionConfig config;
  config.score = score;
  config.query = query;
  config.key = key;
  config.hidden = hidden;
  return config;
}

}  // namespace

template <typename T>
CharNetwork<T>::CharNetwork(nn::Parameters<T>& p, const CharNetworkConfig& config)
    : config_(config),
      embed_(p, "embed", config.input, config.width),
      join_(p, "join", 6 * config.hidden + config.width + config.pair, config.width),
      start_(p, "start", 2 * config.hidden, 2 * config.hidden + config.width),
      end_(p, "end", 2 * config.hidden, 2 * config.hidden + config.width),
      encoder_(p, "encoder", recurrent(config.width, config.hidden, 1, 0, 0)),
      reader_(p, "reader", recurrent(config.width, config.hidden, config.layers, config.dropout, 10)),
      align_(p, "align", attention(nn::Score::general, 2 * config.hidden, 2 * config.hidden, 0)),
      pooling_(p, "pooling", attention(nn::Score::additive, 0, 2 * config.hidden, config.hidden)),
      input_dropout_(config.input_dropout, 1),
      encoded_dropout_(config.dropout, 2),
      joined_dropout_(config.dropout, 3),
      read_dropout_(config.dropout, 4) {}

template <typename T>
void CharNetwork<T>::initialise(nn::Parameters<T>& p, std::uint64_t seed) const {
  p.initialise(seed);
  encoder_.set_forget_bias(p, T(1));
  reader_.set_forget_bias(p, T(1));
}

template <typename T>
Index CharNetwork<T>::context_rows(const Cache& cache) const {
  const Index contexts = cache.texts.count() - static_cast<Index>(cache.context_of.size());
  if (contexts < 0) throw std::logic_error("reader::CharNetwork: more questions than texts");
  return contexts == 0 ? 0 : cache.texts.end(contexts - 1);
}

template <typename T>
void CharNetwork<T>::forward(const nn::Parameters<T>& p, Cache& cache, const nn::Context& context) const {
  const Index rows = cache.texts.total(), first = context_rows(cache);
  const Index h = 2 * config_.hidden, e = config_.width;
  const auto asked = static_cast<Index>(cache.context_of.size()), contexts = cache.texts.count() - asked;
  cache.questions.clear();
  cache.pairs.clear();
  for (Index q = 0; q < asked; ++q) {
    cache.questions.add(cache.texts.length(contexts + q));
    cache.pairs.add(cache.texts.length(cache.context_of[static_cast<std::size_t>(q)]));
  }
  const Index n = cache.pairs.total();
  if (cache.x.rows() != rows || cache.x.cols() != config_.input || cache.pair.rows() != n ||
      cache.pair.cols() != config_.pair) {
    throw std::logic_error("reader::CharNetwork: inputs of the wrong shape");
  }

  cache.dropped.resize(rows, config_.input);
  drop_alike<T>(input_dropout_, cache.x, cache.texts, cache.dropped, context);
  cache.e.resize(rows, e);
  embed_.forward(p, cache.dropped, cache.e, context);
  nn::activate<T>(nn::Activation::relu, cache.e, cache.e, *context.team);
  cache.h.resize(rows, h);
  encoder_.forward(p, cache.e, cache.texts, cache.h, cache.encoder, context);
  drop_alike<T>(encoded_dropout_, cache.h, cache.texts, cache.h, context);
  const View<const T> q = cache.h.view().rows_from(first, rows - first);

  cache.joined.resize(n, join_.in());
  const View<T> joined = cache.joined;
  const View<T> hc = joined.cols_from(0, h), aligned = joined.cols_from(h, h);
  for (Index i = 0; i < asked; ++i) {
    const Index from = cache.texts.begin(cache.context_of[static_cast<std::size_t>(i)]);
    for (Index k = 0; k < cache.pairs.length(i); ++k) {
      const Index r = cache.pairs.begin(i) + k;
      std::copy_n(cache.h.row(from + k), h, joined.row(r));
      std::copy_n(cache.e.row(from + k), e, joined.row(r) + 3 * h);
      std::copy_n(cache.pair.row(r), config_.pair, joined.row(r) + 3 * h + e);
    }
  }
  align_.forward(p, hc, cache.pairs, q, q, cache.questions, aligned, cache.align, context);
  for (Index r = 0; r < n; ++r) {
    T* row = joined.row(r);
    for (Index c = 0; c < h; ++c) row[2 * h + c] = row[c] * row[h + c];
  }
  cache.r.resize(n, e);
  join_.forward(p, joined, cache.r, context);
  nn::activate<T>(nn::Activation::relu, cache.r, cache.r, *context.team);
  drop_alike<T>(joined_dropout_, cache.r, cache.pairs, cache.r, context);

  cache.o.resize(n, h + e);
  const View<T> m = cache.o.view().cols_from(0, h);
  reader_.forward(p, cache.r, cache.pairs, m, cache.reader, context);
  drop_alike<T>(read_dropout_, m, cache.pairs, m, context);
  for (Index r = 0; r < n; ++r) std::copy_n(cache.r.row(r), e, cache.o.row(r) + h);

  cache.u.resize(asked, h);
  pooling_.pool(p, q, q, cache.questions, cache.u, cache.pooling, context);
  cache.weights.resize(2 * asked, h + e);
  start_.forward(p, cache.u, cache.weights.view().rows_from(0, asked), context);
  end_.forward(p, cache.u, cache.weights.view().rows_from(asked, asked), context);
  cache.scores.resize(n, 2);
  for (Index i = 0; i < asked; ++i) {
    for (Index r = cache.pairs.begin(i); r < cache.pairs.end(i); ++r) {
      const T* o = cache.o.row(r);
      for (Index k = 0; k < 2; ++k) {
        const T* w = cache.weights.row(k * asked + i);
        T sum = 0;
        for (Index c = 0; c < h + e; ++c) sum += o[c] * w[c];
        cache.scores(r, k) = sum;
      }
    }
  }
}

template <typename T>
void CharNetwork<T>::backward(const nn::Parameters<T>& p, Cache& cache, View<const T> d_scores,
                              nn::Gradients<T>& g, const nn::Context& context) const {
  const Index rows = cache.texts.total(), first = context_rows(cache), n = cache.pairs.total();
  const Index h = 2 * config_.hidden, e = config_.width;
  const auto asked = static_cast<Index>(cache.context_of.size());
  const View<const T> q = cache.h.view().rows_from(first, rows - first);

  cache.d_weights.resize(2 * asked, h + e);
  cache.d_weights.fill(T(0));
  cache.d_o.resize(n, h + e);
  for (Index i = 0; i < asked; ++i) {
    for (Index r = cache.pairs.begin(i); r < cache.pairs.end(i); ++r) {
      const T *o = cache.o.row(r), *start = cache.weights.row(i), *end = cache.weights.row(asked + i);
      T *d = cache.d_o.row(r), *d_start = cache.d_weights.row(i), *d_end = cache.d_weights.row(asked + i);
      const T ds = d_scores(r, 0), de = d_scores(r, 1);
      for (Index c = 0; c < h + e; ++c) {
        d[c] = ds * start[c] + de * end[c];
        d_start[c] += ds * o[c];
        d_end[c] += de * o[c];
      }
    }
  }
  cache.d_u.resize(asked, h);
  nn::Matrix<T> d_u(asked, h);
  start_.backward(p, cache.u, cache.d_weights.view().rows_from(0, asked), cache.d_u, g, context);
  end_.backward(p, cache.u, cache.d_weights.view().rows_from(asked, asked), d_u, g, context);
  for (Index i = 0; i < d_u.size(); ++i) cache.d_u.data()[i] += d_u.data()[i];

  const View<T> d_m = cache.d_o.view().cols_from(0, h);
  drop_alike<T>(read_dropout_, d_m, cache.pairs, d_m, context);
  cache.d_m.resize(n, e);  // the gradient at r
  reader_.backward(p, cache.reader, d_m, cache.d_m, g, context);
  for (Index r = 0; r < n; ++r) {
    const T* from = cache.d_o.row(r) + h;
    T* to = cache.d_m.row(r);
    for (Index c = 0; c < e; ++c) to[c] += from[c];
  }
  drop_alike<T>(joined_dropout_, cache.d_m, cache.pairs, cache.d_m.view(), context);
  // A number that dropout took has no gradient, so that the dropped r tells where relu was active.
  nn::activate_backward<T>(nn::Activation::relu, cache.r, {}, cache.d_m, cache.d_m, *context.team);
  cache.d_joined.resize(n, join_.in());
  const View<T> d_joined = cache.d_joined;
  join_.backward(p, cache.joined, cache.d_m, d_joined, g, context);
  for (Index r = 0; r < n; ++r) {
    const T* x = cache.joined.row(r);
    T* d = d_joined.row(r);
    for (Index c = 0; c < h; ++c) {
      d[c] += d[2 * h + c] * x[h + c];
      d[h + c] += d[2 * h + c] * x[c];
    }
  }

  cache.d_h.resize(rows, h);
  cache.d_h.fill(T(0));
  const View<T> d_q = cache.d_h.view().rows_from(first, rows - first);
  nn::Matrix<T> d_hc(n, h);
  const View<const T> joined = cache.joined;
  align_.backward(p, joined.cols_from(0, h), q, q, cache.align, d_joined.cols_from(h, h), d_hc, d_q, d_q, g,
                  context);
  cache.d_pooled.resize(rows - first, h);
  pooling_.pool_backward(p, q, q, cache.pooling, cache.d_u, cache.d_pooled, cache.d_pooled, g, context);
  for (Index r = 0; r < d_q.rows; ++r) {
    for (Index c = 0; c < h; ++c) d_q(r, c) += cache.d_pooled(r, c);
  }
  cache.d_e.resize(rows, e);
  nn::Matrix<T> d_context(first, e);  // what reaches e beside the encoder
  for (Index i = 0; i < asked; ++i) {
    const Index from = cache.texts.begin(cache.context_of[static_cast<std::size_t>(i)]);
    for (Index k = 0; k < cache.pairs.length(i); ++k) {
      const T *d = d_joined.row(cache.pairs.begin(i) + k), *d2 = d_hc.row(cache.pairs.begin(i) + k);
      T *to = cache.d_h.row(from + k), *to_e = d_context.row(from + k);
      for (Index c = 0; c < h; ++c) to[c] += d[c] + d2[c];
      for (Index c = 0; c < e; ++c) to_e[c] += d[3 * h + c];
    }
  }
  drop_alike<T>(encoded_dropout_, cache.d_h, cache.texts, cache.d_h.view(), context);
  encoder_.backward(p, cache.encoder, cache.d_h, cache.d_e, g, context);
  for (Index i = 0; i < d_context.size(); ++i) cache.d_e.data()[i] += d_context.data()[i];
  nn::activate_backward<T>(nn::Activation::relu, cache.e, {}, cache.d_e, cache.d_e, *context.team);
  embed_.backward(p, cache.dropped, cache.d_e, {}, g, context);
}

template class CharNetwork<float>;
template class CharNetwork<double>;

}  // namespace askbase::reader
