// Questions read from files, and answers judged against gold.
#include <doctest/doctest.h>
#include <fstream>
#include <string>
#include <vector>

#include "datasets/judge.h"
#include "datasets/questions.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::datasets;

namespace {

std::filesystem::path write_file(const test::ScratchFolder& folder, const std::string& name,
                                 const std::string& text) {
  std::ofstream(folder / name) << text;
  return folder / name;
}

PredictedValue entity(const std::string& id, std::vector<std::string> texts) {
  return {.id = id, .texts = std::move(texts), .boolean = false};
}
PredictedValue literal(const std::string& text) { return {.id = "", .texts = {text}, .boolean = false}; }

Question gold(std::vector<std::string> answers, const std::string& reason = "") {
  Question question;
  question.id = "q";
  question.lang = "en";
  question.question = "?";
  question.answers = std::move(answers);
  question.reason = reason;
  return question;
}

Prediction said(std::vector<std::vector<PredictedValue>> answers, double confidence = 0.5) {
  Prediction prediction;
  prediction.answers = std::move(answers);
  prediction.confidence = confidence;
  return prediction;
}

Prediction declined(const std::string& reason) {
  Prediction prediction;
  prediction.reason = reason;
  return prediction;
}

}  // namespace

TEST_CASE("a question line gives all its fields; other keys are ignored") {
  const auto question = parse_question(
      R"({"id":"a","lang":"zh","question":"法国的首都？","answers":["urn:x:paris",42,1.5,true],)"
      R"("kind":"single","split":"test","reason":null,"topic":["x"],"hops":1})");
  REQUIRE(question);
  CHECK(question->id == "a");
  CHECK(question->lang == "zh");
  CHECK(question->answers == std::vector<std::string>{"urn:x:paris", "42", "1.5", "true"});
  CHECK(question->kind == "single");
  CHECK(question->split == "test");
  CHECK(question->reason.empty());
}

TEST_CASE("the language is told from the text when the line has none") {
  CHECK(parse_question(R"({"question":"法国的首都是哪里","answers":[]})")->lang == "zh");
  CHECK(parse_question(R"({"question":"What is it?","answers":[]})")->lang == "en");
}

TEST_CASE("lines that are no questions are refused") {
  for (const char* line : {"", "[]", "{}", R"({"question":"x"})", R"({"question":" ","answers":[]})",
                           R"({"question":"x","answers":"y"})", R"({"question":"x","answers":[null]})",
                           R"({"question":"x","answers":[["y"]]})", R"({"question":5,"answers":[]})",
                           R"({"question":"x","answers":[],"id":7})", R"({"question":"x","answers":[]} x)"}) {
    CAPTURE(line);
    const auto question = parse_question(line);
    REQUIRE_FALSE(question);
    CHECK(question.error().code == base::ErrorCode::bad_input);
  }
}

TEST_CASE("files are joined, filtered and cut") {
  test::ScratchFolder folder;
  const auto a =
      write_file(folder, "a.jsonl",
                 "{\"id\":\"1\",\"lang\":\"en\",\"question\":\"x\",\"answers\":[],\"split\":\"dev\"}\n\n"
                 "{\"id\":\"2\",\"lang\":\"zh\",\"question\":\"y\",\"answers\":[],\"split\":\"test\"}\r\n");
  const auto b =
      write_file(folder, "b.jsonl", "{\"lang\":\"en\",\"question\":\"z\",\"answers\":[],\"split\":\"dev\"}");
  const auto all = read_questions({a, b}, {});
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  CHECK((*all)[2].id == b.string() + ":1");
  CHECK(read_questions({a, b}, {.split = "dev", .lang = "", .limit = 0})->size() == 2);
  CHECK(read_questions({a, b}, {.split = "", .lang = "zh", .limit = 0})->size() == 1);
  const auto one = read_questions({a, b}, {.split = "dev", .lang = "", .limit = 1});
  REQUIRE(one->size() == 1);
  CHECK(one->front().id == "1");

  const auto none = read_questions({a}, {.split = "train", .lang = "en", .limit = 0});
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("train") != std::string::npos);
}

TEST_CASE("a bad line is named with its file and number, and so is an id that comes twice") {
  test::ScratchFolder folder;
  const auto bad =
      write_file(folder, "bad.jsonl", "{\"id\":\"1\",\"question\":\"x\",\"answers\":[]}\n{\"id\":\n");
  const auto one = read_questions({bad}, {});
  REQUIRE_FALSE(one);
  CHECK(one.error().message.starts_with(bad.string() + ":2: "));
  const auto twice = write_file(folder, "twice.jsonl",
                                "{\"id\":\"1\",\"question\":\"x\",\"answers\":[]}\n"
                                "{\"id\":\"1\",\"question\":\"y\",\"answers\":[]}\n");
  const auto two = read_questions({twice}, {});
  REQUIRE_FALSE(two);
  CHECK(two.error().message.starts_with(twice.string() + ":2: "));
  CHECK(read_questions({folder / "missing.jsonl"}, {}).error().code == base::ErrorCode::not_found);
}

TEST_CASE("answers are the same by id, by name and by number") {
  const PredictedValue paris =
      entity("http://www.wikidata.org/entity/Q90", {"Paris", "巴黎", "City of Light"});
  CHECK(same_answer(paris, "http://www.wikidata.org/entity/Q90"));
  CHECK(same_answer(paris, "Q90"));
  CHECK(same_answer(paris, "PARIS "));
  CHECK(same_answer(paris, "巴黎"));
  CHECK(same_answer(paris, "city-of-light"));
  CHECK_FALSE(same_answer(paris, "http://www.wikidata.org/entity/Q9"));
  CHECK_FALSE(same_answer(paris, "Par"));
  CHECK_FALSE(same_answer(paris, ""));
  CHECK(same_answer(entity("urn:askbase:entity:Alan%20PULIDO", {"Alan PULIDO"}), "Alan PULIDO"));
  CHECK(same_answer(entity("urn:askbase:entity:A_B", {"A B"}), "A_B"));
  CHECK(same_answer(literal("臺灣"), "台湾"));

  CHECK(same_answer(literal("1,412,000,000"), "1412000000"));
  CHECK(same_answer(literal("1.50"), "1.5"));
  CHECK(same_answer(literal("１２"), "12"));
  CHECK(same_answer(literal("6.02e23"), "602000000000000000000000"));
  CHECK_FALSE(same_answer(literal("5"), "-5"));
  CHECK_FALSE(same_answer(literal("1,2"), "12"));
  CHECK_FALSE(same_answer(literal("1886-10-28"), "1886"));
  CHECK(same_answer(literal("1886-10-28"), "1886-10-28"));
  CHECK_FALSE(same_answer(literal("!"), "?"));
  CHECK(same_answer(literal("?"), "?"));
}

TEST_CASE("truth values are the same across languages, and only for yes-no answers") {
  const PredictedValue yes = {.id = "", .texts = {"是"}, .boolean = true};
  const PredictedValue no = {.id = "", .texts = {"No"}, .boolean = true};
  CHECK(same_answer(yes, "true"));
  CHECK(same_answer(yes, "Yes"));
  CHECK_FALSE(same_answer(yes, "false"));
  CHECK(same_answer(no, "false"));
  CHECK(same_answer(no, "否"));
  CHECK_FALSE(same_answer(literal("Yes"), "true"));
}

TEST_CASE("one answer: right, wrong, lower in the list") {
  const PredictedValue a = entity("urn:x:a", {"A"}), b = entity("urn:x:b", {"B"});
  Outcome outcome = judge(gold({"urn:x:a"}), said({{a}, {b}}, 0.75));
  CHECK(outcome.right);
  CHECK(outcome.rank == 1);
  CHECK(outcome.f1 == doctest::Approx(1));
  CHECK(outcome.confidence == doctest::Approx(0.75));
  outcome = judge(gold({"urn:x:b"}), said({{a}, {b}}));
  CHECK_FALSE(outcome.right);
  CHECK(outcome.rank == 2);
  CHECK(outcome.f1 == doctest::Approx(0));
  outcome = judge(gold({"urn:x:c"}), said({{a}, {b}}));
  CHECK(outcome.rank == 0);
}

TEST_CASE("a list is right when it holds gold answers only; what it lacks costs recall") {
  const PredictedValue a = entity("urn:x:a", {"A"}), b = entity("urn:x:b", {"B"}),
                       c = entity("urn:x:c", {"C"});
  Outcome outcome = judge(gold({"urn:x:a", "urn:x:b", "urn:x:c", "urn:x:d"}), said({{a, b, c}}));
  CHECK(outcome.right);
  CHECK(outcome.precision == doctest::Approx(1));
  CHECK(outcome.recall == doctest::Approx(0.75));
  CHECK(outcome.f1 == doctest::Approx(2 * 0.75 / 1.75));
  outcome = judge(gold({"urn:x:a", "urn:x:b"}), said({{a, c}}));
  CHECK_FALSE(outcome.right);
  CHECK(outcome.precision == doctest::Approx(0.5));
  CHECK(outcome.recall == doctest::Approx(0.5));
}

TEST_CASE("declining: right without a gold answer, and for the stated reason") {
  Outcome outcome = judge(gold({}, "fact_missing"), declined("fact_missing"));
  CHECK(outcome.right);
  CHECK(outcome.f1 == doctest::Approx(1));
  CHECK(outcome.reason_stated);
  CHECK(outcome.reason_right);
  outcome = judge(gold({}, "fact_missing"), declined("entity_unknown"));
  CHECK(outcome.right);
  CHECK_FALSE(outcome.reason_right);
  outcome = judge(gold({}, "fact_missing"), said({{literal("5")}}));
  CHECK_FALSE(outcome.right);
  CHECK(outcome.answered);
  CHECK_FALSE(outcome.reason_right);
  CHECK(outcome.precision == doctest::Approx(0));
  outcome = judge(gold({"5"}), declined("fact_missing"));
  CHECK_FALSE(outcome.right);
  CHECK_FALSE(outcome.reason_stated);
  CHECK(outcome.f1 == doctest::Approx(0));
}

TEST_CASE("a line of predictions reads back as it was written") {
  Record record;
  record.question = gold({"urn:x:a", "巴黎"}, "ambiguous");
  record.question.kind = "list";
  record.question.split = "dev";
  record.question.question = "\"quoted\" 法国\n";
  record.prediction = said({{entity("urn:x:a", {"A", "also"}), literal("7")}, {literal("8")}}, 0.625);
  record.prediction.milliseconds = 1.5;
  record.outcome = judge(record.question, record.prediction);
  const auto back = parse_record(to_json_line(record));
  REQUIRE(back);
  CHECK(back->question.question == record.question.question);
  CHECK(back->question.answers == record.question.answers);
  CHECK(back->question.kind == "list");
  CHECK(back->question.split == "dev");
  CHECK(back->question.reason == "ambiguous");
  REQUIRE(back->prediction.answers.size() == 1);
  CHECK(back->prediction.answers[0][0].id == "urn:x:a");
  CHECK(back->prediction.answers[0][1].texts[0] == "7");
  CHECK(back->outcome.confidence == doctest::Approx(0.625));
  CHECK(back->outcome.right == record.outcome.right);
  CHECK(back->outcome.precision == doctest::Approx(record.outcome.precision));
  CHECK(back->outcome.recall == doctest::Approx(record.outcome.recall));
  CHECK(back->outcome.rank == record.outcome.rank);

  record.prediction = declined("timeout");
  record.outcome = judge(record.question, record.prediction);
  const auto none = parse_record(to_json_line(record));
  REQUIRE(none);
  CHECK_FALSE(none->outcome.answered);
  CHECK(none->prediction.reason == "timeout");
}

TEST_CASE("files that are no predictions are refused with the place") {
  for (const char* line :
       {"{}", "[1]", "x", R"({"id":1,"lang":"en","gold":[],"answers":[]})",
        R"({"id":"1","lang":"en","gold":[],"answers":[{}],"right":true,"precision":1,"recall":1,"f1":1})"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_record(line));
  }
  test::ScratchFolder folder;
  const auto path = write_file(folder, "p.jsonl", "{}\n");
  const auto records = read_records(path);
  REQUIRE_FALSE(records);
  CHECK(records.error().message.starts_with(path.string() + ":1: "));
}
