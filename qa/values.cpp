// Numbers, dates and plurals as people write them.
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

#include "qa/wording.h"

namespace askbase::qa {
namespace {

constexpr std::array<std::string_view, 12> months = {"January",   "February", "March",    "April",
                                                     "May",       "June",     "July",     "August",
                                                     "September", "October",  "November", "December"};

bool all_digits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

int to_int(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string plural_of_word(std::string_view word) {
  std::string out(word);
  const auto ends = [&](std::string_view end) { return word.ends_with(end); };
  if (word.empty() || (ends("s") && !ends("ss") && !ends("us") && !ends("is"))) return out;
  if (ends("person")) return out.replace(out.size() - 6, 6, "people");
  const bool vowel_y =
      word.size() > 1 && std::string_view("aeiou").find(word[word.size() - 2]) != std::string_view::npos;
  if (ends("y") && !vowel_y) return out.replace(out.size() - 1, 1, "ies");
  if (ends("s") || ends("x") || ends("ch") || ends("sh")) return out + "es";
  return out + "s";
}

}  // namespace

std::string group_digits(std::string_view number) {
  const bool negative = number.starts_with('-');
  const std::string_view digits = number.substr(negative ? 1 : 0);
  const std::size_t point = digits.find('.');
  const std::string_view whole = digits.substr(0, point);
  if (!all_digits(whole)) return std::string(number);
  std::string out = negative ? "-" : "";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i > 0 && (whole.size() - i) % 3 == 0) out += ',';
    out += whole[i];
  }
  if (point != std::string_view::npos) {
    std::string_view rest = digits.substr(point);
    while (rest.ends_with('0')) rest.remove_suffix(1);
    if (rest.size() > 1) out += rest;
  }
  return out;
}

std::string date_in_words(std::string_view date, base::Language language) {
  // [-]YYYY-MM-DD, perhaps with a time or zone after it; or a year alone.
  const bool before_christ = date.starts_with('-');
  const std::string_view text = date.substr(before_christ ? 1 : 0);
  const bool zh = language == base::Language::chinese;
  const auto year_in_words = [&](std::string_view digits) {
    const std::string year = std::to_string(to_int(digits));
    if (!before_christ) return year;
    return zh ? "公元前" + year : year + " BC";
  };
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    return all_digits(text) && text.size() >= 4 ? year_in_words(text) : std::string(date);
  }
  if (dash < 4 || text.size() < dash + 6 || !all_digits(text.substr(0, dash)) || text[dash + 3] != '-' ||
      !all_digits(text.substr(dash + 1, 2)) || !all_digits(text.substr(dash + 4, 2))) {
    return std::string(date);
  }
  const int month = to_int(text.substr(dash + 1, 2));
  const int day = to_int(text.substr(dash + 4, 2));
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::string(date);
  std::string out;
  if (zh) {
    out = year_in_words(text.substr(0, dash)) + "年" + std::to_string(month) + "月" + std::to_string(day) +
          "日";
  } else {
    out = std::to_string(day) + " " + std::string(months[static_cast<std::size_t>(month - 1)]) + " " +
          year_in_words(text.substr(0, dash));
  }
  const std::string_view rest = text.substr(dash + 6);
  if (rest.starts_with('T') && rest.size() >= 6) out += " " + std::string(rest.substr(1, 5));
  return out;
}

std::string english_plural(std::string_view noun) {
  // The head stands before "of", "in", "from", "at", "on", "per"; else it is the last word.
  std::size_t head_end = noun.size();
  for (const std::string_view preposition : {" of ", " in ", " from ", " at ", " on ", " per ", " for "}) {
    head_end = std::min(head_end, noun.find(preposition));
  }
  head_end = std::min(head_end, noun.size());
  return plural_of_word(noun.substr(0, head_end)) + std::string(noun.substr(head_end));
}

}  // namespace askbase::qa
