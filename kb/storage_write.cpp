// Write: gathers a commit's changes and puts them into the database, all or nothing.
//
// Each table's entries are gathered in a chunk. A commit that stays small goes through the log as one write
// batch. A full chunk becomes a sorted file in the folder tmp/, built by a worker thread while the next chunk
// fills; commit() then adds all files of all tables to the database in one atomic manifest change. Until then
// nothing of them belongs to the database, whatever happens to the process.
#include <array>
#include <condition_variable>
#include <cstring>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>

#include "base/thread_pool.h"
#include "kb/storage_rocksdb.h"

namespace askbase::kb::storage_detail {

namespace fs = std::filesystem;

namespace {

// Entries one after the other: header, key, value.
struct EntryHeader {
  std::uint32_t key_size;
  std::uint32_t value_size;  // erase_mark: the key is erased
};
constexpr std::uint32_t erase_mark = UINT32_MAX;

template <typename Visitor>
bool for_each_entry(std::string_view chunk, const Visitor& visit) {
  while (!chunk.empty()) {
    EntryHeader header;
    std::memcpy(&header, chunk.data(), sizeof header);
    chunk.remove_prefix(sizeof header);
    const std::string_view key = chunk.substr(0, header.key_size);
    chunk.remove_prefix(header.key_size);
    const bool erased = header.value_size == erase_mark;
    const std::string_view value = chunk.substr(0, erased ? 0 : header.value_size);
    chunk.remove_prefix(value.size());
    if (!visit(key, value, erased)) return false;
  }
  return true;
}

class WriteImpl final : public Write {
 public:
  WriteImpl(StorageImpl& storage, fs::path folder)
      : storage_(storage), database_(storage.database()), folder_(std::move(folder)) {}
  WriteImpl(const WriteImpl&) = delete;
  WriteImpl& operator=(const WriteImpl&) = delete;

  ~WriteImpl() override {
    pool_.reset();
    std::error_code ignored;
    for (const TableState& table : tables_)
      for (const std::string& file : table.files) fs::remove(file, ignored);
    storage_.end_write();
  }

  base::Status put(Table table, std::string_view key, std::string_view value) override {
    if (value.size() >= erase_mark)
      return base::fail(base::ErrorCode::too_large, "a stored value is over 4 GiB");
    return append(table, key, value, static_cast<std::uint32_t>(value.size()));
  }
  base::Status erase(Table table, std::string_view key) override {
    return append(table, key, {}, erase_mark);
  }

  base::Status commit() override {
    if (committed_) return base::fail(base::ErrorCode::internal, "a write was committed twice");
    std::size_t waiting = 0;
    bool files = false;
    for (const TableState& table : tables_) {
      waiting += table.chunk.size();
      files = files || !table.files.empty();
    }
    committed_ = true;
    ASKBASE_TRY(need_space(waiting));
    const base::Status done =
        files || waiting > database_.options.batch_bytes ? commit_files() : commit_batch();
    if (done) storage_.renew_snapshot();
    return done;
  }

 private:
  struct TableState {
    std::string chunk, last_key;
    std::vector<std::string> files;  // in key order
  };

  base::Status append(Table table, std::string_view key, std::string_view value, std::uint32_t value_size) {
    TableState& state = tables_[static_cast<std::size_t>(table)];
    if (database_.handle(table) == nullptr)
      return base::fail(base::ErrorCode::internal,
                        "the knowledge base has no table " + std::string(table_name(table)) + " yet");
    if (key.empty() || (!state.last_key.empty() && key <= std::string_view(state.last_key)))
      return base::fail(base::ErrorCode::internal,
                        "keys of table " + std::string(table_name(table)) + " came out of order");
    state.last_key = key;
    const EntryHeader header{static_cast<std::uint32_t>(key.size()), value_size};
    if (state.chunk.size() + sizeof header + key.size() + value.size() > database_.options.file_bytes &&
        !state.chunk.empty())
      ASKBASE_TRY(start_file(table));
    char* const bytes =
        extend(state.chunk, sizeof header + key.size() + value.size(), database_.options.file_bytes);
    std::memcpy(bytes, &header, sizeof header);
    std::memcpy(bytes + sizeof header, key.data(), key.size());
    if (!value.empty()) std::memcpy(bytes + sizeof header + key.size(), value.data(), value.size());
    return {};
  }

  // Past a small size a chunk will grow to a file's.
  static char* extend(std::string& text, std::size_t more, std::size_t file_bytes) {
    const std::size_t size = text.size();
    if (text.capacity() < size + more && size > (1 << 20) && size + more <= file_bytes)
      text.reserve(file_bytes);
    text.resize(size + more);
    return text.data() + size;
  }

  // Hands the table's chunk to a worker. Waits while enough chunks are under way.
  base::Status start_file(Table table) {
    TableState& state = tables_[static_cast<std::size_t>(table)];
    auto chunk = std::make_shared<std::string>(std::move(state.chunk));
    state.chunk = {};
    std::string path;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      const std::size_t workers = std::max<std::size_t>(1, database_.options.threads);
      changed_.wait(lock, [&] { return running_ < workers + 1; });
      if (!problem_.ok()) return tl::unexpected(to_error(problem_, "cannot write", database_.folder));
      if (!pool_) pool_ = std::make_unique<base::ThreadPool>(workers);
      ++running_;
      path = (folder_ / (std::string(table_name(table)) + '-' + std::to_string(state.files.size()) + ".sst"))
                 .string();
      state.files.push_back(path);
    }
    pool_->submit([this, table, chunk, path] {
      const rocksdb::Status status = build_file(table, *chunk, path);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (problem_.ok()) problem_ = status;
      --running_;
      changed_.notify_all();
    });
    return {};
  }

  rocksdb::Status build_file(Table table, std::string_view chunk, const std::string& path) const {
    const rocksdb::Options options(database_options(database_.options),
                                   database_.db->GetOptions(database_.handle(table)));
    // The pages stay in the system's cache: whoever loads is likely to ask.
    rocksdb::SstFileWriter file(rocksdb::EnvOptions(options), options, database_.handle(table), false);
    rocksdb::Status status = file.Open(path);
    if (!status.ok()) return status;
    for_each_entry(chunk, [&](std::string_view key, std::string_view value, bool erased) {
      status = erased ? file.Delete(slice(key)) : file.Put(slice(key), slice(value));
      return status.ok();
    });
    return status.ok() ? file.Finish() : status;
  }

  base::Status commit_files() {
    for (int i = 0; i < table_count; ++i)
      if (!tables_[static_cast<std::size_t>(i)].chunk.empty()) ASKBASE_TRY(start_file(static_cast<Table>(i)));
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return running_ == 0; });
      if (!problem_.ok()) return tl::unexpected(to_error(problem_, "cannot write", database_.folder));
    }
    std::vector<rocksdb::IngestExternalFileArg> all;
    for (int i = 0; i < table_count; ++i) {
      const TableState& table = tables_[static_cast<std::size_t>(i)];
      if (table.files.empty()) continue;
      rocksdb::IngestExternalFileArg& argument = all.emplace_back();
      argument.column_family = database_.handle(static_cast<Table>(i));
      argument.external_files = table.files;
      argument.options.move_files = true;
      argument.options.snapshot_consistency = true;
      argument.options.write_global_seqno = false;
    }
    const CommitGate gate(database_.folder, CommitGate::Kind::commit);
    const rocksdb::Status status = database_.db->IngestExternalFiles(all);
    if (!status.ok()) return tl::unexpected(to_error(status, "cannot write", database_.folder));
    return record_manifest(database_.folder);
  }

  // A full disk is better met before the log or the manifest than in the middle of them.
  base::Status need_space(std::size_t bytes) const {
    constexpr std::uintmax_t margin = 16 << 20;
    std::error_code error;
    const fs::space_info space = fs::space(database_.folder, error);
    if (error || space.available >= bytes + margin) return {};
    return base::fail(base::ErrorCode::io,
                      "cannot write (" + database_.folder.string() + "): no space left on the disk",
                      "free some space and try again; 16 MiB more than the change itself must be free");
  }

  base::Status commit_batch() {
    rocksdb::WriteBatch batch;
    rocksdb::Status status;
    for (int i = 0; i < table_count; ++i) {
      rocksdb::ColumnFamilyHandle* const handle = database_.handle(static_cast<Table>(i));
      for_each_entry(tables_[static_cast<std::size_t>(i)].chunk, [&](std::string_view key,
                                                                     std::string_view value, bool erased) {
        status = erased ? batch.Delete(handle, slice(key)) : batch.Put(handle, slice(key), slice(value));
        return status.ok();
      });
    }
    if (batch.Count() == 0) return {};
    rocksdb::WriteOptions durable;
    durable.sync = true;
    const CommitGate gate(database_.folder, CommitGate::Kind::commit);
    if (status.ok()) status = database_.db->Write(durable, &batch);
    if (status.ok()) return {};
    database_.log_failed = true;
    return tl::unexpected(to_error(status, "cannot write", database_.folder));
  }

  StorageImpl& storage_;
  Database& database_;
  fs::path folder_;
  std::array<TableState, table_count> tables_;
  bool committed_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
  rocksdb::Status problem_;
  std::unique_ptr<base::ThreadPool> pool_;  // last: its threads use what stands above
};

}  // namespace

base::Result<std::unique_ptr<Write>> StorageImpl::begin_write() {
  if (database_->read_only)
    return base::fail(base::ErrorCode::internal,
                      "the knowledge base was opened for reading: " + database_->folder.string());
  if (writing_.exchange(true))
    return base::fail(base::ErrorCode::locked, "another change of the knowledge base is being written",
                      "try again when it is done");
  // The log takes nothing more after a failed write, and this build of RocksDB ends the process when tried.
  if (database_->log_failed) {
    end_write();
    return base::fail(base::ErrorCode::io,
                      "an earlier write to the knowledge base failed: " + database_->folder.string(),
                      "see that the disk has room, then start the program again");
  }
  // Merging files may have met a full disk: RocksDB refuses writes until it is told to try again.
  const rocksdb::Status ready = database_->db->Resume();
  auto folder = temporary_folder();
  if (!ready.ok() || !folder) {
    end_write();
    if (!folder) return tl::unexpected(folder.error());
    return tl::unexpected(to_error(ready, "cannot write", database_->folder));
  }
  return std::make_unique<WriteImpl>(*this, std::move(*folder));
}

}  // namespace askbase::kb::storage_detail
