// The order in which recurrent layers read a ragged batch.
//
// Sequences are sorted from the longest to the shortest; first come the first elements of all of them, then
// the second elements of those that have one, and so on (PyTorch's PackedSequence). So what one step computes
// lies together, without padding, and the sequences that are still alive are always the first ones.
#pragma once

#include <span>
#include <vector>

#include "nn/matrix.h"

namespace askbase::nn {

// One step of a direction, in the order of processing. Its element of sequence b (b < rows, in the sorted
// order) is packed row begin + b. The state after it is what sequence b < next_rows starts its next step
// with, packed row next_begin + b; for the other sequences it is the last one.
struct PackedStep {
  Index begin = 0, rows = 0;
  Index next_begin = 0, next_rows = 0;
};

// One way through the sequences: from the front or from the back.
struct PackedDirection {
  std::span<const PackedStep> steps;
  std::span<const Index> first;  // packed row of the first step of each sorted sequence that has one
};

// Made again for every batch by set(), which keeps its memory.
class Packing {
 public:
  void set(const Segments& segments);

  Index rows() const { return static_cast<Index>(source_.size()); }
  Index sequences() const { return static_cast<Index>(order_.size()); }
  // Which sequence of the batch stands at each sorted place; equally long ones keep their order.
  std::span<const Index> order() const { return order_; }
  // Which row of the batch each packed row is.
  std::span<const Index> source() const { return source_; }
  PackedDirection forward() const { return {forward_, first_}; }
  PackedDirection reverse() const { return {reverse_, last_}; }

 private:
  std::vector<Index> order_, source_, first_, last_;
  std::vector<PackedStep> forward_, reverse_;
};

}  // namespace askbase::nn
