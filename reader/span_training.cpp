#include "reader/span_training.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "nn/quantize.h"
#include "nn/random.h"
#include "nn/softmax.h"
#include "reader/span.h"

namespace askbase::reader {

namespace {

using base::ErrorCode;
using nn::Index;

constexpr std::size_t kLongestQuestion = 64;
// Windows that validation reads at once, by ids.
constexpr Index kEvaluatedIds = 8192;

struct Context {
  Pieces pieces;
  PieceEdges edges;
};

struct Example {
  std::size_t question = 0, context = 0;  // question: index into the questions' pieces
  Window window;
  Index start = 0, end = 0;  // targets: rows of the input; both 0, [CLS], for no answer
  Index length = 0;          // ids
};

// Questions and contexts as pieces.
struct Encoded {
  std::vector<Pieces> questions;
  std::vector<Context> contexts;
};

Encoded encode(const BertModel& model, const ReadingSet& set, nn::Team& team) {
  Encoded encoded{std::vector<Pieces>(set.questions.size()), std::vector<Context>(set.contexts.size())};
  const WordPiece& tokenizer = model.tokenizer();
  team.parallel_for(static_cast<Index>(set.questions.size()), 64, [&](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      tokenizer.tokenize(set.questions[i].question, encoded.questions[i]);
    }
  });
  team.parallel_for(static_cast<Index>(set.contexts.size()), 16, [&](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      Context& context = encoded.contexts[i];
      tokenizer.tokenize(set.contexts[i], context.pieces);
      context.edges = piece_edges(tokenizer.vocabulary(), context.pieces);
    }
  });
  return encoded;
}

// The pieces that an answer touches; nothing where it touches none.
std::optional<Window> pieces_of(const Pieces& context, std::size_t begin, std::size_t end) {
  std::size_t first = 0;
  while (first < context.size() && context.end[first] <= begin) ++first;
  std::size_t last = first;
  while (last < context.size() && context.begin[last] < end) ++last;
  if (first == last) return std::nullopt;
  return Window{first, last};
}

EncoderInput input_of(const BertModel& model, const Encoded& encoded, std::size_t question,
                      std::size_t context, const Window& window, const WindowOptions& options) {
  return encode_window(model.tokenizer().vocabulary(), encoded.questions[question],
                       encoded.contexts[context].pieces, window, options);
}

class Task : public nn::TrainingTask<float> {
 public:
  Task(const BertModel& model, const ReadingSet& train, const ReadingSet& valid,
       const ReadingMeasure& measure, const SpanTraining& options, nn::Team& team)
      : model_(model),
        valid_(valid),
        measure_(measure),
        precision_(options.precision),
        train_pieces_(encode(model, train, team)),
        valid_pieces_(encode(model, valid, team)),
        workers_(static_cast<std::size_t>(team.size())) {
    windows_.max_length = static_cast<std::size_t>(options.max_length);
    windows_.max_question = kLongestQuestion;
    nn::Random random(options.seed, 0x77696e646f77);
    base::Sha256 hash;
    for (std::size_t i = 0; i < train.questions.size(); ++i) add(train.questions[i], i, random);
    for (const ReadingSet* set : {&train, &valid}) {
      for (const ReadingQuestion& question : set->questions) {
        hash.append_text(question.question);
        hash.append_text(std::to_string(question.begin) + ' ' + std::to_string(question.end));
        hash.append_text(set->contexts[question.context]);
      }
    }
    fingerprint_ = hash.hex() + " window " + std::to_string(options.max_length);
  }

  std::size_t left_out() const { return left_out_; }
  Index example_count() const override { return static_cast<Index>(examples_.size()); }
  Index length(Index i) const override { return examples_[static_cast<std::size_t>(i)].length; }
  std::string fingerprint() const override { return fingerprint_; }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    Worker& w = workers_[static_cast<std::size_t>(shard.worker)];
    w.batch.clear();
    for (const Index i : shard.examples) {
      const Example& example = examples_[static_cast<std::size_t>(i)];
      w.batch.add(
          input_of(model_, train_pieces_, example.question, example.context, example.window, windows_));
    }
    model_.encoder().forward(p, w.batch, w.cache, context);
    const nn::View<const float> x = w.cache.output();
    w.logits.resize(x.rows, 2);
    model_.span_head()->forward(p, x, w.logits, context);
    double loss = 0;
    for (std::size_t s = 0; s < shard.examples.size(); ++s) {
      const Example& example = examples_[static_cast<std::size_t>(shard.examples[s])];
      const auto segment = static_cast<Index>(s);
      loss += span_loss(example, w.batch.segments.begin(segment), w) / 2;
    }
    w.d_output.resize(x.rows, x.cols);
    model_.span_head()->backward(p, x, w.logits, w.d_output, g, context);
    model_.encoder().backward(p, w.batch, w.cache, w.d_output, g, context);
    return {loss, static_cast<double>(shard.examples.size())};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p,
                                                       nn::Team& team) override {
    if (valid_.questions.empty()) return std::nullopt;
    std::vector<ReadingGuess> guesses(valid_.questions.size());
    // By context length, so that batches are even.
    std::vector<std::size_t> order(guesses.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto pieces_in = [&](std::size_t q) {
      return valid_pieces_.contexts[valid_.questions[q].context].pieces.size();
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return pieces_in(a) < pieces_in(b); });
    std::vector<std::size_t> group;
    Index ids = 0;
    for (const std::size_t q : order) {
      group.push_back(q);
      ids += static_cast<Index>(pieces_in(q) + valid_pieces_.questions[q].size());
      if (ids < kEvaluatedIds) continue;
      guess(p, group, guesses, team);
      group.clear();
      ids = 0;
    }
    if (!group.empty()) guess(p, group, guesses, team);
    return measure_(guesses);
  }

 private:
  struct Worker {
    EncoderBatch batch;
    BertEncoder<float>::Cache cache;
    nn::Matrix<float> logits, d_output;
    nn::Matrix<float> scores, d_scores;  // of one sequence, start above end
  };

  void add(const ReadingQuestion& question, std::size_t index, nn::Random& random) {
    const Pieces& context = train_pieces_.contexts.at(question.context).pieces;
    const std::size_t asked = std::min(train_pieces_.questions[index].size(), kLongestQuestion);
    const std::size_t room = windows_.max_length - 3 - asked, size = std::min(room, context.size());
    std::optional<Window> answer;
    if (question.answerable()) {
      answer = pieces_of(context, question.begin, question.end);
      if (!answer || answer->end - answer->begin > size) {
        ++left_out_;
        return;
      }
    }
    Example example;
    example.question = index;
    example.context = question.context;
    // Anywhere, as long as the answer lies in it.
    const std::size_t least = answer && answer->end > size ? answer->end - size : 0;
    const std::size_t most = std::min(context.size() - size, answer ? answer->begin : context.size());
    example.window.begin = least + random.below(most - least + 1);
    example.window.end = example.window.begin + size;
    example.length = static_cast<Index>(size + asked + 3);
    if (answer) {
      const std::size_t first = asked + 2;  // [CLS] question [SEP]
      example.start = static_cast<Index>(first + answer->begin - example.window.begin);
      example.end = static_cast<Index>(first + answer->end - 1 - example.window.begin);
    }
    examples_.push_back(example);
  }

  // Cross-entropy of start and end among [CLS] and the context's pieces; the logits of the sequence, which
  // begins at `row`, become the gradients of half the sum.
  static double span_loss(const Example& example, Index row, Worker& w) {
    const auto pieces = static_cast<Index>(example.window.end - example.window.begin);
    const Index first = example.length - 1 - pieces;  // of the context's rows; [SEP] ends the sequence
    w.scores.resize(2, pieces + 1);
    w.d_scores.resize(2, pieces + 1);
    for (Index k = 0; k < 2; ++k) {
      w.scores(k, 0) = w.logits(row, k);
      for (Index i = 0; i < pieces; ++i) w.scores(k, i + 1) = w.logits(row + first + i, k);
    }
    const auto target = [first](Index at) { return at == 0 ? Index{0} : at - first + 1; };
    const Index targets[2] = {target(example.start), target(example.end)};
    const double loss = nn::cross_entropy<float>(w.scores, targets, w.d_scores, 0.5F);
    for (Index k = 0; k < 2; ++k) {
      for (Index i = 0; i < example.length; ++i) w.logits(row + i, k) = 0;
      w.logits(row, k) = w.d_scores(k, 0);
      for (Index i = 0; i < pieces; ++i) w.logits(row + first + i, k) = w.d_scores(k, i + 1);
    }
    return loss;
  }

  void guess(const nn::Parameters<float>& p, const std::vector<std::size_t>& group,
             std::vector<ReadingGuess>& guesses, nn::Team& team) {
    Worker& w = workers_[0];
    const nn::Context context{.team = &team, .precision = precision_};
    w.batch.clear();
    struct Part {
      std::size_t question;
      std::vector<Window> windows;
      std::size_t first;  // row of the context in the inputs
    };
    std::vector<Part> parts;
    for (const std::size_t q : group) {
      const std::size_t c = valid_.questions[q].context;
      Part part{
          q,
          plan_windows(valid_pieces_.questions[q].size(), valid_pieces_.contexts[c].pieces.size(), windows_),
          0};
      for (const Window& window : part.windows) {
        const EncoderInput input = input_of(model_, valid_pieces_, q, c, window, windows_);
        part.first = input.second;
        w.batch.add(input);
      }
      parts.push_back(std::move(part));
    }
    model_.encoder().forward(p, w.batch, w.cache, context);
    w.logits.resize(w.batch.segments.total(), 2);
    model_.span_head()->forward(p, w.cache.output(), w.logits, context);
    Index segment = 0;
    std::vector<float> start, end;
    SpanSearch search;
    for (const Part& part : parts) {
      const ReadingQuestion& question = valid_.questions[part.question];
      const Context& read = valid_pieces_.contexts[question.context];
      search.reset(read.edges, part.windows);
      for (std::size_t i = 0; i < part.windows.size(); ++i, ++segment) {
        const Index row = w.batch.segments.begin(segment);
        const std::size_t n = part.windows[i].end - part.windows[i].begin;
        start.resize(n);
        end.resize(n);
        for (std::size_t t = 0; t < n; ++t) {
          const Index at = row + static_cast<Index>(part.first + t);
          start[t] = w.logits(at, 0);
          end[t] = w.logits(at, 1);
        }
        search.add(i, start, end, w.logits(row, 0) + w.logits(row, 1));
      }
      if (search.spans().empty()) {
        guesses[part.question] = {"", 1e9};
        continue;
      }
      const PieceSpan& best = search.spans().front();
      const std::string& text = valid_.contexts[question.context];
      const base::OffsetMap offsets(text);
      const std::size_t from = offsets.byte(read.pieces.begin[best.begin]),
                        to = offsets.byte(read.pieces.end[best.end - 1]);
      guesses[part.question] = {text.substr(from, to - from), search.null_score() - best.score};
    }
  }

  const BertModel& model_;
  const ReadingSet& valid_;
  const ReadingMeasure& measure_;
  nn::Precision precision_;
  WindowOptions windows_;
  Encoded train_pieces_, valid_pieces_;
  std::vector<Example> examples_;
  std::vector<Worker> workers_;
  std::string fingerprint_;
  std::size_t left_out_ = 0;
};

}  // namespace

void round_word_embeddings(BertModel& model) {
  const nn::View<float> words = model.parameters().mutable_view(model.encoder().word_embeddings());
  std::vector<std::int8_t> rounded(static_cast<std::size_t>(words.size()));
  std::vector<float> scales(static_cast<std::size_t>(words.rows));
  nn::quantize_rows(words, rounded.data(), scales.data());
  nn::dequantize_rows(rounded.data(), scales.data(), words);
}

std::unique_ptr<BertModel> with_span_head(std::unique_ptr<BertModel> model, std::uint64_t seed) {
  if (model->span_head() != nullptr) return model;
  auto headed = std::make_unique<BertModel>(model->config(), model->tokenizer(), true);
  nn::Parameters<float>& p = headed->parameters();
  p.initialise(seed);
  const nn::Parameters<float>& from = model->parameters();
  for (nn::ParameterId id = 0; id < from.count(); ++id) {
    const nn::View<const float> values = from[id];
    std::copy_n(values.data, values.size(), p.mutable_view(p.find(from.name(id))).data);
  }
  return headed;
}

base::Result<SpanTrainingResult> train_span_reader(BertModel& model, const ReadingSet& train,
                                                   const ReadingSet& valid, const ReadingMeasure& measure,
                                                   const SpanTraining& options, nn::Team& team) {
  if (model.span_head() == nullptr)
    throw std::logic_error("reader::train_span_reader: a model without a span head");
  const Index most = model.config().positions;
  if (options.max_length > most || options.max_length < 2 * static_cast<Index>(kLongestQuestion)) {
    return base::fail(
        ErrorCode::invalid_argument, "windows of " + std::to_string(options.max_length) + " ids cannot be",
        "from " + std::to_string(2 * kLongestQuestion) + " to the model's " + std::to_string(most));
  }
  if (options.freeze_words) {
    round_word_embeddings(model);
    model.parameters().set_frozen(model.encoder().word_embeddings(), true);
  }
  Task task(model, train, valid, measure, options, team);
  if (task.example_count() == 0) {
    return base::fail(ErrorCode::bad_input, "no question to train on: none has its answer in a window");
  }
  nn::TrainerConfig trainer;
  trainer.name = "reader";
  trainer.seed = options.seed;
  trainer.optimizer = {.kind = nn::OptimizerKind::adamw, .weight_decay = options.weight_decay};
  trainer.schedule = {
      .kind = nn::ScheduleKind::linear, .rate = options.rate, .warmup_share = options.warmup_share};
  trainer.batching = {.max_examples = options.batch};
  trainer.accumulate = options.accumulate;
  trainer.precision = options.precision;
  trainer.clip_norm = options.clip_norm;
  trainer.epochs = options.epochs;
  trainer.minutes = options.minutes;
  trainer.evaluate_every = options.evaluate_every;
  trainer.averaging = options.ema_decay > 0 ? nn::Averaging::ema : nn::Averaging::none;
  trainer.ema_decay = options.ema_decay;
  trainer.checkpoint = options.checkpoint;
  trainer.checkpoint_minutes = 10;
  trainer.curves = options.curves;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  SpanTrainingResult result;
  result.questions = static_cast<std::size_t>(task.example_count());
  result.left_out = task.left_out();
  ASKBASE_ASSIGN(result.run, nn::train(task, model.parameters(), trainer, team));
  return result;
}

}  // namespace askbase::reader
