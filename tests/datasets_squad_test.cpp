// SQuAD-form data: reading, metrics against tests/golden/squad_metric.py and published predictions, splits.
#include <doctest/doctest.h>
#include <fstream>

#include "base/file.h"
#include "base/input.h"
#include "base/json.h"
#include "base/text.h"
#include "datasets/squad.h"
#include "datasets/squad_metric.h"
#include "datasets/squad_split.h"
#include "tests/test_support.h"

namespace askbase::datasets {

namespace {

base::Result<SquadSet> read(const std::string& content) {
  const test::ScratchFolder scratch;
  std::ofstream(scratch / "set.json", std::ios::binary) << content;
  return read_squad(scratch / "set.json");
}

std::string one(const std::string& qas, const std::string& context = "Ärger in Köln") {
  return R"({"version":"1","data":[{"title":"T","paragraphs":[{"context":")" + context + R"(","qas":[)" +
         qas + "]}]}]}";
}

std::vector<SquadAnswer> answers(const base::Json& texts) {
  std::vector<SquadAnswer> list;
  for (const base::Json& text : texts) list.push_back({text.get<std::string>(), 0, 0});
  return list;
}

SquadSet set_of(const std::vector<std::pair<SquadContext, std::vector<std::string>>>& paragraphs) {
  SquadSet set;
  for (const auto& [context, questions] : paragraphs) {
    set.contexts.push_back(context);
    for (const std::string& question : questions) {
      set.questions.push_back(
          {"q" + std::to_string(set.questions.size()), question, set.contexts.size() - 1, {}});
    }
  }
  return set;
}

base::Json peers(const std::filesystem::path& path) {
  const auto input = base::Input::open(path).value();
  std::string text;
  char buffer[65536];
  while (const std::size_t n = input->read(buffer, sizeof buffer).value()) text.append(buffer, n);
  return base::parse_json(text).value();
}

}  // namespace

TEST_CASE("SQuAD form: offsets are code points; answers at both ends; impossible questions") {
  const SquadSet set =
      read(
          one(R"({"id":"1","question":"Where?","answers":[{"answer_start":9,"text":"Köln"},{"answer_start":0,"text":"Ärger"}]},
                 {"id":"2","question":"Who?","answers":[],"is_impossible":true})"))
          .value();
  REQUIRE(set.questions.size() == 2);
  CHECK(set.contexts[0].title == "T");
  CHECK(set.questions[0].answers[0].begin == 9);
  CHECK(set.questions[0].answers[0].end == 13);
  CHECK(set.questions[0].answers[1].begin == 0);
  CHECK(set.questions[1].answers.empty());
}

TEST_CASE("SQuAD form: what is wrong is named") {
  const auto message = [](const std::string& content) {
    const auto result = read(content);
    return result ? std::string("read") : result.error().message;
  };
  CHECK(message("").find("set.json") != std::string::npos);
  CHECK(message("[]").find("\"data\"") != std::string::npos);
  CHECK(message(R"({"data":[]})").find("no questions") != std::string::npos);
  CHECK(message(R"({"data":[{"title":"x"}]})").find("paragraphs") != std::string::npos);
  CHECK(message(one(R"({"id":"7","question":"?","answers":[{"answer_start":1,"text":"Köln"}]})"))
            .find("question 7") != std::string::npos);
  CHECK(message(one(R"({"id":"7","question":"?","answers":[{"answer_start":99,"text":"K"}]})"))
            .find("question 7") != std::string::npos);
  CHECK(message(one(R"({"id":"7","question":"?","answers":[{"answer_start":-1,"text":"K"}]})"))
            .find("question 7") != std::string::npos);
  CHECK(message(one(R"({"id":"7","question":"?","answers":[]})")).find("is_impossible") != std::string::npos);
  const std::string twice = R"({"id":"7","question":"?","answers":[],"is_impossible":true})";
  CHECK(message(one(twice + "," + twice)).find("twice") != std::string::npos);
}

TEST_CASE("scores of answers are those of the published definitions") {
  const auto text = base::read_file(test::source_folder() / "tests/golden/squad_metric.json");
  const base::Json golden = base::parse_json(text.value()).value();
  REQUIRE(golden.size() > 1000);
  for (const base::Json& row : golden) {
    const AnswerForm form = row[0] == "squad" ? AnswerForm::squad : AnswerForm::cmrc;
    const AnswerScore score = answer_score(form, row[1].get<std::string>(), answers(row[2]));
    INFO(row.dump());
    CHECK(score.exact == doctest::Approx(row[3].get<double>()));
    CHECK(score.f1 == doctest::Approx(row[4].get<double>()));
  }
}

TEST_CASE("thresholds: the best one is found, and the model's own is used") {
  SquadSet set = set_of({{{"T", "x"}, {"a", "b", "c", "d"}}});
  set.questions[0].answers = {{"one", 0, 3}};
  set.questions[1].answers = {{"two", 0, 3}};
  const std::vector<ReadAnswer> given = {{"one", -2}, {"wrong", 3}, {"x", 1}, {"y", 2}};
  const Squad2Figures low = squad2_figures(AnswerForm::squad, set, given, -5, {.resamples = 0});
  CHECK(low.f1.value == doctest::Approx(50));  // abstains always
  CHECK(low.always_abstain_f1 == doctest::Approx(50));
  const Squad2Figures zero = squad2_figures(AnswerForm::squad, set, given, 0, {.resamples = 0});
  CHECK(zero.f1.value == doctest::Approx(75));
  CHECK(zero.has_f1.value == doctest::Approx(50));
  CHECK(zero.no_f1.value == doctest::Approx(100));
  CHECK(zero.best_f1 == doctest::Approx(75));
  CHECK(zero.best_f1_threshold == doctest::Approx(-2));
  const Squad2Figures high = squad2_figures(AnswerForm::squad, set, given, 9, {.resamples = 0});
  CHECK(high.f1.value == doctest::Approx(25));
}

TEST_CASE("thresholds: the balanced one does not depend on how many questions have no answer") {
  SquadSet set = set_of({{{"T", "x"}, {"a", "b", "c", "d", "e"}}});
  for (std::size_t i = 0; i < 4; ++i) set.questions[i].answers = {{"one", 0, 3}};
  // Four with an answer, one without: only hindsight over all of them would rather lose the one.
  std::vector<ReadAnswer> given = {{"one", 0}, {"one", 1}, {"one", 2}, {"one", 5}, {"x", 4}};
  const auto figures = [&] { return squad2_figures(AnswerForm::squad, set, given, 0, {.resamples = 0}); };
  CHECK(figures().best_f1_threshold == doctest::Approx(2));
  CHECK(figures().balanced_threshold == doctest::Approx(2));
  given[2].null_odds = 4.5;
  CHECK(figures().best_f1_threshold == doctest::Approx(5));  // 4 of 5
  CHECK(figures().best_f1 == doctest::Approx(80));
  CHECK(figures().balanced_threshold == doctest::Approx(1));  // half of the four, and the one
  CHECK(figures().best_balanced_f1 == doctest::Approx(75));
}

TEST_CASE("published predictions score as published") {
  const auto data = test::data_folder();
  if (!data) return;
  const std::filesystem::path folder = *data / "reader";
  const SquadSet one_set = read_squad(folder / "squad-v1.1-dev.json.gz").value();
  const SquadSet two_set = read_squad(folder / "squad-v2.0-dev.json.gz").value();
  CHECK(one_set.questions.size() == 10570);
  for (const bool two : {false, true}) {
    const SquadSet& set = two ? two_set : one_set;
    const auto file =
        two ? "squad-v2.0-dev-peer-predictions.json.gz" : "squad-v1.1-dev-peer-predictions.json.gz";
    const base::Json systems = peers(folder / file);
    for (const auto& [name, system] : systems.items()) {
      std::vector<std::string> texts;
      for (const SquadQuestion& question : set.questions) {
        texts.push_back(system["predictions"].value(question.id, std::string()));
      }
      const SquadFigures figures = squad_figures(AnswerForm::squad, set, texts, {.resamples = 0});
      INFO(name);
      // Two questions of v2.0 have the answer "a" alone, which is none to its official script; the folder's
      // figures do not know that rule.
      const double tolerance = two ? 0.02 : 0.0006;
      CHECK(std::abs(*figures.exact_match.value - system["em"].get<double>()) < tolerance);
      CHECK(std::abs(*figures.f1.value - system["f1"].get<double>()) < tolerance);
    }
  }
}

TEST_CASE("held-out articles leave nothing of themselves in the training") {
  const std::string long_text =
      "The genome of an organism is the whole of its hereditary information encoded in its DNA.";
  const SquadSet a = set_of(
      {{{"Genome", "Before. " + long_text + " After it."}, {"What is a genome?"}},
       {{"Dog", "Dogs bark at night, as everybody knows who has heard one."}, {"Do dogs bark?", "Why?"}}});
  const SquadSet b = set_of(
      {{{"", "the GENOME of an organism is the whole of its hereditary information, encoded in its DNA"},
        {"Of what is a genome the whole?"}},
       {{"", "Something else entirely that has nothing to do with it at all."},
        {"what is a Genome", "What is else?"}}});
  const SquadSplit split = split_squad({a, b}, {"Genome"}).value();
  CHECK(split.valid.questions.size() == 1);
  CHECK(split.overlapping == 2);  // the sentence, and the question that is asked again
  REQUIRE(split.train.questions.size() == 3);
  CHECK(split.train.questions[0].question == "Do dogs bark?");
  CHECK(split.train.questions[2].question == "What is else?");
  CHECK(overlapping_questions(split.train, split.valid).empty());
  CHECK(split_squad({a}, {"Cat"}).error().message.find("Cat") != std::string::npos);
}

TEST_CASE("no evaluation text, and no question about one, is in the training data") {
  const auto data = test::data_folder();
  if (!data) return;
  const std::filesystem::path folder = *data / "reader";
  const auto sets = [&](const std::vector<const char*>& names) {
    std::vector<SquadSet> list;
    for (const char* name : names)
      list.push_back(read_squad(folder / (std::string(name) + ".json.gz")).value());
    return split_squad(std::move(list), {}).value().train;
  };
  const auto texts_in_common = [](const SquadSet& train, const SquadSet& test) {
    // Questions such as "What is the capital?" are asked of many texts: a text decides.
    SquadSet asked_nothing = test;
    asked_nothing.questions.clear();
    return overlapping_questions(train, asked_nothing).size();
  };
  const SquadSet english =
      sets({"squad-v1.1-train-du44", "squad-v1.1-train-sample", "squad-v1.1-train-sentences",
            "squad-roundtrip-train", "squad-roundtrip-train-du44"});
  for (const char* name : {"squad-v1.1-dev", "squad-v2.0-dev", "xquad-en"}) {
    INFO(name);
    CHECK(texts_in_common(english, sets({name})) == 0);
  }
  const SquadSet chinese = sets({"cmrc2018-train", "drcd-dev"});
  for (const char* name : {"cmrc2018-dev", "cmrc2018-trial", "drcd-test", "xquad-zh"}) {
    INFO(name);
    CHECK(texts_in_common(chinese, sets({name})) == 0);
  }
}

}  // namespace askbase::datasets
