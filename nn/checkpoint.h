// Checkpoints: everything that a training run needs to go on as if it had never stopped.
//
// One file in the safetensors format (nn/safetensors.h), in the precision of the run. Tensors:
//   parameters/<name>         the weights (not the frozen ones: the caller sets those as before)
//   optimizer/<name>.<state>  moments
//   average/<name>, best/<name>  where the run keeps them
// and in the metadata "format", "state" (a JSON object of TrainingState), "run" (a JSON object that describes
// the run). It is written beside its place, synced and renamed: the last good one stays until the new one is
// whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/optimizer.h"
#include "nn/safetensors.h"

namespace askbase::nn {

// Where a run stands. Random numbers are functions of seed, epoch, step and worker, so these are their
// positions.
struct TrainingState {
  std::int64_t step = 0;  // updates done
  std::int64_t optimizer_steps = 0;
  std::int64_t epoch = 0;  // epochs done
  std::int64_t batch = 0;  // batches done of the epoch under way
  double seconds = 0.0;
  bool evaluation_due = false;  // interrupted before the evaluation of this step
  std::int64_t evaluations = 0, without_gain = 0, averaged = 0;
  std::int64_t best_step = -1;
  double best_metric = 0.0;
  std::vector<std::pair<std::string, double>> best_values;
  double loss = 0.0, weight = 0.0;  // sums since the last record of the curves
  double last_loss = 0.0;           // of that record
  bool operator==(const TrainingState&) const = default;
};

// What must be the same for a run to go on: ("seed", "7"), ("batching.max_examples", "32"), ...
using RunDescription = std::vector<std::pair<std::string, std::string>>;

// Errors: io (a full disk: the file of before is intact).
template <typename T>
base::Status save_checkpoint(const std::filesystem::path& path, const TrainingState& state,
                             const RunDescription& run, const std::vector<NamedView<const T>>& tensors);

class Checkpoint {
 public:
  // Errors: not_found, io, corrupt (says what does not fit), unsupported (a newer format).
  static base::Result<Checkpoint> open(const std::filesystem::path& path);

  const TrainingState& state() const { return state_; }
  // Error invalid_argument naming every difference between the run that was saved and this one.
  base::Status check(const RunDescription& run) const;
  // Fills all the views. Errors: corrupt (missing, another shape, not finite), io.
  template <typename T>
  base::Status read(const std::vector<NamedView<T>>& tensors) const;

 private:
  explicit Checkpoint(SafetensorsFile file) : file_(std::move(file)) {}
  SafetensorsFile file_;
  TrainingState state_;
  RunDescription run_;
};

}  // namespace askbase::nn
