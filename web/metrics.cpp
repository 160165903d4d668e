#include "web/metrics.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace askbase::web {
namespace {

void append_number(std::string& out, double value) {
  std::array<char, 32> text;
  const int size = std::snprintf(text.data(), text.size(), "%.15g", value);
  out.append(text.data(), static_cast<std::size_t>(size));
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void sample(std::string& out, std::string_view name, std::string_view labels, double value) {
  out.append(name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ");
  append_number(out, value);
  out.append("\n");
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void Histogram::observe(double seconds) {
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(static_cast<std::uint64_t>(std::max(0.0, seconds) * 1e9), std::memory_order_relaxed);
}

void Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
  const std::string prefix = labels.empty() ? std::string() : std::string(labels) + ",";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    std::string bound = "+Inf";
    if (i < bounds.size()) {
      bound.clear();
      append_number(bound, bounds[i]);
    }
    sample(out, std::string(name) + "_bucket", prefix + "le=\"" + bound + "\"", static_cast<double>(total));
  }
  sample(out, std::string(name) + "_sum", labels,
         static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) / 1e9);
  sample(out, std::string(name) + "_count", labels, static_cast<double>(total));
}

Metrics::Metrics(std::vector<std::string> routes)
    : routes_(routes.size()),
      start_time_(
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()) {
  for (std::size_t i = 0; i < routes.size(); ++i) routes_[i].name = std::move(routes[i]);
}

void Metrics::count_request(std::size_t route, int status, double seconds) {
  const auto at = std::find(codes.begin(), codes.end() - 1, status) - codes.begin();
  routes_[route].by_code[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  routes_[route].seconds.observe(seconds);
}

void Metrics::count_ask(const qa::Response& response, double seconds) {
  ask_seconds_.observe(seconds);
  if (response.answers.empty()) {
    ++declined_[static_cast<std::size_t>(response.reason)];
  } else {
    ++answers_[static_cast<std::size_t>(response.answers.front().kind)];
  }
}

std::string Metrics::text(const Gauges& gauges) const {
  std::string out;
  head(out, "askbase_build_info", "gauge", "Version of the program.");
  sample(out, "askbase_build_info", "version=\"" + std::string(ASKBASE_VERSION) + "\"", 1);

  head(out, "askbase_http_requests_total", "counter", "Requests answered, by route and status code.");
  for (const Route& route : routes_) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::uint64_t count = route.by_code[i].load(std::memory_order_relaxed);
      if (count == 0) continue;
      const std::string code = codes[i] == 0 ? "other" : std::to_string(codes[i]);
      sample(out, "askbase_http_requests_total", "route=\"" + route.name + "\",code=\"" + code + "\"",
             static_cast<double>(count));
    }
  }
  head(out, "askbase_http_request_seconds", "histogram",
       "Time from a complete request to its response, by route.");
  for (const Route& route : routes_) {
    route.seconds.write(out, "askbase_http_request_seconds", "route=\"" + route.name + "\"");
  }
  head(out, "askbase_http_connections", "gauge", "Open connections.");
  sample(out, "askbase_http_connections", "", static_cast<double>(gauges.connections));

  head(out, "askbase_ask_seconds", "histogram", "Time to answer a question.");
  ask_seconds_.write(out, "askbase_ask_seconds", "");
  head(out, "askbase_answers_total", "counter",
       "Questions answered, by kind of the first answer, and declined (kind \"none\"), by reason.");
  for (std::size_t i = 0; i < kinds; ++i) {
    const auto kind = static_cast<qa::AnswerKind>(i);
    sample(out, "askbase_answers_total",
           "kind=\"" + std::string(qa::answer_kind_name(kind)) + "\",reason=\"none\"",
           static_cast<double>(answers_[i].load(std::memory_order_relaxed)));
  }
  for (std::size_t i = 1; i < reasons; ++i) {
    const auto reason = static_cast<qa::Reason>(i);
    sample(out, "askbase_answers_total",
           "kind=\"none\",reason=\"" + std::string(qa::reason_name(reason)) + "\"",
           static_cast<double>(declined_[i].load(std::memory_order_relaxed)));
  }

  head(out, "askbase_kb_facts", "gauge", "Facts in the knowledge base that answers come from.");
  sample(out, "askbase_kb_facts", "", static_cast<double>(gauges.kb_facts));
  head(out, "askbase_kb_version", "gauge", "Grows with every change of the knowledge base.");
  sample(out, "askbase_kb_version", "", static_cast<double>(gauges.kb_version));
  head(out, "process_resident_memory_bytes", "gauge", "Memory of the process that is in RAM.");
  sample(out, "process_resident_memory_bytes", "", static_cast<double>(resident_bytes()));
  head(out, "process_start_time_seconds", "gauge", "When the server was made, in seconds since 1970.");
  sample(out, "process_start_time_seconds", "", start_time_);
  return out;
}

}  // namespace askbase::web
