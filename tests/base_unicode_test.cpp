#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "base/unicode.h"

namespace askbase::base {
namespace {

std::u32string decomposed(char32_t c) {
  char32_t out[kLongestDecomposition];
  const int count = canonical_decomposition(c, out);
  return {out, static_cast<std::size_t>(count)};
}

}  // namespace

TEST_CASE("classes of code points") {
  using enum CharacterClass;
  for (const char32_t c : {U'a', U'5', U'+', U'€', U'中', U'\u0903', U'\u20DD'}) {
    CHECK(character_class(c) == other);
  }
  // Control, format, private use, not assigned, not a character, a lone surrogate.
  for (const char32_t c : {char32_t{0}, char32_t{0x85}, char32_t{0x200B}, char32_t{0xE000}, char32_t{0x378},
                           char32_t{0xFFFF}, char32_t{0xD800}, char32_t{0x10FFFF}}) {
    CHECK(character_class(c) == control);
  }
  for (const char32_t c : {U' ', U'\u00A0', U'\u3000'}) CHECK(character_class(c) == space);
  for (const char32_t c : {U'\u2028', U'\u2029'}) CHECK(character_class(c) == line);
  for (const char32_t c : {U'.', U'_', U'(', U'“', U'。', U'—'}) CHECK(character_class(c) == punctuation);
  for (const char32_t c : {U'\u0301', U'\u064B', U'\uFE0F'}) CHECK(character_class(c) == mark_no_width);
}

TEST_CASE("lower case, case properties and decompositions of code points") {
  CHECK(simple_lower_case(U'Å') == U'å');
  CHECK(simple_lower_case(U'\u0130') == U'i');
  CHECK(simple_lower_case(U'中') == U'中');
  CHECK(is_cased(U'Σ'));
  CHECK(!is_cased(U'中'));
  CHECK(is_case_ignorable(U'\u0301'));
  CHECK(is_case_ignorable(U'\''));
  CHECK(!is_case_ignorable(U'a'));
  CHECK(decomposed(U'a') == U"a");
  CHECK(decomposed(U'é') == U"e\u0301");
  CHECK(decomposed(U'ṩ') == U"s\u0323\u0307");
  CHECK(decomposed(U'한') == U"\u1112\u1161\u11AB");
  CHECK(decomposed(U'\U0001D164') == U"\U0001D158\U0001D165\U0001D172");  // pairs of UTF-16 units
  CHECK(decomposed(U'ﬁ') == U"ﬁ");                                        // a compatibility one is none
  std::size_t longest = 0;
  for (char32_t c = 0; c < 0x110000; ++c) longest = std::max(longest, decomposed(c).size());
  CHECK(longest == 4);
  CHECK(combining_class(U'\u0301') == 230);
  CHECK(combining_class(U'\u0323') == 220);
  CHECK(combining_class(U'a') == 0);
}

}  // namespace askbase::base
