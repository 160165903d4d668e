#include "reader/posting_runs.h"

#include <algorithm>

#include "kb/encoding.h"

namespace askbase::reader {
namespace {

constexpr std::size_t term_overhead = 128;  // of a list's place in the map, about
constexpr std::size_t read_bytes = 1 << 18;

void append(std::string& list, const Posting& posting) {
  kb::append_varint(list, posting.passage);
  kb::append_varint(list, posting.count);
  kb::append_varint(list, posting.length);
}

void read_list(std::string_view list, std::vector<Posting>& out) {
  std::uint64_t passage = 0, count = 0, length = 0;
  while (kb::read_varint(list, passage) && kb::read_varint(list, count) && kb::read_varint(list, length))
    out.push_back({static_cast<PassageNumber>(passage), static_cast<std::uint32_t>(count),
                   static_cast<std::uint32_t>(length)});
}

void by_passage(std::vector<Posting>& postings) {
  const auto less = [](const Posting& a, const Posting& b) { return a.passage < b.passage; };
  if (!std::is_sorted(postings.begin(), postings.end(), less))
    std::stable_sort(postings.begin(), postings.end(), less);
}

}  // namespace

base::Status PostingRuns::add(std::string_view term, const Posting& posting) {
  auto known = lists_.find(term);
  if (known == lists_.end()) {
    known = lists_.emplace(term, std::string()).first;
    used_ += term_overhead;
  }
  const std::size_t before = known->second.size();
  append(known->second, posting);
  used_ += known->second.size() - before;
  return used_ > limit_ ? write_run() : base::Status();
}

std::vector<const std::pair<const std::string, std::string>*> PostingRuns::sorted() const {
  std::vector<const std::pair<const std::string, std::string>*> all;
  all.reserve(lists_.size());
  for (const auto& entry : lists_) all.push_back(&entry);
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return all;
}

base::Status PostingRuns::write_run() {
  ASKBASE_ASSIGN(const std::filesystem::path folder, folder_());
  ASKBASE_ASSIGN(kb::RunFile file, kb::RunFile::create(folder));
  Run run{.file = std::move(file), .buffer = {}, .term = {}, .list = {}};
  std::string block;
  const auto flush = [&]() -> base::Status {
    ASKBASE_TRY(run.file.append(block.data(), block.size()));
    run.size += block.size();
    block.clear();
    return {};
  };
  for (const auto* entry : sorted()) {
    kb::append_varint(block, entry->first.size());
    block += entry->first;
    kb::append_varint(block, entry->second.size());
    block += entry->second;
    if (block.size() > read_bytes) ASKBASE_TRY(flush());
  }
  ASKBASE_TRY(flush());
  runs_.push_back(std::move(run));
  lists_.clear();
  used_ = 0;
  return {};
}

// Sees that the buffer holds so many bytes from `at` on, or all that are left.
base::Status PostingRuns::fill(Run& run, std::size_t least) {
  if (run.buffer.size() - run.at >= least || run.read == run.size) return {};
  run.buffer.erase(0, run.at);
  run.at = 0;
  const std::size_t have = run.buffer.size();
  const auto more = static_cast<std::size_t>(
      std::min<std::uint64_t>(run.size - run.read, std::max(least - have, read_bytes)));
  run.buffer.resize(have + more);
  ASKBASE_TRY(run.file.read(run.read, run.buffer.data() + have, more));
  run.read += more;
  return {};
}

base::Status PostingRuns::advance(Run& run) {
  constexpr std::size_t longest_varint = 10;
  for (std::string* part : {&run.term, &run.list}) {
    ASKBASE_TRY(fill(run, longest_varint));
    std::string_view rest = std::string_view(run.buffer).substr(run.at);
    std::uint64_t size = 0;
    if (!kb::read_varint(rest, size)) {
      run.ended = true;  // only at the end of the file: it is this process's own
      return {};
    }
    run.at = run.buffer.size() - rest.size();
    ASKBASE_TRY(fill(run, size));
    *part = run.buffer.substr(run.at, size);
    run.at += size;
  }
  return {};
}

base::Status PostingRuns::each(
    const std::function<base::Status(std::string_view, std::vector<Posting>&)>& visit) {
  if (!runs_.empty()) return each_merged(visit);
  std::vector<Posting> postings;
  for (const auto* entry : sorted()) {
    postings.clear();
    read_list(entry->second, postings);
    by_passage(postings);
    ASKBASE_TRY(visit(entry->first, postings));
  }
  return {};
}

base::Status PostingRuns::each_merged(
    const std::function<base::Status(std::string_view, std::vector<Posting>&)>& visit) {
  if (!lists_.empty()) ASKBASE_TRY(write_run());
  for (Run& run : runs_) ASKBASE_TRY(advance(run));
  std::vector<Posting> postings;
  std::string term;
  for (;;) {
    // Few runs: looking at all of them costs less than the bytes that follow.
    const Run* least = nullptr;
    for (const Run& run : runs_)
      if (!run.ended && (least == nullptr || run.term < least->term)) least = &run;
    if (least == nullptr) return {};
    term = least->term;
    postings.clear();
    for (Run& run : runs_) {
      if (run.ended || run.term != term) continue;
      read_list(run.list, postings);
      ASKBASE_TRY(advance(run));
    }
    by_passage(postings);
    ASKBASE_TRY(visit(term, postings));
  }
}

}  // namespace askbase::reader
