// One way of answering (facts; later passages and FAQs). The engine asks each pipeline and merges.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/store.h"
#include "qa/analysis.h"
#include "qa/answer.h"
#include "qa/lexicon.h"
#include "qa/question_type.h"

namespace askbase::qa {

// What the engine derives from one state of the KB. Immutable.
struct KbState {
  std::shared_ptr<const kb::View> view;
  std::shared_ptr<const Lexicon> lexicon;
};

// A pipeline's part of the response.
struct Outcome {
  std::vector<Answer> answers;  // best first; empty when there is a reason
  Reason reason = Reason::none;
  std::string reason_sentence;
  std::vector<std::string> alternatives;
  std::vector<Ambiguity> ambiguous;
  std::vector<Timing> timings;
  std::string trace;  // JSON object, only when asked for
};

// Thread-safe.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  virtual std::string_view name() const = 0;
  // language: the one to answer in. Errors: corrupt, io, and invalid_argument for a pin that names nothing.
  virtual base::Result<Outcome> answer(const Request& request, base::Language language, const KbState& state,
                                       const Deadline& deadline) const = 0;
};

// Answers from facts. min_confidence: used when the request names none. types may be null.
std::unique_ptr<Pipeline> make_kb_pipeline(double min_confidence,
                                           std::shared_ptr<const QuestionTypeClassifier> types);

}  // namespace askbase::qa
