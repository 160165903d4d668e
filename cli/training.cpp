#include "cli/training.h"

#include <utility>

#include "base/file.h"
#include "cli/output.h"
#include "nn/curves.h"

namespace askbase::cli {

base::Status check_training_files(const std::string& checkpoint, bool resume, const std::string& curves,
                                  const std::string& report) {
  if (!report.empty() && curves.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "--report shows the curves, and there is no --curves FILE");
  }
  if (resume && checkpoint.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "--resume needs --checkpoint FILE, where to go on from");
  }
  return {};
}

base::Status write_curves_page(const std::string& report, const std::string& curves, const std::string& model,
                               std::uint64_t seed) {
  if (report.empty()) return {};
  ASKBASE_ASSIGN(std::vector<nn::CurveRecord> records, nn::read_curves(curves));
  const std::vector<nn::CurveRun> runs = {{"seed " + std::to_string(seed), std::move(records)}};
  return base::write_file_atomic(report, nn::curves_html(model, runs));
}

void print_training(bool json, const base::Json& document, const std::vector<std::vector<std::string>>& rows,
                    const std::string& folder) {
  if (json) {
    print(base::dump_json(document) + "\n");
  } else {
    print(table(rows));
    print_line("written to " + folder);
  }
}

}  // namespace askbase::cli
