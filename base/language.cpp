#include "base/language.h"

#include <cstddef>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "base/text.h"
#include "base/utf8.h"

namespace askbase::base {

std::string_view language_code(Language language) {
  switch (language) {
    case Language::english:
      return "en";
    case Language::chinese:
      return "zh";
    case Language::unknown:
      break;
  }
  return "und";
}

Language language_from_tag(std::string_view tag) {
  const std::string primary = fold_case(tag.substr(0, tag.find_first_of("-_")));
  if (primary == "en" || primary == "eng") return Language::english;
  // The macrolanguage and the members of it that are written in Han characters.
  for (const std::string_view chinese : {"zh", "zho", "chi", "cmn", "yue", "wuu", "hak", "nan", "lzh"}) {
    if (primary == chinese) return Language::chinese;
  }
  return Language::unknown;
}

Language detect_language(std::string_view text) {
  std::size_t han = 0, latin = 0, kana = 0, letters = 0;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    const char32_t c = decode_utf8(text, at, length);
    if (is_han(c)) {
      ++han;
      ++letters;
      continue;
    }
    if (!u_isalpha(static_cast<UChar32>(c))) continue;
    ++letters;
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &status);
    if (script == USCRIPT_LATIN) ++latin;
    if (script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA) ++kana;
  }
  if (letters == 0) return Language::unknown;
  // Japanese mixes Han with kana throughout; a kana name in a Chinese sentence is outnumbered.
  if (han * 4 >= letters && han > kana) return Language::chinese;
  if (latin * 2 > letters) return Language::english;
  return Language::unknown;
}

}  // namespace askbase::base
