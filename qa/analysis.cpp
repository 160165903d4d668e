#include "qa/analysis.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/pinyin.h"
#include "base/text.h"
#include "base/tokenize.h"

namespace askbase::qa {
namespace {

constexpr float han_weight = 0.5F;
constexpr float light_share = 0.2F;
constexpr std::u32string_view splitters = U"的是有在和与跟同吗呢了吧被把到";

bool is_article(const Unit& unit) { return unit.key == "the" || unit.key == "a" || unit.key == "an"; }

bool is_capital(std::string_view text) {
  const char c = text.empty() ? '\0' : text.front();
  if (c >= 'A' && c <= 'Z') return true;
  return static_cast<unsigned char>(c) >= 0x80 && base::fold_case(text.substr(0, 2)) != text.substr(0, 2);
}

// Currency signs, emoji, arrows: not the punctuation of sentences.
bool is_symbol(std::string_view text) {
  const std::u32string points = base::to_code_points(text);
  if (points.empty()) return false;
  const char32_t c = points[0];
  return c == U'$' || (c >= 0xA2 && c <= 0xA5) || (c >= 0x20A0 && c <= 0x20CF) || c == 0xFF04 ||
         c == 0xFFE5 || (c >= 0x2190 && c <= 0x2BFF) || (c >= 0x1F000 && c <= 0x1FAFF);
}

void find_numbers(Question& question) {
  const std::vector<Unit>& units = question.units;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!units[i].han) {
      if (const std::optional<int> value = Words::number_of(units[i].key)) {
        question.numbers.push_back({*value, i, i + 1});
      }
      continue;
    }
    std::u32string numerals;
    std::size_t last = i;
    while (last < units.size() && units[last].han) {
      const char32_t c = base::to_code_points(units[last].key)[0];
      if (std::u32string_view(U"一二三四五六七八九十百零").find(c) == std::u32string_view::npos) break;
      numerals += c;
      ++last;
    }
    if (last == i) continue;
    // A single 一 is an article as a rule; after 第 it is a number.
    const bool ordinal = i > 0 && units[i - 1].key == "第";
    if (const std::optional<int> value = Words::number_of(numerals); value && (*value > 1 || ordinal)) {
      question.numbers.push_back({*value, i, last});
    }
    i = last;
  }
}

// Where the phrase that starts at `at` ends, or 0. Articles of the question may stand between its words.
std::size_t phrase_end(const std::vector<Unit>& units, std::size_t at,
                       const std::vector<std::string>& words) {
  for (std::size_t w = 0; w < words.size(); ++w, ++at) {
    if (w > 0) {
      while (at < units.size() && is_article(units[at]) && words[w] != units[at].stem) ++at;
    }
    if (at >= units.size()) return 0;
    if (units[at].stem != words[w] && units[at].corrected != words[w]) return 0;
  }
  return at;
}

template <typename T, typename Visit>
void for_each_phrase(const std::vector<Unit>& units, const PhraseTable<T>& table, const Visit& visit) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (const std::string* start : {&units[i].stem, &units[i].corrected}) {
      if (start->empty()) continue;
      const auto bucket = table.by_first.find(*start);
      if (bucket == table.by_first.end()) continue;
      for (const auto& entry : bucket->second) {
        if (const std::size_t end = phrase_end(units, i, entry.words)) visit(i, end, entry.value);
      }
    }
  }
}

// Roles of Han characters: the longest function or light word from left to right.
void assign_han_roles(std::vector<Unit>& units) {
  const Words& words = Words::instance();
  std::size_t i = 0;
  while (i < units.size()) {
    if (!units[i].han) {
      ++i;
      continue;
    }
    std::size_t end = i;
    std::u32string run;
    while (end < units.size() && units[end].han) run += base::to_code_points(units[end++].key)[0];
    for (std::size_t at = 0; at < run.size();) {
      std::size_t length = 0;
      const Role role = words.han_role(run, at, length);
      if (length == 0) {
        ++at;
        continue;
      }
      const bool splits =
          role == Role::function && (length > 1 || splitters.find(run[at]) != std::u32string_view::npos);
      for (std::size_t k = 0; k < length; ++k) {
        units[i + at + k].role = role;
        units[i + at + k].splits = splits;
        if (role == Role::function && length > 1) {
          units[i + at + k].word_first = static_cast<std::uint16_t>(i + at);
          units[i + at + k].word_last = static_cast<std::uint16_t>(i + at + length);
        }
      }
      at += length;
    }
    i = end;
  }
}

void assign_weights(std::vector<Unit>& units) {
  for (Unit& unit : units) {
    unit.weight = unit.role == Role::function ? 0.0F : unit.role == Role::light ? light_share : 1.0F;
    if (unit.han) unit.weight *= han_weight;
  }
}

// Marks Han characters that the dictionary takes for a word of one character.
void mark_single_words(std::string_view text, std::vector<Unit>& units) {
  if (std::none_of(units.begin(), units.end(), [](const Unit& unit) { return unit.han; })) return;
  std::size_t i = 0;
  for (const base::Token& token : base::tokenize(text)) {
    if (token.kind != base::TokenKind::han || token.end - token.begin != 1) continue;
    while (i < units.size() && units[i].begin < token.begin) ++i;
    if (i < units.size() && units[i].begin == token.begin) units[i].alone = true;
  }
}

// Verbs after "how is X": asking for a name, not for a manner.
bool asks_for_a_name(const Question& question) {
  static const std::vector<std::string> verbs = Words::instance().phrase(
      "called call abbreviated written named known represented denoted classified spelled shortened "
      "symbolised "
      "symbolized categorized categorised located situated say termed titled styled arranged distributed "
      "configured");
  return std::any_of(question.units.begin(), question.units.end(), [](const Unit& unit) {
    return std::find(verbs.begin(), verbs.end(), unit.stem) != verbs.end();
  });
}

bool starts_politely(const std::vector<Unit>& units) {
  if (units.size() < 2) return false;
  const std::string& first = units[0].key;
  const std::string& second = units[1].key;
  return (first == "can" || first == "could" || first == "do" || first == "would" || first == "will" ||
          first == "did" || first == "may") &&
         (second == "you" || second == "i" || second == "we" || second == "anyone" || second == "anybody");
}

// The noun phrase after "which", "how many", "哪些": up to the next function word or name.
void find_head(const Question& question, const Mask& names, std::size_t after, Frame& frame) {
  const std::vector<Unit>& units = question.units;
  std::size_t first = after;
  while (first < units.size() && !names[first] &&
         (is_article(units[first]) || units[first].key == "of" || units[first].key == "all" ||
          units[first].key == "different" || units[first].key == "other")) {
    ++first;
  }
  std::size_t last = first;
  while (last < units.size() && last - first < 6 && !names[last] && units[last].role != Role::function)
    ++last;
  frame.head_first = first;
  frame.head_last = last;
}

// A limit needs a number: "more than 5 million", "before 1900", "超过一亿".
bool near_number(const Question& question, const CueHit& hit) {
  const std::vector<Unit>& units = question.units;
  const bool letters = units[hit.first].key.starts_with("start") ||
                       units[hit.first].key.starts_with("begin") || units[hit.first].key.starts_with("end") ||
                       units[hit.first].key == "开" || units[hit.first].key == "结";
  if (letters) return true;
  const std::size_t from = hit.first >= 4 ? hit.first - 4 : 0;
  for (std::size_t i = from; i < std::min(units.size(), hit.last + 3); ++i) {
    if (units[i].number) return true;
    const bool in_words =
        std::any_of(question.numbers.begin(), question.numbers.end(),
                    [&](const NumberHit& number) { return number.first <= i && i < number.last; });
    if (in_words) return true;
  }
  return false;
}

// 吗 asks at the end of a clause only; elsewhere it is a slip for another character.
bool ends_a_clause(const std::vector<Unit>& units, const CueHit& hit) {
  const std::string& key = units[hit.first].key;
  if (hit.last - hit.first > 1 || (key != "吗" && key != "么")) return true;
  return hit.last == units.size() || units[hit.last].after_comma || hit.last + 2 >= units.size();
}

// 多少 and 几 ask for a number of things only before what is counted; "是多少" asks for a value.
bool counts_things(const std::vector<Unit>& units, const CueHit& hit) {
  if (!units[hit.first].han || hit.last - hit.first > 2) return true;
  const std::string& last = units[hit.last - 1].key;
  if (last != "少" && last != "几") return true;
  return hit.last < units.size() && units[hit.last].role != Role::function;
}

bool is_plural(const Unit& unit) {
  return !unit.han && unit.key.size() > 3 && unit.key.ends_with("s") && !unit.key.ends_with("ss") &&
         !unit.key.ends_with("us") && !unit.key.ends_with("is");
}

}  // namespace

bool touches(const Mask& mask, std::size_t first, std::size_t last) {
  return std::any_of(mask.begin() + static_cast<std::ptrdiff_t>(first),
                     mask.begin() + static_cast<std::ptrdiff_t>(std::min(last, mask.size())),
                     [](std::uint8_t flag) { return flag != 0; });
}

std::string_view Question::span(std::size_t first, std::size_t last) const {
  if (first >= last) return {};
  return std::string_view(text).substr(units[first].begin_byte,
                                       units[last - 1].end_byte - units[first].begin_byte);
}

void find_phrases(Question& question) {
  const Words& words = Words::instance();
  question.cues.clear();
  question.concepts.clear();
  for_each_phrase(question.units, words.cues(), [&](std::size_t first, std::size_t last, Cue cue) {
    question.cues.push_back({cue, first, last});
  });
  // "是不是" holds "不是", "how many" holds nothing of "how": only the longest phrase at a place counts.
  const auto inside_longer = [&](const CueHit& hit) {
    return std::any_of(question.cues.begin(), question.cues.end(), [&](const CueHit& other) {
      if (other.cue == Cue::definition) return false;  // "是什么" asks what as well
      return other.first <= hit.first && other.last >= hit.last &&
             other.last - other.first > hit.last - hit.first;
    });
  };
  std::vector<CueHit> kept;
  for (const CueHit& hit : question.cues) {
    if (!inside_longer(hit)) kept.push_back(hit);
  }
  question.cues = std::move(kept);
  for_each_phrase(question.units, words.concepts(),
                  [&](std::size_t first, std::size_t last, const ConceptSense& sense) {
                    question.concepts.push_back({sense.id, sense.strength, sense.opposite, first, last});
                  });
  // 周期 inside the function word 周期表 says nothing.
  std::erase_if(question.concepts, [&](const ConceptHit& hit) {
    const Unit& unit = question.units[hit.first];
    return unit.word_last >= hit.last &&
           unit.word_last - unit.word_first > static_cast<int>(hit.last - hit.first);
  });
  // "without access to the sea" holds the opposite "access to the sea".
  std::erase_if(question.concepts, [&](const ConceptHit& hit) {
    return std::any_of(question.concepts.begin(), question.concepts.end(), [&](const ConceptHit& other) {
      return other.id == hit.id && other.opposite != hit.opposite && other.first <= hit.first &&
             other.last >= hit.last && other.last - other.first > hit.last - hit.first;
    });
  });
}

Question analyse(std::string_view text) {
  const Words& words = Words::instance();
  Question question;
  question.text = std::string(text);
  question.language = base::detect_language(text);
  question.traditional = base::is_traditional(text);
  const std::string key = base::match_key(text);
  question.small_talk = words.is_small_talk(key);
  bool after_comma = false;
  for (const base::Token& token : base::tokenize_characters(text)) {
    // Signs are no words, but "€" and a flag may be what the question is about.
    const bool sign = token.key.empty() || token.kind == base::TokenKind::punctuation;
    if (sign && !is_symbol(token.text)) {
      after_comma = token.text == "," || token.text == ";" || token.text == ":" || token.text == "，" ||
                    token.text == "；" || token.text == "：" || token.text == "。";
      continue;
    }
    Unit unit;
    unit.after_comma = std::exchange(after_comma, false);
    unit.text = token.text;
    unit.key = sign ? token.text : token.key;
    unit.symbol = sign;
    unit.begin = token.begin;
    unit.end = token.end;
    unit.begin_byte = token.begin_byte;
    unit.end_byte = token.end_byte;
    unit.han = token.kind == base::TokenKind::han && token.end - token.begin == 1 && token.key.size() > 1;
    if (unit.han) unit.sound = base::sound_of(base::to_code_points(token.key)[0]);
    unit.number = token.kind == base::TokenKind::number;
    unit.capital = is_capital(token.text);
    unit.stem = unit.han || unit.number ? unit.key : words.stem(unit.key);
    if (!unit.han && !unit.number) unit.role = words.role(unit.key);
    question.units.push_back(std::move(unit));
  }
  assign_han_roles(question.units);
  mark_single_words(text, question.units);
  assign_weights(question.units);
  find_phrases(question);
  find_numbers(question);
  return question;
}

std::string_view expect_name(Expect expect) {
  switch (expect) {
    case Expect::any:
      return "any";
    case Expect::person:
      return "person";
    case Expect::place:
      return "place";
    case Expect::time:
      return "time";
    case Expect::number:
      return "number";
  }
  return "any";
}

// English: what the first question word asks for ("what ... when I call" asks for no time). In Chinese a
// question word may stand anywhere, and there is one as a rule.
Expect expected_by_words(const Question& question, const Mask& names) {
  const auto kind_of = [](Cue cue) -> std::optional<Expect> {
    switch (cue) {
      case Cue::time:
        return Expect::time;
      case Cue::count:
      case Cue::number:
        return Expect::number;
      case Cue::place:
        return Expect::place;
      case Cue::person:
        return Expect::person;
      case Cue::which:
        return Expect::any;
      default:
        return std::nullopt;
    }
  };
  std::optional<Expect> best;
  std::size_t best_first = 0;
  for (const CueHit& hit : question.cues) {
    const std::optional<Expect> kind = kind_of(hit.cue);
    if (!kind || touches(names, hit.first, hit.last)) continue;
    const bool han = question.units[hit.first].han;
    const bool stronger = best && han && *best == Expect::any && *kind != Expect::any;
    if (!best || stronger || (!han && hit.first < best_first)) {
      best = kind;
      best_first = hit.first;
    }
  }
  return best.value_or(Expect::any);
}

Expect expected_by(const QuestionType& type) {
  // Chosen on the dev half of datasets/atlas/questions.jsonl: below it, no expectation costs less than a
  // wrong one.
  constexpr double sure = 0.8;
  if (type.coarse_probability < sure) return Expect::any;
  if (type.coarse == "LOC") return Expect::place;
  if (type.fine_probability < sure / 2) return Expect::any;
  if (type.fine == "HUM:ind") return Expect::person;
  if (type.fine == "NUM:date") return Expect::time;
  return type.coarse == "NUM" && type.fine != "NUM:period" ? Expect::number : Expect::any;
}

Frame frame_of(const Question& question, const Mask& names) {
  Frame frame;
  const std::vector<Unit>& units = question.units;
  const auto free = [&](const CueHit& hit) { return !touches(names, hit.first, hit.last); };
  const auto has = [&](Cue cue) {
    return std::any_of(question.cues.begin(), question.cues.end(),
                       [&](const CueHit& hit) { return hit.cue == cue && free(hit); });
  };
  frame.question_word = has(Cue::person) || has(Cue::place) || has(Cue::time) || has(Cue::number) ||
                        has(Cue::count) || has(Cue::which);
  frame.count = std::any_of(question.cues.begin(), question.cues.end(), [&](const CueHit& hit) {
    return hit.cue == Cue::count && free(hit) && counts_things(units, hit);
  });
  frame.expect = expected_by_words(question, names);
  if (frame.expect == Expect::any && question.type) frame.expect = expected_by(*question.type);

  const bool polite = starts_politely(units) || has(Cue::polite);
  const CueHit* opening = nullptr;  // what the noun phrase asked for follows
  for (const CueHit& hit : question.cues) {
    if (!free(hit)) continue;
    const bool han = units[hit.first].han;
    const bool leads = hit.first == 0 || (hit.first == 1 && units[0].role == Role::function);
    const bool opens = hit.cue == Cue::which || hit.cue == Cue::count || hit.cue == Cue::list ||
                       (hit.cue == Cue::time && hit.last - hit.first == 2);
    if (opens && (opening == nullptr || hit.first < opening->first)) opening = &hit;
    switch (hit.cue) {
      case Cue::boolean:
        // English asks yes or no by the word that leads; Chinese anywhere.
        if (((han && ends_a_clause(units, hit)) || leads || units[hit.first].after_comma) && !polite &&
            !frame.question_word) {
          frame.boolean = true;
        }
        break;
      case Cue::list:
        if (han || hit.first <= 1 || hit.last - hit.first > 1 || polite) frame.list = true;
        break;
      case Cue::definition:
        frame.definition = true;
        break;
      case Cue::filter:
        if (near_number(question, hit)) frame.blockers.push_back(hit);
        break;
      case Cue::superlative:
        // 最早 and the like say when, not which of them.
        if (!han || units[hit.first].role == Role::content) frame.blockers.push_back(hit);
        break;
      case Cue::polite:
        break;
      case Cue::comparison:
      case Cue::negation:
      case Cue::opinion:
        frame.blockers.push_back(hit);
        break;
      case Cue::task:
        if (han || leads || polite) frame.blockers.push_back(hit);
        break;
      case Cue::manner:
        if (han || units[hit.first].key != "how" || !asks_for_a_name(question)) frame.blockers.push_back(hit);
        break;
      case Cue::person:
      case Cue::place:
      case Cue::time:
      case Cue::number:
      case Cue::count:
      case Cue::which:
      case Cue::count_:
        break;
    }
  }
  // "Berlin is the capital of Germany, right?", "柏林是德国的首都吧？"
  if (!units.empty() && !frame.question_word && !frame.list) {
    const std::string& last = units.back().key;
    if (last == "right" || last == "correct" || last == "true" || last == "吧") frame.boolean = true;
  }
  if (frame.boolean) frame.list = false;
  if (opening != nullptr) {
    find_head(question, names, opening->last, frame);
    const bool plural = frame.head_last > frame.head_first && is_plural(units[frame.head_last - 1]);
    frame.several = frame.list || frame.count || plural;
  }
  return frame;
}

}  // namespace askbase::qa
