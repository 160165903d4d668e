// Answering over one store: the object that the server and the command line ask.
//
//   auto engine = Engine::open(store, {}).value();
//   Response response = engine->ask({.question = "What is the capital of France?"});
//
// Thread-safe. An ask sees one state of the KB from beginning to end; refresh() swaps in the newest state
// for later asks without waiting for running ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/store.h"
#include "qa/answer.h"
#include "qa/learned.h"
#include "qa/question_type.h"
#include "qa/text_pipeline.h"

namespace askbase::qa {

struct EngineOptions {
  // Tells what kind of answer a question wants where its words leave it open; null: none.
  std::shared_ptr<const QuestionTypeClassifier> question_types = {};
  // Learned parts of answering from facts; null: by words alone.
  std::shared_ptr<const LearnedModels> learned = {};
  // From this confidence on an answer from facts is given without asking the documents.
  double sure = 0.6;
  TextParts text = {};  // what reads documents
  TextOptions text_options = {};
};

// Pipelines are asked in the order kb, text: all that have data, or those that the request names. An answer
// that is sure ends it; otherwise the answers of all stand by their confidence. Without answers the reason is
// that of the pipeline which came furthest.
//
// Never throws. Owns what is derived from one KB state (the lexicon of predicates and classes).
class Engine {
 public:
  // The store must outlive the engine.
  static base::Result<std::unique_ptr<Engine>> open(const kb::Store& store,
                                                    const EngineOptions& options = {});
  virtual ~Engine() = default;

  // Failures inside become a Response with a reason where one fits; corrupt and io are errors.
  virtual base::Result<Response> ask(const Request& request) const = 0;
  virtual base::Status refresh() = 0;
  // The state that the next ask will see.
  virtual std::shared_ptr<const kb::View> view() const = 0;
  // Up to limit complete questions that this KB can answer, for an empty page or a failed question.
  virtual base::Result<std::vector<std::string>> example_questions(base::Language lang,
                                                                   std::size_t limit) const = 0;
};

}  // namespace askbase::qa
