// Numbers and dates as people write them, and the lexical forms of XML Schema. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kb/term.h"

namespace askbase::kb {

// 1,234.5 or 1.234,5 ("4.000" and "4,000" are told apart by the other values of a column).
enum class NumberStyle : std::uint8_t { point, comma };

// "1234", "1,234", "-3.50", "１２", "1 234", "2e6" -> a literal in canonical form: xsd:integer, xsd:decimal
// or xsd:double. Nothing for anything else, among it codes with leading zeros ("007").
std::optional<Term> parse_number(std::string_view text, NumberStyle style);

enum class DateOrder : std::uint8_t { unknown, day_first, month_first };

struct DateValue {
  Term literal;  // xsd:date, xsd:dateTime, xsd:gYearMonth or xsd:gYear
  // What the writing tells of the order of day and month: unknown when it leaves it open ("3/5/2024") or
  // needs none ("2024-03-05").
  DateOrder told = DateOrder::unknown;
  bool needs_order = false;  // written with the year last, in figures
};

// "2024-03-05", "2024/3/5", "2024.3.5", "2024年3月5日", "05.03.2024" (day first), "3/5/2024" and "3-5-2024"
// (by the order; unknown: as if day first), "5 March 2024", "March 5, 2024", with a time of day after most of
// them, "2024-03", "2024年3月", "2024年", "2024". Nothing for anything else, and for days that no calendar
// has.
std::optional<DateValue> parse_date(std::string_view text, DateOrder order);

// A year of four digits from 1000 to 2100.
std::optional<Term> parse_year(std::string_view text);

// Stands for "no value": "N/A", "-", "—", "null", "无", ...
bool is_placeholder(std::string_view text);

// Whether the lexical form is one of the datatype, for the common datatypes of XML Schema; true for others.
bool valid_lexical(std::string_view lexical, std::string_view datatype);

}  // namespace askbase::kb
