#include "nn/team.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace askbase::nn {

namespace {

thread_local bool inside_team = false;

// How often a thread looks before it sleeps: some 30 microseconds. More would burn the processor that another
// program needs, less would pay for a wake-up at every layer.
constexpr int kLooks = 4000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct Team::Threads {
  std::mutex owner;
  std::atomic<unsigned> round{0};
  std::atomic<int> running{0};
  std::atomic<bool> stopping{false};
  Index count = 0;
  Index parts = 1;
  Call call = nullptr;
  void* body = nullptr;
  std::vector<std::thread> threads;

  void part(Index k) const {
    const Index begin = count * k / parts, end = count * (k + 1) / parts;
    if (begin < end) call(body, begin, end);
  }

  void work(Index k) {
    inside_team = true;
    unsigned seen = 0;
    for (;;) {
      for (int look = 0; look < kLooks && round.load(std::memory_order_acquire) == seen; ++look) pause();
      round.wait(seen, std::memory_order_acquire);
      seen = round.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_acquire)) return;
      if (k < parts) part(k);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) running.notify_one();
    }
  }
};

Team::Team(int threads) : size_(std::max(1, threads)) {
  if (size_ == 1) return;
  threads_ = std::make_unique<Threads>();
  for (int k = 1; k < size_; ++k) threads_->threads.emplace_back([this, k] { threads_->work(k); });
}

Team::~Team() {
  if (!threads_) return;
  threads_->stopping = true;
  threads_->round.fetch_add(1, std::memory_order_release);
  threads_->round.notify_all();
  for (std::thread& thread : threads_->threads) thread.join();
}

void Team::run(Index count, Index grain, Call call, void* body) {
  std::unique_lock lock(threads_->owner, std::defer_lock);
  if (inside_team || !lock.try_lock()) {
    call(body, 0, count);
    return;
  }
  Threads& t = *threads_;
  t.count = count;
  t.parts = std::min<Index>(size_, count / std::max<Index>(1, grain));
  t.call = call;
  t.body = body;
  t.running.store(size_ - 1, std::memory_order_relaxed);
  t.round.fetch_add(1, std::memory_order_release);
  t.round.notify_all();
  inside_team = true;
  t.part(0);
  inside_team = false;
  for (int look = 0; look < kLooks && t.running.load(std::memory_order_acquire) != 0; ++look) pause();
  for (int left = t.running.load(std::memory_order_acquire); left != 0;
       left = t.running.load(std::memory_order_acquire)) {
    t.running.wait(left, std::memory_order_acquire);
  }
}

Team& one_thread() {
  static Team team(1);
  return team;
}

}  // namespace askbase::nn
