#include "kb/load_pipe.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/interrupt.h"

namespace askbase::kb {
namespace {

constexpr std::size_t kBatchFacts = 1024;
constexpr std::size_t kBatches = 6;
constexpr std::size_t kMaxTermBytes = 16 << 20;

struct Batch {
  std::vector<Fact> facts = std::vector<Fact>(kBatchFacts);
  std::size_t size = 0;
};

// Batches go round: filled by the reader, taken by the other side, and back to be filled again, so that the
// strings in them keep their memory.
class Exchange {
 public:
  Exchange() {
    for (std::size_t i = 0; i < kBatches; ++i) empty_.push_back(std::make_unique<Batch>());
  }

  // Null when the other side has given up.
  std::unique_ptr<Batch> empty() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return abandoned_ || !empty_.empty(); });
    return abandoned_ ? nullptr : pop(empty_);
  }
  void put_full(std::unique_ptr<Batch> batch) {
    const std::lock_guard lock(mutex_);
    full_.push_back(std::move(batch));
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  // Null at the end.
  std::unique_ptr<Batch> full() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !full_.empty(); });
    return full_.empty() ? nullptr : pop(full_);
  }
  void put_empty(std::unique_ptr<Batch> batch) {
    const std::lock_guard lock(mutex_);
    batch->size = 0;
    empty_.push_back(std::move(batch));
    changed_.notify_all();
  }
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }

 private:
  static std::unique_ptr<Batch> pop(std::deque<std::unique_ptr<Batch>>& queue) {
    std::unique_ptr<Batch> batch = std::move(queue.front());
    queue.pop_front();
    return batch;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> empty_, full_;
  bool ended_ = false, abandoned_ = false;
};

// Why the KB cannot hold the fact; null when it can.
const char* refusal(const Fact& fact) {
  for (const Term* term : {&fact.subject, &fact.predicate, &fact.object}) {
    if (term->value.size() + term->datatype.size() + term->lang.size() > kMaxTermBytes - 2) {
      return "a term of more than 16 MiB (keep long texts as documents)";
    }
    if (std::memchr(term->value.data(), '\0', term->value.size()) != nullptr ||
        std::memchr(term->datatype.data(), '\0', term->datatype.size()) != nullptr) {
      return "the character U+0000, which cannot be kept";
    }
  }
  return nullptr;
}

// Checks what every fact must hold, and counts.
class CheckingSink : public FactSink {
 public:
  CheckingSink(const PipeOptions& options, BadLines& bad) : options_(options), bad_(bad) {}

  base::Status add() override {
    Fact& fact = slot();
    if (const char* reason = refusal(fact)) return bad(fact.row, reason);
    if (++facts_ % kBatchFacts == 0) ASKBASE_TRY(base::check_interrupt());
    if (options_.on_fact) options_.on_fact();
    return pass_on();
  }
  base::Status bad(std::uint64_t line, std::string_view reason) override {
    return bad_.add(options_.file, line, reason);
  }

 protected:
  virtual base::Status pass_on() = 0;

 private:
  const PipeOptions& options_;
  BadLines& bad_;
  std::uint64_t facts_ = 0;
};

class DirectSink : public CheckingSink {
 public:
  DirectSink(const PipeOptions& options, BadLines& bad, const std::function<base::Status(const Fact&)>& take)
      : CheckingSink(options, bad), take_(take) {}
  Fact& slot() override { return fact_; }

 protected:
  base::Status pass_on() override { return take_(fact_); }

 private:
  const std::function<base::Status(const Fact&)>& take_;
  Fact fact_;
};

class BatchSink : public CheckingSink {
 public:
  BatchSink(const PipeOptions& options, BadLines& bad, Exchange& exchange)
      : CheckingSink(options, bad), exchange_(exchange), batch_(exchange.empty()) {}
  ~BatchSink() override {
    if (batch_ && batch_->size > 0) exchange_.put_full(std::move(batch_));
    exchange_.end();
  }
  BatchSink(const BatchSink&) = delete;
  BatchSink& operator=(const BatchSink&) = delete;

  Fact& slot() override { return batch_->facts[batch_->size]; }

 protected:
  base::Status pass_on() override {
    if (++batch_->size < kBatchFacts) return {};
    exchange_.put_full(std::move(batch_));
    batch_ = exchange_.empty();
    if (batch_) return {};
    batch_ = std::make_unique<Batch>();  // a reader may still ask for a slot on its way out
    return base::fail(base::ErrorCode::cancelled, "the load has ended");
  }

 private:
  Exchange& exchange_;
  std::unique_ptr<Batch> batch_;
};

}  // namespace

base::Status BadLines::add(const std::string& file, std::uint64_t line, std::string_view reason) {
  const std::string where = file + ":" + std::to_string(line);
  if (!tolerated) {
    return base::fail(base::ErrorCode::bad_input, where + ": " + std::string(reason),
                      "nothing was loaded; mend the line, or leave bad lines out with --skip-bad");
  }
  ++count;
  if (first.size() < max_kept) first.push_back({where, std::string(reason)});
  return {};
}

base::Status pipe_facts(const PipeOptions& options, BadLines& bad,
                        const std::function<base::Status(FactSink&)>& read,
                        const std::function<base::Status(const Fact&)>& take) {
  if (options.threads < 2) {
    DirectSink sink(options, bad, take);
    return read(sink);
  }
  Exchange exchange;
  base::Status reading;
  std::exception_ptr thrown;
  std::thread reader([&] {
    BatchSink sink(options, bad, exchange);
    try {
      reading = read(sink);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  base::Status taking;
  while (auto batch = exchange.full()) {
    for (std::size_t i = 0; i < batch->size && taking; ++i) taking = take(batch->facts[i]);
    if (!taking) {
      exchange.abandon();
      break;
    }
    exchange.put_empty(std::move(batch));
  }
  reader.join();
  if (thrown) std::rethrow_exception(thrown);
  ASKBASE_TRY(std::move(taking));
  return reading;
}

}  // namespace askbase::kb
