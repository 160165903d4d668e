// Which examples make up which batch: shuffled anew every epoch, with examples of similar length together so
// that the work of a batch is even.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/matrix.h"

namespace askbase::nn {

struct BatchingConfig {
  Index max_examples = 32;
  Index max_tokens = 0;  // sum of the lengths in a batch; 0: no limit. A longer example is a batch of its own
  Index sort_window =
      50;               // so many batches' worth of shuffled examples are sorted by length together; 1: none
  bool shuffle = true;  // false: the examples' own order, not sorted either
};

// A plan is a function of lengths, configuration, seed and epoch alone: nothing of it need be stored to go on
// after an interruption. Every example comes once an epoch. Belongs to one thread.
class Batches {
 public:
  // lengths: one an example, 0 or more. No example, or limits below 1, is a programmer error
  // (std::logic_error).
  Batches(std::vector<Index> lengths, BatchingConfig config, std::uint64_t seed);

  void plan(std::int64_t epoch);
  // Of the planned epoch.
  Index count() const { return static_cast<Index>(starts_.size()) - 1; }
  std::span<const Index> batch(Index i) const;

  Index example_count() const { return static_cast<Index>(lengths_.size()); }
  Index length(Index example) const { return lengths_[static_cast<std::size_t>(example)]; }

 private:
  std::vector<Index> lengths_;
  BatchingConfig config_;
  std::uint64_t seed_;
  std::vector<Index> order_, starts_;
};

}  // namespace askbase::nn
