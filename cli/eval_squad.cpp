// askbase eval squad|squad2: questions about texts, each with its own text.
#include <memory>
#include <unordered_map>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/eval.h"
#include "cli/figures.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/squad_readings.h"
#include "datasets/squad.h"
#include "datasets/squad_metric.h"
#include "reader/readers.h"

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;
using datasets::AnswerForm;
using datasets::ReadAnswer;

struct EvalSquadArguments {
  std::vector<std::string> data;
  std::string model, numbers = "int8", form, out, odds_out, predictions, odds, threshold;
  std::size_t limit = 0;
  bool unanswerable = false;  // squad2
  bool json = false;
};

// {id: text}, or {id: number}.
base::Result<base::Json> by_id(const std::string& path) {
  ASKBASE_ASSIGN(const std::string text, base::read_file(path));
  auto json = base::parse_json(text);
  if (!json) return base::fail(json.error().code, path + ": " + json.error().message);
  if (!json->is_object()) return base::fail(base::ErrorCode::bad_input, path + ": no object of {id: ...}");
  return *json;
}

// Predictions of another program. Questions that it leaves out stay unanswered.
base::Result<std::vector<ReadAnswer>> read_predictions(const EvalSquadArguments& arguments,
                                                       const datasets::SquadSet& set) {
  ASKBASE_ASSIGN(const base::Json texts, by_id(arguments.predictions));
  base::Json odds = base::Json::object();
  if (!arguments.odds.empty()) {
    ASKBASE_ASSIGN(odds, by_id(arguments.odds));
  }
  std::vector<ReadAnswer> answers(set.questions.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string& id = set.questions[i].id;
    if (const auto text = texts.find(id); text != texts.end()) {
      if (!text->is_string()) {
        return base::fail(base::ErrorCode::bad_input,
                          arguments.predictions + ": the prediction of " + id + " is no text");
      }
      answers[i].text = text->get<std::string>();
      ++found;
    }
    if (const auto value = odds.find(id); value != odds.end() && value->is_number()) {
      answers[i].null_odds = value->get<double>();
    }
  }
  if (found == 0) {
    return base::fail(base::ErrorCode::bad_input,
                      arguments.predictions + ": no prediction for any question of the data",
                      "the file is an object of question ids with their answers");
  }
  return answers;
}

AnswerForm form_of(const EvalSquadArguments& arguments, const datasets::SquadSet& set) {
  if (!arguments.form.empty()) return arguments.form == "cmrc" ? AnswerForm::cmrc : AnswerForm::squad;
  std::size_t chinese = 0;
  for (const datasets::SquadQuestion& question : set.questions)
    chinese += base::contains_han(question.question);
  return 2 * chinese > set.questions.size() ? AnswerForm::cmrc : AnswerForm::squad;
}

base::Status write_predictions(const EvalSquadArguments& arguments, const datasets::SquadSet& set,
                               const std::vector<ReadAnswer>& answers, double threshold) {
  base::Json texts = base::Json::object(), odds = base::Json::object();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string& id = set.questions[i].id;
    const bool abstains = arguments.unanswerable && answers[i].null_odds > threshold;
    texts[id] = abstains ? std::string() : answers[i].text;
    odds[id] = base::json_number(answers[i].null_odds);
  }
  if (!arguments.out.empty())
    ASKBASE_TRY(base::write_file_atomic(arguments.out, base::dump_json(texts) + "\n"));
  if (!arguments.odds_out.empty()) {
    ASKBASE_TRY(base::write_file_atomic(arguments.odds_out, base::dump_json(odds) + "\n"));
  }
  return {};
}

base::Result<int> run_eval(const EvalSquadArguments& arguments, const Globals& globals) {
  base::watch_interrupts();
  datasets::SquadSet set;
  for (const std::string& path : arguments.data) {
    ASKBASE_ASSIGN(datasets::SquadSet part, datasets::read_squad(path));
    for (datasets::SquadQuestion& question : part.questions) {
      if (!arguments.unanswerable && question.answers.empty()) continue;  // SQuAD 1.1 has none
      question.context += set.contexts.size();
      set.questions.push_back(std::move(question));
    }
    for (datasets::SquadContext& context : part.contexts) set.contexts.push_back(std::move(context));
  }
  if (arguments.limit > 0 && arguments.limit < set.questions.size()) set.questions.resize(arguments.limit);
  const AnswerForm form = form_of(arguments, set);
  SquadReadings read;
  double threshold = 0;
  if (!arguments.predictions.empty()) {
    ASKBASE_ASSIGN(read.answers, read_predictions(arguments, set));
  } else {
    const fs::path folder =
        !arguments.model.empty()
            ? fs::path(arguments.model)
            : models_folder(globals) / (form == AnswerForm::cmrc ? "zh-reader" : "en-reader");
    reader::InferenceOptions options;
    options.numbers = arguments.numbers == "int8"   ? nn::Numbers::int8
                      : arguments.numbers == "bf16" ? nn::Numbers::bf16
                                                    : nn::Numbers::f32;
    ASKBASE_ASSIGN(const auto model, reader::load_reader(folder, options));
    threshold = model->calibration().null_threshold;
    nn::Team team(static_cast<int>(globals.thread_count()));
    ASKBASE_ASSIGN(read, read_squad_set(*model, set, team));
  }
  if (!arguments.threshold.empty()) threshold = std::stod(arguments.threshold);
  ASKBASE_TRY(write_predictions(arguments, set, read.answers, threshold));

  base::Json out = {{"task", arguments.unanswerable ? "squad2" : "squad"},
                    {"questions", set.questions.size()}};
  std::vector<std::vector<std::string>> rows = {{"questions", grouped(set.questions.size())}};
  const auto figure = [&](const std::string& key, const std::string& name, const datasets::Figure& value) {
    add_figure(out, key, value);
    rows.push_back({name, shown_figure(value, 2)});
  };
  if (arguments.unanswerable) {
    const datasets::Squad2Figures figures = datasets::squad2_figures(form, set, read.answers, threshold);
    figure("exact_match", "exact match", figures.exact_match);
    figure("f1", "F1", figures.f1);
    figure("HasAns_exact", "exact match, with answer", figures.has_exact);
    figure("HasAns_f1", "F1, with answer", figures.has_f1);
    figure("NoAns_f1", "F1, without answer", figures.no_f1);
    out["has_answer"] = figures.has_answer;
    out["no_answer"] = figures.no_answer;
    out["threshold"] = base::json_number(threshold);
    out["best_exact"] = base::json_number(figures.best_exact);
    out["best_exact_thresh"] = base::json_number(figures.best_exact_threshold);
    out["best_f1"] = base::json_number(figures.best_f1);
    out["best_f1_thresh"] = base::json_number(figures.best_f1_threshold);
    out["always_abstain_f1"] = base::json_number(figures.always_abstain_f1);
    rows.push_back({"threshold", decimal(threshold, 3)});
    rows.push_back({"best F1 of any threshold",
                    decimal(figures.best_f1, 2) + " at " + decimal(figures.best_f1_threshold, 3)});
    rows.push_back({"F1 of always abstaining", decimal(figures.always_abstain_f1, 2)});
  } else {
    std::vector<std::string> texts;
    for (const ReadAnswer& answer : read.answers) texts.push_back(answer.text);
    const datasets::SquadFigures figures = datasets::squad_figures(form, set, texts);
    figure("exact_match", "exact match", figures.exact_match);
    figure("f1", "F1", figures.f1);
  }
  out["seconds"] = base::json_number(read.seconds, 4);
  rows.push_back({"seconds", decimal(read.seconds, 1)});
  if (arguments.json) {
    print(base::dump_json(out) + "\n");
  } else {
    print(table(rows));
  }
  return exit_done;
}

std::string check_number(const std::string& text) {
  try {
    std::size_t end = 0;
    (void)std::stod(text, &end);
    if (end == text.size()) return {};
  } catch (const std::exception&) {
  }
  return "not a number: " + text;
}

void add_task(const Command& eval, const std::string& name, const std::string& description,
              const std::string& examples, bool unanswerable) {
  auto arguments = std::make_shared<EvalSquadArguments>();
  arguments->unanswerable = unanswerable;
  const Command command = eval.add(name, description, examples);
  command.several("--data", "FILE", arguments->data, "Questions in SQuAD's form");
  command.option("--model", "DIR", arguments->model,
                 "Model folder; en-reader or zh-reader in the folder of models, by the questions' language");
  command.option("--numbers", "KIND", arguments->numbers, "Of a BERT's products: int8, bf16 or f32; int8",
                 Command::one_of({"int8", "bf16", "f32"}));
  command.option("--form", "FORM", arguments->form,
                 "squad (words) or cmrc (characters); by the questions' language",
                 Command::one_of({"squad", "cmrc"}));
  command.option("--limit", "N", arguments->limit, "Only the first N questions; 0: all", 0, 1U << 30);
  command.option("--predictions", "FILE", arguments->predictions,
                 "Measure these, {id: answer}, instead of a model of ours");
  command.option("--out", "FILE", arguments->out, "Write the predictions, {id: answer}");
  if (unanswerable) {
    command.option("--odds", "FILE", arguments->odds,
                   "Beside --predictions: {id: odds that there is no answer}");
    command.option("--odds-out", "FILE", arguments->odds_out, "Write the odds of no answer, {id: number}");
    command.option("--threshold", "X", arguments->threshold,
                   "Of these odds: above it nothing is answered; the model's own, 0 for --predictions",
                   check_number);
  }
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.on_run([arguments](const Globals& globals) { return run_eval(*arguments, globals); });
}

}  // namespace

void add_eval_squad(const Command& eval) {
  add_task(eval, "squad", "Exact match and F1 of answers taken from each question's own text",
           "  askbase eval squad --data squad-v1.1-dev.json.gz\n"
           "  askbase eval squad --data cmrc2018-dev.json.gz --json\n"
           "  askbase eval squad --data squad-v1.1-dev.json.gz --predictions theirs.json",
           false);
  add_task(eval, "squad2", "The same where texts may hold no answer, by the rules of SQuAD 2.0",
           "  askbase eval squad2 --data squad-v2.0-dev.json.gz\n"
           "  askbase eval squad2 --data squad-v2.0-dev.json.gz --predictions theirs.json --odds odds.json",
           true);
}

}  // namespace askbase::cli
