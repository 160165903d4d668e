// Figures over judged questions, each with a 95 % bootstrap interval. All functions are thread-safe.
//
// Shares over all questions: hits_at_1 (right), answered, wrong (answered and not right), declined;
// means over all questions: precision, recall, f1 (macro, over answer sets).
// Over questions whose gold states a reason: reason_accuracy (declined for that very reason).
// Over answered questions, comparing confidence with being right: ece (expected calibration error, 10 bins of
// equal width; Naeini et al. 2015), auroc (area under the ROC curve, ties counted half), brier (mean squared
// difference). A figure over no questions has no value.
//
// Intervals: percentile bootstrap (Efron 1979) over questions, drawn with replacement by SplitMix64, so that
// a seed gives the same interval on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "datasets/judge.h"

namespace askbase::datasets {

struct Interval {
  double low = 0, high = 0;
};

struct Figure {
  std::optional<double> value;
  std::optional<Interval> interval;
};

enum class Metric : std::uint8_t {
  hits_at_1,
  precision,
  recall,
  f1,
  answered,
  wrong,
  declined,
  reason_accuracy,
  ece,
  auroc,
  brier,
  count_
};
inline constexpr std::size_t metric_count = static_cast<std::size_t>(Metric::count_);
std::string_view metric_name(Metric metric);  // "hits_at_1", ...: the keys of the JSON

struct Metrics {
  std::uint64_t questions = 0;
  std::array<Figure, metric_count> figures;
  const Figure& operator[](Metric metric) const { return figures[static_cast<std::size_t>(metric)]; }
};

struct BootstrapOptions {
  std::size_t resamples = 1000;  // 0: no intervals
  std::uint64_t seed = 20240229;
};

Metrics compute_metrics(const std::vector<Outcome>& outcomes, const BootstrapOptions& options = {});

// Mean of one value a question (0 or 1 for a share), with its interval; no value over no questions.
Figure mean_figure(const std::vector<double>& values, const BootstrapOptions& options = {});

struct Evaluation {
  Metrics all;
  std::map<std::string, Metrics> by_lang, by_kind;
};
Evaluation evaluate(const std::vector<Record>& records, const BootstrapOptions& options = {});

// Reliability: answered questions by confidence, in bins of equal width over [0, 1].
struct ReliabilityBin {
  double low = 0, high = 0;
  std::uint64_t questions = 0;
  double confidence = 0, right = 0;  // means; 0 in an empty bin
};
std::vector<ReliabilityBin> reliability(const std::vector<Outcome>& outcomes, std::size_t bins = 10);

// Risk against coverage (El-Yaniv & Wiener 2010): answering only above a confidence, the share of all
// questions answered and the share of those answers that is wrong. One point a distinct confidence.
struct RiskPoint {
  double confidence = 0, coverage = 0, risk = 0;
};
std::vector<RiskPoint> risk_coverage(const std::vector<Outcome>& outcomes);

// Where questions were lost: a stage of answering and how many.
struct StageErrors {
  std::string stage;
  std::uint64_t questions = 0;
};
std::vector<StageErrors> errors_by_stage(const std::vector<Record>& records);

// Two systems on the same questions, by paired bootstrap (Koehn 2004): differences are B minus A.
struct Comparison {
  struct Row {
    Metric metric = Metric::hits_at_1;
    double a = 0, b = 0, difference = 0;
    Interval interval;   // of the difference
    double p_value = 1;  // two-sided: how often resamples lie on the other side of zero
  };
  std::uint64_t questions = 0;                 // in both
  std::uint64_t only_in_a = 0, only_in_b = 0;  // left out
  std::uint64_t only_a_right = 0, only_b_right = 0;
  std::vector<Row> rows;  // hits_at_1, f1, wrong, declined
};
// Questions are paired by id. Error invalid_argument when no id stands in both.
base::Result<Comparison> compare(const std::vector<Record>& a, const std::vector<Record>& b,
                                 const BootstrapOptions& options = {});

}  // namespace askbase::datasets
