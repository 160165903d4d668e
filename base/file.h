// Files: whole reads with limits, durable atomic writes, locks. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace askbase::base {

// The whole file. Errors: not_found, io (a directory, no permission), too_large.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes = 1ULL << 30);

// Writes beside the target, fsyncs, renames over it and fsyncs the folder: the target is the old or the new
// content, never a mix, also across power loss.
Status write_file_atomic(const std::filesystem::path& path, std::string_view content);

// The same for content that is made piece by piece, so that it need not lie in memory as a whole. Without
// commit() the target stays as it was, and what was written is removed. Belongs to one thread.
class AtomicFile {
 public:
  // The target must not be a folder or a device. Errors: io, not_found (its folder).
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  Status write(std::string_view bytes);
  Status commit();

 private:
  AtomicFile() = default;
  int fd_ = -1;
  std::filesystem::path path_, target_, beside_;
};

// fsync of a folder: what was renamed or made in it stays there across power loss.
Status sync_folder(const std::filesystem::path& folder);

Status make_directories(const std::filesystem::path& path);

// "No space left on device" for an errno, with the path in front.
Error io_error(int error_number, std::string_view what, const std::filesystem::path& path);

// An exclusive advisory lock on a file (flock), freed by the destructor and by the kernel when the process
// dies. The holder's words (pid and command) are written into the file for whoever finds it locked.
class FileLock {
 public:
  // Error locked, with the holder's words in the message, when another process has it.
  static Result<FileLock> acquire(const std::filesystem::path& path, std::string_view holder);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace askbase::base
