#include "reader/bert_encoder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/json.h"

namespace askbase::reader {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using nn::Index;
using nn::View;

namespace {

// Sizes beyond these are mistakes or attacks, not models for one machine.
constexpr Index kMostParameters = Index{4} << 30;

class ConfigReader {
 public:
  ConfigReader(const Json& json, const std::string& name) : json_(json), name_(name) {}

  base::Status size(const char* key, Index most, Index& out) const {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      return fail(ErrorCode::bad_input, name_ + ": \"" + key + "\" is missing",
                  "is this the config.json of a BERT encoder?");
    }
    if (!found->is_number_integer() || *found < 1 || *found > most) {
      return fail(ErrorCode::bad_input, name_ + ": \"" + key + "\" is " + base::dump_json(*found) +
                                            ", not a whole number from 1 to " + std::to_string(most));
    }
    out = found->get<Index>();
    return {};
  }
  // Absent: out stays. Half-open.
  base::Status number(const char* key, double least, double below, double& out) const {
    const auto found = json_.find(key);
    if (found == json_.end()) return {};
    if (!found->is_number() || !(found->get<double>() >= least) || !(found->get<double>() < below)) {
      return fail(ErrorCode::bad_input,
                  name_ + ": \"" + key + "\" is " + base::dump_json(*found) + ", which cannot be");
    }
    out = found->get<double>();
    return {};
  }
  // Absent and null are fine; anything but the value that is known here is not.
  base::Status only(const char* key, const Json& known) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null() || *found == known) return {};
    return fail(ErrorCode::unsupported, name_ + ": \"" + key + "\" is " + base::dump_json(*found) +
                                            "; this encoder knows " + base::dump_json(known) + " only");
  }

 private:
  const Json& json_;
  const std::string& name_;
};

}  // namespace

Result<BertConfig> BertConfig::parse(std::string_view text, const std::string& name) {
  const Result<Json> json = base::parse_json(text);
  if (!json) return fail(ErrorCode::bad_input, name + ": " + json.error().message);
  if (!json->is_object()) return fail(ErrorCode::bad_input, name + ": not a JSON object");
  const ConfigReader read(*json, name);
  ASKBASE_TRY(read.only("model_type", "bert"));
  ASKBASE_TRY(read.only("position_embedding_type", "absolute"));
  ASKBASE_TRY(read.only("is_decoder", false));
  ASKBASE_TRY(read.only("add_cross_attention", false));
  BertConfig config;
  ASKBASE_TRY(read.size("vocab_size", 1'000'000, config.vocabulary));
  ASKBASE_TRY(read.size("hidden_size", 16'384, config.hidden));
  ASKBASE_TRY(read.size("num_hidden_layers", 200, config.layers));
  ASKBASE_TRY(read.size("num_attention_heads", 1024, config.heads));
  ASKBASE_TRY(read.size("intermediate_size", 65'536, config.feed_forward));
  ASKBASE_TRY(read.size("max_position_embeddings", 65'536, config.positions));
  ASKBASE_TRY(read.size("type_vocab_size", 64, config.types));
  ASKBASE_TRY(read.only("embedding_size", config.hidden));
  ASKBASE_TRY(read.number("layer_norm_eps", 0, 1, config.layer_norm_epsilon));
  ASKBASE_TRY(read.number("hidden_dropout_prob", 0, 1, config.dropout));
  ASKBASE_TRY(read.number("attention_probs_dropout_prob", 0, 1, config.attention_dropout));
  if (config.hidden % config.heads != 0) {
    return fail(ErrorCode::bad_input, name + ": hidden_size " + std::to_string(config.hidden) +
                                          " is no multiple of num_attention_heads " +
                                          std::to_string(config.heads));
  }
  const Index layer = 4 * config.hidden * config.hidden + 2 * config.hidden * config.feed_forward;
  if (config.layers * layer + (config.vocabulary + config.positions) * config.hidden > kMostParameters) {
    return fail(ErrorCode::too_large, name + ": more than " + std::to_string(kMostParameters) + " weights");
  }
  if (const auto act = json->find("hidden_act"); act != json->end()) {
    const auto known =
        act->is_string() ? nn::activation_by_name(act->get<std::string>()) : std::optional<nn::Activation>();
    if (!known) {
      return fail(ErrorCode::unsupported,
                  name + ": the activation " + base::dump_json(*act) + " is not known",
                  "gelu (the erf form), relu, tanh and sigmoid are");
    }
    config.activation = *known;
  }
  return config;
}

std::string BertConfig::json() const {
  const Json json = {{"model_type", "bert"},
                     {"vocab_size", vocabulary},
                     {"hidden_size", hidden},
                     {"num_hidden_layers", layers},
                     {"num_attention_heads", heads},
                     {"intermediate_size", feed_forward},
                     {"max_position_embeddings", positions},
                     {"type_vocab_size", types},
                     {"hidden_act", std::string(nn::activation_name(activation))},
                     {"layer_norm_eps", layer_norm_epsilon},
                     {"hidden_dropout_prob", dropout},
                     {"attention_probs_dropout_prob", attention_dropout},
                     {"position_embedding_type", "absolute"}};
  return base::dump_json(json);
}

void EncoderBatch::add(const EncoderInput& input) {
  ids.insert(ids.end(), input.ids.begin(), input.ids.end());
  types.insert(types.end(), input.types.begin(), input.types.end());
  segments.add(static_cast<Index>(input.ids.size()));
}

void EncoderBatch::clear() {
  ids.clear();
  types.clear();
  segments.clear();
}

void EncoderBatch::check(const BertConfig& config) const {
  const auto n = static_cast<std::size_t>(segments.total());
  if (ids.size() != n || types.size() != n) {
    throw std::logic_error("reader::EncoderBatch: ids and types do not fit the segments");
  }
  if (segments.longest() > config.positions) {
    throw std::logic_error("reader::EncoderBatch: a sequence of " + std::to_string(segments.longest()) +
                           " where the model has " + std::to_string(config.positions) + " positions");
  }
  const auto outside = [](const std::vector<std::int32_t>& all, Index rows) {
    return std::any_of(all.begin(), all.end(), [rows](std::int32_t id) { return id < 0 || id >= rows; });
  };
  if (outside(ids, config.vocabulary) || outside(types, config.types)) {
    throw std::logic_error("reader::EncoderBatch: an id or a type outside of its table");
  }
}

template <typename T>
BertEncoder<T>::BertEncoder(nn::Parameters<T>& p, const BertConfig& config, const std::string& prefix,
                            std::uint64_t stream, bool dense_words)
    : config_(config), dropout_(config.dropout, stream) {
  const std::string name = prefix + "embeddings.";
  // Few of the words occur in a batch; positions and types nearly all do.
  const auto table = [&](Index rows, bool sparse) {
    return nn::EmbeddingOptions{
        .rows = rows, .dim = config.hidden, .initial = nn::Initial::normal_002, .sparse = sparse};
  };
  words_ = nn::Embedding<T>(p, name + "word_embeddings", table(config.vocabulary, !dense_words));
  positions_ = nn::Embedding<T>(p, name + "position_embeddings", table(config.positions, false));
  types_ = nn::Embedding<T>(p, name + "token_type_embeddings", table(config.types, false));
  norm_ = nn::LayerNorm<T>(p, name + "LayerNorm", config.hidden, config.layer_norm_epsilon);
  const nn::TransformerConfig block{.hidden = config.hidden,
                                    .heads = config.heads,
                                    .feed_forward = config.feed_forward,
                                    .dropout = config.dropout,
                                    .attention_dropout = config.attention_dropout,
                                    .layer_norm_epsilon = config.layer_norm_epsilon,
                                    .activation = config.activation};
  for (Index i = 0; i < config.layers; ++i) {
    blocks_.emplace_back(p, prefix + "encoder.layer." + std::to_string(i), block,
                         stream + 1 + 3 * static_cast<std::uint64_t>(i));
  }
}

template <typename T>
void BertEncoder<T>::embed(const nn::Parameters<T>& p, const EncoderBatch& batch, Cache& cache,
                           const nn::Context& context) const {
  const Index n = batch.segments.total(), d = config_.hidden;
  cache.positions.clear();
  for (Index s = 0; s < batch.segments.count(); ++s) {
    for (Index i = 0; i < batch.segments.length(s); ++i) {
      cache.positions.push_back(static_cast<std::int32_t>(i));
    }
  }
  cache.sum.resize(n, d);
  cache.norm.mean_rstd.resize(n, 2);
  cache.outputs[0].resize(n, d);
  const View<const T> words = p[words_.weight()], positions = p[positions_.weight()],
                      types = p[types_.weight()];
  const T *weight = p[norm_.weight()].data, *bias = p[norm_.bias()].data;
  context.team->parallel_for(n, 32, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const T* word = words.row(batch.ids[i]);
      const T* position = positions.row(cache.positions[i]);
      const T* type = types.row(batch.types[i]);
      T* sum = cache.sum.row(r);
      for (Index c = 0; c < d; ++c) sum[c] = word[c] + type[c] + position[c];
      T* y = cache.outputs[0].row(r);
      norm_.forward_row(weight, bias, sum, y, cache.norm.mean_rstd.row(r));
      dropout_.apply_row(r, y, y, d, context);
    }
  });
}

template <typename T>
bool BertEncoder<T>::forward(const nn::Parameters<T>& p, const EncoderBatch& batch, Cache& cache,
                             const nn::Context& context, const Stop& stop) const {
  batch.check(config_);
  const bool keep = cache.keep_layers || context.training;
  cache.outputs.resize(keep ? blocks_.size() + 1 : 2);
  cache.blocks.resize(context.training ? blocks_.size() : 1);
  cache.last = 0;
  if (stop && stop()) return false;
  embed(p, batch, cache, context);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (stop && stop()) return false;
    const std::size_t next = keep ? i + 1 : 1 - cache.last;
    cache.outputs[next].resize(batch.segments.total(), config_.hidden);
    if (batch.segments.total() > 0) {
      blocks_[i].forward(p, cache.outputs[cache.last], batch.segments, cache.outputs[next],
                         cache.blocks[context.training ? i : 0], context);
    }
    cache.last = next;
  }
  return true;
}

template <typename T>
void BertEncoder<T>::backward(const nn::Parameters<T>& p, const EncoderBatch& batch, Cache& cache,
                              View<const T> d_output, nn::Gradients<T>& g, const nn::Context& context) const {
  const Index n = batch.segments.total(), d = config_.hidden;
  if (cache.blocks.size() != blocks_.size() || cache.outputs.size() != blocks_.size() + 1 ||
      cache.sum.rows() != n || d_output.rows != n || d_output.cols != d) {
    throw std::logic_error("reader::BertEncoder: backward does not fit a training forward");
  }
  if (n == 0) return;
  cache.gradient.resize(n, d);
  const View<T> dx = cache.gradient;
  for (Index r = 0; r < n; ++r) std::copy_n(d_output.row(r), d, dx.row(r));
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    blocks_[i].backward(p, cache.outputs[i], batch.segments, cache.blocks[i], dx, dx, g, context);
  }
  dropout_.apply(dx, dx, context);
  norm_.backward(p, cache.norm, cache.sum, dx, dx, g, context);
  using Ids = std::span<const std::int32_t>;
  words_.backward(Ids(batch.ids), dx, g);
  positions_.backward(Ids(cache.positions), dx, g);
  types_.backward(Ids(batch.types), dx, g);
}

template <typename T>
void sentence_vectors(View<const T> x, const nn::Segments& segments, View<T> y) {
  nn::pool<T>(nn::Pooling::mean, x, segments, y);
  for (Index r = 0; r < y.rows; ++r) {
    T* row = y.row(r);
    T squares = T(0);
    for (Index c = 0; c < y.cols; ++c) squares += row[c] * row[c];
    if (!(squares > T(0))) continue;
    const T factor = T(1) / std::sqrt(squares);
    for (Index c = 0; c < y.cols; ++c) row[c] *= factor;
  }
}

template class BertEncoder<float>;
template class BertEncoder<double>;
template void sentence_vectors<float>(View<const float>, const nn::Segments&, View<float>);
template void sentence_vectors<double>(View<const double>, const nn::Segments&, View<double>);

}  // namespace askbase::reader
