#include "nn/random.h"

#include <cmath>
#include <numbers>

namespace askbase::nn {

// Box and Muller 1958; the second of the pair is not kept, so that the state stays one number.
double Random::normal() {
  const double u = 1.0 - uniform(), v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace askbase::nn
