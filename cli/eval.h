// The tasks of `askbase eval`.
#pragma once

#include "cli/command.h"

namespace askbase::cli {

void add_eval_kbqa(const Command& eval);
void add_eval_compare(const Command& eval);
void add_eval_link_prediction(const Command& eval);
void add_eval_mentions(const Command& eval);
void add_eval_paths(const Command& eval);
void add_eval_question_type(const Command& eval);
void add_eval_relation_detection(const Command& eval);
void add_eval_retrieval(const Command& eval);
void add_eval_simplequestions(const Command& eval);
void add_eval_squad(const Command& eval);

}  // namespace askbase::cli
