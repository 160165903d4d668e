// Benchmark files in all their forms, and what is made of them.
#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

#include "datasets/benchmarks.h"
#include "datasets/kb_questions.h"
#include "datasets/prepare.h"
#include "datasets/questions.h"
#include "tests/test_support.h"

using namespace askbase::datasets;  // NOLINT(google-build-using-namespace)
using askbase::base::ErrorCode;
using askbase::test::ScratchFolder;

namespace {

std::filesystem::path write(const ScratchFolder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
  return folder / name;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::vector<KbQuestion> questions_of(const ScratchFolder& folder, const std::string& name,
                                     const std::string& text, BenchmarkForm expected) {
  const auto path = write(folder, name, text);
  const auto form = benchmark_form(path);
  REQUIRE(form);
  CHECK(*form == expected);
  auto questions = read_benchmark_questions(path, *form);
  REQUIRE_MESSAGE(questions, questions.error().message);
  return *questions;
}

std::vector<NamedFact> facts_of(const ScratchFolder& folder, const std::string& text,
                                BenchmarkForm expected) {
  const auto path = write(folder, "facts.txt", text);
  const auto form = benchmark_form(path);
  REQUIRE(form);
  CHECK(*form == expected);
  std::vector<NamedFact> facts;
  REQUIRE(read_benchmark_facts(path, *form, [&](const NamedFact& fact) {
    facts.push_back(fact);
    return true;
  }));
  return facts;
}

// The message of a file that is refused, without the folder.
std::string refused(const ScratchFolder& folder, const std::string& text) {
  const auto path = write(folder, "bad.txt", text);
  const auto form = benchmark_form(path);
  std::string message;
  if (!form) {
    CHECK(form.error().code == ErrorCode::bad_input);
    message = form.error().message;
  } else if (has_questions(*form)) {
    const auto questions = read_benchmark_questions(path, *form);
    REQUIRE_FALSE(questions);
    CHECK(questions.error().code == ErrorCode::bad_input);
    message = questions.error().message;
  } else {
    const auto status = read_benchmark_facts(path, *form, [](const NamedFact&) { return true; });
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::bad_input);
    message = status.error().message;
  }
  REQUIRE(message.starts_with(path.string()));
  return message.substr(path.string().size());
}

PrepareOptions options() {
  PrepareOptions out;
  out.entity_iri = [](std::string_view name) { return "urn:e:" + std::string(name); };
  out.predicate_iri = [](std::string_view name) { return "urn:p:" + std::string(name); };
  return out;
}

}  // namespace

TEST_CASE("SimpleQuestions and its Wikidata version are read as published") {
  const ScratchFolder folder;
  auto questions = questions_of(folder, "annotated_fb_data_valid.txt",
                                "www.freebase.com/m/0f3xg_\twww.freebase.com/symbols/namesake/named_after\t"
                                "www.freebase.com/m/0cqt90\tWho was the trump ocean club named after\n",
                                BenchmarkForm::simplequestions);
  REQUIRE(questions.size() == 1);
  CHECK(questions[0].id == "annotated_fb_data_valid-1");
  CHECK(questions[0].split == "valid");
  CHECK(questions[0].topics == std::vector<std::string>{"m.0f3xg_"});
  CHECK(questions[0].path == std::vector<PathStep>{{"symbols.namesake.named_after", false}});
  CHECK(questions[0].answers == std::vector<std::string>{"m.0cqt90"});

  questions = questions_of(folder, "test.txt",
                           "Q126399\tR272\tQ7428297\twhat movie is produced by warner bros.\n\n"
                           "Q1297\tP17\tQ30\tin what country is chicago\n",
                           BenchmarkForm::simplequestions);
  REQUIRE(questions.size() == 2);
  CHECK(questions[0].path == std::vector<PathStep>{{"P272", true}});
  CHECK(questions[1].path == std::vector<PathStep>{{"P17", false}});
  CHECK(questions[1].id == "test-3");
}

TEST_CASE("MetaQA, NLPCC, WebQuestions and WebQSP are read as published") {
  const ScratchFolder folder;
  auto questions =
      questions_of(folder, "qa_dev.txt", "what films did [Ginger Rogers] star in\tTop Hat|Kitty Foyle\n",
                   BenchmarkForm::metaqa);
  CHECK(questions[0].question == "what films did Ginger Rogers star in");
  CHECK(questions[0].mention == "Ginger Rogers");
  CHECK(questions[0].answers == std::vector<std::string>{"Top Hat", "Kitty Foyle"});

  questions = questions_of(folder, "nlpcc.train",
                           "<question id=1>\t《机械设计基础》这本书的作者是谁？\n"
                           "<triple id=1>\t机械设计基础 ||| 作者 ||| 杨可桢，程光蕴\n"
                           "<answer id=1>\t杨可桢，程光蕴\n==================================\n"
                           "<question id=2>\t帝霸写到哪了\n<answer id=2>\t已完结 ||| 完结\n",
                           BenchmarkForm::nlpcc);
  REQUIRE(questions.size() == 2);
  CHECK(questions[0].lang == "zh");
  CHECK(questions[0].topics == std::vector<std::string>{"机械设计基础"});
  CHECK(questions[0].path == std::vector<PathStep>{{"作者", false}});
  CHECK(questions[1].answers == std::vector<std::string>{"已完结", "完结"});
  CHECK(questions[1].topics.empty());

  questions = questions_of(folder, "webquestions.json",
                           R"x([{"url": "http://www.freebase.com/view/en/x", "utterance": "who is x?",
          "targetValue": "(list (description \"Jazmyn (a) \\\"J\\\" Bieber\") (description Paris))"}])x",
                           BenchmarkForm::webquestions);
  CHECK(questions[0].answers == std::vector<std::string>{"Jazmyn (a) \"J\" Bieber", "Paris"});

  questions = questions_of(folder, "WebQSP.test.json", R"({
    "Version": "1.0",
    "Questions": [{"QuestionId": "WebQTest-0", "RawQuestion": "what does jamaican people speak?",
      "Parses": [{"TopicEntityMid": "m.03_r3", "TopicEntityName": "Jamaica", "InferentialChain": null, "Answers": []},
        {"TopicEntityMid": "m.03_r3", "TopicEntityName": "Jamaica", "PotentialTopicEntityMention": "jamaican",
         "InferentialChain": ["location.country.languages_spoken"],
         "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.04ygk0", "EntityName": "Jamaican Creole"}]}]}]})",
                           BenchmarkForm::webqsp);
  CHECK(questions[0].id == "WebQTest-0");
  CHECK(questions[0].mention == "jamaican");
  CHECK(questions[0].path == std::vector<PathStep>{{"location.country.languages_spoken", false}});
  CHECK(questions[0].answers == std::vector<std::string>{"m.04ygk0"});
}

TEST_CASE("facts are read in every form") {
  const ScratchFolder folder;
  CHECK(facts_of(folder,
                 "www.freebase.com/m/0a\twww.freebase.com/people/person/gender\t"
                 "www.freebase.com/m/0b www.freebase.com/m/0c\n",
                 BenchmarkForm::freebase_facts) ==
        std::vector<NamedFact>{{"m.0a", "people.person.gender", "m.0b"},
                               {"m.0a", "people.person.gender", "m.0c"}});
  CHECK(facts_of(folder, "Kismet|directed_by|William Dieterle\n", BenchmarkForm::metaqa_facts) ==
        std::vector<NamedFact>{{"Kismet", "directed_by", "William Dieterle"}});
  CHECK(facts_of(folder, "红楼梦 ||| 作者 ||| 曹雪芹\n", BenchmarkForm::nlpcc_facts) ==
        std::vector<NamedFact>{{"红楼梦", "作者", "曹雪芹"}});
  CHECK(facts_of(folder, "a\tb\tc\n\n\td\te\n", BenchmarkForm::facts) ==
        std::vector<NamedFact>{{"a", "b", "c"}, {"", "d", "e"}});
}

TEST_CASE("what is in no form that is known is refused with its place") {
  const ScratchFolder folder;
  CHECK(refused(folder, "\n\n") == ": nothing is in it");
  CHECK(refused(folder, "\njust words\n") == ":2: a form that is not known");
  CHECK(refused(folder, "Q1\tP2\tQ3\twho\nQ1\tP2\tQ3\n") == ":2: not four fields");
  CHECK(refused(folder, "Q1\tP2\tQ3\twho\nQ1\tX2\tQ3\twho\n") == ":2: no names of Freebase or Wikidata");
  CHECK(refused(folder, "Q1\tP2\tQ3\twho\n\xFF\tP2\tQ3\twho\n") == ":2: not UTF-8");
  CHECK(refused(folder, "who is [A]\tB\nwho is A\tB\n") == ":2: no question with an entity");
  CHECK(refused(folder, "who is [A]\tB||C\n") == ":1: an empty answer");
  CHECK(refused(folder, "a|b|c\na|b\n") == ":2: not three fields");
  CHECK(refused(folder, "a\tb\tc\na\tb\n") == ":2: not three fields");
  CHECK(refused(folder, "www.freebase.com/m/0a\twww.freebase.com/b/c/d\tx\n") == ":1: no fact of Freebase");
  CHECK(refused(folder, "<question id=1>\t谁\n<triple id=1>\ta ||| b\n") == ":2: no triple");
  CHECK(refused(folder, "<question id=1>\t谁\nwords\n") == ":2: no question, triple or answer");
  CHECK(refused(folder, "[{\"utterance\": \"a\"}, 7]") == ": entry 2: no \"utterance\"");
  CHECK(refused(folder, "[\n{\"utterance\"").starts_with(": "));
  CHECK(refused(folder, "{\"Questions\": [{\"RawQuestion\": \"x\"}]}").starts_with(": entry 1: no \"RawQ"));
  CHECK(refused(folder, "{\"Questions\": 3}") == ": no list \"Questions\"");
  CHECK(refused(folder, "[]") == ": no questions");
  const auto missing = benchmark_form(folder / "none");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
}

TEST_CASE("SimpleQuestions is prepared with names that are not those of its own test questions") {
  const ScratchFolder folder;
  const auto facts = write(folder, "kb.tsv",
                           "m.0a\tpeople.person.place_of_birth\tm.0b\nm.0a\tpeople.person.spouse_s\tm.0c\n"
                           "m.0a\tpeople.person.place_of_birth\tm.0b\nm.0c\tcommon.topic.date\t\"19\\45\"\n");
  const auto names =
      write(folder, "names.tsv",
            "m.0a\ten\tann\tmention\tbubo-train\nm.0a\ten\tAnn Lee\tlabel\tdg\n"
            "m.0b\ten\tthe city\tmention\tbubo-test\nm.0b\ten\tthe big city\tmention\tbubo-test,bubo-valid\n"
            "m.0b\ten\tthe town\tmention\tbubo-test,aist-WQ\nm.0c\ten\tcal\tmention\tbubo-train\n"
            "m.0c\ten\tcalvin\tmention\tbubo-train\nm.0zz\ten\tnobody\tlabel\tdg\n");
  const auto questions = write(
      folder, "q.jsonl",
      R"({"id":"1","split":"test","lang":"en","question":"where was ann born","topic":["m.0a"],"mention":"ann","path":["people.person.place_of_birth"],"answers":["m.0b"]}
{"id":"2","split":"test","question":"who","topic":["m.0b"],"path":["^people.person.place_of_birth"],"answers":null}
)");
  const auto report = prepare("simplequestions-fb", {facts, names, questions}, folder / "out/sq", options());
  REQUIRE_MESSAGE(report, report.error().message);
  CHECK(report->facts == 3);
  CHECK(report->entities == 3);
  CHECK(report->predicates == 3);
  CHECK(report->names_left_out == 2);
  CHECK(report->questions == 1);
  CHECK(report->questions_left_out == 1);
  CHECK(report->labelled == 3);
  CHECK(read(folder / "out/sq/facts.nt") ==
        "<http://rdf.freebase.com/ns/m.0a> <http://rdf.freebase.com/ns/people.person.place_of_birth> "
        "<http://rdf.freebase.com/ns/m.0b> .\n"
        "<http://rdf.freebase.com/ns/m.0a> <http://rdf.freebase.com/ns/people.person.spouse_s> "
        "<http://rdf.freebase.com/ns/m.0c> .\n"
        "<http://rdf.freebase.com/ns/m.0c> <http://rdf.freebase.com/ns/common.topic.date> "
        "\"\\\"19\\\\45\\\"\" .\n");
  const std::string written = read(folder / "out/sq/names.nt");
  const auto has = [&](const std::string& subject, const std::string& way, const std::string& text) {
    return written.find("<http://rdf.freebase.com/ns/" + subject + "> <http://www.w3.org/" + way + "> \"" +
                        text + "\"@en .\n") != std::string::npos;
  };
  const std::string label = "2000/01/rdf-schema#label", alias = "2004/02/skos/core#altLabel";
  CHECK(has("m.0a", label, "Ann Lee"));
  CHECK(has("m.0a", alias, "ann"));
  CHECK(has("m.0b", label, "the town"));
  CHECK(has("m.0c", label, "cal"));
  CHECK(has("m.0c", alias, "calvin"));
  CHECK(has("people.person.place_of_birth", label, "place of birth"));
  CHECK(has("people.person.place_of_birth", alias, "person place of birth"));
  CHECK(has("people.person.spouse_s", label, "spouse"));
  CHECK(written.find("the city") == std::string::npos);
  CHECK(written.find("the big city") == std::string::npos);
  CHECK(written.find("nobody") == std::string::npos);

  // Both readers of questions take what was written.
  const auto back = read_kb_questions({folder / "out/sq/questions.jsonl"});
  REQUIRE(back);
  CHECK((*back)[0].topics == std::vector<std::string>{"http://rdf.freebase.com/ns/m.0a"});
  CHECK((*back)[0].path ==
        std::vector<PathStep>{{"http://rdf.freebase.com/ns/people.person.place_of_birth", false}});
  CHECK((*back)[0].answers == std::vector<std::string>{"http://rdf.freebase.com/ns/m.0b"});
  const auto plain = read_questions({folder / "out/sq/questions.jsonl"}, {});
  REQUIRE(plain);
  CHECK(plain->front().split == "test");

  // The same files in another order of names and facts give the same bytes.
  REQUIRE(prepare("simplequestions-fb", {names, questions, facts}, folder / "again", options()));
  for (const char* file : {"facts.nt", "names.nt", "questions.jsonl"}) {
    CHECK(read(folder / "again" / file) == read(folder / ("out/sq/" + std::string(file))));
  }
}

TEST_CASE("Chinese names with remarks are found without them") {
  const ScratchFolder folder;
  const auto facts =
      write(folder, "kb.tsv",
            "三井（日本财阀）\t创 始 人\t三井高利\n三井高利\t国籍\t日本\n《活着》\t作者\t余华\n\t日语\tX\n");
  const auto questions = write(
      folder, "q.jsonl",
      R"({"id":"1","lang":"zh","question":"三井的创始人是谁","topic":["三井（日本财阀）"],"path":["创 始 人"],"answers":["三井高利"]}
{"id":"2","lang":"zh","question":"《活着》谁写的","topic":["《活着》"],"path":["作者"],"answers":["余华"]})");
  const auto report = prepare("zh_gold", {facts, questions}, folder / "out", options());
  REQUIRE_MESSAGE(report, report.error().message);
  CHECK(report->facts_left_out == 1);
  const std::string names = read(folder / "out/names.nt"), triples = read(folder / "out/facts.nt");
  CHECK(names.find("#label> \"三井（日本财阀）\"@zh") != std::string::npos);
  CHECK(names.find("#altLabel> \"三井\"@zh") != std::string::npos);
  CHECK(names.find("#altLabel> \"活着\"@zh") != std::string::npos);
  CHECK(names.find("<urn:p:创 始 人> <http://www.w3.org/2000/01/rdf-schema#label> \"创始人\"@zh") !=
        std::string::npos);
  // An object that is a subject elsewhere is an entity, another one a text.
  CHECK(triples.find("<urn:p:创 始 人> <urn:e:三井高利>") != std::string::npos);
  CHECK(triples.find("<urn:p:作者> \"余华\"@zh") != std::string::npos);
  const auto back = read_kb_questions({folder / "out/questions.jsonl"});
  REQUIRE(back);
  CHECK((*back)[0].answers == std::vector<std::string>{"urn:e:三井高利"});
  CHECK((*back)[1].answers == std::vector<std::string>{"余华"});
}

TEST_CASE("paths over names, and any triples with labels") {
  const ScratchFolder folder;
  const auto path_facts = write(folder, "pq.tsv", "ann_lee\t__people__person__place_of_birth\tnew_york\n");
  REQUIRE(prepare("pathquestion", {path_facts}, folder / "pq", options()));
  const std::string path_names = read(folder / "pq/names.nt");
  CHECK(path_names.find("<urn:e:ann_lee> <http://www.w3.org/2000/01/rdf-schema#label> \"ann lee\"@en") !=
        std::string::npos);
  CHECK(path_names.find("#altLabel> \"ann_lee\"@en") != std::string::npos);
  CHECK(path_names.find("#label> \"place of birth\"@en") != std::string::npos);

  const auto facts =
      write(folder, "kg.tsv",
            "感冒\t症状\t头痛\n流感\t症状\t头痛\n感冒\t别名\t伤风\n感冒\t费用\t一百元\n感冒\t科\tid:7\n");
  const auto labels = write(folder, "labels.tsv",
                            "id:7\tzh\t内科\tlabel\nid:7\tzh\t看病的科\tdescription\nid:7\t-\tx\tsense\n");
  const auto report = prepare("triples", {facts, labels}, folder / "kg", options());
  REQUIRE_MESSAGE(report, report.error().message);
  CHECK(report->facts == 4);
  const std::string triples = read(folder / "kg/facts.nt"), names = read(folder / "kg/names.nt");
  CHECK(triples.find("<urn:p:症状> <urn:e:头痛>") != std::string::npos);
  CHECK(triples.find("<urn:p:费用> \"一百元\"@zh") != std::string::npos);
  CHECK(triples.find("<urn:p:科> <urn:e:id:7>") != std::string::npos);
  CHECK(triples.find("别名") == std::string::npos);
  CHECK(names.find("<urn:e:感冒> <http://www.w3.org/2004/02/skos/core#altLabel> \"伤风\"@zh") !=
        std::string::npos);
  CHECK(names.find("<urn:e:id:7> <http://www.w3.org/2000/01/rdf-schema#label> \"内科\"@zh") !=
        std::string::npos);
  CHECK(names.find("#comment> \"看病的科\"@zh") != std::string::npos);
  CHECK(names.find("\"x\"") == std::string::npos);
}

TEST_CASE("preparing refuses what it cannot use") {
  const ScratchFolder folder;
  const auto facts = write(folder, "kb.tsv", "a\tb\tc\n");
  auto report = prepare("squad", {facts}, folder / "out", options());
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::invalid_argument);
  CHECK(report.error().hint.find("simplequestions-wd") != std::string::npos);
  const auto names = write(folder, "names.tsv", "m.0a\ten\tann\tlabel\tx\n");
  report = prepare("simplequestions-fb", {names}, folder / "out", options());
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::invalid_argument);
  const auto questions = write(folder, "q.jsonl", R"({"id":"1","question":"who","answers":["x"]})");
  report = prepare("metaqa", {questions, questions}, folder / "out", options());
  REQUIRE_FALSE(report);
  CHECK(report.error().message.find("comes twice") != std::string::npos);
  report = prepare("metaqa", {folder / "missing"}, folder / "out", options());
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::not_found);
  CHECK(std::ranges::count(preparable(), "triples") == 1);
}
