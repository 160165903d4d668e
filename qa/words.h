// What the program knows of a language itself, apart from any knowledge base: function words, question
// words, ways of asking, and groups of words that mean one thing ("concepts": population, inhabitants, how
// many people). One data file a language (words_en.cpp, words_zh.cpp); this header reads them.
//
// A concept has one name in all languages, so that a Chinese question meets an English column name.
// Immutable after construction; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace askbase::qa {

// How much a word of the question counts when a reading leaves it unexplained.
enum class Role : std::uint8_t {
  content,   // fully
  light,     // use, call, name, located: little
  function,  // articles, prepositions, auxiliaries, question words: nothing
};

// Phrases that tell what kind of question it is.
enum class Cue : std::uint8_t {
  person,
  place,
  time,
  number,
  count,
  list,
  boolean,
  which,
  definition,   // what is X, tell me about X
  superlative,  // largest, 最大
  comparison,   // than, 比...更
  filter,       // more than, at least
  negation,     // without, 没有
  polite,       // do you know, 你知道: asks nothing by itself, and what cues it holds do not count
  opinion,      // should, best, 好看
  manner,       // why, how does
  task,         // translate, write a poem
  count_,
};
inline constexpr int cue_count = static_cast<int>(Cue::count_);

// The tables of a data file, as written: entries separated by ';' or line ends.
struct LanguageData {
  std::string_view function_words, light_words;
  std::string_view irregular;  // "spoken speak": form and lemma
  std::array<std::string_view, cue_count> cues;
  std::string_view small_talk;  // whole messages that ask nothing
  // One concept a line, "name: phrase; phrase*0.7; !phrase": the number is how surely the phrase means the
  // concept; after "!" stands what means its opposite.
  std::string_view concepts;
  std::string_view person_kinds, place_kinds;  // words that name kinds of people, of places
  std::string_view relation_verbs;             // predicate labels that read as verbs: "borders"
};
const LanguageData& english_data();
const LanguageData& chinese_data();

using ConceptId = std::uint16_t;
struct ConceptSense {
  ConceptId id = 0;
  float strength = 1;
  bool opposite = false;
};

// Phrases by their first word. Words are stems for Latin script and single characters for Han.
template <typename T>
struct PhraseTable {
  struct Entry {
    std::vector<std::string> words;
    T value;
  };
  std::unordered_map<std::string, std::vector<Entry>> by_first;
};

class Words {
 public:
  static const Words& instance();

  Role role(const std::string& key) const;  // of a Latin word's key
  // Stem of a word after irregular forms: "spoken" -> "speak", "countries" -> "countri".
  std::string stem(const std::string& key) const;
  // The words of a phrase as the tables hold them. Punctuation is dropped.
  std::vector<std::string> phrase(std::string_view text) const;
  // True for words that some table here names: not to be taken for a misspelling.
  bool is_known(const std::string& key) const { return known_.count(stem(key)) != 0; }
  // The question word that this misspelt word most likely is; empty when there is none.
  std::string correct_question_word(const std::string& key) const;

  // The value of a number word or ordinal: "fourteen", "third" -> 14, 3; "十四" -> 14. Nothing for others.
  static std::optional<int> number_of(const std::string& english_key);
  static std::optional<int> number_of(std::u32string_view chinese_numerals);

  // Role of the longest Chinese function or light word at `at`; length 0 when none starts there.
  Role han_role(std::u32string_view text, std::size_t at, std::size_t& length) const;

  // Spellings of the words of the concepts, each with its stem.
  const std::vector<std::pair<std::string, std::string>>& surfaces() const { return surfaces_; }

  const PhraseTable<Cue>& cues() const { return cues_; }
  const PhraseTable<ConceptSense>& concepts() const { return concepts_; }
  std::size_t concept_count() const { return concept_names_.size(); }
  const std::string& concept_name(ConceptId id) const { return concept_names_[id]; }
  bool is_small_talk(const std::string& key) const { return small_talk_.count(key) != 0; }

  // Words (stems, or Chinese words) that name kinds of people or places.
  bool names_person(const std::string& word) const { return person_kinds_.count(word) != 0; }
  bool names_place(const std::string& word) const { return place_kinds_.count(word) != 0; }
  bool is_relation_verb(const std::string& stem) const { return relation_verbs_.count(stem) != 0; }

 private:
  Words();
  void read(const LanguageData& data, bool han);
  void add_concepts(std::string_view lines);

  std::unordered_map<std::string, Role> roles_;
  std::unordered_map<std::string, std::string> irregular_;
  std::unordered_set<std::string> known_, small_talk_, person_kinds_, place_kinds_, relation_verbs_;
  std::unordered_map<std::u32string, Role> han_roles_;
  std::size_t longest_han_role_ = 1;
  PhraseTable<Cue> cues_;
  PhraseTable<ConceptSense> concepts_;
  std::map<std::string, ConceptId, std::less<>> concept_ids_;
  std::vector<std::string> concept_names_;
  std::vector<std::pair<std::string, std::string>> surfaces_;
};

}  // namespace askbase::qa
