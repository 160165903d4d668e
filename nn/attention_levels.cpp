#include "nn/attention_levels.h"

#include <stdexcept>

namespace askbase::nn {

namespace {

void check_pooling(const AttentionConfig& config) {
  if (config.query != 0 || config.rows != 1)
    throw std::logic_error("nn: levels and representations are pooled, with query 0 and rows 1");
}

}  // namespace

template <typename T>
MultiLevelAttention<T>::MultiLevelAttention(Parameters<T>& p, const std::string& name,
                                            std::span<const AttentionConfig> levels) {
  if (levels.empty()) throw std::logic_error("nn::MultiLevelAttention: no level");
  for (const AttentionConfig& config : levels) {
    check_pooling(config);
    const bool as_key = config.value == 0 || config.value == config.key;
    if (!as_key || (!levels_.empty() && levels_.back().out() != config.key))
      throw std::logic_error("nn::MultiLevelAttention: a level that does not fit the one below");
    levels_.emplace_back(p, name + ".levels." + std::to_string(levels_.size()), config);
  }
}

template <typename T>
void MultiLevelAttention<T>::forward(const Parameters<T>& p, View<const T> x,
                                     std::span<const Segments> segments, View<T> y, Cache& cache,
                                     const Context& context) const {
  if (segments.size() != levels_.size())
    throw std::logic_error("nn::MultiLevelAttention: segments for another number of levels");
  cache.levels.resize(levels_.size());
  cache.outputs.resize(levels_.size() - 1);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const View<const T> in = l == 0 ? x : View<const T>(cache.outputs[l - 1]);
    const bool last = l + 1 == levels_.size();
    if (!last) cache.outputs[l].resize(segments[l].count(), levels_[l].out());
    levels_[l].pool(p, in, in, segments[l], last ? y : cache.outputs[l].view(), cache.levels[l], context);
  }
}

template <typename T>
void MultiLevelAttention<T>::backward(const Parameters<T>& p, View<const T> x, Cache& cache, View<const T> dy,
                                      View<T> dx, Gradients<T>& g, const Context& context) const {
  cache.d_outputs.resize(cache.outputs.size());
  for (std::size_t l = levels_.size(); l-- > 0;) {
    const View<const T> in = l == 0 ? x : View<const T>(cache.outputs[l - 1]);
    const View<const T> d = l + 1 == levels_.size() ? dy : View<const T>(cache.d_outputs[l]);
    if (l > 0) cache.d_outputs[l - 1].resize(in.rows, in.cols);
    const View<T> d_in = l == 0 ? dx : cache.d_outputs[l - 1].view();
    levels_[l].pool_backward(p, in, in, cache.levels[l], d, d_in, d_in, g, context);
  }
}

template <typename T>
RepresentationAttention<T>::RepresentationAttention(Parameters<T>& p, const std::string& name,
                                                    std::span<const Index> widths,
                                                    const AttentionConfig& pooling)
    : attention_(p, name + ".attention", pooling) {
  check_pooling(pooling);
  if (widths.empty() || (pooling.value != 0 && pooling.value != pooling.key))
    throw std::logic_error("nn::RepresentationAttention: no representations, or values not as wide as keys");
  for (std::size_t i = 0; i < widths.size(); ++i)
    projections_.emplace_back(p, name + ".projections." + std::to_string(i), widths[i], pooling.key);
}

template <typename T>
View<T> RepresentationAttention<T>::part(Matrix<T>& stacked, std::size_t i) const {
  const Index n = static_cast<Index>(projections_.size());
  return {stacked.data() + static_cast<Index>(i) * stacked.cols(), stacked.rows() / n, stacked.cols(),
          n * stacked.cols()};
}

template <typename T>
void RepresentationAttention<T>::forward(const Parameters<T>& p, std::span<const View<const T>> x, View<T> y,
                                         Cache& cache, const Context& context) const {
  if (x.size() != projections_.size())
    throw std::logic_error("nn::RepresentationAttention: another number of representations");
  const Index n = static_cast<Index>(x.size());
  for (const View<const T>& view : x) {
    if (view.rows != x[0].rows)
      throw std::logic_error("nn::RepresentationAttention: representations of different numbers of rows");
  }
  cache.stacked.resize(x[0].rows * n, attention_.config().key);
  for (std::size_t i = 0; i < x.size(); ++i)
    projections_[i].forward(p, x[i], part(cache.stacked, i), context);
  attention_.pool(p, cache.stacked, cache.stacked, Segments::equal(x[0].rows, n), y, cache.attention,
                  context);
}

template <typename T>
void RepresentationAttention<T>::backward(const Parameters<T>& p, std::span<const View<const T>> x,
                                          Cache& cache, View<const T> dy, std::span<const View<T>> dx,
                                          Gradients<T>& g, const Context& context) const {
  cache.d_stacked.resize(cache.stacked.rows(), cache.stacked.cols());
  attention_.pool_backward(p, cache.stacked, cache.stacked, cache.attention, dy, cache.d_stacked,
                           cache.d_stacked, g, context);
  for (std::size_t i = 0; i < x.size(); ++i)
    projections_[i].backward(p, x[i], part(cache.d_stacked, i), dx.empty() ? View<T>() : dx[i], g, context);
}

template class MultiLevelAttention<float>;
template class MultiLevelAttention<double>;
template class RepresentationAttention<float>;
template class RepresentationAttention<double>;

}  // namespace askbase::nn
