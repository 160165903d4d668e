// What a question says before any knowledge base is looked at: its words with their places, what each counts
// for, and which ways of asking occur in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/language.h"
#include "qa/question_type.h"
#include "qa/words.h"

namespace askbase::qa {

// When the work on one question has to end. Cheap to ask.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds timeout) : end_(std::chrono::steady_clock::now() + timeout) {}
  bool passed() const { return std::chrono::steady_clock::now() >= end_; }
  std::chrono::steady_clock::time_point end() const { return end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

// A word of Latin (or other spaced) script, a number, or one Han character.
struct Unit {
  std::string text;       // as written
  std::string key;        // match_key
  std::string stem;       // for Han: the key
  std::string corrected;  // stem of the known word that this one probably misspells; empty otherwise
  std::uint32_t begin = 0, end = 0;            // code points of the question
  std::uint32_t begin_byte = 0, end_byte = 0;  // bytes of the question
  std::uint16_t sound = 0;                     // of a Han character, base/pinyin.h
  bool han = false, number = false, capital = false;
  bool symbol = false;  // no word: a currency sign, an emoji
  bool after_comma = false;
  bool splits = false;  // a Han function word that no name runs across: 的, 是, 什么
  std::uint16_t word_first = 0, word_last = 0;  // the function word of several characters that it is in
  bool alone = false;  // a Han character that is a word by itself, as far as the dictionary knows
  Role role = Role::content;
  float weight = 1;  // what leaving it unexplained costs: Han characters half of a word
};

// Units [first, last).
struct CueHit {
  Cue cue;
  std::size_t first = 0, last = 0;
};
struct ConceptHit {
  ConceptId id = 0;
  float strength = 1;
  bool opposite = false;
  std::size_t first = 0, last = 0;
};
// A number in words: "fourteenth", "十四".
struct NumberHit {
  int value = 0;
  std::size_t first = 0, last = 0;
};

// One flag a unit: taken by a name, or by something else that explains it.
using Mask = std::vector<std::uint8_t>;
bool touches(const Mask& mask, std::size_t first, std::size_t last);

struct Question {
  std::string text;
  base::Language language = base::Language::unknown;  // of the text
  bool traditional = false;
  bool small_talk = false;
  std::vector<Unit> units;   // punctuation is left out
  std::vector<CueHit> cues;  // hits inside longer hits are left out
  std::vector<ConceptHit> concepts;
  std::vector<NumberHit> numbers;
  std::optional<QuestionType> type;  // what a classifier says, where there is one and it was asked

  // The text as written from the first unit up to the last.
  std::string_view span(std::size_t first, std::size_t last) const;
};

// Precondition: valid UTF-8. Longer texts than this are not questions.
inline constexpr std::size_t max_question_code_points = 2000;
Question analyse(std::string_view text);
// Finds cues and concepts again, after units were corrected.
void find_phrases(Question& question);

enum class Expect : std::uint8_t { any, person, place, time, number };
std::string_view expect_name(Expect expect);
// What a type of the classifier lets expect: HUM:ind a person, LOC a place, NUM:date a time, other NUM a
// number. any where it is not sure of it.
Expect expected_by(const QuestionType& type);

// How the question is asked, once the names in it are known (a name may hold "most" or "比").
struct Frame {
  // By the question word; where that leaves it open ("what", "which", "name the"), by the question's type.
  Expect expect = Expect::any;
  bool boolean = false;     // wants yes or no
  bool count = false;       // wants how many
  bool list = false;        // wants all of them
  bool several = false;     // expects more than one: "which countries", "哪些"
  bool definition = false;  // what is X, and nothing else
  bool question_word = false;
  std::vector<CueHit> blockers;  // cues of questions that facts do not answer: superlatives, opinions ...
  std::size_t head_first = 0, head_last = 0;  // "countries" of "which countries"; empty when equal
};
Frame frame_of(const Question& question, const Mask& names);
// What its question word alone lets expect.
Expect expected_by_words(const Question& question, const Mask& names);

}  // namespace askbase::qa
