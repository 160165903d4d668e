#include <array>
#include <chrono>
#include <cstring>
#include <doctest/doctest.h>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "kb/storage.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;
namespace fs = std::filesystem;

namespace {

constexpr std::array<Table, 3> three = {Table::spo, Table::pos, Table::by_source};

std::unique_ptr<Storage> opened(const fs::path& folder, OpenMode mode, const StorageOptions& options = {}) {
  auto storage = Storage::open(folder, mode, options);
  if (!storage) FAIL(storage.error().message);
  return std::move(*storage);
}

base::ErrorCode refused(const fs::path& folder, OpenMode mode) {
  auto storage = Storage::open(folder, mode);
  REQUIRE_FALSE(storage);
  CHECK(storage.error().message.find(folder.string()) != std::string::npos);
  CHECK_FALSE(storage.error().hint.empty());
  return storage.error().code;
}

std::string key_of(std::uint64_t n, int part) {
  char text[32];
  std::snprintf(text, sizeof text, "%08d-%05d", static_cast<int>(n), part);
  return text;
}

// Commit number n: the same keys in three tables, and the number in meta.
base::Status commit_number(Storage& storage, std::uint64_t n, int parts) {
  ASKBASE_ASSIGN(const auto write, storage.begin_write());
  for (const Table table : three)
    for (int i = 0; i < parts; ++i) ASKBASE_TRY(write->put(table, key_of(n, i), std::string(20, 'v')));
  ASKBASE_TRY(write->put(Table::meta, "number", std::to_string(n)));
  return write->commit();
}

// The number of the last commit, once all tables agree that every commit up to it is there and complete. -1:
// not.
std::int64_t agreed_number(const Storage& storage, int parts) {
  const auto snapshot = storage.snapshot();
  std::string value;
  const auto found = snapshot->get(Table::meta, "number", value);
  if (!found) return -1;
  const std::int64_t number = *found ? std::stoll(value) : 0;
  for (const Table table : three) {
    const auto cursor = snapshot->cursor(table, {});
    cursor->seek({});
    for (std::int64_t n = 1; n <= number; ++n)
      for (int i = 0; i < parts; ++i, cursor->next())
        if (!cursor->valid() || cursor->key() != key_of(static_cast<std::uint64_t>(n), i)) return -1;
    if (cursor->valid() || !cursor->status()) return -1;
  }
  return number;
}

StorageOptions by_files() {
  StorageOptions options;
  options.batch_bytes = 0;
  options.file_bytes = 4000;
  return options;
}

// RocksDB's threads do not survive a fork: a child runs this program anew, for one of the cases below that
// are skipped otherwise. files: whether its commits go by files. fd: a pipe for it to write to.
pid_t in_child(const std::string& name, const fs::path& kb, bool files, int fd = -1) {
  const std::string select = "-tc=child: " + name;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("ASKBASE_TEST_KB", kb.c_str(), 1);
  ::setenv("ASKBASE_TEST_FILES", files ? "1" : "0", 1);
  ::setenv("ASKBASE_TEST_FD", std::to_string(fd).c_str(), 1);
  ::execl("/proc/self/exe", "kb_tests", select.c_str(), "--no-skip", "--quiet", static_cast<char*>(nullptr));
  ::_exit(99);
}
fs::path child_kb() { return std::getenv("ASKBASE_TEST_KB"); }
int child_fd() { return std::atoi(std::getenv("ASKBASE_TEST_FD")); }
int exit_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

StorageOptions child_options() {
  return std::strcmp(std::getenv("ASKBASE_TEST_FILES"), "1") == 0 ? by_files() : StorageOptions{};
}

void fill(const fs::path& folder) {
  const auto storage = opened(folder, OpenMode::create, by_files());
  for (std::uint64_t n = 1; n <= 3; ++n) REQUIRE(commit_number(*storage, n, 50));
}

std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> listing(const fs::path& folder) {
  std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    files[entry.path().string()] = {entry.is_regular_file() ? entry.file_size() : 0, entry.last_write_time()};
  return files;
}

fs::path some_file(const fs::path& folder, const std::string& start, const std::string& end) {
  for (const auto& entry : fs::directory_iterator(folder / "facts")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && name.ends_with(end) && entry.file_size() > 0) return entry.path();
  }
  FAIL("no file " << start << end);
  return {};
}

}  // namespace

#define CHILD(name) TEST_CASE("child: " name* doctest::skip())

CHILD("open for writing") {
  const auto other = Storage::open(child_kb(), OpenMode::read_write);
  ::_exit(other || other.error().code != base::ErrorCode::locked ? 1 : 0);
}

CHILD("read without rights") {
  if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(2);  // root may write anywhere
  const auto storage = Storage::open(child_kb(), OpenMode::read_only);
  if (!storage || agreed_number(**storage, 50) != 3) ::_exit(1);
  const auto writer = Storage::open(child_kb(), OpenMode::read_write);
  ::_exit(!writer && writer.error().code == base::ErrorCode::io ? 0 : 3);
}

CHILD("make") {
  const auto storage = Storage::open(child_kb(), OpenMode::create);
  ::_exit(storage ? 0 : 1);
}

CHILD("commit until killed") {
  auto storage = Storage::open(child_kb(), OpenMode::create, child_options());
  if (!storage) ::_exit(1);
  for (auto n = static_cast<std::uint64_t>(agreed_number(**storage, 40)) + 1;; ++n) {
    if (!commit_number(**storage, n, 40)) ::_exit(1);
    if (::write(child_fd(), &n, sizeof n) != sizeof n) ::_exit(1);
  }
}

CHILD("read again and again") {
  std::int64_t last = 3;
  for (int i = 0; i < 8; ++i) {
    auto storage = Storage::open(child_kb(), OpenMode::read_only);
    if (!storage) ::_exit(1);
    const std::int64_t number = agreed_number(**storage, 50);
    if (number < last) ::_exit(2);
    last = number;
  }
  ::_exit(0);
}

CHILD("write to a full disk") {
  ::signal(SIGXFSZ, SIG_IGN);
  auto storage = Storage::open(child_kb(), OpenMode::read_write, child_options());
  if (!storage) ::_exit(1);
  rlimit limit = {};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t all = limit.rlim_cur;
  limit.rlim_cur = 3000;  // no file may grow beyond
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const base::Status full = commit_number(**storage, 4, 2000);
  if (full || full.error().code != base::ErrorCode::io) ::_exit(2);
  if (agreed_number(**storage, 50) != 3) ::_exit(3);
  limit.rlim_cur = all;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  storage->reset();
  storage = Storage::open(child_kb(), OpenMode::read_write, child_options());
  if (!storage || !commit_number(**storage, 4, 50)) ::_exit(4);
  ::_exit(agreed_number(**storage, 50) == 4 ? 0 : 5);
}

TEST_CASE("folders that are no KB") {
  test::ScratchFolder scratch;
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    CHECK(refused(scratch / "absent", mode) == base::ErrorCode::not_found);
    CHECK_FALSE(fs::exists(scratch / "absent"));
    CHECK(refused(scratch.path(), mode) == base::ErrorCode::not_found);
    CHECK(fs::is_empty(scratch.path()));
  }
  std::ofstream(scratch / "letter.txt") << "dear";
  CHECK(refused(scratch.path(), OpenMode::create) == base::ErrorCode::invalid_argument);
  CHECK(refused(scratch / "letter.txt", OpenMode::create) == base::ErrorCode::invalid_argument);
  CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a write is seen whole or not at all") {
  for (const StorageOptions& options : {StorageOptions{}, by_files()}) {
    test::ScratchFolder scratch;
    const auto storage = opened(scratch / "kb", OpenMode::create, options);
    const auto empty = storage->snapshot();
    REQUIRE(commit_number(*storage, 1, 500));
    const auto one = storage->snapshot();
    {
      auto dropped = storage->begin_write().value();
      for (int i = 0; i < 2000; ++i) REQUIRE(dropped->put(Table::spo, key_of(9, i), "x"));
      CHECK(storage->begin_write().error().code == base::ErrorCode::locked);
    }
    CHECK(agreed_number(*storage, 500) == 1);
    {
      auto write = storage->begin_write().value();
      for (int i = 0; i < 500; ++i) REQUIRE(write->erase(Table::spo, key_of(1, i)));
      REQUIRE(write->put(Table::osp, "a", "b"));
      REQUIRE(write->commit());
    }
    std::string value;
    CHECK_FALSE(storage->snapshot()->get(Table::spo, key_of(1, 3), value).value());
    CHECK(storage->snapshot()->get(Table::osp, "a", value).value());
    CHECK(one->get(Table::spo, key_of(1, 3), value).value());
    CHECK_FALSE(one->get(Table::osp, "a", value).value());
    CHECK_FALSE(empty->get(Table::spo, key_of(1, 3), value).value());
  }
}

TEST_CASE("keys must ascend") {
  test::ScratchFolder scratch;
  const auto storage = opened(scratch / "kb", OpenMode::create);
  auto write = storage->begin_write().value();
  REQUIRE(write->put(Table::spo, "b", ""));
  CHECK(write->put(Table::spo, "b", "").error().code == base::ErrorCode::internal);
  CHECK(write->erase(Table::spo, "a").error().code == base::ErrorCode::internal);
  CHECK(write->put(Table::spo, "", "").error().code == base::ErrorCode::internal);
  CHECK(write->put(Table::pos, "a", ""));
}

TEST_CASE("cursors keep to their prefix") {
  test::ScratchFolder scratch;
  const auto storage = opened(scratch / "kb", OpenMode::create);
  auto write = storage->begin_write().value();
  for (const char* key : {"a", "b", "b1", "b2", "c", "\xFF", "\xFF\xFF", "\xFF\xFF\x01"})
    REQUIRE(write->put(Table::spo, key, key));
  REQUIRE(write->commit());
  const auto keys = [&](std::string_view prefix, std::string_view from) {
    std::string all;
    const auto cursor = storage->snapshot()->cursor(Table::spo, prefix);
    CHECK_FALSE(cursor->valid());
    for (cursor->seek(from); cursor->valid(); cursor->next()) all += std::string(cursor->key()) + ' ';
    return all;
  };
  CHECK(keys("b", "") == "b b1 b2 ");
  CHECK(keys("b", "b11") == "b2 ");
  CHECK(keys("b", "c") == "");
  CHECK(keys("", "c") == "c \xFF \xFF\xFF \xFF\xFF\x01 ");
  CHECK(keys("\xFF\xFF", "") == "\xFF\xFF \xFF\xFF\x01 ");
  CHECK(keys("x", "") == "");
}

TEST_CASE("a second writer is told who holds the KB; readers are not held up") {
  test::ScratchFolder scratch;
  fill(scratch / "kb");
  const auto storage = opened(scratch / "kb", OpenMode::read_write, {.holder = "askbase load people.ttl"});
  const auto second = Storage::open(scratch / "kb", OpenMode::read_write);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == base::ErrorCode::locked);
  CHECK(second.error().message.find("pid " + std::to_string(::getpid()) + ": askbase load people.ttl") !=
        std::string::npos);
  CHECK(exit_of(in_child("open for writing", scratch / "kb", false)) == 0);
  CHECK(agreed_number(*opened(scratch / "kb", OpenMode::read_only), 50) == 3);
}

TEST_CASE("opening for reading writes nothing, and needs no right to") {
  test::ScratchFolder scratch;
  fill(scratch / "kb");
  ::chmod(scratch.path().c_str(), 0755);
  const auto before = listing(scratch / "kb");
  {
    const auto storage = opened(scratch / "kb", OpenMode::read_only);
    CHECK(agreed_number(*storage, 50) == 3);
    CHECK_FALSE(storage->begin_write());
  }
  CHECK(listing(scratch / "kb") == before);
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "kb"))
    ::chmod(entry.path().c_str(), entry.is_directory() ? 0555 : 0444);
  ::chmod((scratch / "kb").c_str(), 0555);
  CHECK(exit_of(in_child("read without rights", scratch / "kb", false)) == 0);
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "kb"))
    if (entry.is_directory()) ::chmod(entry.path().c_str(), 0755);
  ::chmod((scratch / "kb").c_str(), 0755);
}

TEST_CASE("damage is called damage") {
  const std::map<std::string, std::function<void(const fs::path&)>> ways = {
      {"manifest cut",
       [](const fs::path& kb) {
         const fs::path file = some_file(kb, "MANIFEST-", "");
         fs::resize_file(file, fs::file_size(file) / 2);
       }},
      {"manifest emptied", [](const fs::path& kb) { fs::resize_file(some_file(kb, "MANIFEST-", ""), 0); }},
      {"manifest gone", [](const fs::path& kb) { fs::remove(some_file(kb, "MANIFEST-", "")); }},
      {"CURRENT gone", [](const fs::path& kb) { fs::remove(kb / "facts" / "CURRENT"); }},
      {"CURRENT garbage", [](const fs::path& kb) { std::ofstream(kb / "facts" / "CURRENT") << "???\n"; }},
      {"sorted file gone", [](const fs::path& kb) { fs::remove(some_file(kb, "", ".sst")); }},
      {"sorted file cut", [](const fs::path& kb) { fs::resize_file(some_file(kb, "", ".sst"), 10); }},
      {"sorted file garbage",
       [](const fs::path& kb) {
         const fs::path file = some_file(kb, "", ".sst");
         const auto size = fs::file_size(file);
         std::ofstream(file, std::ios::trunc) << std::string(size, 'g');
       }},
  };
  for (const auto& [name, damage] : ways) {
    CAPTURE(name);
    test::ScratchFolder scratch;
    fill(scratch / "kb");
    damage(scratch / "kb");
    for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write, OpenMode::create})
      CHECK(refused(scratch / "kb", mode) == base::ErrorCode::corrupt);
  }
}

TEST_CASE("a flipped bit is found by the checksums") {
  test::ScratchFolder scratch;
  fill(scratch / "kb");
  CHECK(opened(scratch / "kb", OpenMode::read_only)->verify_checksums());
  const fs::path file = some_file(scratch / "kb", "", ".sst");
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(5);
  bytes.put('\x55');
  bytes.close();
  auto storage = Storage::open(scratch / "kb", OpenMode::read_only);
  const base::Status verified =
      storage ? (*storage)->verify_checksums() : base::Status(tl::unexpected(storage.error()));
  REQUIRE_FALSE(verified);
  CHECK(verified.error().code == base::ErrorCode::corrupt);
}

TEST_CASE("a KB of a newer format is left alone") {
  test::ScratchFolder scratch;
  {
    const auto storage = opened(scratch / "kb", OpenMode::create);
    auto write = storage->begin_write().value();
    REQUIRE(write->put(Table::meta, "format", std::to_string(format_version + 1)));
    REQUIRE(write->commit());
  }
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write, OpenMode::create})
    CHECK(refused(scratch / "kb", mode) == base::ErrorCode::unsupported);
}

TEST_CASE("killed at any moment, the KB is as before or as after") {
  std::mt19937 random(21);
  for (const bool files : {false, true}) {
    test::ScratchFolder scratch;
    std::int64_t number = 0;
    for (int round = 0; round < 4; ++round) {
      int pipe[2];
      REQUIRE(::pipe(pipe) == 0);
      const pid_t child = in_child("commit until killed", scratch / "kb", files, pipe[1]);
      ::close(pipe[1]);
      // At least one commit, so that there is something to lose; then any moment of the following ones.
      std::uint64_t told = static_cast<std::uint64_t>(number);
      REQUIRE(::read(pipe[0], &told, sizeof told) == sizeof told);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
      ::kill(child, SIGKILL);
      CHECK(exit_of(child) == -1);
      while (::read(pipe[0], &told, sizeof told) == sizeof told) {
      }
      ::close(pipe[0]);
      const std::int64_t seen_by_reader = agreed_number(*opened(scratch / "kb", OpenMode::read_only), 40);
      const auto storage = opened(scratch / "kb", OpenMode::read_write);
      number = agreed_number(*storage, 40);
      CHECK(seen_by_reader == number);
      CHECK(number >= static_cast<std::int64_t>(told));
      CHECK(number <= static_cast<std::int64_t>(told) + 1);
    }
    CHECK(number > 0);
  }
}

TEST_CASE("killed while a KB is made, the next one can make it") {
  std::mt19937 random(22);
  test::ScratchFolder scratch;
  for (int round = 0; round < 8; ++round) {
    const pid_t child = in_child("make", scratch / "kb", false);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    ::kill(child, SIGKILL);
    exit_of(child);
  }
  CHECK(agreed_number(*opened(scratch / "kb", OpenMode::create), 1) == 0);
}

TEST_CASE("processes that read while another writes see whole commits") {
  for (const StorageOptions& options : {StorageOptions{}, by_files()}) {
    test::ScratchFolder scratch;
    fill(scratch / "kb");
    std::array<pid_t, 2> readers = {};
    for (pid_t& reader : readers) reader = in_child("read again and again", scratch / "kb", false);
    {
      const auto storage = opened(scratch / "kb", OpenMode::read_write, options);
      for (std::uint64_t n = 4; n <= 20; ++n) {
        REQUIRE(commit_number(*storage, n, 50));
        if (n % 10 == 0) REQUIRE(storage->compact(Table::spo));
      }
    }
    for (const pid_t reader : readers) CHECK(exit_of(reader) == 0);
  }
}

TEST_CASE("a full disk leaves the KB as it was, and usable") {
  for (const bool files : {false, true}) {
    test::ScratchFolder scratch;
    fill(scratch / "kb");
    CHECK(exit_of(in_child("write to a full disk", scratch / "kb", files)) == 0);
    CHECK(agreed_number(*opened(scratch / "kb", OpenMode::read_write), 50) == 4);
  }
}

TEST_CASE("a checkpoint is one state, also while commits go on") {
  test::ScratchFolder scratch;
  fill(scratch / "kb");
  const auto storage = opened(scratch / "kb", OpenMode::read_write);
  const auto reader = opened(scratch / "kb", OpenMode::read_only);
  std::thread writer([&] {
    for (std::uint64_t n = 4; n <= 40; ++n)
      if (!commit_number(*storage, n, 50)) return;
  });
  for (int i = 0; i < 4; ++i) {
    const fs::path copy = scratch / ("copy" + std::to_string(i));
    const Storage& from = i % 2 == 0 ? *storage : *reader;
    CHECK(from.checkpoint(copy));
    CHECK(agreed_number(*opened(copy, OpenMode::read_only), 50) >= 3);
    const base::Status again = from.checkpoint(copy);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == base::ErrorCode::invalid_argument);
  }
  writer.join();
  CHECK(agreed_number(*storage, 50) == 40);
  // The copy goes its own way.
  const auto copy = opened(scratch / "copy0", OpenMode::read_write);
  const std::int64_t number = agreed_number(*copy, 50);
  REQUIRE(commit_number(*copy, static_cast<std::uint64_t>(number) + 1, 50));
  CHECK(agreed_number(*copy, 50) == number + 1);
  CHECK(agreed_number(*storage, 50) == 40);
}
