#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <memory>
#include <sched.h>
#include <string>
#include <utility>

namespace askbase::base {
namespace {

// Processors that the affinity mask allows; 0 when it cannot be read.
std::size_t affinity_threads() {
  // Machines with more processors than cpu_set_t holds need a larger mask.
  for (int processors = CPU_SETSIZE; processors <= (1 << 16); processors *= 4) {
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(processors), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
    if (mask == nullptr) return 0;
    CPU_ZERO_S(bytes, mask.get());
    if (::sched_getaffinity(0, bytes, mask.get()) == 0) {
      return static_cast<std::size_t>(CPU_COUNT_S(bytes, mask.get()));
    }
  }
  return 0;
}

// The folder of this process in the cgroup v2 tree ("0::/path" in /proc/self/cgroup).
std::string cgroup_path() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) == 0) return line.substr(3);
  }
  return "/";
}

// Whole processors' worth of time that the cgroup and those above it grant, rounded up; 0 when unlimited.
std::size_t quota_threads() {
  std::size_t least = 0;
  std::string path = cgroup_path();
  while (true) {
    // cpu.max: "max 100000" or "150000 100000" (microseconds of every period).
    std::ifstream file("/sys/fs/cgroup" + (path == "/" ? "" : path) + "/cpu.max");
    long long quota = 0, period = 0;
    if (file >> quota >> period && quota > 0 && period > 0) {
      const auto threads = static_cast<std::size_t>((quota + period - 1) / period);
      if (least == 0 || threads < least) least = threads;
    }
    const std::size_t slash = path.rfind('/');
    if (path.size() <= 1 || slash == std::string::npos) return least;
    path.resize(std::max<std::size_t>(slash, 1));
  }
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) {
  threads_.reserve(std::max<std::size_t>(threads, 1));
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    threads_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::future<void> ThreadPool::submit(std::function<void()> task) {
  std::packaged_task<void()> packaged(std::move(task));
  std::future<void> future = packaged.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(packaged));
  }
  ready_.notify_one();
  return future;
}

void ThreadPool::work() {
  while (true) {
    std::packaged_task<void()> task;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

void ThreadPool::parallel_for(std::size_t count, std::size_t grain,
                              const std::function<void(std::size_t begin, std::size_t end)>& body) {
  if (count == 0) return;
  // A few ranges a thread even out uneven work; none is less than the grain.
  const std::size_t wanted = 4 * (threads_.size() + 1);
  const std::size_t step = std::max({grain, (count + wanted - 1) / wanted, std::size_t{1}});
  if (step >= count) {
    body(0, count);
    return;
  }

  // Shared with the helpers, which may start after this call has returned (and then find nothing to do):
  // waiting for work done, not for helpers started, keeps a busy pool from holding the caller up.
  struct Loop {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable all_done;
    std::size_t done = 0;  // items
    std::exception_ptr problem;
  };
  const auto loop = std::make_shared<Loop>();
  const auto* const shared_body = &body;  // outlives every claimed range: the caller waits for those
  const auto take_part = [loop, shared_body, count, step] {
    while (true) {
      const std::size_t begin = loop->next.fetch_add(step);
      if (begin >= count) return;
      const std::size_t end = std::min(count, begin + step);
      std::exception_ptr problem;
      try {
        (*shared_body)(begin, end);
      } catch (...) {
        problem = std::current_exception();
      }
      const std::lock_guard lock(loop->mutex);
      if (problem && !loop->problem) loop->problem = std::move(problem);
      loop->done += end - begin;
      if (loop->done == count) loop->all_done.notify_all();
    }
  };
  const std::size_t ranges = (count + step - 1) / step;
  for (std::size_t i = 0; i < std::min(threads_.size(), ranges - 1); ++i) submit(take_part);
  take_part();
  std::unique_lock lock(loop->mutex);
  loop->all_done.wait(lock, [&] { return loop->done == count; });
  // Taken out, so that the exception dies here and not with a helper that lets go of the loop later.
  if (const std::exception_ptr problem = std::move(loop->problem)) std::rethrow_exception(problem);
}

std::size_t ThreadPool::hardware_threads() {
  std::size_t threads = affinity_threads();
  if (threads == 0) threads = std::thread::hardware_concurrency();
  if (const std::size_t quota = quota_threads(); quota != 0) threads = std::min(threads, quota);
  return std::max<std::size_t>(threads, 1);
}

}  // namespace askbase::base
