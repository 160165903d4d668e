// Learned judges in the pipeline of facts: stand-ins for the networks, whose own tests are elsewhere.
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <string>

#include "qa/ranker.h"
#include "tests/qa_fixture.h"

using namespace askbase;

namespace {

// Finds one predicate likely, by a word of its text, whatever the question says.
class OneMindedMatcher : public qa::PathMatcher {
 public:
  explicit OneMindedMatcher(std::string word) : word_(std::move(word)) {}
  const std::string& language() const override { return language_; }
  bool knows(const qa::MatchPath&) const override { return false; }
  qa::EncodedPaths encode(std::span<const qa::MatchPath> paths, nn::Team&) const override {
    qa::EncodedPaths out;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      bool mine = i % 2 == 0;  // from subject to object
      mine = mine && std::any_of(paths[i].texts.begin(), paths[i].texts.end(), [&](const qa::PathText& text) {
               return std::find(text.words.begin(), text.words.end(), word_) != text.words.end();
             });
      out.first.push_back(out.first.back() + (mine ? 1 : 0));
    }
    return out;
  }
  qa::MatchQuestion prepare(std::string_view, std::span<const qa::MentionRange> mentions) const override {
    qa::MatchQuestion out;
    for (const qa::MentionRange& mention : mentions) {
      CHECK(mention.begin < mention.end);
      out.text.emplace_back("<e>");
    }
    return out;
  }
  void score(const qa::MatchQuestion&, const qa::EncodedPaths& encoded, std::span<const std::uint32_t> which,
             std::span<float> scores, Scratch&) const override {
    REQUIRE(which.empty());
    for (std::size_t i = 0; i < scores.size(); ++i)
      scores[i] = encoded.first[i + 1] > encoded.first[i] ? 8.0F : -8.0F;
  }
  std::vector<std::pair<std::string, double>> attention(const qa::MatchQuestion&, const qa::EncodedPaths&,
                                                        std::uint32_t) const override {
    return {};
  }

 private:
  std::string word_, language_ = "en";
};

std::unique_ptr<qa::Engine> engine_with(test::InventedKb& kb, const std::string& word, double weight) {
  qa::RankWeights weights = qa::lexical_weights();
  weights.of[static_cast<std::size_t>(qa::Feature::fits)] = weight;
  auto models = std::make_shared<qa::LearnedModels>();
  models->english.matcher = std::make_shared<OneMindedMatcher>(word);
  models->ranker = std::make_shared<const qa::Ranker>(weights, qa::lexical_weights());
  qa::EngineOptions options;
  options.learned = models;
  return qa::Engine::open(kb.store(), options).value();
}

qa::Response ask(const qa::Engine& engine, const std::string& question) {
  qa::Request request;
  request.question = question;
  return engine.ask(request).value();
}

std::filesystem::path ranker_folder(const test::ScratchFolder& folder, const std::string& config) {
  std::ofstream(folder / "config.json", std::ios::binary) << config;
  return folder.path();
}

}  // namespace

TEST_CASE("learned: a predicate that no word names is found, as far as the ranker trusts the matcher") {
  test::InventedKb kb;
  // No word of the question stands in a text of the predicate that is asked for.
  const std::string question = "On whose arm does Mira Solberg lean?";
  const qa::Response before = kb.ask(question);
  CHECK(before.answers.empty());
  const qa::Response after = ask(*engine_with(kb, "spouse", 12), question);
  REQUIRE(after.answers.size() >= 1);
  CHECK(after.answers[0].text == "Anton Grell");
  CHECK(std::find(after.models.begin(), after.models.end(), "en-matcher") != after.models.end());
  // What weighs nothing changes nothing.
  CHECK(ask(*engine_with(kb, "spouse", 0), question).answers.empty());
}

TEST_CASE("learned: questions in a language without models are judged by their words") {
  test::InventedKb kb;
  const auto engine = engine_with(kb, "spouse", 12);
  const qa::Response plain = kb.ask("阿瓦里亚的首都是哪里？"),
                     learned = ask(*engine, "阿瓦里亚的首都是哪里？");
  REQUIRE(!plain.answers.empty());
  REQUIRE(!learned.answers.empty());
  CHECK(plain.answers[0].text == learned.answers[0].text);
  CHECK(plain.answers[0].confidence == doctest::Approx(learned.answers[0].confidence));
}

TEST_CASE("learned: the memory answers alone where there is one") {
  test::InventedKb kb;
  const auto engine = engine_with(kb, "spouse", 1);
  qa::Request request;
  request.question = "On whose arm does Mira Solberg lean?";
  request.pipelines = {"memory"};
  CHECK(engine->ask(request)->reason == qa::Reason::unsupported_question);
  CHECK(kb.engine().ask(request).error().hint == "this program has: kb, text");
}

TEST_CASE("ranker: written and read back") {
  const test::ScratchFolder folder;
  qa::RankWeights english = qa::lexical_weights();
  english.of[static_cast<std::size_t>(qa::Feature::matched)] = 1.25;
  english.scale = 0.5;
  english.rival = 0;  // another number than where it is left out
  qa::RankWeights familiar = english;
  familiar.bias = -7;
  const qa::Ranker ranker({english, familiar}, {qa::lexical_weights(), qa::lexical_weights()});
  const auto read = qa::Ranker::load(ranker_folder(folder, ranker.config()));
  REQUIRE(read);
  CHECK(ranker.weights(base::Language::english, true).bias == -7);
  CHECK(ranker.weights(base::Language::english, false).bias != -7);
  for (const base::Language language : {base::Language::english, base::Language::chinese}) {
    for (const bool known : {false, true}) {
      const qa::RankWeights &a = ranker.weights(language, known), &b = (*read)->weights(language, known);
      CHECK(a.of == b.of);
      CHECK(a.bias == b.bias);
      CHECK(a.scale == b.scale);
      CHECK(a.rival == b.rival);
    }
  }
  qa::Features features{};
  features[static_cast<std::size_t>(qa::Feature::coverage)] = 1;
  features[static_cast<std::size_t>(qa::Feature::matched)] = -1;
  CHECK(english.score(features) == doctest::Approx(-3.2 + 3.4 - 1.25));
  CHECK(english.confidence(2) == doctest::Approx(1 / (1 + std::exp(-1.0))));
  english.rival = 0.5;
  CHECK(english.confidence(2, 2) == doctest::Approx(english.confidence(2) / 2));
}

TEST_CASE("ranker: a folder that does not fit is refused") {
  const test::ScratchFolder folder;
  const auto code = [&](const std::string& config) {
    const auto read = qa::Ranker::load(ranker_folder(folder, config));
    REQUIRE(!read);
    CHECK(!read.error().message.empty());
    return read.error().code;
  };
  const std::string head = R"({"format": 1, "kind": "kb-ranker", )";
  CHECK(code("{") == base::ErrorCode::corrupt);
  CHECK(code("[]") == base::ErrorCode::corrupt);
  CHECK(code(R"({"format": 1, "kind": "other", "en": {}, "zh": {}})") == base::ErrorCode::unsupported);
  CHECK(code(R"({"format": 2, "kind": "kb-ranker", "en": {}, "zh": {}})") == base::ErrorCode::unsupported);
  CHECK(code(head + R"("en": {}})") == base::ErrorCode::corrupt);
  CHECK(code(head + R"("en": {"nothing": 1}, "zh": {}})") == base::ErrorCode::corrupt);
  CHECK(code(head + R"("en": {"bias": "1"}, "zh": {}})") == base::ErrorCode::corrupt);
  CHECK(code(head + R"("en": {"bias": 1e9}, "zh": {}})") == base::ErrorCode::corrupt);
  CHECK(code(head + R"("en": {"scale": 0}, "zh": {}})") == base::ErrorCode::corrupt);
  CHECK(code(head + R"("en": {}, "zh": {"rival": 2}})") == base::ErrorCode::corrupt);
  CHECK(qa::Ranker::load(folder / "none").error().code == base::ErrorCode::not_found);
}
