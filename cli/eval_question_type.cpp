// askbase eval question-type --data FILE
#include <memory>

#include "cli/eval.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/question_types.h"

namespace askbase::cli {
namespace {

struct EvalArguments {
  std::string data, model;
  bool json = false;
};

base::Result<int> run_eval(const EvalArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const auto questions, datasets::read_typed_questions(arguments.data));
  const std::filesystem::path folder = arguments.model.empty() ? models_folder(globals) / "question-type"
                                                               : std::filesystem::path(arguments.model);
  ASKBASE_ASSIGN(const auto classifier, qa::QuestionTypeClassifier::load(folder));
  const QuestionTypeFigures figures = measure_question_types(*classifier, questions);
  if (arguments.json) {
    base::Json out = {{"task", "question-type"}};
    out.update(figures_json(figures));
    print(base::dump_json(out) + "\n");
  } else {
    print(table(figure_rows(figures)));
  }
  return exit_done;
}

}  // namespace

void add_eval_question_type(const Command& eval) {
  auto arguments = std::make_shared<EvalArguments>();
  const Command command =
      eval.add("question-type", "Accuracy of the model that tells what kind of answer a question wants",
               "  askbase eval question-type --data trec-question-type-test.tsv.gz");
  command.option("--data", "FILE", arguments->data,
                 "Labelled questions: columns label, fine_label, question, or lines \"HUM:ind Who ...\"");
  command.option("--model", "DIR", arguments->model, "Model folder; question-type in the folder of models");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.on_run([arguments](const Globals& globals) { return run_eval(*arguments, globals); });
}

}  // namespace askbase::cli
