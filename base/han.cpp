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
    U"鈅钥醣糖蹠跖譭毁襬摆襉裥袷夹薹苔蔘参蓴莼菴庵矇蒙璿璇琱雕灩滟濛蒙泝溯殭僵榦干柺拐"
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

// What ICU makes of each character by itself.
char32_t map_alone(const icu::Transliterator& transliterator, char32_t c) {
  icu::UnicodeString unit(static_cast<UChar32>(c));
  transliterator.transliterate(unit);
  return unit.countChar32() == 1 ? static_cast<char32_t>(unit.char32At(0)) : c;
}

struct Variants {
  Variants() : simplified(kLast - kFirst + 1), traditional(simplified.size()) {
    for (char32_t c = kFirst; c <= kLast; ++c) simplified[c - kFirst] = traditional[c - kFirst] = c;
    const std::unique_ptr<icu::Transliterator> to_simple(simplifier_prototype().clone());
    const std::unique_ptr<icu::Transliterator> to_full(traditionaliser_prototype().clone());
    for (char32_t c = kFirst; c <= kLast; ++c) {
      simplified[c - kFirst] = map_alone(*to_simple, c);
      traditional[c - kFirst] = map_alone(*to_full, c);
    }
    variant_class = simplified;
    for (std::size_t i = 0; i + 1 < kMoreVariants.size(); i += 2) {
      variant_class[kMoreVariants[i] - kFirst] = kMoreVariants[i + 1];
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
    variant_class = std::move(ends);
  }
  std::vector<char32_t> simplified, traditional, variant_class;
};

const Variants& variants() {
  static const Variants tables;
  return tables;
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

char32_t han_variant_class(char32_t c) { return in_tables(c) ? variants().variant_class[c - kFirst] : c; }

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
    if (in_simplified && !in_traditional && variants().traditional[i] != c) return false;
    if (in_traditional && !in_simplified && variants().simplified[i] != c) traditional = true;
  }
  return traditional;
}

}  // namespace askbase::base
