// Sentences of a text, by Unicode's rules (UAX #29, over ICU) and lists of English abbreviations. A line
// end inside a paragraph is white space here: text whose lines were broken at some width is not cut up by it.
// Blank lines end a sentence, and so does a line end before a heading or a list's next item. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace askbase::base {

// Byte offsets where sentences end, ascending; the last is the text's size (none for an empty text). White
// space after a sentence belongs to it. Time is linear in the text. Text of 2 GiB or more throws.
std::vector<std::uint32_t> sentence_ends(std::string_view text);

}  // namespace askbase::base
