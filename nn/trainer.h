// The training loop that every model uses: batches, threads, optimiser, early stopping, averaging,
// checkpoints, curves. A model brings a TrainingTask: its examples, and the loss of some of them.
//
//   class Classifier : public TrainingTask<float> {
//    public:
//     Index example_count() const override { return static_cast<Index>(examples_.size()); }
//     Index length(Index i) const override { return examples_[i].tokens; }
//     LossSum loss(const Parameters<float>& p, const Shard& shard, Gradients<float>& g,
//                  const Context& context) override {
//       Scratch& s = scratch_[shard.worker];            // caches of the layers: one set a worker
//       ... gather the shard's examples, forward, cross_entropy with scale 1, backward into g ...
//       return {sum_of_losses, static_cast<double>(shard.examples.size())};
//     }
//     base::Result<std::optional<Evaluation>> evaluate(const Parameters<float>& p, Team& team) override {
//       const double accuracy = ...;
//       return Evaluation{accuracy, {{"accuracy", accuracy}}};
//     }
//   };
//
//   Classifier task(...);
//   ASKBASE_ASSIGN(const TrainingResult result, train(task, p, {.seed = 7, .epochs = 10, .patience = 3},
//   team));
//   // p holds the best weights
//
// A batch is dealt out to the workers like cards (shard k of n takes examples k, k + n, ...), so that each
// gets its share of the long ones. Every worker sums its gradients apart, and the sums are added in the order
// of the workers: the same CPU type, seed, examples and number of workers give the same weights, bit for bit,
// whichever thread runs which worker. So does a run that was interrupted and resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "nn/batching.h"
#include "nn/context.h"
#include "nn/optimizer.h"
#include "nn/parameters.h"
#include "nn/schedule.h"

namespace askbase::nn {

// What one worker computes at once.
struct Shard {
  std::span<const Index> examples;  // at least one
  int worker = 0;                   // 0 .. workers - 1: whose scratch memory to use
  std::int64_t step = 0, epoch = 0;
};

// A loss as a sum, and what it is the sum of: examples, or labelled tokens. The step divides by the weights
// of the whole batch, so that it follows the mean.
struct LossSum {
  double loss = 0.0;
  double weight = 0.0;
};

struct Evaluation {
  double metric = 0.0;                                 // the higher the better: what early stopping looks at
  std::vector<std::pair<std::string, double>> values;  // for the curves: {"accuracy", 0.93}, ...
};

template <typename T>
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual Index example_count() const = 0;
  // Of an example, in tokens; what batches are made by. Stays the same for the whole run.
  virtual Index length(Index /*example*/) const { return 1; }

  // Adds the gradients of the sum of the losses to g and returns that sum. Called by several threads at once,
  // each with a worker's number of its own. Whatever is drawn at random must come from context.dropout_key (a
  // function of seed, step and worker), never from a generator that runs on, or a resumed run would differ.
  // What it throws (programmer errors) ends the training and is thrown again by train().
  virtual LossSum loss(const Parameters<T>& p, const Shard& shard, Gradients<T>& g,
                       const Context& context) = 0;

  // Measures weights on examples kept for validation; nothing: this task has none. May use the whole team. An
  // error ends the training; `cancelled` counts as an interruption.
  virtual base::Result<std::optional<Evaluation>> evaluate(const Parameters<T>& /*p*/, Team& /*team*/) {
    return std::nullopt;
  }

  // Before the first step of every epoch (counted from 0), and again when a run resumes inside of one.
  virtual void begin_epoch(std::int64_t /*epoch*/) {}

  // Names the data and the model's sizes, for instance by a hash of the files: a checkpoint of another one is
  // refused. The trainer itself looks at example count, lengths, parameters' names and shapes.
  virtual std::string fingerprint() const { return {}; }
};

enum class Averaging {
  none,
  ema,   // of the weights after every step: a = d a + (1 - d) w, d = min(ema_decay, (1 + t) / (10 + t))
  mean,  // of the weights at evaluation number average_from and every later one (Izmailov 2018, SWA)
};

struct TrainerConfig {
  std::string name = "training";  // stands before the progress
  std::uint64_t seed = 1;
  OptimizerConfig optimizer = {};
  ScheduleConfig schedule = {};
  BatchingConfig batching = {};
  int accumulate = 1;  // batches whose gradients make up one step
  int workers = 0;     // parts of a batch; 0: the size of the team. 1: the layers share the team inside
  Precision precision = Precision::f32;  // of the large products, forward and backward
  double clip_norm = 0.0;  // the gradients' global norm is brought down to this; 0: left as it is

  // The run ends at whichever limit comes first; 0: none.
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
  double minutes =
      0.0;  // of this call, not counting those before a resume; ends between two steps, evaluates
  std::int64_t evaluate_every = 0;  // steps; 0: at the end of every epoch. Always at the end of the run
  int patience = 0;                 // evaluations without a better metric before the run ends

  Averaging averaging = Averaging::none;  // what is evaluated and kept in place of the weights themselves
  double ema_decay = 0.999;
  std::int64_t average_from = 1;

  std::filesystem::path checkpoint = {};  // a file; empty: none
  double checkpoint_minutes = 5.0;        // between two; 0: only when the run ends or is interrupted
  std::int64_t checkpoint_every = 0;      // the same in steps
  bool resume = false;                    // goes on from the checkpoint; error not_found when there is none
  std::filesystem::path curves = {};      // JSON lines (nn/curves.h); empty: none
  std::int64_t log_every = 20;            // steps between two records of the curves

  bool progress = true;
  base::Progress::Sink progress_sink = {};  // instead of standard error
};

enum class StopReason { limit, patience, time };

struct TrainingResult {
  StopReason stop = StopReason::limit;
  std::int64_t steps = 0, epochs = 0;  // finished, those before a resume included
  std::int64_t best_step = -1;         // -1: nothing was evaluated
  Evaluation best;
  double loss = 0.0;                 // mean over the last records' steps
  double seconds = 0.0;              // those before a resume included
  double examples_per_second = 0.0;  // of this call, evaluation and checkpoints not counted
};

// Trains p in place. At the end p holds the best weights of all evaluations; without any the average, or the
// last weights. After stop == time a checkpoint (when configured) lets the next call go on where this one
// ended.
//
// Errors: cancelled (base/interrupt.h: the step was finished and a checkpoint written), bad_input (no
// examples, a loss or gradient that is not finite: its step and place are named, and the checkpoint stays
// that of before), invalid_argument (no limit; a checkpoint of another run), io (the last good checkpoint
// stays), what evaluate() returns.
template <typename T>
base::Result<TrainingResult> train(TrainingTask<T>& task, Parameters<T>& p, const TrainerConfig& config,
                                   Team& team);

extern template base::Result<TrainingResult> train<float>(TrainingTask<float>&, Parameters<float>&,
                                                          const TrainerConfig&, Team&);
extern template base::Result<TrainingResult> train<double>(TrainingTask<double>&, Parameters<double>&,
                                                           const TrainerConfig&, Team&);

}  // namespace askbase::nn
