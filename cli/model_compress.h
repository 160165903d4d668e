// askbase model compress
#pragma once

#include "cli/command.h"

namespace askbase::cli {

void add_model_compress(const Command& model);

}  // namespace askbase::cli
