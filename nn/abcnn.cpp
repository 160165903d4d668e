#include "nn/abcnn.h"

#include <stdexcept>

#include "nn/eigen.h"
#include "nn/elementwise.h"
#include "nn/gemm.h"
#include "nn/pooling.h"

namespace askbase::nn {

namespace {

// A(i, j) = 1 / (1 + |x_i - y_j|) for every pair of texts.
template <typename T>
void match(View<const T> x, View<const T> y, const Pairs& pairs, Matrix<T>& a) {
  a.resize(1, pairs.total());
  for (Index i = 0; i < pairs.count(); ++i) {
    const View<T> block = pairs.block(a.data(), i);
    for (Index r = 0; r < block.rows; ++r) {
      const auto row = array(x.rows_from(pairs.queries().begin(i) + r, 1));
      for (Index c = 0; c < block.cols; ++c) {
        const auto other = array(y.rows_from(pairs.keys().begin(i) + c, 1));
        block(r, c) = T(1) / (T(1) + std::sqrt((row - other).square().sum()));
      }
    }
  }
}

// Adds to dx and dy. At distance 0 the derivative is taken as 0.
template <typename T>
void match_backward(View<const T> x, View<const T> y, const Pairs& pairs, const Matrix<T>& a,
                    const Matrix<T>& da, View<T> dx, View<T> dy) {
  for (Index i = 0; i < pairs.count(); ++i) {
    const View<const T> block = pairs.block(a.data(), i), d = pairs.block(da.data(), i);
    for (Index r = 0; r < block.rows; ++r) {
      const Index xr = pairs.queries().begin(i) + r;
      for (Index c = 0; c < block.cols; ++c) {
        const Index yr = pairs.keys().begin(i) + c;
        const auto row = array(x.rows_from(xr, 1)), other = array(y.rows_from(yr, 1));
        const T distance = std::sqrt((row - other).square().sum());
        if (distance == T(0)) continue;
        const T factor = -d(r, c) * block(r, c) * block(r, c) / distance;
        if (!dx.empty()) array(dx.rows_from(xr, 1)) += factor * (row - other);
        if (!dy.empty()) array(dy.rows_from(yr, 1)) -= factor * (row - other);
      }
    }
  }
}

}  // namespace

template <typename T>
AbcnnBlock<T>::AbcnnBlock(Parameters<T>& p, const std::string& name, const AbcnnConfig& config)
    : config_(config) {
  if (config.in < 1 || config.out < 1 || config.kernel < 1 || config.longest < 1)
    throw std::logic_error("nn::AbcnnBlock: a size below 1");
  if (config.attention_before) {
    for (int t = 0; t < 2; ++t)
      maps_.at(static_cast<std::size_t>(t)) =
          p.add(name + ".attention." + std::to_string(t), {config.longest, config.in},
                {.initial = Initial::xavier_uniform});
  }
  conv_ = Conv1d<T>(p, name + ".conv", config.attention_before ? 2 * config.in : config.in, config.out,
                    config.kernel, Padding::full);
}

template <typename T>
void AbcnnBlock<T>::forward(const Parameters<T>& p, const Both<View<const T>>& x,
                            const Both<Segments>& segments, const Both<View<T>>& y,
                            const Both<View<T>>& summary, Cache& cache, const Context& context) const {
  cache.before.set(segments[0], segments[1], 1);
  for (std::size_t t = 0; t < 2; ++t) {
    if (x[t].rows != segments[t].total() || x[t].cols != config_.in)
      throw std::logic_error("nn::AbcnnBlock: x of the wrong shape");
    cache.wide[t] = conv_.output(segments[t]);
  }
  const Index in = config_.in;
  if (config_.attention_before) {
    match<T>(x[0], x[1], cache.before, cache.match_before);
    for (std::size_t t = 0; t < 2; ++t) {
      cache.channels[t].resize(x[t].rows, 2 * in);
      array(cache.channels[t].view().cols_from(0, in)) = array(x[t]);
    }
    for (Index i = 0; i < cache.before.count(); ++i) {
      const View<const T> a = attention_before(cache, i);
      const Index n0 = readable(a.rows), n1 = readable(a.cols);
      // Row r of text 0: sum over j of A(r, j) W(j, :); of text 1 by A's transpose.
      gemm<T>(Op::none, Op::none, T(1), a.cols_from(0, n1), p[maps_[0]].rows_from(0, n1), T(0),
              cache.channels[0].view().rows_from(segments[0].begin(i), a.rows).cols_from(in, in),
              *context.team);
      gemm<T>(Op::transpose, Op::none, T(1), a.rows_from(0, n0), p[maps_[1]].rows_from(0, n0), T(0),
              cache.channels[1].view().rows_from(segments[1].begin(i), a.cols).cols_from(in, in),
              *context.team);
    }
  }
  for (std::size_t t = 0; t < 2; ++t) {
    const View<const T> input = config_.attention_before ? View<const T>(cache.channels[t]) : x[t];
    cache.features[t].resize(cache.wide[t].total(), config_.out);
    conv_.forward(p, input, segments[t], cache.features[t], cache.conv[t], context);
    activate<T>(Activation::tanh, cache.features[t], cache.features[t].view(), *context.team);
    if (!summary[t].empty()) pool<T>(Pooling::mean, cache.features[t], cache.wide[t], summary[t]);
  }
  if (config_.attention_after) {
    cache.after.set(cache.wide[0], cache.wide[1], 1);
    match<T>(cache.features[0], cache.features[1], cache.after, cache.match_after);
    for (std::size_t t = 0; t < 2; ++t) cache.weights[t].resize(1, cache.wide[t].total());
    for (Index i = 0; i < cache.after.count(); ++i) {
      const auto a = array(attention_after(cache, i));
      const Index b0 = cache.wide[0].begin(i), b1 = cache.wide[1].begin(i);
      array(cache.weights[0].view().cols_from(b0, a.rows())) = a.rowwise().sum().transpose();
      array(cache.weights[1].view().cols_from(b1, a.cols())) = a.colwise().sum();
    }
  }
  for (std::size_t t = 0; t < 2; ++t) {
    if (y[t].empty()) continue;
    std::span<const T> weights;
    if (config_.attention_after) weights = cache.weights[t].view().row_span(0);
    const T factor = config_.attention_after ? T(1) : T(1) / static_cast<T>(config_.kernel);
    window_sum<T>(cache.features[t], weights, cache.wide[t], config_.kernel, factor, y[t]);
  }
}

template <typename T>
void AbcnnBlock<T>::backward(const Parameters<T>& p, const Both<View<const T>>& x, Cache& cache,
                             const Both<View<const T>>& dy, const Both<View<const T>>& d_summary,
                             const Both<View<T>>& dx, Gradients<T>& g, const Context& context) const {
  const Index in = config_.in;
  for (std::size_t t = 0; t < 2; ++t) {
    Matrix<T>& d = cache.d_features[t];
    d.resize(cache.features[t].rows(), config_.out);
    d.fill(T(0));
    cache.d_weights[t].resize(1, config_.attention_after ? d.rows() : 0);
    cache.d_weights[t].fill(T(0));
    if (!dy[t].empty()) {
      std::span<const T> weights;
      if (config_.attention_after) weights = cache.weights[t].view().row_span(0);
      const T factor = config_.attention_after ? T(1) : T(1) / static_cast<T>(config_.kernel);
      window_sum_backward<T>(cache.features[t], weights, cache.wide[t], config_.kernel, factor, dy[t],
                             d.view(), cache.d_weights[t].view().row_span(0));
    }
    if (!d_summary[t].empty()) {
      cache.scratch[t].resize(d.rows(), d.cols());
      pool_backward<T>(Pooling::mean, cache.wide[t], {}, d_summary[t], cache.scratch[t].view());
      array(d.view()) += array(cache.scratch[t].view());
    }
  }
  if (config_.attention_after) {
    cache.d_match.resize(1, cache.after.total());
    for (Index i = 0; i < cache.after.count(); ++i) {
      const View<T> d = cache.after.block(cache.d_match.data(), i);
      const Index b0 = cache.wide[0].begin(i), b1 = cache.wide[1].begin(i);
      for (Index r = 0; r < d.rows; ++r) {
        for (Index c = 0; c < d.cols; ++c)
          d(r, c) = cache.d_weights[0](0, b0 + r) + cache.d_weights[1](0, b1 + c);
      }
    }
    match_backward<T>(cache.features[0], cache.features[1], cache.after, cache.match_after, cache.d_match,
                      cache.d_features[0], cache.d_features[1]);
  }
  for (std::size_t t = 0; t < 2; ++t) {
    activate_backward<T>(Activation::tanh, {}, cache.features[t], cache.d_features[t],
                         cache.d_features[t].view(), *context.team);
    View<T> d_input = dx[t];
    if (config_.attention_before) {
      cache.d_channels[t].resize(x[t].rows, 2 * in);
      d_input = cache.d_channels[t];
    }
    conv_.backward(p, cache.conv[t], cache.d_features[t], d_input, g, context);
    if (config_.attention_before && !dx[t].empty())
      array(dx[t]) = array(cache.d_channels[t].view().cols_from(0, in));
  }
  if (!config_.attention_before) return;
  cache.d_match.resize(1, cache.before.total());
  cache.d_match.fill(T(0));
  for (Index i = 0; i < cache.before.count(); ++i) {
    const View<const T> a = attention_before(cache, i);
    const View<T> d = cache.before.block(cache.d_match.data(), i);
    const Index n0 = readable(a.rows), n1 = readable(a.cols);
    const auto map_of = [&](std::size_t t, const Segments& s) {
      return View<const T>(cache.d_channels[t].view().rows_from(s.begin(i), s.length(i)).cols_from(in, in));
    };
    const View<const T> d0 = map_of(0, cache.before.queries()), d1 = map_of(1, cache.before.keys());
    if (g.wants(maps_[0]))
      gemm<T>(Op::transpose, Op::none, T(1), a.cols_from(0, n1), d0, T(1), g[maps_[0]].rows_from(0, n1),
              *context.team);
    if (g.wants(maps_[1]))
      gemm<T>(Op::none, Op::none, T(1), a.rows_from(0, n0), d1, T(1), g[maps_[1]].rows_from(0, n0),
              *context.team);
    gemm<T>(Op::none, Op::transpose, T(1), d0, p[maps_[0]].rows_from(0, n1), T(1), d.cols_from(0, n1),
            *context.team);
    gemm<T>(Op::none, Op::transpose, T(1), p[maps_[1]].rows_from(0, n0), d1, T(1), d.rows_from(0, n0),
            *context.team);
  }
  match_backward<T>(x[0], x[1], cache.before, cache.match_before, cache.d_match, dx[0], dx[1]);
}

template class AbcnnBlock<float>;
template class AbcnnBlock<double>;

}  // namespace askbase::nn
