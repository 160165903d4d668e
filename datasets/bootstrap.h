// Percentile bootstrap (Efron 1979): random numbers that are the same on every machine, and quantiles. For
// the .cpp files of datasets/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/metrics.h"

namespace askbase::datasets {

// SplitMix64 (Steele, Lea & Flood 2014).
class BootstrapRandom {
 public:
  explicit BootstrapRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // From [0, n), n below 2^32.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

// Quantile with linear interpolation between order statistics (type 7 of Hyndman & Fan 1996).
inline double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

// Of 95 %.
inline Interval interval_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return {.low = quantile(values, 0.025), .high = quantile(values, 0.975)};
}

}  // namespace askbase::datasets
