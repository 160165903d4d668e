// What a BERT encoder is pre-trained on (Devlin 2019, section 3.1 and appendix A.2): pairs of runs of
// sentences, the second of which follows the first in half of the cases, with some of their pieces masked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/random.h"
#include "nn/team.h"
#include "reader/wordpiece.h"

namespace askbase::reader {

// The texts between the blank lines of a text, without those that hold nothing.
std::vector<std::string> texts_between_blank_lines(std::string_view text);

// A document as pieces; sentence i (base/sentences.h) ends before piece ends[i]. Sentences without pieces are
// left out.
struct PieceDocument {
  std::vector<std::int32_t> ids;
  std::vector<std::size_t> ends;
  std::size_t begin(std::size_t sentence) const { return sentence == 0 ? 0 : ends[sentence - 1]; }
};
// One a text, in their order; documents without pieces are left out.
std::vector<PieceDocument> piece_documents(const WordPiece& tokenizer, std::span<const std::string> texts,
                                           nn::Team& team);

// Pieces [begin, end) of a document; at least one.
struct PieceRun {
  std::size_t document = 0, begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const PieceRun&) const = default;
};
struct SentencePair {
  PieceRun a, b;
  bool next = false;  // b follows a; otherwise it is from another document
  std::size_t length() const { return a.size() + b.size() + 3; }  // with [CLS] and two [SEP]
  bool operator==(const SentencePair&) const = default;
};
// Goes through the documents in order, as create_pretraining_data.py of google-research/bert: sentences up to
// max_length ids (in a tenth of the cases up to a length drawn from 2 on, less [CLS] and [SEP]) are cut in
// two at random; half of the time the second part is taken from another document, and what stood there begins
// the next pair; a run of one sentence always gets its second part from elsewhere. The longer part of a pair
// that is too long loses pieces at its ends. A function of its arguments. Fewer than two documents, or a
// max_length below 5, is a programmer error (std::logic_error).
std::vector<SentencePair> sentence_pairs(std::span<const PieceDocument> documents, std::size_t max_length,
                                         std::uint64_t seed);

struct Masking {
  double share = 0.15;    // of the pieces, rounded, at least one
  std::size_t most = 80;  // pieces of a pair
  bool whole_words =
      false;  // a piece goes with the "##" pieces after it; a word that is too much is passed by
};
// An input with what is to be guessed. Empty where a pair has nothing but unknown words.
struct MaskedInput {
  EncoderInput input;
  std::vector<std::size_t> places;    // ids of the input, ascending
  std::vector<std::int32_t> targets;  // what stood there
  bool next = false;
};

// Immutable; any number of threads may use it.
class Masker {
 public:
  // The vocabulary must have [MASK] (std::logic_error), and outlive this.
  Masker(const Vocabulary& vocabulary, const Masking& masking);
  // Of the chosen pieces 80 % become [MASK], 10 % another piece of the vocabulary at random, and 10 % stay.
  // Special pieces ([CLS], [UNK], [unused1] ...: whatever stands in brackets) are neither chosen nor put in.
  MaskedInput mask(std::span<const PieceDocument> documents, const SentencePair& pair,
                   nn::Random random) const;

 private:
  const Vocabulary& vocabulary_;
  Masking masking_;
  std::vector<char> special_;           // by id
  std::vector<std::int32_t> ordinary_;  // ids that are not special
};

}  // namespace askbase::reader
