// Single-fact questions judged stage by stage; naive Bayes.
#include <cmath>
#include <doctest/doctest.h>

#include "datasets/naive_bayes.h"
#include "datasets/simple_questions.h"

using namespace askbase::datasets;  // NOLINT(google-build-using-namespace)

namespace {

KbQuestion gold() {
  KbQuestion question;
  question.question = "Where was Ann Lee born?";
  question.mention = "ann lee";
  question.topics = {"e:1", "e:2"};
  question.path = {{"p:born", false}};
  question.answers = {"e:9"};
  return question;
}

SimplePrediction right() {
  SimplePrediction prediction;
  prediction.subject = "e:2";
  prediction.path = {{"p:born", false}};
  prediction.mention = "Ann Lee";
  prediction.entities = {"e:5", "e:2"};
  prediction.object = prediction.topic_named = prediction.answered = true;
  prediction.confidence = 0.9;
  return prediction;
}

}  // namespace

TEST_CASE("a prediction is judged by subject, path with direction, object, mention and rank") {
  SimpleVerdict verdict = judge_simple(gold(), right());
  CHECK(verdict.both);
  CHECK(verdict.object);
  REQUIRE(verdict.mention);
  CHECK(*verdict.mention);
  CHECK(verdict.rank == 2);
  CHECK(verdict.stage == SimpleStage::none);

  SimplePrediction back = right();
  back.path[0].inverse = true;
  verdict = judge_simple(gold(), back);
  CHECK(verdict.subject);
  CHECK_FALSE(verdict.relation);
  CHECK_FALSE(verdict.both);
  CHECK(verdict.stage == SimpleStage::relation);

  // A mention that does not stand in the question is not measured.
  KbQuestion elsewhere = gold();
  elsewhere.mention = "ann lee / ann lee city";
  CHECK_FALSE(judge_simple(elsewhere, right()).mention.has_value());
  elsewhere.mention.clear();
  CHECK_FALSE(judge_simple(elsewhere, right()).mention.has_value());
  // Nothing found at all.
  const SimpleVerdict none = judge_simple(gold(), {});
  CHECK_FALSE(none.subject);
  CHECK(none.rank == 0);
}

TEST_CASE("each lost question is laid to one stage") {
  SimplePrediction prediction = right();
  prediction.subject = "e:5";
  CHECK(judge_simple(gold(), prediction).stage == SimpleStage::linking);
  prediction.mention = "Lee";
  CHECK(judge_simple(gold(), prediction).stage == SimpleStage::mention);
  prediction.entities = {"e:5"};
  CHECK(judge_simple(gold(), prediction).stage ==
        SimpleStage::linking);  // named, and not among the candidates
  prediction.topic_named = false;
  CHECK(judge_simple(gold(), prediction).stage == SimpleStage::mention);
  prediction.fact_there = false;
  CHECK(judge_simple(gold(), prediction).stage == SimpleStage::fact_missing);
  CHECK(simple_stage_name(SimpleStage::fact_missing) == "fact_missing");
  // A right answer is not lost, whatever the KB says of its fact.
  SimplePrediction fine = right();
  fine.fact_there = false;
  CHECK(judge_simple(gold(), fine).stage == SimpleStage::none);
}

TEST_CASE("figures are shares of what they are about") {
  std::vector<SimpleVerdict> verdicts;
  for (int i = 0; i < 100; ++i) {
    SimpleVerdict verdict;
    verdict.both = verdict.subject = i < 80;
    verdict.object = i < 85;
    if (i < 50) verdict.mention = i < 40;
    verdict.rank = i < 60 ? 1 : i < 70 ? 10 : i < 75 ? 11 : i < 80 ? 50 : i < 85 ? 51 : 0;
    verdict.answered = i < 90;
    verdict.confidence = i < 85 ? 0.9 : 0.2;
    verdict.stage = verdict.both ? SimpleStage::none : i < 95 ? SimpleStage::relation : SimpleStage::mention;
    verdicts.push_back(verdict);
  }
  const SimpleFigures figures = simple_figures(verdicts);
  CHECK(figures.questions == 100);
  CHECK(*figures.subject_relation.value == doctest::Approx(0.80));
  CHECK(*figures.object.value == doctest::Approx(0.85));
  CHECK(*figures.mention_exact.value == doctest::Approx(0.8));
  CHECK(*figures.recall_at_1.value == doctest::Approx(0.6));
  CHECK(*figures.recall_at_10.value == doctest::Approx(0.7));
  CHECK(*figures.recall_at_50.value == doctest::Approx(0.8));
  CHECK(*figures.answered.value == doctest::Approx(0.9));
  CHECK(*figures.auroc.value == doctest::Approx(1));
  REQUIRE(figures.errors.size() == 2);
  CHECK(figures.errors[0].stage == "mention");
  CHECK(figures.errors[0].questions == 5);
  CHECK(figures.errors[1].questions == 15);
  REQUIRE(figures.subject_relation.interval);
  CHECK(figures.subject_relation.interval->low < 0.8);
  CHECK(figures.ece.interval->low <= *figures.ece.value);

  const SimpleFigures empty = simple_figures({});
  CHECK_FALSE(empty.object.value.has_value());
  CHECK_FALSE(empty.auroc.value.has_value());
  CHECK_FALSE(empty.ece.value.has_value());
}

TEST_CASE("calibration error over bins of equal mass, by hand") {
  CHECK(equal_mass_ece({}, {}, 15) == 0);
  // Two bins: (0.1, 0.3 | 0 right of 2), (0.6, 0.8 | 2 right of 2).
  CHECK(equal_mass_ece({0.8, 0.1, 0.6, 0.3}, {1, 0, 1, 0}, 2) == doctest::Approx((0.4 + 0.6) / 4));
  // One bin: the overall gap.
  CHECK(equal_mass_ece({0.5, 0.5, 0.5, 0.5}, {1, 0, 1, 0}, 1) == doctest::Approx(0));
  // More bins than questions: each alone.
  CHECK(equal_mass_ece({1.0, 0.0}, {0, 1}, 15) == doctest::Approx(1));
}

TEST_CASE("naive Bayes by hand") {
  const NaiveBayes bayes({{{"a", "b"}, "x"}, {{"a"}, "x"}, {{"c"}, "y"}}, 1.0);
  REQUIRE(bayes.labels() == std::vector<std::string>{"x", "y"});
  CHECK(bayes.place("y") == 1);
  CHECK(bayes.place("z") == 2);
  const std::vector<double> scores = bayes.scores({"a", "never seen"});
  CHECK(scores[0] == doctest::Approx(std::log(2.0 / 3) + std::log(3.0 / 6)));
  CHECK(scores[1] == doctest::Approx(std::log(1.0 / 3) + std::log(1.0 / 4)));
  CHECK(bayes.scores({})[1] == doctest::Approx(std::log(1.0 / 3)));
}
