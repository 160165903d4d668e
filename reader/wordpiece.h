// BERT's tokenizer: text into the ids of pieces of words, each with its place in the original text.
//
// The reference is tokenization.py of google-research/bert (Devlin 2019) and Hugging Face's BertTokenizer:
//   1. control characters (C*, except tab and line ends), NUL and U+FFFD are dropped; Zs, tab and line ends
//      are spaces; each CJK ideograph stands alone;
//   2. words are cut at spaces (also U+2028 and U+2029); with lower_case each word is lower-cased as Python
//      does (with the final sigma), with strip_accents taken apart (NFD) and freed of its marks (Mn);
//   3. each punctuation character (ASCII other than letters, digits and controls, or P*) stands alone;
//   4. what remains is cut greedily into the longest pieces of the vocabulary; a word of more than 100 code
//      points, or with a rest that no piece begins, is [UNK] as a whole.
// Private use and unassigned characters are dropped as Hugging Face does (Google's keeps them); nothing is
// brought to NFC (as Google's and the fast tokenizers; Hugging Face's Python one does since 2023).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reader/vocabulary.h"

namespace askbase::reader {

struct WordPieceOptions {
  bool lower_case = true;     // an uncased vocabulary
  bool strip_accents = true;  // as lower_case where a model does not say
  // "[MASK]", "[SEP]" ... written in the text become those pieces. Not for text of strangers: it would let
  // them end a question early.
  bool special_in_text = false;
  bool operator==(const WordPieceOptions&) const = default;
};

// Pieces in a row. begin and end are half-open and count code points of the original text (an invalid byte
// is one); base::OffsetMap turns them into bytes and UTF-16 units. A piece covers the characters that its
// letters come from: marks that were dropped at its end lie outside. Pieces of one character (Hangul taken
// apart) share its place.
struct Pieces {
  std::vector<std::int32_t> ids;
  std::vector<std::uint32_t> begin, end;
  std::size_t size() const { return ids.size(); }
  void clear();
  bool operator==(const Pieces&) const = default;
};

// Immutable; any number of threads may use it.
class WordPiece {
 public:
  static constexpr std::size_t kLongestWord = 100;  // code points

  explicit WordPiece(Vocabulary vocabulary, WordPieceOptions options = {});

  // Without [CLS] and [SEP]. Time is linear in the text. Text of 2 GiB or more throws std::length_error.
  Pieces tokenize(std::string_view text) const;
  // The same into `out`, whose memory is used again.
  void tokenize(std::string_view text, Pieces& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const WordPieceOptions& options() const { return options_; }

 private:
  Vocabulary vocabulary_;
  WordPieceOptions options_;
};

// What an encoder reads: one sequence, or two as a pair.
struct EncoderInput {
  std::vector<std::int32_t> ids;      // [CLS] a [SEP], or [CLS] a [SEP] b [SEP]
  std::vector<std::int32_t> types;    // 0 up to the first [SEP], 1 after it
  std::size_t first = 0, second = 0;  // where the pieces of a and of b begin (b: 0 when there is none)
  std::size_t first_size = 0, second_size = 0;
  void clear() { *this = {}; }
};

// At most max_length ids: a is cut at its end. max_length below 2 (3 for a pair) is a programmer error.
EncoderInput encode_one(const Vocabulary& vocabulary, const Pieces& a, std::size_t max_length);
// The longer of the two loses pieces at its end until they fit ("longest first", b where they are equal).
EncoderInput encode_pair(const Vocabulary& vocabulary, const Pieces& a, const Pieces& b,
                         std::size_t max_length);

// Long contexts are read in windows that overlap, as Devlin 2019's run_squad.py does.
struct WindowOptions {
  std::size_t max_length = 384;   // ids of a window, the question and [CLS] [SEP] [SEP] included
  std::size_t stride = 128;       // from the start of one window to that of the next, in pieces
  std::size_t max_question = 64;  // pieces of the question that are kept
};

// Pieces [begin, end) of the context.
struct Window {
  std::size_t begin = 0, end = 0;
  bool operator==(const Window&) const = default;
};

// The windows of a context of `context` pieces for a question of `question` pieces: in order, without gaps,
// the last one ends with the context; one empty window for an empty context. The stride is at most what a
// window holds. max_length must leave room for one piece beside max_question (std::logic_error).
std::vector<Window> plan_windows(std::size_t question, std::size_t context,
                                 const WindowOptions& options = {});

// [CLS] question [SEP] context[window] [SEP]; piece i of the window is id second + i.
EncoderInput encode_window(const Vocabulary& vocabulary, const Pieces& question, const Pieces& context,
                           const Window& window, const WindowOptions& options = {});

}  // namespace askbase::reader
