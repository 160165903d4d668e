#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdexcept>

#include "nn/backend.h"

namespace askbase::nn::backend {

namespace {

// oneDNN shares its products between OpenMP threads, which spin while they wait and know nothing of our
// teams: each of our threads asks for one OpenMP thread, itself.
void alone() {
  thread_local const bool done = [] {
    omp_set_num_threads(1);
    return true;
  }();
  (void)done;
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
    default:
      return "other";
  }
}

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

std::string name() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch) + " (" + isa_name() + ")";
}

}  // namespace askbase::nn::backend
