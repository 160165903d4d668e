// Figures, intervals and comparisons against values computed by tests/golden/kbqa_metrics.py, and by hand.
#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "datasets/metrics.h"
#include "datasets/report.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::datasets;

namespace {

const base::Json& golden() {
  static const base::Json value = [] {
    const auto text = base::read_file(test::source_folder() / "tests/golden/kbqa_metrics.json");
    return base::parse_json(text.value()).value();
  }();
  return value;
}

std::vector<Outcome> outcomes_of(const char* key) {
  std::vector<Outcome> outcomes;
  for (const base::Json& row : golden().at(key)) {
    Outcome outcome;
    outcome.answerable = row.at("answerable");
    outcome.answered = row.at("answered");
    outcome.right = row.at("right");
    outcome.precision = row.at("precision");
    outcome.recall = row.at("recall");
    outcome.f1 = row.at("f1");
    outcome.confidence = row.at("confidence");
    outcome.reason_stated = row.at("reason_stated");
    outcome.reason_right = row.at("reason_right");
    outcomes.push_back(outcome);
  }
  return outcomes;
}

std::vector<Record> records_of(const std::vector<Outcome>& outcomes) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    Record record;
    record.question.id = "q" + std::to_string(i);
    record.question.lang = i % 3 == 0 ? "zh" : "en";
    record.question.kind = i % 2 == 0 ? "single" : "list";
    record.outcome = outcomes[i];
    records.push_back(record);
  }
  return records;
}

BootstrapOptions golden_options() {
  return {.resamples = golden().at("resamples"), .seed = golden().at("seed")};
}

Outcome outcome(bool right, double confidence) {
  Outcome out;
  out.answerable = out.answered = true;
  out.right = right;
  out.confidence = confidence;
  return out;
}

}  // namespace

TEST_CASE("every figure and interval is that of the independent program") {
  const Metrics metrics = compute_metrics(outcomes_of("rows"), golden_options());
  CHECK(metrics.questions == golden().at("rows").size());
  for (std::size_t m = 0; m < metric_count; ++m) {
    const auto metric = static_cast<Metric>(m);
    const std::string name(metric_name(metric));
    CAPTURE(name);
    REQUIRE(metrics[metric].value);
    CHECK(*metrics[metric].value ==
          doctest::Approx(golden().at("figures").at(name).get<double>()).epsilon(1e-12));
    REQUIRE(metrics[metric].interval);
    CHECK(metrics[metric].interval->low ==
          doctest::Approx(golden().at("intervals").at(name)[0].get<double>()).epsilon(1e-9));
    CHECK(metrics[metric].interval->high ==
          doctest::Approx(golden().at("intervals").at(name)[1].get<double>()).epsilon(1e-9));
  }
}

TEST_CASE("a comparison is that of the independent program, and pairs by id") {
  std::vector<Record> a = records_of(outcomes_of("rows")), b = records_of(outcomes_of("other"));
  std::swap(b.front(), b.back());  // the order of B does not matter
  Record extra;
  extra.question.id = "only in b";
  b.push_back(extra);
  const auto comparison = compare(a, b, golden_options());
  REQUIRE(comparison);
  CHECK(comparison->questions == a.size());
  CHECK(comparison->only_in_a == 0);
  CHECK(comparison->only_in_b == 1);
  REQUIRE(comparison->rows.size() == 4);
  for (const auto& row : comparison->rows) {
    const std::string name(metric_name(row.metric));
    CAPTURE(name);
    const base::Json& wanted = golden().at("differences").at(name);
    CHECK(row.interval.low == doctest::Approx(wanted.at("interval")[0].get<double>()).epsilon(1e-9));
    CHECK(row.interval.high == doctest::Approx(wanted.at("interval")[1].get<double>()).epsilon(1e-9));
    CHECK(row.p_value == doctest::Approx(wanted.at("p").get<double>()));
    CHECK(row.difference == doctest::Approx(row.b - row.a));
  }
  CHECK_FALSE(compare(a, {extra}));
}

TEST_CASE("a system compared with itself does not differ") {
  const auto records = records_of(outcomes_of("rows"));
  const auto comparison = compare(records, records, golden_options());
  REQUIRE(comparison);
  for (const auto& row : comparison->rows) {
    CHECK(row.difference == 0);
    CHECK(row.interval.low == 0);
    CHECK(row.interval.high == 0);
    CHECK(row.p_value == 1);
  }
  CHECK(comparison->only_a_right == 0);
  CHECK(comparison->only_b_right == 0);
}

TEST_CASE("figures over no questions have no value") {
  const Metrics none = compute_metrics({});
  CHECK(none.questions == 0);
  CHECK_FALSE(none[Metric::hits_at_1].value);
  Outcome declined;
  const Metrics metrics = compute_metrics({declined});
  CHECK(*metrics[Metric::declined].value == 1);
  CHECK_FALSE(metrics[Metric::ece].value);
  CHECK_FALSE(metrics[Metric::ece].interval);
  CHECK_FALSE(metrics[Metric::auroc].value);
  CHECK_FALSE(metrics[Metric::reason_accuracy].value);
}

TEST_CASE("calibration by hand") {
  // Bin 0.9-1.0 holds 0.9, 1.0 and 1.0 (two right of three), bin 0.2-0.3 holds 0.2 (right).
  const std::vector<Outcome> outcomes = {outcome(true, 1.0), outcome(false, 0.9), outcome(true, 1.0),
                                         outcome(true, 0.2)};
  const Metrics metrics = compute_metrics(outcomes, {.resamples = 0, .seed = 1});
  const double high = std::abs((1.0 + 0.9 + 1.0) / 3 - 2.0 / 3), low = std::abs(0.2 - 1.0);
  CHECK(*metrics[Metric::ece].value == doctest::Approx(0.75 * high + 0.25 * low));
  CHECK(*metrics[Metric::brier].value == doctest::Approx((0 + 0.81 + 0 + 0.64) / 4));
  CHECK(*metrics[Metric::auroc].value == doctest::Approx(2.0 / 3));
  CHECK_FALSE(metrics[Metric::ece].interval);

  const auto bins = reliability(outcomes);
  REQUIRE(bins.size() == 10);
  CHECK(bins[9].questions == 3);
  CHECK(bins[9].right == doctest::Approx(2.0 / 3));
  CHECK(bins[2].confidence == doctest::Approx(0.2));
  CHECK(bins[5].questions == 0);

  std::vector<Outcome> with_declined = outcomes;
  with_declined.emplace_back();
  const auto points = risk_coverage(with_declined);
  REQUIRE(points.size() == 3);  // confidences 1.0, 0.9, 0.2
  CHECK(points[0].coverage == doctest::Approx(0.4));
  CHECK(points[0].risk == doctest::Approx(0));
  CHECK(points[1].risk == doctest::Approx(1.0 / 3));
  CHECK(points[2].coverage == doctest::Approx(0.8));
  CHECK(points[2].risk == doctest::Approx(0.25));
}

TEST_CASE("a seed gives the same interval every time, and another seed another") {
  const auto outcomes = outcomes_of("rows");
  const auto a = compute_metrics(outcomes), b = compute_metrics(outcomes);
  CHECK(a[Metric::f1].interval->low == b[Metric::f1].interval->low);
  const auto c = compute_metrics(outcomes, {.resamples = 1000, .seed = 5});
  CHECK(a[Metric::f1].interval->low != c[Metric::f1].interval->low);
  CHECK(a[Metric::f1].value == c[Metric::f1].value);
}

TEST_CASE("groups by language and kind add up to the whole") {
  const auto records = records_of(outcomes_of("rows"));
  const Evaluation evaluation = evaluate(records, {.resamples = 0, .seed = 1});
  CHECK(evaluation.by_lang.size() == 2);
  CHECK(evaluation.by_kind.size() == 2);
  const auto whole = static_cast<double>(evaluation.all.questions);
  double right = 0;
  for (const auto& [lang, metrics] : evaluation.by_lang) {
    right += *metrics[Metric::hits_at_1].value * static_cast<double>(metrics.questions);
  }
  CHECK(right == doctest::Approx(*evaluation.all[Metric::hits_at_1].value * whole));
}

TEST_CASE("errors are counted at the stage that lost them, every one once") {
  const auto record = [](bool answerable, bool answered, std::uint32_t rank, double f1, const char* reason) {
    Record out;
    out.outcome.answerable = answerable;
    out.outcome.answered = answered;
    out.outcome.rank = rank;
    out.outcome.right = rank == 1 || (!answerable && !answered);
    out.outcome.f1 = f1;
    out.prediction.reason = reason;
    return out;
  };
  const auto errors = errors_by_stage(
      {record(true, true, 1, 1, ""), record(false, false, 0, 1, "fact_missing"), record(true, true, 2, 0, ""),
       record(true, true, 0, 0.5, ""), record(true, true, 0, 0, ""), record(true, true, 0, 0, ""),
       record(true, false, 0, 0, "entity_unknown"), record(true, false, 0, 0, "relation_unmatched"),
       record(true, false, 0, 0, "low_confidence"), record(true, false, 0, 0, "timeout"),
       record(false, true, 0, 0, "")});
  std::uint64_t total = 0;
  for (const StageErrors& error : errors) total += error.questions;
  CHECK(total == 9);
  CHECK(errors.front().questions == 2);
  CHECK(errors.front().stage == "interpretation: answered something else");
}

TEST_CASE("the report is one page without outside parts, and shows no question") {
  std::vector<Record> records = records_of(outcomes_of("rows"));
  for (Record& record : records) record.question.question = "SECRET";
  records.front().question.kind = "<script>alert(1)</script>";
  const Evaluation evaluation = evaluate(records, {.resamples = 50, .seed = 1});
  ReportInput input;
  input.title = "a <title> & more";
  input.notes = {"a note"};
  input.evaluation = &evaluation;
  input.records = &records;
  input.baseline_hits_at_1.value = 0.5;
  const std::string html = report_html(input);
  CHECK(html.find("SECRET") == std::string::npos);
  CHECK(html.find("<script") == std::string::npos);
  CHECK(html.find("&lt;script&gt;") != std::string::npos);
  CHECK(html.find("a &lt;title&gt; &amp; more") != std::string::npos);
  CHECK(html.find("http") == std::string::npos);
  CHECK(html.find("src=") == std::string::npos);
  CHECK(html.find("baseline_hits_at_1") != std::string::npos);
  std::size_t curves = 0;
  for (std::size_t at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1)) ++curves;
  CHECK(curves == 2);
}
