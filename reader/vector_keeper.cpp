#include "reader/vector_keeper.h"

#include <chrono>

#include "base/log.h"
#include "kb/records.h"
#include "reader/passage_records.h"

namespace askbase::reader {

VectorKeeper::VectorKeeper(kb::Store& store, SentenceModel model, int threads)
    : store_(store), model_(std::move(model)), threads_(threads), thread_([this] { run(); }) {}

VectorKeeper::~VectorKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const PassageVectors> VectorKeeper::vectors() const {
  const std::lock_guard lock(mutex_);
  return vectors_;
}

VectorKeeper::Status VectorKeeper::status() const {
  Status status;
  const auto snapshot = store_.storage().snapshot();
  status.passages = kb::read_counter(*snapshot, counter::passages).value_or(0);
  const auto mark = PassageVectors::mark_of(*snapshot);
  const std::lock_guard lock(mutex_);
  status.problem = problem_;
  if (!vectors_) {
    status.missing = status.passages;
    return status;
  }
  status.vectors = vectors_->size();
  status.missing = vectors_->missing();
  status.complete = status.missing == 0 && mark && *mark == vectors_->mark();
  return status;
}

void VectorKeeper::run() {
  constexpr std::chrono::milliseconds glance{500};       // between two looks at what may have changed
  constexpr std::chrono::milliseconds patience{60'000};  // after a failure
  for (;;) {
    const base::Status done = bring_up_to_date();
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    const std::string problem = done ? "" : done.error().message;
    if (problem != problem_ && !problem.empty())
      base::log_error("vectors of passages: " + problem + "; passages are found by their words");
    problem_ = problem;
    wake_.wait_for(lock, done ? glance : patience, [this] { return stopping_; });
    if (stopping_) return;
  }
}

base::Status VectorKeeper::bring_up_to_date() {
  const auto stop = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  const auto before = vectors();
  ASKBASE_ASSIGN(const std::uint64_t mark, PassageVectors::mark_of(*store_.storage().snapshot()));
  if (before && before->mark() == mark && (before->missing() == 0 || store_.storage().read_only())) return {};
  if (!store_.storage().read_only())
    ASKBASE_TRY(make_vectors(
        store_, model_, [](const std::string& line) { base::log_info(line); }, stop));
  ASKBASE_ASSIGN(auto fresh, PassageVectors::load(*store_.storage().snapshot(), model_, threads_));
  const std::lock_guard lock(mutex_);
  vectors_ = std::move(fresh);
  return {};
}

}  // namespace askbase::reader
