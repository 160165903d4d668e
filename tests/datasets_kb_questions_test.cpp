#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "datasets/kb_questions.h"
#include "doctest/doctest.h"
#include "tests/test_support.h"

using namespace askbase;

namespace {

std::filesystem::path written(const test::ScratchFolder& folder, const std::string& name,
                              const std::string& text) {
  const std::filesystem::path path = folder / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace

TEST_CASE("kb questions: topics, paths and answers") {
  const test::ScratchFolder folder;
  const auto path =
      written(folder, "q.jsonl",
              R"({"id":"a","split":"train","lang":"en","question":"who wrote it","topic":["m.1"],)"
              R"("mention":"it","path":["book.author","^film.story"],"answers":["m.2","7"]})"
              "\n\n"
              R"({"id":"b","question":"谁写的？","topic":["红楼梦"],"path":null,"answers":null,"qtype":"x"})"
              "\n");
  const auto questions = datasets::read_kb_questions({path});
  REQUIRE(questions);
  REQUIRE(questions->size() == 2);
  const datasets::KbQuestion& first = (*questions)[0];
  CHECK(first.topics == std::vector<std::string>{"m.1"});
  CHECK(first.mention == "it");
  CHECK(first.path == std::vector<datasets::PathStep>{{"book.author", false}, {"film.story", true}});
  CHECK(first.answers == std::vector<std::string>{"m.2", "7"});
  const datasets::KbQuestion& second = (*questions)[1];
  CHECK(second.lang == "zh");
  CHECK(second.path.empty());
  CHECK(second.answers.empty());
  CHECK(second.type == "x");
}

TEST_CASE("kb questions: what is wrong is said with its place") {
  const test::ScratchFolder folder;
  const auto error_of = [&](const std::string& text) {
    const auto result = datasets::read_kb_questions({written(folder, "bad.jsonl", text)});
    REQUIRE(!result);
    CHECK(result.error().code == base::ErrorCode::bad_input);
    return result.error().message;
  };
  const std::string good = R"({"id":"a","question":"q"})";
  CHECK(error_of(good + "\n{").find("bad.jsonl:2:") != std::string::npos);
  CHECK(error_of(good + "\n" + good).find("twice") != std::string::npos);
  CHECK(error_of(R"({"id":"a","question":" "})").find("question") != std::string::npos);
  CHECK(error_of(R"({"id":"a","question":"q","path":["^"]})").find("path") != std::string::npos);
  CHECK(error_of(R"({"id":"a","question":"q","topic":"m.1"})").find("topic") != std::string::npos);
  CHECK(error_of("\xff\n").find("UTF-8") != std::string::npos);
  CHECK(error_of("").find("no questions") != std::string::npos);
  CHECK(datasets::read_kb_questions({folder / "none"}).error().code == base::ErrorCode::not_found);
}

TEST_CASE("kb facts and names") {
  const test::ScratchFolder folder;
  std::vector<datasets::NamedFact> facts;
  const auto keep = [&](const datasets::NamedFact& fact) {
    facts.push_back(fact);
    return facts.size() < 2;
  };
  REQUIRE(
      datasets::read_named_facts(written(folder, "kb.tsv", "a b\tr\t红楼梦\n\nc\tr\td\ne\tr\tf\n"), keep));
  CHECK(facts == std::vector<datasets::NamedFact>{{"a b", "r", "红楼梦"}, {"c", "r", "d"}});
  const auto bad = datasets::read_named_facts(written(folder, "bad.tsv", "a\tr\tb\na\t\tb\n"),
                                              [](const auto&) { return true; });
  REQUIRE(!bad);
  CHECK(bad.error().message.find("bad.tsv:2:") != std::string::npos);

  std::vector<datasets::EntityName> names;
  REQUIRE(datasets::read_entity_names(
      written(folder, "n.tsv", "m.1\ten\tParis\tlabel\tdg,fb15k\nQ1\tzh\t巴黎\talias\n"),
      [&](const datasets::EntityName& name) {
        names.push_back(name);
        return true;
      }));
  REQUIRE(names.size() == 2);
  CHECK(names[0].sources == "dg,fb15k");
  CHECK(names[1].name == "巴黎");
  CHECK(!datasets::read_entity_names(written(folder, "n2.tsv", "m.1\ten\tParis\n"),
                                     [](const auto&) { return true; }));
}

TEST_CASE("relation pools: numbers of lines, the gold relation always among them") {
  const test::ScratchFolder folder;
  const auto relations = written(folder, "r.txt", "a.b\n\n/c/d\n");
  const auto pools = datasets::read_relation_pools(
      relations,
      written(folder, "p.tsv", "3\t1 3\twho is #head_entity# ?\n1\tnoNegativeAnswer\twhat\n1 3\t1\tx\n"));
  REQUIRE(pools);
  CHECK(pools->relations == std::vector<std::string>{"a.b", "", "/c/d"});
  REQUIRE(pools->questions.size() == 3);
  CHECK(pools->questions[0].gold == std::vector<std::uint32_t>{2});
  CHECK(pools->questions[0].pool == std::vector<std::uint32_t>{0, 2});
  CHECK(pools->questions[1].pool == std::vector<std::uint32_t>{0});
  CHECK(pools->questions[2].pool == std::vector<std::uint32_t>{0, 2});
  for (const char* line : {"4\t1\tq\n", "0\t1\tq\n", "1\t9\tq\n", "x\t1\tq\n", "1\t1\n"}) {
    CAPTURE(line);
    const auto bad = datasets::read_relation_pools(relations, written(folder, "bad.tsv", line));
    REQUIRE(!bad);
    CHECK(bad.error().message.find("bad.tsv:1:") != std::string::npos);
  }
}

TEST_CASE("kb questions: the sets at hand are read whole") {
  const auto data = test::data_folder();
  if (!data) {
    MESSAGE("skipped: no benchmark data");
    return;
  }
  const std::filesystem::path folder = *data / "kbqa";
  const auto count = [&](const char* name) {
    return datasets::read_kb_questions({folder / name}).value().size();
  };
  CHECK(count("simplequestions_fb.valid.jsonl.gz") == 10845);
  CHECK(count("simplequestions_fb.train_partial.jsonl.gz") == 11461);
  CHECK(count("nlpcc2016.train.jsonl.gz") == 14609);
  CHECK(count("pq-3h.jsonl.gz") == 5198);
  const auto pools = datasets::read_relation_pools(folder / "relation_detection_webqsp.relations.txt.gz",
                                                   folder / "relation_detection_webqsp.train.tsv.gz");
  REQUIRE(pools);
  CHECK(pools->relations.size() == 4536);
  CHECK(pools->questions.size() == 3116);
}
