#include "kb/subject_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace askbase::kb {

namespace {

constexpr std::size_t shard_count = 64;
constexpr std::size_t entry_bytes_guess = 64;  // what a subject takes, for the size of the hash table
constexpr std::uint32_t large_mark = UINT32_MAX;
constexpr std::uint32_t linear_facts = 16;  // up to here facts are compared one by one

// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t hash_of(TermId id) {
  std::uint64_t x = id.bits + 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// An entry of the ring: this, the facts' bytes, and for more than linear_facts of them their offsets (16 bits
// each). Entries start at multiples of eight.
struct Header {
  std::uint64_t subject;  // 0: a gap up to the ring's end
  std::uint32_t bytes;    // of the facts
  std::uint32_t count;    // of the facts; large_mark: too many
};

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::size_t entry_size(std::size_t bytes, std::uint32_t count) {
  const bool listed = count > linear_facts && count != large_mark;
  return round_up(sizeof(Header) + round_up(bytes, 2) + (listed ? count * sizeof(std::uint16_t) : 0), 8);
}

// Pages that come into being when touched; large ones, for the processor's sake.
class Pages {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  bool allocate(std::size_t size) {
    void* const data =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return false;
    ::madvise(data, size, MADV_HUGEPAGE);
    data_ = static_cast<char*>(data);
    size_ = size;
    return true;
  }
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

// Readers of a shard lock one of several mutexes, each thread its own one as long as there are few threads,
// so that two of them do not send a cache line to and fro with every look-up; a writer locks all.
struct alignas(64) SubjectCache::Shard {
  struct Slot {
    std::uint32_t hash;
    std::uint32_t place;  // in the ring, in units of eight bytes, and one; 0: empty
  };

  struct alignas(64) ReaderLock {
    std::mutex mutex;
  };
  std::array<ReaderLock, 8> locks;
  Pages pages;
  Slot* slots = nullptr;            // open addressing
  std::uint16_t* missed = nullptr;  // marks of subjects that were missed, by hash
  char* ring = nullptr;
  std::size_t slot_mask = 0, ring_bytes = 0;
  std::size_t head = 0, tail = 0,
              used = 0;  // entries stand from tail to head; used: their bytes, gaps included
  std::size_t entries = 0;
  bool full = false;  // an entry has had to go

  std::mutex& reader() {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t own = threads.fetch_add(1, std::memory_order_relaxed);
    return locks[own % locks.size()].mutex;
  }
  void lock() {
    for (ReaderLock& each : locks) each.mutex.lock();
  }
  void unlock() {
    for (ReaderLock& each : locks) each.mutex.unlock();
  }

  void open(std::size_t bytes) {
    const std::size_t wanted_slots = std::bit_floor(std::max<std::size_t>(16, bytes / entry_bytes_guess));
    const std::size_t table = wanted_slots * (sizeof(Slot) + sizeof(std::uint16_t));
    if (bytes < table + 2 * entry_size(max_bytes, max_bytes / 2) || !pages.allocate(bytes)) return;
    slots = reinterpret_cast<Slot*>(pages.data());
    missed = reinterpret_cast<std::uint16_t*>(slots + wanted_slots);
    ring = pages.data() + round_up(table, 64);
    ring_bytes = (bytes - round_up(table, 64)) / 8 * 8;
    slot_mask = wanted_slots - 1;
  }

  Header& at(std::size_t place) const { return *reinterpret_cast<Header*>(ring + place); }

  const Header* find(TermId subject, std::uint64_t hash) const {
    for (std::size_t i = hash & slot_mask; slots[i].place != 0; i = (i + 1) & slot_mask) {
      if (slots[i].hash != static_cast<std::uint32_t>(hash)) continue;
      const Header& entry = at((std::size_t{slots[i].place} - 1) * 8);
      if (entry.subject == subject.bits) return &entry;
    }
    return nullptr;
  }

  // Takes the entry's slot out and moves later ones of its run up (Knuth, volume 3, 6.4, algorithm R).
  void erase_slot(std::size_t place) {
    const Header& entry = at(place);
    std::size_t i = hash_of(TermId{entry.subject}) & slot_mask;
    while (slots[i].place != place / 8 + 1) i = (i + 1) & slot_mask;
    for (std::size_t j = (i + 1) & slot_mask; slots[j].place != 0; j = (j + 1) & slot_mask) {
      const std::size_t home = slots[j].hash & slot_mask;
      if (((j - home) & slot_mask) < ((j - i) & slot_mask)) continue;
      slots[i] = slots[j];
      i = j;
    }
    slots[i].place = 0;
    --entries;
  }

  void drop_oldest() {
    const Header& entry = at(tail);
    const std::size_t size = entry.subject == 0 ? ring_bytes - tail : entry_size(entry.bytes, entry.count);
    if (entry.subject != 0) erase_slot(tail);
    tail = (tail + size) % ring_bytes;
    used -= size;
    full = true;
  }

  // A place for an entry of this size, in one piece.
  std::size_t make_room(std::size_t size) {
    while (entries * 4 > slot_mask * 3) drop_oldest();
    if (ring_bytes - head < size) {
      const std::size_t gap = ring_bytes - head;
      while (ring_bytes - used < gap) drop_oldest();
      at(head).subject = 0;  // (a gap may have room for no more of a header)
      used += gap;
      head = 0;
    }
    while (ring_bytes - used < size) drop_oldest();
    const std::size_t place = head;
    head = (head + size) % ring_bytes;
    used += size;
    return place;
  }
};

SubjectCache::SubjectCache(std::size_t bytes) : shards_(std::make_unique<Shard[]>(shard_count)) {
  const std::size_t each = std::min<std::size_t>(bytes / shard_count, std::size_t{1} << 34);
  for (std::size_t i = 0; i < shard_count; ++i) {
    shards_[i].open(each);
    if (shards_[i].ring == nullptr) return;  // too small, or no memory: all stay unused
  }
  shard_bytes_ = each;
}

SubjectCache::~SubjectCache() = default;

SubjectCache::Shard& SubjectCache::shard(std::uint64_t hash) const { return shards_[hash >> 58]; }

SubjectCache::Answer SubjectCache::contains(TermId subject, std::string_view fact) const {
  if (shard_bytes_ == 0) return Answer::unknown;
  const std::uint64_t hash = hash_of(subject);
  Shard& shard = this->shard(hash);
  const std::lock_guard<std::mutex> guard(shard.reader());
  const Header* const entry = shard.find(subject, hash);
  if (entry == nullptr) return Answer::unknown;
  if (entry->count == large_mark) return Answer::large;
  const char* const facts = reinterpret_cast<const char*>(entry + 1);
  if (entry->count <= linear_facts) {
    for (const char *at = facts, *end = facts + entry->bytes; at != end;) {
      const std::size_t length = fact_length(at);
      if (length == fact.size() && std::memcmp(at, fact.data(), length) == 0) return Answer::yes;
      at += length;
    }
    return Answer::no;
  }
  const auto* const offsets = reinterpret_cast<const std::uint16_t*>(facts + round_up(entry->bytes, 2));
  const auto* const place = std::lower_bound(
      offsets, offsets + entry->count, fact, [&](std::uint16_t offset, std::string_view wanted) {
        return std::string_view(facts + offset, fact_length(facts + offset)) < wanted;
      });
  if (place == offsets + entry->count) return Answer::no;
  return std::string_view(facts + *place, fact_length(facts + *place)) == fact ? Answer::yes : Answer::no;
}

SubjectCache::Answer SubjectCache::copy(TermId subject, std::string& facts) const {
  if (shard_bytes_ == 0) return Answer::unknown;
  const std::uint64_t hash = hash_of(subject);
  Shard& shard = this->shard(hash);
  const std::lock_guard<std::mutex> guard(shard.reader());
  const Header* const entry = shard.find(subject, hash);
  if (entry == nullptr) return Answer::unknown;
  if (entry->count == large_mark) return Answer::large;
  facts.append(reinterpret_cast<const char*>(entry + 1), entry->bytes);
  return Answer::yes;
}

bool SubjectCache::admits(TermId subject) {
  if (shard_bytes_ == 0) return false;
  const std::uint64_t hash = hash_of(subject);
  Shard& shard = this->shard(hash);
  const std::lock_guard<Shard> guard(shard);
  if (!shard.full) return true;
  std::uint16_t& mark = shard.missed[hash & shard.slot_mask];
  const auto own = static_cast<std::uint16_t>(hash >> 40 | 1);
  if (mark == own) return true;
  mark = own;
  return false;
}

void SubjectCache::insert(TermId subject, std::string_view facts) {
  if (shard_bytes_ == 0) return;
  std::uint32_t count = 0;
  std::vector<std::uint16_t> offsets;
  if (facts.size() > max_bytes) {
    count = large_mark;
    facts = {};
  } else {
    for (std::size_t at = 0; at < facts.size(); at += fact_length(facts.data() + at)) {
      offsets.push_back(static_cast<std::uint16_t>(at));
      ++count;
    }
    if (count <= linear_facts) offsets.clear();
  }
  const std::uint64_t hash = hash_of(subject);
  Shard& shard = this->shard(hash);
  const std::lock_guard<Shard> guard(shard);
  if (shard.find(subject, hash) != nullptr) return;  // another thread was first
  const std::size_t place = shard.make_room(entry_size(facts.size(), count));
  Header& entry = shard.at(place);
  entry = {subject.bits, static_cast<std::uint32_t>(facts.size()), count};
  char* const bytes = reinterpret_cast<char*>(&entry + 1);
  std::memcpy(bytes, facts.data(), facts.size());
  if (!offsets.empty())
    std::memcpy(bytes + round_up(facts.size(), 2), offsets.data(), offsets.size() * sizeof(std::uint16_t));
  std::size_t i = hash & shard.slot_mask;
  while (shard.slots[i].place != 0) i = (i + 1) & shard.slot_mask;
  shard.slots[i] = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(place / 8 + 1)};
  ++shard.entries;
}

}  // namespace askbase::kb
