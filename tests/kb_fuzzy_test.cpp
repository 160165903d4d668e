#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <set>

#include "base/text.h"
#include "kb/encoding.h"
#include "kb/fuzzy.h"
#include "kb/names.h"
#include "tests/kb_memory_tables.h"

using namespace askbase;
using kb::EntityName;
using kb::NameKind;
using kb::Table;
using test::entity;
using test::MemorySnapshot;
using test::NameTables;

namespace {

std::vector<std::string> words_of(std::string_view key) {
  std::vector<std::string_view> words;
  kb::split_words(key, words);
  return {words.begin(), words.end()};
}

// ---- the definitions again, by scanning and in the plainest way ----

bool han(char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; }  // all that the tests use

int plain_distance(const std::u32string& a, const std::u32string& b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::u32string digits_of(const std::u32string& word) {
  std::u32string out;
  for (const char32_t c : word) {
    if (c >= U'0' && c <= U'9') out += c;
  }
  return out;
}

int plain_limit(const std::u32string& word) {
  if (word.size() > 64) return 0;
  if (han(word[0])) return word.size() >= 3 ? 1 : 0;
  if (digits_of(word) == word || word.size() <= 2 || digits_of(word).size() >= 3) return 0;
  return word.size() <= 5 ? 1 : 2;
}

// Edits from the asked word to the other, -1 when it may not stand for it.
int plain_word_edits(const std::u32string& asked, const std::u32string& other) {
  if (asked == other) return 0;
  if (han(asked[0]) != han(other[0]) || other.size() > 64 || digits_of(asked) != digits_of(other)) return -1;
  const int distance = plain_distance(asked, other);
  return distance <= plain_limit(asked) ? distance : -1;
}

std::vector<std::u32string> plain_words(const std::string& key) {
  std::vector<std::u32string> words;
  bool fresh = true;
  for (const char32_t c : base::to_code_points(key)) {
    if (c == U' ') {
      fresh = true;
      continue;
    }
    if (fresh || han(words.back().back()) != han(c)) words.emplace_back();
    words.back() += c;
    fresh = false;
  }
  return words;
}

// Edits from the asked key to the other, -1 when they are too far apart.
int plain_key_edits(const std::string& asked, const std::string& other) {
  int best = -1;
  const std::vector<std::u32string> a = plain_words(asked), b = plain_words(other);
  if (a.size() == b.size() && a.size() <= 12) {
    int edits = 0;
    for (std::size_t i = 0; i < a.size() && edits >= 0; ++i) {
      const int more = plain_word_edits(a[i], b[i]);
      edits = more < 0 ? -1 : edits + more;
    }
    if (edits >= 0 && edits <= 3) best = edits;
  }
  // Spaces: the letters are the same, and where the words begin differs in one place or two.
  const auto spread = [](const std::string& key, std::set<std::size_t>& spaces) {
    std::u32string letters;
    for (const char32_t c : base::to_code_points(key)) {
      if (c == U' ') {
        spaces.insert(letters.size());
      } else {
        letters += c;
      }
    }
    return letters;
  };
  std::set<std::size_t> spaces_a, spaces_b, differ;
  if (const std::u32string letters = spread(asked, spaces_a);
      letters == spread(other, spaces_b) && letters.size() <= 64) {
    std::set_symmetric_difference(spaces_a.begin(), spaces_a.end(), spaces_b.begin(), spaces_b.end(),
                                  std::inserter(differ, differ.end()));
    const int edits = static_cast<int>(differ.size());
    if (edits <= 2 && (best < 0 || edits < best)) best = edits;
  }
  return best;
}

// Short words of few letters, so that most are near some other; runs of digits, Han, and mixtures.
std::string random_word(std::mt19937_64& random) {
  static const std::vector<std::string> letters = {"a", "b", "c", "é", "ж"};
  static const std::vector<std::string> characters = {"中", "国", "人", "民", "银"};
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::string out;
  const std::size_t kind = pick(10);
  if (kind < 6) {
    for (std::size_t n = 1 + pick(9); n > 0; --n) out += letters[pick(letters.size())];
  } else if (kind < 8) {
    for (std::size_t n = 1 + pick(5); n > 0; --n) out += characters[pick(characters.size())];
  } else if (kind == 8) {
    for (std::size_t n = 1 + pick(4); n > 0; --n) out += static_cast<char>('1' + pick(3));
  } else {
    out =
        letters[pick(3)] + letters[pick(3)] + std::to_string(pick(2) == 0 ? pick(3) : 100) + letters[pick(3)];
  }
  return out;
}

std::string random_name(std::mt19937_64& random) {
  std::string out = random() % 8 == 0 ? "The " : "";
  const std::size_t words = 1 + random() % 3;
  for (std::size_t i = 0; i < words; ++i) {
    if (i > 0) out += random() % 4 == 0 ? "." : " ";
    out += random_word(random);
  }
  return out;
}

}  // namespace

TEST_CASE("kb: words of a key") {
  CHECK(words_of("new york") == std::vector<std::string>{"new", "york"});
  CHECK(words_of("中国人民银行") == std::vector<std::string>{"中国人民银行"});
  CHECK(words_of("t恤") == std::vector<std::string>{"t", "恤"});
  CHECK(words_of("iphone手机15") == std::vector<std::string>{"iphone", "手机", "15"});
  CHECK(words_of("2022年冬奥会") == std::vector<std::string>{"2022", "年冬奥会"});
  CHECK(words_of("covid 19") == std::vector<std::string>{"covid", "19"});
  CHECK(words_of("сан марино") == std::vector<std::string>{"сан", "марино"});
  CHECK(words_of("").empty());
}

TEST_CASE("kb: variants of a key") {
  CHECK(kb::variant_keys("u s a") == std::vector<std::string>{"usa"});
  CHECK(kb::variant_keys("j r r tolkien") == std::vector<std::string>{"jrr tolkien"});
  CHECK(kb::variant_keys("the beatles") == std::vector<std::string>{"beatles"});
  CHECK(kb::variant_keys("the u s a") == std::vector<std::string>{"u s a", "the usa", "usa"});
  CHECK(kb::variant_keys("plan b").empty());
  CHECK(kb::variant_keys("4 4 2").empty());
  CHECK(kb::variant_keys("the").empty());
  CHECK(kb::variant_keys("theatre").empty());
  CHECK(kb::variant_keys("中国").empty());
}

TEST_CASE("kb: grams of a word") {
  const auto grams_of = [](std::string_view word) {
    std::vector<std::uint64_t> grams;
    std::size_t length = 0;
    kb::word_grams(word, grams, length);
    std::vector<std::string> out;
    for (const std::uint64_t gram : grams) kb::append_gram(out.emplace_back(), gram);
    CHECK(std::is_sorted(out.begin(), out.end()));
    CHECK(length == base::count_code_points(word));
    return std::set<std::string>(out.begin(), out.end());
  };
  CHECK(grams_of("cat") == std::set<std::string>{"\1\1c", "\1ca", "cat", "at\2", "t\2\2"});
  CHECK(grams_of("a") == std::set<std::string>{"\1\1a", "\1a\2", "a\2\2"});
  CHECK(grams_of("aaaa") == std::set<std::string>{"\1\1a", "\1aa", "aaa", "aa\2", "a\2\2"});
  CHECK(grams_of("阿尔巴") == std::set<std::string>{"\1阿", "阿尔", "尔巴", "巴\2"});
  CHECK(grams_of(std::string(65, 'x')).empty());
  CHECK(grams_of("q7186").empty());
  CHECK(grams_of("b52").size() == 5);
  CHECK(grams_of("").empty());
}

TEST_CASE("kb: names with typing errors") {
  NameTables kb;
  kb.add({"New York", "Albania", "阿尔巴尼亚", "São Tomé and Príncipe", "iPhone 手机", "COVID-19",
          "Apollo 11", "Apollo 13", "Massachusetts", "中国", "Berlin", "Bern", "Q7186"});
  const MemorySnapshot snapshot = kb.snapshot();
  const auto similar = [&](std::string_view text) {
    const auto found = kb::similar_keys(snapshot, kb::index_key(text));
    REQUIRE(found);
    std::vector<std::pair<std::string, int>> out;
    for (const kb::KeyCandidate& one : *found) out.emplace_back(one.key, one.edits);
    return out;
  };
  using Found = std::vector<std::pair<std::string, int>>;
  CHECK(similar("New Yrok") == Found{{"new york", 1}});
  CHECK(similar("NewYork") == Found{{"new york", 1}});
  CHECK(similar("Ne wYork") == Found{{"new york", 2}});
  CHECK(similar("new york") == Found{});  // exact ones are not its business
  CHECK(similar("Albnaia") == Found{{"albania", 1}});
  CHECK(similar("阿尔巴尼压") == Found{{"阿尔巴尼亚", 1}});
  CHECK(similar("阿尔巴尼") == Found{{"阿尔巴尼亚", 1}});
  CHECK(similar("阿尔巴利尼亚") == Found{{"阿尔巴尼亚", 1}});
  CHECK(similar("阿巴尔尼亚") == Found{{"阿尔巴尼亚", 1}});
  CHECK(similar("Sao Tome and Principee") == Found{{"sao tome and principe", 1}});
  CHECK(similar("ipone手机") == Found{{"iphone手机", 1}});
  CHECK(similar("covdi 19") == Found{{"covid 19", 1}});
  CHECK(similar("COVID19") == Found{{"covid 19", 1}});
  CHECK(similar("Apolo 11") == Found{{"apollo 11", 1}});
  CHECK(similar("Apollo 12") == Found{});  // a number is not corrected
  CHECK(similar("Q71866") == Found{});
  CHECK(similar("Masachusets") == Found{{"massachusetts", 2}});
  CHECK(similar("Masachuset") == Found{});
  CHECK(similar("中华") == Found{});  // two characters are too few
  CHECK(similar("Brelin") == Found{{"berlin", 1}});
  CHECK(similar("ebrlni") == Found{{"berlin", 2}});  // touches all of its trigrams
  CHECK(similar("") == Found{});
}

TEST_CASE("kb: Han words that hold a part") {
  NameTables kb;
  kb.add({"中国人民银行", "中国银行", "人民银行法", "银行", "中国人民大学", "iPhone手机"});
  const MemorySnapshot snapshot = kb.snapshot();
  const auto parts = [&](std::string_view part, std::size_t most = 100) {
    const auto found = kb::words_with_part(snapshot, part, most);
    REQUIRE(found);
    return std::set<std::string>(found->begin(), found->end());
  };
  CHECK(parts("人民银行") == std::set<std::string>{"中国人民银行", "人民银行法"});
  CHECK(parts("银行") == std::set<std::string>{"银行", "中国银行", "中国人民银行", "人民银行法"});
  CHECK(parts("银行", 1) == std::set<std::string>{"银行"});
  CHECK(parts("国大").empty());
  CHECK(parts("行").empty());
}

TEST_CASE("kb: fuzzy look-ups agree with a linear scan over several commits") {
  std::mt19937_64 random(20240611);
  NameTables kb;
  std::vector<EntityName> present;
  for (int commit = 0; commit < 6; ++commit) {
    std::vector<EntityName> added, removed;
    for (int i = 0; i < 250; ++i) {
      added.push_back({entity(1 + random() % 200), random_name(random), "", NameKind::label});
    }
    if (!present.empty()) {
      for (int i = 0; i < 120; ++i) {
        const std::size_t at = random() % present.size();
        removed.push_back(present[at]);
        present.erase(present.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    kb.change(added, removed);
    for (const EntityName& name : added) {
      const auto same = [&](const EntityName& other) {
        return other.entity == name.entity && other.text == name.text;
      };
      if (std::none_of(present.begin(), present.end(), same)) present.push_back(name);
    }
    std::erase_if(present, [](const EntityName& name) { return base::match_key(name.text).empty(); });

    std::set<std::string> keys, vocabulary;
    std::map<std::string, std::uint64_t> counts;
    for (const EntityName& name : present) {
      keys.insert(base::match_key(name.text));
      for (const std::string& variant : kb::variant_keys(base::match_key(name.text))) keys.insert(variant);
    }
    for (const std::string& key : keys) {
      std::set<std::string> words;
      for (const std::u32string& word : plain_words(key)) words.insert(base::to_utf8(word));
      for (const std::string& word : words) ++counts[word];
      vocabulary.insert(words.begin(), words.end());
    }

    // The tables are those that the names would have made at once.
    NameTables again;
    again.change(present);
    for (const Table table : test::name_tables) {
      CHECK_MESSAGE(kb.table(table) == again.table(table), kb::table_name(table));
    }
    std::map<std::string, std::uint64_t> stored;
    for (const auto& [word, value] : kb.table(Table::vocabulary)) {
      std::string_view rest = value;
      CHECK(kb::read_varint(rest, stored[word]));
    }
    CHECK(stored == counts);

    const MemorySnapshot snapshot = kb.snapshot();
    for (int i = 0; i < 300; ++i) {
      const std::string asked =
          i % 2 == 0
              ? random_word(random)
              : *std::next(vocabulary.begin(), static_cast<std::ptrdiff_t>(random() % vocabulary.size()));
      const std::string word = base::match_key(asked);
      if (plain_words(word).size() != 1) continue;
      std::map<std::string, int> expected, got;
      for (const std::string& other : vocabulary) {
        const int edits = plain_word_edits(base::to_code_points(word), base::to_code_points(other));
        if (edits >= 0) expected[other] = edits;
      }
      const auto found = kb::similar_vocabulary(snapshot, word);
      REQUIRE(found);
      for (const kb::WordCandidate& one : *found) got[one.word] = one.edits;
      CHECK_MESSAGE(got == expected, word);
      CHECK(got.size() == found->size());
    }
    for (int i = 0; i < 300; ++i) {
      std::string key = base::match_key(random_name(random));
      if (i % 3 == 0) {  // a name without one of its spaces
        key = *std::next(keys.begin(), static_cast<std::ptrdiff_t>(random() % keys.size()));
        if (const std::size_t space = key.find(' '); space != std::string::npos) key.erase(space, 1);
        key = base::match_key(key);
      }
      std::map<std::string, int> expected, got;
      for (const std::string& other : keys) {
        const int edits = plain_key_edits(key, other);
        if (edits >= 0 && other != key) expected[other] = edits;
      }
      const auto found = kb::similar_keys(snapshot, key);
      REQUIRE(found);
      for (const kb::KeyCandidate& one : *found) got[one.key] = one.edits;
      CHECK_MESSAGE(got == expected, key);
    }
  }
  // Removing everything leaves nothing behind.
  kb.change({}, present);
  for (const Table table : test::name_tables) {
    CHECK_MESSAGE(kb.table(table).empty(), kb::table_name(table));
  }
}
