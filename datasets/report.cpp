#include "datasets/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "base/text.h"

namespace askbase::datasets {

namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --ink: #1c1f23; --paper: #fff; --soft: #6b7280; --line: #d5d9df; --accent: #0b63ce; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --paper: #15181c; --soft: #9aa3ad; --line: #343a41; --accent: #6cb0ff; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p.note { color: var(--soft); margin: .2rem 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
th { font-weight: 600; } td small { color: var(--soft); }
.curves { display: flex; flex-wrap: wrap; gap: 2rem; } figure { margin: 0; flex: 1 1 24rem; }
figcaption { color: var(--soft); font-size: .9rem; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.axis { stroke: var(--line); } .ideal { stroke: var(--soft); stroke-dasharray: 4 4; fill: none; }
.curve { stroke: var(--accent); stroke-width: 2; fill: none; } .dot { fill: var(--accent); }
)";

std::string number(double value, int decimals = 3) {
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return buffer.data();
}

std::string figure_cell(const Figure& figure) {
  if (!figure.value) return "–";
  std::string out = number(*figure.value);
  if (figure.interval) {
    out += " <small>" + number(figure.interval->low) + "–" + number(figure.interval->high) + "</small>";
  }
  return out;
}

std::string row(const std::vector<std::string>& cells, const char* tag = "td") {
  std::string out = "<tr>";
  for (const std::string& cell : cells) {
    out += "<";
    out += tag;
    out += ">" + cell + "</";
    out += tag;
    out += ">";
  }
  return out + "</tr>\n";
}

std::string group_table(const std::string& heading, const std::map<std::string, Metrics>& groups) {
  if (groups.empty()) return {};
  std::string out = "<h2>By " + heading + "</h2>\n<table>\n";
  out += row({heading, "questions", "hits_at_1", "f1", "wrong", "declined", "ece"}, "th");
  for (const auto& [name, metrics] : groups) {
    out += row({base::escape_html(name), std::to_string(metrics.questions),
                figure_cell(metrics[Metric::hits_at_1]), figure_cell(metrics[Metric::f1]),
                figure_cell(metrics[Metric::wrong]), figure_cell(metrics[Metric::declined]),
                figure_cell(metrics[Metric::ece])});
  }
  return out + "</table>\n";
}

// A square plot of [0, 1] x [0, top] with axes; what is inside is drawn through x() and y().
class Plot {
 public:
  explicit Plot(double top) : top_(top) {}
  std::string x(double value) const { return number(left + value * side, 1); }
  std::string y(double value) const { return number(margin + (1 - value / top_) * side, 1); }

  std::string svg(const std::string& label, const std::string& inside) const {
    std::string out = "<svg viewBox=\"0 0 " + number(left + side + margin, 0) + " " +
                      number(side + margin + 40, 0) + "\" role=\"img\" aria-label=\"" +
                      base::escape_html(label) + "\">\n";
    for (int i = 0; i <= 5; ++i) {
      const double at = i / 5.0;
      out += "<line class=\"axis\" x1=\"" + x(at) + "\" x2=\"" + x(at) + "\" y1=\"" + y(0) + "\" y2=\"" +
             y(top_) + "\"/><line class=\"axis\" x1=\"" + x(0) + "\" x2=\"" + x(1) + "\" y1=\"" +
             y(at * top_) + "\" y2=\"" + y(at * top_) + "\"/>\n";
      out += "<text text-anchor=\"middle\" x=\"" + x(at) + "\" y=\"" + number(margin + side + 16, 0) + "\">" +
             number(at, 1) + "</text><text text-anchor=\"end\" x=\"" + number(left - 6, 0) + "\" y=\"" +
             y(at * top_) + "\" dy=\"4\">" + number(at * top_, 2) + "</text>\n";
    }
    return out + inside + "</svg>\n";
  }

 private:
  static constexpr double left = 46, margin = 10, side = 320;
  double top_;
};

std::string reliability_curve(const std::vector<Outcome>& outcomes) {
  const Plot plot(1);
  std::string path, dots;
  std::uint64_t most = 1;
  const auto bins = reliability(outcomes);
  for (const ReliabilityBin& bin : bins) most = std::max(most, bin.questions);
  for (const ReliabilityBin& bin : bins) {
    if (bin.questions == 0) continue;
    path += (path.empty() ? "M" : "L") + plot.x(bin.confidence) + " " + plot.y(bin.right);
    const double radius = 3 + 6 * static_cast<double>(bin.questions) / static_cast<double>(most);
    dots += "<circle class=\"dot\" cx=\"" + plot.x(bin.confidence) + "\" cy=\"" + plot.y(bin.right) +
            "\" r=\"" + number(radius, 1) + "\"><title>" + std::to_string(bin.questions) +
            " answers, confidence " + number(bin.confidence) + ", right " + number(bin.right) +
            "</title></circle>\n";
  }
  const std::string ideal = "<path class=\"ideal\" d=\"M" + plot.x(0) + " " + plot.y(0) + "L" + plot.x(1) +
                            " " + plot.y(1) + "\"/>\n";
  return "<figure>" +
         plot.svg("Reliability curve", ideal + "<path class=\"curve\" d=\"" + path + "\"/>\n" + dots) +
         "<figcaption>Reliability: share of right answers (up) against confidence (right), in ten bins; a "
         "dot's "
         "size is the bin's number of answers. On the dashed line, confidence is what it says.</figcaption>"
         "</figure>\n";
}

std::string risk_curve(const std::vector<Outcome>& outcomes) {
  const auto points = risk_coverage(outcomes);
  double worst = 0.05;
  for (const RiskPoint& point : points) worst = std::max(worst, point.risk);
  const double top = std::min(1.0, worst * 1.1);
  const Plot plot(top);
  std::string path;
  for (const RiskPoint& point : points) {
    path += (path.empty() ? "M" : "L") + plot.x(point.coverage) + " " + plot.y(point.risk);
  }
  return "<figure>" + plot.svg("Risk-coverage curve", "<path class=\"curve\" d=\"" + path + "\"/>\n") +
         "<figcaption>Risk and coverage: answering only above a confidence, the share of wrong answers among "
         "those given (up) against the share of all questions answered (right).</figcaption></figure>\n";
}

}  // namespace

std::string report_html(const ReportInput& input) {
  std::vector<Outcome> outcomes;
  for (const Record& record : *input.records) outcomes.push_back(record.outcome);
  const Metrics& all = input.evaluation->all;

  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      base::escape_html(input.title) + "</title>\n<style>";
  out += style;
  out += "</style>\n</head>\n<body>\n<h1>" + base::escape_html(input.title) + "</h1>\n";
  for (const std::string& note : input.notes)
    out += "<p class=\"note\">" + base::escape_html(note) + "</p>\n";

  out += "<h2>Figures</h2>\n<table>\n" + row({"figure", "value and 95 % interval"}, "th");
  out += row({"questions", std::to_string(all.questions)});
  for (std::size_t m = 0; m < metric_count; ++m) {
    const auto metric = static_cast<Metric>(m);
    out += row({std::string(metric_name(metric)), figure_cell(all[metric])});
  }
  if (input.baseline_hits_at_1.value)
    out += row({"baseline_hits_at_1", figure_cell(input.baseline_hits_at_1)});
  out += "</table>\n<h2>Confidence</h2>\n<div class=\"curves\">\n" + reliability_curve(outcomes) +
         risk_curve(outcomes) + "</div>\n";

  out += "<h2>Errors by stage</h2>\n";
  const auto errors = errors_by_stage(*input.records);
  if (errors.empty()) {
    out += "<p>No errors.</p>\n";
  } else {
    out += "<table>\n" + row({"stage", "questions", "share"}, "th");
    for (const StageErrors& error : errors) {
      const double share = static_cast<double>(error.questions) / static_cast<double>(all.questions);
      out += row({base::escape_html(error.stage), std::to_string(error.questions), number(share)});
    }
    out += "</table>\n";
  }
  out += group_table("language", input.evaluation->by_lang) + group_table("kind", input.evaluation->by_kind);
  return out + "</body>\n</html>\n";
}

}  // namespace askbase::datasets
