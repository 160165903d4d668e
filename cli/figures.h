// Measured figures with their intervals, as text and as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "datasets/metrics.h"

namespace askbase::cli {

// "0.9120  [0.9000, 0.9210]"; "-" for a figure over no questions.
std::string shown_figure(const datasets::Figure& figure, int decimals = 4);
// "name": value and "name_ci": [low, high], null where there is none.
void add_figure(base::Json& out, const std::string& name, const datasets::Figure& figure);

}  // namespace askbase::cli
