// Functions that the losses are made of. For internal use.
#pragma once

#include <cmath>

namespace askbase::kb::embedding {

// log(1 + exp(x)), without overflow.
template <typename T>
T softplus(T x) {
  return x > T(0) ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
// 1 / (1 + exp(-x))
template <typename T>
T logistic(T x) {
  return x > T(0) ? T(1) / (T(1) + std::exp(-x)) : std::exp(x) / (T(1) + std::exp(x));
}

}  // namespace askbase::kb::embedding
