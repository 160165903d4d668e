// The options of `askbase embed` that say how to train, with defaults that suit the model. And a clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <string>

#include "cli/command.h"
#include "kb/embedding/options.h"

namespace askbase::cli {

struct EmbedOptions {
  kb::embedding::TrainOptions train;
  std::string kind = "transe", norm, loss, optimiser, sampling = "bernoulli";
  std::size_t dim = 128, relation_dim = 0, epochs = 100, batch = 0, seed = 1, validate_every = 5,
              patience = 10;
  int negatives = -1;  // -1: as suits the model
  double rate = 0, initial = 0, n3 = -1, margin = -1;
  bool own = false, no_filter = false;

  void declare(const Command& command);
  // Errors invalid_argument, as kb::embedding::validate().
  base::Result<kb::embedding::TrainOptions> resolve(const Globals& globals) const;
};

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double cpu_seconds() const { return cpu_now() - cpu_start_; }

 private:
  static double cpu_now() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_start_ = cpu_now();
};

}  // namespace askbase::cli
