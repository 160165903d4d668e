// The parts of text.h that need no Unicode tables beyond White_Space.
#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/text.h"

namespace askbase::base {
namespace {

// Unicode White_Space and U+FEFF.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000 || c == 0xFEFF;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    std::size_t length;
    if (decode_utf8(text, at, length) == kReplacement && length == 1) return at;
    at += length;
  }
  return std::nullopt;
}

std::u32string to_code_points(std::string_view utf8) {
  std::u32string out;
  out.reserve(utf8.size());
  for (std::size_t at = 0, length; at < utf8.size(); at += length) out += decode_utf8(utf8, at, length);
  return out;
}

void append_utf8(std::string& out, char32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = kReplacement;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::string to_utf8(std::u32string_view code_points) {
  std::string out;
  out.reserve(code_points.size());
  for (const char32_t c : code_points) append_utf8(out, c);
  return out;
}

std::size_t count_code_points(std::string_view utf8) {
  std::size_t count = 0;
  for (std::size_t at = 0, length; at < utf8.size(); at += length) {
    decode_utf8(utf8, at, length);
    ++count;
  }
  return count;
}

std::size_t count_utf16(std::string_view utf8) {
  std::size_t count = 0;
  for (std::size_t at = 0, length; at < utf8.size(); at += length) {
    count += decode_utf8(utf8, at, length) >= 0x10000 ? 2 : 1;
  }
  return count;
}

std::string_view trim(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t length; begin < text.size(); begin += length) {
    if (!is_space(decode_utf8(text, begin, length))) break;
  }
  std::size_t end = text.size();
  while (end > begin) {
    // Back to the lead byte; a stray continuation byte stands alone and is no space.
    std::size_t start = end - 1;
    while (start > begin && end - start < 4 && is_continuation(text[start])) --start;
    std::size_t length;
    if (!is_space(decode_utf8(text, start, length)) || start + length != end) break;
    end = start;
  }
  return text.substr(begin, end - begin);
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return valid_utf8(out) ? out : std::string(text);
}

std::string readable_name(std::string_view identifier) {
  const std::string decoded = percent_decoded(identifier);
  std::string out;
  out.reserve(decoded.size() + 8);
  const auto at = [&](std::size_t i) { return i < decoded.size() ? decoded[i] : '\0'; };
  const auto space = [&] {
    if (!out.empty() && out.back() != ' ') out += ' ';
  };
  // "YouTube_Music" is how names of things are written into identifiers: its humps are the name's own.
  const bool name_of_thing = is_upper(at(0)) && decoded.find('_') != std::string::npos;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const char c = decoded[i];
    if (c == '_' || c == '-' || c == ' ') {
      space();
      continue;
    }
    const char before = i > 0 ? decoded[i - 1] : '\0';
    // A hump: "officialLanguage", "area2Km"; or the last capital of a run: "HTTPServer" -> "HTTP server".
    const bool hump = !name_of_thing && is_upper(c) && (is_lower(before) || is_digit(before));
    const bool run_ends = !name_of_thing && is_upper(c) && is_upper(before) && is_lower(at(i + 1));
    if (hump || run_ends) space();
    // Words found by their hump are lower-cased; a capital that started the identifier, or belongs to an
    // abbreviation, is part of the name.
    if ((hump || run_ends) && is_lower(at(i + 1))) {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

int edit_distance(std::u32string_view a, std::u32string_view b, int limit) {
  if (limit < 0) return limit + 1;
  // Common ends cost nothing and never hurt an optimal alignment.
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  if (a.size() > b.size()) std::swap(a, b);
  const std::size_t rows = b.size(), columns = a.size();
  const std::size_t band = static_cast<std::size_t>(limit);
  if (rows - columns > band) return limit + 1;
  if (columns == 0) return static_cast<int>(rows);

  // Three rows of the table (optimal string alignment looks two rows back). Only cells with
  // |row - column| <= limit can hold a value within the limit; the others count as limit + 1.
  const int beyond = limit + 1;
  int best_before = 0;
  std::vector<int> cells(3 * (columns + 1), beyond);
  int* before_last = cells.data();
  int* last = before_last + columns + 1;
  int* current = last + columns + 1;
  for (std::size_t j = 0; j <= std::min(columns, band); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= rows; ++i) {
    const std::size_t from = i > band ? i - band : 0, to = std::min(columns, i + band);
    int best = beyond;
    if (from > 0) current[from - 1] = beyond;
    for (std::size_t j = from; j <= to; ++j) {
      int value;
      if (j == 0) {
        value = static_cast<int>(i);
      } else {
        value = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (b[i - 1] == a[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && b[i - 1] == a[j - 2] && b[i - 2] == a[j - 1]) {
          value = std::min(value, before_last[j - 2] + 1);
        }
      }
      current[j] = std::min(value, beyond);
      best = std::min(best, current[j]);
    }
    if (to < columns) current[to + 1] = beyond;
    // A swap can still step over one row, so two rows beyond the limit end the search.
    if (best > limit && best_before > limit) return beyond;
    best_before = best;
    int* const oldest = before_last;
    before_last = last;
    last = current;
    current = oldest;
  }
  return last[columns];
}

OffsetMap::OffsetMap(std::string_view utf8) {
  if (utf8.size() >= UINT32_MAX) throw std::length_error("OffsetMap: text of 4 GiB or more");
  const std::size_t count = count_code_points(utf8);
  byte_.reserve(count + 1);
  utf16_.reserve(count + 1);
  std::uint32_t units = 0;
  for (std::size_t at = 0, length; at < utf8.size(); at += length) {
    byte_.push_back(static_cast<std::uint32_t>(at));
    utf16_.push_back(units);
    units += decode_utf8(utf8, at, length) >= 0x10000 ? 2 : 1;
  }
  byte_.push_back(static_cast<std::uint32_t>(utf8.size()));
  utf16_.push_back(units);
}

std::size_t OffsetMap::code_point_at_byte(std::size_t byte) const {
  if (byte >= byte_.back()) return code_points();
  const auto after = std::upper_bound(byte_.begin(), byte_.end(), static_cast<std::uint32_t>(byte));
  return static_cast<std::size_t>(after - byte_.begin()) - 1;
}

}  // namespace askbase::base
