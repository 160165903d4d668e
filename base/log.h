// Logging to standard error, over spdlog. Thread-safe.
#pragma once

#include <string_view>

namespace askbase::base {

enum class LogLevel { trace, debug, info, warn, error, off };
enum class LogFormat { text, json };  // json: one object a line: time, level, message

void set_log(LogLevel level, LogFormat format);
bool parse_log_level(std::string_view name, LogLevel& out);
void log(LogLevel level, std::string_view message);
inline void log_info(std::string_view message) { log(LogLevel::info, message); }
inline void log_warn(std::string_view message) { log(LogLevel::warn, message); }
inline void log_error(std::string_view message) { log(LogLevel::error, message); }

}  // namespace askbase::base
