// Counter-based random numbers: number i of a stream is a pure function of (seed, stream, i), so a dropout
// mask needs no storage, and neither the number of threads nor the order of calls changes a result.
//
// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace askbase::nn {

class Philox {
 public:
  explicit Philox(std::uint64_t seed, std::uint64_t stream = 0) : key_{lo(seed), hi(seed)}, stream_(stream) {}

  // Four 32-bit numbers for counter i.
  std::array<std::uint32_t, 4> block(std::uint64_t i) const {
    std::array<std::uint32_t, 4> c{lo(i), hi(i), lo(stream_), hi(stream_)};
    std::uint32_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53U} * c[0], b = std::uint64_t{0xCD9E8D57U} * c[2];
      c = {hi(b) ^ c[1] ^ k0, lo(b), hi(a) ^ c[3] ^ k1, lo(a)};
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    return c;
  }

 private:
  static std::uint32_t lo(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
  static std::uint32_t hi(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }
  std::array<std::uint32_t, 2> key_;
  std::uint64_t stream_;
};

// Draws one after the other from a Philox stream; for shuffles, negatives and first weights. Copyable: its
// whole state is the position, which a checkpoint stores. Not for several threads.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : philox_(seed, stream) {}

  std::uint32_t next_u32() {
    const std::uint32_t lane = static_cast<std::uint32_t>(position_ & 3);
    if (lane == 0) block_ = philox_.block(position_ >> 2);
    ++position_;
    return block_[lane];
  }
  std::uint64_t next_u64() {
    const std::uint64_t low = next_u32();
    return low | (std::uint64_t{next_u32()} << 32);
  }
  // [0, 1)
  double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // [0, bound), 0 < bound < 2^53.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(bound));
  }
  double normal();  // mean 0, deviation 1

  template <typename Vector>
  void shuffle(Vector& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position) {
    position_ = position;
    if ((position_ & 3) != 0) block_ = philox_.block(position_ >> 2);
  }

 private:
  Philox philox_;
  std::uint64_t position_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace askbase::nn
