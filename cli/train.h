// The models of `askbase train`.
#pragma once

#include "cli/command.h"

namespace askbase::cli {

void add_train_question_type(const Command& train);
void add_train_reader(const Command& train);

}  // namespace askbase::cli
