// Answering from documents: the passages that a question is about are found, read, and the best spans of
// them are the answers. docs/answering.md is the page.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "qa/pipeline.h"
#include "qa/text_readers.h"
#include "reader/passage_vectors.h"
#include "reader/retrieval.h"

namespace askbase::qa {

// How spans of several passages become answers. With c the reader's confidence in a span, g how far its
// passage was found behind the best one (in standard deviations of the scores of all that were found), and
// the sum over all distinct answers other than its own:
//   strength   = log(c / (1 - c)) - gap_weight g
//   confidence = sigmoid(offset + own_weight strength - rivals_weight log(1 + sum of exp(strength)))
// With an offset of 0 and weights of 1 that is the share of an answer's odds among those of all answers and
// of "none of them". The numbers were fitted on questions about articles that no model had seen
// (docs/answering.md).
struct TextRanking {
  double gap_weight = 1;
  double offset = 0.5, own_weight = 1.2, rivals_weight = 2;
  double confidence(double strength, double rivals) const;  // rivals: the sum
};

struct TextOptions {
  std::size_t passages = 5;     // that are read
  std::size_t candidates = 50;  // among which those in the question's language are looked for
  std::size_t spans = 3;        // of a passage
  double min_confidence = 0.4;  // used when the request names none
  TextRanking ranking;
  reader::FusionOptions fusion;
};

// What the pipeline works with; each part may be missing.
struct TextParts {
  std::shared_ptr<const TextReaders> readers;      // null: nothing can be read
  std::optional<reader::SentenceModel> sentences;  // without it passages are found by their words alone
  // The vectors of the passages as they are now; may be empty or return null.
  std::function<std::shared_ptr<const reader::PassageVectors>()> vectors;
};

// Answers of kind span. Reasons: nothing_loaded (no documents), unsupported_question (small talk, pages of
// text, a language that no reader knows), low_confidence, timeout.
std::unique_ptr<Pipeline> make_text_pipeline(TextParts parts, const TextOptions& options = {});

}  // namespace askbase::qa
