// The lexical linker's work on one question. For the linker*.cpp files; linker.h is the public side.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kb/entity_index.h"
#include "qa/linker.h"
#include "qa/mention_tagger.h"

namespace askbase::qa {

inline constexpr float least_slip_score = 0.6F;  // below it a misspelt name is none

// Units that a tagger takes for a mention.
struct TaggedUnits {
  std::size_t first = 0, last = 0;
  float probability = 0;
};

// In [0, 1], from how many facts are known.
float prominence_of(std::uint32_t facts);

class Linking {
 public:
  using Span = std::pair<std::size_t, std::size_t>;  // units

  Linking(Question& question, const kb::View& view, const Lexicon& lexicon,
          const std::map<std::string, kb::TermId>& pins, const Deadline& deadline,
          const LinkOptions& options = {})
      : question_(question),
        view_(view),
        lexicon_(lexicon),
        pins_(pins),
        deadline_(deadline),
        options_(options) {}

  // What a tagger says of the question, before run().
  void set_tags(const MentionTags& tags);

  base::Result<Links> run();

 private:
  const std::vector<Unit>& units() const { return question_.units; }

  Mention new_mention(std::size_t first, std::size_t last) const;

  // True for a span of common words: it is a name only when nothing else in the question is.
  bool is_common(std::size_t first, std::size_t last, const std::string& key) const;

  // True when the whole span is what a predicate or concept is called.
  bool is_term(const std::string& key) const;

  base::Status find_exact_names();

  // The names that are exactly this, or its singular: "noble gases".
  base::Result<std::vector<kb::EntityMatch>> names_like(const std::string& key, bool more,
                                                        const Unit& end) const;

  // "African" -> "Africa", "Brazilian" -> "Brazil", "European" -> "Europe", "Italian" -> "Italy".
  base::Result<std::vector<kb::EntityMatch>> names_of_adjective(const std::string& key) const;

  void add_candidate(Mention& mention, const kb::EntityMatch& match);

  // What the difference between what was written and a name costs. A slip seldom hits the first letter, and
  // in Chinese it is most often another character of the same sound.
  static float slip_cost(const std::string& written, const std::string& name, int edits);

  // Numbers, codes and quoted text that are values of facts.
  base::Status find_values();

  // "fourteenth", "第十四": the number as a value.
  base::Status find_numbers_in_words();

  bool may_be_value(std::size_t first, std::size_t last) const;

  // Bytes of signs that stand directly before the word: "." of ".fr", "+" of "+33".
  std::size_t signs_before(const Unit& unit) const;

  base::Status look_up_value(std::size_t first, std::size_t last, std::set<kb::TermId>& values);

  base::Status add_if_used(const kb::Term& term, std::set<kb::TermId>& values);

  base::Status add_value_mention(std::size_t first, std::size_t last, const std::set<kb::TermId>& values);

  Mention& mention_at(std::size_t first, std::size_t last);

  Mask covered() const;

  // Misspelt question words and words of predicates.
  void mend_words();

  // Runs of words that nothing explains are compared with names that differ in a letter or two.
  base::Status find_misspelt_names();

  base::Result<std::vector<kb::EntityMatch>> names_near(const Span& span, const std::string& key) const;

  // True when a part of the span is exactly a name of the entity: the rest is no slip then.
  bool named_inside(const Span& span, kb::TermId entity) const;

  static void mark(Mask& mask, std::size_t first, std::size_t last);

  // Content words in a row around i; "of" and the like inside when a capital follows.
  Span latin_run(std::size_t i, const Mask& mask) const;

  Span han_run(std::size_t i, const Mask& explained) const;

  // Explained by a concept or class rather than by a name: a boundary of names.
  bool only_term(std::size_t k, const Mask& explained) const;

  // The run itself and its parts that hold a strange word, longest first.
  std::vector<Span> sub_spans(std::size_t first, std::size_t last,
                              const std::vector<std::uint8_t>& strange) const;

  // Names for what the tagger found and exact search did not: common words, slips, parts of names.
  base::Status find_tagged_names();
  base::Status look_up_tagged(Mention& mention, bool exactly);
  // Entities whose names hold `words`, scored by what they share with `key`.
  base::Status add_parts_of_names(Mention& mention, const std::string& key, const std::string& words);
  float tagged(std::size_t first, std::size_t last) const;
  // Tagged spans that nothing in the KB is called.
  void find_tagged_unknown_names();

  base::Status apply_pins();

  // Capitalised words inside the sentence, and unknown words, that no mention covers.
  void find_unknown_names();

  Question& question_;
  const kb::View& view_;
  const Lexicon& lexicon_;
  const std::map<std::string, kb::TermId>& pins_;
  const Deadline& deadline_;
  const LinkOptions options_;
  std::vector<TaggedUnits> tags_;  // the most probable first
  Links links_;
};

}  // namespace askbase::qa
