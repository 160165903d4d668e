// The Transformer encoder block (Vaswani 2017), post-norm as in BERT (Devlin 2019):
//   a = LayerNorm(x + dropout(W_o attention(x W_q, x W_k, x W_v) + b_o))
//   y = LayerNorm(a + dropout(W_2 gelu(W_1 a + b_1) + b_2))
// Batches are ragged: no padding is computed.
#pragma once

#include <string>
#include <vector>

#include "nn/elementwise.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/multi_head_attention.h"

namespace askbase::nn {

struct TransformerConfig {
  Index hidden = 384;
  Index heads = 12;
  Index feed_forward = 1536;
  double dropout = 0.1;            // after the attention's and the feed-forward's output
  double attention_dropout = 0.1;  // on the attention weights
  double layer_norm_epsilon = 1e-12;
  Activation activation = Activation::gelu;
};

template <typename T>
class TransformerBlock {
 public:
  struct Cache {
    typename MultiHeadAttention<T>::Cache attention;  // attention.keep_weights hands the weights out
    typename LayerNorm<T>::Cache norm1, norm2;
    // n rows each; sum1 and sum2 are what the layer norms saw, hidden is before and active after the
    // activation.
    Matrix<T> qkv, context, sum1, middle, hidden, active, sum2;
    Matrix<T> d_sum, d_out, d_active, d_qkv;  // of backward
  };

  TransformerBlock() = default;
  // Adds Hugging Face's names: "<name>.attention.self.query.weight", "<name>.attention.output.dense.weight",
  // "<name>.attention.output.LayerNorm.weight", "<name>.intermediate.dense.weight",
  // "<name>.output.dense.weight",
  // "<name>.output.LayerNorm.weight", ... stream: of its three dropouts, which use stream, + 1 and + 2.
  TransformerBlock(Parameters<T>& p, const std::string& name, const TransformerConfig& config,
                   std::uint64_t stream);

  // x (n, hidden) -> y (n, hidden), another view than x. In training the cache keeps what backward needs.
  void forward(const Parameters<T>& p, View<const T> x, const Segments& segments, View<T> y, Cache& cache,
               const Context& context) const;
  // x is what forward saw. dx is overwritten; it may be dy. An empty dx is not computed.
  void backward(const Parameters<T>& p, View<const T> x, const Segments& segments, Cache& cache,
                View<const T> dy, View<T> dx, Gradients<T>& g, const Context& context) const;

  const MultiHeadAttention<T>& attention() const { return attention_; }

 private:
  // y = LayerNorm(sum), sum = residual + dropout(sum + bias): one pass over memory.
  void add_and_norm(const Parameters<T>& p, const Linear<T>& linear, const LayerNorm<T>& norm,
                    const Dropout<T>& dropout, View<const T> residual, View<T> sum, View<T> y,
                    typename LayerNorm<T>::Cache& cache, const Context& context) const;
  TransformerConfig config_;
  Linear<T> query_, key_, value_, attention_output_, intermediate_, output_;
  LayerNorm<T> norm1_, norm2_;
  MultiHeadAttention<T> attention_;
  Dropout<T> dropout1_, dropout2_;
};

extern template class TransformerBlock<float>;
extern template class TransformerBlock<double>;

}  // namespace askbase::nn
