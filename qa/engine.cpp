#include "qa/engine.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "qa/examples.h"
#include "qa/pipeline.h"

namespace askbase::qa {
namespace {

// How far a pipeline came that has no answer: who had nothing to look at knows less than who looked in vain.
int weight(Reason reason) {
  switch (reason) {
    case Reason::none:
    case Reason::nothing_loaded:
      return 0;
    case Reason::unsupported_question:
      return 1;
    case Reason::low_confidence:
      return 2;
    case Reason::timeout:
      return 4;
    default:
      return 3;
  }
}

class EngineImpl : public Engine {
 public:
  EngineImpl(const kb::Store& store, const EngineOptions& options)
      : store_(store), sure_(options.sure), learned_(options.learned) {
    const KbParts facts{options.question_types, options.learned};
    pipelines_.push_back(make_kb_pipeline(facts));
    if (options.learned) pipelines_.push_back(make_memory_pipeline(facts));
    pipelines_.push_back(make_text_pipeline(options.text, options.text_options));
    if (options.question_types) models_.emplace_back("question-type");
    if (options.learned) {
      for (const auto& [prefix, models] :
           {std::pair{"en-", options.learned->english}, std::pair{"zh-", options.learned->chinese}}) {
        if (models.tagger) models_.push_back(std::string(prefix) + "tagger");
        if (models.matcher) models_.push_back(std::string(prefix) + "matcher");
        if (models.memory) models_.push_back(std::string(prefix) + "memory");
      }
      models_.emplace_back("kb-ranker");
    }
    if (options.text.sentences) text_models_.emplace_back("en-sentence");
    const TextReaders* readers = options.text.readers.get();
    if (readers != nullptr && readers->reads(base::Language::english)) text_models_.emplace_back("en-reader");
    if (readers != nullptr && readers->reads(base::Language::chinese)) text_models_.emplace_back("zh-reader");
  }

  base::Status refresh() override {
    ASKBASE_ASSIGN(std::shared_ptr<const kb::View> view, store_.view());
    ASKBASE_ASSIGN(std::shared_ptr<const Lexicon> lexicon, Lexicon::build(*view));
    std::shared_ptr<const reader::PassageIndex> passages;
    auto opened = reader::PassageIndex::open(store_.storage().snapshot());
    if (opened) {
      passages = std::make_shared<const reader::PassageIndex>(std::move(*opened));
    } else if (opened.error().code == base::ErrorCode::unsupported) {
      base::log_error("documents cannot be asked: " + opened.error().message);
    } else {
      return tl::unexpected(opened.error());
    }
    auto state = std::make_shared<KbState>();
    state->view = std::move(view);
    state->lexicon = std::move(lexicon);
    state->passages = std::move(passages);
    if (learned_) {
      const auto encoded = [&](base::Language language) {
        return std::make_shared<const RelationCodes>(
            encode_relations(*state->lexicon, learned_->of(language), language));
      };
      state->english = encoded(base::Language::english);
      state->chinese = encoded(base::Language::chinese);
    }
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
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
    ASKBASE_ASSIGN(const std::vector<const Pipeline*> chosen, choose(request.pipelines, *state));
    // A server has the models that read loaded, come documents or not; they count where there are some.
    if (std::ranges::any_of(
            chosen, [&](const Pipeline* one) { return one->name() == "text" && one->has_data(*state); }))
      response.models.insert(response.models.end(), text_models_.begin(), text_models_.end());
    for (const Pipeline* pipeline : chosen) {
      ASKBASE_ASSIGN(Outcome outcome, pipeline->answer(request, language, *state, deadline));
      merge(std::move(outcome), pipeline->name(), response);
      if (!response.answers.empty() && response.answers.front().confidence >= sure_) break;
    }
    if (response.answers.size() > static_cast<std::size_t>(std::max(1, request.top)))
      response.answers.resize(static_cast<std::size_t>(std::max(1, request.top)));
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

  // Those that are named, else those that have data, else the first.
  base::Result<std::vector<const Pipeline*>> choose(const std::vector<std::string>& names,
                                                    const KbState& state) const {
    std::vector<const Pipeline*> chosen;
    for (const std::unique_ptr<Pipeline>& pipeline : pipelines_) {
      if (names.empty() ? pipeline->has_data(state)
                        : std::find(names.begin(), names.end(), pipeline->name()) != names.end())
        chosen.push_back(pipeline.get());
    }
    if (chosen.empty() && names.empty()) chosen.push_back(pipelines_.front().get());
    if (chosen.empty()) {
      std::string known;
      for (const std::unique_ptr<Pipeline>& pipeline : pipelines_)
        known += (known.empty() ? "" : ", ") + std::string(pipeline->name());
      return base::fail(base::ErrorCode::invalid_argument, "no such pipeline: " + names.front(),
                        "this program has: " + known);
    }
    return chosen;
  }

  static void merge(Outcome outcome, std::string_view pipeline, Response& response) {
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    append(response.answers, outcome.answers);
    append(response.alternatives, outcome.alternatives);
    append(response.ambiguous, outcome.ambiguous);
    append(response.timings, outcome.timings);
    std::stable_sort(response.answers.begin(), response.answers.end(),
                     [](const Answer& a, const Answer& b) { return a.confidence > b.confidence; });
    merge_trace(std::move(outcome.trace), pipeline, response.trace);
    if (outcome.findings) response.findings = std::move(outcome.findings);
    if (!response.answers.empty()) {
      response.reason = Reason::none;
      response.reason_sentence.clear();
      response.alternatives.clear();
    } else if (response.reason == Reason::none || weight(outcome.reason) > weight(response.reason)) {
      response.reason = outcome.reason;
      response.reason_sentence = std::move(outcome.reason_sentence);
    }
  }

  // The trace of facts is the object itself; that of another pipeline stands in it under its name.
  static void merge_trace(std::string trace, std::string_view pipeline, std::string& all) {
    if (trace.empty()) return;
    if (pipeline != "text") {
      all = std::move(trace);
      return;
    }
    auto object = base::parse_json(all.empty() ? "{}" : all, kTraceDepth);
    auto part = base::parse_json(trace, kTraceDepth);
    if (!object || !part) return;  // written by the pipelines themselves
    (*object)[std::string(pipeline)] = std::move(*part);
    all = base::dump_json(*object);
  }

  static constexpr std::size_t kTraceDepth = 64;

  const kb::Store& store_;
  const double sure_;
  const std::shared_ptr<const LearnedModels> learned_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
  std::vector<std::string> models_, text_models_;  // names; the latter of the text pipeline
  mutable std::mutex mutex_;                       // guards the pointer, not the state
  std::shared_ptr<const KbState> state_;
};

}  // namespace

base::Result<std::unique_ptr<Engine>> Engine::open(const kb::Store& store, const EngineOptions& options) {
  auto engine = std::make_unique<EngineImpl>(store, options);
  ASKBASE_TRY(engine->refresh());
  return engine;
}

}  // namespace askbase::qa
