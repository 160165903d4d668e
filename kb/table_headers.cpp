#include "kb/table_headers.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/text.h"
#include "kb/load.h"
#include "kb/term.h"

namespace askbase::kb {
namespace {

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view text, Words words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool ends_with_one_of(std::string_view text, Words words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.ends_with(word); });
}

// 0 and up for the names of label columns, -1 for others.
int label_rank(std::string_view plain) {
  if (is_one_of(plain, {"label", "rdfs:label", "标签"})) return 0;
  if (is_one_of(plain, {"name", "名称", "名稱", "名字", "姓名", "名"})) return 1;
  if (is_one_of(plain, {"title", "full name", "display name", "标题", "標題", "题名", "题目", "全名"}))
    return 2;
  return -1;
}

bool is_alias(std::string_view plain) {
  return is_one_of(plain, {"alias",
                           "aliases",
                           "also known as",
                           "a.k.a.",
                           "aka",
                           "other name",
                           "other names",
                           "alternative name",
                           "alternative names",
                           "alternate name",
                           "alternate names",
                           "short name",
                           "abbreviation",
                           "abbr",
                           "abbr.",
                           "acronym",
                           "synonym",
                           "synonyms",
                           "nickname",
                           "nicknames",
                           "altlabel",
                           "alt label",
                           "别名",
                           "別名",
                           "又名",
                           "又称",
                           "别称",
                           "简称",
                           "簡稱",
                           "曾用名",
                           "昵称",
                           "俗称",
                           "缩写",
                           "英文缩写",
                           "全称",
                           "其他名称"});
}

bool is_id(std::string_view plain, std::string_view table) {
  if (is_one_of(plain, {"id",     "identifier", "uid",         "uuid", "guid", "key",  "code", "iri",
                        "uri",    "qid",        "wikidata id", "编号", "編號", "编码", "代码", "标识",
                        "标识符", "主键",       "工号",        "学号", "货号", "sku"})) {
    return true;
  }
  return !table.empty() && (plain == std::string(table) + " id" || plain == std::string(table) + "id" ||
                            plain == std::string(table) + " code" || plain == std::string(table) + "编号" ||
                            plain == std::string(table) + "代码");
}

// "zh", "english", "中文" -> a language tag; empty for others. Of the codes of two letters only those that
// mean nothing else in a header ("id", "no" and "my" are languages, too).
std::string language_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 22> names = {{
      {"english", "en"},   {"chinese", "zh"},   {"eng", "en"},    {"chs", "zh-hans"}, {"cht", "zh-hant"},
      {"chi", "zh"},       {"中文", "zh"},      {"英文", "en"},   {"汉语", "zh"},     {"英语", "en"},
      {"简体", "zh-hans"}, {"繁体", "zh-hant"}, {"日文", "ja"},   {"法文", "fr"},     {"德文", "de"},
      {"俄文", "ru"},      {"韩文", "ko"},      {"german", "de"}, {"french", "fr"},   {"spanish", "es"},
      {"japanese", "ja"},  {"russian", "ru"},
  }};
  for (const auto& [name, tag] : names) {
    if (word == name) return std::string(tag);
  }
  const std::string_view code = word.substr(0, 2);
  const bool whole = word.size() == 2 || (word.size() > 3 && word[2] == '-' && valid_language_tag(word));
  const bool known =
      is_one_of(code, {"en", "zh", "de", "fr", "es", "ja", "ru", "ko", "it", "pt", "ar", "nl", "sv",
                       "pl", "tr", "vi", "th", "hi", "he", "uk", "cs", "el", "hu", "fi", "da"});
  return whole && known ? std::string(word) : std::string();
}

// "name zh" -> ("name", "zh"), for the ways of writing it; an empty language when there is none.
std::pair<std::string, std::string> split_language(std::string_view header) {
  const std::string folded = base::fold_case(base::trim(header));
  std::string_view text = folded;
  const std::pair<std::string, std::string> none = {plain_header(header), ""};
  // name (zh), 名称（中文）, name [en]
  for (const auto& [open, close] : {std::pair{"(", ")"}, std::pair{"（", "）"}, std::pair{"[", "]"}}) {
    const std::size_t at = text.rfind(open);
    if (at == std::string_view::npos || !text.ends_with(close)) continue;
    const std::size_t begin = at + std::string_view(open).size();
    const std::size_t size = text.size() - std::string_view(close).size() - begin;
    const std::string lang = language_word(base::trim(text.substr(begin, size)));
    if (!lang.empty()) return {plain_header(text.substr(0, at)), lang};
  }
  // name_zh, name@zh, name-zh, name zh, name_zh-hans, name zh_hans
  for (std::size_t at = text.find_first_of("_@- "); at != std::string_view::npos;
       at = text.find_first_of("_@- ", at + 1)) {
    std::string tail(text.substr(at + 1));
    std::replace(tail.begin(), tail.end(), '_', '-');
    std::string lang = language_word(tail);
    const std::string head = plain_header(text.substr(0, at));
    if (!lang.empty() && (label_rank(head) >= 0 || is_alias(head))) return {head, lang};
    // english name, en_name
    lang = language_word(text.substr(0, at));
    std::string rest = plain_header(text.substr(at + 1));
    if (!lang.empty() && (label_rank(rest) >= 0 || is_alias(rest))) return {std::move(rest), lang};
  }
  // 中文名, 英文名称, 英文简称
  for (const std::string_view start : {"中文", "英文", "日文", "法文", "德文", "俄文", "韩文"}) {
    if (!text.starts_with(start)) continue;
    std::string rest = plain_header(text.substr(start.size()));
    if (label_rank(rest) >= 0 || is_alias(rest)) return {std::move(rest), language_word(start)};
  }
  return none;
}

// The singular of one English word in lower case.
std::string singular_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> irregular = {{
      {"people", "person"},
      {"persons", "person"},
      {"men", "man"},
      {"women", "woman"},
      {"children", "child"},
      {"news", "news"},
      {"series", "series"},
      {"species", "species"},
      {"movies", "movie"},
      {"data", "data"},
      {"lives", "life"},
      {"wives", "wife"},
      {"mice", "mouse"},
      {"cookies", "cookie"},
  }};
  for (const auto& [many, one] : irregular) {
    if (word == many) return std::string(one);
  }
  if (word.size() < 4 || !word.ends_with('s')) return std::string(word);
  if (ends_with_one_of(word, {"ss", "us", "is", "as"})) return std::string(word);
  if (word.ends_with("ies")) return std::string(word.substr(0, word.size() - 3)) + "y";
  if (ends_with_one_of(word, {"xes", "zes", "ches", "shes", "sses"}))
    return std::string(word.substr(0, word.size() - 2));
  return std::string(word.substr(0, word.size() - 1));
}

}  // namespace

std::string plain_header(std::string_view header) {
  std::string text = base::fold_case(base::trim(header));
  std::replace(text.begin(), text.end(), '_', ' ');
  std::replace(text.begin(), text.end(), '-', ' ');
  return std::string(base::trim(text));
}

HeaderMeaning read_header(std::string_view header, std::string_view table) {
  const auto [plain, lang] = split_language(header);
  HeaderMeaning meaning;
  meaning.rank = label_rank(plain);
  if (meaning.rank >= 0) {
    meaning.role = HeaderRole::label;
    meaning.lang = lang;
  } else if (is_alias(plain)) {
    meaning.role = HeaderRole::alias;
    meaning.lang = lang;
  } else if (is_id(plain, base::fold_case(table))) {
    meaning.role = HeaderRole::id;
  } else if (!table.empty() && plain == base::fold_case(table)) {
    meaning.role = HeaderRole::label;  // a column "country" in a table of countries
    meaning.rank = 3;
  }
  if (meaning.role != HeaderRole::label) meaning.rank = 0;
  return meaning;
}

std::optional<std::array<std::size_t, 3>> triple_header(const std::vector<std::string>& headers) {
  if (headers.size() != 3) return std::nullopt;
  constexpr std::array<std::array<std::string_view, 3>, 9> known = {{{"subject", "predicate", "object"},
                                                                     {"s", "p", "o"},
                                                                     {"head", "relation", "tail"},
                                                                     {"h", "r", "t"},
                                                                     {"subject", "relation", "object"},
                                                                     {"entity", "attribute", "value"},
                                                                     {"主语", "谓语", "宾语"},
                                                                     {"头实体", "关系", "尾实体"},
                                                                     {"实体", "属性", "值"}}};
  for (const auto& names : known) {
    std::array<std::size_t, 3> columns{};
    std::size_t found = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        if (plain_header(headers[j]) != names[i]) continue;
        columns[i] = j;
        ++found;
      }
    }
    if (found == 3) return columns;
  }
  return std::nullopt;
}

HeaderUnit split_unit(std::string_view header) {
  header = base::trim(header);
  HeaderUnit out{std::string(header), ""};
  for (const auto& [open, close] : {std::pair{"(", ")"}, std::pair{"（", "）"}, std::pair{"[", "]"}}) {
    const std::size_t at = header.rfind(open);
    if (at == std::string_view::npos || at == 0 || !header.ends_with(close)) continue;
    const std::size_t begin = at + std::string_view(open).size();
    const std::string_view unit =
        base::trim(header.substr(begin, header.size() - std::string_view(close).size() - begin));
    const std::string_view label = base::trim(header.substr(0, at));
    constexpr std::size_t longest = 16;  // code points; more is a remark
    const std::u32string letters = base::to_code_points(unit);
    const bool named = std::any_of(letters.begin(), letters.end(), [](char32_t c) {
      return (c | 0x20) >= 'a' ? (c < 0x80 ? (c | 0x20) <= 'z' : true) : c == '%' || c == '$';
    });
    if (label.empty() || !named || letters.size() > longest) continue;
    out.label = label;
    out.unit = unit;
    break;
  }
  return out;
}

bool is_year_header(std::string_view header) {
  const std::string plain = plain_header(header);
  if (is_one_of(plain,
                {"year", "years", "年", "年份", "年度", "founded", "established", "born", "died", "since"})) {
    return true;
  }
  if (plain.starts_with("year ") || plain.ends_with(" year")) return true;
  return ends_with_one_of(plain, {"年份", "年"});
}

std::string singular(std::string_view words) {
  const std::size_t space = words.rfind(' ');
  if (space == std::string_view::npos) return singular_word(words);
  return std::string(words.substr(0, space + 1)) + singular_word(words.substr(space + 1));
}

std::string table_name(std::string_view file_name) {
  std::string_view stem = file_name.substr(file_name.find_last_of('/') + 1);
  const auto cut_ending = [&stem](std::string_view ending) {
    if (stem.size() > ending.size() && base::fold_case(stem.substr(stem.size() - ending.size())) == ending) {
      stem.remove_suffix(ending.size());
    }
  };
  cut_ending(".gz");
  cut_ending(".zst");
  if (const std::size_t dot = stem.rfind('.'); dot != std::string_view::npos && dot > 0) {
    if (is_one_of(base::fold_case(stem.substr(dot + 1)), {"csv", "tsv", "tab", "txt"}))
      stem = stem.substr(0, dot);
  }
  const std::string readable = base::fold_case(base::trim(base::readable_name(stem)));
  return readable.empty() ? "table" : singular(readable);
}

}  // namespace askbase::kb
