// The thin wrapper of RocksDB: named tables of sorted byte keys, snapshots, and atomic writes. Knows nothing
// of facts. The only files that include RocksDB are storage*.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::kb {

// Column families. Their layout is described in docs/format.md; names are part of the on-disk format.
enum class Table : std::uint8_t {
  meta,        // "format", "next_term", "facts", "version", settings
  terms,       // id -> term
  ids,         // dictionary key -> id
  spo,         // fact key -> sources (varints)
  pos,         // fact key -> nothing
  osp,         // fact key -> nothing
  by_source,   // source id, fact key (spo) -> row
  sources,     // source id -> record
  names,       // match key of a name, NUL, entity, language ... -> the name as written
  words,       // word, NUL, match key of a name that holds it -> nothing
  vocabulary,  // word -> number of names that hold it
  grams,       // character n-gram, length of a word -> the words
  // From here on since format 2 (reader/passage_records.h). A KB of format 1 has none of them until its first
  // document; until then they read as empty.
  documents,      // document number -> record; 0xFF, id -> number
  document_text,  // document number, segment -> a piece of the text
  passages,       // passage number -> record
  postings,       // term, NUL, block of passages -> which of them hold it, how often
  vectors,        // passage number -> sentence vector
  count_
};
inline constexpr int table_count = static_cast<int>(Table::count_);
inline constexpr int tables_of_format_1 = static_cast<int>(Table::documents);
std::string_view table_name(Table table);

enum class OpenMode : std::uint8_t {
  read_only,   // any number of processes; sees the state at open time
  read_write,  // one process; error locked names the holder
  create,      // as read_write; makes the folder when it does not exist
};

// Format version that this program writes, and the oldest one that it opens.
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t oldest_format_version = 1;
// In the KB's folder; locked by the process that writes.
inline constexpr std::string_view lock_file_name = "askbase.lock";

struct StorageOptions {
  // Uncompressed blocks, index and filter blocks included; Store takes half of it for the facts of subjects
  // that were asked for lately (View).
  std::size_t block_cache_bytes = 64 << 20;
  std::size_t threads = 2;            // background compaction
  std::string holder = "askbase";     // what the lock file says of this process
  std::size_t batch_bytes = 2 << 20;  // a Write up to this size travels as one batch in the log ...
  std::size_t file_bytes = 32 << 20;  // ... a larger one as sorted files of this many bytes of entries
  std::uint32_t oldest_format = oldest_format_version;  // upgrades open older ones, and add missing tables
};

// A key range iterator over one table at one snapshot. One thread; must not outlive its Snapshot. Stands
// nowhere (not valid) until the first seek.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual void seek(std::string_view key) = 0;  // first key >= key within the prefix
  virtual bool valid() const = 0;
  virtual void next() = 0;
  virtual std::string_view key() const = 0;  // live until the next move
  virtual std::string_view value() const = 0;
  virtual base::Status status() const = 0;  // corruption or IO met on the way
};

// One consistent state of all tables. Thread-safe; keeps its Storage's database open.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // True when found. Errors: corrupt, io.
  virtual base::Result<bool> get(Table table, std::string_view key, std::string& value) const = 0;
  // Only keys that start with the prefix are visited; empty: all.
  virtual std::unique_ptr<Cursor> cursor(Table table, std::string_view prefix) const = 0;
};

// A set of changes that becomes visible and durable at once. Within a table, keys must come in strictly
// ascending order; different tables may be filled by different threads. Small sets travel as one write
// batch, large ones as sorted files that are ingested together; either way all or nothing, also on kill -9.
class Write {
 public:
  virtual ~Write() = default;
  virtual base::Status put(Table table, std::string_view key, std::string_view value) = 0;
  virtual base::Status erase(Table table, std::string_view key) = 0;
  // Durable when it returns. A Write that is destroyed without it leaves nothing behind.
  virtual base::Status commit() = 0;
};

class Storage {
 public:
  // Errors: not_found (no KB there; hint names `askbase load`), locked, corrupt, unsupported (newer format),
  // io. A folder that is not a KB and not empty is refused by create.
  static base::Result<std::unique_ptr<Storage>> open(const std::filesystem::path& folder, OpenMode mode,
                                                     const StorageOptions& options = {});
  virtual ~Storage() = default;
  // The state after the newest commit (read_only: at open time). Cheap: the same object until a commit.
  virtual std::shared_ptr<const Snapshot> snapshot() const = 0;
  // Error when opened read-only, locked when a Write is open already. It must not outlive the Storage.
  virtual base::Result<std::unique_ptr<Write>> begin_write() = 0;
  // Makes the tables that a KB of an older format lacks, before a Write may fill them, and says so in its
  // format. Nothing to do for others. Errors: io; internal when opened read-only.
  virtual base::Status add_tables() = 0;
  // A consistent copy (hard links where the file system allows) in a folder that must not exist yet; safe
  // while writing. Complete or absent: made under a temporary name and renamed.
  virtual base::Status checkpoint(const std::filesystem::path& folder) const = 0;
  // Bytes of a table's files on disk; what small writes left in the log is not among them.
  virtual std::uint64_t disk_bytes(Table table) const = 0;
  // Merges a table's files; after large loads.
  virtual base::Status compact(Table table) = 0;
  // Reads every block of every file and verifies its checksum.
  virtual base::Status verify_checksums() const = 0;
  virtual const std::filesystem::path& folder() const = 0;
  virtual bool read_only() const = 0;
  virtual std::uint32_t format() const = 0;
  // Folder for large temporary files of the writer, on the KB's file system; emptied when a KB is opened for
  // writing. Made on the first call.
  virtual base::Result<std::filesystem::path> temporary_folder() = 0;
};

}  // namespace askbase::kb
