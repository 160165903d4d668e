// A text as the character reader sees it: one place a code point, folded so that Simplified and Traditional,
// full and half width, capitals and small letters meet; and what a question and a context have in common.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/matrix.h"
#include "reader/lexical_encoder.h"
#include "reader/span.h"

namespace askbase::reader {

enum class CharKind : std::uint8_t { han, digit, letter, stop, mark, other };  // stop: ends a sentence

struct CharText {
  std::u32string folded;           // as many code points as the text has
  std::vector<std::int32_t> rows;  // in the table of vectors
  std::vector<CharKind> kinds;
  std::vector<std::uint8_t> tags;  // by LexicalEncoder; empty before
  nn::Segments sentences;          // none is longer than kLongestSentence
  static constexpr std::size_t kLongestSentence = 160;

  std::size_t size() const { return folded.size(); }
};

// Half width, small letters; not the script.
char32_t fold_character(char32_t c);

CharText char_text(const CharVocabulary& vocabulary, std::u32string_view text);

// Where an answer may begin and end: not at white space. Its length, in characters.
PieceEdges char_edges(const CharText& context);
inline constexpr std::size_t kLongestCharAnswer = 80;

// What is known of all texts: how rare each character is (by row, 0 .. 1), which tags begin a word.
struct CharStatistics {
  std::span<const float> rarity;
  std::span<const std::uint8_t> word_begins;
};

// Of each character of the context, y (context.size(), kPairFeatures): whether it, its pair and its triple
// stand in the question, how long the run is that both share, how much of the question its sentence and its
// clause hold and how they compare with the best ones, how near the next shared runs are, its kind and place.
inline constexpr nn::Index kPairFeatures = 32;
void pair_features(const CharText& question, const CharText& context, const CharStatistics& statistics,
                   nn::View<float> y);

}  // namespace askbase::reader
