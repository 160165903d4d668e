#include "kb/table_profile.h"

#include <algorithm>

#include "base/text.h"
#include "kb/load_names.h"
#include "kb/load_values.h"

namespace askbase::kb {
namespace {

// After this many values a test that hardly any of them passes is given up.
constexpr std::uint64_t kTrial = 2000;
constexpr std::size_t kMaxKept = 240;

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_percent(std::string_view value) {
  for (const std::string_view sign : {"%", "％"}) {
    if (value.ends_with(sign)) return base::trim(value.substr(0, value.size() - sign.size()));
  }
  return {};
}

}  // namespace

double ColumnProfile::distinct_share() const {
  return looked_at_ == 0 ? 0 : static_cast<double>(values_.size()) / static_cast<double>(looked_at_);
}

void ColumnProfile::test_number(std::string_view value) {
  if (value.size() > 1 && value.front() == '0' &&
      std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    ++codes;
    return;
  }
  const std::string_view percent = without_percent(value);
  const std::string_view number = percent.empty() ? value : percent;
  if (parse_number(number, NumberStyle::point)) ++(percent.empty() ? numbers_point : percents_point);
  if (parse_number(number, NumberStyle::comma)) ++(percent.empty() ? numbers_comma : percents_comma);
  if (parse_year(value)) ++years;
}

void ColumnProfile::test_date(std::string_view value) {
  const auto date = parse_date(value, DateOrder::unknown);
  // A first number above 12 makes it a date in one order only; the other order is not one of the calendar.
  if (!date) return;
  ++dates;
  const bool year_only = date->literal.datatype == std::string(iri::xsd) + "gYear";
  if (!year_only) {
    ++dates_with_month;
  } else if (value.ends_with("年")) {
    ++written_years;
  }
  if (!date->needs_order) return;
  if (date->told == DateOrder::day_first) {
    ++day_first;
  } else if (date->told == DateOrder::month_first) {
    ++month_first;
  } else {
    ++order_open;
  }
}

void ColumnProfile::add(std::string_view value) {
  ++filled_;
  if (is_placeholder(value)) {
    ++placeholders_;
    return;
  }
  const bool trial = meant() <= kTrial;
  const bool digits =
      has_digit(value) || value.find("\xEF\xBC") != std::string_view::npos;  // full-width ones
  if (digits) {
    if (trial || 2 * std::max(numbers_point + percents_point, numbers_comma + percents_comma) > meant()) {
      test_number(value);
    }
    if (trial || 2 * dates > meant()) test_date(value);
  }
  if (looks_like_iri(value)) ++iris;
  if (value.size() > longest_name && base::count_code_points(value) > longest_name) ++long_values;
  for (const std::string_view sign : {";", "|", "、", "；"}) {
    if (const std::size_t at = value.find(sign);
        at != std::string_view::npos && at > 0 && at + sign.size() < value.size()) {
      ++listed;
      break;
    }
  }
  // With more different values than are kept, how often the kept ones come again tells nothing new.
  if (overflow_) return;
  ++looked_at_;
  std::string hashed;
  if (value.size() > kMaxKept) {
    hashed = "#" + std::to_string(std::hash<std::string_view>()(value));
    value = hashed;
  }
  if (const auto known = values_.find(value); known != values_.end()) {
    ++known->second;
  } else if (values_.size() < max_distinct) {
    values_.emplace(value, 1);
  } else {
    overflow_ = true;
  }
}

}  // namespace askbase::kb
