// What the values of one column look like, gathered over all rows: numbers, dates, IRIs, how long, how many
// different ones. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace askbase::kb {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// Values longer than this (code points) are texts; shorter ones may be names of things.
inline constexpr std::size_t longest_name = 60;

class ColumnProfile {
 public:
  // A value that is not empty, without white space at its ends.
  void add(std::string_view value);

  std::uint64_t filled() const { return filled_; }
  // Values that mean something (see is_placeholder).
  std::uint64_t meant() const { return filled_ - placeholders_; }
  std::uint64_t placeholders() const { return placeholders_; }
  // Different values, counted up to max_distinct; share: of the values looked at until there were more.
  std::uint64_t distinct() const { return values_.size(); }
  double distinct_share() const;
  bool all_distinct_kept() const { return !overflow_; }
  // The values and how often each stands there among those looked at (above 240 bytes under a hash).
  const TextMap<std::uint32_t>& values() const { return values_; }

  // How many of the values can be read so. Percentages are not among the numbers.
  std::uint64_t numbers_point = 0, numbers_comma = 0, percents_point = 0, percents_comma = 0;
  std::uint64_t codes = 0;  // digits with a leading zero
  std::uint64_t years = 0;  // four digits from 1000 to 2100
  std::uint64_t dates = 0;  // of any kind, years included
  std::uint64_t dates_with_month = 0;
  std::uint64_t written_years = 0;  // "2024年"
  // Of the dates that leave the order of day and month open in principle.
  std::uint64_t day_first = 0, month_first = 0, order_open = 0;
  std::uint64_t iris = 0;
  std::uint64_t long_values = 0;  // above longest_name
  std::uint64_t listed = 0;       // with one of ; | 、 ； inside

  static constexpr std::size_t max_distinct = 50'000;

 private:
  void test_number(std::string_view value);
  void test_date(std::string_view value);

  std::uint64_t filled_ = 0, placeholders_ = 0, looked_at_ = 0;
  bool overflow_ = false;
  TextMap<std::uint32_t> values_;
};

}  // namespace askbase::kb
