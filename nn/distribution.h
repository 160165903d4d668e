// From alignment scores to attention weights: one distribution over the keys of a query.
//
// softmax gives every key some weight; sparsemax (Martins and Astudillo 2016) and entmax (Peters, Niculae and
// Martins 2019) give exactly 0 to keys that score low, which reads better on display; sigmoid weighs each key
// by itself, and its weights do not sum to 1.
#pragma once

#include "nn/matrix.h"

namespace askbase::nn {

enum class Distribution { softmax, sparsemax, entmax, sigmoid };

// y = distribution of the n scores x; y may be x. alpha is read by entmax alone (> 1; 1.5 and 2 exactly by
// sorting, others by bisection: Blondel, Martins and Niculae 2019, algorithm 1; 2 is sparsemax, towards 1
// softmax). A score of minus infinity gets weight 0 when another is finite; a NaN or plus infinity among the
// scores makes NaN of all weights. Any thread.
template <typename T>
void distribute(Distribution kind, double alpha, const T* x, T* y, Index n);

// dx = J^T dy, from y of the forward pass; dx may be dy. With s = y^(2 - alpha) where y > 0, else 0 (softmax:
// y, sparsemax: the support), J = diag(s) - s s^T / sum(s).
template <typename T>
void distribute_backward(Distribution kind, double alpha, const T* y, const T* dy, T* dx, Index n);

}  // namespace askbase::nn
