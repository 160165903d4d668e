// Unicode text: validation, normal forms, matching keys and offset conversion, over ICU.
//
// Strings are UTF-8. Functions that take text replace nothing silently: check valid_utf8() at the border
// (files, requests) and pass only valid text inward; on invalid input these functions treat each bad byte
// as U+FFFD. All functions are thread-safe; shared ICU objects are immutable or one per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace askbase::base {

// Byte offset of the first invalid byte, nothing when the text is valid UTF-8 (no surrogates, no overlong
// forms). NUL is valid UTF-8; callers that refuse it must look for it.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);
inline bool valid_utf8(std::string_view text) { return !first_invalid_utf8(text); }

// Unicode code points of the text, and back.
std::u32string to_code_points(std::string_view utf8);
std::string to_utf8(std::u32string_view code_points);
void append_utf8(std::string& out, char32_t code_point);
std::size_t count_code_points(std::string_view utf8);
std::size_t count_utf16(std::string_view utf8);

// Unicode NFKC; NFKC + full case folding.
std::string nfkc(std::string_view text);
std::string fold_case(std::string_view text);

// Traditional to Simplified Chinese (ICU "Traditional-Simplified", which knows phrases, "計畫" -> "计划", and
// turns 「」 into “”); other text unchanged. Keeps the number of code points.
std::string to_simplified(std::string_view text);
// Simplified to Traditional, for showing answers to someone who asked in Traditional.
std::string to_traditional(std::string_view text);

// The key under which two spellings of a name meet. May be empty. Keys are their own keys. In this order:
//   invisible characters, apostrophes and (TM) (R) (C) dropped; NFKC; full case folding;
//   diacritics removed from Latin, Greek and Cyrillic letters (also "ø" -> "o", "æ" -> "ae", "ł" -> "l");
//   each Han character replaced by one of its variants ("臺", "台" -> "台"), whatever stands beside it, so
//   that the key of Han text is the keys of its characters put together; other punctuation, spacing accents
//   and white space turned into a space, of which one is kept between two words and none at the ends or
//   beside a Han character.
// Symbols stay, and so do + # & % = $, for they tell names apart.
//   "Côte d'Ivoire" -> "cote divoire"   "New-York " -> "new york"   "C++" -> "c++"   "AT&T" -> "at&t"
//   "臺灣" -> "台湾"   "中国 北京" -> "中国北京"   "T 恤" -> "t恤"   "J. R. R. Tolkien" -> "j r r tolkien"
std::string match_key(std::string_view text);

bool is_han(char32_t c);
bool contains_han(std::string_view text);
// White space trimmed at both ends (Unicode White_Space and U+FEFF).
std::string_view trim(std::string_view text);
// %XX decoded where two hex digits follow; the text as it was when the result is not UTF-8.
std::string percent_decoded(std::string_view text);
// "officialLanguage_name" -> "official language name": camelCase, '_' and '-' split, percent-decoded. A name
// with a capital and '_' ("YouTube_Music") keeps its own humps.
std::string readable_name(std::string_view identifier);

// & < > " as entities: text for HTML, attributes included.
std::string escape_html(std::string_view text);

// Damerau-Levenshtein distance (optimal string alignment) in code points, or limit + 1 when above limit.
int edit_distance(std::u32string_view a, std::u32string_view b, int limit);

// Maps offsets in one text (of less than 4 GiB) between bytes, code points and UTF-16 units. Built once in
// O(n); asked in O(1), from bytes in O(log n). Immutable, so safe to share between threads.
class OffsetMap {
 public:
  explicit OffsetMap(std::string_view utf8);
  std::size_t code_points() const { return byte_.size() - 1; }
  std::size_t byte(std::size_t code_point) const { return byte_[code_point]; }
  std::size_t utf16(std::size_t code_point) const { return utf16_[code_point]; }
  // The code point that holds the byte at this offset (size of the text -> code_points()).
  std::size_t code_point_at_byte(std::size_t byte) const;

 private:
  std::vector<std::uint32_t> byte_, utf16_;  // [code_points + 1]
};

}  // namespace askbase::base
