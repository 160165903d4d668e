// Says so, instead of dying of an illegal instruction, when the program was built for a newer processor than
// it runs on. This file alone is compiled for the oldest x86-64; its constructor runs before any other code
// of the program, and therefore uses nothing of it.
#include <cstdlib>
#include <unistd.h>

namespace {

__attribute__((constructor(101))) void check_processor() {
#if defined(ASKBASE_NEEDS_AVX2) && defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return;
  constexpr char message[] =
      "error: this askbase was built for processors with AVX2, FMA and BMI2, which this one lacks\n"
      "hint: build it on this machine, or with cmake -DASKBASE_MARCH=x86-64\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, sizeof message - 1);
  std::_Exit(1);
#endif
}

}  // namespace
