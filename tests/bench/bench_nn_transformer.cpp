// A training step of a Transformer encoder: 6 layers, hidden 384, 12 heads, 16 x 170 tokens, AdamW, dropout
// and clipping, data-parallel over threads.
//
//   bench_nn_transformer [STEPS] [THREADS] [bf16]
//
// The peer is nn_transformer_step.py: run both on an idle machine, one after the other.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "nn/linear.h"
#include "nn/random.h"
#include "nn/softmax.h"
#include "nn/transformer.h"

namespace {

using namespace askbase::nn;

constexpr Index kLayers = 6, kHidden = 384, kSequences = 16, kLength = 170;

struct Worker {
  explicit Worker(const Parameters<float>& p) : gradients(p), caches(kLayers), outputs(kLayers) {}
  Gradients<float> gradients;
  std::vector<TransformerBlock<float>::Cache> caches;
  std::vector<Matrix<float>> outputs;
  Matrix<float> logits, d_logits, d;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20, threads = argc > 2 ? std::atoi(argv[2]) : 2;
  const bool bf16 = argc > 3 && std::string(argv[3]) == "bf16";
  Parameters<float> p;
  std::vector<TransformerBlock<float>> blocks;
  for (Index i = 0; i < kLayers; ++i) {
    blocks.emplace_back(p, "layer." + std::to_string(i), TransformerConfig{.hidden = kHidden},
                        static_cast<std::uint64_t>(10 * i));
  }
  const Linear<float> head(p, "head", kHidden, 2);
  p.initialise(1);
  Random random(2);
  Matrix<float> x(kSequences * kLength, kHidden);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random.normal());

  Team team(threads);
  std::vector<Worker> workers;
  for (int w = 0; w < threads; ++w) workers.emplace_back(p);
  (void)blocks;
  const auto shard = [&](int w, std::uint64_t step) {
    Worker& worker = workers[static_cast<std::size_t>(w)];
    const Index first = kSequences * w / threads, count = kSequences * (w + 1) / threads - first;
    const Segments segments = Segments::equal(count, kLength);
    const Context context{.training = true,
                          .precision = bf16 ? Precision::bf16 : Precision::f32,
                          .dropout_key = step * 64 + static_cast<std::uint64_t>(w)};
    worker.gradients.clear();
    View<const float> in = x.view().rows_from(first * kLength, count * kLength);
    const View<const float> input = in;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      worker.outputs[i].resize(in.rows, kHidden);
      blocks[i].forward(p, in, segments, worker.outputs[i], worker.caches[i], context);
      in = worker.outputs[i];
    }
    worker.logits.resize(in.rows, 2);
    worker.d_logits.resize(in.rows, 2);
    head.forward(p, in, worker.logits, context);
    // Start and end positions: a softmax over the tokens of each sequence.
    Matrix<float> scores(2 * count, kLength), d_scores(2 * count, kLength);
    std::vector<Index> targets;
    for (Index s = 0; s < count; ++s) {
      for (Index k = 0; k < 2; ++k) {
        for (Index t = 0; t < kLength; ++t) scores(2 * s + k, t) = worker.logits(s * kLength + t, k);
        targets.push_back((s * 31 + k * 7) % kLength);
      }
    }
    const double loss = cross_entropy<float>(scores, targets, d_scores, 1.0F / (2 * kSequences));
    for (Index s = 0; s < count; ++s) {
      for (Index k = 0; k < 2; ++k) {
        for (Index t = 0; t < kLength; ++t) worker.d_logits(s * kLength + t, k) = d_scores(2 * s + k, t);
      }
    }
    worker.d.resize(in.rows, kHidden);
    head.backward(p, in, worker.d_logits, worker.d, worker.gradients, context);
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const View<const float> below = i == 0 ? input : worker.outputs[i - 1].view();
      blocks[i].backward(p, below, segments, worker.caches[i], worker.d,
                         i == 0 ? View<float>() : worker.d.view(), worker.gradients, context);
    }
    return loss;
  };

  std::vector<double> seconds;
  double passes = 0;
  for (int step = 0; step < steps + 2; ++step) {
    const auto start = std::chrono::steady_clock::now();
    team.parallel_for(threads, 1, [&](Index begin, Index end) {
      for (Index w = begin; w < end; ++w) shard(static_cast<int>(w), static_cast<std::uint64_t>(step));
    });
    passes += seconds_since(start);
    seconds.push_back(seconds_since(start));
  }
  seconds.erase(seconds.begin(), seconds.begin() + 2);
  std::sort(seconds.begin(), seconds.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"median_s\": %.4f, \"least_s\": %.4f, \"passes_s\": %.4f, \"peak_mb\": %ld}\n",
              seconds[seconds.size() / 2], seconds.front(), passes / (steps + 2), usage.ru_maxrss / 1024);
  return 0;
}
