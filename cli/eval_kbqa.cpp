// askbase eval kbqa --data FILE...
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/language.h"
#include "cli/asking.h"
#include "cli/baseline.h"
#include "cli/eval.h"
#include "cli/figures.h"
#include "cli/models.h"
#include "cli/output.h"
#include "datasets/report.h"
#include "qa/engine.h"

namespace askbase::cli {
namespace {

using datasets::Evaluation;
using datasets::Figure;
using datasets::Metric;
using datasets::Record;

struct KbqaArguments {
  std::vector<std::string> data;
  datasets::QuestionFilter filter;
  std::string out, report;
  int timeout_ms = 5000;
  double min_confidence = -1;
  bool json = false;
};

base::Result<datasets::Prediction> predict(const qa::Engine& engine, const kb::View& view,
                                           const datasets::Question& question,
                                           const KbqaArguments& arguments) {
  qa::Request request;
  request.question = question.question;
  request.lang = base::language_from_tag(question.lang);
  request.timeout = std::chrono::milliseconds(arguments.timeout_ms);
  request.min_confidence = arguments.min_confidence;
  const auto start = std::chrono::steady_clock::now();
  ASKBASE_ASSIGN(const qa::Response response, engine.ask(request));
  datasets::Prediction prediction;
  prediction.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (response.answers.empty()) prediction.reason = qa::reason_name(response.reason);
  for (const qa::Answer& answer : response.answers) {
    std::vector<datasets::PredictedValue> values;
    for (const qa::Value& value : answer.values) {
      ASKBASE_ASSIGN(datasets::PredictedValue predicted, predicted_value(view, value.term, value.text));
      predicted.boolean = answer.kind == qa::AnswerKind::boolean;
      values.push_back(std::move(predicted));
    }
    prediction.answers.push_back(std::move(values));
  }
  if (!response.answers.empty()) prediction.confidence = response.answers.front().confidence;
  return prediction;
}

struct Answered {
  std::vector<Record> records, baseline;
  double seconds = 0;  // of the engine's answers
};

// Asks everything, on as many threads as wanted.
base::Result<Answered> ask_all(const qa::Engine& engine, const std::vector<datasets::Question>& questions,
                               const KbqaArguments& arguments, const Globals& globals) {
  Answered answered;
  answered.records.resize(questions.size());
  answered.baseline.resize(questions.size());
  const std::shared_ptr<const kb::View> view = engine.view();
  const auto ask_one = [&](std::size_t i) -> base::Status {
    ASKBASE_ASSIGN(auto prediction, predict(engine, *view, questions[i], arguments));
    answered.records[i] = {questions[i], prediction, datasets::judge(questions[i], prediction)};
    ASKBASE_ASSIGN(auto simple, baseline_answer(*view, questions[i].question, questions[i].lang));
    answered.baseline[i] = {questions[i], simple, datasets::judge(questions[i], simple)};
    return {};
  };
  const auto start = std::chrono::steady_clock::now();
  ASKBASE_TRY(for_each_question(questions.size(), globals, ask_one));
  answered.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answered;
}

double quantile_ms(const std::vector<Record>& records, double share) {
  std::vector<double> times;
  times.reserve(records.size());
  for (const Record& record : records) times.push_back(record.prediction.milliseconds);
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
}

base::Json metrics_json(const datasets::Metrics& metrics) {
  base::Json out;
  out["questions"] = metrics.questions;
  for (std::size_t m = 0; m < datasets::metric_count; ++m) {
    const auto metric = static_cast<Metric>(m);
    add_figure(out, std::string(datasets::metric_name(metric)), metrics[metric]);
  }
  return out;
}

void print_groups(const std::string& heading, const std::map<std::string, datasets::Metrics>& groups) {
  if (groups.empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {heading, "questions", "hits_at_1", "f1", "wrong", "declined"}};
  const auto short_figure = [](const Figure& figure) {
    return figure.value ? decimal(*figure.value, 3) : "-";
  };
  for (const auto& [name, metrics] : groups) {
    rows.push_back({name, grouped(metrics.questions), short_figure(metrics[Metric::hits_at_1]),
                    short_figure(metrics[Metric::f1]), short_figure(metrics[Metric::wrong]),
                    short_figure(metrics[Metric::declined])});
  }
  print("\n" + table(rows, {false, true, true, true, true, true}));
}

void print_evaluation(const Evaluation& evaluation, const Figure& baseline, const Answered& answered) {
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(evaluation.all.questions)}};
  for (std::size_t m = 0; m < datasets::metric_count; ++m) {
    const auto metric = static_cast<Metric>(m);
    rows.push_back({std::string(datasets::metric_name(metric)), shown_figure(evaluation.all[metric])});
  }
  rows.push_back({"baseline_hits_at_1", shown_figure(baseline)});
  rows.push_back({"ms, median and 95 %", decimal(quantile_ms(answered.records, 0.5), 1) + "  " +
                                             decimal(quantile_ms(answered.records, 0.95), 1)});
  print(table(rows));
  print_groups("language", evaluation.by_lang);
  print_groups("kind", evaluation.by_kind);
  std::vector<std::vector<std::string>> lost = {{"lost at", "questions"}};
  for (const datasets::StageErrors& errors : datasets::errors_by_stage(answered.records)) {
    lost.push_back({errors.stage, grouped(errors.questions)});
  }
  if (lost.size() > 1) print("\n" + table(lost, {false, true}));
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

base::Result<int> run_kbqa(const KbqaArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const auto questions,
                 datasets::read_questions({arguments.data.begin(), arguments.data.end()}, arguments.filter));
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const qa::EngineOptions options, engine_options(globals));
  ASKBASE_ASSIGN(const auto engine, qa::Engine::open(*store, options));
  base::watch_interrupts();
  ASKBASE_ASSIGN(const Answered answered, ask_all(*engine, questions, arguments, globals));

  const Evaluation evaluation = datasets::evaluate(answered.records);
  const Figure baseline = datasets::evaluate(answered.baseline).all[Metric::hits_at_1];
  if (!arguments.out.empty()) {
    std::string lines;
    for (const Record& record : answered.records) lines += datasets::to_json_line(record) + "\n";
    ASKBASE_TRY(base::write_file_atomic(arguments.out, lines));
  }
  if (!arguments.report.empty()) {
    datasets::ReportInput input;
    input.title = "askbase eval kbqa: " + joined(arguments.data);
    input.notes = {"Knowledge base " + globals.kb.string() + ", " +
                       counted(engine->view()->facts(), "fact", "facts") + ", version " +
                       std::to_string(engine->view()->version()) + ".",
                   counted(questions.size(), "question", "questions") +
                       (arguments.filter.split.empty() ? "" : " of split " + arguments.filter.split) + ", " +
                       decimal(quantile_ms(answered.records, 0.5), 1) + " ms each (median)."};
    input.evaluation = &evaluation;
    input.records = &answered.records;
    input.baseline_hits_at_1 = baseline;
    ASKBASE_TRY(base::write_file_atomic(arguments.report, datasets::report_html(input)));
  }
  if (!arguments.json) {
    print_evaluation(evaluation, baseline, answered);
    return exit_done;
  }
  base::Json out = {{"task", "kbqa"}};
  out.update(metrics_json(evaluation.all));
  add_figure(out, "baseline_hits_at_1", baseline);
  out["seconds"] = base::json_number(answered.seconds, 4);
  out["ms_p50"] = base::json_number(quantile_ms(answered.records, 0.5), 4);
  out["ms_p95"] = base::json_number(quantile_ms(answered.records, 0.95), 4);
  out["by_lang"] = base::Json::object();
  for (const auto& [name, metrics] : evaluation.by_lang) out["by_lang"][name] = metrics_json(metrics);
  out["by_kind"] = base::Json::object();
  for (const auto& [name, metrics] : evaluation.by_kind) out["by_kind"][name] = metrics_json(metrics);
  out["errors_by_stage"] = base::Json::object();
  for (const datasets::StageErrors& errors : datasets::errors_by_stage(answered.records)) {
    out["errors_by_stage"][errors.stage] = errors.questions;
  }
  print(base::dump_json(out) + "\n");
  return exit_done;
}

}  // namespace

void add_eval_kbqa(const Command& eval) {
  auto arguments = std::make_shared<KbqaArguments>();
  const Command command = eval.add(
      "kbqa", "Ask a file of questions and compare the answers with the known ones",
      "  askbase --kb my-kb eval kbqa --data questions.jsonl\n"
      "  askbase --kb my-kb eval kbqa --data questions.jsonl --out answers.jsonl --report report.html\n"
      "A question is {\"id\", \"lang\", \"question\", \"answers\": [ids or strings]} on one line; without "
      "answers,\n"
      "declining is right. docs/evaluation.md explains the figures.");
  command.several("--data", "FILE", arguments->data, "Questions as JSON lines, also .gz and .zst");
  command.require("--data");
  command.option("--split", "NAME", arguments->filter.split, "Only questions of this split (dev, test, ...)");
  command.option("--lang", "LANG", arguments->filter.lang, "Only questions in this language (en, zh)");
  command.option("--limit", "N", arguments->filter.limit, "Only the first N questions", 1, SIZE_MAX);
  command.option("--min-confidence", "P", arguments->min_confidence, "Decline below this confidence", 0, 1);
  command.option("--timeout-ms", "N", arguments->timeout_ms,
                 "Give up on a question after N milliseconds; 5000", 1, 3600000);
  command.option("--out", "FILE", arguments->out,
                 "Write every question with its answer and verdict, as JSON lines");
  command.option("--report", "FILE", arguments->report,
                 "Write a page (HTML) with curves and errors by stage");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals& globals) { return run_kbqa(*arguments, globals); });
}

}  // namespace askbase::cli
