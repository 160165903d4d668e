#include "reader/char_training.h"

#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "base/text.h"
#include "nn/batching.h"
#include "nn/softmax.h"

namespace askbase::reader {

namespace {

using nn::Index;

// Questions of one context that are read at once.
constexpr std::size_t kTogether = 6;
constexpr Index kEvaluatedRows = 16384;

// Contexts and questions as the network takes them.
struct Analysed {
  std::vector<AnalysedText> contexts, questions;
};

Analysed analyse(const CharModel& model, const ReadingSet& set, nn::Team& team) {
  CharModel::Scratch scratch;
  const nn::Context context{.team = &team};
  const auto all = [&](std::size_t count, auto&& text_of) {
    std::vector<AnalysedText> out;
    for (std::size_t begin = 0, size = 0; begin < count; begin += size) {
      std::vector<std::u32string> texts;
      std::size_t characters = 0;
      for (size = 0; begin + size < count && characters < 8192; ++size) {
        texts.push_back(base::to_code_points(text_of(begin + size)));
        characters += texts.back().size();
      }
      for (AnalysedText& text :
           model.analyse(std::vector<std::u32string_view>(texts.begin(), texts.end()), scratch, context)) {
        out.push_back(std::move(text));
      }
    }
    return out;
  };
  return {all(set.contexts.size(), [&](std::size_t i) -> const std::string& { return set.contexts[i]; }),
          all(set.questions.size(),
              [&](std::size_t i) -> const std::string& { return set.questions[i].question; })};
}

// A context with some of its questions.
struct Example {
  std::size_t context = 0;
  std::vector<std::size_t> questions;
  Index rows = 0;  // of pairs
};

class Task : public nn::TrainingTask<float> {
 public:
  Task(CharModel& model, const ReadingSet& train, const ReadingSet& valid, const ReadingMeasure& measure,
       nn::Team& team)
      : model_(model),
        train_(train),
        valid_(valid),
        measure_(measure),
        analysed_(analyse(model, train, team)),
        analysed_valid_(analyse(model, valid, team)),
        caches_(static_cast<std::size_t>(team.size())) {
    model.count_rarity(analysed_.contexts);
    examples_ = grouped(train, analysed_, true);
    for (const Example& example : examples_) kept_ += example.questions.size();
    valid_examples_ = grouped(valid, analysed_valid_, false);
    std::stable_sort(valid_examples_.begin(), valid_examples_.end(), [&](const Example& a, const Example& b) {
      return analysed_valid_.contexts[a.context].text.size() <
             analysed_valid_.contexts[b.context].text.size();
    });
    base::Sha256 hash;
    hash.append_text(model.sizes());
    for (const ReadingSet* set : {&train, &valid}) {
      for (const ReadingQuestion& question : set->questions) {
        hash.append_text(question.question);
        hash.append_text(std::to_string(question.begin) + ' ' + std::to_string(question.end));
        hash.append_text(set->contexts[question.context]);
      }
    }
    fingerprint_ = hash.hex();
  }

  std::size_t kept() const { return kept_; }
  Index example_count() const override { return static_cast<Index>(examples_.size()); }
  Index length(Index i) const override { return examples_[static_cast<std::size_t>(i)].rows; }
  std::string fingerprint() const override { return fingerprint_; }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    auto& cache = caches_[static_cast<std::size_t>(shard.worker)];
    std::vector<const Example*> examples;
    for (const Index i : shard.examples) examples.push_back(&examples_[static_cast<std::size_t>(i)]);
    const std::vector<std::size_t> asked = fill(cache, examples, analysed_);
    model_.network().forward(p, cache, context);
    nn::Matrix<float> d(cache.scores.rows(), 2), scores, d_scores;
    double loss = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const ReadingQuestion& question = train_.questions[asked[i]];
      const Index first = cache.pairs.begin(static_cast<Index>(i)),
                  n = cache.pairs.length(static_cast<Index>(i));
      scores.resize(2, n);
      d_scores.resize(2, n);
      for (Index k = 0; k < 2; ++k) {
        for (Index t = 0; t < n; ++t) scores(k, t) = cache.scores(first + t, k);
      }
      const Index targets[2] = {static_cast<Index>(question.begin), static_cast<Index>(question.end) - 1};
      loss += nn::cross_entropy<float>(scores, targets, d_scores, 0.5F) / 2;
      for (Index k = 0; k < 2; ++k) {
        for (Index t = 0; t < n; ++t) d(first + t, k) = d_scores(k, t);
      }
    }
    model_.network().backward(p, cache, d, g, context);
    return {loss, static_cast<double>(asked.size())};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p,
                                                       nn::Team& team) override {
    if (valid_.questions.empty()) return std::nullopt;
    std::vector<ReadingGuess> guesses(valid_.questions.size());
    std::vector<const Example*> group;
    Index rows = 0;
    for (const Example& example : valid_examples_) {
      group.push_back(&example);
      rows += example.rows;
      if (rows < kEvaluatedRows && &example != &valid_examples_.back()) continue;
      guess(p, group, guesses, team);
      group.clear();
      rows = 0;
    }
    return measure_(guesses);
  }

 private:
  using Cache = CharNetwork<float>::Cache;

  static std::vector<Example> grouped(const ReadingSet& set, const Analysed& analysed, bool answered) {
    std::vector<std::vector<std::size_t>> by_context(set.contexts.size());
    for (std::size_t q = 0; q < set.questions.size(); ++q) {
      const ReadingQuestion& question = set.questions[q];
      if (analysed.contexts[question.context].text.size() == 0) continue;
      if (answered && !question.answerable()) continue;
      by_context[question.context].push_back(q);
    }
    std::vector<Example> examples;
    for (std::size_t c = 0; c < by_context.size(); ++c) {
      const std::vector<std::size_t>& all = by_context[c];
      const std::size_t parts = (all.size() + kTogether - 1) / kTogether;
      for (std::size_t part = 0; part < parts; ++part) {
        Example example;
        example.context = c;
        for (std::size_t i = part; i < all.size(); i += parts) example.questions.push_back(all[i]);
        example.rows = static_cast<Index>(analysed.contexts[c].text.size() * example.questions.size());
        examples.push_back(std::move(example));
      }
    }
    return examples;
  }

  // Returns the questions in the order of the cache.
  std::vector<std::size_t> fill(Cache& cache, const std::vector<const Example*>& examples,
                                const Analysed& analysed) const {
    cache.texts.clear();
    cache.context_of.clear();
    std::vector<std::size_t> asked;
    std::vector<const AnalysedText*> texts;
    Index rows = 0;
    for (const Example* example : examples) {
      texts.push_back(&analysed.contexts[example->context]);
      for (const std::size_t q : example->questions) {
        asked.push_back(q);
        cache.context_of.push_back(static_cast<Index>(texts.size()) - 1);
      }
      rows += example->rows;
    }
    for (const std::size_t q : asked) texts.push_back(&analysed.questions[q]);
    for (const AnalysedText* text : texts) cache.texts.add(static_cast<Index>(text->text.size()));
    const CharNetworkConfig& config = model_.network().config();
    cache.x.resize(cache.texts.total(), config.input);
    for (std::size_t t = 0; t < texts.size(); ++t) {
      const auto s = static_cast<Index>(t);
      model_.put_input(*texts[t], cache.x.view().rows_from(cache.texts.begin(s), cache.texts.length(s)));
    }
    cache.pair.resize(rows, config.pair);
    const CharStatistics statistics = model_.statistics();
    Index at = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const AnalysedText& text = *texts[static_cast<std::size_t>(cache.context_of[i])];
      const auto n = static_cast<Index>(text.text.size());
      pair_features(analysed.questions[asked[i]].text, text.text, statistics,
                    cache.pair.view().rows_from(at, n));
      at += n;
    }
    return asked;
  }

  void guess(const nn::Parameters<float>& p, const std::vector<const Example*>& group,
             std::vector<ReadingGuess>& guesses, nn::Team& team) {
    Cache& cache = caches_[0];
    const std::vector<std::size_t> asked = fill(cache, group, analysed_valid_);
    model_.network().forward(p, cache, {.team = &team});
    SpanSearch search({.longest = kLongestCharAnswer, .kept = 1});
    std::vector<float> start, end;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const std::size_t c = valid_.questions[asked[i]].context;
      const Index first = cache.pairs.begin(static_cast<Index>(i)),
                  n = cache.pairs.length(static_cast<Index>(i));
      start.resize(static_cast<std::size_t>(n));
      end.resize(static_cast<std::size_t>(n));
      for (Index t = 0; t < n; ++t) {
        start[static_cast<std::size_t>(t)] = cache.scores(first + t, 0);
        end[static_cast<std::size_t>(t)] = cache.scores(first + t, 1);
      }
      const PieceEdges edges = char_edges(analysed_valid_.contexts[c].text);
      const Window whole{0, static_cast<std::size_t>(n)};
      search.reset(edges, {&whole, 1});
      search.add(0, start, end, 0);
      if (search.spans().empty()) continue;
      const PieceSpan& best = search.spans().front();
      const base::OffsetMap offsets(valid_.contexts[c]);
      const std::size_t from = offsets.byte(best.begin), to = offsets.byte(best.end);
      guesses[asked[i]] = {valid_.contexts[c].substr(from, to - from), 0};
    }
  }

  CharModel& model_;
  const ReadingSet &train_, &valid_;
  const ReadingMeasure& measure_;
  Analysed analysed_, analysed_valid_;
  std::vector<Example> examples_, valid_examples_;
  std::vector<Cache> caches_;
  std::string fingerprint_;
  std::size_t kept_ = 0;
};

}  // namespace

base::Result<CharTrainingResult> train_char_reader(CharModel& model, const ReadingSet& train,
                                                   const ReadingSet& valid, const ReadingMeasure& measure,
                                                   const CharTraining& options, nn::Team& team) {
  Task task(model, train, valid, measure, team);
  if (task.example_count() == 0) {
    return base::fail(base::ErrorCode::bad_input, "no question to train on: none has an answer");
  }
  nn::TrainerConfig trainer;
  trainer.name = "reader";
  trainer.seed = options.seed;
  trainer.optimizer = {.kind = nn::OptimizerKind::adamw, .weight_decay = options.weight_decay};
  trainer.schedule = {.kind = nn::ScheduleKind::cosine, .rate = options.rate, .warmup_share = 0.03};
  trainer.batching = {.max_examples = 16, .max_tokens = options.batch, .sort_window = 8};
  if (options.schedule_epochs > 0) {
    std::vector<Index> lengths;
    for (Index i = 0; i < task.example_count(); ++i) lengths.push_back(task.length(i));
    nn::Batches batches(std::move(lengths), trainer.batching, options.seed);
    for (std::int64_t epoch = 0; epoch < options.schedule_epochs; ++epoch) {
      batches.plan(epoch);
      trainer.schedule.total_steps += batches.count();
    }
  }
  trainer.workers = 1;
  trainer.precision = options.precision;
  trainer.clip_norm = 5.0;
  trainer.epochs = options.epochs;
  trainer.minutes = options.minutes;
  trainer.evaluate_every = options.evaluate_every;
  trainer.patience = options.patience;
  trainer.averaging = options.ema_decay > 0 ? nn::Averaging::ema : nn::Averaging::none;
  trainer.ema_decay = options.ema_decay;
  trainer.checkpoint = options.checkpoint;
  trainer.curves = options.curves;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  CharTrainingResult result;
  result.questions = task.kept();
  result.left_out = train.questions.size() - task.kept();
  ASKBASE_ASSIGN(result.run, nn::train(task, model.parameters(), trainer, team));
  return result;
}

}  // namespace askbase::reader
