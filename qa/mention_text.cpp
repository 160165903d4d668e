#include "qa/mention_text.h"

#include <algorithm>

#include "base/text.h"
#include "base/unicode.h"

namespace askbase::qa {

namespace {

constexpr std::size_t most_left_over = 2;  // letters of a word after the name's end

bool is_capital(char32_t c) { return base::is_cased(c) && base::simple_lower_case(c) != c; }
bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

char32_t capital_of(char32_t c) {
  if ((c >= U'a' && c <= U'z') || (c >= 0xE0 && c <= 0xFE && c != 0xF7)) return c - 32;
  return c;
}

// Letters and digits of a key; symbols that match_key keeps, too.
std::u32string compact(std::string_view key) {
  std::u32string letters = base::to_code_points(key);
  std::erase(letters, U' ');
  return letters;
}

}  // namespace

std::vector<base::Token> mention_tokens(std::string_view question) {
  return base::tokenize_characters(question);
}

std::string_view without_remark(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> brackets[] = {{"(", ")"}, {"（", "）"}};
  std::string_view text = base::trim(name);
  for (bool cut = true; cut;) {
    cut = false;
    for (const auto& [open, close] : brackets) {
      if (!text.ends_with(close)) continue;
      const std::size_t at = text.rfind(open);
      if (at == std::string_view::npos) continue;
      const std::string_view left = base::trim(text.substr(0, at));
      if (left.empty()) return text;
      text = left;
      cut = true;
    }
  }
  return text;
}

std::optional<TokenSpan> find_mention(const std::vector<base::Token>& tokens, std::string_view name) {
  std::u32string text;
  std::vector<std::size_t> begins(tokens.size() + 1);  // of each token in text
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    begins[t] = text.size();
    text += compact(tokens[t].key);
  }
  begins.back() = text.size();
  const auto find = [&](std::string_view wanted) -> std::optional<TokenSpan> {
    const std::u32string letters = compact(base::match_key(wanted));
    if (letters.empty()) return std::nullopt;
    std::optional<TokenSpan> cut;
    for (std::size_t first = 0; first < tokens.size(); ++first) {
      if (begins[first + 1] == begins[first] || text.compare(begins[first], letters.size(), letters) != 0) {
        continue;
      }
      const std::size_t end = begins[first] + letters.size();
      std::size_t last = first + 1;
      while (begins[last] < end) ++last;
      if (begins[last] == end) return TokenSpan{first, last};
      // "france" in "frances"; but not "a" in "are".
      if (!cut && begins[last] - end <= most_left_over && letters.size() > 2 &&
          tokens[last - 1].kind == base::TokenKind::word) {
        cut = TokenSpan{first, last};
      }
    }
    return cut;
  };
  if (const std::optional<TokenSpan> whole = find(name)) return whole;
  const std::string_view shorter = without_remark(name);
  return shorter.size() < name.size() ? find(shorter) : std::nullopt;
}

LetterTable::LetterTable(std::u32string letters) : letters_(std::move(letters)) {
  for (const char32_t letter : letters_) {
    rows_.emplace(letter, special + static_cast<std::int32_t>(rows_.size()));
  }
}

base::Result<LetterTable> LetterTable::parse(std::string_view text) {
  std::u32string letters;
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++lines;
    if (!base::valid_utf8(line) || base::count_code_points(line) != 1) {
      return base::fail(base::ErrorCode::corrupt,
                        "letters.txt: line " + std::to_string(lines) + " is no single letter");
    }
    letters += base::to_code_points(line);
  }
  LetterTable table(std::move(letters));
  if (table.rows_.size() != table.letters_.size()) {
    return base::fail(base::ErrorCode::corrupt, "letters.txt: a letter comes twice");
  }
  return table;
}

std::string LetterTable::text() const {
  std::string text;
  for (const char32_t letter : letters_) {
    base::append_utf8(text, letter);
    text += '\n';
  }
  return text;
}

std::int32_t LetterTable::row(char32_t letter) const {
  const auto found = rows_.find(letter);
  if (found != rows_.end()) return found->second;
  return base::is_han(letter) ? han : unknown;
}

std::uint32_t shape_of(std::u32string_view letters, base::TokenKind kind, bool first, bool joined) {
  std::uint32_t shape = 0;
  std::size_t capitals = 0, small = 0, digits = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (is_capital(letters[i])) {
      ++capitals;
      shape |= i == 0 ? shape_capital : shape_inner_capital;
    } else if (base::is_cased(letters[i])) {
      ++small;
    }
    digits += is_digit(letters[i]) ? 1 : 0;
  }
  if (capitals > 1 && small == 0) shape |= shape_capitals;
  if (digits > 0) shape |= digits == letters.size() ? shape_digit | shape_number : shape_digit;
  if (kind == base::TokenKind::punctuation) shape |= shape_sign;
  if (kind == base::TokenKind::han) shape |= shape_han;
  if (first) shape |= shape_first;
  if (joined) shape |= shape_joined;
  if (letters.size() == 1 && kind == base::TokenKind::word) shape |= shape_single;
  return shape;
}

std::vector<std::uint8_t> quoted_tokens(const std::vector<base::Token>& tokens) {
  constexpr std::pair<std::string_view, std::string_view> marks[] = {
      {"《", "》"}, {"〈", "〉"}, {"「", "」"}, {"『", "』"}, {"“", "”"}, {"‘", "’"}, {"\"", "\""}};
  std::vector<std::uint8_t> quoted(tokens.size(), 0);
  for (const auto& [open, close] : marks) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t begin = none;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (begin != none && tokens[i].text == close) {
        std::fill(quoted.begin() + static_cast<std::ptrdiff_t>(begin),
                  quoted.begin() + static_cast<std::ptrdiff_t>(i), std::uint8_t{1});
        begin = none;
      } else if (tokens[i].text == open) {
        begin = i + 1;
      }
    }
  }
  return quoted;
}

std::u32string cased(std::u32string_view letters, Casing casing, bool in_mention, bool begins) {
  constexpr std::u32string_view small[] = {U"a",    U"an", U"and", U"at", U"by",  U"for", U"from",
                                           U"in",   U"of", U"on",  U"or", U"s",   U"the", U"to",
                                           U"with", U"de", U"del", U"la", U"von", U"'s",  U"vs"};
  std::u32string out(letters);
  if (out.empty() || casing == Casing::as_written) return out;
  for (char32_t& c : out) c = casing == Casing::upper ? capital_of(c) : base::simple_lower_case(c);
  const bool title = casing == Casing::title || (casing == Casing::title_mention && in_mention);
  if (begins || (title && std::find(std::begin(small), std::end(small), out) == std::end(small))) {
    if (casing != Casing::lower) out[0] = capital_of(out[0]);
  }
  return out;
}

std::int32_t pair_row(std::string_view left, std::string_view right, std::int32_t rows) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    hash = (hash ^ 0xFFU) * 0x100000001B3U;
  };
  add(left);
  add(right);
  return static_cast<std::int32_t>((hash >> 16) % static_cast<std::uint64_t>(rows));
}

}  // namespace askbase::qa
