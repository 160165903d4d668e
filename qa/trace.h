// The explanation of an answer as a JSON object: what was found in the question and how readings compared.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "qa/reading.h"

namespace askbase::qa {

// readings: judged, best first. Errors: corrupt, io.
base::Result<std::string> make_trace(const Context& context, const std::vector<Reading>& readings);

}  // namespace askbase::qa
