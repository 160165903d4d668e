#include "nn/inference.h"

#include <cmath>
#include <stdexcept>

#include "nn/eigen.h"
#include "nn/gemm.h"
#include "nn/kernels.h"
#include "nn/quantize.h"
#include "nn/softmax.h"

namespace askbase::nn {

namespace {

using kernels::Form;

const kernels::Kernels* kernels_for(Loops loops) {
  static const kernels::Kernels* const best = kernels::avx512();
  return loops == Loops::best ? best : nullptr;
}

Form form_of(Numbers numbers, const kernels::Kernels& with) {
  if (numbers == Numbers::f32 || (numbers == Numbers::bf16 && !with.bf16)) return Form::f32;
  return numbers == Numbers::bf16 ? Form::bf16 : Form::int8;
}

// Numbers of a row of x that lie `from` numbers in, as a unit.
std::uint32_t unit_of(const float* x, Index from, Index count, Form form) {
  std::uint32_t unit = 0;
  for (Index i = 0; i < kernels::per_unit(form) && from + i < count; ++i) {
    if (form == Form::f32) {
      std::memcpy(&unit, x + from, sizeof(unit));
    } else {
      unit |= std::uint32_t{bfloat16_of(x[from + i])} << (16 * i);
    }
  }
  return unit;
}

std::uint32_t unit_of(const std::int8_t* x, Index from, Index count, Form) {
  std::uint32_t unit = 0;
  for (Index i = 0; i < 4 && from + i < count; ++i) {
    unit |= std::uint32_t{static_cast<std::uint8_t>(x[from + i])} << (8 * i);
  }
  return unit;
}

// (out, in) to the panels of kernels.h.
template <typename T>
void pack(View<const T> weight, Form form, Matrix<std::uint32_t>& panels) {
  const Index units = kernels::units_for(form, weight.cols),
              columns = (weight.rows + kernels::kPanel - 1) / kernels::kPanel * kernels::kPanel;
  panels.resize(1, units * columns);
  for (Index o = 0; o < columns; ++o) {
    std::uint32_t* to = panels.data() + o / kernels::kPanel * kernels::kPanel * units + o % kernels::kPanel;
    for (Index u = 0; u < units; ++u) {
      to[u * kernels::kPanel] =
          o < weight.rows ? unit_of(weight.row(o), u * kernels::per_unit(form), weight.cols, form) : 0;
    }
  }
}

}  // namespace

struct PackedLinear::Packed {
  const kernels::Kernels* kernels = nullptr;
  Form form = Form::f32;
  Matrix<std::uint32_t> panels;
  std::vector<float> scales, sums;
};

PackedLinear::PackedLinear() = default;
PackedLinear::PackedLinear(PackedLinear&&) noexcept = default;
PackedLinear& PackedLinear::operator=(PackedLinear&&) noexcept = default;
PackedLinear::~PackedLinear() = default;

void PackedLinear::check(std::size_t biases, std::size_t scales) const {
  if (static_cast<Index>(biases) != out_ || static_cast<Index>(scales) != out_) {
    throw std::logic_error("nn::PackedLinear: a bias and a scale an output");
  }
}

PackedLinear::PackedLinear(View<const float> weight, std::span<const float> bias, Numbers numbers,
                           Loops loops) {
  if (numbers == Numbers::int8) {
    Matrix<std::int8_t> quantised(weight.rows, weight.cols);
    std::vector<float> scales(static_cast<std::size_t>(weight.rows));
    quantize_rows(weight, quantised.data(), scales.data());
    *this = PackedLinear(quantised.view(), scales, bias, loops);
    return;
  }
  in_ = weight.cols;
  out_ = weight.rows;
  check(bias.size(), bias.size());
  bias_.assign(bias.begin(), bias.end());
  if (const kernels::Kernels* with = kernels_for(loops)) {
    packed_ = std::make_unique<Packed>();
    packed_->kernels = with;
    packed_->form = form_of(numbers, *with);
    pack(weight, packed_->form, packed_->panels);
    return;
  }
  weight_.resize(out_, in_);
  for (Index r = 0; r < out_; ++r) std::copy_n(weight.row(r), in_, weight_.row(r));
}

PackedLinear::PackedLinear(View<const std::int8_t> weight, std::span<const float> scales,
                           std::span<const float> bias, Loops loops)
    : in_(weight.cols), out_(weight.rows) {
  check(bias.size(), scales.size());
  const kernels::Kernels* with = kernels_for(loops);
  if (with == nullptr) {
    quantised_ = QuantizedLinear(weight, scales, bias);
    return;
  }
  bias_.assign(bias.begin(), bias.end());
  packed_ = std::make_unique<Packed>();
  packed_->kernels = with;
  packed_->form = Form::int8;
  packed_->scales.assign(scales.begin(), scales.end());
  for (Index r = 0; r < out_; ++r) {
    std::int32_t sum = 0;
    for (const std::int8_t v : weight.row_span(r)) sum += v;
    packed_->sums.push_back(static_cast<float>(sum));
  }
  pack(weight, packed_->form, packed_->panels);
}

void PackedLinear::forward(View<const float> x, View<float> y, Activation activation,
                           Scratch& scratch) const {
  if (x.cols != in_ || y.cols != out_ || x.rows != y.rows) {
    throw std::logic_error("nn::PackedLinear: sizes do not fit");
  }
  if (x.rows == 0 || out_ == 0) return;
  bool activated = activation == Activation::identity;
  if (packed_) {
    const Form form = packed_->form;
    kernels::Rows rows{.count = x.rows};
    if (form == Form::f32) {
      rows.units = reinterpret_cast<const std::uint32_t*>(x.data);
      rows.stride = x.stride;
    } else {
      // Rows an odd number of cache lines apart lie in different sets of the first cache.
      const Index units = kernels::units_for(form, in_), stride = (units + 31) / 32 * 32 + 16;
      scratch.units.resize(x.rows, stride);
      scratch.scales.resize(static_cast<std::size_t>(x.rows));
      scratch.zeros.resize(static_cast<std::size_t>(x.rows));
      for (Index r = 0; r < x.rows; ++r) {
        const auto at = static_cast<std::size_t>(r);
        packed_->kernels->pack_row(form, x.row(r), in_, scratch.units.row(r), &scratch.scales[at],
                                   &scratch.zeros[at]);
      }
      rows.units = scratch.units.data();
      rows.stride = stride;
      rows.scales = scratch.scales.data();
      rows.zeros = scratch.zeros.data();
    }
    const kernels::Weights weights{.form = form,
                                   .panels = packed_->panels.data(),
                                   .units = kernels::units_for(form, in_),
                                   .columns = out_,
                                   .bias = bias_.data(),
                                   .scales = packed_->scales.data(),
                                   .sums = packed_->sums.data()};
    packed_->kernels->linear(weights, rows, activation == Activation::gelu, y.data, y.stride);
    activated |= activation == Activation::gelu;
  } else if (quantised_.out() > 0) {
    quantised_.forward(x, y, scratch.plain, {});
  } else {
    gemm<float>(Op::none, Op::transpose, 1.0F, x, weight_, 0.0F, y);
    for (Index r = 0; r < y.rows; ++r)
      row_array<float>(y.row(r), out_) += row_array<const float>(bias_.data(), out_);
  }
  if (!activated) activate<float>(activation, y, y);
}

void attention_weights(View<const float> q, View<const float> k, View<float> weights) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(std::max<Index>(1, q.cols)));
  gemm<float>(Op::none, Op::transpose, scale, q, k, 0.0F, weights);
  softmax<float>(weights, weights);
}

void attend(View<const float> q, View<const float> k, View<const float> v, View<float> out, Numbers numbers,
            Loops loops, AttentionScratch& scratch) {
  const Index length = q.rows, width = q.cols;
  if (k.rows != length || v.rows != length || out.rows != length || k.cols != width || v.cols != width ||
      out.cols != width || k.stride != q.stride || v.stride != q.stride) {
    throw std::logic_error("nn::attend: sizes do not fit");
  }
  if (length == 0 || width == 0) return;
  const kernels::Kernels* with = kernels_for(loops);
  if (with == nullptr) {
    scratch.scores.resize(length, length);
    attention_weights(q, k, scratch.scores);
    gemm<float>(Op::none, Op::none, 1.0F, scratch.scores, v, 0.0F, out);
    return;
  }
  kernels::Head head{.form = numbers == Numbers::f32 || !with->bf16 ? Form::f32 : Form::bf16,
                     .q = q.data,
                     .k = k.data,
                     .v = v.data,
                     .stride = q.stride,
                     .length = length,
                     .width = width,
                     .scale = 1.0F / std::sqrt(static_cast<float>(width)),
                     .out = out.data,
                     .out_stride = out.stride};
  scratch.units.resize(1, with->scratch(head.form, length, width));
  head.scratch = scratch.units.data();
  with->attend(head);
}

void add_and_norm(View<const float> x, View<const float> residual, std::span<const float> weight,
                  std::span<const float> bias, double epsilon, View<float> y, Loops loops) {
  const Index d = x.cols;
  if (residual.rows != x.rows || residual.cols != d || y.rows != x.rows || y.cols != d ||
      static_cast<Index>(weight.size()) != d || static_cast<Index>(bias.size()) != d) {
    throw std::logic_error("nn::add_and_norm: sizes do not fit");
  }
  const auto least = static_cast<float>(epsilon);
  const kernels::Kernels* with = kernels_for(loops);
  for (Index r = 0; r < x.rows; ++r) {
    if (with != nullptr) {
      with->add_and_norm(x.row(r), residual.row(r), weight.data(), bias.data(), least, d, y.row(r));
      continue;
    }
    auto row = row_array<float>(y.row(r), d);
    row = row_array<const float>(x.row(r), d) + row_array<const float>(residual.row(r), d);
    row -= row.mean();
    row *= 1.0F / std::sqrt(row.square().mean() + least);
    row = row * row_array<const float>(weight.data(), d) + row_array<const float>(bias.data(), d);
  }
}

bool has_inference_kernels() { return kernels_for(Loops::best) != nullptr; }
bool has_bf16_kernels() { return has_inference_kernels() && kernels_for(Loops::best)->bf16; }

}  // namespace askbase::nn
