// The training loop: what it learns, that it does the same every time, that it stops and goes on, what it
// refuses.
#include <chrono>
#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <thread>

#include "base/file.h"
#include "base/interrupt.h"
#include "nn/checkpoint.h"
#include "nn/curves.h"
#include "nn/linear.h"
#include "nn/softmax.h"
#include "nn/trainer.h"
#include "tests/nn_support.h"

namespace askbase::nn {

namespace {

using askbase::test::ScratchFolder;
using base::ErrorCode;

// Which of three words a "sentence" of 1 to 12 numbers has most often: mean of embeddings (a sparse table),
// one hidden layer with dropout, a softmax.
class Counting : public TrainingTask<float> {
 public:
  static constexpr Index kWords = 20, kSize = 8, kHidden = 16;

  explicit Counting(Parameters<float>& p, int workers, Index examples = 600, std::uint64_t seed = 1) {
    table = p.add("embedding.weight", {kWords, kSize}, {.initial = Initial::normal_002, .sparse = true});
    hidden = Linear<float>(p, "hidden", kSize, kHidden);
    out = Linear<float>(p, "out", kHidden, 3);
    p.initialise(5);
    Random random(seed);
    for (Index i = 0; i < examples + 200; ++i) {
      std::vector<Index> words;
      const auto length = 1 + random.below(12);
      const auto label = static_cast<Index>(random.below(3));
      std::vector<int> counts(3);
      for (std::uint64_t k = 0; k < length; ++k)
        words.push_back(3 + static_cast<Index>(random.below(kWords - 3)));
      for (std::uint64_t k = 0; k < 1 + length / 3; ++k) words[random.below(length)] = label;
      (i < examples ? train : held).push_back({words, label});
    }
    scratch.resize(static_cast<std::size_t>(workers));
  }

  struct Example {
    std::vector<Index> words;
    Index label;
  };
  struct Scratch {
    Matrix<float> x, h, a, y, dy, da, dx;
    std::vector<Index> targets;
  };

  void forward(const Parameters<float>& p, const std::vector<const Example*>& batch, Scratch& s,
               const Context& context) const {
    const auto n = static_cast<Index>(batch.size());
    s.x.resize(n, kSize);
    s.h.resize(n, kHidden);
    s.a.resize(n, kHidden);
    s.y.resize(n, 3);
    s.x.fill(0);
    s.targets.clear();
    for (Index i = 0; i < n; ++i) {
      const Example& e = *batch[static_cast<std::size_t>(i)];
      for (const Index word : e.words) {
        for (Index c = 0; c < kSize; ++c) {
          s.x(i, c) += p[table](word, c) / static_cast<float>(e.words.size());
        }
      }
      s.targets.push_back(e.label);
    }
    hidden.forward(p, s.x, s.h, context);
    const Philox random(context.dropout_key);
    for (Index i = 0; i < s.h.size(); ++i) {
      const bool dropped = context.training && random.block(static_cast<std::uint64_t>(i))[0] < 0x20000000U;
      s.a.data()[i] = dropped ? 0.0F : std::max(0.0F, s.h.data()[i]);
    }
    out.forward(p, s.a, s.y, context);
  }

  Index example_count() const override { return static_cast<Index>(train.size()); }
  Index length(Index i) const override {
    return static_cast<Index>(train[static_cast<std::size_t>(i)].words.size());
  }
  LossSum loss(const Parameters<float>& p, const Shard& shard, Gradients<float>& g,
               const Context& context) override {
    Scratch& s = scratch.at(static_cast<std::size_t>(shard.worker));
    std::vector<const Example*> batch;
    for (const Index i : shard.examples) batch.push_back(&train[static_cast<std::size_t>(i)]);
    if (throw_at == shard.step) throw std::logic_error("thrown inside a worker");
    forward(p, batch, s, context);
    s.dy.resize(s.y.rows(), 3);
    double sum = cross_entropy<float>(s.y, s.targets, s.dy);
    s.da.resize(s.y.rows(), kHidden);
    out.backward(p, s.a, s.dy, s.da, g, context);
    for (Index i = 0; i < s.da.size(); ++i) {
      if (s.a.data()[i] == 0.0F) s.da.data()[i] = 0.0F;
    }
    s.dx.resize(s.y.rows(), kSize);
    hidden.backward(p, s.x, s.da, s.dx, g, context);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (const Index word : batch[i]->words) {
        float* row = g.sparse(table).row(word);
        for (Index c = 0; c < kSize; ++c) {
          row[c] += s.dx(static_cast<Index>(i), c) / static_cast<float>(batch[i]->words.size());
        }
      }
    }
    if (interrupt_at == shard.step) base::request_interrupt();
    if (nan_loss_at == shard.step) sum = NAN;
    if (nan_gradient_at == shard.step) g[out.bias()](0, 0) = NAN;
    return {sum, static_cast<double>(shard.examples.size())};
  }
  double accuracy(const Parameters<float>& p) const {
    Scratch s;
    std::vector<const Example*> batch;
    for (const Example& e : held) batch.push_back(&e);
    forward(p, batch, s, {});
    double right = 0;
    for (Index i = 0; i < s.y.rows(); ++i) {
      const float* row = s.y.row(i);
      right += std::max_element(row, row + 3) - row == s.targets[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    return right / static_cast<double>(held.size());
  }
  base::Result<std::optional<Evaluation>> evaluate(const Parameters<float>& p, Team&) override {
    if (!evaluates) return std::nullopt;
    if (interrupt_evaluation-- == 0) return base::fail(ErrorCode::cancelled, "stopped while measuring");
    const double value = metrics.empty() ? accuracy(p) : metrics[std::min(evaluations, metrics.size() - 1)];
    ++evaluations;
    return Evaluation{value, {{"accuracy", value}}};
  }
  void begin_epoch(std::int64_t epoch) override { epochs_begun.push_back(epoch); }
  std::string fingerprint() const override { return data_name; }

  ParameterId table = -1;
  Linear<float> hidden, out;
  std::vector<Example> train, held;
  std::vector<Scratch> scratch;
  std::int64_t throw_at = -1, interrupt_at = -1, nan_loss_at = -1, nan_gradient_at = -1;
  int interrupt_evaluation = -1;
  bool evaluates = true;
  std::vector<double> metrics;
  std::size_t evaluations = 0;
  std::vector<std::int64_t> epochs_begun;
  std::string data_name = "counting";
};

TrainerConfig quick() {
  TrainerConfig config;
  config.seed = 3;
  config.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 0.01};
  config.schedule = {.kind = ScheduleKind::linear, .rate = 0.01, .warmup_share = 0.1};
  config.batching = {.max_examples = 32, .sort_window = 4};
  config.clip_norm = 1.0;
  config.epochs = 12;
  config.progress = false;
  config.checkpoint_minutes = 0;
  return config;
}

std::string bytes_of(const Parameters<float>& p) {
  std::string bytes;
  for (ParameterId id = 0; id < p.count(); ++id) {
    bytes.append(reinterpret_cast<const char*>(p[id].data), static_cast<std::size_t>(p[id].size()) * 4);
  }
  return bytes;
}

struct Outcome {
  base::Result<TrainingResult> result;
  std::string weights;
  double accuracy;
};

Outcome run(const TrainerConfig& config, int threads, const std::function<void(Counting&)>& change = {}) {
  Parameters<float> p;
  Counting task(p, std::max(threads, config.workers));
  if (change) change(task);
  Team team(threads);
  auto result = train(task, p, config, team);
  return {std::move(result), bytes_of(p), task.accuracy(p)};
}

// A run of `config` that is interrupted at some steps and resumed each time.
Outcome run_in_parts(TrainerConfig config, int threads, const std::vector<std::int64_t>& stops) {
  for (const std::int64_t stop : stops) {
    const Outcome part = run(config, threads, [&](Counting& task) { task.interrupt_at = stop - 1; });
    base::clear_interrupt();
    REQUIRE(!part.result.has_value());
    CHECK(part.result.error().code == ErrorCode::cancelled);
    CHECK_MESSAGE(part.result.error().message.find("after step " + std::to_string(stop)) != std::string::npos,
                  part.result.error().message);
    config.resume = true;
  }
  return run(config, threads);
}

}  // namespace

TEST_CASE(
    "training learns the task, with each optimiser, and is the same every time for a number of threads") {
  for (const OptimizerKind kind :
       {OptimizerKind::sgd, OptimizerKind::adagrad, OptimizerKind::adam, OptimizerKind::adamw}) {
    TrainerConfig config = quick();
    config.optimizer = {.kind = kind, .momentum = kind == OptimizerKind::sgd ? 0.9 : 0.0};
    config.schedule.rate = kind == OptimizerKind::sgd ? 0.5 : kind == OptimizerKind::adagrad ? 0.1 : 0.02;
    const Outcome one = run(config, 1), again = run(config, 1), two = run(config, 2),
                  two_again = run(config, 2);
    REQUIRE(one.result.has_value());
    CHECK_MESSAGE(one.accuracy > 0.97, optimizer_name(kind));
    CHECK_MESSAGE(two.accuracy > 0.97, optimizer_name(kind));
    CHECK(one.weights == again.weights);
    CHECK(two.weights == two_again.weights);
    CHECK(one.weights != two.weights);  // dropout by worker
    CHECK(one.result->steps == 12 * 19);
    CHECK(one.result->epochs == 12);
    CHECK(one.result->stop == StopReason::limit);
    CHECK(one.result->examples_per_second > 0);
    CHECK(one.result->best.metric == doctest::Approx(one.accuracy));
  }
  // Two workers give the same on one thread as on two.
  TrainerConfig config = quick();
  config.workers = 2;
  const Outcome one = run(config, 1), two = run(config, 2), three = run(config, 3);
  CHECK(one.weights == two.weights);
  CHECK(one.weights == three.weights);
}

TEST_CASE("accumulated batches are one larger batch") {
  Parameters<double> p, q;
  class Mean : public TrainingTask<double> {
   public:
    Index example_count() const override { return 24; }
    LossSum loss(const Parameters<double>& w, const Shard& shard, Gradients<double>& g,
                 const Context&) override {
      double sum = 0;
      for (const Index i : shard.examples) {
        const double d = w[0](0, 0) - static_cast<double>(i);
        sum += 0.5 * d * d;
        g[0](0, 0) += d;
      }
      return {sum, static_cast<double>(shard.examples.size())};
    }
  };
  Mean task;
  TrainerConfig config;
  config.progress = false;
  config.optimizer.kind = OptimizerKind::sgd;
  config.schedule.rate = 0.25;
  config.batching = {.max_examples = 6, .shuffle = false};
  config.accumulate = 2;
  config.epochs = 3;
  p.add("w", {1});
  q.add("w", {1});
  Team two(2);
  const auto small = train(task, p, config, two);
  config.batching.max_examples = 12;
  config.accumulate = 1;
  const auto large = train(task, q, config, two);
  REQUIRE((small && large));
  CHECK(small->steps == 6);
  CHECK(large->steps == 6);
  CHECK(p[0](0, 0) == doctest::Approx(q[0](0, 0)).epsilon(1e-12));
  // By hand: towards 5.5 and 17.5 in turn, a quarter of the way each time.
  double w = 0;
  for (int step = 0; step < 6; ++step) w += 0.25 * ((step % 2 == 0 ? 5.5 : 17.5) - w);
  CHECK(p[0](0, 0) == doctest::Approx(w).epsilon(1e-12));
}

TEST_CASE("an interrupted run goes on bit by bit as one that was not, also across epochs and evaluations") {
  for (const Averaging averaging : {Averaging::none, Averaging::ema, Averaging::mean}) {
    for (const int threads : {1, 2}) {
      const ScratchFolder folder;
      TrainerConfig config = quick();
      config.epochs = 0;
      config.steps = 40;  // an epoch has 19
      config.evaluate_every = 7;
      config.averaging = averaging;
      config.average_from = 2;
      config.log_every = 5;
      config.checkpoint = folder / "whole.checkpoint";
      config.curves = folder / "whole.jsonl";
      const Outcome whole = run(config, threads);
      REQUIRE(whole.result.has_value());
      config.checkpoint = folder / "parts.checkpoint";
      config.curves = folder / "parts.jsonl";
      const Outcome parts = run_in_parts(config, threads, {17, 19, 21, 28});
      REQUIRE_MESSAGE(parts.result.has_value(), parts.result.error().message);
      CHECK(parts.weights == whole.weights);
      CHECK(parts.result->best_step == whole.result->best_step);
      CHECK(parts.result->best.metric == whole.result->best.metric);
      // The checkpoints at the end hold the same, but for the time it took.
      const auto a = SafetensorsFile::open(folder / "whole.checkpoint");
      const auto b = SafetensorsFile::open(folder / "parts.checkpoint");
      REQUIRE((a && b));
      REQUIRE(a->tensors().size() == b->tensors().size());
      for (const TensorInfo& tensor : a->tensors()) {
        const TensorInfo* other = b->find(tensor.name);
        REQUIRE(other != nullptr);
        std::vector<std::byte> x(tensor.end - tensor.begin), y(other->end - other->begin);
        REQUIRE(a->read_bytes(tensor, x));
        REQUIRE(b->read_bytes(*other, y));
        CHECK_MESSAGE(x == y, tensor.name);
      }
      const auto whole_curve = read_curves(folder / "whole.jsonl"),
                 curve = read_curves(folder / "parts.jsonl");
      REQUIRE((whole_curve && curve));
      REQUIRE(curve->size() == whole_curve->size());
      for (std::size_t i = 0; i < curve->size(); ++i) {
        CHECK((*curve)[i].step == (*whole_curve)[i].step);
        CHECK((*curve)[i].values[0] == (*whole_curve)[i].values[0]);  // loss or accuracy
      }
    }
  }
}

TEST_CASE("17 steps and then 23 more are 40 steps, bit by bit, though the first run measured at its end") {
  const ScratchFolder folder;
  TrainerConfig config = quick();
  config.epochs = 0;
  config.evaluate_every = 7;
  config.averaging = Averaging::mean;
  config.schedule.total_steps = 40;
  config.log_every = 5;
  config.steps = 40;
  config.curves = folder / "whole.jsonl";
  const Outcome whole = run(config, 2);
  config.checkpoint = folder / "c";
  config.curves = folder / "parts.jsonl";
  config.steps = 17;
  const Outcome first = run(config, 2);
  REQUIRE(first.result.has_value());
  CHECK(read_curves(config.curves)->back().step == 17);
  config.resume = true;
  const Outcome again = run(config, 2);  // has ended, and says the same
  CHECK(again.weights == first.weights);
  CHECK(again.result->best.metric == first.result->best.metric);
  config.steps = 40;
  const Outcome parts = run(config, 2);
  REQUIRE(parts.result.has_value());
  CHECK(parts.weights == whole.weights);
  CHECK(parts.result->best_step == whole.result->best_step);
  CHECK(parts.result->loss == whole.result->loss);
  const auto a = read_curves(folder / "whole.jsonl"), b = read_curves(folder / "parts.jsonl");
  REQUIRE((a && b));
  REQUIRE(a->size() == b->size());
  for (std::size_t i = 0; i < a->size(); ++i) {
    CHECK((*a)[i].step == (*b)[i].step);
    CHECK((*a)[i].values[0] == (*b)[i].values[0]);
  }
}

TEST_CASE("an interruption during an evaluation repeats it; lines after the checkpoint are not doubled") {
  const ScratchFolder folder;
  TrainerConfig config = quick();
  config.epochs = 4;
  config.averaging = Averaging::mean;
  config.curves = folder / "whole.jsonl";
  const Outcome whole = run(config, 2);
  config.checkpoint = folder / "c";
  config.curves = folder / "curve.jsonl";
  config.checkpoint_every = 10;
  const Outcome stopped = run(config, 2, [](Counting& task) { task.interrupt_evaluation = 2; });
  REQUIRE(!stopped.result.has_value());
  CHECK(stopped.result.error().code == ErrorCode::cancelled);
  // As if the process had been killed later: lines that the checkpoint does not know, the last one cut off.
  std::ofstream(config.curves, std::ios::app) << R"({"step":60,"epoch":3.1,"loss":1.5})"
                                              << "\n{\"step\":80,\"ep";
  config.resume = true;
  std::vector<std::int64_t> begun;
  Parameters<float> p;
  Counting task(p, 2);
  Team team(2);
  const auto resumed = train(task, p, config, team);
  REQUIRE(resumed.has_value());
  CHECK(bytes_of(p) == whole.weights);
  CHECK(task.epochs_begun == std::vector<std::int64_t>{3});
  const auto a = read_curves(folder / "whole.jsonl"), b = read_curves(config.curves);
  REQUIRE((a && b));
  REQUIRE(a->size() == b->size());
  for (std::size_t i = 0; i < a->size(); ++i) CHECK((*a)[i].step == (*b)[i].step);

  // Resuming what has ended changes nothing.
  const Outcome ended = run(config, 2);
  REQUIRE(ended.result.has_value());
  CHECK(ended.weights == whole.weights);
  CHECK(ended.result->steps == 4 * 19);
}

TEST_CASE("a checkpoint of another run is refused by name of what differs, a broken one too") {
  const ScratchFolder folder;
  TrainerConfig config = quick();
  config.epochs = 0;
  config.steps = 3;
  config.checkpoint = folder / "c";
  REQUIRE(run(config, 1).result.has_value());
  config.steps = 6;  // limits may change (the schedule's steps were 3)
  config.schedule.total_steps = 3;
  config.resume = true;
  const auto refused = [&](const TrainerConfig& other, const std::string& words,
                           ErrorCode code = ErrorCode::invalid_argument,
                           const std::function<void(Counting&)>& change = {}) {
    const Outcome outcome = run(other, 1, change);
    REQUIRE(!outcome.result.has_value());
    CHECK(outcome.result.error().code == code);
    CHECK_MESSAGE(outcome.result.error().message.find(words) != std::string::npos,
                  outcome.result.error().message);
  };
  REQUIRE(run(config, 1).result.has_value());
  TrainerConfig other = config;
  other.seed = 4;
  refused(other, "seed was 3 and is 4");
  other = config;
  other.optimizer.kind = OptimizerKind::adam;
  other.batching.max_examples = 8;
  refused(other, "optimizer was adamw and is adam; batch's max_examples was 32 and is 8");
  refused(config, "data was counting and is other", ErrorCode::invalid_argument,
          [](Counting& task) { task.data_name = "other"; });
  refused(config, "lengths of the examples", ErrorCode::invalid_argument,
          [](Counting& task) { task.train[3].words.push_back(1); });
  other = config;
  other.checkpoint = folder / "none";
  refused(other, "none", ErrorCode::not_found);
  other.checkpoint.clear();
  refused(other, "no checkpoint is named");
  const std::string whole = *base::read_file(config.checkpoint);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, whole.size() / 3, whole.size() - 1}) {
    REQUIRE(base::write_file_atomic(folder / "cut", whole.substr(0, size)));
    other.checkpoint = folder / "cut";
    refused(other, "cut", ErrorCode::corrupt);
  }
  REQUIRE(write_safetensors(folder / "model", {}, {{"kind", "something"}}));
  other.checkpoint = folder / "model";
  refused(other, "not a checkpoint", ErrorCode::corrupt);
  REQUIRE(write_safetensors(folder / "new", {}, {{"kind", "askbase checkpoint"}, {"format", "9"}}));
  other.checkpoint = folder / "new";
  refused(other, "format 9", ErrorCode::unsupported);
}

TEST_CASE("a loss or gradient that is not a number ends the run with its place, the checkpoint intact") {
  const ScratchFolder folder;
  TrainerConfig config = quick();
  config.checkpoint = folder / "c";
  config.checkpoint_every = 20;
  for (const bool loss : {true, false}) {
    const Outcome outcome =
        run(config, 2, [&](Counting& task) { (loss ? task.nan_loss_at : task.nan_gradient_at) = 24; });
    REQUIRE(!outcome.result.has_value());
    const base::Error& error = outcome.result.error();
    CHECK(error.code == ErrorCode::bad_input);
    CHECK_MESSAGE(error.message.find("at step 25 (epoch 2, batch 6 of 19)") != std::string::npos,
                  error.message);
    CHECK_MESSAGE(error.message.find(loss ? "the loss is not a number" : "the gradient of out.bias") !=
                      std::string::npos,
                  error.message);
    const auto kept = Checkpoint::open(config.checkpoint);
    REQUIRE(kept.has_value());
    CHECK(kept->state().step == 20);
  }
  CHECK_THROWS_AS(run(config, 2, [](Counting& task) { task.throw_at = 2; }), std::logic_error);
}

TEST_CASE("a full disk: a clear error, and the last good checkpoint stays") {
  const ScratchFolder folder;
  TrainerConfig config = quick();
  config.epochs = 0;
  config.steps = 5;
  config.checkpoint = folder / "c";
  REQUIRE(run(config, 1).result.has_value());
  const std::string before = *base::read_file(config.checkpoint);
  // No file may grow beyond some bytes: what a full disk looks like to write().
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const rlimit small{static_cast<rlim_t>(before.size() / 2), old.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  config.seed = 9;
  const Outcome outcome = run(config, 1);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  std::signal(SIGXFSZ, SIG_DFL);
  REQUIRE(!outcome.result.has_value());
  CHECK(outcome.result.error().code == ErrorCode::io);
  CHECK(outcome.result.error().message.find("cannot write") != std::string::npos);
  CHECK(*base::read_file(config.checkpoint) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);  // nothing left behind
}

TEST_CASE("early stopping keeps the best weights; limits of time and steps; averages") {
  TrainerConfig config = quick();
  config.epochs = 50;
  config.patience = 2;
  const auto falling = [](Counting& task) { task.metrics = {0.5, 0.7, 0.6, 0.7, 0.9}; };
  const Outcome stopped = run(config, 1, falling);
  REQUIRE(stopped.result.has_value());
  CHECK(stopped.result->stop == StopReason::patience);
  CHECK(stopped.result->steps == 4 * 19);
  CHECK(stopped.result->best_step == 2 * 19);
  TrainerConfig two_epochs = config;
  two_epochs.epochs = 2;
  two_epochs.schedule.total_steps = 50 * 19;
  CHECK(run(two_epochs, 1, falling).weights == stopped.weights);

  config = quick();
  config.minutes = 1e-9;
  const ScratchFolder folder;
  config.checkpoint = folder / "c";
  const Outcome timed = run(config, 1);
  REQUIRE(timed.result.has_value());
  CHECK(timed.result->stop == StopReason::time);
  CHECK(timed.result->steps == 0);
  config.minutes = 0;
  config.resume = true;
  const Outcome rest = run(config, 1);
  config.checkpoint.clear();
  config.resume = false;
  CHECK(rest.weights == run(config, 1).weights);

  // The moving average, with and without evaluations, is another model than the last weights; it works as
  // well.
  for (const bool evaluates : {true, false}) {
    TrainerConfig averaged = quick();
    averaged.averaging = Averaging::ema;
    averaged.ema_decay = 0.9;
    const Outcome ema = run(averaged, 1, [&](Counting& task) { task.evaluates = evaluates; });
    averaged.averaging = Averaging::none;
    const Outcome plain = run(averaged, 1, [&](Counting& task) { task.evaluates = evaluates; });
    CHECK(ema.weights != plain.weights);
    CHECK(ema.accuracy > 0.95);
  }
}

TEST_CASE("the mean of the last evaluations' weights, by hand") {
  class Slope : public TrainingTask<double> {
   public:
    Index example_count() const override { return 1; }
    LossSum loss(const Parameters<double>& p, const Shard&, Gradients<double>& g, const Context&) override {
      g[0](0, 0) += -1;
      return {-p[0](0, 0), 1};
    }
    base::Result<std::optional<Evaluation>> evaluate(const Parameters<double>& p, Team&) override {
      seen.push_back(p[0](0, 0));
      return Evaluation{p[0](0, 0), {}};
    }
    std::vector<double> seen;
  };
  Parameters<double> p;
  p.add("w", {1});
  Slope task;
  TrainerConfig config;
  config.progress = false;
  config.optimizer.kind = OptimizerKind::sgd;
  config.schedule.rate = 1.0;  // the weight is the number of steps
  config.steps = 8;
  config.evaluate_every = 2;
  config.averaging = Averaging::mean;
  config.average_from = 2;
  REQUIRE(train(task, p, config, one_thread()).has_value());
  CHECK(task.seen == std::vector<double>{2, 4, 5, 6});
  CHECK(p[0](0, 0) == 6);
}

TEST_CASE("what cannot be trained is refused; progress tells loss and rate") {
  Team team(1);
  TrainerConfig config = quick();
  Parameters<float> p;
  Counting task(p, 1);
  config.epochs = 0;
  CHECK(train(task, p, config, team).error().code == ErrorCode::invalid_argument);
  config.epochs = 1;
  config.accumulate = 0;
  CHECK(train(task, p, config, team).error().code == ErrorCode::invalid_argument);
  config.accumulate = 1;
  config.epochs = 0;
  config.minutes = 1;
  CHECK(train(task, p, config, team).error().message.find("a learning rate that changes") !=
        std::string::npos);
  config.epochs = 1;
  task.train.clear();
  CHECK(train(task, p, config, team).error().code == ErrorCode::bad_input);

  // Work of less than a second shows nothing, so this one sleeps.
  class Slow : public TrainingTask<float> {
   public:
    Index example_count() const override { return 3; }
    LossSum loss(const Parameters<float>&, const Shard& shard, Gradients<float>&, const Context&) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(1050));
      return {0.5 * static_cast<double>(shard.examples.size()), static_cast<double>(shard.examples.size())};
    }
  };
  Slow slow;
  std::vector<std::string> lines;
  config.progress = true;
  config.name = "train slow";
  config.progress_sink = [&](const std::string& line) { lines.push_back(line); };
  REQUIRE(train(slow, p, config, team).has_value());
  REQUIRE(!lines.empty());
  CHECK_MESSAGE(lines.back().starts_with("train slow: 3 examples, 3/s"), lines.back());
  CHECK_MESSAGE(lines.back().ends_with("loss 0.5000"), lines.back());
}

}  // namespace askbase::nn
