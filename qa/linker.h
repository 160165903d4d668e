// Entity linking: which parts of the question name things of the KB, and which things.
//
// EntityLinker is the seam: the lexical linker below finds the longest exact names, then names with slips of
// the pen; a learned one may take its place. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/store.h"
#include "qa/analysis.h"
#include "qa/lexicon.h"

namespace askbase::qa {

struct Candidate {
  kb::TermId entity;
  std::string name;      // the name that matched, as the KB writes it
  float score = 0;       // in [0, 1]: how well the name fits what was written
  float prominence = 0;  // in [0, 1]: how much is known of the entity
  std::uint32_t facts = 0;
  int edits = 0;          // letters that differ
  bool alias = false;     // by another name than its label
  bool by_value = false;  // named by a value that it has: "French" for France, "E17" for an employee
  bool pinned = false;
  std::vector<kb::TermId> types;  // classes and their ancestors
};

// Part of the question that names something: entities, or a value such as 18 or "+33".
struct Mention {
  std::size_t first = 0, last = 0;    // units
  std::string text;                   // as written
  std::uint32_t begin = 0, end = 0;   // code points
  std::vector<Candidate> candidates;  // best first
  std::vector<kb::TermId> values;     // literals of the KB that are written so
  bool exact = true;                  // some name is exactly this
  bool weak = false;                  // a common word that happens to be a name, too
  float tagged =
      0;  // that these very words name what the question is about, as the tagger sees it; Links::tagged
  std::size_t length() const { return last - first; }
};

struct Links {
  std::vector<Mention> mentions;                             // longest first
  std::vector<std::pair<std::size_t, std::size_t>> unknown;  // units that look like names the KB has not
  bool tagged = false;  // a tagger looked: Mention::tagged says something
};

class EntityLinker {
 public:
  virtual ~EntityLinker() = default;
  // Also mends misspelt words that no name holds (Unit::corrected of the question). pins: match key of a
  // mention -> the entity meant. Errors: corrupt, io.
  virtual base::Result<Links> link(Question& question, const kb::View& view, const Lexicon& lexicon,
                                   const std::map<std::string, kb::TermId>& pins,
                                   const Deadline& deadline) const = 0;
};

struct LinkOptions {
  std::size_t max_candidates = 10;  // entities of one mention; those that fit best
  // Also entities whose names only hold the mention's words, or begin with it: for finding the entity among
  // many rather than for answering at once.
  bool parts_of_names = false;
};

std::unique_ptr<EntityLinker> make_lexical_linker(const LinkOptions& options = {});

// Classes of an entity with their ancestors. Errors: corrupt, io.
base::Result<std::vector<kb::TermId>> types_of(const kb::View& view, const Lexicon& lexicon,
                                               kb::TermId entity);

// The key of units [first, last), equal to match_key of the text they cover.
std::string units_key(const Question& question, std::size_t first, std::size_t last);

}  // namespace askbase::qa
