// The language of a question, told from its script. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace askbase::base {

enum class Language { unknown, english, chinese };

// "en", "zh", "und".
std::string_view language_code(Language language);
// From a BCP-47 tag: "zh-Hant" -> chinese, "en-GB" -> english, others unknown.
Language language_from_tag(std::string_view tag);

// Chinese when at least a quarter of the letters are Han (a Latin name inside a Chinese sentence stays
// Chinese, a Chinese name inside an English sentence stays English); English when letters are mostly Latin;
// unknown without letters or in another script.
Language detect_language(std::string_view text);
// True when the text has characters that only Traditional Chinese uses and none that only Simplified uses.
bool is_traditional(std::string_view text);

}  // namespace askbase::base
