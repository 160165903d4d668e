#include "kb/names.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "kb/encoding.h"

namespace askbase::kb {
namespace {

constexpr unsigned char variant_bit = 0x80;
constexpr char32_t begin_pad = 1, end_pad = 2;
constexpr int gram_shift = 21;  // a code point has 21 bits

// FNV-1a: the same on every machine, as it is part of the format.
std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// Joins runs of two and more one-letter words: what is left of the dots of "U.S.A." and "J.R.R. Tolkien".
std::string join_initials(std::string_view key) {
  std::string out;
  bool after_letter = false;  // the word before was one letter
  for (std::size_t begin = 0; begin < key.size();) {
    std::size_t end = key.find(' ', begin);
    if (end == std::string_view::npos) end = key.size();
    const std::string_view word = key.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;  // not in a key, but has_prefix() takes what it is given
    std::size_t after_first = 0;
    const char32_t first = next_code_point(word, after_first);
    const bool letter = after_first == word.size() && !base::is_han(first) && !is_ascii_digit(word[0]);
    if (!out.empty() && !(letter && after_letter)) out += ' ';
    out += word;
    after_letter = letter;
  }
  return out;
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const int more = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : -1;
  if (more < 0 || at + static_cast<std::size_t>(more) >= text.size()) {
    ++at;
    return 0xFFFD;
  }
  char32_t c = more == 0 ? lead : lead & (0x3FU >> more);
  for (int i = 1; i <= more; ++i) {
    c = c << 6 | (static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]) & 0x3FU);
  }
  at += static_cast<std::size_t>(more) + 1;
  return c & 0x1FFFFF;
}

std::string_view cut_text(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  // A character has at most three bytes after its first.
  for (int i = 0; i < 3 && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; ++i) --end;
  return text.substr(0, end);
}

std::string index_key(std::string_view text) {
  std::string key = base::match_key(cut_text(text, max_folded_bytes));
  if (key.size() > max_key_bytes) {
    key.resize(cut_text(key, max_key_bytes).size());
    while (!key.empty() && key.back() == ' ') key.pop_back();
  }
  return key;
}

std::vector<std::string> variant_keys(std::string_view key) {
  std::vector<std::string> variants;
  if (key.find(' ') == std::string_view::npos) return variants;
  const auto add = [&](std::string variant) {
    if (variant == key || std::find(variants.begin(), variants.end(), variant) != variants.end()) return;
    variants.push_back(std::move(variant));
  };
  constexpr std::string_view article = "the ";
  if (key.starts_with(article)) add(std::string(key.substr(article.size())));
  const std::string joined = join_initials(key);
  add(joined);
  if (joined.starts_with(article)) add(joined.substr(article.size()));
  return variants;
}

std::string_view without_remark(std::string_view text) {
  constexpr std::string_view wide_open = "（", wide_close = "）";
  const bool wide = text.ends_with(wide_close);
  if (!wide && !text.ends_with(')')) return {};
  const std::size_t open = std::max(text.rfind('(') + 1, text.rfind(wide_open) + 1);
  return open <= 1 ? std::string_view() : base::trim(text.substr(0, open - 1));
}

void split_words(std::string_view key, std::vector<std::string_view>& words) {
  words.clear();
  std::size_t begin = 0, at = 0;
  bool han = false;  // of the word that began at begin
  const auto finish = [&](std::size_t end) {
    if (end > begin) words.push_back(key.substr(begin, end - begin));
  };
  while (at < key.size()) {
    const std::size_t start = at;
    if (static_cast<unsigned char>(key[at]) < 0x80) {
      ++at;
      if (key[start] == ' ') {
        finish(start);
        begin = at;
        han = false;
        continue;
      }
      if (han) {
        finish(start);
        begin = start;
        han = false;
      }
      continue;
    }
    const bool is_han = base::is_han(next_code_point(key, at));
    if (is_han != han) {
      finish(start);
      begin = start;
      han = is_han;
    }
  }
  finish(key.size());
}

void append_name_entry(std::string& out, std::string_view key, bool variant, const EntityName& name) {
  out += key;
  out += '\0';
  append_id(out, name.entity);
  out += static_cast<char>(static_cast<unsigned char>(name.kind) | (variant ? variant_bit : 0U));
  out += cut_text(name.lang, max_lang_bytes);
  out += '\0';
  if (name.text.size() <= max_text_bytes) {
    out += name.text;
    return;
  }
  out += cut_text(name.text, max_text_bytes);
  out += '\0';
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(text_hash(name.text)));
  out += hash;
}

bool read_name_entry(std::string_view table_key, NameEntry& entry) {
  const std::size_t key_end = table_key.find('\0');
  if (key_end == std::string_view::npos) return false;
  entry.key = table_key.substr(0, key_end);
  std::string_view rest = table_key.substr(key_end + 1);
  if (!read_id(rest, entry.entity) || rest.empty()) return false;
  const auto kind = static_cast<unsigned char>(rest[0]);
  entry.variant = (kind & variant_bit) != 0;
  if ((kind & ~variant_bit) > static_cast<unsigned char>(NameKind::identifier)) return false;
  entry.kind = static_cast<NameKind>(kind & ~variant_bit);
  rest.remove_prefix(1);
  const std::size_t lang_end = rest.find('\0');
  if (lang_end == std::string_view::npos) return false;
  entry.lang = rest.substr(0, lang_end);
  entry.text = rest.substr(lang_end + 1);
  entry.text = entry.text.substr(0, entry.text.find('\0'));
  return true;
}

void word_grams(std::string_view word, std::vector<std::uint64_t>& grams, std::size_t& length) {
  grams.clear();
  char32_t points[max_gram_length + 4];
  std::size_t count = 0;
  points[count++] = begin_pad;
  points[count++] = begin_pad;
  length = 0;
  std::size_t digits = 0;
  for (std::size_t at = 0; at < word.size(); ++length) {
    digits += is_ascii_digit(word[at]) ? 1 : 0;
    const char32_t c = next_code_point(word, at);
    if (length == max_gram_length) {
      length = base::count_code_points(word);
      return;
    }
    points[count++] = c;
  }
  if (length == 0 || digits > max_gram_digits) return;
  points[count++] = end_pad;
  points[count++] = end_pad;
  if (base::is_han(points[2])) {
    for (std::size_t i = 1; i + 2 < count; ++i) {
      grams.push_back(std::uint64_t{points[i]} << 2 * gram_shift | std::uint64_t{points[i + 1]}
                                                                       << gram_shift);
    }
  } else {
    for (std::size_t i = 0; i + 2 < count; ++i) {
      grams.push_back(std::uint64_t{points[i]} << 2 * gram_shift |
                      std::uint64_t{points[i + 1]} << gram_shift | points[i + 2]);
    }
  }
  std::sort(grams.begin(), grams.end());
  grams.erase(std::unique(grams.begin(), grams.end()), grams.end());
}

void append_gram(std::string& out, std::uint64_t gram) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << gram_shift) - 1;
  base::append_utf8(out, static_cast<char32_t>(gram >> 2 * gram_shift & mask));
  base::append_utf8(out, static_cast<char32_t>(gram >> gram_shift & mask));
  if ((gram & mask) != 0) base::append_utf8(out, static_cast<char32_t>(gram & mask));
}

bool take_word(std::string_view& row, std::string_view& word) {
  if (row.empty()) return false;
  word = row.substr(0, row.find('\0'));
  row.remove_prefix(std::min(row.size(), word.size() + 1));
  return true;
}

void append_word(std::string& row, std::string_view word) {
  row += word;
  row += '\0';
}

}  // namespace askbase::kb
