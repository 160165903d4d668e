// Training curves: one JSON object a line, {"step": 40, "epoch": 1.25, "loss": 0.71, ...}, and a page that
// draws them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace askbase::nn {

struct CurveRecord {
  std::int64_t step = 0;  // updates done
  double epoch = 0.0;     // epochs done, with the fraction of the one under way
  std::vector<std::pair<std::string, double>> values;
};

// A value of records at the end of a run that are not in its rhythm (1). A run that goes on drops them.
inline constexpr const char* kOutOfTurn = "out_of_turn";

// Appends records to a file. Belongs to one thread.
class CurveWriter {
 public:
  // Keeps the records up to `last_step` of what the file has (-1: none of them) and drops the later ones and
  // those out of turn: a resumed run writes them again. A last line that was cut off goes as well. Errors:
  // io, bad_input.
  static base::Result<CurveWriter> open(const std::filesystem::path& path, std::int64_t last_step);

  // The line is handed to the operating system before this returns.
  base::Status append(const CurveRecord& record);

 private:
  CurveWriter(std::filesystem::path path, std::ofstream out) : path_(std::move(path)), out_(std::move(out)) {}
  std::filesystem::path path_;
  std::ofstream out_;
};

// Errors: not_found, io, bad_input (file:line: reason). A last line without its end is left out.
base::Result<std::vector<CurveRecord>> read_curves(const std::filesystem::path& path);

// One self-contained page: a chart of every value over the steps, as inline SVG, readable in light and dark,
// without scripts. Values of one name in several runs share a chart.
struct CurveRun {
  std::string name;
  std::vector<CurveRecord> records;
};
std::string curves_html(std::string_view title, const std::vector<CurveRun>& runs);

}  // namespace askbase::nn
