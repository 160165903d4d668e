// A fixed set of threads for parallel loops and background tasks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace askbase::base {

// Thread-safe. The destructor finishes what was submitted.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const { return threads_.size(); }

  // Runs the task on some thread; an exception travels through the future.
  std::future<void> submit(std::function<void()> task);

  // Calls body(begin, end) for disjoint ranges covering [0, count), the caller's thread working too; returns
  // when all are done and rethrows the first exception. grain: the least range worth a task. Not to be
  // called from inside a task of the same pool.
  void parallel_for(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t begin, std::size_t end)>& body);

  // Threads of this machine that the process may use (affinity and cgroup quota respected), at least 1.
  static std::size_t hardware_threads();

 private:
  void work();
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace askbase::base
