#include "nn/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "nn/eigen.h"
#include "nn/gemm.h"

namespace askbase::nn {

namespace {

// Segments a thread should have before a second one helps.
constexpr Index kGrain = 1;

// x_hat = x / |x|; a row of zeros stays.
template <typename T>
void normalise_rows(View<const T> x, Matrix<T>& y, Matrix<T>& norm) {
  y.resize(x.rows, x.cols);
  norm.resize(x.rows, 1);
  for (Index r = 0; r < x.rows; ++r) {
    const T length = std::sqrt(array(x.rows_from(r, 1)).square().sum());
    norm(r, 0) = length;
    array(y.view().rows_from(r, 1)) = array(x.rows_from(r, 1)) * (length == T(0) ? T(0) : T(1) / length);
  }
}

// dx += (dy - y (y . dy)) / |x|.
template <typename T>
void normalise_rows_backward(const Matrix<T>& y, const Matrix<T>& norm, const Matrix<T>& dy, View<T> dx) {
  for (Index r = 0; r < dx.rows; ++r) {
    if (norm(r, 0) == T(0)) continue;
    const auto unit = array(y.view().rows_from(r, 1));
    const auto d = array(dy.view().rows_from(r, 1));
    array(dx.rows_from(r, 1)) += (d - unit * (unit * d).sum()) / norm(r, 0);
  }
}

// body(segment) shared between the threads. Segments have rows of their own, so the sums do not depend on
// the number of threads.
template <typename Body>
void each_segment(const Pairs& pairs, const Context& context, Body&& body) {
  context.team->parallel_for(pairs.count(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(i);
  });
}

}  // namespace

void Pairs::set(const Segments& queries, const Segments& keys, Index width) {
  if (queries.count() != keys.count())
    throw std::logic_error("nn::Attention: segments of queries and keys differ in number");
  queries_ = queries;
  keys_ = keys;
  width_ = width;
  offsets_.assign(1, 0);
  for (Index i = 0; i < queries.count(); ++i)
    offsets_.push_back(offsets_.back() + queries.length(i) * width * keys.length(i));
}

template <typename T>
Alignment<T>::Alignment(Parameters<T>& p, const std::string& name, const AttentionConfig& config, Index query,
                        Index key, Index width)
    : score_(config.score),
      activation_(config.activation),
      query_(query),
      key_(key),
      width_(width),
      positions_(std::numeric_limits<Index>::max()) {
  hidden_ = config.hidden > 0 ? config.hidden : key;
  const ParameterOptions bias{.initial = Initial::zeros, .decay = false};
  switch (score_) {
    case Score::dot:
    case Score::cosine:
      break;
    case Score::scaled_dot:
      factor_ = T(1) / std::sqrt(static_cast<T>(key));
      break;
    case Score::general:
    case Score::activated_general:
      weight_ = p.add(name + ".weight", {query, key}, {.initial = Initial::xavier_uniform});
      if (score_ == Score::activated_general) bias_ = p.add(name + ".bias", {1}, bias);
      break;
    case Score::biased_general:
      weight_ = p.add(name + ".weight", {key, query}, {.initial = Initial::xavier_uniform});
      bias_ = p.add(name + ".bias", {key}, bias);
      break;
    case Score::kernel:
      weight_ = p.add(name + ".weight", {hidden_, key}, {.initial = Initial::xavier_uniform});
      factor_ = T(1) / static_cast<T>(hidden_);
      break;
    case Score::location:
      if (with_queries()) positions_ = config.positions;
      out_ = with_queries() ? Linear<T>(p, name, query, positions_) : Linear<T>(p, name, key, width);
      break;
    case Score::concat:
      weight_ = p.add(name + ".weight", {hidden_, query + key}, {.initial = Initial::xavier_uniform});
      bias_ = p.add(name + ".bias", {hidden_}, bias);
      break;
    case Score::additive:
    case Score::deep:
      if (with_queries())
        query_weight_ = p.add(name + ".query.weight", {hidden_, query}, {.initial = Initial::xavier_uniform});
      key_weight_ = p.add(name + ".key.weight", {hidden_, key}, {.initial = Initial::xavier_uniform});
      bias_ = p.add(name + ".key.bias", {hidden_}, bias);
      break;
  }
  if (!by_layers()) return;
  if (score_ == Score::deep) {
    for (Index l = 1; l < config.layers; ++l)
      layers_.emplace_back(p, name + ".layers." + std::to_string(l), hidden_, hidden_);
  }
  out_ = Linear<T>(p, name + ".out", hidden_, width, score_ == Score::deep || width > 1);
}

template <typename T>
void Alignment<T>::forward(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                           Cache& cache, const Context& context) const {
  if (k.rows != pairs.keys().total() || k.cols != key_ || pairs.width() != width_ ||
      (with_queries() && (q.rows != pairs.queries().total() || q.cols != query_))) {
    throw std::logic_error("nn::Attention: queries or keys of the wrong shape");
  }
  cache.scores.resize(1, pairs.total());
  if (score_ == Score::location) {
    forward_location(p, q, k, pairs, cache, context);
  } else if (by_layers()) {
    forward_layers(p, q, k, pairs, cache, context);
  } else {
    forward_products(p, q, k, pairs, cache, context);
  }
}

template <typename T>
void Alignment<T>::backward(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                            Cache& cache, View<T> d_scores, View<T> dq, View<T> dk, Gradients<T>& g,
                            const Context& context) const {
  if (score_ == Score::location) {
    backward_location(p, q, k, pairs, cache, d_scores, dq, dk, g, context);
  } else if (by_layers()) {
    backward_layers(p, q, k, pairs, cache, d_scores, dq, dk, g, context);
  } else {
    backward_products(p, q, k, pairs, cache, d_scores, dq, dk, g, context);
  }
}

// e = factor a(q)^T b(k): a and b are the identity, or make cache.query and cache.key.

template <typename T>
void Alignment<T>::forward_products(const Parameters<T>& p, View<const T> q, View<const T> k,
                                    const Pairs& pairs, Cache& cache, const Context& context) const {
  View<const T> a = q, b = k;
  switch (score_) {
    case Score::cosine:
      normalise_rows<T>(q, cache.query, cache.query_norm);
      normalise_rows<T>(k, cache.key, cache.key_norm);
      b = cache.key;
      break;
    case Score::general:
    case Score::activated_general:
      cache.query.resize(q.rows, key_);
      gemm<T>(Op::none, Op::none, T(1), q, p[weight_], T(0), cache.query, *context.team);
      break;
    case Score::biased_general:
      cache.query.resize(q.rows, key_);
      gemm<T>(Op::none, Op::transpose, T(1), q, p[weight_], T(0), cache.query, *context.team);
      add_to_rows<T>(p[bias_], cache.query, *context.team);
      break;
    case Score::kernel:
      for (const auto& [x, pre, post] :
           {std::tuple(q, &cache.query_pre, &cache.query), std::tuple(k, &cache.key_pre, &cache.key)}) {
        pre->resize(x.rows, hidden_);
        post->resize(x.rows, hidden_);
        gemm<T>(Op::none, Op::transpose, T(1), x, p[weight_], T(0), *pre, *context.team);
        activate<T>(activation_, *pre, post->view(), *context.team);
      }
      b = cache.key;
      break;
    default:
      break;
  }
  if (score_ != Score::dot && score_ != Score::scaled_dot) a = cache.query;
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  each_segment(pairs, context, [&](Index i) {
    gemm<T>(Op::none, Op::transpose, factor_, a.rows_from(queries.begin(i), queries.length(i)),
            b.rows_from(keys.begin(i), keys.length(i)), T(0), pairs.block(cache.scores.data(), i),
            *context.team);
  });
  if (score_ == Score::activated_general) {
    cache.flat.resize(1, pairs.total());
    array(cache.flat.view()) = array(cache.scores.view()) + p[bias_](0, 0);
    activate<T>(activation_, cache.flat, cache.scores.view(), *context.team);
  }
}

template <typename T>
void Alignment<T>::backward_products(const Parameters<T>& p, View<const T> q, View<const T> k,
                                     const Pairs& pairs, Cache& cache, View<T> d_scores, View<T> dq,
                                     View<T> dk, Gradients<T>& g, const Context& context) const {
  if (score_ == Score::activated_general) {
    activate_backward<T>(activation_, cache.flat, cache.scores, d_scores, d_scores, *context.team);
    if (g.wants(bias_)) g[bias_](0, 0) += array(d_scores).sum();
  }
  const bool maps_queries = score_ != Score::dot && score_ != Score::scaled_dot;
  const bool maps_keys = score_ == Score::cosine || score_ == Score::kernel;
  const View<const T> a = maps_queries ? cache.query.view() : q, b = maps_keys ? cache.key.view() : k;
  if (maps_queries) {
    cache.d_query.resize(a.rows, a.cols);
    cache.d_query.fill(T(0));
  }
  if (maps_keys) {
    cache.d_key.resize(b.rows, b.cols);
    cache.d_key.fill(T(0));
  }
  const View<T> da = maps_queries ? cache.d_query.view() : dq, db = maps_keys ? cache.d_key.view() : dk;
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  each_segment(pairs, context, [&](Index i) {
    const View<const T> d = pairs.block(d_scores.data, i);
    const Index qb = queries.begin(i), qn = queries.length(i), kb = keys.begin(i), kn = keys.length(i);
    if (!da.empty())
      gemm<T>(Op::none, Op::none, factor_, d, b.rows_from(kb, kn), T(1), da.rows_from(qb, qn), *context.team);
    if (!db.empty())
      gemm<T>(Op::transpose, Op::none, factor_, d, a.rows_from(qb, qn), T(1), db.rows_from(kb, kn),
              *context.team);
  });
  switch (score_) {
    case Score::cosine:
      if (!dq.empty()) normalise_rows_backward<T>(cache.query, cache.query_norm, cache.d_query, dq);
      if (!dk.empty()) normalise_rows_backward<T>(cache.key, cache.key_norm, cache.d_key, dk);
      break;
    case Score::general:
    case Score::activated_general:
      if (g.wants(weight_))
        gemm<T>(Op::transpose, Op::none, T(1), q, cache.d_query, T(1), g[weight_], *context.team);
      if (!dq.empty())
        gemm<T>(Op::none, Op::transpose, T(1), cache.d_query, p[weight_], T(1), dq, *context.team);
      break;
    case Score::biased_general:
      if (g.wants(bias_)) add_row_sums<T>(cache.d_query, g[bias_]);
      if (g.wants(weight_))
        gemm<T>(Op::transpose, Op::none, T(1), cache.d_query, q, T(1), g[weight_], *context.team);
      if (!dq.empty()) gemm<T>(Op::none, Op::none, T(1), cache.d_query, p[weight_], T(1), dq, *context.team);
      break;
    case Score::kernel:
      activate_backward<T>(activation_, cache.query_pre, cache.query, cache.d_query, cache.d_query.view(),
                           *context.team);
      activate_backward<T>(activation_, cache.key_pre, cache.key, cache.d_key, cache.d_key.view(),
                           *context.team);
      if (g.wants(weight_)) {
        gemm<T>(Op::transpose, Op::none, T(1), cache.d_query, q, T(1), g[weight_], *context.team);
        gemm<T>(Op::transpose, Op::none, T(1), cache.d_key, k, T(1), g[weight_], *context.team);
      }
      if (!dq.empty()) gemm<T>(Op::none, Op::none, T(1), cache.d_query, p[weight_], T(1), dq, *context.team);
      if (!dk.empty()) gemm<T>(Op::none, Op::none, T(1), cache.d_key, p[weight_], T(1), dk, *context.team);
      break;
    default:
      break;
  }
}

// concat, additive, deep: the queries' and the keys' shares of the first layer are computed once a row, and
// meet once a pair. Pair (q, s) of segment i is row offset(i) / width + q * keys + s.

template <typename T>
void Alignment<T>::forward_layers(const Parameters<T>& p, View<const T> q, View<const T> k,
                                  const Pairs& pairs, Cache& cache, const Context& context) const {
  const View<const T> wq = !with_queries()           ? View<const T>()
                           : score_ == Score::concat ? p[weight_].cols_from(0, query_)
                                                     : p[query_weight_];
  const View<const T> wk = score_ == Score::concat ? p[weight_].cols_from(query_, key_) : p[key_weight_];
  cache.key.resize(k.rows, hidden_);
  gemm<T>(Op::none, Op::transpose, T(1), k, wk, T(0), cache.key, *context.team);
  add_to_rows<T>(p[bias_], cache.key, *context.team);
  if (with_queries()) {
    cache.query.resize(q.rows, hidden_);
    gemm<T>(Op::none, Op::transpose, T(1), q, wq, T(0), cache.query, *context.team);
  }
  const Index rows = pairs.total() / width_, depth = static_cast<Index>(layers_.size()) + 1;
  cache.pre.resize(static_cast<std::size_t>(depth));
  cache.post.resize(static_cast<std::size_t>(depth));
  const auto before = [&](std::size_t l) -> Matrix<T>& {
    return keeps_inputs() ? cache.pre[l] : cache.post[l];
  };
  before(0).resize(rows, hidden_);
  cache.post[0].resize(rows, hidden_);
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  each_segment(pairs, context, [&](Index i) {
    const Index n = keys.length(i), first = pairs.offset(i) / width_;
    const View<const T> key = cache.key.view().rows_from(keys.begin(i), n);
    for (Index r = 0; r < queries.length(i); ++r) {
      auto target = array(before(0).view().rows_from(first + r * n, n));
      target = array(key);
      if (with_queries())
        target.rowwise() +=
            array(View<const T>(cache.query.view().rows_from(queries.begin(i) + r, 1))).row(0);
    }
  });
  activate<T>(activation_, before(0), cache.post[0].view(), *context.team);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    before(l + 1).resize(rows, hidden_);
    cache.post[l + 1].resize(rows, hidden_);
    layers_[l].forward(p, cache.post[l], before(l + 1), context);
    activate<T>(activation_, before(l + 1), cache.post[l + 1].view(), *context.team);
  }
  if (width_ == 1) {
    out_.forward(p, cache.post.back(), View<T>(cache.scores.data(), rows, 1), context);
    return;
  }
  cache.flat.resize(rows, width_);
  out_.forward(p, cache.post.back(), cache.flat, context);
  each_segment(pairs, context, [&](Index i) {
    const Index n = keys.length(i), first = pairs.offset(i) / width_;
    const View<T> block = pairs.block(cache.scores.data(), i);
    for (Index r = 0; r < queries.length(i); ++r)
      matrix(block.rows_from(r * width_, width_)) =
          matrix(View<const T>(cache.flat.view().rows_from(first + r * n, n))).transpose();
  });
}

template <typename T>
void Alignment<T>::backward_layers(const Parameters<T>& p, View<const T> q, View<const T> k,
                                   const Pairs& pairs, Cache& cache, View<T> d_scores, View<T> dq, View<T> dk,
                                   Gradients<T>& g, const Context& context) const {
  const Index rows = pairs.total() / width_;
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  View<const T> d_out(d_scores.data, rows, 1);
  if (width_ > 1) {
    cache.flat.resize(rows, width_);
    each_segment(pairs, context, [&](Index i) {
      const Index n = keys.length(i), first = pairs.offset(i) / width_;
      const View<T> block = pairs.block(d_scores.data, i);
      for (Index r = 0; r < queries.length(i); ++r)
        matrix(cache.flat.view().rows_from(first + r * n, n)) =
            matrix(block.rows_from(r * width_, width_)).transpose();
    });
    d_out = cache.flat;
  }
  cache.d_hidden.resize(rows, hidden_);
  out_.backward(p, cache.post.back(), d_out, cache.d_hidden, g, context);
  for (std::size_t l = layers_.size();; --l) {
    const Matrix<T>& before = keeps_inputs() ? cache.pre[l] : cache.post[l];
    activate_backward<T>(activation_, before, cache.post[l], cache.d_hidden, cache.d_hidden.view(),
                         *context.team);
    if (l == 0) break;
    cache.d_below.resize(rows, hidden_);
    layers_[l - 1].backward(p, cache.post[l - 1], cache.d_hidden, cache.d_below, g, context);
    std::swap(cache.d_hidden, cache.d_below);
  }

  cache.d_key.resize(k.rows, hidden_);
  cache.d_key.fill(T(0));
  if (with_queries()) {
    cache.d_query.resize(q.rows, hidden_);
    cache.d_query.fill(T(0));
  }
  each_segment(pairs, context, [&](Index i) {
    const Index n = keys.length(i), first = pairs.offset(i) / width_;
    for (Index r = 0; r < queries.length(i); ++r) {
      const View<const T> d = cache.d_hidden.view().rows_from(first + r * n, n);
      array(cache.d_key.view().rows_from(keys.begin(i), n)) += array(d);
      if (with_queries())
        array(cache.d_query.view().rows_from(queries.begin(i) + r, 1)) += array(d).colwise().sum();
    }
  });

  const auto columns = [&](View<T> weight, Index from, Index count) {
    return score_ == Score::concat ? weight.cols_from(from, count) : weight;
  };
  const ParameterId wq = score_ == Score::concat ? weight_ : query_weight_;
  const ParameterId wk = score_ == Score::concat ? weight_ : key_weight_;
  if (g.wants(bias_)) add_row_sums<T>(cache.d_key, g[bias_]);
  if (g.wants(wk))
    gemm<T>(Op::transpose, Op::none, T(1), cache.d_key, k, T(1), columns(g[wk], query_, key_), *context.team);
  if (!dk.empty()) {
    const View<const T> weight = score_ == Score::concat ? p[wk].cols_from(query_, key_) : p[wk];
    gemm<T>(Op::none, Op::none, T(1), cache.d_key, weight, T(1), dk, *context.team);
  }
  if (!with_queries()) return;
  if (g.wants(wq))
    gemm<T>(Op::transpose, Op::none, T(1), cache.d_query, q, T(1), columns(g[wq], 0, query_), *context.team);
  if (!dq.empty()) {
    const View<const T> weight = score_ == Score::concat ? p[wq].cols_from(0, query_) : p[wq];
    gemm<T>(Op::none, Op::none, T(1), cache.d_query, weight, T(1), dq, *context.team);
  }
}

// location: with queries, output s of a layer is the score of the key at position s, whatever stands there;
// without, the layer reads the key.

template <typename T>
void Alignment<T>::forward_location(const Parameters<T>& p, View<const T> q, View<const T> k,
                                    const Pairs& pairs, Cache& cache, const Context& context) const {
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  if (with_queries()) {
    cache.flat.resize(q.rows, positions_);
    out_.forward(p, q, cache.flat, context);
  } else {
    cache.flat.resize(k.rows, width_);
    out_.forward(p, k, cache.flat, context);
  }
  each_segment(pairs, context, [&](Index i) {
    const View<T> block = pairs.block(cache.scores.data(), i);
    const View<const T> flat = cache.flat;
    if (!with_queries()) {
      matrix(block) = matrix(flat.rows_from(keys.begin(i), keys.length(i))).transpose();
      return;
    }
    const Index n = std::min(block.cols, positions_);
    array(block).setZero();
    array(block.cols_from(0, n)) = array(flat.rows_from(queries.begin(i), block.rows).cols_from(0, n));
  });
}

template <typename T>
void Alignment<T>::backward_location(const Parameters<T>& p, View<const T> q, View<const T> k,
                                     const Pairs& pairs, Cache& cache, View<T> d_scores, View<T> dq,
                                     View<T> dk, Gradients<T>& g, const Context& context) const {
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  cache.flat.fill(T(0));
  each_segment(pairs, context, [&](Index i) {
    const View<const T> block = pairs.block(d_scores.data, i);
    const View<T> flat = cache.flat;
    if (!with_queries()) {
      matrix(flat.rows_from(keys.begin(i), keys.length(i))) = matrix(block).transpose();
      return;
    }
    const Index n = std::min(block.cols, positions_);
    array(flat.rows_from(queries.begin(i), block.rows).cols_from(0, n)) = array(block.cols_from(0, n));
  });
  const View<T> dx = with_queries() ? dq : dk;
  Matrix<T>& d_input = with_queries() ? cache.d_query : cache.d_key;
  if (!dx.empty()) d_input.resize(dx.rows, dx.cols);
  out_.backward(p, with_queries() ? q : k, cache.flat, dx.empty() ? View<T>() : d_input.view(), g, context);
  if (!dx.empty()) array(dx) += array(d_input.view());
}

template class Alignment<float>;
template class Alignment<double>;

}  // namespace askbase::nn
