// Snowball stems for English (Porter 2). Thread-safe: one stemmer a thread.
#pragma once

#include <string>
#include <string_view>

namespace askbase::base {

// Stem of a lower-case English word; other text comes back unchanged.
std::string stem_english(std::string_view lower_case_word);

}  // namespace askbase::base
