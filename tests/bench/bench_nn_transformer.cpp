// A training step of a Transformer encoder: 6 layers, hidden 384, 12 heads, 16 x 170 tokens, AdamW, dropout
// and clipping, data-parallel over threads.
//
//   bench_nn_transformer [STEPS] [THREADS] [bf16]
//
// The step is that of nn/trainer.h as every model uses it, timed from one call of the loss to the next.
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
#include "nn/trainer.h"
#include "nn/transformer.h"

namespace {

using namespace askbase::nn;

constexpr Index kLayers = 6, kHidden = 384, kSequences = 16, kLength = 170;

// Start and end of a span in random sequences: the encoder's input is given, so its gradient is not asked
// for.
class SpanTask : public TrainingTask<float> {
 public:
  SpanTask(Parameters<float>& p, Index examples, int workers)
      : examples_(examples), head_(p, "head", kHidden, 2), workers_(static_cast<std::size_t>(workers)) {
    for (Index i = 0; i < kLayers; ++i) {
      blocks_.emplace_back(p, "layer." + std::to_string(i), TransformerConfig{.hidden = kHidden},
                           static_cast<std::uint64_t>(10 * i));
    }
    Random random(2);
    x_.resize(kSequences * kLength, kHidden);
    for (Index i = 0; i < x_.size(); ++i) x_.data()[i] = static_cast<float>(random.normal());
  }

  Index example_count() const override { return examples_; }
  Index length(Index) const override { return kLength; }

  LossSum loss(const Parameters<float>& p, const Shard& shard, Gradients<float>& g,
               const Context& context) override {
    if (shard.worker == 0) starts_.push_back(std::chrono::steady_clock::now());
    Worker& w = workers_[static_cast<std::size_t>(shard.worker)];
    w.caches.resize(kLayers);
    w.outputs.resize(kLayers);
    const auto count = static_cast<Index>(shard.examples.size());
    const Segments segments = Segments::equal(count, kLength);
    w.input.resize(count * kLength, kHidden);
    for (Index i = 0; i < count; ++i) {
      const Index from = shard.examples[static_cast<std::size_t>(i)] % kSequences;
      std::copy_n(x_.row(from * kLength), kLength * kHidden, w.input.row(i * kLength));
    }
    View<const float> in = w.input;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      w.outputs[i].resize(in.rows, kHidden);
      blocks_[i].forward(p, in, segments, w.outputs[i], w.caches[i], context);
      in = w.outputs[i];
    }
    w.logits.resize(in.rows, 2);
    head_.forward(p, in, w.logits, context);
    Matrix<float> scores(2 * count, kLength), d_scores(2 * count, kLength);
    std::vector<Index> targets;
    for (Index s = 0; s < count; ++s) {
      for (Index k = 0; k < 2; ++k) {
        for (Index t = 0; t < kLength; ++t) scores(2 * s + k, t) = w.logits(s * kLength + t, k);
        targets.push_back((s * 31 + k * 7) % kLength);
      }
    }
    const double loss = cross_entropy<float>(scores, targets, d_scores);
    for (Index s = 0; s < count; ++s) {
      for (Index k = 0; k < 2; ++k) {
        for (Index t = 0; t < kLength; ++t) w.logits(s * kLength + t, k) = d_scores(2 * s + k, t);
      }
    }
    w.d.resize(in.rows, kHidden);
    head_.backward(p, in, w.logits, w.d, g, context);
    for (std::size_t i = blocks_.size(); i-- > 0;) {
      const View<const float> below = i == 0 ? w.input.view() : w.outputs[i - 1].view();
      blocks_[i].backward(p, below, segments, w.caches[i], w.d, i == 0 ? View<float>() : w.d.view(), g,
                          context);
    }
    return {loss, 2.0 * static_cast<double>(count)};
  }

  // Seconds of each step but the first two and the last.
  std::vector<double> seconds() const {
    std::vector<double> all;
    for (std::size_t i = 3; i < starts_.size(); ++i) {
      all.push_back(std::chrono::duration<double>(starts_[i] - starts_[i - 1]).count());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  struct Worker {
    std::vector<TransformerBlock<float>::Cache> caches;
    std::vector<Matrix<float>> outputs;
    Matrix<float> input, logits, d;
  };
  Index examples_;
  Linear<float> head_;
  std::vector<TransformerBlock<float>> blocks_;
  Matrix<float> x_;
  std::vector<Worker> workers_;
  std::vector<std::chrono::steady_clock::time_point> starts_;
};

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20, threads = argc > 2 ? std::atoi(argv[2]) : 2;
  const bool bf16 = argc > 3 && std::string(argv[3]) == "bf16";
  Parameters<float> p;
  SpanTask task(p, kSequences * (steps + 3), threads);
  p.initialise(1);
  Team team(threads);
  TrainerConfig config;
  config.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 0.01};
  config.schedule.rate = 1e-4;
  config.batching.max_examples = kSequences;
  config.clip_norm = 1.0;
  config.precision = bf16 ? Precision::bf16 : Precision::f32;
  config.epochs = 1;
  config.progress = false;
  const auto result = train(task, p, config, team);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return 1;
  }
  const std::vector<double> seconds = task.seconds();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"precision\": \"%s\", \"threads\": %d, \"median_s\": %.4f, \"least_s\": %.4f, \"peak_mb\": %ld}\n",
      bf16 && bf16_products() ? "bf16" : "f32", threads, seconds[seconds.size() / 2], seconds.front(),
      usage.ru_maxrss / 1024);
  return 0;
}
