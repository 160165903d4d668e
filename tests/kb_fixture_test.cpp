// A KB folder of each format that was ever written stands under tests/fixtures (kb-vN), with its export
// beside it (kb-vN.nq, `askbase export --quads`); it must stay readable. It is a backup of a KB that a
// released program made.
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

#include "kb/entity_index.h"
#include "kb/load.h"
#include "kb/store.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;
namespace fs = std::filesystem;

namespace {

std::string exported(const View& view) {
  std::string all;
  const auto sink = [&](std::string_view line) -> base::Status {
    all += line;
    if (!line.ends_with('\n')) all += '\n';
    return {};
  };
  REQUIRE(export_facts(view, sink, true, std::nullopt));
  return all;
}

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

fs::path fixtures() { return test::source_folder() / "tests" / "fixtures"; }

}  // namespace

TEST_CASE("a KB of format 1 is read as it was written") {
  test::ScratchFolder scratch;
  fs::copy(fixtures() / "kb-v1", scratch / "kb", fs::copy_options::recursive);
  const std::string expected = content(fixtures() / "kb-v1.nq");
  REQUIRE(expected.size() > 10'000);
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    auto opened = Store::open(scratch / "kb", mode);
    if (!opened) FAIL(opened.error().message);
    const auto view = (*opened)->view().value();
    CHECK(exported(*view) == expected);
    CHECK(view->facts() == 115);
    CHECK(view->sources().value().size() == 4);
    const auto report = check(**opened);
    REQUIRE(report);
    for (const std::string& problem : report->problems) FAIL_CHECK(problem);
    CHECK_FALSE(find_exact(*view, "WEN JIAYI").value().empty());
  }
  // And goes on from there.
  auto store = Store::open(scratch / "kb", OpenMode::read_write).value();
  auto update = store->begin_update().value();
  REQUIRE(update->remove_source("cities.ttl"));
  CHECK(update->commit().value().facts == 115 - 30);
  CHECK(check(*store).value().problems.empty());
}
