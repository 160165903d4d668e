// The tasks of `askbase eval`.
#pragma once

#include <string>

#include "cli/command.h"
#include "datasets/metrics.h"

namespace askbase::cli {

void add_eval_kbqa(Commands& commands, CLI::App& eval);
void add_eval_compare(Commands& commands, CLI::App& eval);

// "0.912  [0.900, 0.921]"; "-" for a figure over no questions.
std::string shown_figure(const datasets::Figure& figure);

}  // namespace askbase::cli
