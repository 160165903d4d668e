// Names of entities: where text becomes ids.
//
// A name comes from a label or alias fact, or is the readable end of an entity's IRI. All names of all
// languages are kept under their match key (base/text.h), so case, diacritics, width and Traditional or
// Simplified script do not matter. The index lives in the tables names, words, vocabulary and grams and is
// changed by the same commit as the facts (NameChanges below).
//
// Fuzzy matching works on words: an unknown word is replaced by the vocabulary's words within a small edit
// distance, found by character n-grams (trigrams of the padded word; uni- and bigrams for Chinese, where a
// name without spaces is one word).
#pragma once

#include <cstdint>
#include <map>
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
  EntityName name;          // the name that matched
  MatchKind match = MatchKind::exact;
  int edits = 0;            // of a fuzzy match
  std::uint32_t facts = 0;  // known of the entity, in either direction, counted up to 64
  double score = 0;         // in [0, 1], higher is better: match kind, name kind, edits, facts
};

// The names that are exactly this one (under the match key), ordered by score. Empty when there is none.
base::Result<std::vector<EntityMatch>> find_exact(const View& view, std::string_view text);

// True when some name starts with this match key: lets a longest-match loop stop early.
base::Result<bool> has_prefix(const View& view, std::string_view match_key);

// Vocabulary words within the edit distance (1 up to 5 letters, 2 above; in Chinese 1 for names of three
// characters and more), nearest first, then by how many names hold the word.
struct WordMatch {
  std::string word;
  int edits = 0;
  std::uint32_t names = 0;
};
base::Result<std::vector<WordMatch>> similar_words(const View& view, std::string_view word, std::size_t limit);

// Names within a small edit distance of the text as a whole (each word corrected), ordered by score.
base::Result<std::vector<EntityMatch>> find_fuzzy(const View& view, std::string_view text, std::size_t limit);

// Search as a person types: exact, then prefix, then names that hold all the words, then fuzzy. Each entity
// once, under its best name; lang ("en", "zh", "" = any) prefers names in that language.
base::Result<std::vector<EntityMatch>> search(const View& view, std::string_view text, std::string_view lang,
                                              std::size_t limit);

// The name to show for an entity: its label in the language, else in English, else any label, alias, or the
// readable end of the IRI. Literals: their lexical form. zh-hant asks for a Traditional name first.
base::Result<std::string> display_name(const View& view, TermId id, std::string_view lang);
// All names that facts give the entity.
base::Result<std::vector<EntityName>> names_of(const View& view, TermId id);

// Which predicates give labels and aliases. Stored in meta; --alias-predicate adds to it for good.
struct LabelPredicates {
  std::set<std::string> labels;   // IRIs
  std::set<std::string> aliases;  // IRIs
  static LabelPredicates defaults();  // rdfs:label, skos:prefLabel, schema:name, foaf:name / skos:altLabel,
                                      // schema:alternateName, p:alias, p:别名, p:又名, p:简称 ...
};
base::Result<LabelPredicates> label_predicates(const Snapshot& snapshot);
std::string encode_label_predicates(const LabelPredicates& predicates);  // value of meta "label_predicates"

// What one commit changes in the names. Filled by Update::commit (kb/update.cpp), which knows added and
// removed facts; write() emits sorted puts and erases for the four tables.
class NameChanges {
 public:
  explicit NameChanges(const Snapshot& before) : before_(before) {}
  void add(const EntityName& name);
  void remove(const EntityName& name);
  base::Status write(Write& write) const;

 private:
  const Snapshot& before_;
  // By table key (match key, NUL, entity, kind, language, text): +1 added, -1 removed; both cancel.
  std::map<std::string, int> changes_;
};

}  // namespace askbase::kb
