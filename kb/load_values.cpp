#include "kb/load_values.h"

#include <array>
#include <charconv>
#include <cstddef>

#include "base/text.h"

namespace askbase::kb {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string datatype(std::string_view name) { return std::string(iri::xsd) + std::string(name); }

// Full-width signs and the Unicode minus become ASCII; spaces that group digits become ' '.
std::string plain_signs(std::string_view text) {
  std::string out;
  bool ascii = true;
  for (const char c : text) ascii = ascii && (static_cast<unsigned char>(c) & 0x80) == 0;
  if (ascii) return std::string(text);
  for (const char32_t c : base::to_code_points(text)) {
    if (c >= 0xFF01 && c <= 0xFF5E) {
      out += static_cast<char>(c - 0xFF01 + '!');
    } else if (c == 0x2212) {
      out += '-';
    } else if (c == 0xA0 || c == 0x2009 || c == 0x202F || c == 0x3000) {
      out += ' ';
    } else {
      base::append_utf8(out, c);
    }
  }
  return out;
}

// Digits in groups of three after the first, all parted by the same sign. Empty when they are not.
std::string ungrouped(std::string_view digits, std::string_view separators) {
  const std::size_t first = digits.find_first_of(separators);
  if (first == std::string_view::npos) return std::string(digits);
  const char separator = digits[first];
  if (first == 0 || first > 3) return {};
  std::string out(digits.substr(0, first));
  digits.remove_prefix(first);
  while (!digits.empty()) {
    if (digits[0] != separator || digits.size() < 4) return {};
    out += digits.substr(1, 3);
    digits.remove_prefix(4);
  }
  return out;
}

bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return !text.empty();
}

// A small unsigned number of the given digits at the start of the text, removed from it.
std::optional<int> take_number(std::string_view& text, std::size_t least, std::size_t most) {
  std::size_t size = 0;
  while (size < text.size() && size < most && is_digit(text[size])) ++size;
  if (size < least || (size < text.size() && is_digit(text[size]))) return std::nullopt;
  int value = 0;
  std::from_chars(text.data(), text.data() + size, value);
  text.remove_prefix(size);
  return value;
}

bool take(std::string_view& text, std::string_view start) {
  if (text.substr(0, start.size()) != start) return false;
  text.remove_prefix(start.size());
  return true;
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

int days_in_month(int year, int month) {
  constexpr std::array<int, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

std::string padded(int value, std::size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// 1 to 12 for an English name of a month, or its first three letters, at the start; removed from the text.
int take_month(std::string_view& text) {
  constexpr std::array<std::string_view, 12> months = {"january",   "february", "march",    "april",
                                                       "may",       "june",     "july",     "august",
                                                       "september", "october",  "november", "december"};
  std::size_t size = 0;
  while (size < text.size() && is_letter(text[size])) ++size;
  std::string word(text.substr(0, size));
  for (char& c : word) c = static_cast<char>(c | 0x20);
  for (std::size_t i = 0; i < months.size(); ++i) {
    if (word == months[i] || word == months[i].substr(0, 3) || (word == "sept" && i == 8)) {
      text.remove_prefix(size);
      take(text, ".");
      return static_cast<int>(i) + 1;
    }
  }
  return 0;
}

struct Day {
  int year = 0, month = 0, day = 0;
};

bool exists(const Day& day) {
  return day.year >= 1 && day.month >= 1 && day.month <= 12 && day.day >= 1 &&
         day.day <= days_in_month(day.year, day.month);
}

// A time of day after the date: "10:30", "T10:30:05.5Z", "10:30:00 +08:00" -> "10:30:00". Empty text gives
// nothing; false when something else follows.
bool take_time(std::string_view& text, std::string& time) {
  if (text.empty()) return true;
  if (!take(text, "T") && text.front() != ' ') return false;
  skip_spaces(text);
  const auto hour = take_number(text, 1, 2);
  if (!hour || *hour > 23 || !take(text, ":")) return false;
  const auto minute = take_number(text, 2, 2);
  if (!minute || *minute > 59) return false;
  int second = 0;
  std::string fraction;
  if (take(text, ":")) {
    const auto read = take_number(text, 2, 2);
    if (!read || *read > 59) return false;
    second = *read;
    if (take(text, ".")) {
      while (!text.empty() && is_digit(text.front())) {
        fraction += text.front();
        text.remove_prefix(1);
      }
      if (fraction.empty()) return false;
      while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
    }
  }
  time = padded(*hour, 2) + ":" + padded(*minute, 2) + ":" + padded(second, 2);
  if (!fraction.empty()) time += "." + fraction;
  skip_spaces(text);
  if (take(text, "Z")) {
    time += "Z";
  } else if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    const char sign = text.front();
    text.remove_prefix(1);
    const auto zone_hour = take_number(text, 2, 4);  // "+08" or "+0800"
    if (!zone_hour) return false;
    int zone_minute = 0, hours = *zone_hour;
    if (hours > 99) {
      zone_minute = hours % 100;
      hours /= 100;
    } else if (take(text, ":")) {
      const auto read = take_number(text, 2, 2);
      if (!read) return false;
      zone_minute = *read;
    }
    if (hours > 14 || zone_minute > 59) return false;
    time += sign + padded(hours, 2) + ":" + padded(zone_minute, 2);
  }
  return text.empty();
}

std::optional<DateValue> finish(const Day& day, std::string_view rest, DateOrder told, bool needs_order) {
  if (!exists(day)) return std::nullopt;
  std::string time;
  if (!take_time(rest, time)) return std::nullopt;
  const std::string date = padded(day.year, 4) + "-" + padded(day.month, 2) + "-" + padded(day.day, 2);
  DateValue value;
  value.told = told;
  value.needs_order = needs_order;
  // Spreadsheets add a midnight that nobody wrote.
  if (time.empty() || time == "00:00:00") {
    value.literal = Term::literal(date, datatype("date"));
  } else {
    value.literal = Term::literal(date + "T" + time, datatype("dateTime"));
  }
  return value;
}

std::optional<DateValue> month_of_year(int year, int month) {
  if (month < 1 || month > 12 || year < 1) return std::nullopt;
  return DateValue{Term::literal(padded(year, 4) + "-" + padded(month, 2), datatype("gYearMonth")),
                   DateOrder::unknown, false};
}

std::optional<DateValue> whole_year(int year) {
  if (year < 1) return std::nullopt;
  return DateValue{Term::literal(padded(year, 4), datatype("gYear")), DateOrder::unknown, false};
}

// Year first, in figures: 2024-03-05, 2024/3/5, 2024.3.5, 2024-03, 2024, 2024年3月5日, 2024年3月, 2024年.
std::optional<DateValue> year_first(std::string_view text) {
  const auto year = take_number(text, 4, 4);
  if (!year) return std::nullopt;
  if (text.empty()) return whole_year(*year);
  if (take(text, "年")) {
    if (text.empty()) return whole_year(*year);
    const auto month = take_number(text, 1, 2);
    if (!month || !take(text, "月")) return std::nullopt;
    if (text.empty()) return month_of_year(*year, *month);
    const auto day = take_number(text, 1, 2);
    if (!day || (!take(text, "日") && !take(text, "号"))) return std::nullopt;
    return finish({*year, *month, *day}, text, DateOrder::unknown, false);
  }
  const char separator = text.front();
  if (separator != '-' && separator != '/' && separator != '.') return std::nullopt;
  text.remove_prefix(1);
  const auto month = take_number(text, 1, 2);
  if (!month) return std::nullopt;
  if (text.empty())
    return separator == '.' ? std::nullopt : month_of_year(*year, *month);  // 2024.12: a number
  if (text.front() != separator) return std::nullopt;
  text.remove_prefix(1);
  const auto day = take_number(text, 1, 2);
  if (!day) return std::nullopt;
  return finish({*year, *month, *day}, text, DateOrder::unknown, false);
}

// Year last, in figures: 05.03.2024, 3/5/2024, 3-5-2024.
std::optional<DateValue> year_last(std::string_view text, DateOrder order) {
  const auto first = take_number(text, 1, 2);
  if (!first || text.empty()) return std::nullopt;
  const char separator = text.front();
  if (separator != '-' && separator != '/' && separator != '.') return std::nullopt;
  text.remove_prefix(1);
  const auto second = take_number(text, 1, 2);
  if (!second || text.empty() || text.front() != separator) return std::nullopt;
  text.remove_prefix(1);
  const auto year = take_number(text, 4, 4);
  if (!year) return std::nullopt;
  DateOrder told = DateOrder::unknown;
  if (separator == '.' || *first > 12) told = DateOrder::day_first;
  if (separator != '.' && *second > 12) told = DateOrder::month_first;
  if (separator == '.') order = DateOrder::day_first;
  if (order == DateOrder::unknown) order = told;
  const bool month_first = order == DateOrder::month_first;
  return finish({*year, month_first ? *first : *second, month_first ? *second : *first}, text, told,
                separator != '.');
}

// 5 March 2024, 5th of March 2024, March 5, 2024, March 2024.
std::optional<DateValue> with_month_name(std::string_view text) {
  std::optional<int> day = take_number(text, 1, 2);
  const auto skip_ordinal = [&text] {
    for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
      if (take(text, ending)) break;
    }
  };
  if (day) skip_ordinal();
  skip_spaces(text);
  take(text, "of ");
  take(text, "-");
  const int month = take_month(text);
  if (month == 0) return std::nullopt;
  skip_spaces(text);
  take(text, "-");
  if (!day) {
    std::string_view ahead = text;
    if (const auto year = take_number(ahead, 4, 4); year && ahead.empty()) return month_of_year(*year, month);
    day = take_number(text, 1, 2);
    if (!day) return std::nullopt;
    skip_ordinal();
  }
  take(text, ",");
  skip_spaces(text);
  const auto year = take_number(text, 4, 4);
  if (!year) return std::nullopt;
  return finish({*year, month, *day}, text, DateOrder::unknown, false);
}

}  // namespace

std::optional<Term> parse_number(std::string_view text, NumberStyle style) {
  text = base::trim(text);
  if (text.empty() || text.size() > 64) return std::nullopt;
  const std::string plain = plain_signs(text);
  std::string_view rest = plain;
  std::string sign;
  if (take(rest, "-")) {
    sign = "-";
  } else {
    take(rest, "+");
  }
  const char point = style == NumberStyle::point ? '.' : ',';
  std::string exponent;
  if (const std::size_t at = rest.find_first_of("eE"); at != std::string_view::npos) {
    std::string_view digits = rest.substr(at + 1);
    exponent = "E";
    if (take(digits, "-")) {
      exponent += "-";
    } else {
      take(digits, "+");
    }
    if (!all_digits(digits) || digits.size() > 3) return std::nullopt;
    exponent += digits;
    rest = rest.substr(0, at);
  }
  const std::size_t at = rest.find(point);
  std::string_view fraction;
  if (at != std::string_view::npos) {
    fraction = rest.substr(at + 1);
    if (!all_digits(fraction)) return std::nullopt;
  }
  std::string whole = ungrouped(rest.substr(0, at), style == NumberStyle::point ? ", " : ". ");
  if (whole.empty() && at == 0) whole = "0";
  if (!all_digits(whole)) return std::nullopt;
  if (whole.size() > 1 && whole.front() == '0') return std::nullopt;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (whole == "0" && fraction.empty()) sign.clear();
  std::string lexical = sign + whole;
  if (!fraction.empty()) lexical += "." + std::string(fraction);
  if (!exponent.empty()) return Term::literal(lexical + exponent, datatype("double"));
  return Term::literal(lexical, datatype(at == std::string_view::npos ? "integer" : "decimal"));
}

std::optional<DateValue> parse_date(std::string_view text, DateOrder order) {
  text = base::trim(text);
  if (text.size() < 4 || text.size() > 64) return std::nullopt;
  const std::string plain = plain_signs(text);
  if (auto value = year_first(plain)) return value;
  if (auto value = year_last(plain, order)) return value;
  return with_month_name(plain);
}

std::optional<Term> parse_year(std::string_view text) {
  text = base::trim(text);
  if (text.size() != 4 || !all_digits(text)) return std::nullopt;
  int year = 0;
  std::from_chars(text.data(), text.data() + text.size(), year);
  if (year < 1000 || year > 2100) return std::nullopt;
  return Term::literal(std::string(text), datatype("gYear"));
}

bool is_placeholder(std::string_view text) {
  text = base::trim(text);
  for (const std::string_view none :
       {"-",    "--",      "—",       "——",  "–",    "/",    "?",    "N/A",  "n/a",
        "#N/A", "NA",      "NaN",     "nan", "null", "NULL", "Null", "None", "none",
        "nil",  "unknown", "Unknown", "无",  "暂无", "未知", "不详", "空",   "\\N"}) {
    if (text == none) return true;
  }
  return false;
}

bool valid_lexical(std::string_view lexical, std::string_view type) {
  if (type.substr(0, iri::xsd.size()) != iri::xsd) return true;
  type.remove_prefix(iri::xsd.size());
  const auto unsigned_part = [&] {
    std::string_view rest = lexical;
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
    return rest;
  };
  if (type == "integer") return all_digits(unsigned_part());
  if (type == "boolean") return lexical == "true" || lexical == "false" || lexical == "1" || lexical == "0";
  if (type == "decimal" || type == "double" || type == "float") {
    std::string_view rest = unsigned_part();
    if (type != "decimal") {
      if (lexical == "INF" || lexical == "-INF" || lexical == "NaN") return true;
      if (const std::size_t e = rest.find_first_of("eE"); e != std::string_view::npos) {
        std::string_view digits = rest.substr(e + 1);
        if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) digits.remove_prefix(1);
        if (!all_digits(digits)) return false;
        rest = rest.substr(0, e);
      }
    }
    const std::size_t point = rest.find('.');
    if (point == std::string_view::npos) return all_digits(rest);
    const std::string_view whole = rest.substr(0, point), fraction = rest.substr(point + 1);
    if (whole.empty() && fraction.empty()) return false;
    return (whole.empty() || all_digits(whole)) && (fraction.empty() || all_digits(fraction));
  }
  if (type == "gYear" || type == "date" || type == "gYearMonth" || type == "dateTime") {
    std::string_view rest = lexical;
    take(rest, "-");
    const std::size_t digits = rest.find_first_not_of("0123456789");
    const std::string_view year = rest.substr(0, digits);
    if (year.size() < 4 || year.size() > 9) return false;
    if (type == "gYear") return digits == std::string_view::npos;
    rest.remove_prefix(year.size());
    // The calendar repeats every 400 years: a year of four digits stands for any other.
    int number = 0;
    std::from_chars(year.data(), year.data() + year.size(), number);
    const std::string stand_in = padded(number % 400 + 2000, 4) + std::string(rest);
    if (type == "gYearMonth")
      return rest.size() == 3 && rest.front() == '-' && parse_date(stand_in, {}).has_value();
    if (rest.size() < 6 || rest[0] != '-' || rest[3] != '-') return false;
    if (type == "date" && rest.size() != 6) return false;
    if (type == "dateTime" && (rest.size() < 15 || rest[6] != 'T' || rest[9] != ':' || rest[12] != ':'))
      return false;
    return parse_date(stand_in, {}).has_value();
  }
  return true;
}

}  // namespace askbase::kb
