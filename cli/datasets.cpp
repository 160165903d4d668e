// askbase datasets prepare NAME FILES... --out DIR
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "datasets/prepare.h"
#include "kb/load_names.h"

namespace askbase::cli {
namespace {

struct PrepareArguments {
  std::string benchmark, out;
  std::vector<std::string> files, left_out, alias_relations;
  bool json = false;
};

base::Result<int> run_prepare(const PrepareArguments& arguments) {
  datasets::PrepareOptions options;
  const auto iri_in = [](const char* space) {
    return [space](std::string_view name) {
      return kb::looks_like_iri(name) ? std::string(name) : kb::name_iri(space, name);
    };
  };
  options.entity_iri = iri_in("entity");
  options.predicate_iri = iri_in("p");
  if (!arguments.left_out.empty()) options.left_out_sources = arguments.left_out;
  if (!arguments.alias_relations.empty()) options.alias_relations = arguments.alias_relations;
  ASKBASE_ASSIGN(const datasets::PrepareReport report,
                 datasets::prepare(arguments.benchmark, {arguments.files.begin(), arguments.files.end()},
                                   arguments.out, options));
  if (arguments.json) {
    print(base::dump_json({{"benchmark", arguments.benchmark},
                           {"facts", report.facts},
                           {"facts_left_out", report.facts_left_out},
                           {"entities", report.entities},
                           {"predicates", report.predicates},
                           {"labelled", report.labelled},
                           {"names", report.names},
                           {"names_left_out", report.names_left_out},
                           {"questions", report.questions},
                           {"questions_left_out", report.questions_left_out},
                           {"files", report.files}}) +
          "\n");
    return exit_done;
  }
  std::vector<std::vector<std::string>> rows = {
      {"facts", grouped(report.facts)},         {"predicates", grouped(report.predicates)},
      {"entities", grouped(report.entities)},   {"  with a label", grouped(report.labelled)},
      {"names", grouped(report.names)},         {"  left out", grouped(report.names_left_out)},
      {"questions", grouped(report.questions)}, {"  left out", grouped(report.questions_left_out)}};
  print(table(rows, {false, true}));
  std::string written;
  for (const std::string& file : report.files) written += " " + arguments.out + "/" + file;
  print_line("written:" + written);
  return exit_done;
}

}  // namespace

void add_datasets(const Command& askbase) {
  const Command command =
      askbase.add("datasets", "Benchmark files made into files that askbase loads and measures with",
                  "  askbase datasets prepare metaqa kb.txt qa_test.txt --out metaqa\n"
                  "  askbase --kb my-kb load metaqa/facts.nt metaqa/names.nt --source "
                  "metaqa");
  command.needs_subcommand();
  auto arguments = std::make_shared<PrepareArguments>();
  const Command prepare =
      command.add("prepare", "Facts, names and questions of a benchmark as N-Triples and JSON lines",
                  "  askbase datasets prepare simplequestions-fb "
                  "simplequestions_fb.kb.tsv.gz \\\n"
                  "    freebase_names.tsv.gz simplequestions_fb.test.jsonl.gz --out sq\n"
                  "  askbase --kb my-kb load sq/facts.nt sq/names.nt --source "
                  "simplequestions-fb\n"
                  "  askbase --kb my-kb eval simplequestions --data sq/questions.jsonl "
                  "--split test\n"
                  "docs/evaluation.md lists the forms of files that are read.");
  prepare.argument("NAME", arguments->benchmark,
                   "simplequestions-fb, simplequestions-wd, webquestions, "
                   "webqsp, metaqa, pathquestion, "
                   "zh_gold, triples");
  prepare.arguments("FILES", arguments->files, "Facts, names and questions, also .gz and .zst");
  prepare.option("--out", "DIR", arguments->out, "Folder to write; facts.nt, names.nt and questions.jsonl");
  prepare.require("--out");
  prepare.several("--without-sources", "SOURCE", arguments->left_out,
                  "Leave out names that come from nowhere else; bubo-test bubo-valid");
  prepare.several("--alias-relation", "RELATION", arguments->alias_relations,
                  "Of triples: its objects are further names of the subject; 别名");
  prepare.flag("--json", arguments->json, "One JSON object");
  prepare.on_run([arguments](const Globals&) { return run_prepare(*arguments); });
}

}  // namespace askbase::cli
