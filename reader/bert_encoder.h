// The BERT encoder (Devlin 2019): word, position and type embeddings, layer norm, and a stack of Transformer
// blocks (nn/transformer.h). Names and shapes of the parameters are Hugging Face's, so their files load as
// they are. Batches are ragged: sequences lie one below the other, and no padding is computed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/embedding.h"
#include "nn/pooling.h"
#include "nn/transformer.h"
#include "reader/wordpiece.h"

namespace askbase::reader {

struct BertConfig {
  nn::Index vocabulary = 30522;
  nn::Index hidden = 384;
  nn::Index layers = 6;
  nn::Index heads = 12;
  nn::Index feed_forward = 1536;
  nn::Index positions = 512;  // the longest sequence
  nn::Index types = 2;
  nn::Activation activation = nn::Activation::gelu;
  double layer_norm_epsilon = 1e-12;
  double dropout = 0.1;
  double attention_dropout = 0.1;

  // Hugging Face's config.json; `name` stands for the file in messages. Errors: bad_input (no JSON, a size
  // that is missing or cannot be), unsupported (another architecture or activation, relative positions, a
  // decoder).
  static base::Result<BertConfig> parse(std::string_view json, const std::string& name);
  // A JSON object in Hugging Face's words, as text.
  std::string json() const;
};

// Sequences for one pass, one below the other.
struct EncoderBatch {
  std::vector<std::int32_t> ids, types;  // [segments.total()]
  nn::Segments segments;
  void add(const EncoderInput& input);
  void clear();
  // Throws std::logic_error where ids and types do not fit the segments or the tables, or a sequence is
  // longer than `positions`.
  void check(const BertConfig& config) const;
};

// Immutable after construction; any number of threads may use it, each with its own cache.
template <typename T>
class BertEncoder {
 public:
  // Kept by the caller and used again from batch to batch.
  struct Cache {
    // Set before forward: all layers' outputs are kept. So they are in training.
    bool keep_layers = false;
    nn::Matrix<T> sum;                   // (n, hidden) of the three embeddings, before the norm
    std::vector<nn::Matrix<T>> outputs;  // with keep_layers [layers + 1], the embeddings first; otherwise two
    std::vector<typename nn::TransformerBlock<T>::Cache> blocks;  // in training one a layer; otherwise one
    typename nn::LayerNorm<T>::Cache norm;
    std::vector<std::int32_t> positions;
    nn::Matrix<T> gradient;
    std::size_t last = 0;  // where the last layer's output is

    // (n, hidden) of the last layer, after forward.
    nn::View<const T> output() const { return outputs[last].view(); }
  };
  // Asked between layers; true: give up.
  using Stop = std::function<bool()>;

  BertEncoder() = default;
  // Adds prefix + "embeddings.word_embeddings.weight" (vocabulary, hidden), ... "encoder.layer.N...". streams
  // of dropout: from `stream` on, 1 + 3 * layers of them. dense_words: the word embeddings have a gradient as
  // large as the table, for heads that share them (reader/encoder_training.h); otherwise of the rows seen.
  BertEncoder(nn::Parameters<T>& p, const BertConfig& config, const std::string& prefix = "",
              std::uint64_t stream = 0, bool dense_words = false);

  // False where stop said so: the output is unspecified then. Ids and types outside of their tables, and
  // sequences longer than `positions`, are programmer errors (std::logic_error).
  bool forward(const nn::Parameters<T>& p, const EncoderBatch& batch, Cache& cache,
               const nn::Context& context, const Stop& stop = {}) const;
  // From d_output (n, hidden), the gradient at the last layer's output; cache as a training forward left it.
  void backward(const nn::Parameters<T>& p, const EncoderBatch& batch, Cache& cache,
                nn::View<const T> d_output, nn::Gradients<T>& g, const nn::Context& context) const;

  const BertConfig& config() const { return config_; }
  // To be frozen (Parameters::set_frozen), or shared.
  nn::ParameterId word_embeddings() const { return words_.weight(); }

 private:
  void embed(const nn::Parameters<T>& p, const EncoderBatch& batch, Cache& cache,
             const nn::Context& context) const;

  BertConfig config_;
  nn::Embedding<T> words_, positions_, types_;
  nn::LayerNorm<T> norm_;
  nn::Dropout<T> dropout_;
  std::vector<nn::TransformerBlock<T>> blocks_;
};

// One vector a sequence: the mean of its rows, [CLS] and [SEP] included, brought to length 1 (Reimers and
// Gurevych 2019). x (segments.total(), hidden) -> y (segments.count(), hidden); zeros for an empty sequence.
template <typename T>
void sentence_vectors(nn::View<const T> x, const nn::Segments& segments, nn::View<T> y);

extern template class BertEncoder<float>;
extern template class BertEncoder<double>;
extern template void sentence_vectors<float>(nn::View<const float>, const nn::Segments&, nn::View<float>);
extern template void sentence_vectors<double>(nn::View<const double>, const nn::Segments&, nn::View<double>);

}  // namespace askbase::reader
