#include "nn/transformer.h"

#include <algorithm>
#include <stdexcept>

#include "nn/eigen.h"
#include "nn/gemm.h"

namespace askbase::nn {

template <typename T>
TransformerBlock<T>::TransformerBlock(Parameters<T>& p, const std::string& name,
                                      const TransformerConfig& config, std::uint64_t stream)
    : config_(config),
      query_(p, name + ".attention.self.query", config.hidden, config.hidden, true, Initial::normal_002),
      key_(p, name + ".attention.self.key", config.hidden, config.hidden, true, Initial::normal_002),
      value_(p, name + ".attention.self.value", config.hidden, config.hidden, true, Initial::normal_002),
      attention_output_(p, name + ".attention.output.dense", config.hidden, config.hidden, true,
                        Initial::normal_002),
      intermediate_(p, name + ".intermediate.dense", config.hidden, config.feed_forward, true,
                    Initial::normal_002),
      output_(p, name + ".output.dense", config.feed_forward, config.hidden, true, Initial::normal_002),
      norm1_(p, name + ".attention.output.LayerNorm", config.hidden, config.layer_norm_epsilon),
      norm2_(p, name + ".output.LayerNorm", config.hidden, config.layer_norm_epsilon),
      attention_(config.hidden, config.heads, Dropout<T>(config.attention_dropout, stream)),
      dropout1_(config.dropout, stream + 1),
      dropout2_(config.dropout, stream + 2) {}

template <typename T>
void TransformerBlock<T>::add_and_norm(const Parameters<T>& p, const Linear<T>& linear,
                                       const LayerNorm<T>& norm, const Dropout<T>& dropout,
                                       View<const T> residual, View<T> sum, View<T> y,
                                       typename LayerNorm<T>::Cache& cache, const Context& context) const {
  const Index n = sum.rows, d = sum.cols;
  cache.mean_rstd.resize(n, 2);
  const T *weight = p[norm.weight()].data, *shift = p[norm.bias()].data;
  const auto bias = row_array<const T>(p[linear.bias()].data, d);
  context.team->parallel_for(n, row_grain(d), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      auto row = row_array<T>(sum.row(r), d);
      row += bias;
      dropout.apply_row(r, sum.row(r), sum.row(r), d, context);
      row += row_array<const T>(residual.row(r), d);
      norm.forward_row(weight, shift, sum.row(r), y.row(r), cache.mean_rstd.row(r));
    }
  });
}

template <typename T>
void TransformerBlock<T>::forward(const Parameters<T>& p, View<const T> x, const Segments& segments,
                                  View<T> y, Cache& cache, const Context& context) const {
  const Index n = segments.total(), d = config_.hidden;
  if (x.rows != n || x.cols != d || y.rows != n || y.cols != d || x.data == y.data) {
    throw std::logic_error("nn::TransformerBlock: sizes do not fit");
  }
  if (context.training) cache.attention.keep_weights = true;
  cache.qkv.resize(n, 3 * d);
  cache.context.resize(n, d);
  const View<T> qkv = cache.qkv;
  query_.forward(p, x, qkv.cols_from(0, d), context);
  key_.forward(p, x, qkv.cols_from(d, d), context);
  value_.forward(p, x, qkv.cols_from(2 * d, d), context);
  attention_.forward(qkv.cols_from(0, d), qkv.cols_from(d, d), qkv.cols_from(2 * d, d), segments, segments,
                     cache.context, cache.attention, context);

  cache.sum1.resize(n, d);
  cache.middle.resize(n, d);
  gemm<T>(Op::none, Op::transpose, T(1), cache.context, p[attention_output_.weight()], T(0), cache.sum1,
          *context.team, context.precision);
  add_and_norm(p, attention_output_, norm1_, dropout1_, x, cache.sum1, cache.middle, cache.norm1, context);

  cache.hidden.resize(n, config_.feed_forward);
  cache.active.resize(n, config_.feed_forward);
  intermediate_.forward(p, cache.middle, cache.hidden, context);
  activate<T>(config_.activation, cache.hidden, cache.active, *context.team);

  cache.sum2.resize(n, d);
  gemm<T>(Op::none, Op::transpose, T(1), cache.active, p[output_.weight()], T(0), cache.sum2, *context.team,
          context.precision);
  add_and_norm(p, output_, norm2_, dropout2_, cache.middle, cache.sum2, y, cache.norm2, context);
}

template <typename T>
void TransformerBlock<T>::backward(const Parameters<T>& p, View<const T> x, const Segments& segments,
                                   Cache& cache, View<const T> dy, View<T> dx, Gradients<T>& g,
                                   const Context& context) const {
  const Index n = segments.total(), d = config_.hidden;
  if (x.rows != n || dy.rows != n || dy.cols != d || cache.sum2.rows() != n) {
    throw std::logic_error("nn::TransformerBlock: backward does not fit forward");
  }
  // Feed-forward: d_sum flows through the residual, d_out (after the dropout) through the two products.
  cache.d_sum.resize(n, d);
  cache.d_out.resize(n, d);
  norm2_.backward(p, cache.norm2, cache.sum2, dy, cache.d_sum, g, context);
  dropout2_.apply(cache.d_sum, cache.d_out, context);
  cache.d_active.resize(n, config_.feed_forward);
  output_.backward(p, cache.active, cache.d_out, cache.d_active, g, context);
  activate_backward<T>(config_.activation, cache.hidden, cache.active, cache.d_active, cache.d_active.view(),
                       *context.team);
  intermediate_.backward(p, cache.middle, cache.d_active, cache.d_out, g, context);
  array(cache.d_sum.view()) += array(cache.d_out.view());

  // Attention. d_middle = d_sum; its norm's input gradient replaces it.
  norm1_.backward(p, cache.norm1, cache.sum1, cache.d_sum, cache.d_sum, g, context);
  dropout1_.apply(cache.d_sum, cache.d_out, context);
  cache.d_active.resize(n, d);  // d context
  attention_output_.backward(p, cache.context, cache.d_out, cache.d_active, g, context);
  cache.d_qkv.resize(n, 3 * d);
  const View<const T> qkv = cache.qkv.view();
  const View<T> d_qkv = cache.d_qkv;
  attention_.backward(qkv.cols_from(0, d), qkv.cols_from(d, d), qkv.cols_from(2 * d, d), segments, segments,
                      cache.attention, cache.d_active, d_qkv.cols_from(0, d), d_qkv.cols_from(d, d),
                      d_qkv.cols_from(2 * d, d), context);
  const Linear<T>* parts[3] = {&query_, &key_, &value_};
  for (int i = 0; i < 3; ++i) {
    const View<T> part = d_qkv.cols_from(i * d, d);
    parts[i]->backward(p, x, part, {}, g, context);
    if (dx.empty()) continue;
    // dx = d_sum + sum of the three products.
    gemm<T>(Op::none, Op::none, T(1), part, p[parts[i]->weight()], T(1), cache.d_sum, *context.team,
            context.precision);
  }
  if (!dx.empty()) array(dx) = array(cache.d_sum.view());
}

template class TransformerBlock<float>;
template class TransformerBlock<double>;

}  // namespace askbase::nn
