// Files of link-prediction benchmarks, and the figures of ranks.
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "datasets/link_prediction.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::datasets;
using namespace askbase::test;

namespace {

void put(const std::filesystem::path& path, const std::string& content) {
  REQUIRE(base::make_directories(path.parent_path()));
  REQUIRE(base::write_file_atomic(path, content));
}

std::string refusal(const std::vector<std::filesystem::path>& paths) {
  const auto data = read_link_data(paths);
  REQUIRE_FALSE(data);
  return data.error().message;
}

}  // namespace

TEST_CASE("link data: TSV with names of all kinds, in splits") {
  const ScratchFolder folder;
  put(folder / "train.tsv",
      "New York\tlocated in\tUnited States\r\n北京\t首都\t中国\n\nNew York\tlocated in\tUnited States\n");
  put(folder / "x.valid.tsv", "中国\t首都\t北京\n");
  put(folder / "dev.txt", "only spaces here\n");
  put(folder / "test.tsv", "上海\t首都\t中国\n");
  const auto data =
      read_link_data({folder / "test.tsv", folder / "train.tsv", folder / "x.valid.tsv", folder / "dev.txt"})
          .value();
  CHECK(data.train.size() == 3);
  CHECK(data.valid.size() == 2);
  CHECK(data.test.size() == 1);
  CHECK(data.entities ==
        std::vector<std::string>{"New York", "United States", "北京", "中国", "only", "here", "上海"});
  CHECK(data.relations == std::vector<std::string>{"located in", "首都", "spaces"});
  CHECK(data.train_entities == 4);
  CHECK(data.train_relations == 2);
  CHECK(data.train[1] == LinkFact{2, 1, 3});
  CHECK(data.notices.size() == 1);
  const auto whole = read_link_data({folder.path()}).value();
  CHECK(whole.train == data.train);
  CHECK(whole.valid.size() == 2);
  const auto single = read_link_data({folder / "x.valid.tsv"}).value();
  CHECK(single.valid.size() == 1);
}

TEST_CASE("link data: bad lines are named") {
  const ScratchFolder folder;
  put(folder / "train.tsv", "a\tb\tc\nNew York in America too\n");
  CHECK(refusal({folder / "train.tsv"}).find("train.tsv:2") != std::string::npos);
  put(folder / "train.tsv", "a\tb\n");
  CHECK(refusal({folder / "train.tsv"}).find("2 fields") != std::string::npos);
  put(folder / "train.tsv", "a\t\tc\n");
  CHECK(refusal({folder / "train.tsv"}).find(":1") != std::string::npos);
  put(folder / "train.tsv", "a\tb\tc\td\n");
  CHECK(refusal({folder / "train.tsv"}).find("4 fields") != std::string::npos);
  put(folder / "train.tsv", "a\tb\t\xFF\n");
  CHECK(refusal({folder / "train.tsv"}).find("UTF-8") != std::string::npos);
  put(folder / "facts.tsv", "a\tb\tc\n");
  put(folder / "more.tsv", "a\tb\tc\n");
  CHECK(refusal({folder / "facts.tsv", folder / "more.tsv"}).find("unclear") != std::string::npos);
  CHECK(read_link_data({folder / "facts.tsv"})->test.size() == 1);
  CHECK_FALSE(read_link_data({folder / "none.tsv"}));
  put(folder / "empty/readme.md", "");
  CHECK(refusal({folder / "empty"}).find("no files") != std::string::npos);
  CHECK(refusal({folder / "empty", folder / "facts.tsv"}).find("folder among files") != std::string::npos);
  put(folder / "train.tsv", "");
  CHECK(read_link_data({folder / "train.tsv"})->train.empty());
}

TEST_CASE("link data: OpenKE folders, ids from any base") {
  const ScratchFolder folder;
  put(folder / "entity2id.txt", "4\nNew York City\t10\n中国\t11\nc\t13\nunused\t40\n");
  put(folder / "relation2id.txt", "2\nis in\t1\n首都\t2\n");
  put(folder / "train2id.txt", "2\n10 11 1\n11\t13\t2\n");
  put(folder / "test2id.txt", "5\n13 10 2\n");
  const auto data = read_link_data({folder.path()}).value();
  CHECK(data.entities == std::vector<std::string>{"New York City", "中国", "c", "unused"});
  CHECK(data.train == std::vector<LinkFact>{{0, 0, 1}, {1, 1, 2}});
  CHECK(data.test == std::vector<LinkFact>{{2, 1, 0}});
  CHECK(data.train_entities == 3);
  REQUIRE(data.notices.size() == 1);
  CHECK(data.notices[0].find("announces 5") != std::string::npos);

  put(folder / "train2id.txt", "2\n10 1 11\n11 2 13\n");  // head, relation, tail
  put(folder / "test2id.txt", "1\n13 2 10\n");
  CHECK(read_link_data({folder.path()})->train == data.train);
  CHECK(refusal({folder / "entity2id.txt", folder / "train2id.txt"}).find("unclear") != std::string::npos);
  put(folder / "test2id.txt", "13 2 99\n");
  CHECK(refusal({folder.path()}).find("id2") == std::string::npos);
  CHECK_FALSE(read_link_data({folder.path()}, {"hrt"}));
  CHECK(read_link_data({folder.path()}, {"hrt"}).error().message.find("99") != std::string::npos);
  put(folder / "test2id.txt", "13 x 10\n");
  CHECK(refusal({folder.path()}).find("test2id.txt:1") != std::string::npos);
  put(folder / "test2id.txt", "1\n13 10\n");
  CHECK(refusal({folder.path()}).find("three ids") != std::string::npos);
  put(folder / "test2id.txt", "");
  put(folder / "entity2id.txt", "2\na\t10\nb\t10\n");
  CHECK(refusal({folder.path()}).find("twice") != std::string::npos);
  put(folder / "entity2id.txt", "2\na b c\n");
  CHECK(refusal({folder.path()}).find("no number") != std::string::npos);
}

TEST_CASE("link figures: means over both ends, intervals over facts") {
  const std::vector<double> ranks = {1, 2, 4, 10.5, 1, 1};
  const LinkFigures figures = link_figures(ranks, 2);
  CHECK(figures.ranks == 6);
  CHECK(*figures.mrr.value == doctest::Approx((1 + 0.5 + 0.25 + 1 / 10.5 + 2) / 6));
  CHECK(*figures.hits_at_1.value == doctest::Approx(0.5));
  CHECK(*figures.hits_at_3.value == doctest::Approx(4.0 / 6));
  CHECK(*figures.hits_at_10.value == doctest::Approx(5.0 / 6));
  CHECK(*figures.mean_rank.value == doctest::Approx(19.5 / 6));
  CHECK(figures.mrr.interval->low < *figures.mrr.value);
  CHECK(figures.mrr.interval->high > *figures.mrr.value);
  const LinkFigures again = link_figures(ranks, 2);
  CHECK(again.mrr.interval->low == figures.mrr.interval->low);
  CHECK_FALSE(link_figures(ranks, 2, {.resamples = 0}).mrr.interval);
  CHECK_FALSE(link_figures({}, 2).mrr.value);
}
