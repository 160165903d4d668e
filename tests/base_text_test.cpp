#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "tests/test_support.h"

namespace askbase::base {
namespace {

// Random text of mixed scripts, one to four bytes a code point.
std::u32string random_points(std::mt19937& random, std::size_t most) {
  static const std::vector<std::pair<char32_t, char32_t>> blocks = {
      {0x20, 0x7E},     {0x20, 0x7E},       {0xA0, 0x24F},      {0x300, 0x36F},    {0x370, 0x52F},
      {0x1100, 0x11FF}, {0x2000, 0x22FF},   {0x3000, 0x33FF},   {0x4E00, 0x9FFF},  {0xAC00, 0xD7A3},
      {0xF900, 0xFFFD}, {0x1D400, 0x1D7FF}, {0x1F300, 0x1F6FF}, {0x20000, 0x2A6DF}};
  std::u32string out;
  const std::size_t size = random() % (most + 1);
  while (out.size() < size) {
    const auto& [first, last] = blocks[random() % blocks.size()];
    for (std::size_t i = random() % 4 + 1; i > 0; --i) out += first + random() % (last - first + 1);
  }
  return out;
}

// "\u0009" escapes of the golden file.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      append_utf8(out, static_cast<char32_t>(std::stoul(std::string(text.substr(i + 2, 4)), nullptr, 16)));
      i += 5;
    } else {
      out += text[i];
    }
  }
  return out;
}

TEST_CASE("validation finds the first bad byte") {
  CHECK(valid_utf8(""));
  CHECK(valid_utf8("plain"));
  CHECK(valid_utf8(std::string_view("a\0b", 3)));
  CHECK(valid_utf8("é中😀\xEF\xBF\xBD\xF4\x8F\xBF\xBF"));
  const std::vector<std::pair<std::string, std::size_t>> bad = {
      {"\x80", 0},              // a continuation byte alone
      {"ab\xC3", 2},            // cut off
      {"\xC0\xAF", 0},          // overlong '/'
      {"\xC1\xBF", 0},          // overlong
      {"\xE0\x80\xAF", 0},      // overlong
      {"\xE0\x9F\xBF", 0},      // overlong U+07FF
      {"x\xED\xA0\x80", 1},     // surrogate
      {"\xED\xBF\xBF", 0},      // surrogate
      {"\xF0\x8F\xBF\xBF", 0},  // overlong U+FFFF
      {"\xF4\x90\x80\x80", 0},  // past U+10FFFF
      {"\xF5\x80\x80\x80", 0},
      {"\xFF", 0},
      {"中\xE4\xB8", 3},
      {"中\xE4\xB8x", 3},
      {"\xF0\x9F\x98", 0},
  };
  for (const auto& [text, offset] : bad) {
    CAPTURE(text);
    REQUIRE(first_invalid_utf8(text).has_value());
    CHECK(*first_invalid_utf8(text) == offset);
  }
}

TEST_CASE("every code point survives UTF-8 and back") {
  std::u32string all;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c < 0xD800 || c >= 0xE000) all += c;
  }
  const std::string utf8 = to_utf8(all);
  CHECK(utf8.size() == 0x80 + 2 * (0x800 - 0x80) + 3 * (0x10000 - 0x800 - 0x800) + 4 * 0x100000);
  CHECK(valid_utf8(utf8));
  CHECK(to_code_points(utf8) == all);
  CHECK(count_code_points(utf8) == all.size());
  CHECK(count_utf16(utf8) == all.size() + 0x100000);
}

TEST_CASE("bad bytes read as U+FFFD, one each") {
  CHECK(to_code_points("a\xE4\xB8z\xFF") == U"a\uFFFD\uFFFDz\uFFFD");
  CHECK(nfkc("é\xE4\xB8z") == "é\uFFFD\uFFFDz");
  CHECK(to_utf8(U"\xD800"
                U"a") ==
        "\uFFFD"
        "a");
  std::string out;
  append_utf8(out, 0x110000);
  CHECK(out == "\uFFFD");
  CHECK(match_key("a\xFFz") == "a z");
}

TEST_CASE("forms and keys agree with Python's unicodedata") {
  std::ifstream file(test::source_folder() / "tests/golden/base_text.tsv");
  REQUIRE(file.good());
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    REQUIRE(cells.size() == 4);
    for (std::string& cell : cells) cell = unescaped(cell);
    CAPTURE(line);
    CHECK(nfkc(cells[0]) == cells[1]);
    CHECK(fold_case(cells[0]) == cells[2]);
    CHECK(match_key(cells[0]) == cells[3]);
  }
  CHECK(lines == 1500);
}

TEST_CASE("spellings of one name meet") {
  const std::vector<std::vector<std::string>> groups = {
      {"Côte d'Ivoire", "cote divoire", "CÔTE D’IVOIRE", "Co\u0302te dʻIvoire", "Cote d`Ivoire",
       "Côte d´Ivoire"},
      {"臺灣", "台湾", "台灣", " 台 湾 ", "台·湾"},
      {"New York", "New-York ", "new_york", "NEW  YORK", "ＮＥＷ　ＹＯＲＫ", "New\u00A0York", "(New) York!"},
      {"Straße", "STRASSE", "strasse", "Strasse"},
      {"Ångström", "ÅNGSTRÖM", "angstrom", "A\u030Angstro\u0308m", "\u212Bngström"},
      {"Łódź", "Lodz", "łódź"},
      {"Ærøskøbing", "aeroskobing"},
      {"Đà Nẵng", "Da Nang", "đà nẵng"},
      {"İstanbul", "Istanbul", "ISTANBUL", "ıstanbul"},
      {"Ὀδυσσεύς", "ΟΔΥΣΣΕΥΣ", "οδυσσευς"},
      {"Йошкар-Ола", "иошкар ола", "ЙОШКАР ОЛА"},
      {"AT&T", "at&t", "ＡＴ＆Ｔ"},
      {"J. R. R. Tolkien", "J.R.R. Tolkien", "j r r tolkien"},
      {"中国 北京", "中国北京", "中國‧北京", "中国，北京"},
      {"T恤", "T 恤", "t-恤", "Ｔ恤"},
      {"列奥纳多·达·芬奇", "列奥纳多 达 芬奇", "列奧納多・達・芬奇"},
      {"ガラス", "ｶﾞﾗｽ", "カ\u3099ラス"},
      {"한국어", "\u1112\u1161\u11AB국어"},
      {"iPhone", "iPhone™", "i\u00ADPhone", "\uFEFFiPhone", "iPhone\u200B"},
      {"乾隆", "干隆"},
      {"東嶽廟", "东岳庙"},
      {"ﬁnance", "finance"},
  };
  std::vector<std::string> keys;
  for (const auto& group : groups) {
    const std::string key = match_key(group.front());
    keys.push_back(key);
    for (const std::string& spelling : group) CHECK_MESSAGE(match_key(spelling) == key, spelling);
  }
  std::sort(keys.begin(), keys.end());
  CHECK(std::unique(keys.begin(), keys.end()) == keys.end());
}

TEST_CASE("keys keep apart what is not the same") {
  CHECK(match_key("C") != match_key("C++"));
  CHECK(match_key("C#") != match_key("C++"));
  CHECK(match_key("Ke$ha") == "ke$ha");
  CHECK(match_key("I ♥ NY") == "i ♥ ny");
  CHECK(match_key("が") != match_key("か"));
  CHECK(match_key("हिन्दी") == "हिन्दी");
  CHECK(match_key("") == "");
  CHECK(match_key(" ...!?。，\t\n") == "");
  CHECK(match_key("\u0301") == "");
  CHECK(match_key("½") == match_key("1/2"));
}

TEST_CASE("keys are their own keys, whatever the normal form and case of the text") {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::u32string points = random_points(random, 12);
    // Dropped on purpose before NFKC makes letters or spaces of them.
    std::erase_if(points, [](char32_t c) { return c == U'´' || c == U'™' || c == U'℠'; });
    const std::string text = to_utf8(points);
    const std::string key = match_key(text);
    CAPTURE(text);
    CHECK(valid_utf8(key));
    CHECK(match_key(key) == key);
    CHECK(match_key(nfkc(text)) == key);
    CHECK(match_key(fold_case(text)) == key);
    CHECK(trim(key) == key);
    CHECK(key.find("  ") == std::string::npos);
  }
}

// The quick way (character by character) and the general one (all of the text at once) must agree; a text
// with a combining mark at its end takes the general way, and the mark vanishes after a Latin letter.
TEST_CASE("both ways of computing a key agree") {
  std::mt19937 random(11);
  for (int round = 0; round < 4000; ++round) {
    const std::string text = to_utf8(random_points(random, 10));
    CAPTURE(text);
    CHECK(match_key(text + "q\u0323") == match_key(text + "q"));
    CHECK(match_key("q\u0323 " + text) == match_key("q " + text));
  }
}

TEST_CASE("the key of Han text is the keys of its characters") {
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    std::u32string text;
    std::string together;
    for (std::size_t i = random() % 8 + 1; i > 0; --i) {
      text += 0x4E00 + random() % 0x5200;
      together += match_key(to_utf8(text.substr(text.size() - 1)));
    }
    CHECK(match_key(to_utf8(text)) == together);
  }
}

TEST_CASE("trimming") {
  CHECK(trim("") == "");
  CHECK(trim(" \t\r\n") == "");
  CHECK(trim("\u3000中 国\u00A0\uFEFF") == "中 国");
  CHECK(trim("a") == "a");
  CHECK(trim("\x80 a \x80") == "\x80 a \x80");
  CHECK(trim("\u2003x\u2029\u0085") == "x");
}

TEST_CASE("readable names") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"officialLanguage_name", "official language name"},
      {"birthPlace", "birth place"},
      {"place-of-birth", "place of birth"},
      {"HTTPServer", "HTTP server"},
      {"isbnNumber13", "isbn number13"},
      {"area2Km", "area2 km"},
      {"memberOfEU", "member of EU"},
      {"YouTube_Music", "YouTube Music"},
      {"New_York_City", "New York City"},
      {"SoccerPlayer", "Soccer player"},
      {"C%C3%B4te_d%27Ivoire", "Côte d'Ivoire"},
      {"%E4%B8%AD%E5%9B%BD", "中国"},
      {"100%", "100%"},
      {"%FF", "%FF"},
      {"%zz", "%zz"},
      {"__a__b__", "a b"},
      {"出生地", "出生地"},
      {"", ""},
  };
  for (const auto& [identifier, name] : cases) CHECK(readable_name(identifier) == name);
}

// Optimal string alignment by its full table.
int plain_distance(std::u32string_view a, std::u32string_view b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<int>(i + j);
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

TEST_CASE("edit distance") {
  CHECK(edit_distance(U"kitten", U"sitting", 5) == 3);
  CHECK(edit_distance(U"ab", U"ba", 5) == 1);
  CHECK(edit_distance(U"ca", U"abc", 5) == 3);  // optimal string alignment, not full Damerau
  CHECK(edit_distance(U"北京市", U"北京", 1) == 1);
  CHECK(edit_distance(U"", U"", 0) == 0);
  CHECK(edit_distance(U"", U"abc", 3) == 3);
  CHECK(edit_distance(U"", U"abc", 2) == 3);
  CHECK(edit_distance(U"same", U"same", 0) == 0);
  CHECK(edit_distance(U"same", U"some", 0) == 1);

  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::u32string a, b;
    for (std::size_t i = random() % 11; i > 0; --i) a += U'a' + random() % 3;
    for (std::size_t i = random() % 11; i > 0; --i) b += U'a' + random() % 3;
    const int full = plain_distance(a, b);
    for (int limit = 0; limit <= 11; ++limit) {
      CAPTURE(to_utf8(a));
      CAPTURE(to_utf8(b));
      CHECK(edit_distance(a, b, limit) == std::min(full, limit + 1));
    }
  }
}

TEST_CASE("offset maps agree with counting from the start") {
  std::mt19937 random(13);
  for (int round = 0; round < 500; ++round) {
    const std::u32string points = random_points(random, 40);
    const std::string text = to_utf8(points);
    const OffsetMap map(text);
    REQUIRE(map.code_points() == points.size());
    for (std::size_t i = 0; i <= points.size(); ++i) {
      const std::string before = to_utf8(points.substr(0, i));
      CHECK(map.byte(i) == before.size());
      CHECK(map.utf16(i) == count_utf16(before));
      CHECK(map.code_point_at_byte(before.size()) == i);
      // Bytes inside a character belong to it.
      for (std::size_t byte = before.size(); i < points.size() && byte < map.byte(i + 1); ++byte) {
        CHECK(map.code_point_at_byte(byte) == i);
      }
    }
    CHECK(map.code_point_at_byte(text.size() + 5) == points.size());
  }
}

}  // namespace
}  // namespace askbase::base
