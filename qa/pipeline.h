// One way of answering: from facts, from documents. The engine asks the pipelines and merges.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/store.h"
#include "qa/analysis.h"
#include "qa/answer.h"
#include "qa/learned.h"
#include "qa/lexicon.h"
#include "qa/question_type.h"
#include "reader/passage_index.h"

namespace askbase::qa {

// What the engine derives from one state of the KB. Immutable.
struct KbState {
  std::shared_ptr<const kb::View> view;
  std::shared_ptr<const Lexicon> lexicon;
  std::shared_ptr<const reader::PassageIndex> passages;  // null: another version made it, the log says so
  // The predicates as the learned parts see them; null where there are none.
  std::shared_ptr<const RelationCodes> english, chinese;
  const RelationCodes* codes(base::Language language) const {
    return (language == base::Language::chinese ? chinese : english).get();
  }
};

// A pipeline's part of the response.
struct Outcome {
  std::vector<Answer> answers;  // best first; empty when there is a reason
  Reason reason = Reason::none;
  std::string reason_sentence;
  std::vector<std::string> alternatives;
  std::vector<Ambiguity> ambiguous;
  std::vector<Timing> timings;
  std::string trace;                         // JSON object, only when asked for
  std::shared_ptr<const Findings> findings;  // the same
};

// Writes down how long each stage took.
class StageClock {
 public:
  explicit StageClock(std::vector<Timing>& timings) : timings_(timings) {}
  void lap(std::string_view stage) {
    const auto now = std::chrono::steady_clock::now();
    timings_.push_back({std::string(stage), std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

 private:
  std::vector<Timing>& timings_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Thread-safe.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  virtual std::string_view name() const = 0;
  // Whether the KB has anything that this pipeline answers from.
  virtual bool has_data(const KbState& state) const = 0;
  // language: the one to answer in. Errors: corrupt, io, and invalid_argument for a pin that names nothing.
  virtual base::Result<Outcome> answer(const Request& request, base::Language language, const KbState& state,
                                       const Deadline& deadline) const = 0;
};

struct KbParts {
  std::shared_ptr<const QuestionTypeClassifier> types;  // may be null
  std::shared_ptr<const LearnedModels> learned;         // may be null
};
// Answers from facts.
std::unique_ptr<Pipeline> make_kb_pipeline(const KbParts& parts);
// "memory": the same, with the memory network as the only judge of what the linker found. Asked only where it
// is named. Questions in a language without a memory are declined as unsupported.
std::unique_ptr<Pipeline> make_memory_pipeline(const KbParts& parts);

}  // namespace askbase::qa
