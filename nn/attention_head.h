// One head of nn/attention.h: scores, window, distribution, and the sum of the values so weighed.
#pragma once

#include <string>

#include "nn/alignment.h"
#include "nn/attention_window.h"

namespace askbase::nn {

// Immutable; any number of threads, each with its own cache.
template <typename T>
class AttentionHead {
 public:
  struct Cache {
    typename Alignment<T>::Cache alignment;
    typename PositionPredictor<T>::Cache position;
    Matrix<T> probabilities, weights;  // (1, pairs.total()): before and after local_p's Gaussian
    Matrix<T> d_weights;
    Matrix<T> extra;       // gradient of a loss on the weights, added by the next backward; empty: none
    bool arg_max = false;  // hard attention at inference
  };

  // The parameters of the score are "<name>.score...", those of local_p "<name>.position...".
  AttentionHead(Parameters<T>& p, const std::string& name, const AttentionConfig& config, Index query,
                Index key, Index width);

  // q, k, v: rows by pairs; y (queries * width, v.cols), or by feature (queries, v.cols = width).
  void forward(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v, const Pairs& pairs,
               View<T> y, Cache& cache, const Context& context) const;
  // Adds to dq, dk, dv (each may be empty) and g.
  void backward(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v, const Pairs& pairs,
                Cache& cache, View<const T> dy, View<T> dq, View<T> dk, View<T> dv, Gradients<T>& g,
                const Context& context) const;

  const Matrix<T>& weights(const Cache& cache) const {
    return window_ == Window::local_p ? cache.weights : cache.probabilities;
  }

 private:
  KeyRange range(const Pairs& pairs, const Cache& cache, Index segment, Index query) const;

  Alignment<T> alignment_;
  PositionPredictor<T> position_;
  Distribution distribution_;
  double alpha_;
  Window window_;
  Index half_width_;
  bool by_feature_;
};

extern template class AttentionHead<float>;
extern template class AttentionHead<double>;

}  // namespace askbase::nn
