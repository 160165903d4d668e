// Normal forms and matching keys.
#include "base/text.h"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include "base/han.h"
#include "base/utf8.h"

namespace askbase::base {
namespace {

using icu::Normalizer2;
using icu::UnicodeString;

const Normalizer2& normalizer(const Normalizer2* (*get)(UErrorCode&)) {
  UErrorCode status = U_ZERO_ERROR;
  const Normalizer2* const instance = get(status);  // ICU's own immutable singleton
  if (U_FAILURE(status) || instance == nullptr) {
    throw std::runtime_error(std::string("ICU data lacks the normalisation tables: ") + u_errorName(status));
  }
  return *instance;
}
const Normalizer2& to_nfkc() {
  static const Normalizer2& instance = normalizer(Normalizer2::getNFKCInstance);
  return instance;
}
const Normalizer2& to_nfc() {
  static const Normalizer2& instance = normalizer(Normalizer2::getNFCInstance);
  return instance;
}
const Normalizer2& to_nfd() {
  static const Normalizer2& instance = normalizer(Normalizer2::getNFDInstance);
  return instance;
}

UnicodeString normalized(const Normalizer2& form, const UnicodeString& text) {
  UErrorCode status = U_ZERO_ERROR;
  UnicodeString out = form.normalize(text, status);
  if (U_FAILURE(status)) throw std::bad_alloc();  // the only way it fails on any text
  return out;
}

// ICU's own conversion would make one U+FFFD of several bad bytes.
UnicodeString to_icu(std::string_view text) {
  if (text.size() > INT32_MAX) throw std::length_error("text of 2 GiB or more");
  UnicodeString out;
  char16_t* const begin = out.getBuffer(static_cast<std::int32_t>(text.size()));
  if (begin == nullptr) throw std::bad_alloc();
  std::int32_t size = 0;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    const char32_t c = decode_utf8(text, at, length);
    U16_APPEND_UNSAFE(begin, size, c);
  }
  out.releaseBuffer(size);
  return out;
}

std::string from_icu(const UnicodeString& text) {
  std::string out;
  return text.toUTF8String(out);
}

bool is_ascii(std::string_view text) {
  std::uint64_t high = 0, word = 0;
  std::size_t at = 0;
  for (; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    high |= word;
  }
  for (; at < text.size(); ++at) high |= static_cast<unsigned char>(text[at]);
  return (high & 0x8080808080808080U) == 0;
}

constexpr char32_t kSeparator = U' ';
constexpr bool is_ascii_word(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '#' || c == '&' || c == '%' ||
         c == '$' || c == '=';
}

// Apostrophes and what people type for them, dropped before anything else: NFKC would take an acute accent
// standing alone apart into a space and a combining mark.
bool is_apostrophe(char32_t c) {
  switch (c) {
    case U'\'':
    case U'`':
    case 0xB4:   // acute accent
    case 0x2B9:  // modifier letter prime
    case 0x2BB:  // okina
    case 0x2BC:  // modifier letter apostrophe
    case 0x2BD:
    case 0x2BE:  // half rings of romanised Arabic
    case 0x2BF:
    case 0x2018:
    case 0x2019:
    case 0x201B:
    case 0x2032:  // prime
    case 0xA78C:  // saltillo
    case 0xFF07:  // fullwidth apostrophe
      return true;
    default:
      return false;
  }
}

// Marks of ownership that some write after a name and others do not.
bool is_trade_mark(char32_t c) { return c == 0xA9 || c == 0xAE || c == 0x2117 || c == 0x2120 || c == 0x2122; }

// Letters that Unicode does not take apart into a base and a mark, though readers do.
std::u32string_view plain_letters(char32_t c) {
  switch (c) {
    case U'ø':
      return U"o";
    case U'ł':
      return U"l";
    case U'đ':
    case U'ð':
      return U"d";
    case U'ħ':
      return U"h";
    case U'ŧ':
      return U"t";
    case U'ı':
      return U"i";
    case U'æ':
      return U"ae";
    case U'œ':
      return U"oe";
    case U'þ':
      return U"th";
    default:
      return {};
  }
}

enum class Base { none, stripped, kept };  // what a combining mark follows

Base base_kind(char32_t c) {
  if (!u_isalpha(static_cast<UChar32>(c))) return Base::none;
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &status);
  const bool strip = script == USCRIPT_LATIN || script == USCRIPT_GREEK || script == USCRIPT_CYRILLIC;
  return strip ? Base::stripped : Base::kept;
}

// The marks used over any letter; a script's own signs (vowels of Devanagari, kana voicing) are letters in
// all but name.
bool is_general_mark(char32_t c) {
  return (c >= 0x300 && c < 0x370) || (c >= 0x1AB0 && c < 0x1B00) || (c >= 0x1DC0 && c < 0x1E00) ||
         (c >= 0x20D0 && c < 0x2100) || (c >= 0xFE00 && c < 0xFE10) || (c >= 0xFE20 && c < 0xFE30);
}

bool is_separator(char32_t c) {
  if (c < 0x80) return !is_ascii_word(c);
  switch (c) {
    case 0x2044:  // the slash of fractions: "½" and "1/2" meet
    case 0x2212:  // minus
    case 0x2215:  // division slash
    case 0x2219:  // bullet and dot operators, typed for the dot between names
    case 0x22C5:
    case kReplacement:
      return true;
    default:
      break;
  }
  const std::uint32_t mask = U_GET_GC_MASK(static_cast<UChar32>(c));
  return (mask & (U_GC_P_MASK | U_GC_Z_MASK | U_GC_CC_MASK | U_GC_CS_MASK | U_GC_SK_MASK)) != 0;
}

// The key of the text with every separator as one U+0020, before they are squeezed.
std::u32string unsqueezed_key(std::string_view text) {
  UnicodeString kept;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    const auto c = static_cast<UChar32>(decode_utf8(text, at, length));
    if (is_apostrophe(static_cast<char32_t>(c)) || is_trade_mark(static_cast<char32_t>(c))) continue;
    // Soft hyphens, joiners, direction marks: invisible, so no one can type them again.
    if (u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) || u_charType(c) == U_FORMAT_CHAR)
      continue;
    kept.append(c);
  }
  // Folding can undo a normal form (and the other way round for a few letters), hence twice.
  UnicodeString folded = normalized(to_nfkc(), kept);
  folded.foldCase();
  folded = normalized(to_nfkc(), folded);
  folded.foldCase();
  const UnicodeString apart = normalized(to_nfd(), folded);

  UnicodeString plain;
  Base base = Base::none;
  for (std::int32_t i = 0; i < apart.length(); i = apart.moveIndex32(i, 1)) {
    const UChar32 c = apart.char32At(i);
    const auto point = static_cast<char32_t>(c);
    const std::uint32_t mask = U_GET_GC_MASK(c);
    if ((mask & (U_GC_MN_MASK | U_GC_ME_MASK)) != 0) {
      if (base == Base::stripped || (base == Base::none && is_general_mark(point))) continue;
      plain.append(c);
      continue;
    }
    base = base_kind(point);
    if (is_apostrophe(point)) continue;
    if (is_separator(point)) {
      plain.append(static_cast<UChar32>(kSeparator));
    } else if (const std::u32string_view letters = plain_letters(point); !letters.empty()) {
      for (const char32_t letter : letters) plain.append(static_cast<UChar32>(letter));
    } else {
      plain.append(c);
    }
  }
  std::u32string out = to_code_points(from_icu(normalized(to_nfc(), plain)));
  for (char32_t& c : out) c = han_variant_class(c);
  return out;
}

// Puts key characters together: one space for a run of separators, none at the ends or beside Han.
class KeyWriter {
 public:
  explicit KeyWriter(std::size_t size) { out_.reserve(size); }
  void separator() { pending_ = true; }
  void put(const char* bytes, std::size_t size, bool han) {
    if (pending_ && !out_.empty() && !han && !after_han_) out_ += ' ';
    pending_ = false;
    after_han_ = han;
    out_.append(bytes, size);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  bool pending_ = false, after_han_ = false;
};

// Keys of single characters, computed 256 at a time when first met. The key of a text is the keys of its
// characters put together as long as none of them combines with the one before it.
struct CharacterKey {
  enum Kind : std::uint8_t { text, han, separator, nothing, in_context };
  std::array<char, 6> bytes{};
  std::uint8_t size = 0;
  Kind kind = nothing;
};
using Page = std::array<CharacterKey, 256>;

CharacterKey character_key(char32_t c) {
  CharacterKey key;
  const auto starts_segment = [](char32_t point) {
    const auto p = static_cast<UChar32>(point);
    return to_nfkc().hasBoundaryBefore(p) && to_nfc().hasBoundaryBefore(p) && u_getCombiningClass(p) == 0 &&
           (U_GET_GC_MASK(p) & U_GC_M_MASK) == 0;
  };
  key.kind = CharacterKey::in_context;
  if (c >= 0xD800 && c < 0xE000) return key;  // not reached: decoding gives U+FFFD
  std::string utf8;
  append_utf8(utf8, c);
  const std::u32string points = unsqueezed_key(utf8);
  if (points.empty()) {
    // Marks vanish or not by what they follow; the rest of what vanishes always does.
    if (starts_segment(c) || u_charType(static_cast<UChar32>(c)) == U_FORMAT_CHAR || is_apostrophe(c)) {
      key.kind = CharacterKey::nothing;
    }
    return key;
  }
  if (!starts_segment(c) || !starts_segment(points.front())) return key;
  if (points.find_first_not_of(kSeparator) == std::u32string::npos) {
    key.kind = CharacterKey::separator;
    return key;
  }
  const std::string bytes = to_utf8(points);
  if (bytes.size() > key.bytes.size() || points.find(kSeparator) != std::u32string::npos) return key;
  std::size_t han = 0;
  for (const char32_t point : points) han += is_han(point) ? 1 : 0;
  if (han != 0 && han != points.size()) return key;
  std::memcpy(key.bytes.data(), bytes.data(), bytes.size());
  key.size = static_cast<std::uint8_t>(bytes.size());
  key.kind = han != 0 ? CharacterKey::han : CharacterKey::text;
  return key;
}

const CharacterKey& cached_character_key(char32_t c) {
  static std::array<std::atomic<const Page*>, 0x110000 / 256> pages{};
  std::atomic<const Page*>& slot = pages[c / 256];
  const Page* page = slot.load(std::memory_order_acquire);
  if (page == nullptr) {
    auto made = std::make_unique<Page>();
    for (std::size_t i = 0; i < made->size(); ++i) {
      (*made)[i] = character_key(static_cast<char32_t>((c & ~char32_t{0xFF}) + i));
    }
    // Of two threads that made it at once, one keeps the other's. Pages live as long as the process.
    if (slot.compare_exchange_strong(page, made.get(), std::memory_order_acq_rel)) page = made.release();
  }
  return (*page)[c % 256];
}

std::string key_in_context(std::string_view text) {
  KeyWriter writer(text.size());
  std::string bytes;
  for (const char32_t c : unsqueezed_key(text)) {
    if (c == kSeparator) {
      writer.separator();
      continue;
    }
    bytes.clear();
    append_utf8(bytes, c);
    writer.put(bytes.data(), bytes.size(), is_han(c));
  }
  return writer.take();
}

// What the pages hold for ASCII, without asking them.
constexpr std::array<char, 128> kAsciiKey = [] {
  std::array<char, 128> table{};
  for (char32_t c = 0; c < 128; ++c) {
    const char32_t lower = c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
    table[c] = is_ascii_word(lower) ? static_cast<char>(lower) : ' ';
  }
  table['\''] = table['`'] = '\0';
  return table;
}();

std::string ascii_key(std::string_view text) {
  std::string out(text.size(), '\0');
  char* end = out.data();
  bool pending = false;
  for (const char c : text) {
    const char key = kAsciiKey[static_cast<unsigned char>(c)];
    if (key == ' ') {
      pending = true;
    } else if (key != '\0') {
      if (pending && end != out.data()) *end++ = ' ';
      pending = false;
      *end++ = key;
    }
  }
  out.resize(static_cast<std::size_t>(end - out.data()));
  return out;
}

}  // namespace

std::string nfkc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return from_icu(normalized(to_nfkc(), to_icu(text)));
}

std::string fold_case(std::string_view text) {
  if (is_ascii(text)) {
    std::string out(text);
    for (char& c : out) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
  }
  UnicodeString folded = normalized(to_nfkc(), to_icu(text));
  folded.foldCase();
  return from_icu(normalized(to_nfkc(), folded));
}

std::string match_key(std::string_view text) {
  if (is_ascii(text)) return ascii_key(text);
  KeyWriter writer(text.size());
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    const CharacterKey& key = cached_character_key(decode_utf8(text, at, length));
    switch (key.kind) {
      case CharacterKey::text:
        writer.put(key.bytes.data(), key.size, false);
        break;
      case CharacterKey::han:
        writer.put(key.bytes.data(), key.size, true);
        break;
      case CharacterKey::separator:
        writer.separator();
        break;
      case CharacterKey::nothing:
        break;
      case CharacterKey::in_context:
        return key_in_context(text);
    }
  }
  return writer.take();
}

bool is_han(char32_t c) {
  if (c < 0x2E80) return false;
  if (c >= 0x4E00 && c <= 0x9FFF) return true;
  UErrorCode status = U_ZERO_ERROR;
  return uscript_getScript(static_cast<UChar32>(c), &status) == USCRIPT_HAN;
}

bool contains_han(std::string_view text) {
  if (is_ascii(text)) return false;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    if (is_han(decode_utf8(text, at, length))) return true;
  }
  return false;
}

}  // namespace askbase::base
