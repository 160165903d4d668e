// A set of 64-bit hashes in one flat array: 16 bytes or less an entry, where std::unordered_set takes 40.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace askbase::kb {

// FNV-1a with a final mix, so that the low bits are as good as the high ones.
inline std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  hash ^= hash >> 32;
  return hash * 0x9e3779b97f4a7c15ULL;
}

class HashSet {
 public:
  // True when it was not there.
  bool insert(std::uint64_t hash) {
    hash += hash == 0 ? 1 : 0;  // 0 marks free places
    if (2 * (size_ + 1) > places_.size()) grow();
    std::uint64_t& place = find(hash);
    if (place == hash) return false;
    place = hash;
    ++size_;
    return true;
  }
  bool contains(std::uint64_t hash) const {
    hash += hash == 0 ? 1 : 0;
    return !places_.empty() && const_cast<HashSet*>(this)->find(hash) == hash;
  }
  std::size_t size() const { return size_; }

 private:
  std::uint64_t& find(std::uint64_t hash) {
    std::size_t at = (hash >> 17) & (places_.size() - 1);
    while (places_[at] != 0 && places_[at] != hash) at = (at + 1) & (places_.size() - 1);
    return places_[at];
  }
  void grow() {
    std::vector<std::uint64_t> old(places_.empty() ? 64 : 2 * places_.size());
    old.swap(places_);
    for (const std::uint64_t hash : old) {
      if (hash != 0) find(hash) = hash;
    }
  }

  std::vector<std::uint64_t> places_;  // a power of two of them, at most half full
  std::size_t size_ = 0;
};

}  // namespace askbase::kb
