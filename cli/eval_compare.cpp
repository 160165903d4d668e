// askbase eval compare A B
#include <memory>
#include <string>
#include <vector>

#include "cli/eval.h"
#include "cli/output.h"
#include "datasets/metrics.h"

namespace askbase::cli {
namespace {

struct CompareArguments {
  std::string a, b;
  bool json = false;
};

void print_comparison(const datasets::Comparison& comparison, const CompareArguments& arguments) {
  print_line("A: " + arguments.a);
  print_line("B: " + arguments.b);
  print_line(counted(comparison.questions, "question", "questions") + " in both; right in A only " +
             grouped(comparison.only_a_right) + ", in B only " + grouped(comparison.only_b_right));
  if (comparison.only_in_a + comparison.only_in_b > 0) {
    print_line("left out: " + grouped(comparison.only_in_a) + " only in A, " + grouped(comparison.only_in_b) +
               " only in B");
  }
  std::vector<std::vector<std::string>> rows = {{"", "A", "B", "B - A", "95 % interval", "p"}};
  for (const auto& row : comparison.rows) {
    rows.push_back({std::string(datasets::metric_name(row.metric)), decimal(row.a, 4), decimal(row.b, 4),
                    decimal(row.difference, 4),
                    "[" + decimal(row.interval.low, 4) + ", " + decimal(row.interval.high, 4) + "]",
                    decimal(row.p_value, 3)});
  }
  print(table(rows, {false, true, true, true, false, true}));
}

base::Result<int> run_compare(const CompareArguments& arguments) {
  ASKBASE_ASSIGN(const auto a, datasets::read_records(arguments.a));
  ASKBASE_ASSIGN(const auto b, datasets::read_records(arguments.b));
  ASKBASE_ASSIGN(const datasets::Comparison comparison, datasets::compare(a, b));
  if (!arguments.json) {
    print_comparison(comparison, arguments);
    return exit_done;
  }
  base::Json out;
  out["questions"] = comparison.questions;
  out["only_in_a"] = comparison.only_in_a;
  out["only_in_b"] = comparison.only_in_b;
  out["only_a_right"] = comparison.only_a_right;
  out["only_b_right"] = comparison.only_b_right;
  for (const auto& row : comparison.rows) {
    out[std::string(datasets::metric_name(row.metric))] = {
        {"a", base::json_number(row.a)},
        {"b", base::json_number(row.b)},
        {"difference", base::json_number(row.difference)},
        {"difference_ci", {base::json_number(row.interval.low), base::json_number(row.interval.high)}},
        {"p", base::json_number(row.p_value)}};
  }
  print(base::dump_json(out) + "\n");
  return exit_done;
}

}  // namespace

void add_eval_compare(const Command& eval) {
  auto arguments = std::make_shared<CompareArguments>();
  const Command command = eval.add("compare", "Compare two predictions of the same questions",
                                   "  askbase --kb my-kb eval kbqa --data q.jsonl --out before.jsonl\n"
                                   "  (change something)\n"
                                   "  askbase --kb my-kb eval kbqa --data q.jsonl --out after.jsonl\n"
                                   "  askbase eval compare before.jsonl after.jsonl\n"
                                   "By paired bootstrap: an interval that leaves out 0 is a difference.");
  command.argument("A", arguments->a, "Predictions that eval kbqa --out wrote");
  command.argument("B", arguments->b, "Others, of the same questions");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals&) { return run_compare(*arguments); });
}

}  // namespace askbase::cli
