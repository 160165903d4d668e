// A path of one to three relations as text: what the matcher (qa/path_matcher.h) reads of a predicate,
// whether it has seen that predicate in training or not.
//
//   Freebase name      people.person.place_of_birth     words: people person place of birth
//                                                        units: people | people.person | place of birth
//   label, alias,      "place of birth", "出生地"          words: place of birth / 出 生 地
//   wording                                              units: place of birth / 出生地
//   identifier         http://x.org/p#placeOfBirth       as the label "place of birth"
//
// Words are keys (base::match_key): case, width, diacritics and the two Chinese scripts fall together; Han
// characters are words of their own. Units are what a relation is built of, each as a whole. Of several steps
// the words and the units stand one after the other with `step_word` between them, and a step that is
// followed backwards begins with `inverse_word`.
//
// All functions are thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace askbase::qa {

// Keys hold neither of the brackets, so these are no words of a text.
inline constexpr std::string_view mention_word = "<e>", inverse_word = "<inverse>", step_word = "<then>";

// One relation of a path, as its KB names it.
struct RelationStep {
  std::string identifier;          // IRI or name; may be empty when there are texts
  std::vector<std::string> texts;  // labels, aliases, wordings in the questions' language, the best first
  bool inverse = false;            // followed from object to subject
};

// One way of saying a path.
struct PathText {
  std::vector<std::string> words;  // word level
  std::vector<std::string> units;  // relation level
  auto operator<=>(const PathText&) const = default;
};

// Longer texts are cut.
inline constexpr std::size_t max_path_words = 40, max_path_units = 16;

// The words of a text, in order, without punctuation.
std::vector<std::string> path_words(std::string_view text);

// "people.person.place_of_birth", "/people/person/place_of_birth" and "a.b.c..d.e.f": three names apart by
// dots or slashes, of letters, digits and underscores, all small, for each step.
bool is_freebase_name(std::string_view identifier);

// What a person reads of an identifier: its end after '#', '/' or ':', humps and underscores as spaces.
std::string readable_identifier(std::string_view identifier);

// The ways of saying a path, each once, the first being the best: the Freebase name whole where the
// identifier is one, then each text; the readable end of the identifier where there is neither. Way i of a
// path takes way i of each step (or its last one). At most `most` of them; none for an empty path or one
// without a word.
std::vector<PathText> path_texts(std::span<const RelationStep> path, std::size_t most = 4);

}  // namespace askbase::qa
