// askbase eval simplequestions --data FILE...
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/language.h"
#include "base/text.h"
#include "cli/asking.h"
#include "cli/eval.h"
#include "cli/figures.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/simple_systems.h"
#include "datasets/simple_questions.h"
#include "qa/engine.h"
#include "qa/findings.h"

namespace askbase::cli {
namespace {

using datasets::Figure;
using datasets::KbQuestion;
using datasets::SimplePrediction;
using datasets::SimpleVerdict;

struct SimpleArguments {
  std::vector<std::string> data, train;
  std::string split, out, pipeline = "kb";
  std::size_t limit = 0;
  int timeout_ms = 5000;
  bool json = false, errors = false, no_baseline = false;
};

// One question by all systems.
struct Measured {
  SimplePrediction prediction;
  SimpleVerdict verdict;
  std::optional<SimpleVerdict> baseline, memory;
  // Chance of the right relation among all, given the mention; nothing without
  // mention or scorer.
  std::optional<double> relation, memory_relation, baseline_relation;
};

base::Result<SimplePrediction> predict(const qa::Engine& engine, const SimpleSystems& systems,
                                       const KbQuestion& question, const SimpleArguments& arguments,
                                       std::shared_ptr<const qa::Findings>& findings) {
  qa::Request request;
  request.question = question.question;
  request.lang = base::language_from_tag(question.lang);
  request.timeout = std::chrono::milliseconds(arguments.timeout_ms);
  request.min_confidence = 0;
  request.findings = true;
  request.pipelines = {arguments.pipeline};
  ASKBASE_ASSIGN(const qa::Response response, engine.ask(request));
  findings = response.findings;
  SimplePrediction prediction;
  if (findings) {
    ASKBASE_ASSIGN(prediction, systems.from_findings(question, *findings));
  }
  ASKBASE_ASSIGN(prediction.fact_there, systems.fact_there(question));
  if (!response.answers.empty()) {
    prediction.answered = true;
    prediction.confidence = response.answers.front().confidence;
  }
  return prediction;
}

base::Result<std::vector<Measured>> measure(const qa::Engine& engine, const SimpleSystems& systems,
                                            const std::vector<KbQuestion>& questions,
                                            const SimpleArguments& arguments, const Globals& globals) {
  std::vector<Measured> measured(questions.size());
  const auto ask_one = [&](std::size_t i) -> base::Status {
    const KbQuestion& question = questions[i];
    Measured& out = measured[i];
    std::shared_ptr<const qa::Findings> findings;
    ASKBASE_ASSIGN(out.prediction, predict(engine, systems, question, arguments, findings));
    out.verdict = datasets::judge_simple(question, out.prediction);
    const auto judged = [&](SimplePrediction prediction) {
      prediction.fact_there = out.prediction.fact_there;
      return datasets::judge_simple(question, prediction);
    };
    if (systems.has_baseline()) {
      ASKBASE_ASSIGN(SimplePrediction simple, systems.baseline(question));
      out.baseline = judged(std::move(simple));
    }
    if (findings && systems.has_memory(question.lang)) {
      ASKBASE_ASSIGN(SimplePrediction remembered, systems.by_memory(question, *findings));
      out.memory = judged(std::move(remembered));
    }
    ASKBASE_ASSIGN(const RelationChoices choices, systems.choose_relation(question));
    out.relation = choices.matcher;
    out.memory_relation = choices.memory;
    out.baseline_relation = choices.baseline;
    return {};
  };
  ASKBASE_TRY(for_each_question(questions.size(), globals, ask_one));
  return measured;
}

template <typename Get>
std::vector<SimpleVerdict> verdicts_of(const std::vector<Measured>& measured, Get&& get) {
  std::vector<SimpleVerdict> out;
  for (const Measured& one : measured) {
    if (const auto verdict = get(one)) out.push_back(*verdict);
  }
  return out;
}

template <typename Get>
Figure share_of(const std::vector<Measured>& measured, Get&& get) {
  std::vector<double> values;
  for (const Measured& one : measured) {
    if (const auto value = get(one)) values.push_back(*value);
  }
  return datasets::mean_figure(values);
}

std::string line_of(const KbQuestion& question, const Measured& measured) {
  const auto path_json = [](const std::vector<datasets::PathStep>& path) {
    base::Json out = base::Json::array();
    for (const datasets::PathStep& step : path) out.push_back(datasets::path_step_text(step));
    return out;
  };
  const SimplePrediction& prediction = measured.prediction;
  base::Json out = {{"id", question.id},
                    {"question", question.question},
                    {"topic", question.topics},
                    {"path", path_json(question.path)},
                    {"subject", prediction.subject},
                    {"predicted_path", path_json(prediction.path)},
                    {"mention", prediction.mention},
                    {"rank", measured.verdict.rank},
                    {"subject_relation", measured.verdict.both},
                    {"object", measured.verdict.object},
                    {"answered", prediction.answered},
                    {"confidence", base::json_number(prediction.confidence)}};
  if (measured.verdict.stage != datasets::SimpleStage::none) {
    out["lost_at"] = datasets::simple_stage_name(measured.verdict.stage);
  }
  return base::dump_json(out);
}

using Named = std::vector<std::pair<std::string, Figure>>;

Named named_figures(const std::vector<Measured>& measured, const datasets::SimpleFigures& figures) {
  Named out = {{"subject_relation", figures.subject_relation},
               {"object", figures.object},
               {"subject", figures.subject},
               {"mention_exact", figures.mention_exact},
               {"entity_recall_at_1", figures.recall_at_1},
               {"entity_recall_at_10", figures.recall_at_10},
               {"entity_recall_at_50", figures.recall_at_50},
               {"relation", share_of(measured, [](const Measured& m) { return m.relation; })},
               {"answered", figures.answered},
               {"ece", figures.ece},
               {"auroc", figures.auroc}};
  const auto memory = verdicts_of(measured, [](const Measured& m) { return m.memory; });
  if (!memory.empty()) {
    const datasets::SimpleFigures alone = datasets::simple_figures(memory);
    out.emplace_back("memory_subject_relation", alone.subject_relation);
    out.emplace_back("memory_object", alone.object);
    out.emplace_back("memory_relation",
                     share_of(measured, [](const Measured& m) { return m.memory_relation; }));
  }
  const auto baseline = verdicts_of(measured, [](const Measured& m) { return m.baseline; });
  if (!baseline.empty()) {
    const datasets::SimpleFigures simple = datasets::simple_figures(baseline);
    out.emplace_back("baseline_subject_relation", simple.subject_relation);
    out.emplace_back("baseline_object", simple.object);
    out.emplace_back("baseline_relation",
                     share_of(measured, [](const Measured& m) { return m.baseline_relation; }));
  }
  return out;
}

base::Result<int> run_simple(const SimpleArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const std::vector<KbQuestion> all,
                 datasets::read_kb_questions({arguments.data.begin(), arguments.data.end()}));
  std::vector<KbQuestion> questions, train;
  for (const KbQuestion& question : all) {
    const bool usable = !question.topics.empty() && !question.path.empty();
    if (usable && (arguments.split.empty() || question.split == arguments.split) &&
        (arguments.limit == 0 || questions.size() < arguments.limit))
      questions.push_back(question);
    if (arguments.train.empty() && question.split == "train" && arguments.split != "train")
      train.push_back(question);
  }
  if (questions.empty()) {
    return base::fail(base::ErrorCode::not_found,
                      "no question" + (arguments.split.empty() ? "" : " of split " + arguments.split) +
                          " has a topic and a path",
                      "datasets prepare makes such files");
  }
  if (!arguments.train.empty()) {
    ASKBASE_ASSIGN(train, datasets::read_kb_questions({arguments.train.begin(), arguments.train.end()}));
  }
  if (arguments.no_baseline) train.clear();
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const qa::EngineOptions options, engine_options(globals));
  ASKBASE_ASSIGN(const auto engine, qa::Engine::open(*store, options));
  base::watch_interrupts();
  ASKBASE_ASSIGN(const auto systems, SimpleSystems::make(engine->view(), all, train, models_folder(globals)));
  const auto start = std::chrono::steady_clock::now();
  ASKBASE_ASSIGN(const std::vector<Measured> measured,
                 measure(*engine, *systems, questions, arguments, globals));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (!arguments.out.empty()) {
    std::string lines;
    for (std::size_t i = 0; i < measured.size(); ++i) lines += line_of(questions[i], measured[i]) + "\n";
    ASKBASE_TRY(base::write_file_atomic(arguments.out, lines));
  }
  const datasets::SimpleFigures figures = datasets::simple_figures(
      verdicts_of(measured, [](const Measured& m) { return std::optional(m.verdict); }));
  const Named named = named_figures(measured, figures);
  if (arguments.json) {
    base::Json out = {{"task", "simplequestions"}, {"questions", figures.questions}};
    for (const auto& [name, figure] : named) add_figure(out, name, figure);
    out["seconds"] = base::json_number(taken.count(), 4);
    out["errors_by_stage"] = base::Json::object();
    for (const datasets::StageErrors& lost : figures.errors)
      out["errors_by_stage"][lost.stage] = lost.questions;
    print(base::dump_json(out) + "\n");
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(figures.questions)}};
  for (const auto& [name, figure] : named) rows.push_back({name, shown_figure(figure)});
  rows.push_back({"seconds", decimal(taken.count(), 1)});
  print(table(rows));
  if (arguments.errors) {
    std::vector<std::vector<std::string>> lost = {{"subject or relation lost at", "questions"}};
    for (const datasets::StageErrors& errors : figures.errors) {
      lost.push_back({errors.stage, grouped(errors.questions)});
    }
    print("\n" + table(lost, {false, true}));
  }
  return exit_done;
}

}  // namespace

void add_eval_simplequestions(const Command& eval) {
  auto arguments = std::make_shared<SimpleArguments>();
  const Command command = eval.add("simplequestions",
                                   "Questions about one fact, stage by stage: mention, entity, "
                                   "relation, object",
                                   "  askbase --kb sq-kb eval simplequestions --data "
                                   "sq/questions.jsonl --split test\n"
                                   "The questions and the knowledge base come from askbase "
                                   "datasets prepare. docs/evaluation.md explains\n"
                                   "the figures.");
  command.several("--data", "FILE", arguments->data,
                  "Questions as JSON lines with \"topic\" and \"path\", also .gz and .zst");
  command.require("--data");
  command.option("--split", "NAME", arguments->split, "Only questions of this split (valid, test, ...)");
  command.option("--limit", "N", arguments->limit, "Only the first N questions", 1, SIZE_MAX);
  command.several("--train", "FILE", arguments->train,
                  "Questions that the baseline learns from; those of split "
                  "train in --data");
  command.flag("--no-baseline", arguments->no_baseline, "Leave the baseline out");
  command.option("--pipeline", "NAME", arguments->pipeline, "Which pipeline answers; kb");
  command.option("--timeout-ms", "N", arguments->timeout_ms,
                 "Give up on a question after N milliseconds; 5000", 1, 3600000);
  command.option("--out", "FILE", arguments->out,
                 "Write every question with what was found and where it was "
                 "lost, as JSON lines");
  command.flag("--errors", arguments->errors, "Show at which stage questions were lost");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals& globals) { return run_simple(*arguments, globals); });
}

}  // namespace askbase::cli
