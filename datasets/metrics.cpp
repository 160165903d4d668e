#include "datasets/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "datasets/bootstrap.h"

namespace askbase::datasets {

namespace {

constexpr std::size_t calibration_bins = 10;

std::size_t bin_of(double confidence, std::size_t bins) {
  const double scaled = std::clamp(confidence, 0.0, 1.0) * static_cast<double>(bins);
  return std::min(static_cast<std::size_t>(scaled), bins - 1);
}

using Values = std::array<std::optional<double>, metric_count>;

// All metrics of a resample, given how often each outcome was drawn. `order` lists the answered outcomes by
// rising confidence, so that the area under the curve costs one pass.
Values weigh(const std::vector<Outcome>& outcomes, const std::vector<std::size_t>& order,
             const std::vector<std::uint32_t>& weights) {
  double total = 0, right = 0, precision = 0, recall = 0, f1 = 0, answered = 0, wrong = 0;
  double reasons = 0, reasons_right = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const double weight = weights[i];
    const Outcome& outcome = outcomes[i];
    total += weight;
    right += weight * (outcome.right ? 1 : 0);
    precision += weight * outcome.precision;
    recall += weight * outcome.recall;
    f1 += weight * outcome.f1;
    answered += weight * (outcome.answered ? 1 : 0);
    wrong += weight * (outcome.answered && !outcome.right ? 1 : 0);
    reasons += weight * (outcome.reason_stated ? 1 : 0);
    reasons_right += weight * (outcome.reason_right ? 1 : 0);
  }
  Values values;
  const auto set = [&](Metric metric, double sum, double over) {
    if (over > 0) values[static_cast<std::size_t>(metric)] = sum / over;
  };
  set(Metric::hits_at_1, right, total);
  set(Metric::precision, precision, total);
  set(Metric::recall, recall, total);
  set(Metric::f1, f1, total);
  set(Metric::answered, answered, total);
  set(Metric::wrong, wrong, total);
  set(Metric::declined, total - answered, total);
  set(Metric::reason_accuracy, reasons_right, reasons);

  std::array<double, calibration_bins> bin_confidence{}, bin_right{};
  double squares = 0, positives = 0, negatives = 0, area = 0;
  for (std::size_t i = 0; i < order.size();) {
    // Outcomes of one confidence stand together: a right one beats the wrong ones below it, and half of
    // those beside it.
    const double confidence = outcomes[order[i]].confidence;
    double tied_positives = 0, tied_negatives = 0;
    for (; i < order.size() && outcomes[order[i]].confidence == confidence; ++i) {
      (outcomes[order[i]].right ? tied_positives : tied_negatives) += weights[order[i]];
    }
    area += tied_positives * (negatives + tied_negatives / 2);
    positives += tied_positives;
    negatives += tied_negatives;
    const std::size_t bin = bin_of(confidence, calibration_bins);
    bin_confidence[bin] += (tied_positives + tied_negatives) * confidence;
    bin_right[bin] += tied_positives;
    squares +=
        tied_positives * (1 - confidence) * (1 - confidence) + tied_negatives * confidence * confidence;
  }
  double gap = 0;
  for (std::size_t bin = 0; bin < calibration_bins; ++bin)
    gap += std::abs(bin_confidence[bin] - bin_right[bin]);
  set(Metric::ece, gap, answered);
  set(Metric::auroc, area, positives * negatives);
  set(Metric::brier, squares, answered);
  return values;
}

std::vector<std::size_t> by_confidence(const std::vector<Outcome>& outcomes) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].answered) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return outcomes[a].confidence < outcomes[b].confidence;
  });
  return order;
}

void draw(BootstrapRandom& random, std::vector<std::uint32_t>& weights) {
  std::fill(weights.begin(), weights.end(), 0);
  for (std::size_t i = 0; i < weights.size(); ++i) ++weights[random.below(weights.size())];
}

// The stage that lost a question, empty when it was answered rightly.
std::string lost_at(const Record& record) {
  const Outcome& outcome = record.outcome;
  if (outcome.right) return {};
  if (!outcome.answerable) return "deciding to decline: answered a question without an answer";
  if (outcome.answered) {
    if (outcome.rank > 1) return "ranking: the right answer stood lower";
    if (outcome.f1 > 0) return "answer set: some members right, some not";
    return "interpretation: answered something else";
  }
  const std::string& reason = record.prediction.reason;
  if (reason == "entity_unknown" || reason == "ambiguous") return "entity linking: " + reason;
  if (reason == "relation_unmatched") return "relation matching: " + reason;
  if (reason == "fact_missing") return "fact lookup: " + reason;
  if (reason == "unsupported_question") return "question analysis: " + reason;
  if (reason == "low_confidence") return "deciding to answer: " + reason;
  return "other: " + reason;
}

}  // namespace

std::string_view metric_name(Metric metric) {
  constexpr std::array<std::string_view, metric_count> names = {
      "hits_at_1", "precision",       "recall", "f1",    "answered", "wrong",
      "declined",  "reason_accuracy", "ece",    "auroc", "brier"};
  return names[static_cast<std::size_t>(metric)];
}

Metrics compute_metrics(const std::vector<Outcome>& outcomes, const BootstrapOptions& options) {
  Metrics metrics;
  metrics.questions = outcomes.size();
  if (outcomes.empty()) return metrics;
  const std::vector<std::size_t> order = by_confidence(outcomes);
  std::vector<std::uint32_t> weights(outcomes.size(), 1);
  const Values values = weigh(outcomes, order, weights);
  std::array<std::vector<double>, metric_count> drawn;
  BootstrapRandom random(options.seed);
  for (std::size_t i = 0; i < options.resamples; ++i) {
    draw(random, weights);
    const Values resample = weigh(outcomes, order, weights);
    for (std::size_t m = 0; m < metric_count; ++m) {
      if (resample[m]) drawn[m].push_back(*resample[m]);  // a resample may lack, say, every wrong answer
    }
  }
  for (std::size_t m = 0; m < metric_count; ++m) {
    metrics.figures[m].value = values[m];
    if (values[m] && !drawn[m].empty()) metrics.figures[m].interval = interval_of(drawn[m]);
  }
  return metrics;
}

Evaluation evaluate(const std::vector<Record>& records, const BootstrapOptions& options) {
  std::vector<Outcome> all;
  std::map<std::string, std::vector<Outcome>> by_lang, by_kind;
  for (const Record& record : records) {
    all.push_back(record.outcome);
    by_lang[record.question.lang].push_back(record.outcome);
    if (!record.question.kind.empty()) by_kind[record.question.kind].push_back(record.outcome);
  }
  Evaluation evaluation;
  evaluation.all = compute_metrics(all, options);
  for (const auto& [lang, outcomes] : by_lang) evaluation.by_lang[lang] = compute_metrics(outcomes, options);
  for (const auto& [kind, outcomes] : by_kind) evaluation.by_kind[kind] = compute_metrics(outcomes, options);
  return evaluation;
}

std::vector<ReliabilityBin> reliability(const std::vector<Outcome>& outcomes, std::size_t bins) {
  std::vector<ReliabilityBin> out(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    out[i].low = static_cast<double>(i) / static_cast<double>(bins);
    out[i].high = static_cast<double>(i + 1) / static_cast<double>(bins);
  }
  for (const Outcome& outcome : outcomes) {
    if (!outcome.answered) continue;
    ReliabilityBin& bin = out[bin_of(outcome.confidence, bins)];
    ++bin.questions;
    bin.confidence += outcome.confidence;
    bin.right += outcome.right ? 1 : 0;
  }
  for (ReliabilityBin& bin : out) {
    if (bin.questions == 0) continue;
    bin.confidence /= static_cast<double>(bin.questions);
    bin.right /= static_cast<double>(bin.questions);
  }
  return out;
}

std::vector<RiskPoint> risk_coverage(const std::vector<Outcome>& outcomes) {
  std::vector<std::size_t> order = by_confidence(outcomes);
  std::reverse(order.begin(), order.end());
  std::vector<RiskPoint> points;
  double answered = 0, wrong = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Outcome& outcome = outcomes[order[i]];
    ++answered;
    wrong += outcome.right ? 0 : 1;
    if (i + 1 < order.size() && outcomes[order[i + 1]].confidence == outcome.confidence) continue;
    points.push_back({.confidence = outcome.confidence,
                      .coverage = answered / static_cast<double>(outcomes.size()),
                      .risk = wrong / answered});
  }
  return points;
}

std::vector<StageErrors> errors_by_stage(const std::vector<Record>& records) {
  std::map<std::string, std::uint64_t> counts;
  for (const Record& record : records) {
    if (const std::string stage = lost_at(record); !stage.empty()) ++counts[stage];
  }
  std::vector<StageErrors> out;
  out.reserve(counts.size());
  for (const auto& [stage, count] : counts) out.push_back({.stage = stage, .questions = count});
  std::stable_sort(out.begin(), out.end(),
                   [](const StageErrors& a, const StageErrors& b) { return a.questions > b.questions; });
  return out;
}

base::Result<Comparison> compare(const std::vector<Record>& a, const std::vector<Record>& b,
                                 const BootstrapOptions& options) {
  std::map<std::string, const Outcome*> in_b;
  for (const Record& record : b) in_b[record.question.id] = &record.outcome;
  Comparison comparison;
  std::vector<Outcome> of_a, of_b;
  for (const Record& record : a) {
    const auto found = in_b.find(record.question.id);
    if (found == in_b.end()) {
      ++comparison.only_in_a;
      continue;
    }
    of_a.push_back(record.outcome);
    of_b.push_back(*found->second);
    if (of_a.back().right && !of_b.back().right) ++comparison.only_a_right;
    if (!of_a.back().right && of_b.back().right) ++comparison.only_b_right;
  }
  if (of_a.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "the two files have no question in common",
                      "compare predictions that `eval kbqa --out` wrote for the same questions");
  }
  comparison.questions = of_a.size();
  comparison.only_in_b = in_b.size() - of_a.size();

  constexpr std::array<Metric, 4> compared = {Metric::hits_at_1, Metric::f1, Metric::wrong, Metric::declined};
  const auto order_a = by_confidence(of_a), order_b = by_confidence(of_b);
  std::vector<std::uint32_t> weights(of_a.size(), 1);
  const Values first_a = weigh(of_a, order_a, weights), first_b = weigh(of_b, order_b, weights);
  std::array<std::vector<double>, compared.size()> differences;
  BootstrapRandom random(options.seed);
  for (std::size_t i = 0; i < options.resamples; ++i) {
    draw(random, weights);
    const Values drawn_a = weigh(of_a, order_a, weights), drawn_b = weigh(of_b, order_b, weights);
    for (std::size_t m = 0; m < compared.size(); ++m) {
      const auto at = static_cast<std::size_t>(compared[m]);
      differences[m].push_back(*drawn_b[at] - *drawn_a[at]);
    }
  }
  for (std::size_t m = 0; m < compared.size(); ++m) {
    const auto at = static_cast<std::size_t>(compared[m]);
    Comparison::Row row;
    row.metric = compared[m];
    row.a = *first_a[at];
    row.b = *first_b[at];
    row.difference = row.b - row.a;
    if (!differences[m].empty()) {
      row.interval = interval_of(differences[m]);
      const auto not_above = std::count_if(differences[m].begin(), differences[m].end(),
                                           [](double difference) { return difference <= 0; });
      const auto not_below = std::count_if(differences[m].begin(), differences[m].end(),
                                           [](double difference) { return difference >= 0; });
      const double share =
          static_cast<double>(std::min(not_above, not_below)) / static_cast<double>(differences[m].size());
      row.p_value = std::min(1.0, 2 * share);
    }
    comparison.rows.push_back(row);
  }
  return comparison;
}

}  // namespace askbase::datasets
