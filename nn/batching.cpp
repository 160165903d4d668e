#include "nn/batching.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "nn/random.h"

namespace askbase::nn {

namespace {

constexpr std::uint64_t kStream = 0x6261746368ULL << 24;  // "batch", apart from the streams of other uses

}  // namespace

Batches::Batches(std::vector<Index> lengths, BatchingConfig config, std::uint64_t seed)
    : lengths_(std::move(lengths)), config_(config), seed_(seed), starts_{0} {
  if (lengths_.empty()) throw std::logic_error("nn::Batches: no examples");
  if (config.max_examples < 1 || config.max_tokens < 0 || config.sort_window < 1) {
    throw std::logic_error("nn::Batches: a limit below 1");
  }
  if (*std::min_element(lengths_.begin(), lengths_.end()) < 0) {
    throw std::logic_error("nn::Batches: a negative length");
  }
}

void Batches::plan(std::int64_t epoch) {
  const std::size_t n = lengths_.size();
  std::vector<Index> shuffled(n);
  std::iota(shuffled.begin(), shuffled.end(), Index{0});
  Random random(seed_, kStream + static_cast<std::uint64_t>(epoch));
  if (config_.shuffle) {
    random.shuffle(shuffled);
    if (config_.sort_window > 1) {
      const auto most = static_cast<std::size_t>(config_.max_examples);
      const auto batches = static_cast<std::size_t>(config_.sort_window);
      const std::size_t window = most > n / batches ? n : most * batches;  // the product may not fit
      for (std::size_t begin = 0; begin < n; begin += window) {
        const auto first = shuffled.begin() + static_cast<Index>(begin);
        const auto last = shuffled.begin() + static_cast<Index>(std::min(n, begin + window));
        std::stable_sort(first, last, [this](Index a, Index b) { return length(a) < length(b); });
      }
    }
  }
  std::vector<std::pair<Index, Index>> ranges;
  Index begin = 0, tokens = 0;
  for (Index i = 0; i < static_cast<Index>(n); ++i) {
    const Index more = length(shuffled[static_cast<std::size_t>(i)]);
    const bool full = i - begin >= config_.max_examples ||
                      (config_.max_tokens > 0 && i > begin && tokens + more > config_.max_tokens);
    if (full) {
      ranges.emplace_back(begin, i);
      begin = i;
      tokens = 0;
    }
    tokens += more;
  }
  ranges.emplace_back(begin, static_cast<Index>(n));
  // Otherwise the batches of a window would come from short to long.
  if (config_.shuffle) random.shuffle(ranges);
  order_.clear();
  starts_.assign(1, 0);
  for (const auto& [first, last] : ranges) {
    order_.insert(order_.end(), shuffled.begin() + first, shuffled.begin() + last);
    starts_.push_back(static_cast<Index>(order_.size()));
  }
}

std::span<const Index> Batches::batch(Index i) const {
  const Index begin = starts_[static_cast<std::size_t>(i)], end = starts_[static_cast<std::size_t>(i) + 1];
  return {order_.data() + begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace askbase::nn
