// Readers: given a question and texts, the spans that answer it, or the finding that nothing there does.
// English and Chinese models stand behind this one interface.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/team.h"
#include "reader/span.h"

namespace askbase::reader {

struct ReadOptions {
  std::size_t top = 1;  // spans of a text at most; they do not overlap, and no two say the same
};

struct ReadSpan {
  std::size_t begin = 0, end = 0;  // half-open, in code points of the text; never empty
  double score = 0;                // of start and end together; to be compared within one reading only
  double log_share = 0;            // log p(this among all spans of the text), p in proportion to exp(score)
  double confidence = 0;           // 0 .. 1: the calibrated probability that this is the answer
};

// What a text says to a question.
struct Reading {
  std::vector<ReadSpan> spans;  // the best first; none: there is nothing in the text that could be an answer
  double null_odds = 0;  // how much better "no answer here" scored than the best span; without spans infinity
  bool answered = false;  // null_odds are not above the model's threshold
};

// From scores to a probability: sigmoid(offset + by_null (score - null) + by_rivals log p(span among all
// spans)), fitted on validation questions (Platt 1999).
struct ReadCalibration {
  double offset = 0, by_null = 1, by_rivals = 0;
  double null_threshold = 0;  // of null_odds: above it, a reader abstains
};

// A best span of a validation question.
struct CalibrationExample {
  double over_null = 0;  // score - null
  double log_share = 0;
  bool right = false;
};
// The offset and the two factors of the greatest likelihood, by Newton's method with a small penalty on the
// factors (which keeps separable examples finite); null_threshold stays as given. Without examples all of it
// stays.
ReadCalibration calibrated(const std::vector<CalibrationExample>& examples, ReadCalibration start = {});

// What scores come to, for one text: distinct spans, the best first. pieces: of the text.
Reading reading_of(SpanSearch& search, const Pieces& pieces, std::string_view text,
                   const ReadCalibration& calibration, const ReadOptions& options);

// The sentence that holds a span, in code points; one that crosses sentences gives all of them. White space
// at both ends is left out.
struct SentencePlace {
  std::size_t begin = 0, end = 0;
};
SentencePlace sentence_around(std::string_view text, std::size_t begin, std::size_t end);

// Immutable; any number of threads may read, each with its own workspace.
class TextReader {
 public:
  // Scratch memory of one thread, for the reader that made it alone.
  class Workspace {
   public:
    virtual ~Workspace() = default;
  };
  using Stop = std::function<bool()>;

  virtual ~TextReader() = default;
  virtual std::unique_ptr<Workspace> workspace() const = 0;

  // One reading a text, in order. Bytes that are no UTF-8 count as one code point each. A question that is
  // empty or blank, or longer than the model reads, is read as far as it goes. Error timeout: stop said so.
  virtual base::Result<std::vector<Reading>> read(std::string_view question,
                                                  std::span<const std::string_view> texts,
                                                  const ReadOptions& options, Workspace& workspace,
                                                  nn::Team& team, const Stop& stop = {}) const = 0;

  virtual const ReadCalibration& calibration() const = 0;
};

}  // namespace askbase::reader
