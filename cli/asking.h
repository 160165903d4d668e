// Questions asked on as many threads as wanted: what the evaluations that ask an engine have in common.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "cli/command.h"

namespace askbase::cli {

// Calls ask(i) for each question once, from several threads, and shows how far it is. After an error no more
// are begun, and the first one is returned. Error cancelled when base::interrupted().
base::Status for_each_question(std::size_t questions, const Globals& globals,
                               const std::function<base::Status(std::size_t)>& ask);

}  // namespace askbase::cli
