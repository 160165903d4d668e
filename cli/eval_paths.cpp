// askbase eval paths --data FILE...
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/language.h"
#include "cli/asking.h"
#include "cli/eval.h"
#include "cli/figures.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/path_baseline.h"
#include "cli/path_data.h"
#include "datasets/metrics.h"
#include "qa/engine.h"
#include "qa/findings.h"

namespace askbase::cli {
namespace {

using datasets::Figure;
using datasets::KbQuestion;

struct PathArguments {
  std::vector<std::string> data, train;
  std::string split = "test", out;
  std::size_t split_seed = 1, hops = 0, limit = 0;
  int timeout_ms = 5000;
  bool json = false, no_baseline = false;
};

struct Verdict {
  bool answered = false, hit = false, exact = false;  // of the answer given
  bool topic = false, path = false;                   // of the best reading that has an answer
  std::optional<bool> baseline;                       // whether its first answer is right
  double f1 = 0, milliseconds = 0;
  std::string first;
  std::vector<datasets::PathStep> steps;
};

void judge_answer(const qa::Response& response, const KbQuestion& question, Verdict& verdict) {
  if (response.answers.empty() || response.answers[0].values.empty()) return;
  const std::set<std::string> gold(question.answers.begin(), question.answers.end());
  std::set<std::string> given;
  for (const qa::Value& value : response.answers[0].values) given.insert(value.term.value);
  verdict.answered = true;
  verdict.first = response.answers[0].values[0].term.value;
  verdict.hit = gold.contains(verdict.first);
  verdict.exact = given == gold;
  const auto both = static_cast<double>(std::count_if(
      given.begin(), given.end(), [&](const std::string& value) { return gold.contains(value); }));
  verdict.f1 = 2 * both / static_cast<double>(given.size() + gold.size());
}

void judge_reading(const qa::Findings& findings, const KbQuestion& question, Verdict& verdict) {
  const auto best = std::find_if(
      findings.readings.begin(), findings.readings.end(),
      [](const qa::FoundReading& reading) { return !reading.path.empty() && reading.answers_total > 0; });
  if (best == findings.readings.end()) return;
  for (const qa::FoundStep& step : best->path) verdict.steps.push_back({step.predicate, step.inverse});
  verdict.topic =
      std::find(question.topics.begin(), question.topics.end(), best->subject) != question.topics.end();
  verdict.path = verdict.topic && verdict.steps == question.path;
}

std::string line_of(const KbQuestion& question, const Verdict& verdict) {
  base::Json path = base::Json::array();
  for (const datasets::PathStep& step : verdict.steps) path.push_back(datasets::path_step_text(step));
  return base::dump_json({{"id", question.id},
                          {"question", question.question},
                          {"first", verdict.first},
                          {"hit", verdict.hit},
                          {"exact", verdict.exact},
                          {"topic", verdict.topic},
                          {"path", verdict.path},
                          {"predicted_path", std::move(path)}});
}

std::vector<std::pair<std::string, Figure>> figures_of(const std::vector<const Verdict*>& verdicts) {
  const auto mean = [&](const auto& get) {
    std::vector<double> values;
    for (const Verdict* verdict : verdicts) values.push_back(static_cast<double>(get(*verdict)));
    return datasets::mean_figure(values);
  };
  std::vector<std::pair<std::string, Figure>> out;
  out = {{"hits_at_1", mean([](const Verdict& v) { return v.hit; })},
         {"answers_exact", mean([](const Verdict& v) { return v.exact; })},
         {"f1", mean([](const Verdict& v) { return v.f1; })},
         {"path", mean([](const Verdict& v) { return v.path; })},
         {"topic", mean([](const Verdict& v) { return v.topic; })},
         {"answered", mean([](const Verdict& v) { return v.answered; })}};
  if (verdicts.front()->baseline) {
    out.emplace_back("baseline_hits_at_1", mean([](const Verdict& v) { return v.baseline.value_or(false); }));
  }
  return out;
}

base::Result<int> run_paths(const PathArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const std::vector<KbQuestion> all,
                 datasets::read_kb_questions({arguments.data.begin(), arguments.data.end()}));
  std::vector<KbQuestion> more;
  if (!arguments.train.empty()) {
    ASKBASE_ASSIGN(more, datasets::read_kb_questions({arguments.train.begin(), arguments.train.end()}));
  }
  std::vector<KbQuestion> questions, train;
  const auto usable = [](const KbQuestion& question) {
    return !question.topics.empty() && !question.path.empty() && !question.answers.empty();
  };
  std::copy_if(more.begin(), more.end(), std::back_inserter(train), [&](const KbQuestion& question) {
    return usable(question) && part_of(question, arguments.split_seed) == "train";
  });
  for (const KbQuestion& question : all) {
    if (!usable(question)) continue;
    const std::string_view part = part_of(question, arguments.split_seed);
    if (part == "train") train.push_back(question);
    if (part == arguments.split && (arguments.hops == 0 || question.path.size() == arguments.hops) &&
        (arguments.limit == 0 || questions.size() < arguments.limit))
      questions.push_back(question);
  }
  if (questions.empty()) {
    return base::fail(base::ErrorCode::not_found,
                      "no question of the part " + arguments.split + " has a topic, a path and an answer",
                      "datasets prepare makes such files");
  }
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const qa::EngineOptions options, engine_options(globals));
  ASKBASE_ASSIGN(const auto engine, qa::Engine::open(*store, options));
  std::unique_ptr<PathBaseline> baseline;
  if (!train.empty() && !arguments.no_baseline) {
    ASKBASE_ASSIGN(baseline, PathBaseline::make(engine->view(), train));
  }
  base::watch_interrupts();
  std::vector<Verdict> verdicts(questions.size());
  const auto ask_one = [&](std::size_t i) -> base::Status {
    qa::Request request;
    request.question = questions[i].question;
    request.lang = base::language_from_tag(questions[i].lang);
    request.timeout = std::chrono::milliseconds(arguments.timeout_ms);
    request.min_confidence = 0;
    request.findings = true;
    request.pipelines = {"kb"};
    const auto start = std::chrono::steady_clock::now();
    ASKBASE_ASSIGN(const qa::Response response, engine->ask(request));
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    judge_answer(response, questions[i], verdicts[i]);
    if (response.findings) judge_reading(*response.findings, questions[i], verdicts[i]);
    verdicts[i].milliseconds = taken.count();
    if (baseline) {
      ASKBASE_ASSIGN(const auto first, baseline->first_answer(questions[i].question));
      const auto& gold = questions[i].answers;
      verdicts[i].baseline = first && std::find(gold.begin(), gold.end(), *first) != gold.end();
    }
    return {};
  };
  ASKBASE_TRY(for_each_question(questions.size(), globals, ask_one));

  if (!arguments.out.empty()) {
    std::string lines;
    for (std::size_t i = 0; i < questions.size(); ++i) lines += line_of(questions[i], verdicts[i]) + "\n";
    ASKBASE_TRY(base::write_file_atomic(arguments.out, lines));
  }
  std::vector<const Verdict*> every;
  std::map<std::size_t, std::vector<const Verdict*>> by_hops;
  std::vector<double> times;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    every.push_back(&verdicts[i]);
    by_hops[questions[i].path.size()].push_back(&verdicts[i]);
    times.push_back(verdicts[i].milliseconds);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2], most = times[times.size() * 99 / 100];
  if (arguments.json) {
    base::Json out = {{"task", "paths"}, {"questions", questions.size()}};
    for (const auto& [name, figure] : figures_of(every)) add_figure(out, name, figure);
    out["ms_p50"] = base::json_number(median, 4);
    out["ms_p99"] = base::json_number(most, 4);
    out["by_hops"] = base::Json::object();
    for (const auto& [hops, some] : by_hops) {
      base::Json& part = out["by_hops"][std::to_string(hops)];
      part["questions"] = some.size();
      for (const auto& [name, figure] : figures_of(some)) add_figure(part, name, figure);
    }
    print(base::dump_json(out) + "\n");
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(questions.size())}};
  for (const auto& [name, figure] : figures_of(every)) rows.push_back({name, shown_figure(figure)});
  for (const auto& [hops, some] : by_hops) {
    if (by_hops.size() < 2) break;
    rows.push_back({"hits_at_1, paths of " + std::to_string(hops), shown_figure(figures_of(some)[0].second)});
  }
  rows.push_back({"ms, median and 99 %", decimal(median, 1) + "  " + decimal(most, 1)});
  print(table(rows));
  return exit_done;
}

}  // namespace

void add_eval_paths(const Command& eval) {
  auto arguments = std::make_shared<PathArguments>();
  const Command command = eval.add(
      "paths", "Questions whose answer lies one to three facts away",
      "  askbase --kb pq-kb --models pq-models eval paths --data pq/questions.jsonl\n"
      "The questions and the knowledge base come from askbase datasets prepare, the models from askbase\n"
      "train matcher --path-data. docs/evaluation.md explains the figures.");
  command.several("--data", "FILE", arguments->data,
                  "Questions as JSON lines with \"topic\", \"path\" and \"answers\", also .gz and .zst");
  command.require("--data");
  command.option("--split", "NAME", arguments->split, "Part that is asked: train, valid or test; test",
                 Command::one_of({"train", "valid", "test"}));
  command.option("--split-seed", "N", arguments->split_seed,
                 "Divides questions without the split train, valid or test 8:1:1; 1", 0, 1U << 31);
  command.option("--hops", "N", arguments->hops, "Only questions with a path of N relations", 1, 16);
  command.option("--limit", "N", arguments->limit, "Only the first N questions", 1, SIZE_MAX);
  command.option("--timeout-ms", "N", arguments->timeout_ms,
                 "Give up on a question after N milliseconds; 5000", 1, 3600000);
  command.option("--out", "FILE", arguments->out,
                 "Write every question with its first answer and path, as JSON lines");
  command.several("--train", "FILE", arguments->train,
                  "More questions whose part train the baseline learns from, beside that of --data");
  command.flag("--no-baseline", arguments->no_baseline, "Leave the baseline out");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals& globals) { return run_paths(*arguments, globals); });
}

}  // namespace askbase::cli
