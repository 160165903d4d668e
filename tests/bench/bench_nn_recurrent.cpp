// Speed of recurrent layers: forward, and forward with backward (gradients of the parameters and of the
// input), in units of 1e9 float operations a second and as a share of one core's peak, measured in the same
// run. Operations are those of the matrix products alone: 2 * rows * (input + hidden) * gates * hidden a
// direction, three times for forward and backward. One thread: its CPU time; two: the wall clock, so on an
// idle machine only.
//
//   bench_nn_recurrent [REPEATS]     best of so many, 10 without
#include <cstdio>
#include <cstdlib>

#include "nn/gemm.h"
#include "nn/random.h"
#include "nn/recurrent.h"
#include "tests/bench/peak.h"

namespace {

using namespace askbase::nn;
using askbase::bench::best_seconds;
using askbase::bench::best_thread_seconds;
using askbase::bench::peak_gflops;

constexpr Index kInput = 300, kHidden = 150;

struct Form {
  const char* name;
  RecurrentOptions options;
  Index sequences, shortest, longest;
};

Matrix<float> numbers(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix<float> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.normal());
  return m;
}

void measure(const Form& form, int threads, int repeats) {
  Parameters<float> p;
  const Recurrent<float> layer(p, "r", form.options);
  p.initialise(1);
  Segments segments;
  for (Index i = 0; i < form.sequences; ++i)
    segments.add(form.shortest + i * (form.longest - form.shortest) / std::max<Index>(1, form.sequences - 1));
  const Matrix<float> x = numbers(segments.total(), kInput, 2), dy = numbers(x.rows(), layer.outputs(), 3);
  Matrix<float> y(x.rows(), layer.outputs()), dx(x.rows(), kInput);
  RecurrentCache<float> cache;
  Gradients<float> g(p);
  Team team(threads);
  const Context context{.team = &team};
  const double gates = form.options.kind == RecurrentKind::gru ? 3 : form.options.lstm.coupled ? 3 : 4;
  const double operations = 2.0 * static_cast<double>(layer.directions() * x.rows()) * (kInput + kHidden) *
                            gates * static_cast<double>(kHidden);
  const double peak = peak_gflops();
  const auto best = [&](auto&& body) {
    return threads == 1 ? best_thread_seconds(repeats, body) : best_seconds(repeats, body);
  };
  const double forward = best([&] { layer.forward(p, x, segments, y, cache, context); });
  const double both = best([&] {
    layer.forward(p, x, segments, y, cache, context);
    layer.backward(p, cache, dy, dx, g, context);
  });
  const auto speed = [&](double flops, double seconds) {
    const double gflops = flops / seconds * 1e-9;
    std::printf("  %8.2f ms %6.1f GFLOP/s %4.0f %%", seconds * 1e3, gflops, 100 * gflops / peak);
  };
  std::printf("%-26s %d", form.name, threads);
  speed(operations, forward);
  speed(3 * operations, both);
  std::printf("  (peak of one core %.1f)\n", peak);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  const RecurrentOptions lstm{.input = kInput, .hidden = kHidden, .bidirectional = true};
  RecurrentOptions gru = lstm, extended = lstm;
  gru.kind = RecurrentKind::gru;
  extended.lstm = {.peepholes = true, .coupled = true};
  std::printf("input %td, hidden %td, both directions; products by %s\n", kInput, kHidden,
              gemm_backend().c_str());
  std::printf("%-26s %s  %-34s  %s\n", "", "threads", "forward", "forward and backward");
  for (const Form& form :
       {Form{"LSTM, 64 of 12", lstm, 64, 12, 12}, Form{"LSTM, 64 of 150", lstm, 64, 150, 150},
        Form{"LSTM, 64 of 1 to 40", lstm, 64, 1, 40}, Form{"LSTM, 1 of 12", lstm, 1, 12, 12},
        Form{"LSTM coupled, peepholes", extended, 64, 12, 12}, Form{"GRU, 64 of 12", gru, 64, 12, 12},
        Form{"GRU, 64 of 150", gru, 64, 150, 150}}) {
    for (const int threads : {1, 2}) measure(form, threads, form.longest > 100 ? repeats : 5 * repeats);
  }
}
