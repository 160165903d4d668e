// The learning rate from step to step.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace askbase::nn {

enum class ScheduleKind {
  constant,
  linear,  // down to final_share * rate in a straight line
  cosine,  // down by half a cosine wave (Loshchilov and Hutter 2017, equation 5, one period)
};

std::optional<ScheduleKind> schedule_by_name(std::string_view name);
std::string_view schedule_name(ScheduleKind kind);

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::constant;
  double rate = 1e-3;             // the highest rate
  std::int64_t warmup_steps = 0;  // the rate rises in a straight line up to the last of these steps
  double warmup_share = 0.0;      // the same as a share of total_steps, where warmup_steps is 0
  std::int64_t total_steps = 0;   // where the decay ends; 0: the trainer fills in the steps of all its epochs
  double final_share = 0.0;       // of the rate, at and after total_steps
};

// The rate of update number `step`, counted from 0: rate * (step + 1) / warmup in the warm-up (so the first
// update is not lost), then rate * (final + (1 - final) * d(progress)), where progress is
// (step - warmup) / (total_steps - warmup), and d is 1, 1 - progress or (1 + cos(pi progress)) / 2.
double learning_rate(const ScheduleConfig& schedule, std::int64_t step);

}  // namespace askbase::nn
