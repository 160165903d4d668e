// A question as the mention tagger sees it: its words, or Chinese characters, as rows of tables; their
// letters and shapes; and where in it a name stands. Internal to qa/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/tokenize.h"

namespace askbase::qa {

// Tokens [first, last).
struct TokenSpan {
  std::size_t first = 0, last = 0;
  bool operator==(const TokenSpan&) const = default;
};

// Words, numbers, punctuation; each Han character by itself.
std::vector<base::Token> mention_tokens(std::string_view question);

// Where the name stands in the question, by its letters and digits alone: case, spaces, punctuation,
// Traditional or Simplified script, and remarks in brackets that the question lacks do not matter. A name may
// end inside of a word ("mecca" in "meccas canonical version") when no more than two letters of it are left
// over, and then takes the whole word; it may not begin inside of one. Of several places that which ends a
// word, then the first. Nothing where the name has no letters, or stands nowhere.
std::optional<TokenSpan> find_mention(const std::vector<base::Token>& tokens, std::string_view name);

// The name without remarks in brackets at its end: "Titanic (1997 film)" -> "Titanic", "伏笔（歌曲）" ->
// "伏笔". The name itself where nothing else is left.
std::string_view without_remark(std::string_view name);

// Letters, and the rows of what is learned of each. The first rows are for all others, and for all Han
// characters.
class LetterTable {
 public:
  static constexpr std::int32_t unknown = 0, han = 1, special = 2;

  explicit LetterTable(std::u32string letters);
  // Lines of the file letters.txt, and back. Errors: corrupt (not one letter a line, one twice).
  static base::Result<LetterTable> parse(std::string_view text);
  std::string text() const;

  std::int32_t size() const { return special + static_cast<std::int32_t>(letters_.size()); }
  std::int32_t row(char32_t letter) const;

 private:
  std::u32string letters_;
  std::unordered_map<char32_t, std::int32_t> rows_;
};

// What a token looks like, one bit each.
enum TokenShape : std::uint32_t {
  shape_capital = 1U << 0,        // its first letter is a capital
  shape_capitals = 1U << 1,       // all of its letters are, and it has several
  shape_inner_capital = 1U << 2,  // one after the first is
  shape_digit = 1U << 3,          // it has a digit
  shape_number = 1U << 4,         // it has nothing else
  shape_sign = 1U << 5,           // punctuation or a symbol
  shape_han = 1U << 6,
  shape_first = 1U << 7,    // of the question
  shape_joined = 1U << 8,   // no space before it
  shape_single = 1U << 9,   // a single letter
  shape_quoted = 1U << 10,  // it stands in quotation marks or in 《》
};
inline constexpr int shape_count = 11;
// first: it begins the question; joined: nothing stands between it and the token before.
std::uint32_t shape_of(std::u32string_view letters, base::TokenKind kind, bool first, bool joined);

// Of each token whether it stands between a mark that opens and the one that closes: "", “”, 「」, 《》 ...
std::vector<std::uint8_t> quoted_tokens(const std::vector<base::Token>& tokens);

// How a question is written: as it is, or otherwise, so that a model learns all of them.
enum class Casing : std::uint8_t { as_written, lower, upper, title, title_mention };
// One token in that way; `in_mention` for title_mention, which leaves words such as "of" small, unless they
// begin the mention, and capitalises the first word of the question.
std::u32string cased(std::u32string_view letters, Casing casing, bool in_mention, bool begins);

// The row in a table of `rows` of two neighbouring tokens: FNV-1a over their keys.
std::int32_t pair_row(std::string_view left, std::string_view right, std::int32_t rows);

}  // namespace askbase::qa
