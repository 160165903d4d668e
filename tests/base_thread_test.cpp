#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <numeric>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "tests/test_support.h"

namespace askbase::base {
namespace {

TEST_CASE("tasks run, and what they throw reaches the caller") {
  std::atomic<int> sum{0};
  {
    ThreadPool pool(3);
    CHECK(pool.size() == 3);
    std::vector<std::future<void>> done;
    for (int i = 1; i <= 100; ++i) done.push_back(pool.submit([&sum, i] { sum += i; }));
    for (std::future<void>& future : done) future.get();
    CHECK(sum == 5050);
    ThreadPool single(1);
    std::future<void> bad = single.submit([] { throw std::runtime_error("broken"); });
    // The thread has let go of the exception before it is looked at here: the counts inside the standard
    // library are invisible to the thread sanitizer.
    single.submit([] {}).get();
    CHECK_THROWS_WITH_AS(bad.get(), "broken", std::runtime_error);
    for (int i = 0; i < 1000; ++i) pool.submit([&sum] { ++sum; });
  }
  CHECK(sum == 6050);  // the destructor finished what was submitted
  CHECK(ThreadPool(0).size() == 1);
}

TEST_CASE("loops cover every item once") {
  ThreadPool pool(4);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{100003}}) {
    for (const std::size_t grain : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{1000000}}) {
      std::vector<std::atomic<int>> seen(count);
      std::atomic<bool> ranges_good{true};
      pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
        if (begin >= end || end > count || (end - begin < grain && end != count)) ranges_good = false;
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      CHECK(ranges_good);
      CHECK(std::all_of(seen.begin(), seen.end(), [](const std::atomic<int>& times) { return times == 1; }));
    }
  }
}

TEST_CASE("a loop rethrows, and the pool goes on") {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    CHECK_THROWS_AS(pool.parallel_for(1000, 1,
                                      [](std::size_t begin, std::size_t end) {
                                        if (begin <= 500 && 500 < end) throw std::out_of_range("500");
                                      }),
                    std::out_of_range);
  }
  std::atomic<std::size_t> sum{0};
  pool.parallel_for(1000, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
  CHECK(sum == 1000);
}

TEST_CASE("a loop does not wait for a busy pool") {
  ThreadPool pool(2);
  std::atomic<bool> release{false};
  for (int i = 0; i < 2; ++i) {
    pool.submit([&release] {
      while (!release) std::this_thread::yield();
    });
  }
  std::atomic<std::size_t> sum{0};
  pool.parallel_for(1000, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
  CHECK(sum == 1000);
  release = true;
}

TEST_CASE("several callers share a pool") {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<std::size_t> sum{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        pool.parallel_for(997, 3, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 4 * 50 * 997);
}

TEST_CASE("threads of the machine respect the affinity mask") {
  CHECK(ThreadPool::hardware_threads() >= 1);
  std::size_t within = 0;
  std::thread([&within] {
    cpu_set_t before;
    if (::sched_getaffinity(0, sizeof before, &before) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before)) {
        CPU_SET(cpu, &one);
        break;
      }
    }
    if (::sched_setaffinity(0, sizeof one, &one) == 0) within = ThreadPool::hardware_threads();
  }).join();
  CHECK(within == 1);
}

TEST_CASE("the interrupt flag") {
  clear_interrupt();
  CHECK(check_interrupt().has_value());
  request_interrupt();
  CHECK(interrupted());
  CHECK(check_interrupt().error().code == ErrorCode::cancelled);
  clear_interrupt();
  CHECK_FALSE(interrupted());
}

// Runs the body in a child process with its standard error in a file; returns the wait status.
template <typename Body>
int in_child(const std::filesystem::path& standard_error, const Body& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    std::FILE* const redirected = std::freopen(standard_error.c_str(), "w", stderr);
    body();
    if (redirected != nullptr) std::fflush(redirected);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_CASE("the first signal sets the flag, the second ends the process") {
  const test::ScratchFolder scratch;
  for (const int number : {SIGINT, SIGTERM}) {
    const int status = in_child(scratch / "err", [number] {
      clear_interrupt();
      watch_interrupts();
      ::raise(number);
      if (!interrupted()) ::_exit(1);
      ::raise(number);
      ::_exit(2);
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + number);
  }
}

TEST_CASE("log lines") {
  LogLevel level = LogLevel::off;
  CHECK(parse_log_level("debug", level));
  CHECK(level == LogLevel::debug);
  CHECK_FALSE(parse_log_level("loud", level));
  CHECK(level == LogLevel::debug);

  const test::ScratchFolder scratch;
  in_child(scratch / "text", [] {
    set_log(LogLevel::info, LogFormat::text);
    log(LogLevel::debug, "unseen");
    log_info("seen {} 中国");
    log_warn("two\nlines");
    set_log(LogLevel::off, LogFormat::text);
    log_error("unseen");
  });
  const std::string text = *read_file(scratch / "text");
  CHECK(text.find("unseen") == std::string::npos);
  CHECK(text.find(" info: seen {} 中国\n") != std::string::npos);
  CHECK(text.find(" warn: two\\nlines\n") != std::string::npos);

  in_child(scratch / "json", [] {
    set_log(LogLevel::trace, LogFormat::json);
    log_error("a \"quoted\"\nline \xFF 中");
    log(LogLevel::trace, "");
  });
  const std::string lines = *read_file(scratch / "json");
  const Result<Json> first = parse_json(lines.substr(0, lines.find('\n')));
  REQUIRE(first.has_value());
  CHECK((*first)["message"] == "a \"quoted\"\nline \uFFFD 中");
  CHECK((*first)["level"] == "error");
  CHECK((*first)["time"].get<std::string>().size() == std::string("2024-01-01T00:00:00.000Z").size());
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
}

TEST_CASE("short work shows nothing; longer work lines with a rate") {
  std::vector<std::string> lines;
  const auto sink = [&lines](const std::string& line) { lines.push_back(line); };
  {
    Progress quick("loading", 1000, "facts", sink);
    for (std::uint64_t i = 0; i < 1000; ++i) quick.update(i);
    quick.finish();
  }
  CHECK(lines.empty());

  Progress slow("loading 文件", 2000000, "facts", sink);
  std::this_thread::sleep_for(std::chrono::milliseconds(1050));
  slow.update(500000);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("loading 文件:  25% 500k/2.00M facts, ") == 0);
  CHECK(lines[0].find(" left") != std::string::npos);
  slow.update(500001);
  CHECK(lines.size() == 1);  // not more than one every few seconds
  slow.finish();
  slow.finish();
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].find("loading 文件: 500k facts, ") == 0);
}

}  // namespace
}  // namespace askbase::base
