// Counters of the server and their Prometheus text (version 0.0.4). Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "qa/answer.h"

namespace askbase::web {

// Durations of one kind of work.
class Histogram {
 public:
  static constexpr std::array<double, 14> bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                    0.1,    0.25,  0.5,    1,     2.5,  5,     10};
  void observe(double seconds);
  void write(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

class Metrics {
 public:
  // Routes by their index in requests().
  explicit Metrics(std::vector<std::string> routes);

  void count_request(std::size_t route, int status, double seconds);
  void count_ask(const qa::Response& response, double seconds);

  // Facts about the process and the KB that are looked up when asked for.
  struct Gauges {
    std::uint64_t kb_facts = 0, kb_version = 0, connections = 0;
  };
  std::string text(const Gauges& gauges) const;

 private:
  static constexpr std::array<int, 18> codes = {200, 204, 304, 308, 400, 404, 405, 408, 413,
                                                414, 415, 417, 431, 500, 501, 503, 505, 0};
  static constexpr std::size_t kinds = static_cast<std::size_t>(qa::AnswerKind::list) + 1;
  static constexpr std::size_t reasons = static_cast<std::size_t>(qa::Reason::timeout) + 1;

  struct Route {
    std::string name;
    std::array<std::atomic<std::uint64_t>, codes.size()> by_code{};
    Histogram seconds;
  };
  std::vector<Route> routes_;
  Histogram ask_seconds_;
  std::array<std::atomic<std::uint64_t>, kinds> answers_{};
  std::array<std::atomic<std::uint64_t>, reasons> declined_{};
  double start_time_;
};

}  // namespace askbase::web
