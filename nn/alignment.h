// Alignment scores: how well each key answers each query. The first half of nn/attention.h, which most code
// uses instead; the formulas stand at Score in nn/attention_config.h.
#pragma once

#include <string>
#include <vector>

#include "nn/attention_config.h"
#include "nn/context.h"
#include "nn/linear.h"
#include "nn/parameters.h"

namespace askbase::nn {

// Which rows meet: the queries of segment i and the keys of segment i. Every query has `width` scores for
// each key (more than one: features, or rows when pooling). The scores of segment i are one block (queries *
// width, keys) without gaps: row q * width + f is one distribution. The blocks lie one after the other.
class Pairs {
 public:
  // A different number of segments is a programmer error (std::logic_error).
  void set(const Segments& queries, const Segments& keys, Index width);

  const Segments& queries() const { return queries_; }
  const Segments& keys() const { return keys_; }
  Index width() const { return width_; }
  Index count() const { return queries_.count(); }
  Index total() const { return offsets_.back(); }  // scores in all
  Index offset(Index segment) const { return offsets_[static_cast<std::size_t>(segment)]; }
  template <typename T>
  View<T> block(T* scores, Index segment) const {
    return {scores + offset(segment), queries_.length(segment) * width_, keys_.length(segment)};
  }

 private:
  Segments queries_, keys_;
  Index width_ = 1;
  std::vector<Index> offsets_{0};
};

// Immutable after construction; any number of threads, each with its own cache.
template <typename T>
class Alignment {
 public:
  struct Cache {
    Matrix<T> scores;  // (1, pairs.total())
    Matrix<T> query, key, query_norm, key_norm, query_pre, key_pre;
    std::vector<Matrix<T>> pre, post;  // one a hidden layer: (queries x keys, hidden), the largest by far
    Matrix<T> d_query, d_key, d_hidden, d_below, flat;
  };

  // query 0: the score reads keys alone (location, concat, additive, deep). Parameters, by score:
  // general "weight" (query, key); biased_general "weight" (key, query), "bias" (key); activated_general
  // "weight" (query, key), "bias" (1); kernel "weight" (hidden, key); location "weight" (positions or width,
  // query or key), "bias"; concat "weight" (hidden, query + key), "bias" (hidden), "out.weight" (width,
  // hidden); additive "query.weight" (hidden, query), "key.weight" (hidden, key), "key.bias" (hidden),
  // "out.weight"; deep the same, "layers.<l>.weight" (hidden, hidden), "layers.<l>.bias" and "out.bias".
  // Where width is above 1, "out.bias" (width) exists too.
  Alignment(Parameters<T>& p, const std::string& name, const AttentionConfig& config, Index query, Index key,
            Index width);

  // q (pairs.queries().total(), query), or empty; k (pairs.keys().total(), key) -> cache.scores.
  void forward(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs, Cache& cache,
               const Context& context) const;
  // d_scores is overwritten. Adds to dq and dk where they are not empty, and to g.
  void backward(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs, Cache& cache,
                View<T> d_scores, View<T> dq, View<T> dk, Gradients<T>& g, const Context& context) const;

  // Keys from here on in a segment have no score.
  Index positions() const { return positions_; }

 private:
  bool by_layers() const {
    return score_ == Score::concat || score_ == Score::additive || score_ == Score::deep;
  }
  bool with_queries() const { return query_ > 0; }
  // Of the others the derivative follows from the output: their layers are computed in place.
  bool keeps_inputs() const { return activation_ == Activation::gelu; }

  void forward_products(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                        Cache& cache, const Context& context) const;
  void backward_products(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                         Cache& cache, View<T> d_scores, View<T> dq, View<T> dk, Gradients<T>& g,
                         const Context& context) const;
  void forward_layers(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                      Cache& cache, const Context& context) const;
  void backward_layers(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                       Cache& cache, View<T> d_scores, View<T> dq, View<T> dk, Gradients<T>& g,
                       const Context& context) const;
  void forward_location(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                        Cache& cache, const Context& context) const;
  void backward_location(const Parameters<T>& p, View<const T> q, View<const T> k, const Pairs& pairs,
                         Cache& cache, View<T> d_scores, View<T> dq, View<T> dk, Gradients<T>& g,
                         const Context& context) const;

  Score score_;
  Activation activation_;
  Index query_, key_, width_, hidden_ = 0, positions_;
  T factor_ = T(1);
  ParameterId weight_ = -1, bias_ = -1, query_weight_ = -1, key_weight_ = -1;
  std::vector<Linear<T>> layers_;  // deep: the hidden layers after the first
  Linear<T> out_;                  // of concat, additive, deep; location itself
};

extern template class Alignment<float>;
extern template class Alignment<double>;

}  // namespace askbase::nn
