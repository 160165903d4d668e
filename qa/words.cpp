#include "qa/words.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "base/stem.h"
#include "base/text.h"
#include "base/tokenize.h"

namespace askbase::qa {
namespace {

void for_each_entry(std::string_view list, const std::function<void(std::string_view)>& visit) {
  while (!list.empty()) {
    const std::size_t end = list.find_first_of(";\n");
    const std::string_view entry = base::trim(list.substr(0, end));
    if (!entry.empty()) visit(entry);
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
}

// "phrase*0.7" -> 0.7, the phrase shortened.
float take_strength(std::string_view& phrase) {
  const std::size_t star = phrase.rfind('*');
  if (star == std::string_view::npos) return 1;
  float value = 1;
  std::from_chars(phrase.data() + star + 1, phrase.data() + phrase.size(), value);
  phrase = base::trim(phrase.substr(0, star));
  return value;
}

template <typename T>
void add_phrase(PhraseTable<T>& table, std::vector<std::string> words, T value) {
  if (words.empty()) return;
  const std::string first = words.front();
  table.by_first[first].push_back({std::move(words), std::move(value)});
}

template <typename T>
void longest_first(PhraseTable<T>& table) {
  for (auto& [first, entries] : table.by_first) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.words.size() > b.words.size(); });
  }
}

// The words that start a question, for mending "waht" and "hwo many".
constexpr std::string_view question_words[] = {"what", "which", "where",     "when",    "who",    "whose",
                                               "how",  "many",  "much",      "does",    "list",   "name",
                                               "are",  "the",   "countries", "country", "people", "number"};

}  // namespace

const Words& Words::instance() {
  static const Words words;
  return words;
}

Words::Words() {
  read(english_data(), false);
  read(chinese_data(), true);
  longest_first(cues_);
  longest_first(concepts_);
}

void Words::read(const LanguageData& data, bool han) {
  const auto add_roles = [&](std::string_view list, Role role) {
    for_each_entry(list, [&](std::string_view entry) {
      if (han) {
        const std::u32string word = base::to_code_points(entry);
        longest_han_role_ = std::max(longest_han_role_, word.size());
        han_roles_[word] = role;
      } else {
        roles_[std::string(entry)] = role;
        known_.insert(base::stem_english(entry));
      }
    });
  };
  for_each_entry(data.irregular, [&](std::string_view entry) {
    const std::size_t space = entry.find(' ');
    irregular_[std::string(entry.substr(0, space))] = base::stem_english(entry.substr(space + 1));
  });
  add_roles(data.light_words, Role::light);
  add_roles(data.function_words, Role::function);
  const auto know = [&](const std::vector<std::string>& words) { known_.insert(words.begin(), words.end()); };
  for (int i = 0; i < cue_count; ++i) {
    for_each_entry(data.cues[static_cast<std::size_t>(i)], [&](std::string_view entry) {
      std::vector<std::string> words = phrase(entry);
      know(words);
      add_phrase(cues_, std::move(words), static_cast<Cue>(i));
    });
  }
  for_each_entry(data.small_talk,
                 [&](std::string_view entry) { small_talk_.insert(base::match_key(entry)); });
  add_concepts(data.concepts);
  const auto add_set = [&](std::string_view list, std::unordered_set<std::string>& set) {
    for_each_entry(list, [&](std::string_view entry) {
      set.insert(han ? std::string(entry) : stem(std::string(entry)));
      if (!han) known_.insert(stem(std::string(entry)));
    });
  };
  add_set(data.person_kinds, person_kinds_);
  add_set(data.place_kinds, place_kinds_);
  add_set(data.relation_verbs, relation_verbs_);
}

void Words::add_concepts(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = base::trim(lines.substr(0, end));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto [place, added] = concept_ids_.try_emplace(std::string(base::trim(line.substr(0, colon))),
                                                         static_cast<ConceptId>(concept_names_.size()));
    if (added) concept_names_.push_back(place->first);
    for_each_entry(line.substr(colon + 1), [&, id = place->second](std::string_view entry) {
      const bool opposite = entry.starts_with('!');
      if (opposite) entry.remove_prefix(1);
      const float strength = take_strength(entry);
      std::vector<std::string> words = phrase(entry);
      known_.insert(words.begin(), words.end());
      for (const base::Token& token : base::tokenize_characters(entry)) {
        if (token.kind == base::TokenKind::word && token.key.size() >= 4) {
          surfaces_.emplace_back(token.key, stem(token.key));
        }
      }
      add_phrase(concepts_, std::move(words), ConceptSense{id, strength, opposite});
    });
  }
}

Role Words::role(const std::string& key) const {
  const auto found = roles_.find(key);
  return found == roles_.end() ? Role::content : found->second;
}

std::string Words::stem(const std::string& key) const {
  const auto found = irregular_.find(key);
  return found == irregular_.end() ? base::stem_english(key) : found->second;
}

std::vector<std::string> Words::phrase(std::string_view text) const {
  std::vector<std::string> out;
  for (const base::Token& token : base::tokenize_characters(text)) {
    if (token.key.empty()) continue;
    out.push_back(token.kind == base::TokenKind::han ? token.key : stem(token.key));
  }
  return out;
}

std::string Words::correct_question_word(const std::string& key) const {
  if (key.size() < 3) return {};
  const std::u32string word = base::to_code_points(key);
  for (const std::string_view candidate : question_words) {
    if (candidate.size() < 4 && key.size() != candidate.size()) continue;
    if (candidate.size() + 1 < key.size() || key.size() + 1 < candidate.size()) continue;
    const std::u32string right = base::to_code_points(candidate);
    if (base::edit_distance(word, right, 1) != 1) continue;
    // Short words are near too many others: only swapped letters count as a slip there.
    if (candidate.size() <= 4) {
      std::u32string sorted_word = word, sorted_right = right;
      std::sort(sorted_word.begin(), sorted_word.end());
      std::sort(sorted_right.begin(), sorted_right.end());
      const bool swapped = sorted_word == sorted_right;
      const bool same_start = word[0] == right[0] && candidate.size() == 4 && word.size() != right.size();
      if (!swapped && !same_start) continue;
    }
    return std::string(candidate);
  }
  return {};
}

std::optional<int> Words::number_of(const std::string& english_key) {
  static const std::unordered_map<std::string, int> numbers = [] {
    constexpr std::string_view cardinals =
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen "
        "eighteen nineteen twenty";
    constexpr std::string_view ordinals =
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth";
    std::unordered_map<std::string, int> out;
    for (const auto& [words, start] : {std::pair{cardinals, 2}, std::pair{ordinals, 1}}) {
      int value = start;
      for (std::size_t begin = 0; begin < words.size(); ++value) {
        const std::size_t end = std::min(words.find(' ', begin), words.size());
        out[std::string(words.substr(begin, end - begin))] = value;
        begin = end + 1;
      }
    }
    return out;
  }();
  const auto found = numbers.find(english_key);
  if (found != numbers.end()) return found->second;
  // "1st", "18th"
  int value = 0;
  const char* end = english_key.data() + english_key.size();
  const auto [rest, error] = std::from_chars(english_key.data(), end, value);
  const std::string_view tail(rest, static_cast<std::size_t>(end - rest));
  if (error == std::errc() && (tail == "st" || tail == "nd" || tail == "rd" || tail == "th")) return value;
  return std::nullopt;
}

std::optional<int> Words::number_of(std::u32string_view chinese_numerals) {
  constexpr std::u32string_view digits = U"零一二三四五六七八九";
  int total = 0, digit = -1;
  for (const char32_t c : chinese_numerals) {
    const std::size_t value = c == U'两' ? 2 : digits.find(c);
    if (value != std::u32string_view::npos) {
      if (digit >= 0) return std::nullopt;
      digit = static_cast<int>(value);
    } else if (c == U'十' || c == U'百') {
      total += (digit < 0 ? 1 : digit) * (c == U'十' ? 10 : 100);
      digit = -1;
    } else {
      return std::nullopt;
    }
  }
  return chinese_numerals.empty() ? std::nullopt : std::optional(total + std::max(digit, 0));
}

Role Words::han_role(std::u32string_view text, std::size_t at, std::size_t& length) const {
  for (length = std::min(longest_han_role_, text.size() - at); length > 0; --length) {
    const auto found = han_roles_.find(std::u32string(text.substr(at, length)));
    if (found != han_roles_.end()) return found->second;
  }
  return Role::content;
}

}  // namespace askbase::qa
