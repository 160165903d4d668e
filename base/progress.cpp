#include "base/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"

namespace askbase::base {
namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t kCallsBetweenLooks = 1024;
constexpr std::chrono::milliseconds kSilence{1000};       // work that ends sooner shows nothing
constexpr std::chrono::milliseconds kBetweenBars{100};    // on a terminal
constexpr std::chrono::milliseconds kBetweenLines{5000};  // elsewhere
constexpr std::size_t kBarWidth = 24;

// "12.3k", "4.56M": three digits are enough to see it move.
std::string short_count(double value) {
  constexpr std::array<const char*, 5> kSuffixes = {"", "k", "M", "G", "T"};
  std::size_t suffix = 0;
  while (value >= 999.5 && suffix + 1 < kSuffixes.size()) {
    value /= 1000;
    ++suffix;
  }
  char digits[32];
  const int decimals = suffix == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(digits, sizeof digits, "%.*f%s", decimals, value, kSuffixes[suffix]);
  return digits;
}

std::string duration(double seconds) {
  const long long whole = std::llround(seconds);
  char text[48];
  if (whole < 60) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld min", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld h", whole / 3600, whole / 60 % 60);
  }
  return text;
}

std::size_t terminal_width() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// As much of the line as fits into the columns; a longer one would wrap and leave its first part behind.
std::string cut_to_width(std::string_view line, std::size_t columns) {
  std::string out;
  std::size_t used = 0;
  for (const char32_t c : to_code_points(line)) {
    used += is_han(c) ? 2 : 1;
    if (used > columns) break;
    append_utf8(out, c);
  }
  return out;
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t total, std::string unit, Sink sink)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      sink_(std::move(sink)),
      terminal_(!sink_ && ::isatty(STDERR_FILENO) != 0),
      start_(steady_clock::now()),
      last_show_(start_) {}

Progress::~Progress() {
  // Left early (an error, Ctrl-C): the message that follows must not stand behind the bar.
  if (!finished_ && shown_ && terminal_) std::fputs("\n", stderr);
}

void Progress::update(std::uint64_t done) {
  done_ = done;
  // Slow items (a document, an epoch) must be seen too: the clock is looked at for each early call.
  if (++calls_ % kCallsBetweenLooks != 0 && calls_ > kCallsBetweenLooks) return;
  const steady_clock::time_point now = steady_clock::now();
  if (now - start_ < kSilence) return;
  if (shown_ && now - last_show_ < (terminal_ ? kBetweenBars : kBetweenLines)) return;
  last_show_ = now;
  show(false);
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  if (shown_ || steady_clock::now() - start_ >= kSilence) show(true);
}

void Progress::show(bool last) {
  shown_ = true;
  const double seconds = std::chrono::duration<double>(steady_clock::now() - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  std::string line = what_ + ": ";
  if (total_ != 0 && !last) {
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    if (terminal_) {
      const auto filled = static_cast<std::size_t>(share * kBarWidth);
      line += "[" + std::string(filled, '=') + std::string(kBarWidth - filled, ' ') + "] ";
    }
    char percent[16];
    std::snprintf(percent, sizeof percent, "%3.0f%% ", share * 100);
    line += percent;
  }
  line += short_count(static_cast<double>(done_));
  if (total_ != 0 && !last) line += "/" + short_count(static_cast<double>(total_));
  line += " " + unit_ + ", " + short_count(rate) + "/s";
  if (last) {
    line += ", " + duration(seconds);
  } else if (total_ > done_ && rate > 0) {
    line += ", " + duration(static_cast<double>(total_ - done_) / rate) + " left";
  }
  if (!note_.empty()) line += ", " + note_;
  if (sink_) {
    sink_(line);
    return;
  }
  if (terminal_) {
    line = "\r" + cut_to_width(line, terminal_width() - 1) + "\x1b[K";
    if (last) line += '\n';
  } else {
    line += '\n';
  }
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace askbase::base
