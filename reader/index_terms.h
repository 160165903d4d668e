// The terms under which words of a text stand in the passage index, and a question looks them up.
//
//   English and other scripts with spaces: the word's match key (base/text.h), stemmed (Porter 2); the parts
//   of
//     a hyphenated word each for itself; "'s" and "n't" are left out.
//   Han: each character, and each two that stand together (over white space, too), every one of them replaced
//     by its class of variants, so that Traditional and Simplified text meet.
//   Numbers: as written, without thousands separators.
//
// No function words are left out: their weight in BM25 is small, and questions like "who is The Who" need
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace askbase::reader {

// Changes whenever the same text would give other terms: an index made by another version is made anew.
inline constexpr std::uint32_t index_terms_version = 1;
inline constexpr std::size_t longest_term_bytes = 64;  // longer ones are cut off

struct IndexTerm {
  std::string_view term;    // lives during the call
  std::uint32_t begin = 0;  // byte offset of its (first) word in the text
  bool pair = false;        // of two Han characters: does not count for a passage's length
};

// Remembers the terms of words it has met: a text's words come again and again. One thread.
class TermReader {
 public:
  // Calls visit for every term, by ascending begin.
  void read(std::string_view text, const std::function<void(const IndexTerm&)>& visit);

 private:
  static constexpr std::size_t most_remembered = 1 << 16;
  std::unordered_map<std::string, std::string> stems_;  // match key -> term
};

}  // namespace askbase::reader
