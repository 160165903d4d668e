#include "nn/distribution.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "nn/elementwise.h"
#include "nn/softmax.h"

namespace askbase::nn {

namespace {

// The scores in descending order, less the largest: all that a threshold depends on.
template <typename T>
std::vector<double> descending(const T* x, Index n, double top, double factor) {
  std::vector<double> z(static_cast<std::size_t>(n));
  std::transform(x, x + n, z.begin(), [&](T v) { return factor * (static_cast<double>(v) - top); });
  std::sort(z.begin(), z.end(), std::greater<>());
  return z;
}

// Martins and Astudillo 2016, algorithm 1: the support is the longest beginning with 1 + k z_k > sum of it.
double sparsemax_threshold(const std::vector<double>& z) {
  double sum = 0, threshold = 0;
  for (std::size_t k = 1; k <= z.size(); ++k) {
    sum += z[k - 1];
    if (!(1 + static_cast<double>(k) * z[k - 1] > sum)) break;
    threshold = (sum - 1) / static_cast<double>(k);
  }
  return threshold;
}

// Peters 2019, algorithm 2; z is half the scores. Mean and variance of the k largest are updated one by one
// (Welford), since the difference of squares loses digits.
double entmax15_threshold(const std::vector<double>& z) {
  double mean = 0, deviations = 0, threshold = 0;
  for (std::size_t k = 1; k <= z.size(); ++k) {
    if (std::isinf(z[k - 1])) break;
    const double n = static_cast<double>(k), step = z[k - 1] - mean;
    mean += step / n;
    deviations += step * (z[k - 1] - mean);
    const double candidate = mean - std::sqrt(std::max(0.0, (1 - deviations) / n));
    if (candidate > z[k - 1]) break;
    threshold = candidate;
  }
  return threshold;
}

// y = max(0, (alpha - 1)(x - top) - threshold)^(1 / (alpha - 1)).
template <typename T>
void bisect(double alpha, const T* x, T* y, Index n, double top) {
  const double power = 1 / (alpha - 1);
  const auto weight = [&](Index i, double threshold) {
    const double d = (alpha - 1) * (static_cast<double>(x[i]) - top) - threshold;
    return d > 0 ? std::pow(d, power) : 0.0;
  };
  double low = -1, high = -std::pow(static_cast<double>(n), 1 - alpha);
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += weight(i, middle);
    (sum >= 1 ? low : high) = middle;
  }
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += weight(i, low);
  for (Index i = 0; i < n; ++i) y[i] = static_cast<T>(weight(i, low) / sum);
}

template <typename T>
void sparse(double alpha, const T* x, T* y, Index n) {
  double top = -std::numeric_limits<double>::infinity();
  bool numbers = true;
  for (Index i = 0; i < n; ++i) {
    top = std::max(top, static_cast<double>(x[i]));
    if (std::isnan(x[i])) numbers = false;
  }
  // Not numbers have no order: sorting them is undefined.
  if (!numbers || std::isinf(top)) {
    std::fill_n(y, n, numbers && top < 0 ? T(0) : std::numeric_limits<T>::quiet_NaN());
    return;
  }
  if (alpha == 2) {
    const double threshold = sparsemax_threshold(descending(x, n, top, 1));
    for (Index i = 0; i < n; ++i)
      y[i] = static_cast<T>(std::max(0.0, static_cast<double>(x[i]) - top - threshold));
  } else if (alpha == 1.5) {
    const double threshold = entmax15_threshold(descending(x, n, top, 0.5));
    for (Index i = 0; i < n; ++i) {
      const double root = std::max(0.0, 0.5 * (static_cast<double>(x[i]) - top) - threshold);
      y[i] = static_cast<T>(root * root);
    }
  } else {
    bisect(alpha, x, y, n, top);
  }
}

}  // namespace

template <typename T>
void distribute(Distribution kind, double alpha, const T* x, T* y, Index n) {
  if (n == 0) return;
  switch (kind) {
    case Distribution::softmax:
      softmax<T>(View<const T>(x, 1, n), View<T>(y, 1, n));
      break;
    case Distribution::sparsemax:
      sparse(2, x, y, n);
      break;
    case Distribution::entmax:
      if (!(alpha > 1)) throw std::logic_error("nn::distribute: entmax is for alpha above 1");
      sparse(alpha, x, y, n);
      break;
    case Distribution::sigmoid:
      sigmoid<T>(x, y, n);
      break;
  }
}

template <typename T>
void distribute_backward(Distribution kind, double alpha, const T* y, const T* dy, T* dx, Index n) {
  if (kind == Distribution::softmax) {
    softmax_backward<T>(View<const T>(y, 1, n), View<const T>(dy, 1, n), View<T>(dx, 1, n));
    return;
  }
  if (kind == Distribution::sigmoid) {
    for (Index i = 0; i < n; ++i) dx[i] = dy[i] * y[i] * (T(1) - y[i]);
    return;
  }
  const double power = kind == Distribution::sparsemax ? 0 : 2 - alpha;
  const auto slope = [&](Index i) {
    if (!(y[i] > T(0))) return y[i] == T(0) ? 0.0 : static_cast<double>(y[i]);  // a NaN stays
    if (power == 0) return 1.0;
    const double weight = static_cast<double>(y[i]);
    return power == 0.5 ? std::sqrt(weight) : std::pow(weight, power);
  };
  double sum = 0, product = 0;
  for (Index i = 0; i < n; ++i) {
    const double s = slope(i);
    sum += s;
    product += s * static_cast<double>(dy[i]);
  }
  const double mean = sum == 0 ? 0 : product / sum;
  for (Index i = 0; i < n; ++i) dx[i] = static_cast<T>(slope(i) * (static_cast<double>(dy[i]) - mean));
}

template void distribute<float>(Distribution, double, const float*, float*, Index);
template void distribute<double>(Distribution, double, const double*, double*, Index);
template void distribute_backward<float>(Distribution, double, const float*, const float*, float*, Index);
template void distribute_backward<double>(Distribution, double, const double*, const double*, double*, Index);

}  // namespace askbase::nn
