// Progress of long work: a bar on a terminal, a plain line every few seconds elsewhere, nothing for work
// that ends within a second. Writes to standard error.
//
// A Progress belongs to one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace askbase::base {

class Progress {
 public:
  // Called with finished lines instead of writing to standard error (a server passes them to its client).
  using Sink = std::function<void(const std::string&)>;
  // total 0: unknown. unit: "facts", "bytes", ...
  Progress(std::string what, std::uint64_t total, std::string unit, Sink sink = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Absolute position; cheap enough for every item (looks at the clock every few thousand calls).
  void update(std::uint64_t done);
  // Words for the end of the line, from the next time it is shown ("loss 0.31").
  void note(std::string words) { note_ = std::move(words); }
  void finish();

 private:
  void show(bool last);
  std::string what_, unit_, note_;
  std::uint64_t total_, done_ = 0, calls_ = 0;
  Sink sink_;
  bool terminal_ = false, shown_ = false, finished_ = false;
  std::chrono::steady_clock::time_point start_, last_show_;
};

}  // namespace askbase::base
