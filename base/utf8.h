// Decoding of UTF-8 for the .cpp files of base/: one code point at a time, never failing.
#pragma once

#include <cstddef>
#include <string_view>

namespace askbase::base {

constexpr char32_t kReplacement = 0xFFFD;

// The code point at `at` (which must lie inside the text) and its length through `length`. A byte that does
// not start a well-formed sequence (Unicode 15, table 3-7) counts as U+FFFD of length 1.
inline char32_t decode_utf8(std::string_view text, std::size_t at, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  length = 1;
  if (lead < 0x80) return lead;
  const std::size_t left = text.size() - at;
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  if (lead < 0xE0) {
    if (lead < 0xC2 || left < 2 || !continues(1)) return kReplacement;
    length = 2;
    return (lead & 0x1FU) << 6 | (byte(1) & 0x3FU);
  }
  if (lead < 0xF0) {
    if (left < 3 || !continues(1) || !continues(2)) return kReplacement;
    const char32_t c = (lead & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
    if (c < 0x800 || (c >= 0xD800 && c < 0xE000)) return kReplacement;
    length = 3;
    return c;
  }
  if (lead > 0xF4 || left < 4 || !continues(1) || !continues(2) || !continues(3)) return kReplacement;
  const char32_t c =
      (lead & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 | (byte(2) & 0x3FU) << 6 | (byte(3) & 0x3FU);
  if (c < 0x10000 || c > 0x10FFFF) return kReplacement;
  length = 4;
  return c;
}

}  // namespace askbase::base
