// askbase eval TASK: the tasks register themselves here.
#include "cli/eval.h"

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace askbase::cli {

void add_eval(Commands& commands) {
  CLI::App& command =
      commands.add(commands.app(), "eval", "Measure answers against questions whose answers are known",
                   "  askbase --kb my-kb eval kbqa --data questions.jsonl\n"
                   "  askbase eval compare before.jsonl after.jsonl");
  command.require_subcommand(1);
  add_eval_kbqa(commands, command);
  add_eval_compare(commands, command);
}

}  // namespace askbase::cli
