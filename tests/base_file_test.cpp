#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "tests/test_support.h"

namespace askbase::base {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, std::string_view content) { std::ofstream(path, std::ios::binary) << content; }
std::size_t entries(const fs::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

TEST_CASE("results travel") {
  const auto half = [](int value) -> Result<int> {
    if (value % 2 != 0)
      return fail(ErrorCode::invalid_argument, std::to_string(value) + " is odd", "try an even one");
    return value / 2;
  };
  const auto quarter = [&](int value) -> Result<int> {
    ASKBASE_ASSIGN(const int first, half(value));
    ASKBASE_TRY(half(first));
    return half(first);
  };
  CHECK(*quarter(12) == 3);
  REQUIRE_FALSE(quarter(6).has_value());
  CHECK(quarter(6).error().message == "3 is odd");
  CHECK(quarter(5).error().code == ErrorCode::invalid_argument);
  CHECK(quarter(5).error().hint == "try an even one");
  CHECK(error_code_name(ErrorCode::bad_input) == "bad_input");
  CHECK(error_code_name(ErrorCode::io) == "io");
}

TEST_CASE("whole files") {
  const test::ScratchFolder scratch;
  const std::string content("中\0\r\n\xFF", 7);
  put(scratch / "a", content);
  CHECK(*read_file(scratch / "a") == content);
  CHECK(*read_file(scratch / "a", 7) == content);
  CHECK(read_file(scratch / "a", 6).error().code == ErrorCode::too_large);
  put(scratch / "empty", "");
  CHECK(*read_file(scratch / "empty", 0) == "");
  const std::string large(1 << 20, 'x');
  put(scratch / "large", large);
  CHECK(*read_file(scratch / "large") == large);
  CHECK_FALSE(read_file("/proc/self/status")->empty());  // a file whose size the system does not know
  CHECK(read_file("/dev/zero", 1 << 20).error().code == ErrorCode::too_large);

  const Error missing = read_file(scratch / "没有").error();
  CHECK(missing.code == ErrorCode::not_found);
  CHECK(missing.message.find("没有: cannot open: No such file or directory") != std::string::npos);
  CHECK(read_file(scratch / "a/b").error().code == ErrorCode::not_found);
  const Error folder = read_file(scratch.path()).error();
  CHECK(folder.code == ErrorCode::io);
  CHECK(folder.message.find("Is a directory") != std::string::npos);
}

TEST_CASE("atomic writes") {
  const test::ScratchFolder scratch;
  const fs::path path = scratch / "file";
  CHECK(write_file_atomic(path, "one").has_value());
  CHECK(*read_file(path) == "one");
  fs::permissions(path, fs::perms(0640));
  CHECK(write_file_atomic(path, std::string(1 << 20, 'y')).has_value());
  CHECK(read_file(path)->size() == 1 << 20);
  CHECK(fs::status(path).permissions() == fs::perms(0640));
  CHECK(entries(scratch.path()) == 1);  // nothing left beside it

  CHECK(write_file_atomic(scratch / std::string(250, 'n'), "long name").has_value());
  fs::create_symlink("file", scratch / "link");
  CHECK(write_file_atomic(scratch / "link", "through").has_value());
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(*read_file(path) == "through");

  CHECK(write_file_atomic(scratch / "missing" / "file", "x").error().code == ErrorCode::not_found);
  CHECK(write_file_atomic(scratch.path(), "x").error().code == ErrorCode::io);
  CHECK(write_file_atomic("/dev/null", "x").has_value());
  CHECK(fs::is_character_file("/dev/null"));
  const Error full = write_file_atomic("/dev/full", "x").error();
  CHECK(full.code == ErrorCode::io);
  CHECK(full.message.find("No space left on device") != std::string::npos);
  CHECK(full.hint.find("free some space") != std::string::npos);
}

TEST_CASE("a reader sees one content or the other, whole") {
  const test::ScratchFolder scratch;
  const fs::path path = scratch / "file";
  const std::string one(50000, '1'), two(70000, '2');
  REQUIRE(write_file_atomic(path, one).has_value());
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) (void)write_file_atomic(path, i % 2 == 0 ? two : one);
  });
  int torn = 0;
  for (int i = 0; i < 500; ++i) {
    const Result<std::string> seen = read_file(path);
    torn += seen && (*seen == one || *seen == two) ? 0 : 1;
  }
  writer.join();
  CHECK(torn == 0);
}

TEST_CASE("a failed write leaves the old content") {
  if (::geteuid() == 0) {
    // Root writes everywhere: the limit on a file's size stands in for the full disk, in a child process.
    const test::ScratchFolder scratch;
    const fs::path path = scratch / "file";
    REQUIRE(write_file_atomic(path, "old").has_value());
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{1000, 1000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      const Status status = write_file_atomic(path, std::string(5000, 'n'));
      ::_exit(!status && status.error().code == ErrorCode::io ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(*read_file(path) == "old");
    CHECK(entries(scratch.path()) == 1);
  }
}

TEST_CASE("a file made piece by piece replaces the old one at its end, or not at all") {
  const test::ScratchFolder folder;
  put(folder / "f", "old");
  {
    auto abandoned = AtomicFile::create(folder / "f");
    REQUIRE(abandoned.has_value());
    REQUIRE(abandoned->write("half of"));
    CHECK(entries(folder.path()) == 2);
  }
  CHECK(*read_file(folder / "f") == "old");
  CHECK(entries(folder.path()) == 1);
  auto file = AtomicFile::create(folder / "f");
  REQUIRE(file.has_value());
  AtomicFile moved = std::move(*file);
  REQUIRE(moved.write("new "));
  REQUIRE(moved.write("content"));
  CHECK(*read_file(folder / "f") == "old");
  REQUIRE(moved.commit());
  CHECK(*read_file(folder / "f") == "new content");
  CHECK(entries(folder.path()) == 1);
  CHECK(AtomicFile::create(folder.path()).error().code == ErrorCode::io);
  CHECK(AtomicFile::create(folder / "none" / "f").error().code == ErrorCode::not_found);
}

TEST_CASE("folders") {
  const test::ScratchFolder scratch;
  CHECK(make_directories(scratch / "a/b/c").has_value());
  CHECK(make_directories(scratch / "a/b/c").has_value());
  CHECK(fs::is_directory(scratch / "a/b/c"));
  put(scratch / "file", "");
  CHECK_FALSE(make_directories(scratch / "file").has_value());
  CHECK_FALSE(make_directories(scratch / "file/below").has_value());
}

TEST_CASE("one holder at a time") {
  const test::ScratchFolder scratch;
  const fs::path path = scratch / "lock";
  {
    Result<FileLock> first = FileLock::acquire(path, "pid 42: askbase serve");
    REQUIRE(first.has_value());
    const Result<FileLock> second = FileLock::acquire(path, "pid 43");
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == ErrorCode::locked);
    CHECK(second.error().message.find("in use by pid 42: askbase serve") != std::string::npos);
    const FileLock moved = std::move(*first);
    CHECK_FALSE(FileLock::acquire(path, "pid 43").has_value());
  }
  Result<FileLock> third = FileLock::acquire(path, "third");
  REQUIRE(third.has_value());
  Result<FileLock> other = FileLock::acquire(scratch / "other", "other");
  REQUIRE(other.has_value());
  *other = std::move(*third);  // frees "other", keeps "lock"
  CHECK(FileLock::acquire(scratch / "other", "again").has_value());
  CHECK_FALSE(FileLock::acquire(path, "fourth").has_value());
  CHECK(FileLock::acquire(scratch / "no/folder", "x").error().code == ErrorCode::not_found);
}

TEST_CASE("a killed holder frees the lock") {
  const test::ScratchFolder scratch;
  const fs::path path = scratch / "lock";
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<FileLock> held = FileLock::acquire(path, "child");
    (void)!::write(ready[1], held ? "y" : "n", 1);
    while (true) ::pause();
  }
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  CHECK(FileLock::acquire(path, "parent").error().message.find("child") != std::string::npos);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(FileLock::acquire(path, "parent").has_value());
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace askbase::base
