#include "cli/asking.h"

#include <atomic>
#include <mutex>
#include <optional>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/thread_pool.h"

namespace askbase::cli {

base::Status for_each_question(std::size_t questions, const Globals& globals,
                               const std::function<base::Status(std::size_t)>& ask) {
  std::mutex mutex;  // of progress and first_error
  base::Progress progress("asking", questions, "questions");
  std::optional<base::Error> first_error;
  std::atomic<std::size_t> done = 0;
  std::atomic<bool> failed = false;
  base::ThreadPool pool(globals.thread_count());
  pool.parallel_for(questions, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && !failed; ++i) {
      base::Status status = base::check_interrupt();
      if (status) status = ask(i);
      const std::lock_guard lock(mutex);
      if (!status && !first_error) first_error = status.error();
      if (!status) failed = true;
      progress.update(++done);
    }
  });
  progress.finish();
  if (first_error) return tl::unexpected(*first_error);
  return {};
}

}  // namespace askbase::cli
