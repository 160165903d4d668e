#include <algorithm>
#include <array>
#include <mutex>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <signal.h>
#include <stdexcept>

#include "nn/backend.h"
#include "nn/quantize.h"

namespace askbase::nn::backend {

namespace {

// Some of oneDNN's kernels (2.6, AVX-512) use the stack pointer as a register for numbers. A signal handler
// that runs on the thread's stack would then write its frame over whatever lies there: each thread that
// multiplies gets a stack for handlers, which base/interrupt.h asks for.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t now{};
    if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;  // somebody gave it one
    memory_.resize(1, kBytes);
    stack_t own{};
    own.ss_sp = memory_.data();
    own.ss_size = kBytes;
    sigaltstack(&own, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;
  ~HandlerStack() {
    if (memory_.empty()) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

 private:
  static constexpr Index kBytes = 128 << 10;  // the state of AVX-512 alone takes some 3 KiB
  Matrix<std::uint8_t> memory_;
};

// oneDNN shares its products between OpenMP threads, which spin while they wait and know nothing of our
// teams: each of our threads asks for one OpenMP thread, itself.
void alone() {
  thread_local const HandlerStack stack;
  thread_local const bool done = [] {
    omp_set_num_threads(1);
    return true;
  }();
  (void)stack;
  (void)done;
}

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  thread_local dnnl::stream own(engine());
  return own;
}

// Instruction sets are bits, and a newer one has those of the older.
bool can(dnnl_cpu_isa_t isa) {
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & static_cast<unsigned>(isa)) ==
         static_cast<unsigned>(isa);
}

const char* isa_name() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "other";
  }
}

// x or its transpose as bfloat16, rows without gaps.
void to_bf16(View<const float> x, bool transpose, Matrix<std::uint16_t>& y) {
  if (!transpose) {
    y.resize(x.rows, x.cols);
    for (Index r = 0; r < x.rows; ++r) float_to_bfloat16(x.row(r), y.row(r), x.cols);
    return;
  }
  // Tiles: both sides of a tile fit into the first cache.
  constexpr Index kTile = 32;
  std::uint16_t tile[kTile][kTile];
  y.resize(x.cols, x.rows);
  for (Index r0 = 0; r0 < x.rows; r0 += kTile) {
    for (Index c0 = 0; c0 < x.cols; c0 += kTile) {
      const Index rows = std::min(kTile, x.rows - r0), cols = std::min(kTile, x.cols - c0);
      for (Index r = 0; r < rows; ++r) float_to_bfloat16(x.row(r0 + r) + c0, tile[r], cols);
      for (Index c = 0; c < cols; ++c) {
        std::uint16_t* to = y.row(c0 + c) + r0;
        for (Index r = 0; r < rows; ++r) to[r] = tile[r][c];
      }
    }
  }
}

// oneDNN asks for memory besides that of the product; its own is not safe between threads.
std::uint8_t* scratchpad(std::size_t bytes) {
  thread_local Matrix<std::uint8_t> own;
  own.resize(1, static_cast<Index>(bytes));
  return own.data();
}

// The constructor changed with oneDNN 3.
dnnl::matmul::primitive_desc describe(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                      const dnnl::memory::desc& c, const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a, b, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, c), attributes, engine()};
#endif
}

dnnl::primitive_attr with_own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

class OneDnnInt8Weights : public Int8Weights {
 public:
  explicit OneDnnInt8Weights(View<const std::int8_t> weight) : in_(weight.cols), out_(weight.rows) {
    alone();
    Matrix<std::int8_t> plain(out_, in_);
    for (Index r = 0; r < out_; ++r) std::copy_n(weight.row(r), in_, plain.row(r));
    using dnnl::memory;
    // (in, out) in memory order "ba" is our (out, in).
    memory source({{in_, out_}, memory::data_type::s8, memory::format_tag::ba}, engine(), plain.data());
    desc_ =
        description(kInt8Rows, {{in_, out_}, memory::data_type::s8, memory::format_tag::any}).weights_desc();
    packed_ = memory(desc_, engine());
    dnnl::reorder(source, packed_).execute(stream(), source, packed_);
    stream().wait();
  }

  void product(const std::uint8_t* a, Index rows, std::int32_t* c) const override {
    alone();
    for (Index begin = 0; begin < rows; begin += kInt8Rows) {
      block(a + begin * in_, std::min(kInt8Rows, rows - begin), c + begin * out_);
    }
  }

 private:
  dnnl::matmul::primitive_desc description(Index rows, const dnnl::memory::desc& weights) const {
    using dnnl::memory;
    const memory::desc a({rows, in_}, memory::data_type::u8, memory::format_tag::ab);
    const memory::desc c({rows, out_}, memory::data_type::s32, memory::format_tag::ab);
    return describe(a, weights, c, with_own_scratchpad());
  }

  void block(const std::uint8_t* a, Index rows, std::int32_t* c) const {
    // One primitive a number of rows, made when first asked for.
    Made& made = made_[static_cast<std::size_t>(rows - 1)];
    std::call_once(made.once, [&] {
      made.description = description(rows, desc_);
      made.primitive = dnnl::matmul(made.description);
    });
    // oneDNN's memory knows no const; it only reads the activations and the weights.
    dnnl::memory in(made.description.src_desc(), engine(), const_cast<std::uint8_t*>(a));
    dnnl::memory out(made.description.dst_desc(), engine(), c);
    const dnnl::memory::desc spare_desc = made.description.scratchpad_desc();
    dnnl::memory spare(spare_desc, engine(), scratchpad(spare_desc.get_size()));
    made.primitive.execute(
        stream(),
        {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, packed_}, {DNNL_ARG_DST, out}, {DNNL_ARG_SCRATCHPAD, spare}});
    stream().wait();
  }

  struct Made {
    std::once_flag once;
    dnnl::matmul::primitive_desc description;
    dnnl::matmul primitive;
  };
  Index in_, out_;
  dnnl::memory::desc desc_;
  dnnl::memory packed_;
  mutable std::array<Made, kInt8Rows> made_;
};

}  // namespace

void product(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
             View<float> c) {
  alone();
  const dnnl_status_t status =
      dnnl_sgemm(op_a == Op::transpose ? 'T' : 'N', op_b == Op::transpose ? 'T' : 'N', c.rows, c.cols,
                 op_a == Op::transpose ? a.rows : a.cols, alpha, a.data, a.stride, b.data, b.stride, beta,
                 c.data, c.stride);
  if (status != dnnl_success)
    throw std::runtime_error("nn: oneDNN refused a matrix product (out of memory?)");
}

bool bf16_available() {
  static const bool available = [] { return can(dnnl_cpu_isa_avx512_core_bf16); }();
  return available;
}

void product_bf16(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
                  View<float> c) {
  alone();
  if (alpha != 1.0F || (beta != 0.0F && beta != 1.0F)) {
    throw std::logic_error("nn: bfloat16 products know alpha 1, and beta 0 or 1");
  }
  const Index m = c.rows, n = c.cols, k = op_a == Op::transpose ? a.rows : a.cols;
  thread_local Matrix<std::uint16_t> left, right;
  to_bf16(a, op_a == Op::transpose, left);
  to_bf16(b, false, right);
  // Described anew for each call: oneDNN keeps the compiled kernels of the last thousand descriptions itself.
  using dnnl::memory;
  const memory::desc a_desc({m, k}, memory::data_type::bf16, memory::format_tag::ab);
  const memory::desc b_desc({k, n}, memory::data_type::bf16,
                            op_b == Op::transpose ? memory::format_tag::ba : memory::format_tag::ab);
  const memory::desc c_desc({m, n}, memory::data_type::f32, memory::dims{c.stride, 1});
  dnnl::primitive_attr attributes = with_own_scratchpad();
  if (beta == 1.0F) {
    dnnl::post_ops sum;
    sum.append_sum(1.0F);
    attributes.set_post_ops(sum);
  }
  const dnnl::matmul::primitive_desc description = describe(a_desc, b_desc, c_desc, attributes);
  const memory::desc spare_desc = description.scratchpad_desc();
  memory in(a_desc, engine(), left.data()), weights(b_desc, engine(), right.data()),
      out(c_desc, engine(), c.data);
  memory spare(spare_desc, engine(), scratchpad(spare_desc.get_size()));
  dnnl::matmul(description)
      .execute(stream(), {{DNNL_ARG_SRC, in},
                          {DNNL_ARG_WEIGHTS, weights},
                          {DNNL_ARG_DST, out},
                          {DNNL_ARG_SCRATCHPAD, spare}});
  stream().wait();
}

std::string name() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch) + " (" + isa_name() + ")";
}

std::unique_ptr<Int8Weights> pack_int8(View<const std::int8_t> weight) {
  return std::make_unique<OneDnnInt8Weights>(weight);
}

// Below AVX-512 with VNNI, oneDNN multiplies pairs of bytes into sixteen bits with saturation (vpmaddubsw).
int activation_limit() {
  static const int limit = [] {
    return can(dnnl_cpu_isa_avx512_core_vnni) || can(dnnl_cpu_isa_avx2_vnni) ? 255 : 127;
  }();
  return limit;
}

}  // namespace askbase::nn::backend
