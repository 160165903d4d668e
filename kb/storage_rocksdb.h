// What storage.cpp and storage_write.cpp share: the open database and how its errors read. The one header
// that shows RocksDB; only those two files include it.
//
// A KB folder holds
//   facts/            the RocksDB database
//   askbase.lock      flock of the writing process, with its pid and command
//   askbase.commit    flock: exclusive while a commit is written, shared by processes that open or copy
//   askbase.manifest  name and least size of the database's manifest (a shorter one has been cut off)
//   tmp/              sorted files on their way in; emptied by the next writer
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "kb/storage.h"

namespace askbase::kb::storage_detail {

inline rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// what: "cannot write to the knowledge base" ...
base::Error to_error(const rocksdb::Status& status, std::string_view what,
                     const std::filesystem::path& folder);

rocksdb::DBOptions database_options(const StorageOptions& options);
rocksdb::ColumnFamilyOptions table_options(Table table, const std::shared_ptr<rocksdb::Cache>& cache);

// Waits (at most a few seconds) for the commit gate; keeps it until destroyed. Holding none is possible (the
// file is absent or the wait ran out): the gate spares retries, the checks of those who open do not rest on
// it.
class CommitGate {
 public:
  enum class Kind : std::uint8_t { commit, open };
  CommitGate(const std::filesystem::path& folder, Kind kind);
  CommitGate(const CommitGate&) = delete;
  CommitGate& operator=(const CommitGate&) = delete;
  ~CommitGate();

 private:
  int fd_ = -1;
};

// The open database. Shared by the storage and its snapshots, so that it closes after the last of them.
struct Database {
  std::filesystem::path folder;
  StorageOptions options;
  bool read_only = true;
  std::atomic<std::uint32_t> format = 0;
  std::atomic<bool> log_failed = false;
  std::optional<base::FileLock> lock;
  std::shared_ptr<rocksdb::Cache> cache;
  std::unique_ptr<rocksdb::DB> db;
  // Null where a KB of an older format has no such table (yet: add_tables()).
  std::array<std::atomic<rocksdb::ColumnFamilyHandle*>, table_count> tables = {};
  rocksdb::ColumnFamilyHandle* unused = nullptr;  // RocksDB's default

  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();
  rocksdb::ColumnFamilyHandle* handle(Table table) const { return tables[static_cast<std::size_t>(table)]; }
  // Keeps the handles that the database gave out for families of these names.
  void take(const std::vector<rocksdb::ColumnFamilyHandle*>& handles);
  void close();
};

// Records the manifest's name and size, after a change that only the manifest holds.
base::Status record_manifest(const std::filesystem::path& folder);

class StorageImpl final : public Storage {
 public:
  explicit StorageImpl(std::shared_ptr<Database> database);
  std::shared_ptr<const Snapshot> snapshot() const override;
  base::Result<std::unique_ptr<Write>> begin_write() override;
  base::Status add_tables() override;
  base::Status checkpoint(const std::filesystem::path& folder) const override;
  std::uint64_t disk_bytes(Table table) const override;
  base::Status compact(Table table) override;
  base::Status verify_checksums() const override;
  const std::filesystem::path& folder() const override { return database_->folder; }
  bool read_only() const override { return database_->read_only; }
  std::uint32_t format() const override { return database_->format; }
  base::Result<std::filesystem::path> temporary_folder() override;

  Database& database() { return *database_; }
  // Makes the state that the database has now the one that snapshot() gives.
  void renew_snapshot();
  void end_write() { writing_ = false; }

 private:
  std::shared_ptr<Database> database_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> newest_;
  std::atomic<bool> writing_ = false;
};

}  // namespace askbase::kb::storage_detail
