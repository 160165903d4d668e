// Names of entities: where text becomes ids.
//
// A name comes from a label or alias fact, or is the readable end of an entity's IRI. All names of all
// languages are kept under their match key (base/text.h), so case, diacritics, width and Traditional or
// Simplified script do not matter. The index lives in the tables names, words, vocabulary and grams (layout:
// kb/names.h) and is changed by the same commit as the facts (NameChanges below).
//
// Two spellings meet exactly when their match keys are equal, or are after "the" is dropped at the beginning
// and single letters in a row are joined ("The Netherlands", "U.S.A." and "USA"); these score a little less.
//
// Fuzzy matching works on words: each word is replaced by the vocabulary's words within a small edit distance
// (a transposition is one edit), found by character n-grams; in Chinese, a name without spaces is one word.
// Words of one or two letters, numbers, and words of three digits and more
// are never corrected, and a correction has the same digits. Names
// that differ by one or two spaces only ("NewYork") match, too.
//
// Limits: names meet on the first 512 bytes of their key, made of their first 4096 bytes; names without a
// letter, digit or sign that match_key keeps ("...") are not found by name. A name above 512 bytes comes
// back cut to that by the searches (names_of and display_name give it whole).
//
// All functions are thread-safe. Every search may fail with corrupt or io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/store.h"

namespace askbase::kb {

enum class NameKind : std::uint8_t { label, alias, identifier };
enum class MatchKind : std::uint8_t { exact, prefix, word, fuzzy };

struct EntityName {
  TermId entity;
  std::string text;  // as written
  std::string lang;  // "" when the label has none
  NameKind kind = NameKind::label;
};

struct EntityMatch {
  TermId entity;
  EntityName name;  // the name that matched
  MatchKind match = MatchKind::exact;
  int edits = 0;  // of a fuzzy match
  // Known of the entity, in either direction, counted up to 64. Of more than 64 candidates only the most
  // promising are counted; the rest have 0.
  std::uint32_t facts = 0;
  // Higher is better: exact matches lie in [0.8, 1], prefixes in [0.6, 0.8), words in [0.4, 0.6), fuzzy ones
  // in [0, 0.4). Within these: how much of the name matched, the kind of name (label, alias, identifier),
  // language, and the logarithm of the facts.
  double score = 0;
};

// In all lists each entity stands once, under its best name, ordered by score, then by id.

// The names that are exactly this one (under the match key, see above); at most 4096 are looked at.
base::Result<std::vector<EntityMatch>> find_exact(const View& view, std::string_view text);

// True when some name starts with this match key (or without its "the", with its initials joined): lets a
// longest-match loop stop early.
base::Result<bool> has_prefix(const View& view, std::string_view match_key);

// Vocabulary words within the edit distance (itself included; 1 up to five letters, 2 above; in Chinese 1 for
// words of three characters and more; none for those that are never corrected, see above), nearest
// first, then by how many names hold the word, then in byte order. The word is folded; nothing is similar to
// a text of several words, or to words of more than 64 characters but themselves.
struct WordMatch {
  std::string word;
  int edits = 0;
  std::uint32_t names = 0;  // different ones, by key
};
base::Result<std::vector<WordMatch>> similar_words(const View& view, std::string_view word,
                                                   std::size_t limit);

// Names within a small edit distance of the text as a whole (each word corrected; three edits in all, or two
// spaces), other than the exact ones. Texts of more than 12 words find names that differ in spaces only.
base::Result<std::vector<EntityMatch>> find_fuzzy(const View& view, std::string_view text, std::size_t limit);

// Search as a person types: exact, then prefix, then names that hold all the words (the last one may be
// unfinished; a Chinese text may stand anywhere in the name), then fuzzy. lang ("en", "zh", "" = any) prefers
// names in that language. Of the many names that a short prefix has, the first 2000 in byte order are ranked.
base::Result<std::vector<EntityMatch>> search(const View& view, std::string_view text, std::string_view lang,
                                              std::size_t limit);

// The name to show for an entity: its label in the language, else in English, else any label, alias, or the
// readable end of the IRI. A label without a language counts as being in the one that its script suits. Among
// several, rdfs:label comes before skos:prefLabel, these before other predicates, then byte order decides.
// "zh" asks for a Simplified name, "zh-hant" (or -tw, -hk, -mo) for a Traditional one; a label in the other
// script is converted. Literals: their lexical form. Blank nodes without a label: "_:x".
base::Result<std::string> display_name(const View& view, TermId id, std::string_view lang);
// All names that facts give the entity: labels first, in the order above.
base::Result<std::vector<EntityName>> names_of(const View& view, TermId id);

// Which predicates give labels and aliases. Stored in meta; --alias-predicate adds to it for good.
struct LabelPredicates {
  std::set<std::string> labels;   // IRIs
  std::set<std::string> aliases;  // IRIs
  // rdfs:label, skos:prefLabel, schema:name, foaf:name / skos:altLabel, schema:alternateName, and what tables
  // call them: alias, aliases, 别名, 又名, 简称, ... under urn:askbase:p:
  static LabelPredicates defaults();
  bool operator==(const LabelPredicates&) const = default;
};
// The defaults when meta holds none. Error corrupt.
base::Result<LabelPredicates> label_predicates(const Snapshot& snapshot);
std::string encode_label_predicates(const LabelPredicates& predicates);  // value of meta "label_predicates"

// The name that the object of a label or alias fact gives: any literal's lexical form, with its language.
// Nothing for IRIs and blank nodes.
std::optional<EntityName> name_of_fact(TermId subject, const Term& object, NameKind kind);
// What to read in an entity's IRI: "http://x.org/Barack_Obama" -> "Barack Obama", ".../officialLanguage" ->
// "official language", "urn:askbase:entity:New%20York" -> "New York"; the IRI itself when it has no such end.
std::string readable_iri(std::string_view iri);

// The entries of the names table that a name has (none when its key is empty), for checks of the index
// against the facts.
std::vector<std::string> name_entries(const EntityName& name);

// What one commit changes in the names. Filled by Update::commit (kb/update.cpp), which knows added and
// removed facts. One thread.
class NameChanges {
 public:
  // Works with this many threads when there is much to do. The snapshot must outlive the object.
  explicit NameChanges(const Snapshot& before, std::size_t threads = 2);
  NameChanges(const NameChanges&) = delete;
  NameChanges& operator=(const NameChanges&) = delete;
  ~NameChanges();

  // Adding a name that the KB has, or twice, changes nothing.
  void add(const EntityName& name);
  // To be called only when no fact is left that gives the entity this text, language and kind (the same name
  // may come from rdfs:label and skos:prefLabel). Removing a name that the KB does not have changes nothing.
  // A name both added and removed is added.
  void remove(const EntityName& name);
  // Puts and erases keys of the four tables in ascending order, with no other thread using them.
  base::Status write(Write& write);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace askbase::kb
