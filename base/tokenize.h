// Words with their place in the original text, for English and Chinese.
//
// Words of scripts with spaces are runs of letters and digits, cut by the rules below. Words of scripts
// without (Chinese, Japanese, Thai, ...) come from ICU's dictionary break iterator, one a thread cloned from
// a prototype, so tokenize() is thread-safe. Time is linear in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace askbase::base {

// han: Han characters only ("食べ物" is a word). number: digits with the signs inside them ("2nd" is a word).
enum class TokenKind : std::uint8_t { word, number, han, punctuation };

struct Token {
  std::string text;                            // as written
  std::string key;                             // match_key(text); empty for punctuation, not for symbols
  std::uint32_t begin = 0, end = 0;            // code points of the original text, half-open
  std::uint32_t begin_byte = 0, end_byte = 0;  // bytes of the original text, half-open
  TokenKind kind = TokenKind::word;
};

// Every word, number and punctuation mark; white space and lone invisible characters are dropped. English
// clitics are split off ("France's" -> "France", "'s"; "isn't" -> "is", "n't"). "3.5", "1,000", "U.S.A",
// "AT&T", "O'Brien", "C++" and "C#" stay whole; hyphens, underscores and the dots of "example.com" are
// tokens. Symbols and emoji are of kind punctuation; an emoji sequence is one token. Text of 2 GiB or more
// throws.
std::vector<Token> tokenize(std::string_view text);

// As tokenize(), but each Han character is a token of its own: for matching spans inside Chinese text
// without trusting the dictionary's word boundaries.
std::vector<Token> tokenize_characters(std::string_view text);

}  // namespace askbase::base
