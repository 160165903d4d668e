// Attention: for every query, a sum of values weighed by how well their keys answer it. One module for all
// kinds, chosen by name in the configuration (nn/attention_config.h).
//
//   Attention<float> layer(p, "attention", {.score = Score::additive, .query = 300, .key = 300});
//   AttentionCache<float> cache;
//   layer.forward(p, q, q_segments, k, v, k_segments, y, cache, context);   // cross-attention
//   layer.forward(p, x, segments, x, x, segments, y, cache, context);       // self-attention
//   layer.backward(p, q, k, v, cache, dy, dq, dk, dv, g, context);          // self: x and dx three times
//   layer.weights(cache, i);                                                // for display
//
// Without queries it pools, here to one vector a sentence:
//
//   Attention<float> pooling(p, "pooling", {.score = Score::additive, .key = 300});
//   pooling.pool(p, x, x, segments, y, cache, context);
//
// The queries of segment i look at the keys of segment i; without keys the context is zeros. For several
// inputs at once see nn/co_attention.h, for words in sentences or several embeddings of one word
// nn/attention_levels.h, for the Transformer's own layer nn/multi_head_attention.h.
#pragma once

#include <string>
#include <vector>

#include "nn/attention_config.h"
#include "nn/attention_head.h"

namespace askbase::nn {

// What a backward pass needs of the forward pass, and scratch memory. Used again from batch to batch; belongs
// to one thread.
template <typename T>
struct AttentionCache {
  Pairs pairs;
  std::vector<typename AttentionHead<T>::Cache> heads;
  Matrix<T> query, key, value, joined;  // as the heads see them, and their contexts side by side
  Matrix<T> d_query, d_key, d_value, d_joined, d_input;
};

// Immutable after construction; any number of threads, each with its own cache.
template <typename T>
class Attention {
 public:
  // A configuration that validate() turns down is a programmer error (std::logic_error): ask validate() first
  // where it comes from a file. Parameters: "<name>.score..." (see nn/alignment.h; with several heads
  // "<name>.heads.<h>.score..."), "<name>.position...", "<name>.query_vectors" (rows, key) when pooling by a
  // score that reads queries, and where projected "<name>.query", ".key", ".value", ".output" (linear).
  Attention(Parameters<T>& p, const std::string& name, const AttentionConfig& config);

  // q (queries.total(), query), k (keys.total(), key), v (keys.total(), value) -> y (queries.total(), out()).
  void forward(const Parameters<T>& p, View<const T> q, const Segments& queries, View<const T> k,
               View<const T> v, const Segments& keys, View<T> y, AttentionCache<T>& cache,
               const Context& context) const;
  // Adds the parameters' gradients to g and writes dq, dk and dv, each where it is not empty. Where two or
  // three of them are the same memory it receives their sum.
  void backward(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v,
                AttentionCache<T>& cache, View<const T> dy, View<T> dq, View<T> dk, View<T> dv,
                Gradients<T>& g, const Context& context) const;

  // The same where config.query is 0: y (keys.count() * rows, out()), the rows of a segment together.
  void pool(const Parameters<T>& p, View<const T> k, View<const T> v, const Segments& keys, View<T> y,
            AttentionCache<T>& cache, const Context& context) const;
  void pool_backward(const Parameters<T>& p, View<const T> k, View<const T> v, AttentionCache<T>& cache,
                     View<const T> dy, View<T> dk, View<T> dv, Gradients<T>& g, const Context& context) const;

  // The weights of the last forward pass: (queries of the segment, its keys); when pooling (rows, keys); by
  // feature row q * features + f belongs to feature f of query q. Each row sums to 1, with sigmoid or local_p
  // it does not; without keys there are no columns. Valid until the cache is used again.
  View<const T> weights(const AttentionCache<T>& cache, Index segment, Index head = 0) const;

  // scale times the sum over segments and heads of |A A^T - I|^2 (Frobenius), A the weights: keeps the rows
  // of a pooling apart (Lin 2017, equation 8). Segments without keys do not count. Call it after the forward
  // pass: its gradient joins in the next backward pass.
  double penalty(AttentionCache<T>& cache, T scale) const;

  const AttentionConfig& config() const { return config_; }
  Index out() const { return projected() ? config_.projected : value_; }

 private:
  bool pooling() const { return config_.query == 0; }
  bool projected() const { return config_.projected > 0; }
  void run(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v, View<T> y,
           AttentionCache<T>& cache, const Context& context) const;

  AttentionConfig config_;
  Index value_ = 0;        // width of a value given
  Index score_width_ = 1;  // scores of a query for a key
  Index learned_queries_ = 0;
  ParameterId query_vectors_ = -1;
  Linear<T> project_query_, project_key_, project_value_, output_;
  std::vector<AttentionHead<T>> heads_;
};

extern template class Attention<float>;
extern template class Attention<double>;

}  // namespace askbase::nn
