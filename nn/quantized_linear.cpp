#include "nn/quantized_linear.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "nn/backend.h"
#include "nn/quantize.h"

namespace askbase::nn {

namespace {

// Least and largest of 0 and n numbers. Sixteen of each run side by side: the compiler makes vectors of them.
std::pair<float, float> range(const float* x, Index n) {
  constexpr Index kLanes = 16;
  float low[kLanes] = {}, high[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (Index j = 0; j < kLanes; ++j) {
      low[j] = x[i + j] < low[j] ? x[i + j] : low[j];
      high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
    }
  }
  for (; i < n; ++i) {
    low[0] = std::min(low[0], x[i]);
    high[0] = std::max(high[0], x[i]);
  }
  return {*std::min_element(low, low + kLanes), *std::max_element(high, high + kLanes)};
}

// q[i] = round(x[i] * inverse + zero), within 0 and limit: the rounding of zero may push the largest half a
// step out.
void quantise_row(const float* x, Index n, float inverse, float zero, float limit, std::uint8_t* q) {
  const float offset = zero + 0.5F;
  for (Index i = 0; i < n; ++i) {
    float v = x[i] * inverse + offset;
    v = v > 0.0F ? v : 0.0F;
    v = v < limit ? v : limit;
    q[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(v));
  }
}

// Rows are padded to a multiple of kStep: few different sizes, since each costs the kernels a compilation.
constexpr Index kRows = backend::kInt8Rows, kStep = 16;

}  // namespace

struct QuantizedLinear::Packed {
  std::unique_ptr<backend::Int8Weights> weights;
};

QuantizedLinear::QuantizedLinear() = default;
QuantizedLinear::QuantizedLinear(QuantizedLinear&&) noexcept = default;
QuantizedLinear& QuantizedLinear::operator=(QuantizedLinear&&) noexcept = default;
QuantizedLinear::~QuantizedLinear() = default;

QuantizedLinear::QuantizedLinear(View<const std::int8_t> weight, std::span<const float> scales,
                                 std::span<const float> bias)
    : scales_(scales.begin(), scales.end()) {
  if (static_cast<Index>(scales.size()) != weight.rows)
    throw std::logic_error("nn::QuantizedLinear: a scale a row");
  pack(weight, bias);
}

QuantizedLinear::QuantizedLinear(View<const float> weight, std::span<const float> bias) {
  Matrix<std::int8_t> quantised(weight.rows, weight.cols);
  scales_.resize(static_cast<std::size_t>(weight.rows));
  quantize_rows(weight, quantised.data(), scales_.data());
  pack(quantised, bias);
}

void QuantizedLinear::pack(View<const std::int8_t> weight, std::span<const float> bias) {
  if (!bias.empty() && static_cast<Index>(bias.size()) != weight.rows) {
    throw std::logic_error("nn::QuantizedLinear: a bias a row");
  }
  in_ = weight.cols;
  out_ = weight.rows;
  bias_.assign(static_cast<std::size_t>(out_), 0.0F);
  std::copy(bias.begin(), bias.end(), bias_.begin());
  for (Index r = 0; r < out_; ++r) {
    std::int32_t sum = 0;
    for (const std::int8_t v : weight.row_span(r)) sum += v;
    row_sums_.push_back(static_cast<float>(sum));
  }
  packed_ = std::make_unique<Packed>();
  packed_->weights = backend::pack_int8(weight);
}

void QuantizedLinear::forward(View<const float> x, View<float> y, Scratch& scratch,
                              const Context& context) const {
  if (x.cols != in_ || y.cols != out_ || x.rows != y.rows) {
    throw std::logic_error("nn::QuantizedLinear: sizes do not fit");
  }
  const Index n = x.rows, threads = context.team->size();
  if (n == 0) return;
  const Index blocks = (n + kStep - 1) / kStep, parts = std::min(threads, blocks);
  scratch.parts.resize(std::max(scratch.parts.size(), static_cast<std::size_t>(threads)));
  const float limit = static_cast<float>(backend::activation_limit());

  const auto quantise = [&](Index row, Scratch::Part& part, Index at) {
    // 0 is always exactly representable.
    const auto [low, high] = range(x.row(row), in_);
    const float scale = high > low ? (high - low) / limit : 1.0F, inverse = 1.0F / scale;
    const float zero = std::nearbyint(-low * inverse);
    part.scales[static_cast<std::size_t>(at)] = scale;
    part.zeros[static_cast<std::size_t>(at)] = zero;
    quantise_row(x.row(row), in_, inverse, zero, limit, part.quantized.row(at));
  };

  context.team->parallel_for(parts, 1, [&](Index first, Index last) {
    for (Index k = first; k < last; ++k) {
      Scratch::Part& part = scratch.parts[static_cast<std::size_t>(k)];
      part.quantized.resize(kRows, in_);
      part.sums.resize(kRows, out_);
      part.scales.resize(kRows);
      part.zeros.resize(kRows);
      const Index end = std::min(n, blocks * (k + 1) / parts * kStep);
      for (Index begin = blocks * k / parts * kStep; begin < end; begin += kRows) {
        const Index rows = std::min(kRows, end - begin), padded = (rows + kStep - 1) / kStep * kStep;
        for (Index r = 0; r < rows; ++r) quantise(begin + r, part, r);
        // What lies in the rows up to a multiple of kStep does not matter, but it must be initialised.
        std::fill_n(part.quantized.row(rows), (padded - rows) * in_, std::uint8_t{0});
        packed_->weights->product(part.quantized.data(), padded, part.sums.data());
        for (Index r = 0; r < rows; ++r) {
          const float scale = part.scales[static_cast<std::size_t>(r)],
                      zero = part.zeros[static_cast<std::size_t>(r)];
          const std::int32_t* sums = part.sums.row(r);
          float* out = y.row(begin + r);
          const float *channel = scales_.data(), *row_sum = row_sums_.data(), *bias = bias_.data();
          for (Index o = 0; o < out_; ++o) {
            out[o] = (static_cast<float>(sums[o]) - zero * row_sum[o]) * (scale * channel[o]) + bias[o];
          }
        }
      }
    }
  });
}

}  // namespace askbase::nn
