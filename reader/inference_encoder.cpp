#include "reader/inference_encoder.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "nn/quantize.h"

namespace askbase::reader {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::Status;
using nn::Index;
using nn::Matrix;
using nn::Numbers;
using nn::Shape;
using nn::View;

namespace {

// Rows that go through a layer together: their 1,536 numbers each stay in the second cache. Fewer of them
// where threads share the work: one that is held up leaves the rest to the others.
constexpr Index kRowsAlone = 96, kRowsShared = 48, kFewestRows = 6;

// body(task, part) for all the tasks, each taken by the thread that is free; part numbers the threads.
template <typename Body>
void share(nn::Team& team, Index tasks, Body&& body) {
  std::atomic<Index> next{0};
  team.parallel_for(std::min<Index>(team.size(), tasks), 1, [&](Index part, Index) {
    for (Index task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) body(task, part);
  });
}

struct Rows {
  Index total, pieces;
  Rows(Index n, Index threads) : total(n) {
    const Index most = threads == 1 ? kRowsAlone : kRowsShared;
    pieces = std::max((n + most - 1) / most, std::min(threads, n / kFewestRows));
    pieces = std::max<Index>(1, (pieces + threads - 1) / threads * threads);
    pieces = std::min(pieces, std::max<Index>(1, n / kFewestRows));
  }
  Index begin(Index piece) const { return total * piece / pieces; }
};

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const Index n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

}  // namespace

// Where weights come from. Every tensor is asked for once, by its name in BertEncoder.
class InferenceEncoder::Source {
 public:
  virtual ~Source() = default;
  virtual Result<Matrix<float>> floats(const std::string& name, const Shape& shape) const = 0;
  virtual Result<nn::Int8Rows> int8(const std::string& name, const Shape& shape) const = 0;
  // Whether the numbers are stored as int8.
  virtual bool stored_int8(const std::string& name) const = 0;

  Result<std::vector<float>> vector(const std::string& name, Index n) const {
    ASKBASE_ASSIGN(const Matrix<float> values, floats(name, {n}));
    return std::vector<float>(values.data(), values.data() + n);
  }

 protected:
  static nn::Int8Rows rounded(View<const float> values) {
    nn::Int8Rows rows;
    rows.values.resize(values.rows, values.cols);
    rows.scales.resize(static_cast<std::size_t>(values.rows));
    nn::quantize_rows(values, rows.values.data(), rows.scales.data());
    return rows;
  }
};

namespace {

class FromParameters : public InferenceEncoder::Source {
 public:
  explicit FromParameters(const nn::Parameters<float>& p) : p_(p) {}

  Result<Matrix<float>> floats(const std::string& name, const Shape& shape) const override {
    const View<const float> from = tensor(name, shape);
    Matrix<float> copy(from.rows, from.cols);
    std::copy_n(from.data, from.size(), copy.data());
    return copy;
  }
  Result<nn::Int8Rows> int8(const std::string& name, const Shape& shape) const override {
    return rounded(tensor(name, shape));
  }
  bool stored_int8(const std::string&) const override { return false; }

 private:
  View<const float> tensor(const std::string& name, const Shape& shape) const {
    const nn::ParameterId id = p_.find(name);
    if (id < 0 || p_.shape(id) != shape) {
      throw std::logic_error("reader::InferenceEncoder: the parameters have no " + name + " of " +
                             shape_text(shape));
    }
    return p_[id];
  }
  const nn::Parameters<float>& p_;
};

class FromFile : public InferenceEncoder::Source {
 public:
  explicit FromFile(const nn::SafetensorsFile& file) : file_(file) {}

  Result<Matrix<float>> floats(const std::string& name, const Shape& shape) const override {
    ASKBASE_ASSIGN(const nn::TensorInfo* const tensor, find(name, shape));
    Matrix<float> values(shape.size() < 2 ? 1 : shape[0], shape.back());
    if (tensor->dtype == nn::Dtype::i8) {
      ASKBASE_ASSIGN(const nn::Int8Rows rows, nn::read_int8(file_, name));
      nn::dequantize_rows(rows.values.data(), rows.scales.data(), values);
    } else {
      ASKBASE_TRY(file_.read(*tensor, values.data()));
    }
    return values;
  }
  Result<nn::Int8Rows> int8(const std::string& name, const Shape& shape) const override {
    if (stored_int8(name)) {
      ASKBASE_TRY(find(name, shape));
      return nn::read_int8(file_, name);
    }
    ASKBASE_ASSIGN(const Matrix<float> values, floats(name, shape));
    return rounded(values);
  }
  bool stored_int8(const std::string& name) const override {
    const nn::TensorInfo* tensor = file_.find(name);
    return tensor != nullptr && tensor->dtype == nn::Dtype::i8;
  }

 private:
  Result<const nn::TensorInfo*> find(const std::string& name, const Shape& shape) const {
    const nn::TensorInfo* tensor = file_.find(name);
    if (tensor != nullptr && tensor->shape == shape) return tensor;
    return fail(ErrorCode::corrupt,
                file_.name() + ": " + (tensor == nullptr ? "there is no tensor " : "another shape than ") +
                    name + " of " + shape_text(shape),
                "copy the model's folder again, with all of its files");
  }
  const nn::SafetensorsFile& file_;
};

}  // namespace

View<const float> InferenceEncoder::Workspace::attention(Index sequence, Index head) const {
  if (attention_heads_ == 0 || sequence < 0 || sequence >= attention_segments_.count() || head < 0 ||
      head >= attention_heads_) {
    throw std::logic_error("reader::InferenceEncoder: no such attention was kept");
  }
  const Index length = attention_segments_.length(sequence);
  return {attention_.data() + attention_begin_[static_cast<std::size_t>(sequence)] + head * length * length,
          length, length};
}

InferenceEncoder::InferenceEncoder(const BertConfig& config, const nn::Parameters<float>& p,
                                   const InferenceOptions& options, std::shared_ptr<const WordTable> words)
    : InferenceEncoder(config, options) {
  (void)build(FromParameters(p), std::move(words));  // which knows no expected failure
}

Result<InferenceEncoder> InferenceEncoder::load(const BertConfig& config, const nn::SafetensorsFile& file,
                                                const InferenceOptions& options,
                                                std::shared_ptr<const WordTable> words) {
  InferenceEncoder encoder(config, options);
  ASKBASE_TRY(encoder.build(FromFile(file), std::move(words)));
  return encoder;
}

Status InferenceEncoder::build(const Source& source, std::shared_ptr<const WordTable> words) {
  const Index d = config_.hidden;
  if (words && (words->rows() != config_.vocabulary || words->cols() != d)) {
    throw std::logic_error("reader::InferenceEncoder: word embeddings of another size");
  }
  words_ = std::move(words);
  if (const std::string name = "embeddings.word_embeddings.weight"; !words_) {
    const Shape shape{config_.vocabulary, d};
    if (options_.numbers == Numbers::int8 || source.stored_int8(name)) {
      ASKBASE_ASSIGN(nn::Int8Rows rows, source.int8(name, shape));
      words_ = std::make_shared<const WordTable>(std::move(rows));
    } else {
      ASKBASE_ASSIGN(const Matrix<float> rows, source.floats(name, shape));
      words_ = std::make_shared<const WordTable>(rows.view());
    }
  }
  ASKBASE_ASSIGN(positions_, source.floats("embeddings.position_embeddings.weight", {config_.positions, d}));
  ASKBASE_ASSIGN(types_, source.floats("embeddings.token_type_embeddings.weight", {config_.types, d}));
  const auto norm = [&](const std::string& name, Norm& out) -> Status {
    ASKBASE_ASSIGN(out.weight, source.vector(name + ".weight", d));
    ASKBASE_ASSIGN(out.bias, source.vector(name + ".bias", d));
    return {};
  };
  // Linear layers that read the same, as one product.
  const auto linear = [&](const std::vector<std::string>& names, Index in, Index out,
                          nn::PackedLinear& packed) -> Status {
    const Index all = out * static_cast<Index>(names.size());
    const bool small = options_.numbers == Numbers::int8;
    Matrix<float> weight(small ? 0 : all, in);
    nn::Int8Rows rows;
    rows.values.resize(small ? all : 0, in);
    std::vector<float> bias;
    for (Index i = 0; i < static_cast<Index>(names.size()); ++i) {
      const std::string& name = names[static_cast<std::size_t>(i)];
      if (small) {
        ASKBASE_ASSIGN(const nn::Int8Rows part, source.int8(name + ".weight", {out, in}));
        std::copy_n(part.values.data(), out * in, rows.values.row(i * out));
        rows.scales.insert(rows.scales.end(), part.scales.begin(), part.scales.end());
      } else {
        ASKBASE_ASSIGN(const Matrix<float> part, source.floats(name + ".weight", {out, in}));
        std::copy_n(part.data(), out * in, weight.row(i * out));
      }
      ASKBASE_ASSIGN(const std::vector<float> part, source.vector(name + ".bias", out));
      bias.insert(bias.end(), part.begin(), part.end());
    }
    packed = small ? nn::PackedLinear(rows.values.view(), rows.scales, bias, options_.loops)
                   : nn::PackedLinear(weight, bias, options_.numbers, options_.loops);
    return {};
  };
  ASKBASE_TRY(norm("embeddings.LayerNorm", norm_));
  layers_.resize(static_cast<std::size_t>(config_.layers));
  for (Index i = 0; i < config_.layers; ++i) {
    Layer& layer = layers_[static_cast<std::size_t>(i)];
    const std::string name = "encoder.layer." + std::to_string(i) + ".", self = name + "attention.self.";
    ASKBASE_TRY(linear({self + "query", self + "key", self + "value"}, d, d, layer.qkv));
    ASKBASE_TRY(linear({name + "attention.output.dense"}, d, d, layer.output));
    ASKBASE_TRY(norm(name + "attention.output.LayerNorm", layer.norm1));
    ASKBASE_TRY(linear({name + "intermediate.dense"}, d, config_.feed_forward, layer.up));
    ASKBASE_TRY(linear({name + "output.dense"}, config_.feed_forward, d, layer.down));
    ASKBASE_TRY(norm(name + "output.LayerNorm", layer.norm2));
  }
  return {};
}

void InferenceEncoder::embed(const EncoderBatch& batch, Index begin, Index end, Workspace& w) const {
  const Index d = config_.hidden;
  std::vector<float> rest(static_cast<std::size_t>(d));
  for (Index r = begin; r < end; ++r) {
    const auto at = static_cast<std::size_t>(r);
    words_->read(batch.ids[at], w.x_.row(r));
    const float *position = positions_.row(w.positions_[at]), *type = types_.row(batch.types[at]);
    for (Index c = 0; c < d; ++c) rest[static_cast<std::size_t>(c)] = type[c] + position[c];
    const View<float> row = w.x_.view().rows_from(r, 1);
    nn::add_and_norm(row, View<const float>(rest.data(), 1, d), norm_.weight, norm_.bias,
                     config_.layer_norm_epsilon, row, options_.loops);
  }
}

void InferenceEncoder::project(const Layer& layer, Index begin, Index end, Workspace& w,
                               Workspace::Part& part) const {
  layer.qkv.forward(w.x_.view().rows_from(begin, end - begin), w.qkv_.view().rows_from(begin, end - begin),
                    nn::Activation::identity, part.linear);
}

void InferenceEncoder::attend(const EncoderBatch& batch, Index task, Workspace& w,
                              Workspace::Part& part) const {
  const Index d = config_.hidden, width = d / config_.heads, head = task % config_.heads,
              sequence = task / config_.heads, begin = batch.segments.begin(sequence),
              length = batch.segments.length(sequence);
  const View<const float> rows = w.qkv_.view().rows_from(begin, length);
  nn::attend(rows.cols_from(head * width, width), rows.cols_from(d + head * width, width),
             rows.cols_from(2 * d + head * width, width),
             w.context_.view().rows_from(begin, length).cols_from(head * width, width), options_.numbers,
             options_.loops, part.attention);
}

void InferenceEncoder::keep_attention(const EncoderBatch& batch, Index task, Workspace& w) const {
  const Index d = config_.hidden, width = d / config_.heads, head = task % config_.heads,
              sequence = task / config_.heads, length = batch.segments.length(sequence);
  if (length == 0) return;
  const View<const float> rows = w.qkv_.view().rows_from(batch.segments.begin(sequence), length);
  float* to =
      w.attention_.data() + w.attention_begin_[static_cast<std::size_t>(sequence)] + head * length * length;
  nn::attention_weights(rows.cols_from(head * width, width), rows.cols_from(d + head * width, width),
                        View<float>(to, length, length));
}

void InferenceEncoder::finish(const Layer& layer, Index begin, Index end, Workspace& w,
                              Workspace::Part& part) const {
  const Index n = end - begin, d = config_.hidden;
  part.middle.resize(n, d);
  part.up.resize(n, config_.feed_forward);
  part.down.resize(n, d);
  const View<float> x = w.x_.view().rows_from(begin, n);
  layer.output.forward(w.context_.view().rows_from(begin, n), part.middle, nn::Activation::identity,
                       part.linear);
  nn::add_and_norm(part.middle, x, layer.norm1.weight, layer.norm1.bias, config_.layer_norm_epsilon,
                   part.middle, options_.loops);
  layer.up.forward(part.middle, part.up, config_.activation, part.linear);
  layer.down.forward(part.up, part.down, nn::Activation::identity, part.linear);
  nn::add_and_norm(part.down, part.middle, layer.norm2.weight, layer.norm2.bias, config_.layer_norm_epsilon,
                   x, options_.loops);
}

bool InferenceEncoder::forward(const EncoderBatch& batch, Workspace& w, nn::Team& team,
                               const Stop& stop) const {
  batch.check(config_);
  const Index n = batch.segments.total(), d = config_.hidden, tasks = batch.segments.count() * config_.heads;
  w.attention_heads_ = 0;
  if (stop && stop()) return false;
  w.x_.resize(n, d);
  w.qkv_.resize(n, 3 * d);
  w.context_.resize(n, d);
  w.positions_.clear();
  for (Index s = 0; s < batch.segments.count(); ++s) {
    for (Index i = 0; i < batch.segments.length(s); ++i) w.positions_.push_back(i);
  }
  w.parts_.resize(std::max(w.parts_.size(), static_cast<std::size_t>(team.size())));
  const auto part_of = [&w](Index part) -> Workspace::Part& {
    return w.parts_[static_cast<std::size_t>(part)];
  };
  const Rows rows(n, team.size());
  // The next layer's queries, keys and values are made while its input is in the caches.
  share(team, n == 0 ? 0 : rows.pieces, [&](Index piece, Index part) {
    const Index begin = rows.begin(piece), end = rows.begin(piece + 1);
    embed(batch, begin, end, w);
    project(layers_.front(), begin, end, w, part_of(part));
  });
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (stop && stop()) return false;
    if (n == 0) continue;
    if (static_cast<Index>(i) == w.attention_layer) {
      w.attention_begin_.clear();
      Index size = 0;
      for (Index s = 0; s < batch.segments.count(); ++s) {
        w.attention_begin_.push_back(size);
        size += config_.heads * batch.segments.length(s) * batch.segments.length(s);
      }
      w.attention_.resize(1, size);
      w.attention_segments_ = batch.segments;
      share(team, tasks, [&](Index task, Index) { keep_attention(batch, task, w); });
    }
    share(team, tasks, [&](Index task, Index part) { attend(batch, task, w, part_of(part)); });
    share(team, rows.pieces, [&](Index piece, Index part) {
      const Index begin = rows.begin(piece), end = rows.begin(piece + 1);
      finish(layers_[i], begin, end, w, part_of(part));
      if (i + 1 < layers_.size()) project(layers_[i + 1], begin, end, w, part_of(part));
    });
  }
  if (w.attention_layer >= 0 && w.attention_layer < config_.layers && n > 0)
    w.attention_heads_ = config_.heads;
  return true;
}

}  // namespace askbase::reader
