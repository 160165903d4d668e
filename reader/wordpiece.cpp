#include "reader/wordpiece.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/unicode.h"
#include "base/utf8.h"

namespace askbase::reader {
namespace {

using base::CharacterClass;

constexpr std::array<std::string_view, 5> kSpecial = {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"};

// A character of a word, and the code point of the text that it comes from.
struct Unit {
  char32_t c = 0;
  std::uint32_t from = 0;
};

// "CJK" as the reference has it: the blocks of ideographs, without kana and Hangul.
bool is_ideograph(char32_t c) {
  if (c < 0x3400) return false;
  return (c >= 0x4E00 && c <= 0x9FFF) || c <= 0x4DBF || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2CEAF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return is_ascii_punctuation(c);
  return !is_ideograph(c) && base::character_class(c) == CharacterClass::punctuation;
}

enum class Step : std::uint8_t { drop, space, keep, alone };

Step classify(char32_t c) {
  if (c < 0x80) {
    if (c > ' ' && c < 0x7F) return Step::keep;
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' ? Step::space : Step::drop;
  }
  if (c >= 0x4E00 && c <= 0x9FFF) return Step::alone;
  if (c == base::kReplacement) return Step::drop;
  switch (base::character_class(c)) {
    case CharacterClass::control:
      return Step::drop;
    case CharacterClass::space:
    case CharacterClass::line:
      return Step::space;
    default:
      return is_ideograph(c) ? Step::alone : Step::keep;
  }
}

// One pass through one text. The buffers grow to the longest word and are used for all words.
class Pass {
 public:
  Pass(const Vocabulary& vocabulary, const WordPieceOptions& options, Pieces& out)
      : vocabulary_(vocabulary), options_(options), out_(out) {}

  void run(std::string_view text) {
    std::uint32_t at = 0;  // code points
    for (std::size_t byte = 0, length = 0; byte < text.size(); byte += length, ++at) {
      if (options_.special_in_text && text[byte] == '[') {
        if (const std::string_view special = special_at(text.substr(byte)); !special.empty()) {
          end_word();
          length = special.size();
          emit(vocabulary_.id(special), at, at + static_cast<std::uint32_t>(length));
          at += static_cast<std::uint32_t>(length) - 1;
          continue;
        }
      }
      const char32_t c = base::decode_utf8(text, byte, length);
      switch (classify(c)) {
        case Step::keep:
          word_.push_back({c, at});
          break;
        case Step::alone:
          end_word();
          word_.push_back({c, at});
          end_word();
          break;
        case Step::space:
          end_word();
          break;
        case Step::drop:
          break;
      }
    }
    end_word();
  }

 private:
  std::string_view special_at(std::string_view rest) const {
    for (const std::string_view special : kSpecial) {
      if (rest.starts_with(special) && vocabulary_.id(special) >= 0) return special;
    }
    return {};
  }

  void emit(std::int32_t id, std::uint32_t begin, std::uint32_t end) {
    out_.ids.push_back(id);
    out_.begin.push_back(begin);
    out_.end.push_back(end);
  }

  void end_word() {
    if (word_.empty()) return;
    if (options_.lower_case) lower_word();
    if (options_.strip_accents) strip_word();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < word_.size(); ++i) {
      if (!is_punctuation(word_[i].c)) continue;
      pieces_of(begin, i);
      pieces_of(i, i + 1);
      begin = i + 1;
    }
    pieces_of(begin, word_.size());
    word_.clear();
  }

  void lower_word() {
    constexpr char32_t kSigma = 0x3A3, kCapitalIWithDot = 0x130;
    bool sigma = false, dotted = false;
    for (const Unit& unit : word_) {
      sigma |= unit.c == kSigma;
      dotted |= unit.c == kCapitalIWithDot;
    }
    if (sigma) lower_sigmas();
    for (Unit& unit : word_) {
      if (unit.c < 0x80) {
        if (unit.c >= 'A' && unit.c <= 'Z') unit.c += 'a' - 'A';
      } else if (unit.c != kCapitalIWithDot) {
        unit.c = base::simple_lower_case(unit.c);
      }
    }
    if (!dotted) return;
    // The one character whose lower case is two: "i" and U+0307.
    made_.clear();
    for (const Unit& unit : word_) {
      made_.push_back(unit.c == kCapitalIWithDot ? Unit{U'i', unit.from} : unit);
      if (unit.c == kCapitalIWithDot) made_.push_back({0x307, unit.from});
    }
    word_.swap(made_);
  }

  // A capital sigma becomes a final one after a cased letter and before none, case-ignorable characters
  // aside (Final_Sigma of the Unicode Standard, table 3-17). Two passes, so that it stays linear.
  void lower_sigmas() {
    constexpr char32_t kSigma = 0x3A3, kSmall = 0x3C3, kFinal = 0x3C2;
    after_cased_.resize(word_.size());
    bool cased = false;
    for (std::size_t i = 0; i < word_.size(); ++i) {
      after_cased_[i] = cased ? 1 : 0;
      if (!base::is_case_ignorable(word_[i].c)) cased = base::is_cased(word_[i].c);
    }
    cased = false;
    for (std::size_t i = word_.size(); i-- > 0;) {
      const char32_t c = word_[i].c;
      if (c == kSigma) word_[i].c = after_cased_[i] != 0 && !cased ? kFinal : kSmall;
      if (!base::is_case_ignorable(c)) cased = base::is_cased(c);
    }
  }

  void strip_word() {
    const auto plain = [](const Unit& unit) {  // ASCII, and Han without a decomposition
      return unit.c < 0xC0 || (unit.c >= 0x4E00 && unit.c <= 0x9FFF);
    };
    if (std::all_of(word_.begin(), word_.end(), plain)) return;
    made_.clear();
    std::size_t run = 0;  // where the characters after the last starter begin
    const auto end_run = [&] {
      const auto first = made_.begin() + static_cast<std::ptrdiff_t>(run);
      if (made_.size() - run > 1) {
        std::stable_sort(first, made_.end(), [](const Unit& a, const Unit& b) {
          return base::combining_class(a.c) < base::combining_class(b.c);
        });
      }
      const auto is_mark = [](const Unit& unit) {
        return base::character_class(unit.c) == CharacterClass::mark_no_width;
      };
      made_.erase(std::remove_if(first, made_.end(), is_mark), made_.end());
      run = made_.size();
    };
    std::array<char32_t, base::kLongestDecomposition> parts{};
    for (const Unit& unit : word_) {
      int count = 1;
      parts[0] = unit.c;
      if (!plain(unit)) count = base::canonical_decomposition(unit.c, parts.data());
      for (int i = 0; i < count; ++i) {
        const char32_t c = parts[static_cast<std::size_t>(i)];
        if (c >= 0x300 && base::combining_class(c) != 0) {
          made_.push_back({c, unit.from});
          continue;
        }
        end_run();
        if (c < 0x300 || base::character_class(c) != CharacterClass::mark_no_width) {
          made_.push_back({c, unit.from});
        }
        run = made_.size();
      }
    }
    end_run();
    word_.swap(made_);
  }

  // Units [begin, end) of the word, which has no punctuation inside.
  void pieces_of(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    const std::size_t before = out_.size();
    bool known = end - begin <= WordPiece::kLongestWord;
    for (std::size_t at = begin; known && at < end;) {
      Vocabulary::Node node = at == begin ? vocabulary_.word_root() : vocabulary_.continuation_root();
      std::int32_t best = -1;
      std::size_t best_end = at;
      for (std::size_t i = at; node != Vocabulary::kNone && i < end; ++i) {
        node = vocabulary_.child(node, word_[i].c);
        if (node == Vocabulary::kNone) break;
        if (const std::int32_t id = vocabulary_.piece_at(node); id >= 0) {
          best = id;
          best_end = i + 1;
        }
      }
      known = best >= 0;
      if (known) emit(best, word_[at].from, word_[best_end - 1].from + 1);
      at = best_end;
    }
    if (known) return;
    out_.ids.resize(before);
    out_.begin.resize(before);
    out_.end.resize(before);
    emit(vocabulary_.unknown(), word_[begin].from, word_[end - 1].from + 1);
  }

  const Vocabulary& vocabulary_;
  const WordPieceOptions& options_;
  Pieces& out_;
  std::vector<Unit> word_, made_;
  std::vector<std::uint8_t> after_cased_;
};

void append(EncoderInput& input, std::span<const std::int32_t> ids, std::int32_t type) {
  input.ids.insert(input.ids.end(), ids.begin(), ids.end());
  input.types.resize(input.ids.size(), type);
}

EncoderInput assemble(const Vocabulary& vocabulary, std::span<const std::int32_t> a,
                      std::span<const std::int32_t> b, bool pair) {
  const std::array<std::int32_t, 1> start = {vocabulary.start()}, separator = {vocabulary.separator()};
  EncoderInput input;
  append(input, start, 0);
  input.first = input.ids.size();
  input.first_size = a.size();
  append(input, a, 0);
  append(input, separator, 0);
  if (!pair) return input;
  input.second = input.ids.size();
  input.second_size = b.size();
  append(input, b, 1);
  append(input, separator, 1);
  return input;
}

std::span<const std::int32_t> ids_of(const Pieces& pieces, std::size_t begin, std::size_t count) {
  return std::span(pieces.ids).subspan(begin, count);
}

}  // namespace

void Pieces::clear() {
  ids.clear();
  begin.clear();
  end.clear();
}

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options)
    : vocabulary_(std::move(vocabulary)), options_(options) {}

void WordPiece::tokenize(std::string_view text, Pieces& out) const {
  if (text.size() >= std::size_t{1} << 31) {
    throw std::length_error("reader::WordPiece: a text of 2 GiB or more");
  }
  out.clear();
  Pass(vocabulary_, options_, out).run(text);
}

Pieces WordPiece::tokenize(std::string_view text) const {
  Pieces out;
  tokenize(text, out);
  return out;
}

EncoderInput encode_one(const Vocabulary& vocabulary, const Pieces& a, std::size_t max_length) {
  if (max_length < 2) throw std::logic_error("reader::encode_one: no room for [CLS] and [SEP]");
  return assemble(vocabulary, ids_of(a, 0, std::min(a.size(), max_length - 2)), {}, false);
}

EncoderInput encode_pair(const Vocabulary& vocabulary, const Pieces& a, const Pieces& b,
                         std::size_t max_length) {
  if (max_length < 3) throw std::logic_error("reader::encode_pair: no room for [CLS] and two [SEP]");
  const std::size_t room = max_length - 3;
  std::size_t first = a.size(), second = b.size();
  if (first + second > room) {
    // Both are cut to the same size, unless the shorter needs less than half.
    const std::size_t half = room / 2;
    if (second <= half) {
      first = room - second;
    } else if (first <= room - half) {
      second = room - first;
    } else {
      first = room - half;
      second = half;
    }
  }
  return assemble(vocabulary, ids_of(a, 0, first), ids_of(b, 0, second), true);
}

std::vector<Window> plan_windows(std::size_t question, std::size_t context, const WindowOptions& options) {
  const std::size_t beside = std::min(question, options.max_question) + 3;
  if (options.max_length <= beside || options.stride == 0) {
    throw std::logic_error("reader::plan_windows: no room for the context, or no stride");
  }
  const std::size_t room = options.max_length - beside;
  const std::size_t stride = std::min(options.stride, room);
  std::vector<Window> windows;
  for (std::size_t begin = 0;; begin += stride) {
    const std::size_t end = std::min(begin + room, context);
    windows.push_back({begin, end});
    if (end == context) return windows;
  }
}

EncoderInput encode_window(const Vocabulary& vocabulary, const Pieces& question, const Pieces& context,
                           const Window& window, const WindowOptions& options) {
  if (window.begin > window.end || window.end > context.size()) {
    throw std::logic_error("reader::encode_window: a window outside the context");
  }
  return assemble(vocabulary, ids_of(question, 0, std::min(question.size(), options.max_question)),
                  ids_of(context, window.begin, window.end - window.begin), true);
}

}  // namespace askbase::reader
