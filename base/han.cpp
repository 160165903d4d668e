// Traditional and Simplified Chinese, over ICU's transliterators.
#include "base/han.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <unicode/translit.h>
#include <unicode/ucnv.h>
#include <unicode/uniset.h>
#include <unicode/unistr.h>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "base/utf8.h"

namespace askbase::base {
namespace {

// The tables cover the block CJK Unified Ideographs and Extension A; what ICU maps lies inside.
constexpr char32_t kFirst = 0x3400, kLast = 0x9FFF;
constexpr bool in_tables(char32_t c) { return c >= kFirst && c <= kLast; }

// Pairs of variant and usual character that ICU 72 maps only inside some phrases or not at all, of those in
// Big5 or GB 2312.
constexpr std::u32string_view kMoreVariants =
    U"嶽岳衚胡衕同吋寸殻壳祇只硃朱鞦秋韆千鍊炼薰熏甦苏鎌镰朮术諮咨鉅巨逕径谿溪犛牦脩修"
    U"簑蓑拚拼閤合遶绕牴抵淩凌旂旗冑胄麴曲鷴鹇鶿鹚鵰雕鯗鲞餈糍韝鞲钁镢鏇旋鍼针錼镎鉆钻"
    U"鈅钥醣糖蹠跖譭毁襉裥袷夹薹苔蔘参蓴莼菴庵矇蒙璿璇琱雕灩滟濛蒙泝溯殭僵榦干柺拐"
    U"枴拐捱挨扞捍彫雕彔录廕荫巹卺寀采囌苏噁恶厤历劄札儁俊滙汇";

std::unique_ptr<icu::Transliterator> create(const char* id) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::Transliterator> created(
      icu::Transliterator::createInstance(id, UTRANS_FORWARD, status));
  if (U_FAILURE(status) || created == nullptr) {
    throw std::runtime_error(std::string("ICU data lacks the transliterator ") + id + ": " +
                             u_errorName(status));
  }
  return created;
}

// Created once (33 ms for Traditional-Simplified); each thread works on its own clone (microseconds).
const icu::Transliterator& simplifier_prototype() {
  static const std::unique_ptr<icu::Transliterator> prototype = create("Traditional-Simplified");
  return *prototype;
}
const icu::Transliterator& traditionaliser_prototype() {
  static const std::unique_ptr<icu::Transliterator> prototype = create("Simplified-Traditional");
  return *prototype;
}

std::string transliterate(const icu::Transliterator& transliterator, std::string_view text) {
  if (text.size() > INT32_MAX) throw std::length_error("text of 2 GiB or more");
  icu::UnicodeString units;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    units.append(static_cast<UChar32>(decode_utf8(text, at, length)));
  }
  transliterator.transliterate(units);
  std::string out;
  return units.toUTF8String(out);
}

// What ICU makes of each character of the tables by itself. One call for all that its rules mention, with
// line breaks to keep them apart: calls cost far more than characters.
std::vector<char32_t> map_alone(const icu::Transliterator& prototype) {
  icu::UnicodeSet mentioned;
  prototype.getSourceSet(mentioned);
  mentioned.retain(static_cast<UChar32>(kFirst), static_cast<UChar32>(kLast));
  icu::UnicodeString text;
  for (char32_t c = kFirst; c <= kLast; ++c) {
    const auto point = static_cast<UChar32>(c);
    if (mentioned.contains(point)) text.append(point).append(u'\n');
  }
  const std::unique_ptr<icu::Transliterator> own(prototype.clone());
  own->transliterate(text);
  if (text.countChar32() != 2 * mentioned.size()) {
    throw std::runtime_error("ICU's Chinese transliterators no longer map character to character");
  }
  std::vector<char32_t> mapped(kLast - kFirst + 1);
  std::int32_t at = 0;
  for (char32_t c = kFirst; c <= kLast; ++c) {
    if (mentioned.contains(static_cast<UChar32>(c))) {
      mapped[c - kFirst] = static_cast<char32_t>(text.char32At(at));
      at = text.moveIndex32(at, 2);
    } else {
      mapped[c - kFirst] = c;
    }
  }
  return mapped;
}

const std::vector<char32_t>& simplified_alone() {
  static const std::vector<char32_t> table = map_alone(simplifier_prototype());
  return table;
}
const std::vector<char32_t>& traditional_alone() {
  static const std::vector<char32_t> table = map_alone(traditionaliser_prototype());
  return table;
}

std::vector<char32_t> make_variant_classes() {
  const std::vector<char32_t>& simplified = simplified_alone();
  std::vector<char32_t> variant_class = simplified;
  for (std::size_t i = 0; i + 1 < kMoreVariants.size(); i += 2) {
    // Behind what ICU makes of it, if anything ("諮" -> "谘"), so that all three end alike.
    variant_class[simplified[kMoreVariants[i] - kFirst] - kFirst] = kMoreVariants[i + 1];
  }
  // To the end of each chain of mappings; of a circle (苎 and 苧), the lesser one stands for both.
  std::vector<char32_t> ends = variant_class;
  for (char32_t c = kFirst; c <= kLast; ++c) {
    char32_t end = c;
    for (int step = 0; step < 4 && in_tables(end); ++step) {
      const char32_t next = variant_class[end - kFirst];
      if (next == end) break;
      if (in_tables(next) && variant_class[next - kFirst] == end) {
        end = std::min(end, next);
        break;
      }
      end = next;
    }
    ends[c - kFirst] = end;
  }
  return ends;
}

// Which characters a legacy character set has: GB 2312 was made for Simplified text, Big5 for Traditional.
std::vector<bool> repertoire(const char* converter_name) {
  std::vector<bool> has(kLast - kFirst + 1);
  UErrorCode status = U_ZERO_ERROR;
  UConverter* converter = ucnv_open(converter_name, &status);
  if (U_FAILURE(status)) {
    throw std::runtime_error(std::string("ICU data lacks the converter ") + converter_name);
  }
  ucnv_setFromUCallBack(converter, UCNV_FROM_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
  for (char32_t c = kFirst; c <= kLast; ++c) {
    const auto unit = static_cast<UChar>(c);
    std::array<char, 8> bytes;
    UErrorCode one = U_ZERO_ERROR;
    ucnv_fromUChars(converter, bytes.data(), bytes.size(), &unit, 1, &one);
    has[c - kFirst] = U_SUCCESS(one);
  }
  ucnv_close(converter);
  return has;
}

struct Scripts {
  Scripts() : gb2312(repertoire("GB2312")), big5(repertoire("Big5")) {}
  std::vector<bool> gb2312, big5;
};

}  // namespace

char32_t han_variant_class(char32_t c) {
  if (!in_tables(c)) return c;
  static const std::vector<char32_t> classes = make_variant_classes();
  return classes[c - kFirst];
}

std::string to_simplified(std::string_view text) {
  if (!contains_han(text)) return std::string(text);
  thread_local const std::unique_ptr<icu::Transliterator> own(simplifier_prototype().clone());
  std::string out = transliterate(*own, text);
  // ICU turns every 乾 into 干 except in 乾坤; reign names, palaces and places keep it in Simplified text.
  if (text.find("乾") == std::string_view::npos) return out;
  std::u32string before = to_code_points(text), after = to_code_points(out);
  if (before.size() != after.size()) return out;
  constexpr std::u32string_view kKeeps = U"坤隆清陵卦元符封道宁寧德祐佑亨县縣安";
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    if (before[i] == U'乾' && kKeeps.find(before[i + 1]) != std::u32string_view::npos) after[i] = U'乾';
  }
  return to_utf8(after);
}

std::string to_traditional(std::string_view text) {
  if (!contains_han(text)) return std::string(text);
  thread_local const std::unique_ptr<icu::Transliterator> own(traditionaliser_prototype().clone());
  return transliterate(*own, text);
}

bool is_traditional(std::string_view text) {
  bool traditional = false;
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    const char32_t c = decode_utf8(text, at, length);
    if (!in_tables(c)) continue;
    static const Scripts scripts;
    const std::size_t i = c - kFirst;
    const bool in_simplified = scripts.gb2312[i], in_traditional = scripts.big5[i];
    if (in_simplified && !in_traditional && traditional_alone()[i] != c) return false;
    if (in_traditional && !in_simplified && simplified_alone()[i] != c) traditional = true;
  }
  return traditional;
}

}  // namespace askbase::base
