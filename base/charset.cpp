#include "base/charset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <unicode/ucnv.h>

#include "base/text.h"
#include "base/utf8.h"

namespace askbase::base {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kUtf16LeMark = "\xFF\xFE";
constexpr std::string_view kUtf16BeMark = "\xFE\xFF";
constexpr std::string_view kUtf32LeMark("\xFF\xFE\0\0", 4);
constexpr std::string_view kUtf32BeMark("\0\0\xFE\xFF", 4);

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Where decoding stopped, in bytes; nothing when all of it decoded. A character cut off at the end of an
// incomplete text is no fault.
struct Decoded {
  std::string text;
  std::optional<std::size_t> bad;
};

Decoded decode_utf16(std::string_view bytes, bool big_endian, bool whole) {
  Decoded out;
  out.text.reserve(bytes.size());
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]),
               second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::size_t at = 0;
  while (at + 1 < bytes.size()) {
    char32_t c = unit(at);
    std::size_t length = 2;
    if (c >= 0xD800 && c < 0xE000) {
      if (c < 0xDC00 && at + 3 >= bytes.size() && !whole) return out;
      const char32_t low = at + 3 < bytes.size() ? unit(at + 2) : 0;
      if (c >= 0xDC00 || low < 0xDC00 || low >= 0xE000) {
        out.bad = at;
        return out;
      }
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      length = 4;
    }
    append_utf8(out.text, c);
    at += length;
  }
  if (at < bytes.size() && whole) out.bad = at;
  return out;
}

Decoded decode_gb18030(std::string_view bytes, bool whole) {
  Decoded out;
  UErrorCode status = U_ZERO_ERROR;
  struct Close {
    void operator()(UConverter* converter) const { ucnv_close(converter); }
  };
  const std::unique_ptr<UConverter, Close> converter(ucnv_open("gb18030", &status));
  ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
  if (U_FAILURE(status)) {
    out.bad = 0;
    return out;
  }
  out.text.reserve(bytes.size() * 3 / 2);
  const char* source = bytes.data();
  const char* const end = source + bytes.size();
  std::array<UChar, 4096> units;
  char32_t lead = 0;
  do {
    UChar* target = units.data();
    status = U_ZERO_ERROR;
    ucnv_toUnicode(converter.get(), &target, units.data() + units.size(), &source, end, nullptr,
                   static_cast<UBool>(whole), &status);
    for (const UChar* unit = units.data(); unit < target; ++unit) {
      if (U16_IS_LEAD(*unit)) {
        lead = *unit;
      } else if (U16_IS_TRAIL(*unit)) {
        append_utf8(out.text, static_cast<char32_t>(U16_GET_SUPPLEMENTARY(lead, *unit)));
      } else {
        append_utf8(out.text, *unit);
      }
    }
  } while (status == U_BUFFER_OVERFLOW_ERROR);
  if (U_FAILURE(status)) {
    // The converter has read past the bytes that it could not use.
    std::array<char, 32> invalid;
    auto length = static_cast<std::int8_t>(invalid.size());
    UErrorCode ignored = U_ZERO_ERROR;
    ucnv_getInvalidChars(converter.get(), invalid.data(), &length, &ignored);
    const auto reached = static_cast<std::size_t>(source - bytes.data());
    out.bad = reached - std::min(reached, static_cast<std::size_t>(std::max<int>(length, 1)));
  }
  return out;
}

// Mostly NULs at one parity: Latin, digits and line breaks of UTF-16; Chinese text has some too.
std::optional<Charset> utf16_by_nuls(std::string_view sample) {
  std::array<std::size_t, 2> nuls{};
  const std::size_t pairs = sample.size() / 2;
  for (std::size_t i = 0; i < pairs * 2; ++i) nuls[i % 2] += sample[i] == '\0' ? 1 : 0;
  if (nuls[0] + nuls[1] == 0) return std::nullopt;
  // A true UTF-16 text has NULs at one side only, but for U+0000 itself and characters like U+4E00.
  if (nuls[1] * 50 >= pairs && nuls[0] * 10 <= nuls[1]) return Charset::utf16le;
  if (nuls[0] * 50 >= pairs && nuls[1] * 10 <= nuls[0]) return Charset::utf16be;
  return std::nullopt;
}

// Text that someone wrote in Chinese. Nearly any bytes decode as GB18030, so both the characters and the
// bytes must look like it: of what is not ASCII, most is Han or Chinese punctuation, and a good part lies in
// the rows of GB 2312 that hold punctuation and the common characters (Traditional text shares half of
// those). French in Latin-1 has single high bytes before letters, Big5 gives kana and private characters.
bool plausible_chinese(std::string_view bytes, std::string_view decoded) {
  std::size_t chinese = 0, other = 0;
  for (std::size_t at = 0, length; at < decoded.size(); at += length) {
    const char32_t c = decode_utf8(decoded, at, length);
    if (c < 0x80) {
      if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') return false;
      continue;
    }
    const bool common = (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3000 && c <= 0x303F) ||
                        (c >= 0xFF00 && c <= 0xFF5E) || (c >= 0x2010 && c <= 0x2027) || c == 0xB7 ||
                        c == 0xD7;
    if (common) {
      ++chinese;
    } else {
      ++other;
    }
  }
  if (chinese == 0 || chinese < 4 * other) return false;

  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  std::size_t in_common_rows = 0;
  for (std::size_t at = 0; at + 1 < bytes.size();) {
    if (byte(at) < 0x80) {
      ++at;
    } else if (byte(at + 1) < 0x40) {
      at += 4;
    } else {
      const bool row = (byte(at) >= 0xB0 && byte(at) <= 0xD7) || byte(at) == 0xA1 || byte(at) == 0xA3;
      in_common_rows += row && byte(at + 1) >= 0xA1 ? 1 : 0;
      at += 2;
    }
  }
  return in_common_rows * 5 >= (chinese + other) * 2;
}

// The first byte that is not UTF-8; a character cut off at the end of an incomplete sample is no fault.
std::optional<std::size_t> bad_utf8(std::string_view sample, bool whole) {
  const std::optional<std::size_t> bad = first_invalid_utf8(sample);
  if (!bad || whole || sample.size() - *bad > 3) return bad;
  // Cut off: a lead byte that promises more than is left, and nothing but continuation bytes after it.
  const auto lead = static_cast<unsigned char>(sample[*bad]);
  const std::size_t promised = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (lead > 0xF4 || promised <= sample.size() - *bad) return bad;
  for (std::size_t i = *bad + 1; i < sample.size(); ++i) {
    if ((static_cast<unsigned char>(sample[i]) & 0xC0) != 0x80) return bad;
  }
  return std::nullopt;
}

std::string place(std::string_view bytes, std::size_t bad, Charset charset) {
  // Line breaks of UTF-16 are counted by units: the byte 0x0A occurs inside other characters.
  std::size_t line = 1;
  if (charset == Charset::utf16le || charset == Charset::utf16be) {
    const std::size_t low = charset == Charset::utf16le ? 0 : 1;
    for (std::size_t at = 0; at + 1 < bad; at += 2) {
      line += bytes[at + low] == '\n' && bytes[at + 1 - low] == '\0' ? 1 : 0;
    }
  } else {
    line += static_cast<std::size_t>(
        std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bad), '\n'));
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(bytes[bad]);
  return std::string("byte ") + std::to_string(bad) + " (line " + std::to_string(line) + ", value 0x" +
         kHex[value >> 4] + kHex[value & 15] + ")";
}

}  // namespace

std::string_view charset_name(Charset charset) {
  switch (charset) {
    case Charset::utf8:
      return "UTF-8";
    case Charset::utf16le:
      return "UTF-16LE";
    case Charset::utf16be:
      return "UTF-16BE";
    case Charset::gb18030:
      return "GB18030";
  }
  return "UTF-8";
}

Result<Charset> detect_charset(std::string_view sample, bool whole) {
  if (starts_with(sample, kUtf8Mark)) return Charset::utf8;
  if (starts_with(sample, kUtf32LeMark) || starts_with(sample, kUtf32BeMark)) {
    return fail(ErrorCode::unsupported, "UTF-32 by its byte order mark at byte 0", "save the file as UTF-8");
  }
  if (starts_with(sample, kUtf16LeMark)) return Charset::utf16le;
  if (starts_with(sample, kUtf16BeMark)) return Charset::utf16be;
  if (const auto by_nuls = utf16_by_nuls(sample)) {
    if (!decode_utf16(sample, *by_nuls == Charset::utf16be, whole).bad) return *by_nuls;
  }
  const std::optional<std::size_t> bad = bad_utf8(sample, whole);
  if (!bad) return Charset::utf8;
  const Decoded chinese = decode_gb18030(sample, whole);
  if (!chinese.bad && plausible_chinese(sample, chinese.text)) return Charset::gb18030;
  return fail(ErrorCode::unsupported,
              "neither UTF-8, UTF-16 nor GB18030: not UTF-8 from " + place(sample, *bad, Charset::utf8),
              "save the file as UTF-8");
}

Result<std::string> decode(std::string_view bytes, Charset charset) {
  Decoded decoded;
  std::size_t mark = 0;
  switch (charset) {
    case Charset::utf8:
      mark = starts_with(bytes, kUtf8Mark) ? kUtf8Mark.size() : 0;
      decoded.bad = first_invalid_utf8(bytes);
      if (!decoded.bad) decoded.text = bytes.substr(mark);
      break;
    case Charset::utf16le:
    case Charset::utf16be: {
      const bool big = charset == Charset::utf16be;
      mark = starts_with(bytes, big ? kUtf16BeMark : kUtf16LeMark) ? 2 : 0;
      decoded = decode_utf16(bytes.substr(mark), big, true);
      break;
    }
    case Charset::gb18030:
      decoded = decode_gb18030(bytes, true);
      // GB18030 can write U+FEFF too.
      if (!decoded.bad && starts_with(decoded.text, kUtf8Mark)) decoded.text.erase(0, kUtf8Mark.size());
      break;
  }
  if (decoded.bad) {
    const std::size_t bad = *decoded.bad + (charset == Charset::utf8 ? 0 : mark);
    return fail(ErrorCode::bad_input,
                "not " + std::string(charset_name(charset)) + " at " + place(bytes, bad, charset),
                "the text mixes encodings or is damaged; save it as UTF-8");
  }
  return std::move(decoded.text);
}

}  // namespace askbase::base
