#include "kb/sorter.h"

#include <cerrno>
#include <fcntl.h>

#include "base/file.h"

namespace askbase::kb {

base::Result<RunFile> RunFile::create(const std::filesystem::path& folder) {
  std::string name = (folder / "run-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return tl::unexpected(base::io_error(errno, "make a temporary file", folder));
  ::unlink(name.c_str());
  return RunFile(fd);
}

base::Status RunFile::append(const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return tl::unexpected(base::io_error(errno, "write", "temporary file of the knowledge base"));
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

base::Status RunFile::read(std::uint64_t offset, void* data, std::size_t size) const {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::pread(fd_, at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return tl::unexpected(
          base::io_error(got < 0 ? errno : EIO, "read", "temporary file of the knowledge base"));
    at += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace askbase::kb
