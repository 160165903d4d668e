#include "kb/storage.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "base/log.h"
#include "kb/encoding.h"
#include "kb/storage_rocksdb.h"

namespace askbase::kb {

namespace fs = std::filesystem;
using namespace storage_detail;

namespace {

constexpr std::array<std::string_view, table_count> table_names = {
    "meta",  "terms",      "ids",   "spo",       "pos",           "osp",      "by_source", "sources", "names",
    "words", "vocabulary", "grams", "documents", "document_text", "passages", "postings",  "vectors"};
constexpr std::string_view data_name = "facts", gate_name = "askbase.commit",
                           manifest_name = "askbase.manifest", temporary_name = "tmp";
// Small: only commits that go through the log stay in memory. RocksDB wants this much free space for every
// table before it writes again after the disk was full.
constexpr std::size_t memtable_bytes = 4 << 20;
constexpr std::string_view format_key = "format";
constexpr std::string_view repair_hint = "run `askbase check`, or bring back a backup with `askbase restore`";

// RocksDB's own log would be written into folders that are opened for reading.
class SilentLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// RocksDB would try by itself to go on after a full disk, on a thread of its own: see
// StorageImpl::begin_write.
class NoRecovery final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
};

class RocksCursor final : public Cursor {
 public:
  RocksCursor(const Database& database, Table table, const rocksdb::Snapshot* at, std::string_view prefix)
      : prefix_(prefix), end_(prefix_end(prefix)), end_slice_(end_) {
    rocksdb::ReadOptions options;
    options.snapshot = at;
    options.total_order_seek = true;
    if (!end_.empty()) options.iterate_upper_bound = &end_slice_;
    iterator_.reset(database.db->NewIterator(options, database.handle(table)));
    folder_ = &database.folder;
  }
  void seek(std::string_view key) override {
    iterator_->Seek(slice(key < prefix_ ? std::string_view(prefix_) : key));
  }
  bool valid() const override { return iterator_->Valid(); }
  void next() override { iterator_->Next(); }
  std::string_view key() const override { return view(iterator_->key()); }
  std::string_view value() const override { return view(iterator_->value()); }
  base::Status status() const override {
    const rocksdb::Status status = iterator_->status();
    if (status.ok()) return {};
    return tl::unexpected(to_error(status, "cannot read", *folder_));
  }

 private:
  std::string prefix_, end_;
  rocksdb::Slice end_slice_;
  const fs::path* folder_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Of a table that is not there.
class NoCursor final : public Cursor {
 public:
  void seek(std::string_view /*key*/) override {}
  bool valid() const override { return false; }
  void next() override {}
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  base::Status status() const override { return {}; }
};

class RocksSnapshot final : public Snapshot {
 public:
  explicit RocksSnapshot(std::shared_ptr<Database> database) : database_(std::move(database)) {
    if (!database_->read_only) at_ = database_->db->GetSnapshot();
  }
  ~RocksSnapshot() override {
    if (at_ != nullptr) database_->db->ReleaseSnapshot(at_);
  }
  RocksSnapshot(const RocksSnapshot&) = delete;
  RocksSnapshot& operator=(const RocksSnapshot&) = delete;

  base::Result<bool> get(Table table, std::string_view key, std::string& value) const override {
    rocksdb::ColumnFamilyHandle* const handle = database_->handle(table);
    if (handle == nullptr) return false;
    rocksdb::ReadOptions options;
    options.snapshot = at_;
    rocksdb::PinnableSlice found;
    const rocksdb::Status status = database_->db->Get(options, handle, slice(key), &found);
    if (status.ok()) {
      value.assign(found.data(), found.size());
      return true;
    }
    if (status.IsNotFound()) return false;
    return tl::unexpected(to_error(status, "cannot read", database_->folder));
  }
  std::unique_ptr<Cursor> cursor(Table table, std::string_view prefix) const override {
    if (database_->handle(table) == nullptr) return std::make_unique<NoCursor>();
    return std::make_unique<RocksCursor>(*database_, table, at_, prefix);
  }

 private:
  std::shared_ptr<Database> database_;
  const rocksdb::Snapshot* at_ = nullptr;
};

std::string in_folder(const fs::path& folder) { return " (" + folder.string() + ")"; }

// A file's content, or nothing; for the small files that describe the database.
std::optional<std::string> small_file(const fs::path& path) {
  auto content = base::read_file(path, 1 << 20);
  if (!content) return std::nullopt;
  return std::move(*content);
}

std::string manifest_of(const fs::path& folder) {
  std::string name = small_file(folder / data_name / "CURRENT").value_or("");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

// What changes whenever the database's state on disk does: the manifest's name and size, the logs' sizes.
// Equal before and after a read of these files, they were read as one state.
std::string fingerprint(const fs::path& folder) {
  const std::string manifest = manifest_of(folder);
  std::error_code error;
  std::string out = manifest + ' ' + std::to_string(fs::file_size(folder / data_name / manifest, error));
  std::vector<std::string> logs;
  for (fs::directory_iterator it(folder / data_name, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".log") continue;
    std::error_code gone;
    logs.push_back(it->path().filename().string() + ' ' + std::to_string(it->file_size(gone)));
  }
  std::sort(logs.begin(), logs.end());
  for (const std::string& log : logs) out += '\n' + log;
  return out;
}

// An interrupted append leaves a manifest longer than recorded, never a shorter one.
base::Status check_manifest(const fs::path& folder) {
  const std::string name = manifest_of(folder);
  const std::string record = small_file(folder / manifest_name).value_or("");
  const std::size_t space = record.find(' ');
  if (space == std::string::npos || record.substr(0, space) != name) return {};
  std::uint64_t least = 0;
  std::from_chars(record.data() + space + 1, record.data() + record.size(), least);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(folder / data_name / name, error);
  if (!error && size >= least) return {};
  return base::fail(base::ErrorCode::corrupt,
                    "the knowledge base is damaged: " + (folder / data_name / name).string() + " is cut off",
                    std::string(repair_hint));
}

base::Status sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(base::io_error(errno, "open the folder", folder));
  const int result = ::fsync(fd);
  const int reason = errno;
  ::close(fd);
  if (result != 0) return tl::unexpected(base::io_error(reason, "sync the folder", folder));
  return {};
}

base::Status rename_synced(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return tl::unexpected(base::io_error(errno, "rename to", to));
  return sync_folder(to.has_parent_path() ? to.parent_path() : fs::path("."));
}

enum class FolderState : std::uint8_t { absent, empty, foreign, kb };

base::Result<FolderState> inspect(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return FolderState::absent;
  if (error) return tl::unexpected(base::io_error(error.value(), "open", folder));
  if (status.type() != fs::file_type::directory) return FolderState::foreign;
  if (fs::exists(folder / data_name, error)) return FolderState::kb;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with("askbase.") && !name.starts_with(".askbase-tmp-") && name != temporary_name)
      return FolderState::foreign;
  }
  if (error) return tl::unexpected(base::io_error(error.value(), "read the folder", folder));
  return FolderState::empty;
}

// present: which families the database has; empty: it shall have all.
std::vector<rocksdb::ColumnFamilyDescriptor> descriptors(const std::shared_ptr<rocksdb::Cache>& cache,
                                                         const std::vector<std::string>& present) {
  std::vector<rocksdb::ColumnFamilyDescriptor> all;
  for (int i = 0; i < table_count; ++i) {
    std::string name(table_names[static_cast<std::size_t>(i)]);
    if (i >= tables_of_format_1 && !present.empty() &&
        std::find(present.begin(), present.end(), name) == present.end())
      continue;
    all.emplace_back(std::move(name), table_options(static_cast<Table>(i), cache));
  }
  rocksdb::ColumnFamilyOptions unused;
  unused.write_buffer_size = memtable_bytes;
  all.emplace_back(rocksdb::kDefaultColumnFamilyName, unused);
  return all;
}

rocksdb::Status open_database(Database& database, const fs::path& data, bool create) {
  rocksdb::DBOptions options = database_options(database.options);
  options.create_if_missing = options.error_if_exists = create;
  options.create_missing_column_families = create || database.options.oldest_format < oldest_format_version;
  std::vector<std::string> present;
  rocksdb::Status status;
  if (!options.create_missing_column_families)
    status = rocksdb::DB::ListColumnFamilies(options, data.string(), &present);
  if (!status.ok()) return status;
  const auto families = descriptors(database.cache, present);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  status = database.read_only ? rocksdb::DB::OpenForReadOnly(options, data.string(), families, &handles, &db)
                              : rocksdb::DB::Open(options, data.string(), families, &handles, &db);
  database.db.reset(db);
  database.take(handles);
  return status;
}

std::optional<std::uint32_t> parse_format(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

base::Result<std::uint32_t> read_format(const Snapshot& snapshot, const fs::path& folder,
                                        std::uint32_t oldest) {
  std::string text;
  ASKBASE_ASSIGN(const bool found, snapshot.get(Table::meta, format_key, text));
  const auto format = parse_format(text);
  if (!found || !format)
    return base::fail(base::ErrorCode::corrupt,
                      "the knowledge base is damaged: it has no format version" + in_folder(folder),
                      std::string(repair_hint));
  if (*format > format_version)
    return base::fail(base::ErrorCode::unsupported,
                      "the knowledge base has format " + std::to_string(*format) +
                          ", this askbase reads up to format " + std::to_string(format_version) +
                          in_folder(folder),
                      "use the newer askbase that wrote it, or export it there and load the export here");
  if (*format < oldest)
    return base::fail(base::ErrorCode::unsupported,
                      "the knowledge base has format " + std::to_string(*format) +
                          ", this askbase opens from format " + std::to_string(oldest) + in_folder(folder),
                      "bring it up with `askbase upgrade` of an askbase in between");
  return *format;
}

// Formats may differ in their tables, and RocksDB then refuses to open: only the meta table is read here.
base::Status check_format_alone(const fs::path& folder, const StorageOptions& options) {
  auto probe = std::make_shared<Database>();
  probe->folder = folder;
  probe->options = options;
  std::vector<rocksdb::ColumnFamilyDescriptor> few;
  few.emplace_back(std::string(table_name(Table::meta)), table_options(Table::meta, probe->cache));
  few.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      database_options(options), (folder / data_name).string(), few, &handles, &db);
  probe->db.reset(db);
  probe->take(handles);
  if (!status.ok()) return tl::unexpected(to_error(status, "cannot open the knowledge base", folder));
  ASKBASE_TRY(read_format(RocksSnapshot(probe), folder, options.oldest_format));
  return {};
}

base::Status create_database(const fs::path& folder, const StorageOptions& options) {
  const fs::path temporary = folder / temporary_name;
  ASKBASE_TRY(base::make_directories(temporary));
  const fs::path fresh = temporary / data_name;
  std::error_code ignored;
  fs::remove(folder / manifest_name, ignored);
  {
    Database database;
    database.folder = folder;
    database.options = options;
    database.read_only = false;
    rocksdb::Status status = open_database(database, fresh, true);
    rocksdb::WriteOptions durable;
    durable.sync = true;
    if (status.ok())
      status = database.db->Put(durable, database.handle(Table::meta), slice(format_key),
                                slice(std::to_string(format_version)));
    if (status.ok()) status = database.db->Flush(rocksdb::FlushOptions(), database.handle(Table::meta));
    if (!status.ok()) return tl::unexpected(to_error(status, "cannot make a knowledge base", folder));
  }
  return rename_synced(fresh, folder / data_name);
}

base::Error no_kb(const fs::path& folder) {
  return {base::ErrorCode::not_found, "no knowledge base in " + folder.string(),
          "make one with `askbase load FILE --kb " + folder.string() + "`"};
}

base::Status open_for_writing(Database& database, OpenMode mode) {
  const fs::path& folder = database.folder;
  if (mode == OpenMode::create) ASKBASE_TRY(base::make_directories(folder));
  ASKBASE_ASSIGN(auto lock,
                 base::FileLock::acquire(folder / lock_file_name, "pid " + std::to_string(::getpid()) + ": " +
                                                                      database.options.holder));
  database.lock.emplace(std::move(lock));
  std::error_code error;
  fs::remove_all(folder / temporary_name, error);
  if (error) return tl::unexpected(base::io_error(error.value(), "empty", folder / temporary_name));
  const int gate = ::open((folder / gate_name).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (gate < 0) return tl::unexpected(base::io_error(errno, "write", folder / gate_name));
  ::close(gate);
  ASKBASE_ASSIGN(const FolderState state, inspect(folder));  // again: now under the lock
  if (state != FolderState::kb) ASKBASE_TRY(create_database(folder, database.options));
  ASKBASE_TRY(check_manifest(folder));
  const CommitGate held(folder, CommitGate::Kind::commit);  // opening replaces the manifest
  const rocksdb::Status status = open_database(database, folder / data_name, false);
  if (!status.ok()) {
    if (status.IsInvalidArgument()) ASKBASE_TRY(check_format_alone(folder, database.options));
    return tl::unexpected(to_error(status, "cannot open the knowledge base", folder));
  }
  return record_manifest(folder);
}

// Another process may be writing: what was read counts only when nothing changed on disk meanwhile.
base::Status open_for_reading(Database& database) {
  constexpr int attempts = 20;
  base::Status last;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::optional<CommitGate> gate;
    if (attempt > 0) gate.emplace(database.folder, CommitGate::Kind::open);
    const std::string before = fingerprint(database.folder);
    last = check_manifest(database.folder);
    if (last) {
      const rocksdb::Status status = open_database(database, database.folder / data_name, false);
      if (status.IsInvalidArgument()) ASKBASE_TRY(check_format_alone(database.folder, database.options));
      if (!status.ok())
        last = tl::unexpected(to_error(status, "cannot open the knowledge base", database.folder));
    }
    if (fingerprint(database.folder) == before) {
      if (last || attempt > 1) return last;
    }
    database.close();
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * attempt));
  }
  return base::fail(base::ErrorCode::locked,
                    "the knowledge base changes faster than it can be opened" + in_folder(database.folder),
                    "try again when the writing process is done");
}

base::Status sync_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(base::io_error(errno, "open", path));
  const int result = ::fsync(fd);
  const int reason = errno;
  ::close(fd);
  if (result != 0) return tl::unexpected(base::io_error(reason, "write", path));
  return {};
}

// Links the database's sorted files (they never change) and copies the others. True when all of it was there.
base::Result<bool> copy_database(const fs::path& from, const fs::path& to) {
  ASKBASE_TRY(base::make_directories(to));
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error))
    files.push_back(it->path());
  if (error) return tl::unexpected(base::io_error(error.value(), "read the folder", from));
  for (const fs::path& file : files) {
    const fs::path target = to / file.filename();
    if (file.filename() == "LOCK") continue;
    if (file.extension() == ".sst") {
      fs::create_hard_link(file, target, error);
      if (!error) continue;
    }
    fs::copy_file(file, target, error);
    if (error == std::errc::no_such_file_or_directory) return false;
    if (error) return tl::unexpected(base::io_error(error.value(), "write", target));
    ASKBASE_TRY(sync_file(target));
  }
  ASKBASE_TRY(sync_folder(to));
  return true;
}

base::Status copy_consistently(const fs::path& folder, const fs::path& target) {
  constexpr int attempts = 20;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::error_code ignored;
    fs::remove_all(target, ignored);
    const CommitGate gate(folder, CommitGate::Kind::open);
    const std::string before = fingerprint(folder);
    ASKBASE_ASSIGN(const bool complete, copy_database(folder / data_name, target / data_name));
    if (!complete || fingerprint(folder) != before) continue;
    ASKBASE_TRY(record_manifest(target));
    return {};
  }
  return base::fail(base::ErrorCode::locked,
                    "the knowledge base changes faster than it can be copied" + in_folder(folder),
                    "try again when the writing process is done");
}

}  // namespace

std::string_view table_name(Table table) { return table_names.at(static_cast<std::size_t>(table)); }

namespace storage_detail {

base::Error to_error(const rocksdb::Status& status, std::string_view what, const fs::path& folder) {
  const std::string message = std::string(what) + in_folder(folder) + ": " + status.ToString();
  if (status.IsNoSpace()) return {base::ErrorCode::io, message, "free some space on the disk and try again"};
  // What RocksDB's files should hold and do not, it reports in several ways.
  const bool missing = status.IsPathNotFound() || message.find("No such file") != std::string::npos;
  if (status.IsCorruption() || status.IsInvalidArgument() || status.IsNotSupported() || status.IsNotFound() ||
      missing)
    return {base::ErrorCode::corrupt, "the knowledge base is damaged: " + message, std::string(repair_hint)};
  if (status.IsBusy() || message.find("lock ") != std::string::npos)
    return {base::ErrorCode::locked, message, "wait for the other process, or stop it"};
  return {base::ErrorCode::io, message, "see that the disk has room and the folder may be written to"};
}

rocksdb::DBOptions database_options(const StorageOptions& options) {
  rocksdb::DBOptions db;
  db.info_log = std::make_shared<SilentLogger>();
  db.max_open_files =
      -1;  // a reader keeps its files open, so that a writer's compaction cannot take them away
  db.max_file_opening_threads = 2;
  db.skip_stats_update_on_db_open = true;
  db.stats_dump_period_sec = db.stats_persist_period_sec = 0;
  db.max_background_jobs = static_cast<int>(std::max<std::size_t>(2, options.threads));
  // Readers replay the log when they open: keep it short.
  db.db_write_buffer_size = 32 << 20;
  db.max_total_wal_size = 16 << 20;
  db.db_host_id = "";  // no machine's name in files that are copied around
  return db;
}

rocksdb::ColumnFamilyOptions table_options(Table table, const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  options.compression = rocksdb::kZSTD;
  options.write_buffer_size = memtable_bytes;
  rocksdb::BlockBasedTableOptions blocks;
  blocks.block_cache = cache;
  blocks.block_size = 16 << 10;
  blocks.format_version = 5;
  // Index and filters count towards the cache's budget, and stay there as long as their file is open.
  blocks.cache_index_and_filter_blocks = true;
  blocks.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  // Facts are looked up all over the table: small blocks that unpack fast cost a sixth more bytes and answer
  // four times as fast when the cache is small (docs/benchmarks.md).
  if (table == Table::spo) {
    options.compression = rocksdb::kLZ4Compression;
    blocks.block_size = 4 << 10;
  }
  // The tables that are asked for single keys, which they often do not have.
  if (table == Table::spo || table == Table::ids || table == Table::vocabulary) {
    blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    blocks.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  return options;
}

CommitGate::CommitGate(const fs::path& folder, Kind kind) {
  constexpr int waits = 1000;
  fd_ = ::open((folder / gate_name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) return;
  const int operation = (kind == Kind::commit ? LOCK_EX : LOCK_SH) | LOCK_NB;
  for (int i = 0; i < waits && ::flock(fd_, operation) != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

CommitGate::~CommitGate() {
  if (fd_ >= 0) ::close(fd_);
}

Database::~Database() {
  if (!db) return;
  if (!read_only) rocksdb::CancelAllBackgroundWork(db.get(), true);
  close();
}

void Database::take(const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  for (rocksdb::ColumnFamilyHandle* const one : handles) {
    const auto name = std::find(table_names.begin(), table_names.end(), one->GetName());
    if (name == table_names.end())
      unused = one;
    else
      tables[static_cast<std::size_t>(name - table_names.begin())] = one;
  }
}

void Database::close() {
  for (auto& table : tables)
    if (rocksdb::ColumnFamilyHandle* const one = table.exchange(nullptr)) db->DestroyColumnFamilyHandle(one);
  if (unused != nullptr) db->DestroyColumnFamilyHandle(std::exchange(unused, nullptr));
  db.reset();
}

base::Status record_manifest(const fs::path& folder) {
  const std::string name = manifest_of(folder);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(folder / data_name / name, error);
  if (error) return tl::unexpected(base::io_error(error.value(), "read", folder / data_name / name));
  return base::write_file_atomic(folder / manifest_name, name + ' ' + std::to_string(size) + '\n');
}

StorageImpl::StorageImpl(std::shared_ptr<Database> database) : database_(std::move(database)) {
  renew_snapshot();
}

std::shared_ptr<const Snapshot> StorageImpl::snapshot() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return newest_;
}

void StorageImpl::renew_snapshot() {
  auto fresh = std::make_shared<RocksSnapshot>(database_);
  const std::lock_guard<std::mutex> guard(mutex_);
  newest_ = std::move(fresh);
}

base::Status StorageImpl::checkpoint(const fs::path& target) const {
  std::error_code error;
  if (fs::exists(target, error))
    return base::fail(base::ErrorCode::invalid_argument, "the folder exists already: " + target.string(),
                      "name a folder that does not exist yet");
  fs::path partial = target;
  partial += ".partial-" + std::to_string(::getpid());
  base::Status done = copy_consistently(database_->folder, partial);
  if (done) done = rename_synced(partial, target);
  if (!done) fs::remove_all(partial, error);
  return done;
}

std::uint64_t StorageImpl::disk_bytes(Table table) const {
  if (database_->handle(table) == nullptr) return 0;
  rocksdb::ColumnFamilyMetaData data;
  database_->db->GetColumnFamilyMetaData(database_->handle(table), &data);
  return data.size;
}

base::Status StorageImpl::compact(Table table) {
  if (database_->handle(table) == nullptr) return {};
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.max_subcompactions = static_cast<std::uint32_t>(database_->options.threads);
  const rocksdb::Status status =
      database_->db->CompactRange(options, database_->handle(table), nullptr, nullptr);
  if (!status.ok()) return tl::unexpected(to_error(status, "cannot compact", database_->folder));
  return record_manifest(database_->folder);
}

// The format comes first: an askbase that does not know it must not come upon tables that it does not know.
base::Status StorageImpl::add_tables() {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::vector<Table> missing;
  for (int i = 0; i < table_count; ++i)
    if (database_->handle(static_cast<Table>(i)) == nullptr) missing.push_back(static_cast<Table>(i));
  if (missing.empty() && database_->format >= format_version) return {};
  if (database_->read_only)
    return base::fail(base::ErrorCode::internal,
                      "the knowledge base was opened for reading: " + database_->folder.string());
  const CommitGate gate(database_->folder, CommitGate::Kind::commit);
  rocksdb::Status status;
  if (database_->format < format_version) {
    rocksdb::WriteOptions durable;
    durable.sync = true;
    status = database_->db->Put(durable, database_->handle(Table::meta), slice(format_key),
                                slice(std::to_string(format_version)));
    if (status.ok()) database_->format = format_version;
  }
  for (std::size_t i = 0; i < missing.size() && status.ok(); ++i) {
    rocksdb::ColumnFamilyHandle* made = nullptr;
    status = database_->db->CreateColumnFamily(table_options(missing[i], database_->cache),
                                               std::string(table_name(missing[i])), &made);
    if (status.ok()) database_->tables[static_cast<std::size_t>(missing[i])] = made;
  }
  if (!status.ok()) return tl::unexpected(to_error(status, "cannot add tables", database_->folder));
  return record_manifest(database_->folder);
}

base::Status StorageImpl::verify_checksums() const {
  const rocksdb::Status status = database_->db->VerifyChecksum();
  if (!status.ok()) return tl::unexpected(to_error(status, "checksums do not agree", database_->folder));
  return {};
}

base::Result<fs::path> StorageImpl::temporary_folder() {
  fs::path path = database_->folder / temporary_name;
  if (database_->read_only)
    return base::fail(base::ErrorCode::internal,
                      "a knowledge base opened for reading has no temporary folder");
  ASKBASE_TRY(base::make_directories(path));
  return path;
}

}  // namespace storage_detail

base::Result<std::unique_ptr<Storage>> Storage::open(const fs::path& folder, OpenMode mode,
                                                     const StorageOptions& options) {
  ASKBASE_ASSIGN(const FolderState state, inspect(folder));
  if (state == FolderState::foreign)
    return base::fail(
        mode == OpenMode::create ? base::ErrorCode::invalid_argument : base::ErrorCode::not_found,
        "not a knowledge base: " + folder.string() + " holds something else",
        "name another folder with --kb");
  if (state != FolderState::kb && mode != OpenMode::create) return tl::unexpected(no_kb(folder));
  auto database = std::make_shared<Database>();
  database->folder = folder;
  database->options = options;
  database->read_only = mode == OpenMode::read_only;
  database->cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  ASKBASE_TRY(database->read_only ? open_for_reading(*database) : open_for_writing(*database, mode));
  auto storage = std::make_unique<StorageImpl>(std::move(database));
  ASKBASE_ASSIGN(storage->database().format,
                 read_format(*storage->snapshot(), folder, options.oldest_format));
  return storage;
}

}  // namespace askbase::kb
