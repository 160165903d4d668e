#include "nn/attention.h"

#include <stdexcept>

#include "nn/eigen.h"
#include "nn/gemm.h"

namespace askbase::nn {

namespace {

// Scores that compare a key with a query: pooling by one of them learns the queries.
bool compares(Score score) {
  return score != Score::concat && score != Score::additive && score != Score::deep &&
         score != Score::location;
}

template <typename T>
void zero(View<T> view) {
  if (!view.empty()) array(view).setZero();
}

// d_input = what comes back through a projection, added to dx.
template <typename T>
void backward_projection(const Linear<T>& layer, const Parameters<T>& p, View<const T> x, const Matrix<T>& dy,
                         View<T> dx, Matrix<T>& d_input, Gradients<T>& g, const Context& context) {
  if (!dx.empty()) d_input.resize(dx.rows, dx.cols);
  layer.backward(p, x, dy, dx.empty() ? View<T>() : d_input.view(), g, context);
  if (!dx.empty()) array(dx) += array(d_input.view());
}

}  // namespace

template <typename T>
Attention<T>::Attention(Parameters<T>& p, const std::string& name, const AttentionConfig& config)
    : config_(config) {
  if (const base::Status valid = validate(config); !valid) throw std::logic_error(valid.error().message);
  const Index heads = config.heads;
  value_ = config.value > 0 ? config.value : config.key;
  const Index head_query = projected() ? config.projected / heads : config.query;
  const Index head_key = projected() ? config.projected / heads : config.key;
  const Index head_value = projected() ? config.projected / heads : value_;
  const bool learns_queries = pooling() && compares(config.score);
  if (learns_queries) {
    learned_queries_ = config.rows;
    query_vectors_ =
        p.add(name + ".query_vectors", {config.rows, head_key * heads}, {.initial = Initial::fan_in_uniform});
  }
  if (projected()) {
    if (!pooling()) project_query_ = Linear<T>(p, name + ".query", config.query, config.projected);
    project_key_ = Linear<T>(p, name + ".key", config.key, config.projected);
    project_value_ = Linear<T>(p, name + ".value", value_, config.projected);
    output_ = Linear<T>(p, name + ".output", config.projected, config.projected);
  }
  score_width_ = config.by_feature ? head_value : pooling() && !learns_queries ? config.rows : 1;
  const Index query = learns_queries ? head_key : pooling() ? 0 : head_query;
  for (Index h = 0; h < heads; ++h) {
    heads_.emplace_back(p, heads == 1 ? name : name + ".heads." + std::to_string(h), config, query, head_key,
                        score_width_);
  }
}

template <typename T>
void Attention<T>::forward(const Parameters<T>& p, View<const T> q, const Segments& queries, View<const T> k,
                           View<const T> v, const Segments& keys, View<T> y, AttentionCache<T>& cache,
                           const Context& context) const {
  if (pooling()) throw std::logic_error("nn::Attention: configured without queries; call pool()");
  if (q.rows != queries.total() || q.cols != config_.query)
    throw std::logic_error("nn::Attention: queries of the wrong shape");
  cache.pairs.set(queries, keys, score_width_);
  View<const T> query = q;
  if (projected()) {
    cache.query.resize(q.rows, config_.projected);
    project_query_.forward(p, q, cache.query, context);
    query = cache.query;
  }
  run(p, query, k, v, y, cache, context);
}

template <typename T>
void Attention<T>::pool(const Parameters<T>& p, View<const T> k, View<const T> v, const Segments& keys,
                        View<T> y, AttentionCache<T>& cache, const Context& context) const {
  if (!pooling()) throw std::logic_error("nn::Attention: configured with queries; call forward()");
  const Index rows = learned_queries_ > 0 ? learned_queries_ : 1;
  cache.pairs.set(Segments::equal(keys.count(), rows), keys, score_width_);
  View<const T> query;
  if (learned_queries_ > 0) {
    const View<const T> vectors = p[query_vectors_];
    cache.query.resize(keys.count() * rows, vectors.cols);
    for (Index i = 0; i < keys.count(); ++i)
      array(cache.query.view().rows_from(i * rows, rows)) = array(vectors);
    query = cache.query;
  }
  run(p, query, k, v, y, cache, context);
}

template <typename T>
void Attention<T>::run(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v, View<T> y,
                       AttentionCache<T>& cache, const Context& context) const {
  const Index rows = cache.pairs.queries().total() * (config_.by_feature ? 1 : score_width_);
  if (k.rows != cache.pairs.keys().total() || k.cols != config_.key || v.rows != k.rows || v.cols != value_)
    throw std::logic_error("nn::Attention: keys or values of the wrong shape");
  if (y.rows != rows || y.cols != out()) throw std::logic_error("nn::Attention: y of the wrong shape");
  cache.heads.resize(heads_.size());
  if (!projected()) {
    heads_[0].forward(p, q, k, v, cache.pairs, y, cache.heads[0], context);
    return;
  }
  cache.key.resize(k.rows, config_.projected);
  cache.value.resize(k.rows, config_.projected);
  cache.joined.resize(rows, config_.projected);
  project_key_.forward(p, k, cache.key, context);
  project_value_.forward(p, v, cache.value, context);
  const Index width = config_.projected / config_.heads;
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const auto part = [&](auto view) {
      return view.cols == 0 ? view : view.cols_from(static_cast<Index>(h) * width, width);
    };
    heads_[h].forward(p, part(q), part(View<const T>(cache.key)), part(View<const T>(cache.value)),
                      cache.pairs, part(cache.joined.view()), cache.heads[h], context);
  }
  output_.forward(p, cache.joined, y, context);
}

template <typename T>
void Attention<T>::backward(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v,
                            AttentionCache<T>& cache, View<const T> dy, View<T> dq, View<T> dk, View<T> dv,
                            Gradients<T>& g, const Context& context) const {
  zero(dq);
  zero(dk);
  zero(dv);
  if (!projected()) {
    heads_[0].backward(p, q, k, v, cache.pairs, cache.heads[0], dy, dq, dk, dv, g, context);
    return;
  }
  cache.d_joined.resize(cache.joined.rows(), cache.joined.cols());
  output_.backward(p, cache.joined, dy, cache.d_joined, g, context);
  for (const auto& [d, like] : {std::pair(&cache.d_query, &cache.query), std::pair(&cache.d_key, &cache.key),
                                std::pair(&cache.d_value, &cache.value)}) {
    d->resize(like->rows(), like->cols());
    d->fill(T(0));
  }
  const Index width = config_.projected / config_.heads;
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const auto part = [&](auto view) {
      return view.cols == 0 ? view : view.cols_from(static_cast<Index>(h) * width, width);
    };
    heads_[h].backward(p, part(View<const T>(cache.query)), part(View<const T>(cache.key)),
                       part(View<const T>(cache.value)), cache.pairs, cache.heads[h],
                       part(View<const T>(cache.d_joined)), part(cache.d_query.view()),
                       part(cache.d_key.view()), part(cache.d_value.view()), g, context);
  }
  if (!pooling()) backward_projection<T>(project_query_, p, q, cache.d_query, dq, cache.d_input, g, context);
  backward_projection<T>(project_key_, p, k, cache.d_key, dk, cache.d_input, g, context);
  backward_projection<T>(project_value_, p, v, cache.d_value, dv, cache.d_input, g, context);
}

template <typename T>
void Attention<T>::pool_backward(const Parameters<T>& p, View<const T> k, View<const T> v,
                                 AttentionCache<T>& cache, View<const T> dy, View<T> dk, View<T> dv,
                                 Gradients<T>& g, const Context& context) const {
  const bool learned = learned_queries_ > 0;
  View<T> dq;
  if (learned && !projected()) {
    cache.d_query.resize(cache.query.rows(), cache.query.cols());
    dq = cache.d_query;
  }
  backward(p, learned ? View<const T>(cache.query) : View<const T>(), k, v, cache, dy, dq, dk, dv, g,
           context);
  if (!learned || !g.wants(query_vectors_)) return;
  for (Index i = 0; i < cache.pairs.count(); ++i)
    array(g[query_vectors_]) += array(cache.d_query.view().rows_from(i * learned_queries_, learned_queries_));
}

template <typename T>
View<const T> Attention<T>::weights(const AttentionCache<T>& cache, Index segment, Index head) const {
  const std::size_t h = static_cast<std::size_t>(head);
  return cache.pairs.block(heads_.at(h).weights(cache.heads.at(h)).data(), segment);
}

template <typename T>
double Attention<T>::penalty(AttentionCache<T>& cache, T scale) const {
  double sum = 0;
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    Matrix<T>& extra = cache.heads[h].extra;
    extra.resize(1, cache.pairs.total());
    for (Index i = 0; i < cache.pairs.count(); ++i) {
      const View<const T> a = weights(cache, i, static_cast<Index>(h));
      if (a.empty()) continue;  // nothing that could be kept apart
      Matrix<T> product(a.rows, a.rows);
      gemm<T>(Op::none, Op::transpose, T(1), a, a, T(0), product);
      for (Index r = 0; r < a.rows; ++r) product(r, r) -= T(1);
      sum += static_cast<double>(scale) * static_cast<double>(array(product.view()).square().sum());
      // d/dA |A A^T - I|^2 = 4 (A A^T - I) A
      gemm<T>(Op::none, Op::none, T(4) * scale, product, a, T(0), cache.pairs.block(extra.data(), i));
    }
  }
  return sum;
}

template class Attention<float>;
template class Attention<double>;

}  // namespace askbase::nn
