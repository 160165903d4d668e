#include "nn/attention_head.h"

#include <algorithm>

#include "nn/eigen.h"
#include "nn/gemm.h"

namespace askbase::nn {

template <typename T>
AttentionHead<T>::AttentionHead(Parameters<T>& p, const std::string& name, const AttentionConfig& config,
                                Index query, Index key, Index width)
    : alignment_(p, name + ".score", config, query, key, width),
      distribution_(config.distribution),
      alpha_(config.alpha),
      window_(config.window),
      half_width_(config.half_width),
      by_feature_(config.by_feature) {
  if (window_ == Window::local_p)
    position_ = PositionPredictor<T>(p, name + ".position", query, config.hidden > 0 ? config.hidden : key);
}

template <typename T>
KeyRange AttentionHead<T>::range(const Pairs& pairs, const Cache& cache, Index segment, Index query) const {
  const Index row = pairs.queries().begin(segment) + query;
  const double centre = window_ == Window::local_p ? static_cast<double>(cache.position.position(row, 0))
                                                   : static_cast<double>(query);
  const KeyRange window = window_range(window_, half_width_, centre, pairs.keys().length(segment));
  const Index end = std::min(window.end, alignment_.positions());
  return {std::min(window.begin, end), end};
}

template <typename T>
void AttentionHead<T>::forward(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v,
                               const Pairs& pairs, View<T> y, Cache& cache, const Context& context) const {
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  const Index width = pairs.width();
  alignment_.forward(p, q, k, pairs, cache.alignment, context);
  if (window_ == Window::local_p) {
    position_.forward(p, q, queries, keys, cache.position, context);
    cache.weights.resize(1, pairs.total());
  }
  cache.probabilities.resize(1, pairs.total());
  cache.extra.resize(0, 0);
  cache.arg_max = window_ == Window::hard && !context.training;
  context.team->parallel_for(pairs.count(), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const View<const T> scores = pairs.block(static_cast<const T*>(cache.alignment.scores.data()), i);
      const View<T> probabilities = pairs.block(cache.probabilities.data(), i);
      array(probabilities).setZero();
      for (Index row = 0; row < scores.rows; ++row) {
        const auto [begin, end] = range(pairs, cache, i, row / width);
        if (begin == end) continue;
        if (cache.arg_max) {
          const T* best = std::max_element(scores.row(row) + begin, scores.row(row) + end);
          probabilities(row, best - scores.row(row)) = T(1);
        } else {
          distribute<T>(distribution_, alpha_, scores.row(row) + begin, probabilities.row(row) + begin,
                        end - begin);
        }
      }
      if (window_ == Window::local_p) {
        const View<T> weights = pairs.block(cache.weights.data(), i);
        array(weights).setZero();
        for (Index row = 0; row < scores.rows; ++row) {
          const Index query = row / width;
          gaussian_window<T>(half_width_, cache.position.position(queries.begin(i) + query, 0),
                             range(pairs, cache, i, query), probabilities.row(row), weights.row(row));
        }
      }
      const View<const T> weights = pairs.block(this->weights(cache).data(), i);
      const View<const T> values = v.rows_from(keys.begin(i), keys.length(i));
      if (!by_feature_) {
        gemm<T>(Op::none, Op::none, T(1), weights, values, T(0),
                y.rows_from(queries.begin(i) * width, queries.length(i) * width), *context.team);
        continue;
      }
      for (Index r = 0; r < queries.length(i); ++r) {
        array(y.rows_from(queries.begin(i) + r, 1)) =
            (array(weights.rows_from(r * width, width)).transpose() * array(values)).colwise().sum();
      }
    }
  });
}

template <typename T>
void AttentionHead<T>::backward(const Parameters<T>& p, View<const T> q, View<const T> k, View<const T> v,
                                const Pairs& pairs, Cache& cache, View<const T> dy, View<T> dq, View<T> dk,
                                View<T> dv, Gradients<T>& g, const Context& context) const {
  const Segments &queries = pairs.queries(), &keys = pairs.keys();
  const Index width = pairs.width();
  cache.d_weights.resize(1, pairs.total());
  if (window_ == Window::local_p) {
    cache.position.d_position.resize(queries.total(), 1);
    cache.position.d_position.fill(T(0));
  }
  context.team->parallel_for(pairs.count(), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const View<const T> weights = pairs.block(this->weights(cache).data(), i);
      const View<T> d_weights = pairs.block(cache.d_weights.data(), i);
      const View<const T> values = v.rows_from(keys.begin(i), keys.length(i));
      const View<T> d_values = dv.empty() ? dv : dv.rows_from(keys.begin(i), keys.length(i));
      if (by_feature_) {
        for (Index r = 0; r < queries.length(i); ++r) {
          const View<const T> d = dy.rows_from(queries.begin(i) + r, 1);
          // (width, keys): row f is dy(f) times column f of the values.
          array(d_weights.rows_from(r * width, width)) =
              array(values).transpose().colwise() * array(d).row(0).transpose();
          if (!d_values.empty())
            array(d_values) +=
                array(weights.rows_from(r * width, width)).transpose().rowwise() * array(d).row(0);
        }
      } else {
        const View<const T> d = dy.rows_from(queries.begin(i) * width, queries.length(i) * width);
        gemm<T>(Op::none, Op::transpose, T(1), d, values, T(0), d_weights, *context.team);
        if (!d_values.empty())
          gemm<T>(Op::transpose, Op::none, T(1), weights, d, T(1), d_values, *context.team);
      }
      if (!cache.extra.empty())
        array(d_weights) += array(pairs.block(static_cast<const T*>(cache.extra.data()), i));
      if (cache.arg_max) continue;
      const View<const T> probabilities = pairs.block(static_cast<const T*>(cache.probabilities.data()), i);
      for (Index row = 0; row < d_weights.rows; ++row) {
        const Index query = row / width;
        const KeyRange range = this->range(pairs, cache, i, query);
        T* d = d_weights.row(row);
        std::fill(d, d + range.begin, T(0));
        std::fill(d + range.end, d + d_weights.cols, T(0));
        if (window_ == Window::local_p) {
          const Index at = queries.begin(i) + query;
          cache.position.d_position(at, 0) += gaussian_window_backward<T>(
              half_width_, cache.position.position(at, 0), range, probabilities.row(row), d, d);
        }
        if (range.begin == range.end) continue;
        distribute_backward<T>(distribution_, alpha_, probabilities.row(row) + range.begin, d + range.begin,
                               d + range.begin, range.end - range.begin);
      }
    }
  });
  cache.extra.resize(0, 0);
  if (cache.arg_max) return;
  alignment_.backward(p, q, k, pairs, cache.alignment, cache.d_weights, dq, dk, g, context);
  if (window_ == Window::local_p) position_.backward(p, q, queries, keys, cache.position, dq, g, context);
}

template class AttentionHead<float>;
template class AttentionHead<double>;

}  // namespace askbase::nn
