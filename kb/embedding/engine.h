// The two ways of training: by matrix products of a batch of queries with the same candidates, and fact by
// fact with negatives of its own. For internal use; the trainer (trainer.h) is what others call.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>

#include "kb/embedding/facts.h"
#include "kb/embedding/state.h"
#include "nn/team.h"

namespace askbase::kb::embedding {

struct EpochReport {
  double loss = 0;           // mean of a fact asked for at both ends, without regularisation
  std::uint64_t facts = 0;   // facts that were trained on
  std::uint64_t pairs = 0;   // of a fact and a negative, for the margin loss
  std::uint64_t active = 0;  // pairs with a loss above zero
  bool finished = true;      // false: stopped by the caller
};

template <typename T>
class Engine {
 public:
  virtual ~Engine() = default;
  // Trains from where the state stands to the end of its epoch. `go_on` is asked after each batch, on the
  // caller's thread; when it says no, the state is left such that the next call goes on from there, with the
  // same numbers as without the pause (but for lock-free threads).
  virtual EpochReport epoch(TrainState<T>& state, const std::function<bool(std::uint64_t done)>& go_on) = 0;
  virtual std::uint64_t batches() const = 0;  // of an epoch
};

struct TrainingFacts {
  std::span<const Fact> facts;
  std::size_t entities = 0, relations = 0;
};

// The facts must outlive the engine.
template <typename T>
std::unique_ptr<Engine<T>> matrix_engine(const Model<T>& model, const TrainOptions& options,
                                         const TrainingFacts& facts, nn::Team& team);
template <typename T>
std::unique_ptr<Engine<T>> sampled_engine(const Model<T>& model, const TrainOptions& options,
                                          const TrainingFacts& facts);

// Random numbers of one batch: a function of seed, epoch and batch, so that training can go on anywhere.
inline std::uint64_t batch_stream(std::uint64_t epoch, std::uint64_t batch) {
  std::uint64_t z = epoch * 0x9E3779B97F4A7C15ULL + batch + 1;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  return z ^ (z >> 31);
}
inline double rate_of(const TrainOptions& options, std::uint64_t epoch) {
  if (options.epochs <= 1) return options.rate;
  const double share =
      static_cast<double>(std::min(epoch, options.epochs - 1)) / static_cast<double>(options.epochs - 1);
  return options.rate * (1 + share * (options.final_rate - 1));
}

}  // namespace askbase::kb::embedding
