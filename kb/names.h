// Keys of names: how text becomes entries of the tables names, words, vocabulary and grams. For the .cpp
// files of kb/ (entity_index.h is the public side). Pure functions, thread-safe.
//
//   names       key, NUL, entity id, kind byte, language, NUL, text   -> nothing
//   words       word, NUL, key                                        -> nothing (keys of several words only)
//   vocabulary  word                                                  -> varint: how many keys hold the word
//   grams       gram, NUL                                             -> varint: how many words hold the gram
//               gram, length byte                                     -> the words of that length with the
//               gram, in
//                                                                        byte order, each ended by NUL
//
// A key is base::match_key of the name, cut to 512 bytes. A name has one main key and up to four variants
// (variant_keys, and the key of the name without a remark in brackets: "Mercury (planet)"), whose kind byte
// has its high bit set. Words of a key are what stands between its spaces, cut again where Han meets other
// writing ("iphone手机" has the words "iphone" and "手机").
//
// Grams are the trigrams of a word with two pads at each end; of a Han word, the bigrams with one pad. The
// length is in code points; words above max_gram_length, and words of more than max_gram_digits digits
// (numbers, identifiers such as Q7186), have no grams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kb/entity_index.h"

namespace askbase::kb {

inline constexpr std::size_t max_folded_bytes = 4096;  // of a name; what follows is not looked at
inline constexpr std::size_t max_key_bytes = 512;
inline constexpr std::size_t max_text_bytes = 512;  // longer names are kept shortened, with a hash
inline constexpr std::size_t max_lang_bytes = 64;
inline constexpr std::size_t max_gram_length = 64;
inline constexpr std::size_t max_gram_digits = 2;

// The code point at `at`, moving past it; U+FFFD and one byte on for what is not UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& at);
// At most max_bytes of the text, cut between characters.
std::string_view cut_text(std::string_view text, std::size_t max_bytes);

std::string index_key(std::string_view text);

// Other keys under which a name or a question's words with this key are looked for: single letters in a row
// put together ("u s a" -> "usa"), and without a leading "the". Empty for most keys.
std::vector<std::string> variant_keys(std::string_view key);

// The name without the remark in brackets at its end, "刘晓华（教授）" -> "刘晓华"; empty without one.
std::string_view without_remark(std::string_view text);

// The words of a key, in order; views into it.
void split_words(std::string_view key, std::vector<std::string_view>& words);

// One entry of the names table, taken apart; views into the entry's key.
struct NameEntry {
  std::string_view key;
  TermId entity;
  NameKind kind = NameKind::label;
  bool variant = false;
  std::string_view lang, text;
};
void append_name_entry(std::string& out, std::string_view key, bool variant, const EntityName& name);
bool read_name_entry(std::string_view table_key, NameEntry& entry);

// Grams packed into integers whose order is the order of their bytes. length: the word's code points. Sorted,
// each once.
void word_grams(std::string_view word, std::vector<std::uint64_t>& grams, std::size_t& length);
void append_gram(std::string& out, std::uint64_t gram);

// The words of a row of the grams table: takes the first from the row, false when there is none.
bool take_word(std::string_view& row, std::string_view& word);
void append_word(std::string& row, std::string_view word);

}  // namespace askbase::kb
