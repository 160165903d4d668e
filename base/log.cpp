#include "base/log.h"

#include <array>
#include <memory>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/json.h"

namespace askbase::base {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"trace", "debug", "info", "warn", "error", "off"};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

// The message in one line whatever it holds (a question from outside must not forge log lines): a JSON
// string with its quotes, or the text with control characters escaped as JSON does.
class Message : public spdlog::custom_flag_formatter {
 public:
  explicit Message(LogFormat format) : format_(format) {}
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string_view raw(message.payload.data(), message.payload.size());
    if (format_ == LogFormat::json) {
      append(out, dump_json(Json(raw)));
      return;
    }
    for (const char c : raw) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        const std::string quoted = dump_json(Json(std::string(1, c)));
        append(out, std::string_view(quoted).substr(1, quoted.size() - 2));
      } else {
        out.push_back(c);
      }
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Message>(format_); }

 private:
  static void append(spdlog::memory_buf_t& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
  }
  LogFormat format_;
};

// The level by the name that parse_log_level() takes.
class LevelName : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string_view name = kLevelNames[static_cast<std::size_t>(from_spdlog(message.level))];
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelName>(); }

 private:
  static LogLevel from_spdlog(spdlog::level::level_enum level) {
    for (const LogLevel ours : {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warn}) {
      if (to_spdlog(ours) == level) return ours;
    }
    return LogLevel::error;
  }
};

std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<Message>('*', format).add_flag<LevelName>('~');
  if (format == LogFormat::json) {
    formatter->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%~","message":%*})");
  } else {
    formatter->set_pattern("%Y-%m-%dT%H:%M:%SZ %~: %*");
  }
  return formatter;
}

spdlog::logger& logger() {
  // Not in spdlog's registry: nothing else may change it, and it lives to the end of the process.
  static spdlog::logger* const instance = [] {
    auto* created = new spdlog::logger("askbase", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_level(spdlog::level::info);
    created->flush_on(spdlog::level::trace);
    created->set_formatter(make_formatter(LogFormat::text));
    return created;
  }();
  return *instance;
}

}  // namespace

void set_log(LogLevel level, LogFormat format) {
  logger().set_formatter(make_formatter(format));
  logger().set_level(to_spdlog(level));
}

bool parse_log_level(std::string_view name, LogLevel& out) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) {
      out = static_cast<LogLevel>(i);
      return true;
    }
  }
  return false;
}

void log(LogLevel level, std::string_view message) {
  if (level == LogLevel::off) return;
  logger().log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace askbase::base
