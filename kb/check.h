// What the parts of check() share. For the .cpp files of kb/.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kb/store.h"

namespace askbase::kb {

// A set of entries as one number, whatever their order: equal tallies, equal sets (but for a chance of
// 2^-64).
class Tally {
 public:
  void add(std::string_view key, std::string_view value = {}) {
    const std::uint64_t hash = std::hash<std::string_view>{}(key),
                        other = std::hash<std::string_view>{}(value);
    sum_ += mix(hash ^ mix(other));
    ++count_;
  }
  std::uint64_t count() const { return count_; }
  bool operator==(const Tally&) const = default;

 private:
  // The finaliser of splitmix64 (Steele, Lea, Flood 2014).
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }
  std::uint64_t sum_ = 0, count_ = 0;
};

class Problems {
 public:
  explicit Problems(CheckReport& report) : report_(report) {}
  void add(std::string problem) {
    constexpr std::size_t most = 100;
    if (report_.problems.size() < most) report_.problems.push_back(std::move(problem));
  }
  std::size_t count() const { return report_.problems.size(); }

 private:
  CheckReport& report_;
};

// The four tables of names against the facts and against each other; counts the names. Errors: as View's.
base::Status check_names(const View& view, CheckReport& report);

}  // namespace askbase::kb
