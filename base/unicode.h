// Properties of single code points, over ICU, for code that walks through text itself. Thread-safe; nothing
// allocates. Which characters are assigned, and to what, follows the Unicode version of the ICU at hand.
#pragma once

#include <cstdint>

namespace askbase::base {

// The general categories that tokenizers tell apart.
enum class CharacterClass : std::uint8_t {
  other,          // letters, digits, symbols, spacing marks
  control,        // C*: control, format, private use, surrogates, unassigned
  space,          // Zs
  line,           // Zl, Zp
  punctuation,    // P*
  mark_no_width,  // Mn
};
CharacterClass character_class(char32_t c);

// What Python's str.isalnum() and \w (but for the underscore) are about: L* and N*.
bool is_alphanumeric(char32_t c);
// Where Python's str.split() cuts: Zs, Zl, Zp, and the controls that count as white space.
bool is_white_space(char32_t c);

// Lower case of one code point (U+0130 becomes "i" alone).
char32_t simple_lower_case(char32_t c);
// What decides about the final sigma: D135 and D136 of the Unicode Standard, section 3.13.
bool is_cased(char32_t c);
bool is_case_ignorable(char32_t c);

// The full canonical decomposition (NFD, before reordering) of one code point: writes its code points, at
// most kLongestDecomposition, and returns how many.
constexpr int kLongestDecomposition = 8;
int canonical_decomposition(char32_t c, char32_t* out);
// Canonical_Combining_Class; 0 for most.
std::uint8_t combining_class(char32_t c);

}  // namespace askbase::base
