// Multi-head scaled dot-product attention (Vaswani 2017), the fast form that Transformers use. nn/attention.h
// is the general module.
//
// Queries, keys and values of all heads lie side by side in the columns of their views: head h is columns
// [h * d / heads, (h + 1) * d / heads). Query segment i attends to key segment i. A query whose key segment
// is empty gets zeros.
#pragma once

#include "nn/context.h"
#include "nn/dropout.h"
#include "nn/matrix.h"

namespace askbase::nn {

template <typename T>
class MultiHeadAttention {
 public:
  struct Cache {
    // Set before forward: keep the weights for backward or for display. Without it forward needs memory for
    // one head of one sequence a thread only.
    bool keep_weights = false;
    // Weight of key column k for query row q of segment s and head h, at
    // offset(s) + (h * length_q + q) * length_k + k. Negative: dropped in this pass (its size is the weight).
    Matrix<T> weights;
    std::vector<Index> offsets;
    std::vector<Matrix<T>> scratch;  // a few a thread
  };

  MultiHeadAttention() = default;
  // d must be a multiple of heads.
  MultiHeadAttention(Index d, Index heads, Dropout<T> dropout = {});

  // q (n, d), k and v (m, d) -> out (n, d)
  void forward(View<const T> q, View<const T> k, View<const T> v, const Segments& queries,
               const Segments& keys, View<T> out, Cache& cache, const Context& context) const;
  // From d_out (n, d): dq, dk, dv, overwritten. cache as forward left it, with keep_weights.
  void backward(View<const T> q, View<const T> k, View<const T> v, const Segments& queries,
                const Segments& keys, Cache& cache, View<const T> d_out, View<T> dq, View<T> dk, View<T> dv,
                const Context& context) const;

  // The weights of one segment and head, (length_q, length_k), rows summing to 1, whatever was dropped.
  Matrix<T> weights(const Cache& cache, const Segments& queries, const Segments& keys, Index segment,
                    Index head) const;

  Index heads() const { return heads_; }

 private:
  Index d_ = 0, heads_ = 1;
  Dropout<T> dropout_;
};

extern template class MultiHeadAttention<float>;
extern template class MultiHeadAttention<double>;

}  // namespace askbase::nn
