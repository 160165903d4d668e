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

// How spans of several passages become answers. For a span let
//   c  be the reader's confidence in it, within its passage
//   g  how far the passage was found behind the best one, in standard deviations of the scores of all found
//   v  the share of the question's words, function words left out, that the passage holds
//   m  the cosine of the sentence vectors of question and passage, where there are both
// and let the sum be over all distinct answers other than its own. Then
//   strength   = log(c / (1 - c)) - gap_weight g
//   confidence = sigmoid(offset + own_weight strength - rivals_weight log(1 + sum of exp(strength))
//                        + covered_weight v + meaning_weight (m - usual_meaning))
// A reader tells well which words of a passage could be meant, and badly whether the passage is about the
// question at all; the last two terms tell that. The numbers are those of a logistic regression on questions
// about articles that no model had seen, with and without these articles among the documents
// (docs/answering.md).
struct TextRanking {
  double gap_weight = 1;
  double offset = -1.9, own_weight = 0.8, rivals_weight = 1.6;
  double covered_weight = 3.2, meaning_weight = 4.9, usual_meaning = 0.45;
  // rivals: the sum; meaning: nothing where it is not known.
  double confidence(double strength, double rivals, double covered, std::optional<double> meaning) const;
};

struct TextOptions {
  std::size_t passages = 5;      // that are read
  std::size_t candidates = 50;   // among which those in the question's language are looked for
  std::size_t spans = 3;         // of a passage
  double min_confidence = 0.35;  // used when the request names none
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
