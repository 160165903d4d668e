// What a training step costs beside the model itself: the optimiser's update, adding and clipping gradients,
// and checkpoints, as shares of the memory's speed in the same run.
//
//   bench_nn_training [FOLDER]      (FOLDER: where a checkpoint is written; . without it)
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "nn/checkpoint.h"
#include "nn/optimizer.h"
#include "nn/random.h"
#include "tests/bench/peak.h"

namespace {

using namespace askbase::nn;
using askbase::bench::best_seconds;

constexpr Index kParameters = 11'000'000;

// Sizes as in a small encoder: one large table, many matrices, many short vectors.
void add_parameters(Parameters<float>& p) {
  p.add("embedding", {4000, 384});
  for (int i = 0; p.total() < kParameters; ++i) {
    p.add("layer" + std::to_string(i) + ".weight", {384, 384});
    p.add("layer" + std::to_string(i) + ".bias", {384}, {.decay = false});
  }
  p.initialise(1);
}

}  // namespace

int main(int argc, char** argv) {
  Parameters<float> p;
  add_parameters(p);
  const double n = static_cast<double>(p.total());
  Matrix<float> from(1, p.total()), to(1, p.total());
  Team one(1), two(2);
  std::printf("%.1f million parameters, best of 15; in brackets the share of copying's speed\n", n / 1e6);
  std::printf("%-34s %24s %24s\n", "", "1 thread", "2 threads");
  double copying[2] = {};
  const auto row = [&](const char* what, double bytes, auto&& body) {
    std::printf("%-34s", what);
    int k = 0;
    for (Team* team : {&one, &two}) {
      const double seconds = best_seconds(15, [&] { body(*team); });
      const double speed = bytes / seconds / 1e9;
      if (copying[k] == 0) copying[k] = speed;
      std::printf(" %6.1f ms %5.1f GB/s (%2.0f%%)", seconds * 1e3, speed, 100 * speed / copying[k]);
      ++k;
    }
    std::printf("\n");
  };
  row("copy", 8 * n, [&](Team& team) {
    team.parallel_for(from.size(), 1 << 15, [&](Index begin, Index end) {
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin) * 4);
    });
  });
  std::vector<Gradients<float>> workers;
  for (int k = 0; k < 2; ++k) workers.emplace_back(p);
  for (ParameterId id = 0; id < p.count(); ++id) {
    for (Index i = 0; i < p[id].size(); ++i) workers[0][id].data[i] = static_cast<float>(i % 7) * 1e-3F;
  }
  // Bytes that must move: w, g and the moments read, w and the moments written.
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adagrad, OptimizerKind::sgd}) {
    Optimizer<float> optimizer(p, {.kind = kind, .weight_decay = 0.01});
    const double bytes = kind == OptimizerKind::adamw ? 28 : kind == OptimizerKind::adagrad ? 20 : 12;
    row(std::string(optimizer_name(kind)).c_str(), bytes * n,
        [&](Team& team) { optimizer.step(p, workers[0], 1e-9, 1.0, team); });
  }
  row("two workers' gradients and norm", 12 * n, [&](Team& team) { sum_gradients<float>(workers, team); });
  row("norm", 4 * n, [&](Team& team) { gradient_norm(workers[0], team); });

  const std::filesystem::path file = std::filesystem::path(argc > 1 ? argv[1] : ".") / "bench.checkpoint";
  Optimizer<float> optimizer(p, {});
  std::vector<NamedView<float>> views = optimizer.state(p);
  for (ParameterId id = 0; id < p.count(); ++id) views.push_back({p.name(id), p.mutable_view(id)});
  std::vector<NamedView<const float>> constant;
  for (const NamedView<float>& view : views) constant.push_back({view.name, view.values});
  const double write = best_seconds(3, [&] {
    if (!save_checkpoint<float>(file, {}, {}, constant)) std::printf("cannot write %s\n", file.c_str());
  });
  const double read = best_seconds(3, [&] {
    const auto checkpoint = Checkpoint::open(file);
    if (!checkpoint || !checkpoint->read(views)) std::printf("cannot read %s\n", file.c_str());
  });
  std::printf("checkpoint of %.0f MB: written and synced in %.2f s, read and checked in %.2f s\n",
              12 * n / 1e6, write, read);
  std::filesystem::remove(file);
}
