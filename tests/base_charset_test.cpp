#include <doctest/doctest.h>
#include <random>
#include <string>

#include "base/charset.h"
#include "base/text.h"

namespace askbase::base {
namespace {

// Encoded by Python: "实体,标签\n北京,中国的首都\n上海,港口城市\n".encode("gb18030"), and so on.
const std::string kText = "实体,标签\n北京,中国的首都\n上海,港口城市\n";
const std::string kGb =
    "\xca\xb5\xcc\xe5\x2c\xb1\xea\xc7\xa9\x0a\xb1\xb1\xbe\xa9\x2c\xd6\xd0\xb9\xfa\xb5\xc4\xca\xd7\xb6\xbc\x0a"
    "\xc9\xcf\xba\xa3\x2c\xb8\xdb\xbf\xda\xb3\xc7\xca\xd0\x0a";

std::string utf16(std::string_view utf8, bool big_endian) {
  std::string out;
  const auto unit = [&](char32_t value) {
    const char high = static_cast<char>(value >> 8), low = static_cast<char>(value & 0xFF);
    out += big_endian ? high : low;
    out += big_endian ? low : high;
  };
  for (const char32_t c : to_code_points(utf8)) {
    if (c < 0x10000) {
      unit(c);
    } else {
      unit(0xD800 + ((c - 0x10000) >> 10));
      unit(0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  return out;
}

std::string detected(const std::string& bytes, bool whole = true) {
  const Result<Charset> found = detect_charset(bytes, whole);
  if (found) return std::string(charset_name(*found));
  CHECK(found.error().code == ErrorCode::unsupported);
  return found.error().message;
}

TEST_CASE("detection") {
  CHECK(detected("") == "UTF-8");
  CHECK(detected("plain ascii") == "UTF-8");
  CHECK(detected(kText) == "UTF-8");
  CHECK(detected("\xEF\xBB\xBF" + kText) == "UTF-8");
  CHECK(detected(kGb) == "GB18030");
  CHECK(detected("\xFF\xFE" + utf16(kText, false)) == "UTF-16LE");
  CHECK(detected("\xFE\xFF" + utf16(kText, true)) == "UTF-16BE");
  CHECK(detected(utf16("name,value\nParis,1\n", false)) == "UTF-16LE");
  CHECK(detected(utf16("name,value\nParis,1\n", true)) == "UTF-16BE");
  CHECK(detected(utf16(kText, false)) == "UTF-16LE");
  CHECK(detected(utf16(kText, true)) == "UTF-16BE");
  // Traditional Chinese in GB18030: "臺灣的首都是臺北市，人口約兩百五十萬。"
  CHECK(detected(
            "\xc5\x5f\x9e\xb3\xb5\xc4\xca\xd7\xb6\xbc\xca\xc7\xc5\x5f\xb1\xb1\xca\xd0\xa3\xac\xc8\xcb\xbf\xda"
            "\xbc\x73\x83\xc9\xb0\xd9\xce\xe5\xca\xae\xc8\x66\xa1\xa3") == "GB18030");
}

TEST_CASE("what is none of them is refused with its first bad byte") {
  // French and German in Latin-1, "臺灣的首都是臺北市" in Big5, Japanese in Shift-JIS, random bytes.
  CHECK(detected("caf\xe9\n").find("byte 3 (line 1, value 0xE9)") != std::string::npos);
  CHECK(detected("ligne un\nun caf\xe9t\xe9ria, \xe9l\xe8ve").find("byte 15 (line 2, value 0xE9)") !=
        std::string::npos);
  CHECK(detected("M\xfcller, Stra\xdf"
                 "e")
            .find("neither UTF-8") == 0);
  CHECK(
      detected("\xbb\x4f\xc6\x57\xaa\xba\xad\xba\xb3\xa3\xac\x4f\xbb\x4f\xa5\x5f\xa5\xab").find("neither") ==
      0);
  CHECK(detected("\x93\xfa\x96\x7b\x82\xcc\x8e\xf1\x93\x73\x82\xcd\x93\x8c\x8b\x9e\x82\xc5\x82\xb7")
            .find("neither") == 0);
  CHECK(detected(std::string("\xFF\xFE\0\0a\0\0\0", 8)).find("UTF-32") == 0);
  std::mt19937 random(41);
  std::string noise;
  for (int i = 0; i < 4000; ++i) noise += static_cast<char>(random());
  CHECK(detected(noise).find("neither") == 0);
}

TEST_CASE("a sample may end inside a character") {
  for (std::size_t size = 0; size <= kText.size(); ++size)
    CHECK(detected(kText.substr(0, size), false) == "UTF-8");
  for (std::size_t size = 4; size <= kGb.size(); ++size)
    CHECK(detected(kGb.substr(0, size), false) == "GB18030");
  const std::string wide = "\xFF\xFE" + utf16("a😀b", false);
  for (std::size_t size = 2; size <= wide.size(); ++size)
    CHECK(detected(wide.substr(0, size), false) == "UTF-16LE");
  CHECK(detected("中国\xE4\xB8", true).find("byte 6") != std::string::npos);
  CHECK(detected("中国\xE4\xB8", false) == "UTF-8");
  CHECK(detected("plain \xE4\x20", false).find("byte 6") != std::string::npos);
}

TEST_CASE("decoding") {
  CHECK(*decode(kGb, Charset::gb18030) == kText);
  CHECK(*decode("\xEF\xBB\xBF" + kText, Charset::utf8) == kText);
  CHECK(*decode(kText, Charset::utf8) == kText);
  for (const bool big : {false, true}) {
    const Charset charset = big ? Charset::utf16be : Charset::utf16le;
    const std::string mark = big ? "\xFE\xFF" : "\xFF\xFE";
    CHECK(*decode(utf16(kText + "😀𠀀", big), charset) == kText + "😀𠀀");
    CHECK(*decode(mark + utf16(kText, big), charset) == kText);
  }
  // Four-byte characters and the euro sign: "𠀀é€😀".encode("gb18030").
  CHECK(*decode("\x95\x32\x82\x36\xa8\xa6\xa2\xe3\x94\x39\xfc\x36", Charset::gb18030) == "𠀀é€😀");
  CHECK(*decode("", Charset::gb18030) == "");
  // Long enough to pass through the converter's buffer many times.
  std::string long_gb, long_text;
  for (int i = 0; i < 3000; ++i) long_gb += kGb, long_text += kText;
  CHECK(*decode(long_gb, Charset::gb18030) == long_text);
}

TEST_CASE("mixed encodings are refused, not garbled") {
  const auto problem = [](const std::string& bytes, Charset charset) {
    const Result<std::string> decoded = decode(bytes, charset);
    REQUIRE_FALSE(decoded.has_value());
    CHECK(decoded.error().code == ErrorCode::bad_input);
    return decoded.error().message;
  };
  // The first two bytes of the second part happen to be UTF-8.
  CHECK(problem(kText + kGb, Charset::utf8) == "not UTF-8 at byte 59 (line 4, value 0xCC)");
  CHECK(problem(kGb + "\xff\xff", Charset::gb18030) == "not GB18030 at byte 40 (line 4, value 0xFF)");
  CHECK(problem("\xd6\xd0\n\xb9", Charset::gb18030) == "not GB18030 at byte 3 (line 2, value 0xB9)");
  CHECK(problem("\xd6\xd0\xb9\x20zz", Charset::gb18030) == "not GB18030 at byte 2 (line 1, value 0xB9)");
  CHECK(problem(utf16("a\n", false) + std::string("\x00\xdc", 2), Charset::utf16le) ==
        "not UTF-16LE at byte 4 (line 2, value 0x00)");
  CHECK(problem("\xFE\xFF" + utf16("ab", true) + "\xd8", Charset::utf16be) ==
        "not UTF-16BE at byte 6 (line 1, value 0xD8)");
  CHECK(problem(utf16("上", false) + std::string("\x3d\xd8", 2), Charset::utf16le).find("byte 2") !=
        std::string::npos);
}

TEST_CASE("random bytes decode to valid UTF-8 or are refused") {
  std::mt19937 random(43);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    for (std::size_t i = random() % 40; i > 0; --i) bytes += static_cast<char>(random());
    (void)detect_charset(bytes, round % 2 == 0);
    for (const Charset charset : {Charset::utf8, Charset::utf16le, Charset::utf16be, Charset::gb18030}) {
      const Result<std::string> decoded = decode(bytes, charset);
      if (decoded) CHECK(valid_utf8(*decoded));
    }
  }
}

}  // namespace
}  // namespace askbase::base
