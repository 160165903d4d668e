// Approximate look-ups in the vocabulary and among the keys of names. For the .cpp files of kb/
// (entity_index.h is the public side). Thread-safe. Errors: corrupt, io.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/storage.h"

namespace askbase::kb {

// How many edits a word may differ from its correction: none for numbers, for words of one or two letters and
// for those of three digits and more; otherwise 1 up to five letters, 2 up to 64. Of Chinese words 1 from
// three characters on.
int max_word_edits(std::u32string_view word);
inline constexpr int max_key_edits = 3;    // of all words of a name together
inline constexpr int max_space_edits = 2;  // spaces that one spelling has and the other has not
inline constexpr std::size_t max_corrected_words =
    12;  // of a question's words; above, only spaces are mended

struct WordCandidate {
  std::string word;
  int edits = 0;
};
// The words of the vocabulary that one word may stand for, itself included, in byte order. Words whose digits
// differ never match. The search is complete, not approximate.
base::Result<std::vector<WordCandidate>> similar_vocabulary(const Snapshot& snapshot, std::string_view word);

struct KeyCandidate {
  std::string key;
  int edits = 0;
};
// The keys of names, other than this one, with the same number of words of which each may stand for the key's
// word in its place (at most max_key_edits in all), and those that differ in up to max_space_edits spaces
// only. Each once, with its fewest edits; fewest first, then in byte order.
base::Result<std::vector<KeyCandidate>> similar_keys(const Snapshot& snapshot, std::string_view key);

// Han words of the vocabulary that hold this Han text of two characters and more, in the order of the table,
// of at most max_scanned words looked at.
base::Result<std::vector<std::string>> words_with_part(const Snapshot& snapshot, std::string_view part,
                                                       std::size_t max_scanned);

}  // namespace askbase::kb
