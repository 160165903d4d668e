// Postings on their way into the index: gathered by term, beyond a memory budget in sorted runs on disk
// (single pass in-memory indexing, Heinz & Zobel 2003). For the .cpp files of reader/. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kb/sorter.h"
#include "reader/passage_records.h"

namespace askbase::reader {

class PostingRuns {
 public:
  // folder: asked for when the first run is written.
  PostingRuns(std::size_t memory_bytes, std::function<base::Result<std::filesystem::path>()> folder)
      : limit_(memory_bytes), folder_(std::move(folder)) {}

  // A posting with count 0 takes the passage from the term's list.
  base::Status add(std::string_view term, const Posting& posting);
  // Calls visit for every term, ascending, with its postings by passage. Ends the gathering.
  base::Status each(const std::function<base::Status(std::string_view, std::vector<Posting>&)>& visit);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };
  struct Run {
    kb::RunFile file;
    std::uint64_t size = 0, read = 0;
    std::string buffer;
    std::size_t at = 0;
    std::string term, list;  // the entry that comes next
    bool ended = false;
  };
  std::vector<const std::pair<const std::string, std::string>*> sorted() const;
  base::Status write_run();
  static base::Status fill(Run& run, std::size_t least);
  static base::Status advance(Run& run);
  base::Status each_merged(const std::function<base::Status(std::string_view, std::vector<Posting>&)>& visit);

  std::size_t limit_, used_ = 0;
  std::function<base::Result<std::filesystem::path>()> folder_;
  std::unordered_map<std::string, std::string, Hash, Equal> lists_;
  std::vector<Run> runs_;
};

}  // namespace askbase::reader
