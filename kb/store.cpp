#include "kb/store.h"

#include <mutex>

#include "kb/update.h"

namespace askbase::kb {

Store::Store(std::unique_ptr<Storage> storage, std::size_t view_cache_bytes)
    : storage_(std::move(storage)), view_cache_bytes_(view_cache_bytes) {}
Store::~Store() = default;

base::Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder, OpenMode mode,
                                                 const StorageOptions& options) {
  StorageOptions halved = options;
  halved.block_cache_bytes -= options.block_cache_bytes / 2;
  ASKBASE_ASSIGN(auto storage, Storage::open(folder, mode, halved));
  std::unique_ptr<Store> store(new Store(std::move(storage), options.block_cache_bytes / 2));
  ASKBASE_TRY(store->view());  // a KB whose counters cannot be read is told of here
  return store;
}

base::Result<std::shared_ptr<const View>> Store::view() const {
  std::shared_ptr<const Snapshot> newest = storage_->snapshot();
  const std::lock_guard<std::mutex> guard(mutex_);
  if (view_ == nullptr || &view_->snapshot() != newest.get()) {
    ASKBASE_TRY(read_counter(*newest, counter::facts));
    ASKBASE_TRY(read_counter(*newest, counter::version));
    view_ = std::make_shared<const View>(std::move(newest), view_cache_bytes_);
  }
  return view_;
}

base::Result<ChangeLock> Store::lock_changes() {
  if (updating_.exchange(true))
    return base::fail(base::ErrorCode::locked, "another update of the knowledge base is under way",
                      "try again when it is done");
  return ChangeLock(updating_);
}

base::Result<std::unique_ptr<Update>> Store::begin_update(const UpdateOptions& options) {
  if (updating_.exchange(true))
    return base::fail(base::ErrorCode::locked, "another update of the knowledge base is under way",
                      "try again when it is done");
  auto update = make_update(*storage_, options, [this] { updating_ = false; });
  if (!update) updating_ = false;
  return update;
}

base::Status Update::add(SourceId source, const Term& subject, const Term& predicate, const Term& object,
                         std::uint64_t row) {
  Triple triple;
  ASKBASE_ASSIGN(triple.subject, intern(subject));
  ASKBASE_ASSIGN(triple.predicate, intern(predicate));
  ASKBASE_ASSIGN(triple.object, intern(object));
  return add(source, triple, row);
}

}  // namespace askbase::kb
