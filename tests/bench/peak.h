// What one core can do at most: float multiply-adds on numbers that stay in registers. The benchmarks of nn/
// print their speed as a share of it, measured in the same run, since clock rates differ from machine to
// machine and from minute to minute.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace askbase::bench {

// Best of `repeats` calls, seconds on the wall clock.
template <typename Body>
double best_seconds(int repeats, Body&& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// The same in CPU time of the calling thread, which other programs on the machine disturb less: for work that
// stays on this thread.
template <typename Body>
double best_thread_seconds(int repeats, Body&& body) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const double start = now();
    body();
    best = std::min(best, now() - start);
  }
  return best;
}

namespace detail {

// Each returns its floating point operations (a multiply-add is two) after so many rounds. The independent
// sums are more than latency times units, and fewer than there are registers.
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) inline double fma_avx2(std::int64_t rounds, volatile float* sink) {
  constexpr int sums = 12;
  const __m256 a = _mm256_set1_ps(sink[0]), b = _mm256_set1_ps(sink[1]);
  __m256 s[sums];
#pragma GCC unroll 12
  for (int i = 0; i < sums; ++i) s[i] = _mm256_set1_ps(static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < sums; ++i) s[i] = _mm256_fmadd_ps(s[i], a, b);
  }
#pragma GCC unroll 12
  for (int i = 1; i < sums; ++i) s[0] = _mm256_add_ps(s[0], s[i]);
  sink[2] = _mm256_cvtss_f32(s[0]);
  return static_cast<double>(rounds) * sums * 8 * 2;
}

__attribute__((target("avx512f"))) inline double fma_avx512(std::int64_t rounds, volatile float* sink) {
  constexpr int sums = 24;
  const __m512 a = _mm512_set1_ps(sink[0]), b = _mm512_set1_ps(sink[1]);
  __m512 s[sums];
#pragma GCC unroll 24
  for (int i = 0; i < sums; ++i) s[i] = _mm512_set1_ps(static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 24
    for (int i = 0; i < sums; ++i) s[i] = _mm512_fmadd_ps(s[i], a, b);
  }
#pragma GCC unroll 24
  for (int i = 1; i < sums; ++i) s[0] = _mm512_add_ps(s[0], s[i]);
  sink[2] = _mm512_cvtss_f32(s[0]);
  return static_cast<double>(rounds) * sums * 16 * 2;
}
#endif

inline double fma_plain(std::int64_t rounds, volatile float* sink) {
  constexpr int sums = 32;
  const float a = sink[0], b = sink[1];
  float s[sums];
  for (int i = 0; i < sums; ++i) s[i] = static_cast<float>(i);
  for (std::int64_t r = 0; r < rounds; ++r) {
    for (float& x : s) x = x * a + b;
  }
  for (int i = 1; i < sums; ++i) s[0] += s[i];
  sink[2] = s[0];
  return static_cast<double>(rounds) * sums * 2;
}

}  // namespace detail

// Float operations a second, in units of 1e9, of the calling thread: the fastest of AVX-512, AVX2 and plain
// code, best of some tenths of a second in pieces of a few milliseconds.
inline double peak_gflops() {
  volatile float sink[3] = {0.999F, 0.001F, 0.0F};
  double best = 0;
  const auto measure = [&](double (*kernel)(std::int64_t, volatile float*), std::int64_t rounds) {
    double operations = 0;
    const double seconds = best_seconds(20, [&] { operations = kernel(rounds, sink); });
    best = std::max(best, operations / seconds * 1e-9);
  };
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) measure(detail::fma_avx512, 500'000);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) measure(detail::fma_avx2, 1'500'000);
#endif
  if (best == 0) measure(detail::fma_plain, 500'000);
  return best;
}

}  // namespace askbase::bench
