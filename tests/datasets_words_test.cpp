// Readers of word vectors and of labelled questions.
#include <doctest/doctest.h>
#include <fstream>

#include "datasets/question_types.h"
#include "datasets/word_vectors.h"
#include "tests/test_support.h"

namespace askbase::datasets {

namespace {

std::filesystem::path write(const test::ScratchFolder& scratch, const std::string& name,
                            const std::string& content) {
  std::ofstream(scratch / name, std::ios::binary) << content;
  return scratch / name;
}

const auto everything = [](std::size_t, const std::string&) { return true; };

}  // namespace

TEST_CASE("word vectors in JSON: wanted words, numbers after the dimensions left out") {
  const test::ScratchFolder scratch;
  const auto path = write(scratch, "v.json",
                          R"({"precision":8,"dimensions":2,"words":["the",",","café","中"],"vectors":
                             {"the":[1,2.5,9,0],"café":[-1e-2,3,9,2],",":[0,0,9,1],"中":[7,8,9,3]},"unk":[0,0]})");
  const WordVectors all = read_word_vectors(path, everything).value();
  CHECK(all.dimensions == 2);
  CHECK(all.words == std::vector<std::string>{"the", ",", "café", "中"});
  CHECK(all.values == std::vector<float>{1, 2.5F, 0, 0, -0.01F, 3, 7, 8});
  const WordVectors some = read_word_vectors(path, [](std::size_t rank, const std::string& word) {
                             return rank == 0 || word == "中";
                           }).value();
  CHECK(some.words == std::vector<std::string>{"the", "中"});
  CHECK(some.values == std::vector<float>{1, 2.5F, 7, 8});
}

TEST_CASE("word vectors in text, with and without word2vec's first line") {
  const test::ScratchFolder scratch;
  for (const std::string first : {"", "2 3\n"}) {
    const WordVectors v =
        read_word_vectors(write(scratch, "v.txt", first + "cat 1 2 3\n狗 -1 0.5 1e-3 \n"), everything)
            .value();
    CHECK(v.words == std::vector<std::string>{"cat", "狗"});
    CHECK(v.values == std::vector<float>{1, 2, 3, -1, 0.5F, 1e-3F});
  }
}

TEST_CASE("broken word vectors are errors that say where") {
  const test::ScratchFolder scratch;
  const auto error = [&](const std::string& content) {
    const auto result = read_word_vectors(write(scratch, "v", content), everything);
    return result ? std::string() : result.error().message;
  };
  CHECK(error("cat 1 2\ndog 1\n").find(":2:") != std::string::npos);
  CHECK(error("cat 1 x\n").find(":1:") != std::string::npos);
  CHECK(error("cat 1 inf\n").find(":1:") != std::string::npos);
  CHECK(!error("cat\n").empty());
  CHECK(!error("").empty());
  CHECK(!error("\xff 1 2\n").empty());
  CHECK(error(R"({"words":["a"],"vectors":{"a":[1]}})").find("dimensions") != std::string::npos);
  CHECK(error(R"({"dimensions":2,"words":["a"],"vectors":{"a":[1]}})").find("vector of a") !=
        std::string::npos);
  CHECK(error(R"({"dimensions":1,"words":["a","b"],"vectors":{"a":[1]}})").find("word b") !=
        std::string::npos);
  CHECK(error(R"({"dimensions":1,"words":["a","a"],"vectors":{"a":[1]}})").find("twice") !=
        std::string::npos);
  CHECK(error(R"({"dimensions":1,"words":["a"],"vectors":{"a":[1])").find("JSON") != std::string::npos);
  CHECK(!error(R"({"dimensions":1e9,"words":["a"],"vectors":{"a":[1]}})").empty());
  CHECK(!error("{" + std::string(100000, '[')).empty());
  CHECK(!read_word_vectors(scratch / "none", everything));
}

TEST_CASE("labelled questions: a table with named columns, or the official lines") {
  const test::ScratchFolder scratch;
  const auto table = read_typed_questions(
      write(scratch, "t.tsv",
            "label\tfine_label\tquestion\nHUM\tHUM:ind\tWho wrote Hamlet ?\nLOC\tLOC:city\tWhat city ?\n"));
  REQUIRE(table);
  REQUIRE(table->size() == 2);
  CHECK(table->front().coarse() == "HUM");
  CHECK(table->front().fine == "HUM:ind");
  CHECK(table->front().question == "Who wrote Hamlet ?");
  const auto lines = read_typed_questions(
      write(scratch, "t.label", "NUM:date When was it ?\r\nABBR:exp What is .com ?\n\n"));
  REQUIRE(lines);
  CHECK(lines->back().fine == "ABBR:exp");
  CHECK(lines->front().question == "When was it ?");
}

TEST_CASE("broken labelled questions are errors with the line") {
  const test::ScratchFolder scratch;
  const auto error = [&](const std::string& content) {
    const auto result = read_typed_questions(write(scratch, "t", content));
    return result ? std::string() : result.error().message;
  };
  CHECK(error("a\tb\nc\td\n").find(":1:") != std::string::npos);
  CHECK(error("fine_label\tquestion\nHUM:ind\n").find(":2:") != std::string::npos);
  CHECK(error("fine_label\tquestion\nHUM\tWho ?\n").find(":2:") != std::string::npos);
  CHECK(error("HUM:ind Who ?\nWho ?\n").find(":2:") != std::string::npos);
  CHECK(error("HUM:ind \n").find("empty") != std::string::npos);
  CHECK(error("HUM:ind \xff\n").find("UTF-8") != std::string::npos);
  CHECK(!error("").empty());
  CHECK(!read_typed_questions(scratch / "none"));
}

}  // namespace askbase::datasets
