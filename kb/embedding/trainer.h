// Training from facts to vectors, with checkpoints and early stopping.
//
//   auto trainer = Trainer::create(options, data).value();
//   auto outcome = trainer->run({.go_on = [] { return !base::interrupted(); }, .checkpoint = path}).value();
//   trainer->tables();   // the best by validation, else the last
//
// A run that was stopped goes on from its checkpoint to the same numbers as one that was not (but for
// lock-free threads, see TrainOptions).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "kb/embedding/engine.h"
#include "kb/embedding/evaluate.h"
#include "kb/embedding/options.h"

namespace askbase::kb::embedding {

struct TrainingData {
  std::span<const Fact> facts;       // to train on
  std::span<const Fact> validation;  // to stop early by; may be empty
  std::span<const Fact> others;      // further facts known to be true, which do not count as errors
  std::size_t entities = 0, relations = 0;
};

// After an epoch.
struct EpochSummary {
  std::uint64_t epoch = 0;  // from 1
  double loss = 0, seconds = 0;
  double active = 0;  // margin loss: share of pairs with a loss
  double facts_per_second = 0;
  std::optional<double> mrr;  // filtered, of the validation, when it was measured
};

struct RunOptions {
  std::function<bool()> go_on = {};                        // asked after each batch
  std::function<void(const EpochSummary&)> on_epoch = {};  // after each epoch
  std::function<void(double share)> on_progress = {};      // share of the epochs done, now and then
  std::filesystem::path checkpoint = {};                   // empty: none
  std::chrono::seconds checkpoint_every{30};               // at ends of epochs
};

struct TrainOutcome {
  bool finished = false;       // false: go_on said no; the checkpoint, if any, has everything
  bool stopped_early = false;  // the validation did not get better
  std::uint64_t epochs = 0;    // done, in all runs together
  std::uint64_t best_epoch = 0;
  double best_mrr = 0;  // 0 without validation
  double loss = 0;      // of the last epoch
};

class Trainer {
 public:
  // The data must outlive the trainer. Errors invalid_argument: options (validate), no facts, a single
  // entity, indexes outside the counts.
  static base::Result<std::unique_ptr<Trainer>> create(const TrainOptions& options, const TrainingData& data);
  ~Trainer();

  // Takes up a checkpoint. Errors: not_found, io, corrupt, invalid_argument when it is of another run:
  // other options than epochs, patience and threads, or other facts.
  base::Status resume(const std::filesystem::path& checkpoint);
  // Errors: io (of the checkpoint), bad_input when the loss is no longer a number.
  base::Result<TrainOutcome> run(const RunOptions& run);

  const Model<float>& model() const;
  const Tables<float>& tables() const;
  Tables<float> take_tables();

 private:
  struct State;
  explicit Trainer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace askbase::kb::embedding
