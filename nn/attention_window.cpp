#include "nn/attention_window.h"

#include <algorithm>
#include <cmath>

#include "nn/eigen.h"

namespace askbase::nn {

KeyRange window_range(Window window, Index half_width, double centre, Index keys) {
  // A position that is no number keeps all keys, so that it shows in the result.
  if (window == Window::global || window == Window::hard || std::isnan(centre)) return {0, keys};
  const double d = static_cast<double>(half_width), last = static_cast<double>(keys);
  const double begin = std::clamp(std::ceil(centre - d), 0.0, last);
  const double end = std::clamp(std::floor(centre + d) + 1, begin, last);
  return {static_cast<Index>(begin), static_cast<Index>(end)};
}

template <typename T>
PositionPredictor<T>::PositionPredictor(Parameters<T>& p, const std::string& name, Index query, Index hidden)
    : hidden_(p, name + ".hidden", query, hidden, false), out_(p, name + ".out", hidden, 1, false) {}

template <typename T>
void PositionPredictor<T>::forward(const Parameters<T>& p, View<const T> q, const Segments& queries,
                                   const Segments& keys, Cache& cache, const Context& context) const {
  cache.hidden.resize(q.rows, hidden_.out());
  cache.activated.resize(q.rows, hidden_.out());
  cache.position.resize(q.rows, 1);
  hidden_.forward(p, q, cache.hidden, context);
  activate<T>(Activation::tanh, cache.hidden, cache.activated.view(), *context.team);
  out_.forward(p, cache.activated, cache.position, context);
  sigmoid<T>(cache.position.data(), cache.position.data(), q.rows);
  for (Index i = 0; i < queries.count(); ++i) {
    for (Index r = queries.begin(i); r < queries.end(i); ++r)
      cache.position(r, 0) *= static_cast<T>(keys.length(i));
  }
}

template <typename T>
void PositionPredictor<T>::backward(const Parameters<T>& p, View<const T> q, const Segments& queries,
                                    const Segments& keys, Cache& cache, View<T> dq, Gradients<T>& g,
                                    const Context& context) const {
  for (Index i = 0; i < queries.count(); ++i) {
    const T length = static_cast<T>(keys.length(i));
    for (Index r = queries.begin(i); r < queries.end(i); ++r) {
      // With p = S s: dp/dx = S s (1 - s) = p (1 - p / S).
      const T position = cache.position(r, 0);
      cache.d_position(r, 0) *= length == T(0) ? T(0) : position * (T(1) - position / length);
    }
  }
  cache.d_hidden.resize(q.rows, hidden_.out());
  out_.backward(p, cache.activated, cache.d_position, cache.d_hidden, g, context);
  activate_backward<T>(Activation::tanh, cache.hidden, cache.activated, cache.d_hidden, cache.d_hidden.view(),
                       *context.team);
  if (!dq.empty()) cache.d_query.resize(dq.rows, dq.cols);
  hidden_.backward(p, q, cache.d_hidden, dq.empty() ? View<T>() : cache.d_query.view(), g, context);
  if (!dq.empty()) array(dq) += array(cache.d_query.view());
}

template <typename T>
void gaussian_window(Index half_width, T centre, KeyRange range, const T* x, T* y) {
  const T sigma = static_cast<T>(half_width) / 2, factor = T(-0.5) / (sigma * sigma);
  for (Index s = range.begin; s < range.end; ++s) {
    const T d = static_cast<T>(s) - centre;
    y[s] = x[s] * std::exp(factor * d * d);
  }
}

template <typename T>
T gaussian_window_backward(Index half_width, T centre, KeyRange range, const T* x, const T* dy, T* dx) {
  const T sigma = static_cast<T>(half_width) / 2, factor = T(-0.5) / (sigma * sigma);
  T sum = T(0);
  for (Index s = range.begin; s < range.end; ++s) {
    const T d = static_cast<T>(s) - centre, through = dy[s] * std::exp(factor * d * d);
    sum += through * x[s] * d / (sigma * sigma);
    dx[s] = through;
  }
  return sum;
}

template class PositionPredictor<float>;
template class PositionPredictor<double>;
template void gaussian_window<float>(Index, float, KeyRange, const float*, float*);
template void gaussian_window<double>(Index, double, KeyRange, const double*, double*);
template float gaussian_window_backward<float>(Index, float, KeyRange, const float*, const float*, float*);
template double gaussian_window_backward<double>(Index, double, KeyRange, const double*, const double*,
                                                 double*);

}  // namespace askbase::nn
