#include "nn/packing.h"

#include <algorithm>
#include <numeric>

namespace askbase::nn {

void Packing::set(const Segments& segments) {
  const auto sequences = static_cast<std::size_t>(segments.count());
  order_.resize(sequences);
  std::iota(order_.begin(), order_.end(), Index{0});
  // Not stable_sort, which allocates.
  std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
    const Index length_a = segments.length(a), length_b = segments.length(b);
    return length_a != length_b ? length_a > length_b : a < b;
  });
  source_.clear();
  source_.reserve(static_cast<std::size_t>(segments.total()));
  forward_.clear();
  first_.clear();
  last_.resize(sequences);
  std::size_t alive = sequences;
  for (Index t = 0; t < segments.longest(); ++t) {
    while (segments.length(order_[alive - 1]) <= t) --alive;
    const Index begin = rows();
    forward_.push_back({.begin = begin, .rows = static_cast<Index>(alive)});
    for (std::size_t b = 0; b < alive; ++b) {
      source_.push_back(segments.begin(order_[b]) + t);
      last_[b] = begin + static_cast<Index>(b);
    }
    if (t == 0) first_.assign(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(alive));
  }
  last_.resize(first_.size());
  reverse_.assign(forward_.rbegin(), forward_.rend());
  for (std::vector<PackedStep>* steps : {&forward_, &reverse_}) {
    for (std::size_t i = 0; i + 1 < steps->size(); ++i) {
      PackedStep& step = (*steps)[i];
      const PackedStep& next = (*steps)[i + 1];
      step.next_begin = next.begin;
      step.next_rows = std::min(step.rows, next.rows);
    }
  }
}

}  // namespace askbase::nn
