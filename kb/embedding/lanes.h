// Loops over rows of numbers, several at a time. Rows are padded with zeros to whole groups (Model), and sums
// are kept apart by lane, which is what lets the compiler use vector instructions without -ffast-math.
// Results do not depend on the vector width of the CPU.
#pragma once

#include <cmath>
#include <cstring>

#include "nn/matrix.h"

// A group of doubles is wider than what AVX2 returns in a register; these functions are inlined.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace askbase::kb::embedding {

using nn::Index;

// Numbers in a group; rows are whole groups.
inline constexpr Index kGroup = 8;
inline constexpr Index round_up(Index n, Index unit) { return (n + unit - 1) / unit * unit; }

template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(kGroup * sizeof(float))));
  typedef int Mask __attribute__((vector_size(kGroup * sizeof(float))));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kGroup * sizeof(double))));
  typedef long long Mask __attribute__((vector_size(kGroup * sizeof(double))));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

template <typename T>
inline Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <typename T>
inline void store(T* to, const Vector<T>& v) {
  std::memcpy(to, &v, sizeof v);
}
template <typename T>
inline Vector<T> splat(T x) {
  return x - Vector<T>{};
}
template <typename T>
inline T sum_of(const Vector<T>& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}
template <typename T>
inline Vector<T> absolute(const Vector<T>& v) {
  typename VectorOf<T>::Mask mask = v < 0;
  return mask ? -v : v;
}
// -1, 0 or 1.
template <typename T>
inline Vector<T> sign_of(const Vector<T>& v) {
  const Vector<T> zero{}, one = splat(T(1));
  return (v > 0 ? one : zero) - (v < 0 ? one : zero);
}

// Sum over the row of f(i), which gives the group that begins at number i. Two sums in turn hide the latency
// of the addition.
template <typename T, typename F>
inline T sum_groups(Index n, F&& f) {
  Vector<T> a{}, b{};
  Index i = 0;
  for (; i + 2 * kGroup <= n; i += 2 * kGroup) {
    a += f(i);
    b += f(i + kGroup);
  }
  if (i < n) a += f(i);
  return sum_of<T>(a + b);
}
template <typename T>
inline T dot(const T* a, const T* b, Index n) {
  return sum_groups<T>(n, [&](Index i) { return load(a + i) * load(b + i); });
}
template <typename T>
inline T squares(const T* a, Index n) {
  return dot(a, a, n);
}
// y += scale * x
template <typename T>
inline void add_scaled(T* y, T scale, const T* x, Index n) {
  for (Index i = 0; i < n; i += kGroup) store(y + i, load(y + i) + scale * load(x + i));
}

}  // namespace askbase::kb::embedding
