// Words with their place in the original text, for English and Chinese.
//
// Word boundaries come from ICU's dictionary break iterator (Chinese words are found without spaces); one
// iterator a thread is cloned from a prototype, so tokenize() is thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace askbase::base {

enum class TokenKind : std::uint8_t { word, number, han, punctuation };

struct Token {
  std::string text;                            // as written
  std::string key;                             // match_key(text); empty for pure punctuation
  std::uint32_t begin = 0, end = 0;            // code points of the original text, half-open
  std::uint32_t begin_byte = 0, end_byte = 0;  // bytes of the original text, half-open
  TokenKind kind = TokenKind::word;
};

// Every word, number and punctuation mark; white space is dropped. English clitics are split off
// ("France's" -> "France", "'s"). "3.5", "1,000" and "C++" stay whole.
std::vector<Token> tokenize(std::string_view text);

// As tokenize(), but each Han character is a token of its own: for matching spans inside Chinese text
// without trusting the dictionary's word boundaries.
std::vector<Token> tokenize_characters(std::string_view text);

}  // namespace askbase::base
