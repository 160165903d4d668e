// What the commands of `askbase train` have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace askbase::cli {

// Error invalid_argument for a report without curves, and for a resumption without a checkpoint.
base::Status check_training_files(const std::string& checkpoint, bool resume, const std::string& curves,
                                  const std::string& report);

// The curves as a page, where one is wanted: report is not empty. Errors: those of the files.
base::Status write_curves_page(const std::string& report, const std::string& curves, const std::string& model,
                               std::uint64_t seed);

// The document, or the table and where the model was written.
void print_training(bool json, const base::Json& document, const std::vector<std::vector<std::string>>& rows,
                    const std::string& folder);

}  // namespace askbase::cli
