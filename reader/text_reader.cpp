#include "reader/text_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/sentences.h"
#include "base/text.h"
#include "base/unicode.h"

namespace askbase::reader {

Reading reading_of(SpanSearch& search, const Pieces& pieces, std::string_view text,
                   const ReadCalibration& calibration, const ReadOptions& options) {
  Reading reading;
  const std::vector<PieceSpan>& found = search.spans();
  if (found.empty()) {
    reading.null_odds = std::numeric_limits<double>::infinity();
    return reading;
  }
  reading.null_odds = static_cast<double>(search.null_score()) - static_cast<double>(found.front().score);
  reading.answered = reading.null_odds <= calibration.null_threshold;
  const base::OffsetMap offsets(text);
  const double total = search.log_total();
  std::vector<std::string> said;
  for (const PieceSpan& span : found) {
    if (reading.spans.size() >= options.top) break;
    ReadSpan read{.begin = pieces.begin[span.begin], .end = pieces.end[span.end - 1], .score = span.score};
    if (read.begin >= read.end) continue;  // pieces of one character share its place
    if (std::any_of(reading.spans.begin(), reading.spans.end(), [&](const ReadSpan& other) {
          return read.begin < other.end && other.begin < read.end;
        })) {
      continue;
    }
    const std::size_t from = offsets.byte(read.begin), to = offsets.byte(read.end);
    std::string key = base::match_key(text.substr(from, to - from));
    if (!key.empty() && std::find(said.begin(), said.end(), key) != said.end()) continue;
    said.push_back(std::move(key));
    const double score = span.score, null = search.null_score();
    read.log_share = score - total;
    read.confidence = 1.0 / (1.0 + std::exp(-(calibration.offset + calibration.by_null * (score - null) +
                                              calibration.by_rivals * read.log_share)));
    reading.spans.push_back(read);
  }
  return reading;
}

ReadCalibration calibrated(const std::vector<CalibrationExample>& examples, ReadCalibration start) {
  if (examples.empty()) return start;
  constexpr int kSteps = 50;
  constexpr double kPenalty = 1e-3;
  double w[3] = {0, 0, 0};
  for (int step = 0; step < kSteps; ++step) {
    // Gradient and Hessian of the negative log-likelihood.
    double g[3] = {0, kPenalty * w[1], kPenalty * w[2]}, h[3][4] = {};
    h[0][0] = 1e-9;
    h[1][1] = h[2][2] = kPenalty;
    for (const CalibrationExample& example : examples) {
      const double x[3] = {1, example.over_null, example.log_share};
      const double p = 1.0 / (1.0 + std::exp(-(w[0] + w[1] * x[1] + w[2] * x[2])));
      const double share = std::max(p * (1 - p), 1e-12);
      for (int i = 0; i < 3; ++i) {
        g[i] += (p - (example.right ? 1.0 : 0.0)) * x[i];
        for (int j = 0; j < 3; ++j) h[i][j] += share * x[i] * x[j];
      }
    }
    // h d = g, by elimination; h is positive definite.
    for (int i = 0; i < 3; ++i) h[i][3] = g[i];
    for (int i = 0; i < 3; ++i) {
      for (int r = i + 1; r < 3; ++r) {
        const double factor = h[r][i] / h[i][i];
        for (int c = i; c < 4; ++c) h[r][c] -= factor * h[i][c];
      }
    }
    double d[3] = {}, largest = 0;
    for (int i = 2; i >= 0; --i) {
      d[i] = h[i][3];
      for (int c = i + 1; c < 3; ++c) d[i] -= h[i][c] * d[c];
      d[i] /= h[i][i];
    }
    // Newton's steps can go too far where the sigmoid is flat.
    const double scale =
        std::min(1.0, 4.0 / std::max({std::abs(d[0]), std::abs(d[1]), std::abs(d[2]), 1e-300}));
    for (int i = 0; i < 3; ++i) {
      w[i] -= scale * d[i];
      largest = std::max(largest, std::abs(scale * d[i]));
    }
    if (largest < 1e-9) break;
  }
  start.offset = w[0];
  start.by_null = w[1];
  start.by_rivals = w[2];
  return start;
}

SentencePlace sentence_around(std::string_view text, std::size_t begin, std::size_t end) {
  const base::OffsetMap offsets(text);
  const std::vector<std::uint32_t> ends = base::sentence_ends(text);
  const std::size_t first = offsets.byte(begin), last = offsets.byte(end);
  SentencePlace place{0, offsets.code_points()};
  const auto after =
      std::upper_bound(ends.begin(), ends.end(), first);  // the end of the sentence that holds it
  if (after != ends.begin()) place.begin = offsets.code_point_at_byte(*(after - 1));
  const auto closing = std::lower_bound(ends.begin(), ends.end(), std::max(last, first + 1));
  if (closing != ends.end()) place.end = offsets.code_point_at_byte(*closing);
  const std::u32string points = base::to_code_points(
      text.substr(offsets.byte(place.begin), offsets.byte(place.end) - offsets.byte(place.begin)));
  std::size_t skip = 0, cut = points.size();
  while (skip < begin - place.begin && base::is_white_space(points[skip])) ++skip;
  while (cut > end - place.begin && base::is_white_space(points[cut - 1])) --cut;
  return {place.begin + skip, place.begin + cut};
}

}  // namespace askbase::reader
