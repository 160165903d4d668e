// Which keys a query looks at: the windows of nn/attention_config.h.
#pragma once

#include <string>

#include "nn/attention_config.h"
#include "nn/linear.h"

namespace askbase::nn {

struct KeyRange {
  Index begin = 0, end = 0;
};
// The keys of a segment of `keys` keys that a query with this centre may look at. centre is read by local_m
// (the query's position) and local_p (the predicted position, any real number); half_width is D.
KeyRange window_range(Window window, Index half_width, double centre, Index keys);

// local_p's aligned position, p = S sigmoid(v^T tanh(W q)) with S the number of keys (Luong 2015, equation
// 9), and the Gaussian around it. Immutable; any thread.
template <typename T>
class PositionPredictor {
 public:
  struct Cache {
    Matrix<T> hidden, activated, position;  // (queries, hidden) twice, (queries, 1)
    Matrix<T> d_position;                   // (queries, 1): backward reads and overwrites it
    Matrix<T> d_hidden, d_query;
  };
  PositionPredictor() = default;
  // Adds "<name>.hidden.weight" (hidden, query) and "<name>.out.weight" (1, hidden).
  PositionPredictor(Parameters<T>& p, const std::string& name, Index query, Index hidden);

  void forward(const Parameters<T>& p, View<const T> q, const Segments& queries, const Segments& keys,
               Cache& cache, const Context& context) const;
  // From cache.d_position, the gradient of the positions. Adds to dq (when not empty) and g.
  void backward(const Parameters<T>& p, View<const T> q, const Segments& queries, const Segments& keys,
                Cache& cache, View<T> dq, Gradients<T>& g, const Context& context) const;

 private:
  Linear<T> hidden_, out_;
};

// y(s) = x(s) exp(-(s - centre)^2 / (2 sigma^2)), sigma = half_width / 2, for s in the range; y may be x.
template <typename T>
void gaussian_window(Index half_width, T centre, KeyRange range, const T* x, T* y);
// dx(s) = dy(s) exp(...) (dx may be dy); returns the derivative by centre, from x of the forward pass.
template <typename T>
T gaussian_window_backward(Index half_width, T centre, KeyRange range, const T* x, const T* dy, T* dx);

extern template class PositionPredictor<float>;
extern template class PositionPredictor<double>;

}  // namespace askbase::nn
