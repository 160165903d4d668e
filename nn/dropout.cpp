#include "nn/dropout.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "nn/random.h"

namespace askbase::nn {

namespace {

// Sixteen bits a number: eight Philox blocks decide a group of 64. Side by side in arrays, so that the
// compiler runs them in vector lanes; lane j of group g is block 8 g + j of the row's counter.
constexpr Index kGroup = 64;
constexpr int kLanes = 8;

struct Keys {
  std::uint32_t k0, k1;      // of the pass
  std::uint32_t row0, row1;  // stream and row
};

void philox_group(const Keys& keys, std::uint32_t first_block, std::uint32_t* bits /* [kGroup], 16 used */) {
  alignas(32) std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int j = 0; j < kLanes; ++j) {
    c0[j] = first_block + static_cast<std::uint32_t>(j);
    c1[j] = keys.row0;
    c2[j] = keys.row1;
    c3[j] = 0;
  }
  std::uint32_t k0 = keys.k0, k1 = keys.k1;
  for (int round = 0; round < 10; ++round) {
    for (int j = 0; j < kLanes; ++j) {
      const std::uint64_t a = std::uint64_t{0xD2511F53U} * c0[j], b = std::uint64_t{0xCD9E8D57U} * c2[j];
      c0[j] = static_cast<std::uint32_t>(b >> 32) ^ c1[j] ^ k0;
      c1[j] = static_cast<std::uint32_t>(b);
      c2[j] = static_cast<std::uint32_t>(a >> 32) ^ c3[j] ^ k1;
      c3[j] = static_cast<std::uint32_t>(a);
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (int j = 0; j < kLanes; ++j) {
    bits[j] = c0[j] & 0xffff;
    bits[8 + j] = c0[j] >> 16;
    bits[16 + j] = c1[j] & 0xffff;
    bits[24 + j] = c1[j] >> 16;
    bits[32 + j] = c2[j] & 0xffff;
    bits[40 + j] = c2[j] >> 16;
    bits[48 + j] = c3[j] & 0xffff;
    bits[56 + j] = c3[j] >> 16;
  }
}

// body(at, bits, n): n <= kGroup numbers from column `at` on.
template <typename Body>
void groups(std::uint64_t key, std::uint64_t stream, Index row, Index n, Body&& body) {
  const Keys keys{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32),
                  static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(stream)};
  alignas(32) std::uint32_t bits[kGroup];
  for (Index at = 0; at < n; at += kGroup) {
    philox_group(keys, static_cast<std::uint32_t>(at / kGroup * kLanes), bits);
    body(at, bits, std::min(kGroup, n - at));
  }
}

}  // namespace

template <typename T>
Dropout<T>::Dropout(double rate, std::uint64_t stream) : stream_(stream) {
  if (!(rate >= 0.0 && rate < 1.0)) throw std::logic_error("nn::Dropout: the rate is not in [0, 1)");
  threshold_ = static_cast<std::uint32_t>(std::min(65535.0, std::round(rate * 65536.0)));
  factor_ = static_cast<T>(65536.0 / (65536.0 - threshold_));
}

template <typename T>
void Dropout<T>::apply(View<const T> x, View<T> y, const Context& context) const {
  if (x.rows != y.rows || x.cols != y.cols)
    throw std::logic_error("nn::Dropout: two views of different shapes");
  context.team->parallel_for(x.rows, std::max<Index>(1, 8192 / std::max<Index>(1, x.cols)),
                             [&](Index begin, Index end) {
                               for (Index r = begin; r < end; ++r)
                                 apply_row(r, x.row(r), y.row(r), x.cols, context);
                             });
}

template <typename T>
void Dropout<T>::apply_row(Index row, const T* x, T* y, Index n, const Context& context) const {
  if (!active(context)) {
    if (x != y) std::copy(x, x + n, y);
    return;
  }
  const std::uint32_t threshold = threshold_;
  const T factor = factor_;
  groups(context.dropout_key, stream_, row, n, [&](Index at, const std::uint32_t* bits, Index count) {
    const T* in = x + at;
    T* out = y + at;
    for (Index i = 0; i < count; ++i) out[i] = bits[i] >= threshold ? in[i] * factor : T(0);
  });
}

template <typename T>
void Dropout<T>::mask_row(Index row, T* mask, Index n, const Context& context) const {
  if (!active(context)) {
    std::fill(mask, mask + n, T(1));
    return;
  }
  groups(context.dropout_key, stream_, row, n, [&](Index at, const std::uint32_t* bits, Index count) {
    for (Index i = 0; i < count; ++i) mask[at + i] = bits[i] >= threshold_ ? factor_ : T(0);
  });
}

template class Dropout<float>;
template class Dropout<double>;

}  // namespace askbase::nn
