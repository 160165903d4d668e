// What a matrix backend gives to gemm.cpp: one product on the calling thread. Internal to nn/.
#pragma once

#include <string>

#include "nn/gemm.h"

namespace askbase::nn::backend {

// Sizes are checked and not zero.
void product(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
             View<float> c);
void product(Op op_a, Op op_b, double alpha, View<const double> a, View<const double> b, double beta,
             View<double> c);
std::string name();

}  // namespace askbase::nn::backend
