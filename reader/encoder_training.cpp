#include "reader/encoder_training.h"

#include <algorithm>
#include <stdexcept>

#include "base/sha256.h"
#include "nn/elementwise.h"
#include "nn/gemm.h"
#include "nn/softmax.h"

namespace askbase::reader {

using base::ErrorCode;
using nn::Index;
using nn::View;

namespace {

// As far as a sequence of seeds is concerned, validation is an epoch that never comes.
constexpr std::uint64_t kValidationEpoch = (std::uint64_t{1} << 24) - 1;
// Pairs that validation reads at once.
constexpr std::size_t kEvaluated = 32;

template <typename T>
Index best_of(View<const T> scores, Index row) {
  return std::max_element(scores.row(row), scores.row(row) + scores.cols) - scores.row(row);
}

template <typename T>
void take_rows(View<const T> from, std::span<const Index> rows, nn::Matrix<T>& to) {
  to.resize(static_cast<Index>(rows.size()), from.cols);
  for (Index i = 0; i < to.rows(); ++i)
    std::copy_n(from.row(rows[static_cast<std::size_t>(i)]), from.cols, to.row(i));
}

template <typename T>
void add_row(const T* from, Index cols, T* to) {
  for (Index c = 0; c < cols; ++c) to[c] += from[c];
}

}  // namespace

template <typename T>
void PretrainingNetwork<T>::Sums::add(const Sums& other) {
  loss += other.loss;
  masked_loss += other.masked_loss;
  next_loss += other.next_loss;
  masked += other.masked;
  masked_right += other.masked_right;
  sequences += other.sequences;
  next_right += other.next_right;
}

template <typename T>
PretrainingNetwork<T>::PretrainingNetwork(nn::Parameters<T>& p, const BertConfig& config)
    : encoder_(p, config, "bert.", 0, true) {
  const Index hidden = config.hidden;
  const auto linear = [&](const char* name, Index out) {
    return nn::Linear<T>(p, name, hidden, out, true, nn::Initial::normal_002);
  };
  pooler_ = linear("bert.pooler.dense", hidden);
  transform_ = linear("cls.predictions.transform.dense", hidden);
  norm_ = nn::LayerNorm<T>(p, "cls.predictions.transform.LayerNorm", hidden, config.layer_norm_epsilon);
  bias_ = p.add("cls.predictions.bias", {config.vocabulary}, {.initial = nn::Initial::zeros, .decay = false});
  next_ = linear("cls.seq_relationship", 2);
}

template <typename T>
auto PretrainingNetwork<T>::loss(const nn::Parameters<T>& p, std::span<const MaskedInput> inputs, Scratch& s,
                                 nn::Gradients<T>* g, const nn::Context& context) const -> Sums {
  s.batch.clear();
  s.places.clear();
  std::vector<Index> targets, firsts, labels;
  for (const MaskedInput& one : inputs) {
    const Index begin = s.batch.segments.total();
    firsts.push_back(begin);
    labels.push_back(one.next ? 0 : 1);  // Hugging Face's order
    for (const std::size_t place : one.places) s.places.push_back(begin + static_cast<Index>(place));
    targets.insert(targets.end(), one.targets.begin(), one.targets.end());
    s.batch.add(one.input);
  }
  encoder_.forward(p, s.batch, s.encoder, context);
  const View<const T> x = s.encoder.output();
  Sums sums;
  sums.sequences = inputs.size();
  sums.masked = targets.size();

  const auto masked = static_cast<Index>(targets.size());
  const BertConfig& config = encoder_.config();
  take_rows<T>(x, s.places, s.rows);
  for (nn::Matrix<T>* m : {&s.dense, &s.active, &s.normed}) m->resize(masked, config.hidden);
  s.scores.resize(masked, config.vocabulary);
  s.d_scores.resize(g != nullptr ? masked : 0, config.vocabulary);
  if (masked > 0) {
    transform_.forward(p, s.rows, s.dense, context);
    nn::activate<T>(config.activation, s.dense, s.active, *context.team);
    norm_.forward(p, s.active, s.normed, s.norm, context);
    nn::gemm<T>(nn::Op::none, nn::Op::transpose, T(1), s.normed, p[encoder_.word_embeddings()], T(0),
                s.scores, *context.team, context.precision);
    nn::add_to_rows<T>(p[bias_], s.scores, *context.team);
  }
  Index row = 0;
  for (const MaskedInput& one : inputs) {
    const auto count = static_cast<Index>(one.targets.size());
    if (count == 0) continue;
    const View<T> d = g != nullptr ? s.d_scores.view().rows_from(row, count) : View<T>();
    const double loss = nn::cross_entropy<T>(
        s.scores.view().rows_from(row, count),
        std::span(targets).subspan(static_cast<std::size_t>(row), one.targets.size()), d, T(1) / T(count));
    sums.masked_loss += loss;
    sums.loss += loss / static_cast<double>(count);
    row += count;
  }
  for (Index i = 0; i < masked; ++i) {
    if (best_of<T>(s.scores, i) == targets[static_cast<std::size_t>(i)]) ++sums.masked_right;
  }

  const auto sequences = static_cast<Index>(inputs.size());
  take_rows<T>(x, firsts, s.first);
  s.pooled.resize(sequences, config.hidden);
  pooler_.forward(p, s.first, s.pooled, context);
  nn::activate<T>(nn::Activation::tanh, s.pooled, s.pooled, *context.team);
  s.next.resize(sequences, 2);
  s.d_next.resize(sequences, 2);
  next_.forward(p, s.pooled, s.next, context);
  sums.next_loss = nn::cross_entropy<T>(s.next, labels, s.d_next);
  sums.loss += sums.next_loss;
  for (Index i = 0; i < sequences; ++i) {
    if (best_of<T>(s.next, i) == labels[static_cast<std::size_t>(i)]) ++sums.next_right;
  }
  if (g != nullptr) backward(p, s, *g, context);
  return sums;
}

template <typename T>
void PretrainingNetwork<T>::backward(const nn::Parameters<T>& p, Scratch& s, nn::Gradients<T>& g,
                                     const nn::Context& context) const {
  const BertConfig& config = encoder_.config();
  const Index hidden = config.hidden, masked = s.rows.rows(), sequences = s.first.rows();
  s.d_output.resize(s.batch.segments.total(), hidden);
  s.d_output.fill(T(0));
  if (masked > 0) {
    const nn::ParameterId words = encoder_.word_embeddings();
    s.d_rows.resize(masked, hidden);
    s.d_dense.resize(masked, hidden);
    nn::gemm<T>(nn::Op::transpose, nn::Op::none, T(1), s.d_scores, s.normed, T(1), g[words], *context.team,
                context.precision);
    nn::add_row_sums<T>(s.d_scores, g[bias_]);
    nn::gemm<T>(nn::Op::none, nn::Op::none, T(1), s.d_scores, p[words], T(0), s.d_dense, *context.team,
                context.precision);
    norm_.backward(p, s.norm, s.active, s.d_dense, s.d_dense, g, context);
    nn::activate_backward<T>(config.activation, s.dense, s.active, s.d_dense, s.d_dense, *context.team);
    transform_.backward(p, s.rows, s.d_dense, s.d_rows, g, context);
    for (Index i = 0; i < masked; ++i)
      add_row(s.d_rows.row(i), hidden, s.d_output.row(s.places[static_cast<std::size_t>(i)]));
  }
  s.d_pooled.resize(sequences, hidden);
  s.d_first.resize(sequences, hidden);
  next_.backward(p, s.pooled, s.d_next, s.d_pooled, g, context);
  nn::activate_backward<T>(nn::Activation::tanh, View<const T>(), s.pooled, s.d_pooled, s.d_pooled,
                           *context.team);
  pooler_.backward(p, s.first, s.d_pooled, s.d_first, g, context);
  for (Index i = 0; i < sequences; ++i)
    add_row(s.d_first.row(i), hidden, s.d_output.row(s.batch.segments.begin(i)));
  encoder_.backward(p, s.batch, s.encoder, s.d_output, g, context);
}

namespace {

struct Corpus {
  std::vector<PieceDocument> documents;
  std::vector<SentencePair> pairs;
};

class Task : public nn::TrainingTask<float> {
 public:
  Task(const PretrainingNetwork<float>& network, const Vocabulary& vocabulary, const Corpus& train,
       const Corpus& valid, const EncoderTraining& options, nn::Team& team)
      : network_(network),
        masker_(vocabulary, options.masking),
        train_(train),
        valid_(valid),
        options_(options),
        scratch_(static_cast<std::size_t>(team.size())) {}

  Index example_count() const override { return static_cast<Index>(train_.pairs.size()); }
  Index length(Index i) const override {
    return static_cast<Index>(train_.pairs[static_cast<std::size_t>(i)].length());
  }
  std::string fingerprint() const override {
    base::Sha256 hash;
    for (const Corpus* corpus : {&train_, &valid_}) {
      for (const PieceDocument& document : corpus->documents) {
        hash.append_text(
            {reinterpret_cast<const char*>(document.ids.data()), document.ids.size() * sizeof(std::int32_t)});
        hash.append_text({reinterpret_cast<const char*>(document.ends.data()),
                          document.ends.size() * sizeof(std::size_t)});
      }
    }
    const Masking& masking = options_.masking;
    return hash.hex() + " pairs of " + std::to_string(options_.max_length) + " masked " +
           std::to_string(masking.share) + " " + std::to_string(masking.most) +
           (masking.whole_words ? " whole words" : "");
  }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    std::vector<MaskedInput> inputs;
    for (const Index i : shard.examples)
      inputs.push_back(masked(train_, static_cast<std::size_t>(i), static_cast<std::uint64_t>(shard.epoch)));
    const auto sums = network_.loss(p, inputs, scratch_[static_cast<std::size_t>(shard.worker)], &g, context);
    return {sums.loss, static_cast<double>(sums.sequences)};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p,
                                                       nn::Team& team) override {
    if (valid_.pairs.empty()) return std::nullopt;
    PretrainingNetwork<float>::Sums sums;
    const nn::Context context{.team = &team, .precision = options_.precision};
    std::vector<MaskedInput> inputs;
    for (std::size_t i = 0; i < valid_.pairs.size(); ++i) {
      inputs.push_back(masked(valid_, i, kValidationEpoch));
      if (inputs.size() < kEvaluated && i + 1 < valid_.pairs.size()) continue;
      sums.add(network_.loss(p, inputs, scratch_[0], nullptr, context));
      inputs.clear();
    }
    const double masked = std::max(1.0, static_cast<double>(sums.masked)),
                 sequences = static_cast<double>(sums.sequences);
    return nn::Evaluation{-sums.loss / sequences,
                          {{"masked_accuracy", static_cast<double>(sums.masked_right) / masked},
                           {"masked_loss", sums.masked_loss / masked},
                           {"next_accuracy", static_cast<double>(sums.next_right) / sequences},
                           {"next_loss", sums.next_loss / sequences}}};
  }

 private:
  MaskedInput masked(const Corpus& corpus, std::size_t i, std::uint64_t epoch) const {
    return masker_.mask(corpus.documents, corpus.pairs[i], nn::Random(options_.seed, epoch << 40 | i));
  }

  const PretrainingNetwork<float>& network_;
  Masker masker_;
  const Corpus &train_, &valid_;
  const EncoderTraining& options_;
  std::vector<PretrainingNetwork<float>::Scratch> scratch_;
};

base::Result<Corpus> corpus_of(const WordPiece& tokenizer, std::span<const std::string> texts,
                               const EncoderTraining& options, const std::string& what, nn::Team& team) {
  Corpus corpus{piece_documents(tokenizer, texts, team), {}};
  if (corpus.documents.size() < 2) {
    return base::fail(ErrorCode::bad_input,
                      what + ": " + std::to_string(corpus.documents.size()) +
                          " documents with text; there must be two, for sentences that do not follow",
                      "in a .txt file blank lines divide documents");
  }
  corpus.pairs = sentence_pairs(corpus.documents, static_cast<std::size_t>(options.max_length), options.seed);
  return corpus;
}

// Copies the tensors of `from` that `to` has, under their names with a prefix put before or taken off.
void copy_encoder(const nn::Parameters<float>& from, nn::Parameters<float>& to, bool put) {
  const std::string prefix = "bert.";
  for (nn::ParameterId id = 0; id < from.count(); ++id) {
    const std::string& name = from.name(id);
    if (!put && !name.starts_with(prefix)) continue;
    const int target = to.find(put ? prefix + name : name.substr(prefix.size()));
    if (target >= 0) std::copy_n(from[id].data, from[id].size(), to.mutable_view(target).data);
  }
}

}  // namespace

base::Result<EncoderTrainingResult> train_encoder(BertModel& model, std::span<const std::string> train,
                                                  std::span<const std::string> valid,
                                                  const EncoderTraining& options, nn::Team& team) {
  constexpr Index kShortest = 16;
  const BertConfig& config = model.config();
  if (options.max_length < kShortest || options.max_length > config.positions) {
    return base::fail(ErrorCode::invalid_argument,
                      "pairs of " + std::to_string(options.max_length) + " ids cannot be",
                      "from " + std::to_string(kShortest) + " to the model's " +
                          std::to_string(config.positions) + " positions");
  }
  if (config.types < 2) {
    return base::fail(ErrorCode::unsupported, "the encoder tells no second sentence from a first",
                      "its type_vocab_size must be 2");
  }
  const Vocabulary& vocabulary = model.tokenizer().vocabulary();
  if (vocabulary.mask() < 0) {
    return base::fail(ErrorCode::bad_input, "the vocabulary has no [MASK]",
                      "add a line [MASK] to vocab.txt, or take the vocabulary of a BERT model");
  }
  ASKBASE_ASSIGN(const Corpus learned, corpus_of(model.tokenizer(), train, options, "training", team));
  Corpus kept;
  if (!valid.empty()) {
    ASKBASE_ASSIGN(kept, corpus_of(model.tokenizer(), valid, options, "validation", team));
  }

  nn::Parameters<float> p;
  const PretrainingNetwork<float> network(p, config);
  p.initialise(options.seed);
  copy_encoder(model.parameters(), p, true);
  Task task(network, vocabulary, learned, kept, options, team);
  nn::TrainerConfig trainer;
  trainer.name = "encoder";
  trainer.seed = options.seed;
  trainer.optimizer = {
      .kind = nn::OptimizerKind::adamw, .epsilon = 1e-6, .weight_decay = options.weight_decay};
  trainer.schedule = {
      .kind = nn::ScheduleKind::linear, .rate = options.rate, .warmup_share = options.warmup_share};
  trainer.batching = {.max_examples = options.batch};
  trainer.accumulate = options.accumulate;
  trainer.precision = options.precision;
  trainer.clip_norm = options.clip_norm;
  trainer.epochs = options.epochs;
  trainer.minutes = options.minutes;
  trainer.evaluate_every = options.evaluate_every;
  trainer.checkpoint = options.checkpoint;
  trainer.checkpoint_minutes = 10;
  trainer.curves = options.curves;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  EncoderTrainingResult result;
  result.documents = learned.documents.size();
  result.pairs = learned.pairs.size();
  result.valid_documents = kept.documents.size();
  result.valid_pairs = kept.pairs.size();
  ASKBASE_ASSIGN(result.run, nn::train(task, p, trainer, team));
  copy_encoder(p, model.parameters(), false);
  return result;
}

template class PretrainingNetwork<float>;
template class PretrainingNetwork<double>;

}  // namespace askbase::reader
