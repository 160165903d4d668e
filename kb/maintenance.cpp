#include "kb/maintenance.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

namespace askbase::kb {

namespace fs = std::filesystem;

namespace {

fs::path beside(const fs::path& folder, const std::string& suffix) {
  fs::path path = folder.has_filename() ? folder : folder.parent_path();
  path += suffix;
  return path;
}

base::Status must_not_exist(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return {};
  return base::fail(base::ErrorCode::invalid_argument, "the folder exists already: " + folder.string(),
                    "name a folder that does not exist yet");
}

base::Status verify(const fs::path& folder) {
  ASKBASE_ASSIGN(const auto copy, Storage::open(folder, OpenMode::read_only));
  return copy->verify_checksums();
}

// Copies, verifies, and only then gives the copy its name.
base::Status copy_verified(const Storage& from, const fs::path& folder) {
  ASKBASE_TRY(must_not_exist(folder));
  if (folder.has_parent_path()) ASKBASE_TRY(base::make_directories(folder.parent_path()));
  const fs::path unverified = beside(folder, ".unverified-" + std::to_string(::getpid()));
  std::error_code ignored;
  fs::remove_all(unverified, ignored);
  base::Status done = from.checkpoint(unverified);
  if (done) done = verify(unverified);
  if (done && ::rename(unverified.c_str(), folder.c_str()) != 0)
    done = tl::unexpected(base::io_error(errno, "rename to", folder));
  if (!done) fs::remove_all(unverified, ignored);
  return done;
}

// All counters and settings of a KB.
std::string describe(const Storage& storage) {
  std::string out;
  const std::shared_ptr<const Snapshot> snapshot = storage.snapshot();
  const std::unique_ptr<Cursor> cursor = snapshot->cursor(Table::meta, {});
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    out += cursor->key();
    out += '\0';
    out += cursor->value();
    out += '\0';
  }
  return out;
}

base::Status still(const fs::path& folder, const StorageOptions& options, const std::string& description) {
  ASKBASE_ASSIGN(const auto storage, Storage::open(folder, OpenMode::read_only, options));
  if (describe(*storage) == description) return {};
  return base::fail(base::ErrorCode::locked,
                    "another process changed the knowledge base while it was being upgraded",
                    "run `askbase upgrade` again");
}

base::Status apply_steps(const fs::path& folder, std::uint32_t from, const std::vector<UpgradeStep>& steps) {
  StorageOptions options;
  options.oldest_format = from;
  {
    ASKBASE_ASSIGN(const auto storage, Storage::open(folder, OpenMode::read_write, options));
    for (const UpgradeStep& step : steps) {
      if (step.from < from) continue;
      ASKBASE_TRY(step.apply(*storage));
      ASKBASE_ASSIGN(const auto write, storage->begin_write());
      ASKBASE_TRY(write->put(Table::meta, "format", std::to_string(step.from + 1)));
      ASKBASE_TRY(write->commit());
    }
  }
  ASKBASE_ASSIGN(const auto store, Store::open(folder, OpenMode::read_only));
  ASKBASE_ASSIGN(const CheckReport report, check(*store));
  if (report.problems.empty()) return {};
  return base::fail(base::ErrorCode::corrupt,
                    "the upgraded copy does not pass its check: " + report.problems.front(),
                    "the knowledge base is as it was; run `askbase check` on it");
}

}  // namespace

base::Status backup(const Store& store, const fs::path& folder) {
  return copy_verified(store.storage(), folder);
}

base::Status restore(const fs::path& backup_folder, const fs::path& folder) {
  ASKBASE_ASSIGN(const auto from, Storage::open(backup_folder, OpenMode::read_only));
  return copy_verified(*from, folder);
}

base::Result<UpgradeReport> upgrade(const fs::path& folder) {
  return upgrade_by(folder, {{1, [](Storage& storage) { return storage.add_tables(); }}});
}

base::Result<UpgradeReport> upgrade_by(const fs::path& folder, const std::vector<UpgradeStep>& steps) {
  StorageOptions options;
  if (!steps.empty()) options.oldest_format = steps.front().from;
  UpgradeReport report;
  ASKBASE_ASSIGN(auto storage, Storage::open(folder, OpenMode::read_write, options));  // and keeps its lock
  report.from = storage->format();
  report.to = format_version;
  if (report.from == report.to) return report;
  report.kept = beside(folder, ".format-" + std::to_string(report.from));
  ASKBASE_TRY(must_not_exist(report.kept));
  const fs::path copy = beside(folder, ".upgrading-" + std::to_string(::getpid()));
  std::error_code ignored;
  fs::remove_all(copy, ignored);
  base::Status done = storage->checkpoint(copy);
  if (done) done = apply_steps(copy, report.from, steps);
  // An open database would go on writing to the path, behind which the copy will stand. Between closing it
  // and locking the folder again somebody may have written: then the copy is out of date.
  const std::string before = describe(*storage);
  storage.reset();
  std::optional<base::FileLock> lock;
  if (done) {
    auto taken =
        base::FileLock::acquire(folder / lock_file_name, "pid " + std::to_string(::getpid()) + ": upgrade");
    if (taken)
      lock.emplace(std::move(*taken));
    else
      done = tl::unexpected(taken.error());
  }
  if (done) done = still(folder, options, before);
  if (done && ::renameat2(AT_FDCWD, copy.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0)
    done = tl::unexpected(base::io_error(errno, "exchange with its upgraded copy", folder));
  if (!done) {
    fs::remove_all(copy, ignored);
    return tl::unexpected(done.error());
  }
  if (::rename(copy.c_str(), report.kept.c_str()) != 0)
    return tl::unexpected(base::io_error(errno, "rename to", report.kept));
  return report;
}

}  // namespace askbase::kb
