// A few threads that share one loop: the parallelism inside a matrix product or a layer.
//
// A call costs some microseconds: between calls the threads look for work for a moment before they sleep,
// which is what makes loops of a tenth of a millisecond worth sharing. base::ThreadPool is for longer tasks.
#pragma once

#include <memory>

#include "nn/matrix.h"

namespace askbase::nn {

// May be shared by several callers: while one uses the threads, the loops of the others run on their own
// thread alone, and so does a loop inside a loop. Ranges depend on count, grain and size only.
class Team {
 public:
  // threads: the caller's one included; 1 starts none.
  explicit Team(int threads = 1);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // body(begin, end) for disjoint ranges that cover [0, count), at most size() of them, each of at least
  // `grain` items. body must not throw.
  template <typename Body>
  void parallel_for(Index count, Index grain, Body&& body) {
    if (count <= 0) return;
    if (size_ == 1 || count < 2 * grain) {
      body(Index{0}, count);
      return;
    }
    run(
        count, grain,
        [](void* b, Index begin, Index end) {
          (*static_cast<std::remove_reference_t<Body>*>(b))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Call = void (*)(void* body, Index begin, Index end);
  void run(Index count, Index grain, Call call, void* body);
  struct Threads;
  int size_;
  std::unique_ptr<Threads> threads_;
};

// A team of the caller's thread alone.
Team& one_thread();

}  // namespace askbase::nn
