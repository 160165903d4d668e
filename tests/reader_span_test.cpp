// Spans from scores against a brute-force search; readings, confidence, sentences.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "reader/bert_reader.h"
#include "reader/text_reader.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

struct Case {
  std::vector<Window> windows;
  std::vector<std::vector<float>> start, end;  // a window
  std::vector<float> null;
  PieceEdges edges;
};

Case random_case(nn::Random& random) {
  Case c;
  const std::size_t n = random.below(40);
  c.windows = plan_windows(3, n, {.max_length = 16, .stride = 1 + random.below(9), .max_question = 4});
  for (const Window& window : c.windows) {
    c.start.emplace_back();
    c.end.emplace_back();
    for (std::size_t i = window.begin; i < window.end; ++i) {
      // Few values, so that equal scores happen.
      c.start.back().push_back(static_cast<float>(random.below(7)) - 3);
      c.end.back().push_back(static_cast<float>(random.below(7)) - 3);
    }
    c.null.push_back(static_cast<float>(random.below(9)));
  }
  for (std::size_t i = 0; i < n; ++i) {
    c.edges.starts.push_back(random.below(4) != 0);
    c.edges.ends.push_back(random.below(4) != 0);
  }
  return c;
}

// Every span of every window, kept where the window is the one with most context around the first piece.
std::vector<PieceSpan> all_spans(const Case& c, std::size_t longest) {
  std::vector<PieceSpan> spans;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const Window& window = c.windows[w];
    for (std::size_t b = window.begin; b < window.end; ++b) {
      const auto context = [b](const Window& v) { return std::min(b - v.begin, v.end - 1 - b); };
      bool best = c.edges.starts[b] != 0;
      for (std::size_t v = 0; v < c.windows.size() && best; ++v) {
        if (v == w || b < c.windows[v].begin || b >= c.windows[v].end) continue;
        best = context(c.windows[v]) < context(window) || (context(c.windows[v]) == context(window) && v > w);
      }
      if (!best) continue;
      for (std::size_t e = b; e < window.end && e < b + longest; ++e) {
        if (c.edges.ends[e] != 0)
          spans.push_back({b, e + 1, c.start[w][b - window.begin] + c.end[w][e - window.begin]});
      }
    }
  }
  std::sort(spans.begin(), spans.end(), [](const PieceSpan& a, const PieceSpan& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  return spans;
}

// A text of one-letter pieces, and the scores that make [begin, end) spans win in the order given.
struct OneLetters {
  std::string text;
  Pieces pieces;
  PieceEdges edges;
  explicit OneLetters(std::string letters) : text(std::move(letters)) {
    const std::size_t n = base::count_code_points(text);
    for (std::size_t i = 0; i < n; ++i) {
      pieces.ids.push_back(0);
      pieces.begin.push_back(static_cast<std::uint32_t>(i));
      pieces.end.push_back(static_cast<std::uint32_t>(i + 1));
    }
    edges = {std::vector<std::uint8_t>(n, 1), std::vector<std::uint8_t>(n, 1)};
  }
  Reading read(const std::vector<std::pair<std::size_t, std::size_t>>& best, float null,
               const ReadCalibration& calibration, std::size_t top) {
    SpanSearch search({.longest = 2, .kept = 200});
    const Window windows[] = {{0, pieces.size()}};
    search.reset(edges, windows);
    std::vector<float> start(pieces.size(), -9), end(pieces.size(), -9);
    float score = 5;
    for (const auto& [b, e] : best) {
      start[b] = end[e - 1] = score;
      score -= 1;
    }
    search.add(0, start, end, null);
    return reading_of(search, pieces, text, calibration, {.top = top});
  }
};

}  // namespace

TEST_SUITE("reader_span") {
  TEST_CASE("the best spans over windows are those of a search through all of them") {
    nn::Random random(11);
    for (int round = 0; round < 300; ++round) {
      const Case c = random_case(random);
      const std::size_t longest = 1 + random.below(6), kept = 1 + random.below(12);
      SpanSearch search({.longest = longest, .kept = kept});
      search.reset(c.edges, c.windows);
      for (std::size_t w = c.windows.size(); w-- > 0;) search.add(w, c.start[w], c.end[w], c.null[w]);
      const std::vector<PieceSpan> all = all_spans(c, longest);
      const std::vector<PieceSpan>& found = search.spans();
      REQUIRE(found.size() == std::min(kept, all.size()));
      double total = 0;
      for (const PieceSpan& span : all) total += std::exp(static_cast<double>(span.score));
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].begin == all[i].begin);
        CHECK(found[i].end == all[i].end);
        CHECK(found[i].score == all[i].score);
      }
      if (!all.empty()) CHECK(search.log_total() == doctest::Approx(std::log(total)));
      CHECK(search.null_score() == *std::min_element(c.null.begin(), c.null.end()));
    }
  }

  TEST_CASE("scores that are not numbers win nothing, and misuse is a programmer error") {
    OneLetters letters("abc");
    SpanSearch search;
    const Window windows[] = {{0, 3}};
    search.reset(letters.edges, windows);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> start = {nan, 1, 0}, end = {0, nan, 2};
    search.add(0, start, end, 0);
    REQUIRE(!search.spans().empty());
    CHECK(search.spans()[0].begin == 1);
    CHECK(search.spans()[0].end == 3);
    CHECK_THROWS_AS(search.add(0, std::vector<float>{1}, end, 0), std::logic_error);
    const Window outside[] = {{0, 4}};
    CHECK_THROWS_AS(search.reset(letters.edges, outside), std::logic_error);
  }

  TEST_CASE("several answers do not overlap, and none says what another said") {
    OneLetters letters("abXYab😀");
    const ReadCalibration calibration{.offset = 0.5, .by_null = 0.25, .by_rivals = 2, .null_threshold = -1};
    const Reading reading = letters.read({{0, 2}, {4, 6}, {6, 7}, {2, 3}}, 3, calibration, 3);
    REQUIRE(reading.spans.size() == 3);
    CHECK(reading.spans[0].begin == 0);
    CHECK(reading.spans[0].end == 2);
    CHECK(reading.spans[1].begin == 6);  // "ab" stands there twice
    CHECK(reading.spans[1].end == 7);
    CHECK(reading.spans[2].begin == 2);
    CHECK(reading.null_odds == doctest::Approx(3 - 10));
    CHECK(reading.answered);
    const ReadSpan& best = reading.spans[0];
    CHECK(best.confidence == doctest::Approx(1 / (1 + std::exp(-(0.5 + 0.25 * 7 + 2 * best.log_share)))));
    CHECK(best.log_share < 0);
    CHECK(!letters.read({{0, 2}}, 9.5F, calibration, 1).answered);
    OneLetters nothing("");
    const Reading empty = nothing.read({}, 0, calibration, 3);
    CHECK(empty.spans.empty());
    CHECK(!empty.answered);
    CHECK(std::isinf(empty.null_odds));
  }

  TEST_CASE(
      "confidence is fitted: the likelihood has no slope left, and examples that are told apart stay "
      "finite") {
    nn::Random random(5);
    std::vector<CalibrationExample> examples;
    for (int i = 0; i < 4000; ++i) {
      CalibrationExample example{random.uniform(-6, 6), random.uniform(-3, 0), false};
      example.right =
          random.uniform() < 1 / (1 + std::exp(-(0.7 + 0.8 * example.over_null + 1.5 * example.log_share)));
      examples.push_back(example);
    }
    const ReadCalibration fitted = calibrated(examples, {.null_threshold = 4});
    CHECK(fitted.offset == doctest::Approx(0.7).epsilon(0.25));
    CHECK(fitted.by_null == doctest::Approx(0.8).epsilon(0.1));
    CHECK(fitted.by_rivals == doctest::Approx(1.5).epsilon(0.1));
    CHECK(fitted.null_threshold == 4);
    double slope[3] = {};
    for (const CalibrationExample& e : examples) {
      const double p =
          1 /
          (1 + std::exp(-(fitted.offset + fitted.by_null * e.over_null + fitted.by_rivals * e.log_share)));
      slope[0] += p - e.right;
      slope[1] += (p - e.right) * e.over_null;
      slope[2] += (p - e.right) * e.log_share;
    }
    for (const double s : slope) CHECK(std::abs(s) < 0.01);
    for (const bool right : {false, true}) {
      const ReadCalibration all = calibrated({{1, -1, right}, {2, -2, right}, {-3, -0.5, right}});
      CHECK(std::isfinite(all.offset));
      CHECK(std::isfinite(all.by_null));
    }
    CHECK(calibrated({}, {.offset = 3}).offset == 3);
  }

  TEST_CASE("the sentence around a span, in both languages") {
    const auto around = [](const std::string& text, std::size_t begin, std::size_t end) {
      const SentencePlace place = sentence_around(text, begin, end);
      const base::OffsetMap offsets(text);
      return text.substr(offsets.byte(place.begin), offsets.byte(place.end) - offsets.byte(place.begin));
    };
    const std::string english = "  First one here. The second has Köln in it!  Third?";
    CHECK(around(english, 33, 37) == "The second has Köln in it!");
    CHECK(around(english, 2, 7) == "First one here.");
    CHECK(around(english, 46, 52) == "Third?");
    CHECK(around(english, 8, 25) == "First one here. The second has Köln in it!");
    CHECK(around("他生于北京。后来住在上海！", 6, 10) == "后来住在上海！");
    CHECK(around("😀", 0, 1) == "😀");
    CHECK(around("", 0, 0).empty());
  }

  TEST_CASE("of too many windows those that share most with the question are read") {
    Pieces question, context;
    question.ids = {7, 8};
    context.ids.assign(100, 1);
    context.ids[55] = 7;
    context.ids[56] = 8;
    context.ids[5] = 8;
    std::vector<Window> windows;
    for (std::size_t i = 0; i < 10; ++i) windows.push_back({10 * i, 10 * i + 10});
    CHECK(chosen_windows(question, context, windows, 10) == windows);
    const std::vector<Window> two = chosen_windows(question, context, windows, 2);
    CHECK(two == std::vector<Window>{{0, 10}, {50, 60}});
    CHECK(chosen_windows(question, context, windows, 1) == std::vector<Window>{{50, 60}});
  }

  TEST_CASE("a reader's settings are read back, and nonsense is named") {
    BertReaderConfig config;
    config.windows.max_length = 200;
    config.calibration.null_threshold = -1.25;
    const auto back = BertReaderConfig::parse(config.json(), "c");
    REQUIRE(back);
    CHECK(back->windows.max_length == 200);
    CHECK(back->calibration.null_threshold == -1.25);
    CHECK(BertReaderConfig::parse("{}", "c")->windows.max_length == 384);
    for (const char* wrong : {R"({"reader":3})", R"({"reader":{"stride":0}})", R"({"reader":{"offset":"x"}})",
                              R"({"reader":{"max_length":-4}})", R"({"reader":{"longest_answer":1e9}})"}) {
      INFO(wrong);
      const auto result = BertReaderConfig::parse(wrong, "c");
      REQUIRE(!result);
      CHECK(result.error().code == base::ErrorCode::corrupt);
    }
  }
}

}  // namespace askbase::reader
