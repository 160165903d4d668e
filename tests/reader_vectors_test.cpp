// Vectors of passages, with a model that is made up: where they are kept, what they find, and both rankings.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "base/text.h"
#include "reader/document_load.h"
#include "reader/retrieval.h"
#include "reader/vector_keeper.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::reader;

namespace {

constexpr std::size_t width = 32;

// The same text gives the same direction, texts with the same first word near ones.
std::vector<float> vector_of(std::string_view text) {
  std::vector<float> out(width);
  const auto add = [&](std::string_view words, float weight) {
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string_view>{}(words)));
    std::normal_distribution<float> normal;
    for (float& number : out) number += weight * normal(random);
  };
  add(text.substr(0, text.find(' ')), 1);
  add(text, 0.5F);
  double squares = 0;
  for (const float number : out) squares += static_cast<double>(number) * number;
  for (float& number : out) number /= static_cast<float>(std::sqrt(squares));
  return out;
}

SentenceModel model(char name) {
  SentenceModel made;
  made.hash = std::string(64, name);
  made.width = width;
  made.embed = [](std::span<const std::string_view> texts) -> base::Result<nn::Matrix<float>> {
    nn::Matrix<float> out(static_cast<nn::Index>(texts.size()), width);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::vector<float> row = vector_of(texts[i]);
      std::copy(row.begin(), row.end(), out.row(static_cast<nn::Index>(i)));
    }
    return out;
  };
  return made;
}

void put(kb::Store& store, const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<Document> documents;
  for (const auto& [id, text] : texts) {
    documents.emplace_back();
    documents.back().id = id;
    documents.back().text = text;
  }
  const auto done = put_documents(store, std::move(documents));
  if (!done) FAIL(done.error().message);
}

std::string sentence(std::mt19937& random) {
  static const std::vector<std::string> words = {"river",  "city",  "king",  "engine",
                                                 "museum", "state", "music", "war"};
  std::string text = words[random() % words.size()];
  for (int i = 0; i < 8; ++i) text += " " + words[random() % words.size()];
  return text + ".";
}

std::unique_ptr<kb::Store> opened(const std::filesystem::path& folder) {
  return kb::Store::open(folder, kb::OpenMode::create).value();
}

std::shared_ptr<const PassageVectors> load(const kb::Store& store, const SentenceModel& with,
                                           std::size_t exact_below = compare_all_below) {
  return PassageVectors::load(*store.storage().snapshot(), with, 2, exact_below).value();
}

}  // namespace

TEST_CASE("vectors are made for English passages, kept, and found again") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  std::mt19937 random(3);
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 0; i < 500; ++i)
    texts.emplace_back(std::to_string(i), sentence(random) + " No " + std::to_string(i));
  texts.emplace_back("zh", "张艺谋出生于西安。");
  put(*store, texts);
  const auto before = load(*store, model('a'));
  CHECK(before->size() == 0);
  CHECK(before->missing() == 501);
  const auto made = make_vectors(*store, model('a'));
  REQUIRE(made);
  CHECK(made->made == 500);
  CHECK(made->passages == 501);
  CHECK(make_vectors(*store, model('a'))->passages == 0);
  const auto vectors = load(*store, model('a'));
  CHECK(vectors->size() == 500);
  CHECK(vectors->missing() == 0);
  CHECK(vectors->exact());
  CHECK(vectors->mark() > before->mark());
  // Nearest by vectors of eight bits are nearest by exact ones, but for what is as good as equal.
  const PassageIndex index = PassageIndex::open(store->storage().snapshot()).value();
  const std::vector<float> query = vector_of("king of the river");
  std::vector<PassageHit> exact;
  REQUIRE(index.each_passage(0, [&](std::uint32_t number) {
    const Passage passage = index.passage(number).value();
    if (passage.document == "zh") return true;
    const std::vector<float> own = vector_of(passage.text);
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += static_cast<double>(own[i]) * query[i];
    exact.push_back({number, sum});
    CHECK(vectors->similarity(query, number).value() == doctest::Approx(sum).epsilon(0.02).scale(1));
    return true;
  }));
  std::sort(exact.begin(), exact.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  const auto nearest = vectors->nearest(query, 10);
  REQUIRE(nearest.size() == 10);
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(nearest[i].score == doctest::Approx(exact[i].score).epsilon(0.02).scale(1));
  // The graph finds nearly the same.
  const auto graph = load(*store, model('a'), 100);
  CHECK_FALSE(graph->exact());
  std::size_t same = 0, all = 0;
  for (int round = 0; round < 20; ++round) {
    const std::vector<float> one = vector_of(sentence(random));
    std::set<std::uint32_t> wanted;
    for (const PassageHit& hit : vectors->nearest(one, 10)) wanted.insert(hit.passage);
    for (const PassageHit& hit : graph->nearest(one, 10)) same += wanted.count(hit.passage);
    all += 10;
  }
  CHECK(same * 100 >= all * 95);
  CHECK(check_passages(*store->storage().snapshot())->problems.empty());
}

TEST_CASE("vectors of another model count for nothing, and those of gone documents go with them") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  put(*store, {{"a", "the river is long."}, {"b", "the king is old."}});
  REQUIRE(make_vectors(*store, model('a')));
  CHECK(load(*store, model('b'))->size() == 0);
  CHECK(load(*store, model('b'))->missing() == 2);
  REQUIRE(make_vectors(*store, model('b')));
  CHECK(load(*store, model('b'))->missing() == 0);
  CHECK(load(*store, model('a'))->missing() == 2);
  REQUIRE(delete_document(*store, "a"));
  CHECK(load(*store, model('b'))->size() == 1);
  put(*store, {{"b", "the king is young."}});
  CHECK(load(*store, model('b'))->size() == 0);
  CHECK(load(*store, model('b'))->missing() == 1);
  CHECK(check_passages(*store->storage().snapshot())->problems.empty());
  // Stopped, or with a model that fails: what was there stays.
  CHECK(make_vectors(*store, model('b'), {}, [] { return true; }).error().code == base::ErrorCode::cancelled);
  SentenceModel failing = model('b');
  failing.embed = [](std::span<const std::string_view>) -> base::Result<nn::Matrix<float>> {
    return base::fail(base::ErrorCode::internal, "no");
  };
  CHECK(make_vectors(*store, failing).error().message == "no");
  CHECK(load(*store, model('b'))->missing() == 1);
}

TEST_CASE("both rankings as one") {
  const std::vector<PassageHit> words = {{1, 10}, {2, 6}, {3, 2}}, meaning = {{2, 0.9}, {4, 0.7}, {1, 0.2}};
  const auto none = [](std::uint32_t) -> std::optional<double> { return std::nullopt; };
  const auto order = [](const std::vector<PassageHit>& hits) {
    std::vector<std::uint32_t> passages;
    for (const PassageHit& hit : hits) passages.push_back(hit.passage);
    return passages;
  };
  // By words: mean 6, deviation sqrt(32/3); by meaning: mean 0.6, deviation sqrt(0.26/3).
  const auto fused = fuse(words, meaning, none, 10, {});
  CHECK(order(fused) == std::vector<std::uint32_t>{2, 1, 4, 3});
  CHECK(fused[0].score == doctest::Approx(0.5 * 0 + 0.5 * 0.3 / std::sqrt(0.26 / 3)));
  CHECK(fused[1].score == doctest::Approx(0.5 * 4 / std::sqrt(32.0 / 3) - 0.5 * 0.4 / std::sqrt(0.26 / 3)));
  CHECK(order(fuse(words, meaning, none, 2, {})) == std::vector<std::uint32_t>{2, 1});
  CHECK(order(fuse(words, {}, none, 3, {})) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(order(fuse({}, meaning, none, 3, {})) == std::vector<std::uint32_t>{2, 4, 1});
  CHECK(order(fuse(words, meaning, none, 3, {.words_weight = 1}))[0] == 1);
  CHECK(fuse({}, {}, none, 3, {}).empty());
  // A passage that only words found has its own cosine when there is one.
  const auto near = [](std::uint32_t) -> std::optional<double> { return 0.95; };
  CHECK(order(fuse(words, meaning, near, 1, {.words_weight = 0}))[0] == 3);
}

TEST_CASE("searches: by words alone where vectors do not help") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  put(*store,
      {{"a", "river flows on."}, {"b", "water moves on."}, {"c", "A king reigns."}, {"zh", "北京是首都。"}});
  const SentenceModel with = model('a');
  REQUIRE(make_vectors(*store, with));
  const auto vectors = load(*store, with);
  const PassageIndex index = PassageIndex::open(store->storage().snapshot()).value();
  const auto ids = [&](std::string_view query, const PassageVectors* by, const SentenceModel* using_model) {
    std::vector<std::string> out;
    const auto hits = retrieve(index, by, using_model, query, 10).value();
    for (const PassageHit& hit : hits) out.push_back(index.passage(hit.passage).value().document);
    return out;
  };
  // "water" is near "water moves on." by its first word; all English passages have a place.
  const auto both = ids("water that flows", vectors.get(), &with);
  CHECK(both.size() == 3);
  CHECK(both.back() == "c");
  CHECK(ids("water that flows", nullptr, nullptr).size() == 2);
  CHECK(ids("首都", vectors.get(), &with) == std::vector<std::string>{"zh"});
  const SentenceModel other = model('b');
  CHECK(ids("water that flows", vectors.get(), &other).size() == 2);
  // Too many without a vector: words alone.
  put(*store, {{"d", "water rises."}});
  const auto fewer = load(*store, with);
  CHECK(fewer->missing() == 1);
  CHECK(ids("king", fewer.get(), &with).size() == 1);
  // A passage that is gone is no hit, though its vector is still in memory.
  REQUIRE(delete_document(*store, "b"));
  const PassageIndex later = PassageIndex::open(store->storage().snapshot()).value();
  const auto found = retrieve(later, vectors.get(), &with, "water that flows", 10).value();
  for (const PassageHit& hit : found) CHECK(later.passage(hit.passage).has_value());
}

TEST_CASE("the keeper makes what is missing, while documents come and go") {
  test::ScratchFolder scratch;
  const auto store = opened(scratch / "kb");
  put(*store, {{"a", "the river is long."}});
  VectorKeeper keeper(*store, model('a'), 1);
  const auto complete = [&](std::size_t count) {
    for (int i = 0; i < 400; ++i) {
      if (keeper.status().complete && keeper.vectors()->size() == count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  };
  CHECK(complete(1));
  put(*store, {{"b", "the king is old."}, {"c", "the state is new."}});
  CHECK_FALSE(keeper.status().complete);
  CHECK(complete(3));
  REQUIRE(delete_document(*store, "a"));
  CHECK(complete(2));
  CHECK(keeper.status().problem.empty());
  CHECK(keeper.status().passages == 2);
}
