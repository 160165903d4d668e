// Reading on one thread while another one takes what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/fact_sink.h"
#include "kb/load.h"

namespace askbase::kb {

// What was wrong in a load, over all its files. Used by one thread at a time.
struct BadLines {
  static constexpr std::size_t max_kept = 20;
  bool tolerated = false;  // otherwise the first one ends the load
  std::uint64_t count = 0;
  std::vector<BadLine> first;

  base::Status add(const std::string& file, std::uint64_t line, std::string_view reason);
};

struct PipeOptions {
  std::size_t threads = 2;        // 1: reads and takes in turns
  std::string file;               // for messages
  std::function<void()> on_fact;  // called by the reading thread for each fact: progress
};

// Calls read(sink) on a thread of its own and take(fact) for every fact on this one, in order. Facts that the
// KB cannot hold (U+0000 in them, terms over 16 MiB) are bad lines. Ends with the first error of either side;
// error cancelled after Ctrl-C.
base::Status pipe_facts(const PipeOptions& options, BadLines& bad,
                        const std::function<base::Status(FactSink&)>& read,
                        const std::function<base::Status(const Fact&)>& take);

}  // namespace askbase::kb
