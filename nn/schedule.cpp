#include "nn/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace askbase::nn {

namespace {

constexpr std::array<std::pair<ScheduleKind, std::string_view>, 3> kNames{
    {{ScheduleKind::constant, "constant"},
     {ScheduleKind::linear, "linear"},
     {ScheduleKind::cosine, "cosine"}}};

}  // namespace

std::optional<ScheduleKind> schedule_by_name(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::string_view schedule_name(ScheduleKind kind) { return kNames[static_cast<std::size_t>(kind)].second; }

double learning_rate(const ScheduleConfig& s, std::int64_t step) {
  const std::int64_t warmup =
      s.warmup_steps > 0 ? s.warmup_steps : std::llround(s.warmup_share * static_cast<double>(s.total_steps));
  if (step < warmup) return s.rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (s.kind == ScheduleKind::constant || s.total_steps <= 0) return s.rate;
  const double length = static_cast<double>(std::max<std::int64_t>(1, s.total_steps - warmup));
  const double progress = std::min(1.0, static_cast<double>(step - warmup) / length);
  const double left =
      s.kind == ScheduleKind::linear ? 1.0 - progress : 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  return s.rate * (s.final_share + (1.0 - s.final_share) * left);
}

}  // namespace askbase::nn
