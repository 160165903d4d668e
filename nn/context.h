// How a pass through a model runs. Small, copied freely.
#pragma once

#include <cstdint>

#include "nn/gemm.h"
#include "nn/team.h"

namespace askbase::nn {

struct Context {
  Team* team = &one_thread();            // shares the loops inside a layer
  bool training = false;                 // dropout is on; hard attention is soft (as its layer says)
  Precision precision = Precision::f32;  // of the large matrix products in linear layers
  // Key of the random numbers of this pass: a function of seed, step and worker. Layers add their own stream.
  std::uint64_t dropout_key = 0;
};

}  // namespace askbase::nn
