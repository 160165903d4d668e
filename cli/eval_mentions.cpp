// askbase eval mentions --data FILE
#include <memory>

#include "cli/eval.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/tagged_questions.h"

namespace askbase::cli {
namespace {

struct EvalArguments {
  std::vector<std::string> data, names, subjects;
  std::string model, lang = "en";
  bool json = false;
};

base::Result<int> run_eval(const EvalArguments& arguments, const Globals& globals) {
  const std::filesystem::path folder = arguments.model.empty()
                                           ? models_folder(globals) / (arguments.lang + "-tagger")
                                           : std::filesystem::path(arguments.model);
  ASKBASE_ASSIGN(const auto tagger, qa::MentionTagger::load(folder));
  ASKBASE_ASSIGN(const auto questions,
                 datasets::read_kb_questions({arguments.data.begin(), arguments.data.end()}));
  TopicNames names;
  for (const std::string& file : arguments.names) ASKBASE_TRY(names.read_names(file));
  for (const std::string& file : arguments.subjects) ASKBASE_TRY(names.read_subjects(file));
  const MentionFigures figures = measure_mentions(*tagger, align_mentions(questions, names, nullptr), names);
  if (arguments.json) {
    base::Json out = {{"task", "mentions"}, {"lang", tagger->language()}};
    out.update(figures_json(figures));
    print(base::dump_json(out) + "\n");
  } else {
    print(table(figure_rows(figures)));
  }
  return exit_done;
}

}  // namespace

void add_eval_mentions(const Command& eval) {
  auto arguments = std::make_shared<EvalArguments>();
  const Command command = eval.add(
      "mentions", "How often the tagger finds the words that name what a question is about",
      "  askbase eval mentions --data simplequestions_fb.test.jsonl.gz --names freebase_names.tsv.gz\n"
      "  askbase eval mentions --lang zh --data nlpcc2016.test.jsonl.gz --subjects zh_gold.kb.tsv.gz");
  command.several("--data", "FILE", arguments->data,
                  "Questions with their mentions or the names of their topics");
  command.several("--names", "FILE", arguments->names,
                  "Names by id, for questions without mentions, and for the baseline (longest name)");
  command.several("--subjects", "FILE", arguments->subjects,
                  "Facts whose subjects are called by their id: likewise");
  command.option("--lang", "LANG", arguments->lang, "Whose shipped tagger: en or zh; en",
                 Command::one_of({"en", "zh"}));
  command.option("--model", "DIR", arguments->model, "Model folder; LANG-tagger in the folder of models");
  command.flag("--json", arguments->json, "Print one JSON document");
  command.require("--data");
  command.on_run([arguments](const Globals& globals) { return run_eval(*arguments, globals); });
}

}  // namespace askbase::cli
