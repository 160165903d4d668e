// Golden questions over the invented KB: every intent in both languages. The expected values are read off the
// facts in qa_fixture.h by hand.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/qa_fixture.h"

using askbase::qa::AnswerKind;
using askbase::qa::Reason;
using askbase::qa::Response;
using askbase::test::InventedKb;

namespace {

InventedKb& shared_kb() {
  static InventedKb kb;
  return kb;
}

// Ids of entities and lexical forms of literals; the shown text of counts and yes or no.
std::set<std::string> values_of(const Response& response) {
  std::set<std::string> out;
  if (response.answers.empty()) return {std::string("reason:") + std::string(reason_name(response.reason))};
  for (const askbase::qa::Value& value : response.answers[0].values) {
    std::string text = value.term.value.empty() ? value.text : value.term.value;
    if (text.starts_with("urn:t:")) text = text.substr(6);
    out.insert(text);
  }
  return out;
}

struct Golden {
  std::string question;
  std::set<std::string> values;
  AnswerKind kind;
};

}  // namespace

TEST_CASE("one fact, both directions, both languages") {
  const Golden cases[] = {
      {"What is the capital of Avaria?", {"tolvek"}, AnswerKind::entity},
      {"阿瓦里亚的首都是哪里？", {"tolvek"}, AnswerKind::entity},
      {"Which country has Marisund as its capital?", {"norvenia"}, AnswerKind::entity},
      {"首都是马里松德的国家是哪个？", {"norvenia"}, AnswerKind::entity},
      {"Who is the spouse of Mira Solberg?", {"anton"}, AnswerKind::entity},
      {"米拉·索尔贝格的配偶是谁？", {"anton"}, AnswerKind::entity},
      {"Where is the headquarters of Glimmer Works?", {"tolvek"}, AnswerKind::entity},
      {"微光工坊的总部在哪里？", {"tolvek"}, AnswerKind::entity},
      {"Which company has its headquarters in Brevik?", {"haiwan"}, AnswerKind::entity},
      {"When was Mira Solberg born?", {"1971-03-09"}, AnswerKind::literal},
      {"米拉·索尔贝格是什么时候出生的？", {"1971-03-09"}, AnswerKind::literal},
      {"When was Glimmer Works founded?", {"1998-07-04"}, AnswerKind::literal},
      {"微光工坊是哪一年成立的？", {"1998-07-04"}, AnswerKind::literal},
      {"How many people live in Estalia?", {"9800000"}, AnswerKind::literal},
      {"埃斯塔利亚有多少人口？", {"9800000"}, AnswerKind::literal},
      {"How big is Norvenia?", {"30500"}, AnswerKind::literal},
      {"诺文尼亚有多大？", {"30500"}, AnswerKind::literal},
      {"What's Avaria's currency?", {"crown"}, AnswerKind::entity},
      {"Which company has the ticker symbol HWT?", {"haiwan"}, AnswerKind::entity},
      {"股票代码是HWT的公司是哪家？", {"haiwan"}, AnswerKind::entity},
      {"Where does Glimmer Works hang its hat?", {"tolvek"}, AnswerKind::entity},  // a wording
      {"What is the ticker symbol of GW?", {"GLMR"}, AnswerKind::literal},         // an alias
      {"please tell me the population of tolvek", {"610000"}, AnswerKind::literal},
  };
  for (const Golden& golden : cases) {
    CAPTURE(golden.question);
    const Response response = shared_kb().ask(golden.question);
    CHECK(values_of(response) == golden.values);
    if (!response.answers.empty()) CHECK(response.answers[0].kind == golden.kind);
  }
}

TEST_CASE("lists and counts") {
  const Golden cases[] = {
      {"Which countries border Avaria?", {"norvenia", "estalia"}, AnswerKind::list},
      {"哪些国家与阿瓦里亚接壤？", {"norvenia", "estalia"}, AnswerKind::list},
      {"Which countries use the Northern Crown?", {"avaria", "norvenia"}, AnswerKind::list},
      {"哪些国家的货币是北方克朗？", {"avaria", "norvenia"}, AnswerKind::list},
      {"Who founded Glimmer Works?", {"mira", "anton"}, AnswerKind::list},
      {"谁创办了微光工坊？", {"mira", "anton"}, AnswerKind::list},
      {"List the products of Haiwan Technology.", {"lamp", "kettle", "radio"}, AnswerKind::list},
      {"List all countries.", {"avaria", "norvenia", "estalia"}, AnswerKind::list},
      {"有哪些国家？", {"avaria", "norvenia", "estalia"}, AnswerKind::list},
      {"How many countries border Avaria?", {"2"}, AnswerKind::count},
      {"有多少个国家与阿瓦里亚接壤？", {"2"}, AnswerKind::count},
      {"How many countries use the Northern Crown?", {"2"}, AnswerKind::count},
      {"How many products does Haiwan Technology have?", {"3"}, AnswerKind::count},
      {"海湾科技有几种产品？", {"3"}, AnswerKind::count},
      {"How many countries are there?", {"3"}, AnswerKind::count},
      {"How many employees does Haiwan Technology have?", {"87"}, AnswerKind::literal},
      {"海湾科技有多少员工？", {"87"}, AnswerKind::literal},
      {"Which countries are landlocked?", {"avaria"}, AnswerKind::entity},
      {"哪些国家是内陆国？", {"avaria"}, AnswerKind::list},
  };
  for (const Golden& golden : cases) {
    CAPTURE(golden.question);
    const Response response = shared_kb().ask(golden.question);
    CHECK(values_of(response) == golden.values);
    if (!response.answers.empty()) CHECK(response.answers[0].kind == golden.kind);
  }
}

TEST_CASE("yes or no") {
  const Golden cases[] = {
      {"Is Tolvek the capital of Avaria?", {"Yes"}, AnswerKind::boolean},
      {"Is Marisund the capital of Avaria?", {"No"}, AnswerKind::boolean},
      {"Does Avaria border Estalia?", {"Yes"}, AnswerKind::boolean},
      {"Does Norvenia border Estalia?", {"No"}, AnswerKind::boolean},
      {"Is Avaria landlocked?", {"Yes"}, AnswerKind::boolean},
      {"Is Norvenia landlocked?", {"No"}, AnswerKind::boolean},
      {"Does Norvenia have access to the sea?", {"Yes"}, AnswerKind::boolean},  // the opposite of landlocked
      {"Is Tolvek in Avaria?", {"Yes"}, AnswerKind::boolean},
      {"Is Tolvek a city?", {"Yes"}, AnswerKind::boolean},
      {"Is Tolvek a country?", {"No"}, AnswerKind::boolean},
      {"托尔韦克是阿瓦里亚的首都吗？", {"是"}, AnswerKind::boolean},
      {"马里松德是阿瓦里亚的首都吗？", {"否"}, AnswerKind::boolean},
      {"诺文尼亚是内陆国吗？", {"否"}, AnswerKind::boolean},
      {"诺文尼亚临海吗？", {"是"}, AnswerKind::boolean},
      {"阿瓦里亚与埃斯塔利亚接壤吗？", {"是"}, AnswerKind::boolean},
  };
  for (const Golden& golden : cases) {
    CAPTURE(golden.question);
    const Response response = shared_kb().ask(golden.question);
    CHECK(values_of(response) == golden.values);
    if (!response.answers.empty()) CHECK(response.answers[0].kind == golden.kind);
  }
}

TEST_CASE("slips of the pen") {
  const std::pair<std::string, std::string> cases[] = {
      {"What is the captial of Avaria?", "tolvek"},
      {"What is the capital of Norvnia?", "marisund"},
      {"Waht is the population of Estalia?", "9800000"},
      {"埃斯塔利雅的人口是多少？", "9800000"},  // 雅 for 亚
      {"阿瓦里亚的首督是哪里？", "tolvek"},     // 督 for 都
  };
  for (const auto& [question, value] : cases) {
    CAPTURE(question);
    CHECK(values_of(shared_kb().ask(question)) == std::set<std::string>{value});
  }
}

TEST_CASE("reasons when there is no answer") {
  const std::pair<std::string, Reason> cases[] = {
      {"What is the capital of Zarquon?", Reason::entity_unknown},
      {"扎库恩的首都是哪里？", Reason::entity_unknown},
      {"Who is the president of Avaria?", Reason::relation_unmatched},
      {"阿瓦里亚的总统是谁？", Reason::relation_unmatched},
      {"What is the national anthem of Estalia?", Reason::relation_unmatched},
      {"When was Haiwan Technology founded?", Reason::fact_missing},
      {"海湾科技是什么时候成立的？", Reason::fact_missing},
      {"Which country is the largest?", Reason::unsupported_question},
      {"Is Avaria larger than Norvenia?", Reason::unsupported_question},
      {"Why does Avaria border Estalia?", Reason::unsupported_question},
      {"哪个国家的人口最多？", Reason::unsupported_question},
      {"你觉得阿瓦里亚怎么样？", Reason::unsupported_question},
      {"你好", Reason::unsupported_question},
      {"hello!", Reason::unsupported_question},
      {"What is the population of Kelbridge?", Reason::ambiguous},
      {"凯尔桥的人口是多少？", Reason::ambiguous},
  };
  for (const auto& [question, reason] : cases) {
    CAPTURE(question);
    const Response response = shared_kb().ask(question);
    CHECK(response.answers.empty());
    CHECK(reason_name(response.reason) == reason_name(reason));
    CHECK_FALSE(response.reason_sentence.empty());
  }
}

TEST_CASE("an ambiguous name lists who bears it, and a pin chooses") {
  askbase::qa::Request request;
  request.question = "What is the population of Kelbridge?";
  const Response open = shared_kb().ask(request);
  REQUIRE(open.ambiguous.size() == 1);
  CHECK(open.ambiguous[0].mention == "Kelbridge");
  CHECK(open.ambiguous[0].begin == 26);
  CHECK(open.ambiguous[0].end == 35);
  REQUIRE(open.ambiguous[0].candidates.size() == 2);
  for (const auto& candidate : open.ambiguous[0].candidates) {
    CHECK(candidate.label == "Kelbridge");
    CHECK(candidate.description.starts_with("city in "));  // in Avaria, in Norvenia
  }
  CHECK(open.ambiguous[0].candidates[0].description != open.ambiguous[0].candidates[1].description);

  request.pins = {{"kelbridge", "urn:t:kelbridge2"}};
  CHECK(values_of(shared_kb().ask(request)) == std::set<std::string>{"23000"});
  request.pins = {{"Kelbridge", "urn:t:kelbridge1"}};
  CHECK(values_of(shared_kb().ask(request)) == std::set<std::string>{"18000"});
  request.pins = {{"Kelbridge", "urn:t:nowhere"}};
  const auto refused = shared_kb().engine().ask(request);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == askbase::base::ErrorCode::invalid_argument);
}

TEST_CASE("a name that the relation or a place beside it decides is not ambiguous") {
  CHECK(values_of(shared_kb().ask("What is the population of Kelbridge, Norvenia?")) ==
        std::set<std::string>{"23000"});
  CHECK(values_of(shared_kb().ask("Which company was founded by Li Ming?")) ==
        std::set<std::string>{"haiwan"});
}

TEST_CASE("a namesake that is hardly known does not stop the answer, and is listed beside it") {
  InventedKb kb;
  kb.begin();
  kb.type(InventedKb::entity("estalia-hamlet"), "City");
  kb.label(InventedKb::entity("estalia-hamlet"), "Estalia", "en");
  kb.fact(InventedKb::entity("estalia-hamlet"), InventedKb::p("population"), askbase::kb::Term::integer(41));
  kb.commit();
  REQUIRE(kb.engine().refresh().has_value());
  const Response response = kb.ask("What is the population of Estalia?");
  CHECK(values_of(response) == std::set<std::string>{"9800000"});
  REQUIRE(response.ambiguous.size() == 1);
  REQUIRE(response.ambiguous[0].candidates.size() == 2);
  CHECK(response.ambiguous[0].candidates[0].id == "urn:t:estalia");
  CHECK(response.ambiguous[0].candidates[1].id == "urn:t:estalia-hamlet");
}

TEST_CASE("sentences, units and scripts") {
  const auto sentence = [](const std::string& question) {
    const Response response = shared_kb().ask(question);
    return response.answers.empty() ? response.reason_sentence : response.answers[0].sentence;
  };
  CHECK(sentence("What is the capital of Avaria?") == "The capital of Avaria is Tolvek.");
  CHECK(sentence("阿瓦里亚的首都是哪里？") == "阿瓦里亚的首都是托尔韦克。");
  CHECK(sentence("How big is Norvenia?") == "The area of Norvenia is 30,500 km².");
  CHECK(sentence("诺文尼亚的面积是多少？") == "诺文尼亚的面积是30,500平方公里。");
  CHECK(sentence("When was Glimmer Works founded?") == "The founding date of Glimmer Works is 4 July 1998.");
  CHECK(sentence("微光工坊是什么时候成立的？") == "微光工坊的成立时间是1998年7月4日。");
  CHECK(sentence("How many countries border Avaria?").find("2 countries") != std::string::npos);
  CHECK(sentence("Is Marisund the capital of Avaria?") == "No, the capital of Avaria is Tolvek.");
  CHECK(sentence("埃斯塔利亞的首都是哪裡？") ==
        "埃斯塔利亞的首都是萊維克。");  // asked in Traditional characters
  CHECK(sentence("海灣科技的總部在哪裡？").find("海灣科技") == 0);
}

TEST_CASE("every answer's evidence is in the store, with its source and row") {
  const auto view = shared_kb().engine().view();
  for (const std::string question :
       {"What is the capital of Avaria?", "Which countries border Avaria?",
        "How many countries use the Northern Crown?", "Is Marisund the capital of Avaria?",
        "Is Avaria landlocked?", "List all countries.", "Is Tolvek a city?",
        "Which company has the ticker symbol HWT?", "哪些国家是内陆国？", "谁创办了微光工坊？"}) {
    CAPTURE(question);
    const Response response = shared_kb().ask(question);
    REQUIRE_FALSE(response.answers.empty());
    for (const askbase::qa::Answer& answer : response.answers) {
      CHECK_FALSE(answer.evidence.empty());
      CHECK(answer.evidence_total >= answer.evidence.size());
      CHECK(answer.confidence > 0);
      CHECK(answer.confidence <= 1);
      for (const askbase::qa::Evidence& evidence : answer.evidence) {
        const auto subject = view->find(evidence.subject).value();
        const auto predicate = view->find(evidence.predicate).value();
        const auto object = view->find(evidence.object).value();
        REQUIRE((subject && predicate && object));
        CHECK(view->contains({*subject, *predicate, *object}).value());
        CHECK(evidence.source == "invented.ttl");
        CHECK(evidence.row > 0);
        CHECK_FALSE(evidence.subject_label.empty());
        CHECK_FALSE(evidence.predicate_label.empty());
      }
    }
  }
}

TEST_CASE("the response as JSON") {
  askbase::qa::Request request;
  request.question = "What is the capital of Avaria?";
  request.explain = true;
  const auto json = askbase::base::parse_json(to_json(shared_kb().ask(request))).value();
  CHECK(json["question"] == request.question);
  CHECK(json["lang"] == "en");
  const auto& answer = json["answers"][0];
  CHECK(answer["answer"] == "Tolvek");
  CHECK(answer["kind"] == "entity");
  CHECK(answer["id"] == "urn:t:tolvek");
  CHECK(answer["pipeline"] == "kb");
  CHECK(answer["evidence"][0]["triple"]["subject"]["id"] == "urn:t:avaria");
  CHECK(answer["evidence"][0]["triple"]["predicate"]["label"] == "capital");
  CHECK(answer["evidence"][0]["triple"]["object"]["label"] == "Tolvek");
  CHECK(answer["evidence"][0]["source"] == "invented.ttl");
  CHECK(json["kb"]["version"].is_number());
  CHECK(json["timings_ms"].contains("total"));
  CHECK_FALSE(json.contains("reason"));
  CHECK(json["trace"]["readings"][0]["features"].contains("coverage"));
  CHECK(json["trace"]["mentions"][0]["text"] == "Avaria");

  request.question = "Who is the president of Avaria?";
  request.explain = false;
  const auto declined = askbase::base::parse_json(to_json(shared_kb().ask(request))).value();
  CHECK(declined["answers"].empty());
  CHECK(declined["reason"] == "relation_unmatched");
  CHECK_FALSE(declined.contains("trace"));
}

TEST_CASE("example questions are answered by the KB that made them") {
  for (const auto language : {askbase::base::Language::english, askbase::base::Language::chinese}) {
    const auto examples = shared_kb().engine().example_questions(language, 6).value();
    CHECK(examples.size() >= 4);
    CHECK(examples.size() <= 6);
    for (const std::string& example : examples) {
      CAPTURE(example);
      CHECK_FALSE(shared_kb().ask(example).answers.empty());
    }
  }
}
