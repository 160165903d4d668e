// Sorting more records than memory holds: sorted runs in temporary files, merged on the way out.
//
// An Order names a trivially copyable Record and the words (64-bit numbers) it is sorted by:
//   struct Order { using Record = ...; static constexpr unsigned words = 3;
//                  static std::uint64_t word(const Record&, unsigned i); };
// For the .cpp files of kb/. One thread uses a Sorter; sorting itself may take more.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/result.h"

namespace askbase::kb {

// A temporary file without a name: it is gone when the process is. Errors: io.
class RunFile {
 public:
  static base::Result<RunFile> create(const std::filesystem::path& folder);
  RunFile(RunFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RunFile& operator=(RunFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;
  ~RunFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  base::Status append(const void* data, std::size_t size);
  base::Status read(std::uint64_t offset, void* data, std::size_t size) const;

 private:
  explicit RunFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

template <typename Order>
bool record_less(const typename Order::Record& a, const typename Order::Record& b) {
  for (unsigned i = 0; i < Order::words; ++i) {
    const std::uint64_t x = Order::word(a, i), y = Order::word(b, i);
    if (x != y) return x < y;
  }
  return false;
}

// In-place radix sort from the most significant byte that differs ("American flag sort", McIlroy, Bostic and
// McIlroy 1993), over the words from `word` on, in which the records may differ.
template <typename Order>
class RadixSort {
 public:
  using Record = typename Order::Record;

  static void sort(Record* begin, Record* end, std::size_t threads) {
    std::array<Record*, buckets + 1> bounds;
    unsigned word = 0;
    if (threads < 2 || end - begin < min_parallel || !partition(begin, end, word, bounds))
      return sort_from(begin, end, 0);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < buckets; i = next++) sort_from(bounds[i], bounds[i + 1], word);
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }

 private:
  static constexpr std::size_t buckets = 256;
  static constexpr std::ptrdiff_t min_radix = 64, min_parallel = 1 << 16;

  // Orders the records by the highest eight bits that differ; false when all are equal.
  static bool partition(Record* begin, Record* end, unsigned& word,
                        std::array<Record*, buckets + 1>& bounds) {
    std::uint64_t differing = 0;
    for (;; ++word) {
      if (word == Order::words) return false;
      const std::uint64_t first = Order::word(*begin, word);
      for (const Record* r = begin; r != end; ++r) differing |= Order::word(*r, word) ^ first;
      if (differing != 0) break;
    }
    const int shift = std::max(0, static_cast<int>(std::bit_width(differing)) - 8);
    const auto digit = [&](const Record& r) {
      return static_cast<std::uint8_t>(Order::word(r, word) >> shift);
    };
    std::array<std::size_t, buckets> counts = {};
    for (const Record* r = begin; r != end; ++r) ++counts[digit(*r)];
    std::array<Record*, buckets> heads;
    bounds[0] = begin;
    for (std::size_t i = 0; i < buckets; ++i) {
      heads[i] = bounds[i];
      bounds[i + 1] = bounds[i] + counts[i];
    }
    for (std::size_t i = 0; i < buckets; ++i) {
      while (heads[i] != bounds[i + 1]) {
        Record moving = *heads[i];
        for (std::uint8_t d = digit(moving); d != i; d = digit(moving)) std::swap(moving, *heads[d]++);
        *heads[i]++ = moving;
      }
    }
    return true;
  }

  static void sort_from(Record* begin, Record* end, unsigned word) {
    if (end - begin < min_radix) {
      std::sort(begin, end, record_less<Order>);
      return;
    }
    std::array<Record*, buckets + 1> bounds;
    if (!partition(begin, end, word, bounds)) return;
    for (std::size_t i = 0; i < buckets; ++i)
      if (bounds[i + 1] - bounds[i] > 1) sort_from(bounds[i], bounds[i + 1], word);
  }
};

template <typename Order>
class Sorter {
 public:
  using Record = typename Order::Record;
  static_assert(std::is_trivially_copyable_v<Record>);

  // memory_bytes: of records kept in memory. folder: asked for when the first run is written.
  Sorter(std::size_t memory_bytes, std::size_t threads,
         std::function<base::Result<std::filesystem::path>()> folder)
      : limit_(std::max<std::size_t>(memory_bytes / sizeof(Record), min_records)),
        threads_(threads),
        folder_(std::move(folder)) {}

  base::Status add(const Record& record) {
    if (records_.size() == records_.capacity()) ASKBASE_TRY(make_room());
    records_.push_back(record);
    return {};
  }
  std::uint64_t size() const { return spilled_ + records_.size(); }
  std::size_t memory() const { return records_.size() * sizeof(Record); }

  // Ends adding; next() then gives the records in order.
  base::Status finish() {
    if (runs_.empty()) {
      RadixSort<Order>::sort(records_.data(), records_.data() + records_.size(), threads_);
      return {};
    }
    ASKBASE_TRY(write_run());
    records_ = {};
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      ASKBASE_TRY(fill(runs_[i]));
      heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), later());
    return {};
  }

  // False at the end, and on an error (see status()).
  bool next(Record& record) {
    if (!runs_.empty()) return next_merged(record);
    if (at_ == records_.size()) return false;
    record = records_[at_++];
    if (at_ % release_records == 0) release();
    return true;
  }
  const base::Status& status() const { return status_; }

 private:
  static constexpr std::size_t min_records = 64;
  static constexpr std::size_t small_records = 1 << 18;
  static constexpr std::size_t release_records = 1 << 19;
  static constexpr std::size_t read_records = (1 << 20) / sizeof(Record);

  struct Run {
    RunFile file;
    std::uint64_t records = 0, read = 0;
    std::vector<Record> buffer;
    std::size_t at = 0;
  };

  auto later() {
    return [this](std::size_t a, std::size_t b) {
      return record_less<Order>(runs_[b].buffer[runs_[b].at], runs_[a].buffer[runs_[a].at]);
    };
  }

  base::Status make_room() {
    if (records_.size() < limit_) {
      // Past a small size the whole budget is set aside at once: untouched pages cost nothing, and growing by
      // copying would need the memory twice.
      records_.reserve(records_.size() < small_records
                           ? std::min(limit_, std::max<std::size_t>(64, records_.size() * 2))
                           : limit_);
      return {};
    }
    return write_run();
  }

  base::Status write_run() {
    if (records_.empty()) return {};
    RadixSort<Order>::sort(records_.data(), records_.data() + records_.size(), threads_);
    ASKBASE_ASSIGN(const std::filesystem::path folder, folder_());
    ASKBASE_ASSIGN(RunFile file, RunFile::create(folder));
    ASKBASE_TRY(file.append(records_.data(), records_.size() * sizeof(Record)));
    runs_.push_back(Run{std::move(file), records_.size(), 0, {}, 0});
    spilled_ += records_.size();
    records_.clear();
    return {};
  }

  static base::Status fill(Run& run) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(read_records, run.records - run.read));
    run.buffer.resize(count);
    run.at = 0;
    ASKBASE_TRY(run.file.read(run.read * sizeof(Record), run.buffer.data(), count * sizeof(Record)));
    run.read += count;
    return {};
  }

  bool next_merged(Record& record) {
    if (heap_.empty() || !status_) return false;
    std::pop_heap(heap_.begin(), heap_.end(), later());
    Run& run = runs_[heap_.back()];
    record = run.buffer[run.at++];
    if (run.at == run.buffer.size() && run.read < run.records) status_ = fill(run);
    if (!status_) return false;
    if (run.at == run.buffer.size())
      heap_.pop_back();
    else
      std::push_heap(heap_.begin(), heap_.end(), later());
    return true;
  }

  // Gives the pages of records that have been passed back to the system: what follows needs memory, too.
  void release() {
    constexpr std::uintptr_t page = 4096;
    const auto from =
        (reinterpret_cast<std::uintptr_t>(records_.data() + at_ - release_records) + page - 1) / page * page;
    const auto to = reinterpret_cast<std::uintptr_t>(records_.data() + at_) / page * page;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): whole pages inside the vector's own memory
    if (to > from) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  }

  std::size_t limit_, threads_;
  std::function<base::Result<std::filesystem::path>()> folder_;
  std::vector<Record> records_;
  std::size_t at_ = 0;
  std::uint64_t spilled_ = 0;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;
  base::Status status_;
};

}  // namespace askbase::kb
