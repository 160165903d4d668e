#include "nn/curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace askbase::nn {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using base::Status;

std::string line_of(const CurveRecord& record) {
  Json line = Json::object();
  line["step"] = record.step;
  line["epoch"] = base::json_number(record.epoch);
  for (const auto& [name, value] : record.values) line[name] = base::json_number(value, 7);
  return base::dump_json(line) + "\n";
}

// Colours that keep their distance in light and dark, also for the colour-blind (Okabe and Ito 2008).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr double kWidth = 640, kHeight = 260, kLeft = 64, kRight = 24, kTop = 12, kBottom = 28;

std::string format(const char* form, double value) {
  char text[48];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

// A round step (1, 2 or 5 times a power of ten) that cuts the range into about five.
double tick_step(double range) {
  const double raw = range / 5, power = std::pow(10.0, std::floor(std::log10(raw)));
  const double lead = raw / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

struct Series {
  std::string run;
  std::vector<std::pair<double, double>> points;
};

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // A single value gets some room around it.
  void widen() {
    if (high - low > 1e-12 * std::max(std::abs(low), std::abs(high))) return;
    const double room = std::max(1e-6, std::abs(high) * 0.1);
    low -= room;
    high += room;
  }
};

std::string chart(const std::string& name, const std::vector<Series>& all) {
  Range x, y;
  for (const Series& series : all) {
    for (const auto& [step, value] : series.points) {
      x.include(step);
      y.include(value);
    }
  }
  x.widen();
  y.widen();
  const auto to_x = [&](double v) {
    return kLeft + (v - x.low) / (x.high - x.low) * (kWidth - kLeft - kRight);
  };
  const auto to_y = [&](double v) {
    return kHeight - kBottom - (v - y.low) / (y.high - y.low) * (kHeight - kTop - kBottom);
  };
  std::string svg = "<section><h2>" + base::escape_html(name) +
                    "</h2>\n<svg viewBox=\"0 0 640 260\" role=\"img\" aria-label=\"" +
                    base::escape_html(name) + " by step\">\n";
  const double y_step = tick_step(y.high - y.low);
  for (double v = std::ceil(y.low / y_step) * y_step; v <= y.high + y_step * 1e-9; v += y_step) {
    const std::string at = format("%.1f", to_y(v));
    svg += "<line class=\"grid\" x1=\"64\" x2=\"616\" y1=\"" + at + "\" y2=\"" + at +
           "\"/><text x=\"58\" y=\"" + at + "\" dy=\"4\" text-anchor=\"end\">" +
           format("%.4g", std::abs(v) < y_step * 1e-9 ? 0.0 : v) + "</text>\n";
  }
  const double x_step = tick_step(x.high - x.low);
  for (double v = std::ceil(x.low / x_step) * x_step; v <= x.high + x_step * 1e-9; v += x_step) {
    svg += "<text x=\"" + format("%.1f", to_x(v)) + "\" y=\"252\" text-anchor=\"middle\">" +
           format("%.6g", std::abs(v) < x_step * 1e-9 ? 0.0 : v) + "</text>\n";
  }
  std::string words;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    svg += "<polyline stroke=\"" + std::string(colour) + "\" points=\"";
    for (const auto& [step, value] : all[i].points) {
      svg += format("%.1f", to_x(step)) + "," + format("%.1f", to_y(value)) + " ";
    }
    svg += "\"/>\n";
    // A line of one point would not be seen.
    if (all[i].points.size() == 1) {
      svg += "<circle fill=\"" + std::string(colour) + "\" r=\"3\" cx=\"" +
             format("%.1f", to_x(all[i].points[0].first)) + "\" cy=\"" +
             format("%.1f", to_y(all[i].points[0].second)) + "\"/>\n";
    }
    const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [low, high] = std::minmax_element(all[i].points.begin(), all[i].points.end(), by_value);
    words += "<p><span style=\"color:" + std::string(colour) + "\">&#9632;</span> " +
             base::escape_html(all[i].run) + ": last " + format("%.5g", all[i].points.back().second) +
             ", lowest " + format("%.5g", low->second) + " at step " + format("%.0f", low->first) +
             ", highest " + format("%.5g", high->second) + " at step " + format("%.0f", high->first) +
             "</p>\n";
  }
  return svg + "</svg>\n" + words + "</section>\n";
}

}  // namespace

Result<std::vector<CurveRecord>> read_curves(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const std::string text, base::read_file(path));
  std::vector<CurveRecord> records;
  std::size_t begin = 0, number = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++number;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const auto bad = [&](const std::string& reason) {
      return fail(ErrorCode::bad_input, path.string() + ":" + std::to_string(number) + ": " + reason,
                  "move the file away: the curves begin anew then");
    };
    const Result<Json> json = base::parse_json(line, 4);
    if (!json) return bad(json.error().message);
    if (!json->is_object() || !json->contains("step") || !(*json)["step"].is_number_integer()) {
      return bad("not a record of a curve: no \"step\"");
    }
    CurveRecord record;
    for (const auto& [key, value] : json->items()) {
      if (key == "step") {
        record.step = value.get<std::int64_t>();
      } else if (key == "epoch" && value.is_number()) {
        record.epoch = value.get<double>();
      } else if (value.is_number()) {
        record.values.emplace_back(key, value.get<double>());
      }
    }
    records.push_back(std::move(record));
  }
  return records;
}

Result<CurveWriter> CurveWriter::open(const std::filesystem::path& path, std::int64_t last_step) {
  std::string kept;
  if (last_step >= 0) {
    const auto records = read_curves(path);
    if (!records && records.error().code != ErrorCode::not_found) return tl::unexpected(records.error());
    if (records) {
      for (const CurveRecord& record : *records) {
        const bool out_of_turn = std::any_of(record.values.begin(), record.values.end(),
                                             [](const auto& value) { return value.first == kOutOfTurn; });
        if (record.step <= last_step && !out_of_turn) kept += line_of(record);
      }
    }
  }
  ASKBASE_TRY(base::write_file_atomic(path, kept));
  std::ofstream out(path, std::ios::app | std::ios::binary);
  if (!out) return tl::unexpected(base::io_error(errno, "write", path));
  return CurveWriter(path, std::move(out));
}

Status CurveWriter::append(const CurveRecord& record) {
  errno = 0;
  out_ << line_of(record) << std::flush;
  if (!out_) return tl::unexpected(base::io_error(errno == 0 ? EIO : errno, "write", path_));
  return {};
}

std::string curves_html(std::string_view title, const std::vector<CurveRun>& runs) {
  std::vector<std::string> names;  // in the order of first use
  std::map<std::string, std::vector<Series>> charts;
  for (const CurveRun& run : runs) {
    for (const CurveRecord& record : run.records) {
      for (const auto& [name, value] : record.values) {
        if (!std::isfinite(value) || name == kOutOfTurn) continue;
        std::vector<Series>& chart = charts[name];
        if (chart.empty()) names.push_back(name);
        if (chart.empty() || chart.back().run != run.name) chart.push_back({run.name, {}});
        chart.back().points.emplace_back(static_cast<double>(record.step), value);
      }
    }
  }
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      base::escape_html(title) +
      "</title>\n<style>\n:root{color-scheme:light dark}\n"
      "body{font:15px/1.5 system-ui,sans-serif;max-width:720px;margin:2rem auto;padding:0 1rem;"
      "background:Canvas;color:CanvasText}\n"
      "svg{width:100%;height:auto}\nsvg text{font-size:12px;fill:currentColor;opacity:.75}\n"
      "svg .grid{stroke:currentColor;opacity:.15}\n"
      "svg polyline{fill:none;stroke-width:2;stroke-linejoin:round}\np{margin:.2rem 0}\n"
      "</style></head><body>\n<h1>" +
      base::escape_html(title) + "</h1>\n";
  if (names.empty()) page += "<p>No records yet.</p>\n";
  for (const std::string& name : names) page += chart(name, charts[name]);
  return page + "</body></html>\n";
}

}  // namespace askbase::nn
