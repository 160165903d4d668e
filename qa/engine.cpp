#include "qa/engine.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "qa/examples.h"
#include "qa/pipeline.h"

namespace askbase::qa {
namespace {

class EngineImpl : public Engine {
 public:
  EngineImpl(const kb::Store& store, const EngineOptions& options) : store_(store) {
    pipelines_.push_back(make_kb_pipeline(options.min_confidence, options.question_types));
    if (options.question_types) models_.emplace_back("question-type");
  }

  base::Status refresh() override {
    ASKBASE_ASSIGN(std::shared_ptr<const kb::View> view, store_.view());
    ASKBASE_ASSIGN(std::shared_ptr<const Lexicon> lexicon, Lexicon::build(*view));
    auto state = std::make_shared<const KbState>(KbState{std::move(view), std::move(lexicon)});
    const std::lock_guard lock(mutex_);
    state_.swap(state);
    return {};
  }

  std::shared_ptr<const kb::View> view() const override { return state()->view; }

  base::Result<Response> ask(const Request& request) const override {
    const auto begin = std::chrono::steady_clock::now();
    const std::shared_ptr<const KbState> state = this->state();
    Response response;
    response.question = request.question;
    response.kb_version = state->view->version();
    response.models = models_;
    if (const auto bad = base::first_invalid_utf8(request.question)) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "the question is not valid UTF-8: byte " + std::to_string(*bad) + " is wrong");
    }
    // The start of a text tells its language as well as all of it, and costs less.
    response.lang = request.lang;
    if (response.lang == base::Language::unknown) {
      std::string_view start = request.question;
      if (start.size() > 4096) start = start.substr(0, 4096);
      response.lang = base::detect_language(start);
    }
    const base::Language language =
        response.lang == base::Language::chinese ? base::Language::chinese : base::Language::english;
    const Deadline deadline(request.timeout);
    bool any = false;
    for (const std::unique_ptr<Pipeline>& pipeline : pipelines_) {
      const std::vector<std::string>& wanted = request.pipelines;
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), pipeline->name()) == wanted.end())
        continue;
      any = true;
      ASKBASE_ASSIGN(Outcome outcome, pipeline->answer(request, language, *state, deadline));
      merge(std::move(outcome), response);
    }
    if (!any) {
      return base::fail(base::ErrorCode::invalid_argument, "no such pipeline: " + request.pipelines.front(),
                        "this program has: kb");
    }
    const auto spent = std::chrono::steady_clock::now() - begin;
    response.timings.push_back({"total", std::chrono::duration<double, std::milli>(spent).count()});
    return response;
  }

  base::Result<std::vector<std::string>> example_questions(base::Language lang,
                                                           std::size_t limit) const override {
    const std::shared_ptr<const KbState> state = this->state();
    return make_examples(*state->view, *state->lexicon, lang, limit);
  }

 private:
  std::shared_ptr<const KbState> state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  static void merge(Outcome outcome, Response& response) {
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    append(response.answers, outcome.answers);
    append(response.alternatives, outcome.alternatives);
    append(response.ambiguous, outcome.ambiguous);
    append(response.timings, outcome.timings);
    std::stable_sort(response.answers.begin(), response.answers.end(),
                     [](const Answer& a, const Answer& b) { return a.confidence > b.confidence; });
    response.trace = std::move(outcome.trace);
    response.reason = response.answers.empty() ? outcome.reason : Reason::none;
    response.reason_sentence = response.answers.empty() ? std::move(outcome.reason_sentence) : std::string();
  }

  const kb::Store& store_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
  std::vector<std::string> models_;  // names of those in use
  mutable std::mutex mutex_;         // guards the pointer, not the state
  std::shared_ptr<const KbState> state_;
};

}  // namespace

base::Result<std::unique_ptr<Engine>> Engine::open(const kb::Store& store, const EngineOptions& options) {
  auto engine = std::make_unique<EngineImpl>(store, options);
  ASKBASE_TRY(engine->refresh());
  return engine;
}

}  // namespace askbase::qa
