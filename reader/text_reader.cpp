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
    read.confidence = 1.0 / (1.0 + std::exp(-(calibration.offset + calibration.by_null * (score - null) +
                                              calibration.by_rivals * (score - total))));
    reading.spans.push_back(read);
  }
  return reading;
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
