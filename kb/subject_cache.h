// The facts of subjects that were asked for lately, ready to be searched: a View's memory of what it has
// read.
//
// RocksDB needs microseconds to find a key even in memory; whoever asks for one fact of a subject is likely
// to ask for others of it. The cache is cut into shards by the subject's hash. A shard is a ring of entries,
// the oldest of which make room for new ones, and a hash table of where they stand. When the ring is full, a
// subject enters only if it was missed before, so that a scan of everything does not sweep the cache out.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kb/term.h"

namespace askbase::kb {

class SubjectCache {
 public:
  // bytes: at most, all together. Below a few kilobytes it keeps nothing.
  explicit SubjectCache(std::size_t bytes);
  ~SubjectCache();
  SubjectCache(const SubjectCache&) = delete;
  SubjectCache& operator=(const SubjectCache&) = delete;

  enum class Answer : std::uint8_t {
    yes,
    no,
    unknown,  // not cached
    large,    // too many facts to be cached
  };
  // A fact of a subject is written as its spo key without the subject: see kb/encoding.h.
  Answer contains(TermId subject, std::string_view fact) const;
  // Appends all facts of the subject, one after the other, in key order. yes: done.
  Answer copy(TermId subject, std::string& facts) const;

  // Whether the subject, which was just missed, would be kept.
  bool admits(TermId subject);
  // All facts of the subject. Above max_bytes the cache only remembers that there are so many.
  void insert(TermId subject, std::string_view facts);
  static constexpr std::size_t max_bytes = 16 << 10;

 private:
  struct Shard;
  Shard& shard(std::uint64_t hash) const;
  std::size_t shard_bytes_ = 0;  // 0: keeps nothing
  std::unique_ptr<Shard[]> shards_;
};

// The length of the fact that the bytes begin with.
inline std::size_t fact_length(const char* bytes) {
  const std::size_t predicate = 1 + (static_cast<unsigned char>(bytes[0]) & 15U);
  return predicate + 1 + (static_cast<unsigned char>(bytes[predicate]) & 15U);
}

}  // namespace askbase::kb
