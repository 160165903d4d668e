#include "base/tokenize.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <unicode/brkiter.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>

#include "base/text.h"
#include "base/utf8.h"

namespace askbase::base {
namespace {

enum class Class : std::uint8_t {
  space,
  invisible,  // joiners, variation selectors, soft hyphens: part of what they stand in, nothing alone
  letter,     // of scripts that put spaces between words
  digit,
  mark,   // combining marks
  han,    // } scripts without spaces: the dictionary
  dense,  // } finds the words
  sign,   // everything else: punctuation, symbols, emoji
};

Class classify_beyond_ascii(char32_t c) {
  if (c >= 0x4E00 && c <= 0x9FFF) return Class::han;
  const auto point = static_cast<UChar32>(c);
  if (u_isUWhiteSpace(point)) return Class::space;
  const std::uint32_t mask = U_GET_GC_MASK(point);
  if ((mask & U_GC_CC_MASK) != 0) return Class::space;
  if ((mask & U_GC_CF_MASK) != 0 || u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)) {
    return Class::invisible;
  }
  if ((mask & U_GC_M_MASK) != 0) return Class::mark;
  if ((mask & U_GC_ND_MASK) != 0) return Class::digit;
  if (is_han(c)) return Class::han;
  if ((mask & (U_GC_L_MASK | U_GC_NL_MASK | U_GC_NO_MASK)) == 0) return Class::sign;
  // The blocks of kana and of halfwidth kana hold the long vowel sign too, which is of no script.
  if ((c >= 0x3040 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF) || (c >= 0xFF66 && c <= 0xFF9F)) {
    return Class::dense;
  }
  const int line_break = u_getIntPropertyValue(point, UCHAR_LINE_BREAK);
  return line_break == U_LB_COMPLEX_CONTEXT ? Class::dense : Class::letter;  // Thai, Lao, Khmer, Burmese
}

Class classify(char32_t c) {
  if (c >= 0x80) return classify_beyond_ascii(c);
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Class::letter;
  if (c >= '0' && c <= '9') return Class::digit;
  return c <= ' ' || c == 0x7F ? Class::space : Class::sign;
}

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019 || c == 0xFF07; }
bool is_dot(char32_t c) { return c == '.' || c == 0xFF0E; }
bool is_comma(char32_t c) { return c == ',' || c == 0xFF0C; }
bool is_plus(char32_t c) { return c == '+' || c == 0xFF0B; }
bool is_sharp(char32_t c) { return c == '#' || c == 0xFF03 || c == 0x266F; }
bool is_ampersand(char32_t c) { return c == '&' || c == 0xFF06; }
bool is_skin_tone(char32_t c) { return c >= 0x1F3FB && c <= 0x1F3FF; }
bool is_regional_indicator(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

// The dictionary's word ends in [begin, end), as offsets from begin; the last one is its length.
void dictionary_ends(std::u32string_view run, std::vector<std::uint32_t>& ends) {
  static const std::unique_ptr<icu::BreakIterator> prototype = [] {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<icu::BreakIterator> created(
        icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
    if (U_FAILURE(status) || created == nullptr) {
      throw std::runtime_error(std::string("ICU data lacks the word break rules: ") + u_errorName(status));
    }
    return created;
  }();
  thread_local const std::unique_ptr<icu::BreakIterator> own(prototype->clone());
  thread_local std::u16string units;

  units.clear();
  for (const char32_t c : run) {
    if (c >= 0x10000) {
      units += static_cast<char16_t>(U16_LEAD(c));
      units += static_cast<char16_t>(U16_TRAIL(c));
    } else {
      units += static_cast<char16_t>(c);
    }
  }
  // An alias, not a copy: the iterator is done with it before `units` changes.
  const icu::UnicodeString text(false, units.data(), static_cast<std::int32_t>(units.size()));
  own->setText(text);
  own->first();
  ends.clear();
  std::size_t unit = 0;
  std::uint32_t point = 0;
  for (std::int32_t end = own->next(); end != icu::BreakIterator::DONE; end = own->next()) {
    for (; unit < static_cast<std::size_t>(end); ++point) unit += U16_IS_LEAD(units[unit]) ? 2 : 1;
    ends.push_back(point);
  }
}

class Tokenizer {
 public:
  Tokenizer(std::string_view text, bool han_characters) : text_(text), han_characters_(han_characters) {
    if (text.size() >= INT32_MAX) throw std::length_error("tokenize: text of 2 GiB or more");
    points_.reserve(text.size());
    classes_.reserve(text.size());
    bytes_.reserve(text.size() + 1);
    for (std::size_t at = 0, length; at < text.size(); at += length) {
      const char32_t c = decode_utf8(text, at, length);
      points_ += c;
      classes_.push_back(classify(c));
      bytes_.push_back(static_cast<std::uint32_t>(at));
    }
    bytes_.push_back(static_cast<std::uint32_t>(text.size()));
  }

  std::vector<Token> run() {
    tokens_.reserve(points_.size() / 4 + 1);
    std::size_t at = 0;
    while (at < points_.size()) {
      switch (classes_[at]) {
        case Class::space:
        case Class::invisible:
          ++at;
          break;
        case Class::letter:
        case Class::digit:
          at = word(at);
          break;
        case Class::han:
        case Class::dense:
          at = dense_run(at);
          break;
        case Class::mark:
        case Class::sign:
          at = sign(at);
          break;
      }
    }
    return std::move(tokens_);
  }

 private:
  Class class_at(std::size_t i) const { return i < classes_.size() ? classes_[i] : Class::space; }
  char32_t point_at(std::size_t i) const { return i < points_.size() ? points_[i] : 0; }
  bool letter_at(std::size_t i) const { return class_at(i) == Class::letter; }
  bool digit_at(std::size_t i) const { return class_at(i) == Class::digit; }
  bool attached_at(std::size_t i) const {
    return class_at(i) == Class::mark || class_at(i) == Class::invisible;
  }

  void emit(std::size_t begin, std::size_t end, TokenKind kind) {
    Token token;
    token.begin = static_cast<std::uint32_t>(begin);
    token.end = static_cast<std::uint32_t>(end);
    token.begin_byte = bytes_[begin];
    token.end_byte = bytes_[end];
    token.text = text_.substr(token.begin_byte, token.end_byte - token.begin_byte);
    token.key = match_key(token.text);
    token.kind = kind;
    tokens_.push_back(std::move(token));
  }

  // A word or number of a script with spaces, from a letter or digit on. Returns where it ends.
  std::size_t word(std::size_t begin) {
    std::size_t at = acronym_end(begin);
    const bool acronym = at > begin;
    bool number = !acronym;     // so far only digits and the signs inside numbers
    std::size_t group = begin;  // where the digits after the last comma began
    while (!acronym) {
      if (letter_at(at)) {
        number = false;
        ++at;
      } else if (digit_at(at) || attached_at(at)) {
        ++at;
      } else if (number && is_dot(point_at(at)) && digit_at(at - 1) && digit_at(at + 1)) {
        ++at;
        group = begin + points_.size();  // no thousands after the decimal point
      } else if (number && is_comma(point_at(at)) && at > group && at - group <= 3 && thousand_at(at + 1)) {
        group = at + 1;
        ++at;
      } else if (is_apostrophe(point_at(at)) && letter_at(at + 1)) {
        number = false;
        ++at;
      } else if (is_ampersand(point_at(at)) && !number && letter_at(at + 1)) {
        ++at;
      } else {
        break;
      }
    }
    while (class_at(at - 1) == Class::invisible) --at;
    if (!number) at = code_sign_end(begin, at);
    emit_word(begin, at, number ? TokenKind::number : TokenKind::word);
    return at;
  }

  // The end of "U.S.A" (single letters with dots between), begin when there is none.
  std::size_t acronym_end(std::size_t begin) const {
    std::size_t end = begin;
    for (std::size_t at = begin; letter_at(at) && is_dot(point_at(at + 1)) && letter_at(at + 2); at += 2) {
      const Class after = class_at(at + 3);
      if (after == Class::letter || after == Class::digit || attached_at(at + 3)) break;
      if (is_apostrophe(point_at(at + 3)) && letter_at(at + 4)) break;
      end = at + 3;
    }
    return end;
  }

  // Exactly three digits.
  bool thousand_at(std::size_t at) const {
    return digit_at(at) && digit_at(at + 1) && digit_at(at + 2) && !digit_at(at + 3);
  }

  // "C++", "C#", "Disney+": signs right after letters that no other word follows.
  std::size_t code_sign_end(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (!letter_at(i) && !attached_at(i)) return end;
    }
    std::size_t at = end;
    if (is_sharp(point_at(at))) {
      ++at;
    } else {
      while (at < end + 2 && is_plus(point_at(at))) ++at;
    }
    if (at == end || letter_at(at) || (digit_at(at) && at - end == 1)) return end;
    return is_plus(point_at(at)) || is_sharp(point_at(at)) ? end : at;
  }

  // Emits [begin, end) with its clitics apart.
  void emit_word(std::size_t begin, std::size_t end, TokenKind kind) {
    const std::size_t clitic = kind == TokenKind::word ? clitic_begin(begin, end) : end;
    if (clitic == end) {
      emit(begin, end, kind);
      return;
    }
    bool digits = true;
    for (std::size_t i = begin; i < clitic; ++i) digits = digits && !letter_at(i);
    emit_word(begin, clitic, digits ? TokenKind::number : TokenKind::word);  // "wouldn't've"
    emit(clitic, end, TokenKind::word);
  }

  // The lower-case ASCII letter there, 0 for anything else.
  char32_t ascii_letter(std::size_t i) const {
    const char32_t c = point_at(i) | 0x20;
    return c >= 'a' && c <= 'z' ? c : 0;
  }

  // Whether the letters of [begin, end) after an apostrophe make a clitic.
  bool is_clitic(std::size_t begin, std::size_t end) const {
    const char32_t first = ascii_letter(begin), second = ascii_letter(begin + 1);
    if (end - begin == 1) return first == 's' || first == 'd' || first == 'm';
    if (end - begin != 2) return false;
    return (first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
           (first == 'l' && second == 'l');
  }

  std::size_t clitic_begin(std::size_t begin, std::size_t end) const {
    std::size_t apostrophe = end;
    while (apostrophe > begin && !is_apostrophe(points_[apostrophe - 1])) --apostrophe;
    if (apostrophe < begin + 2) return end;
    --apostrophe;
    if (is_clitic(apostrophe + 1, end)) return apostrophe;
    const bool not_ending = end == apostrophe + 2 && ascii_letter(apostrophe + 1) == 't' &&
                            ascii_letter(apostrophe - 1) == 'n' && apostrophe - 1 > begin;
    return not_ending ? apostrophe - 1 : end;
  }

  // A run of a script without spaces, its words found by the dictionary.
  std::size_t dense_run(std::size_t begin) {
    std::size_t end = begin;
    while (class_at(end) == Class::han || class_at(end) == Class::dense || attached_at(end)) ++end;
    const std::size_t next = end;
    while (class_at(end - 1) == Class::invisible && !is_variation_selector(points_[end - 1])) --end;
    if (!han_characters_) {
      dictionary_words(begin, end);
      return next;
    }
    for (std::size_t at = begin; at < end;) {
      std::size_t stop = at + 1;
      const bool han = classes_[at] == Class::han;
      while (stop < end && (attached_at(stop) || (!han && classes_[stop] == Class::dense))) ++stop;
      if (han) {
        emit(at, stop, TokenKind::han);
      } else {
        dictionary_words(at, stop);
      }
      at = stop;
    }
    return next;
  }

  static bool is_variation_selector(char32_t c) {
    return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
  }

  void dictionary_words(std::size_t begin, std::size_t end) {
    if (end - begin == 1) {
      ends_.assign(1, 1);
    } else {
      dictionary_ends(std::u32string_view(points_).substr(begin, end - begin), ends_);
    }
    std::size_t at = begin;
    for (const std::uint32_t offset : ends_) {
      const std::size_t stop = begin + offset;
      const bool han = std::all_of(classes_.begin() + static_cast<std::ptrdiff_t>(at),
                                   classes_.begin() + static_cast<std::ptrdiff_t>(stop), [](Class c) {
                                     return c == Class::han || c == Class::mark || c == Class::invisible;
                                   });
      emit(at, stop, han ? TokenKind::han : TokenKind::word);
      at = stop;
    }
  }

  // A punctuation mark, a symbol, an emoji sequence, or the clitic of a word of another script.
  std::size_t sign(std::size_t begin) {
    if (is_apostrophe(points_[begin]) && begin > 0 && follows_word(begin - 1)) {
      std::size_t end = begin + 1;
      while (letter_at(end)) ++end;
      if (is_clitic(begin + 1, end) && !digit_at(end) && !attached_at(end)) {
        emit(begin, end, TokenKind::word);
        return end;
      }
    }
    std::size_t end = begin + 1;
    if (is_regional_indicator(points_[begin]) && is_regional_indicator(point_at(end))) ++end;
    constexpr char32_t kJoiner = 0x200D;
    while (attached_at(end) || is_skin_tone(point_at(end)) ||
           (points_[end - 1] == kJoiner && class_at(end) == Class::sign)) {
      ++end;
    }
    emit(begin, end, TokenKind::punctuation);
    return end;
  }

  bool follows_word(std::size_t i) const {
    const Class c = class_at(i);
    return c == Class::han || c == Class::dense || c == Class::mark || is_dot(points_[i]) ||
           is_plus(points_[i]) || is_sharp(points_[i]) || c == Class::letter || c == Class::digit;
  }

  std::string_view text_;
  bool han_characters_;
  std::u32string points_;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> bytes_;  // [code points + 1]
  std::vector<std::uint32_t> ends_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Tokenizer(text, false).run(); }
std::vector<Token> tokenize_characters(std::string_view text) { return Tokenizer(text, true).run(); }

}  // namespace askbase::base
