// askbase eval TASK: the tasks register themselves here.
#include "cli/eval.h"

#include "cli/command.h"

namespace askbase::cli {

void add_eval(const Command& askbase) {
  const Command command = askbase.add("eval", "Measure answers against questions whose answers are known",
                                      "  askbase --kb my-kb eval kbqa --data questions.jsonl\n"
                                      "  askbase eval compare before.jsonl after.jsonl");
  command.needs_subcommand();
  add_eval_kbqa(command);
  add_eval_mentions(command);
  add_eval_paths(command);
  add_eval_question_type(command);
  add_eval_relation_detection(command);
  add_eval_retrieval(command);
  add_eval_simplequestions(command);
  add_eval_compare(command);
  add_eval_link_prediction(command);
  add_eval_squad(command);
}

}  // namespace askbase::cli
