#include <algorithm>
#include <ctime>
#include <doctest/doctest.h>
#include <limits>
#include <malloc.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/stem.h"
#include "base/text.h"
#include "base/tokenize.h"

namespace askbase::base {
namespace {

std::string joined(const std::vector<Token>& tokens) {
  std::string out;
  for (const Token& token : tokens) {
    if (!out.empty()) out += '|';
    out += token.text;
  }
  return out;
}
std::string words(std::string_view text) { return joined(tokenize(text)); }

TEST_CASE("English words") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"What is the capital of France?", "What|is|the|capital|of|France|?"},
      {"France's capital isn't big", "France|'s|capital|is|n't|big"},
      {"FRANCE’S I’ll they're we've I'd I'm", "FRANCE|’S|I|’ll|they|'re|we|'ve|I|'d|I|'m"},
      {"can't won't couldn't've", "ca|n't|wo|n't|could|n't|'ve"},
      {"O'Brien d'Ivoire Xi'an rock'n'roll 'tis", "O'Brien|d'Ivoire|Xi'an|rock'n'roll|'|tis"},
      {"James' book, the 1990's", "James|'|book|,|the|1990|'s"},
      {"3.5 1,000 1,000,000.25 1969", "3.5|1,000|1,000,000.25|1969"},
      {"1969,1970 1,00 1;2 3.Paris 12,3456 1.2,345",
       "1969|,|1970|1|,|00|1|;|2|3|.|Paris|12|,|3456|1.2|,|345"},
      {"C++ C# F# Notepad++ Disney+ A+", "C++|C#|F#|Notepad++|Disney+|A+"},
      {"A+B x++y C++17 1+1 #1 C+++", "A|+|B|x|+|+|y|C++|17|1|+|1|#|1|C|+|+|+"},
      {"C++'s", "C++|'s"},
      {"AT&T R&B salt & pepper &c", "AT&T|R&B|salt|&|pepper|&|c"},
      {"U.S.A. U.S. e.g. J.K. Rowling J.Smith", "U.S.A|.|U.S|.|e.g|.|J.K|.|Rowling|J|.|Smith"},
      {"the end.Start www.example.com", "the|end|.|Start|www|.|example|.|com"},
      {"New-York snake_case a:b", "New|-|York|snake|_|case|a|:|b"},
      {"21st 3.5km B2B 50% $5", "21st|3.5km|B2B|50|%|$|5"},
      {"naïve e\u0301cole Straße", "naïve|e\u0301cole|Straße"},
      {"  \t\n ", ""},
      {"", ""},
      {"...", ".|.|."},
  };
  for (const auto& [text, expected] : cases) CHECK(words(text) == expected);
}

TEST_CASE("Chinese words") {
  CHECK(words("中华人民共和国的首都是哪里？") == "中华|人民|共和国|的|首都|是|哪里|？");
  CHECK(words("姚明的妻子是谁") == "姚|明|的|妻子|是|谁");  // names are not in the dictionary
  CHECK(words("1969年7月20日") == "1969|年|7|月|20|日");
  CHECK(words("iPhone手机和T恤") == "iPhone|手机|和|T|恤");
  CHECK(words("北京's “首都”") == "北京|'s|“|首都|”");
  CHECK(words("３．５公里，Ｃ＋＋") == "３．５|公里|，|Ｃ＋＋");
  CHECK(joined(tokenize_characters("中国的iPhone 15，3.5万")) == "中|国|的|iPhone|15|，|3.5|万");
  CHECK(joined(tokenize_characters("東京タワーの高さ")) == "東|京|タワー|の|高|さ");
  CHECK(joined(tokenize_characters("葛\U000E0100城𠀀")) == "葛\U000E0100|城|𠀀");
}

TEST_CASE("kinds and keys") {
  const std::vector<Token> tokens = tokenize("Côte 3.5 臺灣 食べ物 21st ， ♥ isn’t");
  std::vector<std::pair<std::string, TokenKind>> seen;
  for (const Token& token : tokens) seen.emplace_back(token.key, token.kind);
  const std::vector<std::pair<std::string, TokenKind>> expected = {
      {"cote", TokenKind::word},     {"3 5", TokenKind::number}, {"台湾", TokenKind::han},
      {"食べ物", TokenKind::word},   {"21st", TokenKind::word},  {"", TokenKind::punctuation},
      {"♥", TokenKind::punctuation}, {"is", TokenKind::word},    {"nt", TokenKind::word}};
  CHECK(seen == expected);
}

TEST_CASE("other scripts and emoji") {
  CHECK(words("Привет, мир!") == "Привет|,|мир|!");
  CHECK(words("한국어 문장") == "한국어|문장");
  CHECK(words("สวัสดีครับ") == "สวัสดี|ครับ");
  CHECK(words("हिन्दी भाषा") == "हिन्दी|भाषा");
  CHECK(words("❤️👨‍👩‍👧🇨🇳🇫🇷👍🏽x") ==
        "❤️|👨‍👩‍👧|🇨🇳|🇫🇷|👍🏽|x");
  CHECK(words("soft\u00ADhyphen \u200B \uFEFFbom") == "soft\u00ADhyphen|bom");
  CHECK(words("\u0301 a") == "\u0301|a");
}

// What must hold for any text: tokens in order, inside the text, at the offsets they say, and everything
// between them invisible.
void check_tokens(const std::string& text, const std::vector<Token>& tokens) {
  const OffsetMap map(text);
  std::uint32_t reached = 0;
  std::string gaps;
  for (const Token& token : tokens) {
    REQUIRE(token.begin >= reached);
    REQUIRE(token.end > token.begin);
    REQUIRE(token.end <= map.code_points());
    CHECK(token.begin_byte == map.byte(token.begin));
    CHECK(token.end_byte == map.byte(token.end));
    CHECK(token.text == text.substr(token.begin_byte, token.end_byte - token.begin_byte));
    CHECK(token.key == match_key(token.text));
    gaps += text.substr(map.byte(reached), token.begin_byte - map.byte(reached));
    reached = token.end;
  }
  gaps += text.substr(map.byte(reached));
  CHECK(match_key(gaps) == "");
}

TEST_CASE("offsets of random text") {
  std::mt19937 random(17);
  const std::u32string pieces =
      U"aZé09'’.,+#&-_% "
      U"\t\n中国臺の食ทไ한ф\u0301\u200D\u00AD\uFE0F😀🏽🇨🇳！，\U000E0100";
  for (int round = 0; round < 4000; ++round) {
    std::u32string points;
    for (std::size_t i = random() % 24; i > 0; --i) points += pieces[random() % pieces.size()];
    const std::string text = to_utf8(points);
    CAPTURE(text);
    check_tokens(text, tokenize(text));
    const std::vector<Token> characters = tokenize_characters(text);
    check_tokens(text, characters);
    for (const Token& token : characters) {
      if (token.kind != TokenKind::han) continue;
      std::size_t han = 0;
      for (const char32_t c : to_code_points(token.text)) han += is_han(c) ? 1 : 0;
      CHECK(han == 1);
    }
  }
  for (int round = 0; round < 2000; ++round) {
    std::u32string points;
    for (std::size_t i = random() % 12; i > 0; --i) {
      const char32_t c = random() % 0x30000;
      points += c >= 0xD800 && c < 0xE000 ? U'x' : c;
    }
    const std::string text = to_utf8(points);
    CAPTURE(text);
    check_tokens(text, tokenize(text));
    check_tokens(text, tokenize_characters(text));
  }
}

TEST_CASE("bytes that are not UTF-8 are tokens of their own offsets") {
  const std::vector<Token> tokens = tokenize(
      "a\xFF"
      "b \xE4\xB8");
  REQUIRE(tokens.size() == 5);
  CHECK(tokens[1].text == "\xFF");
  CHECK(tokens[2].begin == 2);
  CHECK(tokens[4].end_byte == 6);
}

// While it lives the allocator gives no memory back, so that using it again costs no page faults, which take
// longer than the tokenizer on some machines.
struct KeptMemory {
  KeptMemory() {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  }
  ~KeptMemory() {
    mallopt(M_MMAP_MAX, 65536);
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    malloc_trim(0);
  }
};

TEST_CASE("time is linear in the length of the text") {
  const KeptMemory kept;
  // Of the processor, the least of several: others may use the machine, too.
  const auto seconds = [](const std::string& text) {
    double least = 1e9;
    for (int i = 0; i < 5; ++i) {
      const std::clock_t start = std::clock();
      const std::size_t tokens = tokenize(text).size();
      CHECK(tokens > 0);
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  const std::vector<std::string> units = {
      "中华人民共和国的首都", "word ", "a", "é", "1,000", "'", "\u0301", "+", "a.", "👨\u200D", "n't'"};
  for (const std::string& unit : units) {
    std::string small, large;
    while (small.size() < (1 << 16)) small += unit;
    while (large.size() < (1 << 20)) large += unit;
    const double first = seconds(small), second = seconds(large);
    // Sixteen times the text; a quadratic part would make it 256. The slack is for a busy machine.
    CAPTURE(unit);
    CHECK(second < 100 * std::max(first, 0.001));
  }
}

TEST_CASE("many threads tokenize at once") {
  const std::string text = "姚明的妻子叶莉's height is 1.90 m，中华人民共和国。臺灣 Côte";
  const std::string expected = joined(tokenize(text));
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        // Each thread meets new pages of characters too.
        const std::string rare =
            to_utf8(std::u32string(1, static_cast<char32_t>(0x3400 + (round * 37 + i * 11) % 0x6000)));
        const std::vector<Token> tokens = tokenize(text + rare);
        wrong[i] += joined(tokens) == expected + "|" + rare ? 0 : 1;
        wrong[i] += match_key(rare) == match_key(match_key(rare)) ? 0 : 1;
        wrong[i] += stem_english("running") == "run" ? 0 : 1;
        wrong[i] += to_simplified("臺灣") == "台湾" ? 0 : 1;
        wrong[i] += to_traditional("台湾") == "台灣" ? 0 : 1;
        wrong[i] += is_han(0x3400) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(8, 0));
}

TEST_CASE("stems") {
  // From the sample vocabulary of the algorithm's description (Porter 2).
  const std::vector<std::pair<std::string, std::string>> cases = {{"consign", "consign"},
                                                                  {"consigned", "consign"},
                                                                  {"consolation", "consol"},
                                                                  {"consistently", "consist"},
                                                                  {"knightly", "knight"},
                                                                  {"kneeling", "kneel"},
                                                                  {"skies", "sky"},
                                                                  {"dying", "die"},
                                                                  {"generously", "generous"},
                                                                  {"news", "news"},
                                                                  {"", ""},
                                                                  {"C++", "C++"},
                                                                  {"中国", "中国"},
                                                                  {"café", "café"},
                                                                  {"Running", "Running"}};
  for (const auto& [word, stem] : cases) CHECK(stem_english(word) == stem);
}

}  // namespace
}  // namespace askbase::base
