// Co-attention of two inputs: both are summed up by weights that one affinity matrix gives them (Lu et al.
// 2016, parallel co-attention, equations 3 to 5).
//
//   C = tanh(A W B^T)   H_a = tanh(A W_a^T + C B W_b^T)   H_b = tanh(B W_b^T + C^T A W_a^T)
//   a = weights of H_a w_a, applied to A; b = weights of H_b w_b, applied to B (rows are words)
#pragma once

#include <string>

#include "nn/alignment.h"

namespace askbase::nn {

// Immutable after construction; any number of threads, each with its own cache.
template <typename T>
class CoAttention {
 public:
  struct Cache {
    Pairs pairs;
    Matrix<T> mapped, projected_a, projected_b;  // A W, A W_a^T, B W_b^T
    Matrix<T> affinity, hidden_a, hidden_b, scores_a, scores_b, weights_a, weights_b;
    Matrix<T> d_mapped, d_affinity, d_hidden_a, d_hidden_b, d_projected_a, d_projected_b, d_scores;
  };

  // Adds "<name>.affinity.weight" (a, b), "<name>.a.weight" (hidden, a), "<name>.b.weight" (hidden, b),
  // "<name>.a.out.weight" and "<name>.b.out.weight" (1, hidden).
  CoAttention(Parameters<T>& p, const std::string& name, Index a, Index b, Index hidden,
              Distribution distribution = Distribution::softmax, double alpha = 1.5);

  // a (a_segments.total(), a), b (b_segments.total(), b), as many segments in both -> one row a segment in ya
  // (.., a) and yb (.., b). An input of length 0 gives zeros and leaves the other to itself.
  void forward(const Parameters<T>& p, View<const T> a, const Segments& a_segments, View<const T> b,
               const Segments& b_segments, View<T> ya, View<T> yb, Cache& cache,
               const Context& context) const;
  // Adds to g; writes da and db, each where it is not empty.
  void backward(const Parameters<T>& p, View<const T> a, View<const T> b, Cache& cache, View<const T> dya,
                View<const T> dyb, View<T> da, View<T> db, Gradients<T>& g, const Context& context) const;

  // (1, length of the segment), summing to 1 unless by sigmoid; for display.
  View<const T> weights_a(const Cache& cache, Index segment) const {
    const Segments& s = cache.pairs.queries();
    return {cache.weights_a.data() + s.begin(segment), 1, s.length(segment)};
  }
  View<const T> weights_b(const Cache& cache, Index segment) const {
    const Segments& s = cache.pairs.keys();
    return {cache.weights_b.data() + s.begin(segment), 1, s.length(segment)};
  }

 private:
  void weigh(const Parameters<T>& p, const Linear<T>& out, View<const T> x, const Segments& segments,
             const Matrix<T>& hidden, Matrix<T>& scores, Matrix<T>& weights, View<T> y,
             const Context& context) const;
  // dy -> dx (added, where not empty) and the gradient before the tanh of `hidden`.
  void weigh_backward(const Parameters<T>& p, const Linear<T>& out, View<const T> x, const Segments& segments,
                      const Matrix<T>& hidden, const Matrix<T>& weights, View<const T> dy, View<T> dx,
                      Matrix<T>& d_scores, Matrix<T>& d_hidden, Gradients<T>& g,
                      const Context& context) const;

  ParameterId affinity_;
  Linear<T> a_, b_, a_out_, b_out_;
  Distribution distribution_;
  double alpha_;
};

extern template class CoAttention<float>;
extern template class CoAttention<double>;

}  // namespace askbase::nn
