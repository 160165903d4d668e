#include "base/unicode.h"

#include <stdexcept>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

namespace askbase::base {
namespace {

const UNormalizer2* nfd() {
  static const UNormalizer2* const instance = [] {
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2* n = unorm2_getNFDInstance(&status);
    if (U_FAILURE(status)) throw std::runtime_error("ICU has no NFD data");
    return n;
  }();
  return instance;
}

}  // namespace

CharacterClass character_class(char32_t c) {
  const std::uint32_t mask = U_GET_GC_MASK(static_cast<UChar32>(c));
  if ((mask & (U_GC_L_MASK | U_GC_N_MASK | U_GC_S_MASK)) != 0) return CharacterClass::other;
  if ((mask & U_GC_C_MASK) != 0) return CharacterClass::control;
  if ((mask & U_GC_P_MASK) != 0) return CharacterClass::punctuation;
  if ((mask & U_GC_MN_MASK) != 0) return CharacterClass::mark_no_width;
  if ((mask & U_GC_ZS_MASK) != 0) return CharacterClass::space;
  return (mask & U_GC_Z_MASK) != 0 ? CharacterClass::line : CharacterClass::other;
}

bool is_alphanumeric(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_Z_MASK) != 0;
}

char32_t simple_lower_case(char32_t c) { return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))); }

bool is_cased(char32_t c) { return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_CASED) != 0; }

bool is_case_ignorable(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_CASE_IGNORABLE) != 0;
}

int canonical_decomposition(char32_t c, char32_t* out) {
  UChar units[2 * kLongestDecomposition];
  UErrorCode status = U_ZERO_ERROR;
  const int32_t length =
      unorm2_getDecomposition(nfd(), static_cast<UChar32>(c), units, 2 * kLongestDecomposition, &status);
  if (U_FAILURE(status) || length < 0) {  // no decomposition
    out[0] = c;
    return 1;
  }
  int count = 0;
  for (int32_t i = 0; i < length && count < kLongestDecomposition;) {
    UChar32 next = 0;
    U16_NEXT(units, i, length, next);
    out[count++] = static_cast<char32_t>(next);
  }
  return count;
}

std::uint8_t combining_class(char32_t c) { return unorm2_getCombiningClass(nfd(), static_cast<UChar32>(c)); }

}  // namespace askbase::base
