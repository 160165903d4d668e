// What a knowledge base says about its own vocabulary: the predicates with every way of saying them, and the
// classes. Derived from one KB state without training; immutable, thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "kb/store.h"
#include "qa/analysis.h"

namespace askbase::qa {

// What the values of a predicate are, by a sample of them.
enum class ValueKind : std::uint8_t { entity, number, time, boolean, text };
std::string_view value_kind_name(ValueKind kind);

struct TextWord {
  std::string form;         // stem, or one Han character
  std::string key;          // as written, folded
  std::uint16_t sound = 0;  // of a Han character
  float weight = 1;         // by rarity among the predicates; function words weigh nothing
  bool han = false;
};

// A concept that a text names, and the words of the text that name it.
struct TextConcept {
  ConceptId id = 0;
  float strength = 1;
  bool opposite = false;
  std::uint16_t first = 0, last = 0;
};

// One way of saying a predicate or class: label, alias, wording, or the readable end of its IRI.
struct RelationText {
  enum class Origin : std::uint8_t { label, alias, wording, identifier };
  std::string text, lang;
  Origin origin = Origin::label;
  std::vector<TextWord> words;
  std::vector<TextConcept> concepts;
  bool opposite = false;  // says the opposite of the label: "on the sea" for "landlocked"
  float weight = 0;       // of all words together
};

struct ClassShare {
  kb::TermId id;
  float share = 0;  // of the sample
};

struct Predicate {
  kb::TermId id;
  std::string iri;
  std::vector<RelationText> texts;
  ValueKind kind = ValueKind::text;
  bool person = false, place = false;  // its values name people; places
  std::vector<ClassShare> subject_classes, object_classes;
  std::map<std::string, std::string> units;  // by language
  std::uint64_t facts = 0;                   // counted up to 256
  float values_per_subject = 1;              // in the sample
  kb::TermId example_subject, example_object;
};

struct Class {
  kb::TermId id;
  std::string iri;
  std::vector<RelationText> texts;
  bool person = false, place = false;
  std::vector<kb::TermId> ancestors;  // itself first
  std::uint64_t instances = 0;        // counted up to 4096, without subclasses
};

// A class named in the question.
struct ClassMention {
  std::size_t first = 0, last = 0;   // units
  std::vector<std::size_t> classes;  // indices into Lexicon::classes(); several may share a word
  float similarity = 1;              // below 1: misspelt
};

// Where a word of the question occurs among the texts of the predicates.
struct TextPlace {
  std::uint32_t predicate = 0, text = 0;
};

class Lexicon {
 public:
  static base::Result<std::shared_ptr<const Lexicon>> build(const kb::View& view);

  const std::vector<Predicate>& predicates() const { return predicates_; }
  const std::vector<Class>& classes() const { return classes_; }
  std::optional<std::size_t> predicate_index(kb::TermId id) const;
  std::optional<std::size_t> class_index(kb::TermId id) const;
  // Predicates, classes and other parts of the schema: nothing that questions are about.
  bool is_schema(kb::TermId id) const { return schema_.count(id.bits) != 0; }
  std::optional<kb::TermId> type_predicate() const { return type_; }
  std::optional<kb::TermId> comment_predicate() const { return comment_; }
  // The languages that text values carry.
  const std::vector<std::string>& value_languages() const { return value_languages_; }

  // The texts that share a word, a concept or (Han) a character with the question's word.
  const std::vector<TextPlace>* texts_with(const std::string& form) const;
  // Texts with a character of that sound.
  const std::vector<TextPlace>* texts_sounding(std::uint16_t sound) const;
  const std::vector<TextPlace>* texts_meaning(ConceptId id) const;
  // Words of the predicates' texts that have the same stem but for an ending: "discov" for "discoveri".
  std::vector<std::string> related_forms(const std::string& stem) const;
  // True for stems that some predicate, class or concept has.
  bool knows(const Unit& unit) const;
  // The stem of the word that this misspelt word most likely is, by edit distance; empty when none is near.
  std::string correct(const std::string& key) const;

  std::vector<ClassMention> find_classes(const Question& question) const;

 private:
  friend class LexiconBuilder;
  std::vector<Predicate> predicates_;
  std::vector<Class> classes_;
  std::unordered_map<std::uint64_t, std::size_t> predicate_by_id_, class_by_id_;
  std::unordered_set<std::uint64_t> schema_;
  std::optional<kb::TermId> type_, comment_;
  std::vector<std::string> value_languages_;
  std::unordered_map<std::string, std::vector<TextPlace>> by_form_;
  std::unordered_map<ConceptId, std::vector<TextPlace>> by_concept_;
  std::unordered_map<std::uint16_t, std::vector<TextPlace>> by_sound_;
  std::unordered_map<std::string, std::vector<TextPlace>> classes_by_first_;
  std::vector<std::string> sorted_forms_;                         // Latin forms of predicates
  std::vector<std::pair<std::u32string, std::string>> surfaces_;  // spelling, stem
};

// Sum of the shares of those classes (or their ancestors) in the list. 0 when the list is empty.
float class_share(const std::vector<ClassShare>& shares, const std::vector<kb::TermId>& classes);

}  // namespace askbase::qa
