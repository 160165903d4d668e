#include "base/file.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/text.h"

namespace askbase::base {
namespace {

constexpr std::size_t kBlock = 1 << 16;

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int open_retrying(const char* path, int flags, mode_t mode = 0) {
  int fd;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// 0 or an errno.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// A terminal, a pipe, /dev/null: nothing to rename over.
Status write_in_place(const std::filesystem::path& path, std::string_view content) {
  const Descriptor fd(open_retrying(path.c_str(), O_WRONLY));
  if (fd.get() < 0) return tl::unexpected(io_error(errno, "open", path));
  if (const int problem = write_all(fd.get(), content))
    return tl::unexpected(io_error(problem, "write", path));
  return {};
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

std::string megabytes(std::uint64_t bytes) {
  if (bytes < (1U << 20)) return std::to_string(bytes) + " bytes";
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

Error io_error(int error_number, std::string_view what, const std::filesystem::path& path) {
  Error error;
  error.code = ErrorCode::io;
  error.message =
      path.string() + ": cannot " + std::string(what) + ": " + std::generic_category().message(error_number);
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      error.code = ErrorCode::not_found;
      error.hint = "check the path";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      error.hint = "check the permissions of the file and of its folder";
      break;
    case ENOSPC:
    case EDQUOT:
      error.hint = "free some space on that disk, or choose another folder";
      break;
    case EMFILE:
    case ENFILE:
      error.hint = "raise the limit of open files (ulimit -n)";
      break;
    case EISDIR:
      error.hint = "name a file, not a folder";
      break;
    default:
      break;
  }
  return error;
}

Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Descriptor fd(open_retrying(path.c_str(), O_RDONLY));
  if (fd.get() < 0) return tl::unexpected(io_error(errno, "open", path));
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) return tl::unexpected(io_error(errno, "read", path));
  if (S_ISDIR(status.st_mode)) return tl::unexpected(io_error(EISDIR, "read", path));
  const auto too_large = [&] {
    return fail(ErrorCode::too_large, path.string() + ": larger than the limit of " + megabytes(max_bytes));
  };
  std::string content;
  if (S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return too_large();
    content.reserve(static_cast<std::size_t>(status.st_size) + kBlock);  // the last read asks past the end
  }
  // The size is a hint only: pipes and /proc say 0, and files grow.
  while (true) {
    const std::size_t size = content.size();
    content.resize(size + kBlock);
    const ssize_t got = ::read(fd.get(), content.data() + size, kBlock);
    content.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(io_error(errno, "read", path));
    if (content.size() > max_bytes) return too_large();
    if (got == 0) return content;
  }
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  AtomicFile file;
  file.path_ = path;
  // Through a link to the file it names, so that the link survives the rename.
  std::error_code ignored;
  file.target_ = path;
  if (std::filesystem::is_symlink(path, ignored)) {
    const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) file.target_ = resolved;
  }
  struct stat old = {};
  const bool replaces = ::stat(file.target_.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode)) {
    return tl::unexpected(io_error(S_ISDIR(old.st_mode) ? EISDIR : EINVAL, "write", path));
  }
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path beside =
      folder_of(file.target_) /
      (".askbase-tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1)));
  file.fd_ = open_retrying(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file.fd_ < 0) return tl::unexpected(io_error(errno, "write", path));
  file.beside_ = beside;  // from here on the destructor removes it
  if (replaces && ::fchmod(file.fd_, old.st_mode & 07777) != 0) {
    return tl::unexpected(io_error(errno, "write", path));
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      beside_(std::exchange(other.beside_, {})) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

Status AtomicFile::write(std::string_view bytes) {
  if (const int problem = write_all(fd_, bytes)) return tl::unexpected(io_error(problem, "write", path_));
  return {};
}

Status AtomicFile::commit() {
  if (::fsync(fd_) != 0) return tl::unexpected(io_error(errno, "write", path_));
  // close() can report a write that failed late (network file systems), so success needs its word.
  if (::close(std::exchange(fd_, -1)) != 0) return tl::unexpected(io_error(errno, "write", path_));
  if (::rename(beside_.c_str(), target_.c_str()) != 0) {
    return tl::unexpected(io_error(errno, "write", path_));
  }
  beside_.clear();
  return sync_folder(folder_of(target_));
}

Status write_file_atomic(const std::filesystem::path& path, std::string_view content) {
  struct stat old = {};
  if (::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) {
    return write_in_place(path, content);
  }
  ASKBASE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  ASKBASE_TRY(file.write(content));
  return file.commit();
}

Status sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(open_retrying(folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) return tl::unexpected(io_error(errno, "open folder", folder));
  // Some file systems cannot sync a folder (EINVAL): nothing more can be done there.
  if (::fsync(fd.get()) != 0 && errno != EINVAL)
    return tl::unexpected(io_error(errno, "sync folder", folder));
  return {};
}

Status make_directories(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return tl::unexpected(io_error(problem.value(), "make the folder", path));
  // create_directories() says nothing when a file stands there under that name (older libraries).
  if (!std::filesystem::is_directory(path, problem)) {
    return tl::unexpected(io_error(ENOTDIR, "make the folder", path));
  }
  return {};
}

Result<FileLock> FileLock::acquire(const std::filesystem::path& path, std::string_view holder) {
  const int fd = open_retrying(path.c_str(), O_RDWR | O_CREAT, 0666);
  if (fd < 0) return tl::unexpected(io_error(errno, "open the lock", path));
  FileLock lock(fd);
  int taken;
  do {
    taken = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (taken != 0 && errno == EINTR);
  if (taken != 0) {
    if (errno != EWOULDBLOCK) return tl::unexpected(io_error(errno, "lock", path));
    const Result<std::string> words = read_file(path, 4096);
    const std::string who = words ? std::string(trim(*words)) : std::string();
    return fail(ErrorCode::locked, path.string() + ": in use by " + (who.empty() ? "another process" : who),
                "wait for it to end, or stop it");
  }
  // Words that cannot be written (a full disk) do not weaken the lock.
  std::string words(holder);
  words += '\n';
  if (::ftruncate(fd, 0) == 0) write_all(fd, words);
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

FileLock::~FileLock() {
  if (fd_ < 0) return;
  // The file stays (removing it would let two processes lock two files of one name), without the words of a
  // holder that is gone.
  if (::ftruncate(fd_, 0) != 0) {
    // Harmless: the next holder writes its own.
  }
  ::close(fd_);
}

}  // namespace askbase::base
