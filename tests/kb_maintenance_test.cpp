#include <doctest/doctest.h>
#include <fstream>
#include <thread>

#include "kb/maintenance.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;
namespace fs = std::filesystem;

namespace {

void add_facts(Store& store, const std::string& source_name, int from, int to) {
  auto update = store.begin_update().value();
  Source record;
  record.name = source_name;
  const SourceId source = update->source(record, false).value();
  for (int i = from; i < to; ++i)
    REQUIRE(
        update->add(source, Term::iri("urn:s" + std::to_string(i)), Term::iri("urn:p"), Term::integer(i), 0));
  REQUIRE(update->commit());
}

std::unique_ptr<Store> opened(const fs::path& folder, OpenMode mode) {
  auto store = Store::open(folder, mode);
  if (!store) FAIL(store.error().message);
  return std::move(*store);
}

std::uint64_t facts_in(const fs::path& folder) {
  const auto store = opened(folder, OpenMode::read_only);
  CHECK(check(*store).value().problems.empty());
  return store->view().value()->facts();
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void set_format(const fs::path& folder, const std::string& format) {
  auto storage = Storage::open(folder, OpenMode::read_write).value();
  auto write = storage->begin_write().value();
  REQUIRE(write->put(Table::meta, "format", format));
  REQUIRE(write->commit());
}

}  // namespace

TEST_CASE("a backup taken while facts come in, and back") {
  test::ScratchFolder scratch;
  auto store = opened(scratch / "kb", OpenMode::create);
  add_facts(*store, "a", 0, 100);
  std::thread writer([&] {
    for (int i = 100; i < 160; i += 10) add_facts(*store, "b", i, i + 10);
  });
  REQUIRE(backup(*store, scratch / "deep" / "backup"));
  writer.join();
  const std::uint64_t saved = facts_in(scratch / "deep" / "backup");
  CHECK(saved >= 100);
  CHECK(saved % 10 == 0);
  CHECK(backup(*store, scratch / "deep" / "backup").error().code == base::ErrorCode::invalid_argument);

  REQUIRE(restore(scratch / "deep" / "backup", scratch / "restored"));
  CHECK(facts_in(scratch / "restored") == saved);
  CHECK(restore(scratch / "deep" / "backup", scratch / "restored").error().code ==
        base::ErrorCode::invalid_argument);
  CHECK(restore(scratch / "nothing", scratch / "again").error().code == base::ErrorCode::not_found);
  // Both live on, each on its own.
  add_facts(*opened(scratch / "restored", OpenMode::read_write), "c", 1000, 1001);
  CHECK(facts_in(scratch / "restored") == saved + 1);
  CHECK(facts_in(scratch / "deep" / "backup") == saved);
  CHECK(store->view().value()->facts() == 160);
  CHECK(entries(scratch.path()) == 3);  // kb, deep, restored: nothing half done is left
}

TEST_CASE("a damaged backup is not restored") {
  test::ScratchFolder scratch;
  {
    auto storage = Storage::open(scratch / "backup", OpenMode::create, {.batch_bytes = 0}).value();
    auto write = storage->begin_write().value();
    for (int i = 1000; i < 3000; ++i)
      REQUIRE(write->put(Table::terms, std::to_string(i), std::to_string(i * 7919)));
    REQUIRE(write->commit());
  }
  for (const auto& entry : fs::directory_iterator(scratch / "backup" / "facts")) {
    if (entry.path().extension() != ".sst" || entry.file_size() < 2000) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(700);
    file << "damage";
  }
  const base::Status restored = restore(scratch / "backup", scratch / "kb");
  REQUIRE_FALSE(restored);
  CHECK(restored.error().code == base::ErrorCode::corrupt);
  CHECK(entries(scratch.path()) == 1);
}

TEST_CASE("a KB of the present format needs no upgrade") {
  test::ScratchFolder scratch;
  add_facts(*opened(scratch / "kb", OpenMode::create), "a", 0, 10);
  const auto report = upgrade(scratch / "kb");
  REQUIRE(report);
  CHECK(report->from == format_version);
  CHECK(report->to == format_version);
  CHECK(report->kept.empty());
  CHECK(entries(scratch.path()) == 1);
  CHECK(upgrade(scratch / "nothing").error().code == base::ErrorCode::not_found);
}

TEST_CASE("steps of an upgrade work on a copy, which takes the KB's place when it is right") {
  test::ScratchFolder scratch;
  add_facts(*opened(scratch / "kb", OpenMode::create), "a", 0, 10);
  set_format(scratch / "kb", "0");
  CHECK(upgrade(scratch / "kb").error().code == base::ErrorCode::unsupported);

  const auto failing = [](Storage&) -> base::Status { return base::fail(base::ErrorCode::io, "no"); };
  CHECK(upgrade_by(scratch / "kb", {{0, failing}}).error().message == "no");
  const auto wrong = [](Storage& storage) -> base::Status {
    ASKBASE_ASSIGN(const auto write, storage.begin_write());
    ASKBASE_TRY(write->put(Table::meta, "facts", "\x0B"));  // 11, and there are 10
    return write->commit();
  };
  CHECK(upgrade_by(scratch / "kb", {{0, wrong}}).error().code == base::ErrorCode::corrupt);
  CHECK(entries(scratch.path()) == 1);

  const auto right = [](Storage& storage) -> base::Status {
    ASKBASE_ASSIGN(const auto write, storage.begin_write());
    ASKBASE_TRY(write->put(Table::meta, "upgraded", "yes"));
    return write->commit();
  };
  const auto report = upgrade_by(scratch / "kb", {{0, right}});
  if (!report) FAIL(report.error().message);
  CHECK(report->from == 0);
  CHECK(report->to == format_version);
  CHECK(report->kept == scratch / "kb.format-0");
  CHECK(entries(scratch.path()) == 2);
  CHECK(facts_in(scratch / "kb") == 10);
  std::string value;
  CHECK(Storage::open(scratch / "kb", OpenMode::read_only)
            .value()
            ->snapshot()
            ->get(Table::meta, "upgraded", value)
            .value());
  CHECK(Storage::open(report->kept, OpenMode::read_only).error().code == base::ErrorCode::unsupported);
}

TEST_CASE("an upgrade needs the KB to itself") {
  test::ScratchFolder scratch;
  auto store = opened(scratch / "kb", OpenMode::create);
  CHECK(upgrade(scratch / "kb").error().code == base::ErrorCode::locked);
}
