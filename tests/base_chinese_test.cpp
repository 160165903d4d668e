#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>
#include <unicode/translit.h>
#include <unicode/unistr.h>
#include <vector>

#include "base/han.h"
#include "base/language.h"
#include "base/text.h"

namespace askbase::base {
namespace {

TEST_CASE("Traditional to Simplified and back") {
  CHECK(to_simplified("臺灣的首都在哪裡？") == "台湾的首都在哪里？");
  CHECK(to_simplified("計畫") == "计划");
  CHECK(to_simplified("乾淨的乾隆皇帝在乾清宮") == "干净的乾隆皇帝在乾清宫");
  CHECK(to_simplified("扭轉乾坤") == "扭转乾坤");
  CHECK(to_simplified("中国的首都 is Beijing, naïve") == "中国的首都 is Beijing, naïve");
  CHECK(to_simplified("no Han: é") == "no Han: é");
  CHECK(to_simplified("") == "");
  CHECK(to_traditional("台湾的头发，发现") == "台灣的頭髮，發現");
  CHECK(to_traditional("plain") == "plain");
}

TEST_CASE("Simplified text stays as it is") {
  for (const char* text : {"北京是中华人民共和国的首都", "乾隆皇帝", "著名作家", "皇后", "沈阳", "于是",
                           "里程碑", "乾县位于陕西"}) {
    CHECK(to_simplified(text) == text);
  }
}

TEST_CASE("the number of code points stays") {
  for (char32_t c = 0x3400; c <= 0x9FFF; ++c) {
    REQUIRE(count_code_points(to_simplified(to_utf8(std::u32string(1, c)))) == 1);
  }
}

// ICU maps these characters; each must share its class with what ICU makes of it.
TEST_CASE("classes of variants hold ICU's mapping of single characters") {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::Transliterator> icu_map(
      icu::Transliterator::createInstance("Traditional-Simplified", UTRANS_FORWARD, status));
  REQUIRE(U_SUCCESS(status));
  // Where the extra pairs deviate on purpose there is none that ICU maps elsewhere.
  std::size_t mapped = 0, classed = 0;
  for (UChar32 c = 0; c < 0x30000; ++c) {
    if (!is_han(static_cast<char32_t>(c))) continue;  // it turns the quotation marks too
    icu::UnicodeString text(c);
    icu_map->transliterate(text);
    const auto from = static_cast<char32_t>(c), to = static_cast<char32_t>(text.char32At(0));
    REQUIRE(text.countChar32() == 1);
    mapped += from != to ? 1 : 0;
    classed += han_variant_class(from) != from ? 1 : 0;
    if (han_variant_class(from) != han_variant_class(to)) FAIL(to_utf8(std::u32string{from, U'>', to}));
    REQUIRE(han_variant_class(han_variant_class(from)) == han_variant_class(from));
  }
  CHECK(mapped > 2800);
  CHECK(classed > mapped);
}

TEST_CASE("variants beyond ICU's") {
  for (const char* pair :
       {"嶽岳", "鎌镰", "諮咨", "朮术", "吋寸", "滙汇", "淩凌", "臺台", "裏里", "裡里", "苎苧", "薴苧"}) {
    const std::u32string points = to_code_points(pair);
    CHECK_MESSAGE(han_variant_class(points[0]) == han_variant_class(points[1]), pair);
  }
}

TEST_CASE("Han characters") {
  for (const char32_t c : U"中々〇㐀龥豈𠀀〡") {
    if (c != 0) CHECK(is_han(c));
  }
  for (const char32_t c : U"aé、。あアー한・€") {
    if (c != 0) CHECK_FALSE(is_han(c));
  }
  CHECK(contains_han("T恤"));
  CHECK_FALSE(contains_han("Tシャツ"));
  CHECK_FALSE(contains_han(""));
}

TEST_CASE("Traditional or not") {
  CHECK(is_traditional("臺灣"));
  CHECK(is_traditional("這是什麼？"));
  CHECK_FALSE(is_traditional("这是什么？"));
  CHECK_FALSE(is_traditional("台湾"));
  CHECK_FALSE(is_traditional("中文"));  // the same in both
  CHECK_FALSE(is_traditional("皇后"));
  CHECK_FALSE(is_traditional("這 and 这"));  // both
  CHECK_FALSE(is_traditional("English"));
  CHECK_FALSE(is_traditional(""));
}

TEST_CASE("languages") {
  CHECK(detect_language("What is the capital of France?") == Language::english);
  CHECK(detect_language("法国的首都是哪里？") == Language::chinese);
  CHECK(detect_language("iPhone 15 的价格是多少") == Language::chinese);
  CHECK(detect_language("Who wrote 红楼梦 and when was it published?") == Language::english);
  CHECK(detect_language("Barack Obama 的妻子是谁") == Language::chinese);
  CHECK(detect_language("ÀÉÎ") == Language::english);
  CHECK(detect_language("") == Language::unknown);
  CHECK(detect_language("1969 + 3 = ?") == Language::unknown);
  CHECK(detect_language("Какой город столица Франции?") == Language::unknown);
  CHECK(detect_language("これはペンです") == Language::unknown);
  CHECK(language_code(Language::english) == "en");
  CHECK(language_code(Language::chinese) == "zh");
  CHECK(language_code(Language::unknown) == "und");
  CHECK(language_from_tag("zh-Hant-TW") == Language::chinese);
  CHECK(language_from_tag("ZH_cn") == Language::chinese);
  CHECK(language_from_tag("en-GB") == Language::english);
  CHECK(language_from_tag("yue") == Language::chinese);
  CHECK(language_from_tag("fr") == Language::unknown);
  CHECK(language_from_tag("") == Language::unknown);
  CHECK(language_from_tag("english") == Language::unknown);
}

}  // namespace
}  // namespace askbase::base
