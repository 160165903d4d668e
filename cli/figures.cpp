#include "cli/figures.h"

#include "cli/output.h"

namespace askbase::cli {

using datasets::Figure;

std::string shown_figure(const Figure& figure, int decimals) {
  if (!figure.value) return "-";
  std::string out = decimal(*figure.value, decimals);
  if (figure.interval) {
    out += "  [" + decimal(figure.interval->low, decimals) + ", " + decimal(figure.interval->high, decimals) +
           "]";
  }
  return out;
}

void add_figure(base::Json& out, const std::string& name, const Figure& figure) {
  out[name] = figure.value ? base::Json(base::json_number(*figure.value)) : base::Json();
  out[name + "_ci"] = figure.interval ? base::Json::array({base::json_number(figure.interval->low),
                                                           base::json_number(figure.interval->high)})
                                      : base::Json();
}

}  // namespace askbase::cli
