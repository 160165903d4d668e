#include "web/handoff_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"

namespace askbase::web {
namespace {

constexpr std::size_t max_line_bytes = 4 << 20;

// The address of the socket. A path may be longer than the 107 bytes that an address holds, so the folder is
// opened and named by its descriptor.
struct FolderAddress {
  Descriptor folder;
  sockaddr_un address{};

  explicit FolderAddress(const std::filesystem::path& path)
      : folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    address.sun_family = AF_UNIX;
    const std::string name =
        "/proc/self/fd/" + std::to_string(folder.get()) + "/" + std::string(handoff_socket_name);
    std::copy(name.begin(), name.end(), address.sun_path);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Descriptor new_socket() { return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

base::Result<Descriptor> listen_in(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / handoff_socket_name;
  ASKBASE_ASSIGN(const auto other, connect_to(folder));
  if (other) {
    return base::fail(base::ErrorCode::locked, "a server listens already at " + path.string(),
                      "stop it, or use another knowledge base");
  }
  const FolderAddress address(folder);
  if (!address.folder) return tl::unexpected(base::io_error(errno, "cannot open", folder));
  // Nobody listens: the file is what a killed server left.
  ::unlinkat(address.folder.get(), std::string(handoff_socket_name).c_str(), 0);
  Descriptor listener = new_socket();
  // Set on the socket before it gets its name: the file is never open to others, not even for a moment.
  if (!listener || ::fchmod(listener.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(listener.get(), address.get(), sizeof address.address) != 0 ||
      ::listen(listener.get(), 16) != 0) {
    return tl::unexpected(base::io_error(errno, "cannot listen at", path));
  }
  return listener;
}

base::Result<std::optional<Descriptor>> connect_to(const std::filesystem::path& folder) {
  const FolderAddress address(folder);
  if (!address.folder) return std::nullopt;  // no folder: no server
  Descriptor socket = new_socket();
  if (!socket) return tl::unexpected(base::io_error(errno, "cannot make a socket for", folder));
  if (::connect(socket.get(), address.get(), sizeof address.address) == 0)
    return std::optional(std::move(socket));
  if (errno == ENOENT || errno == ECONNREFUSED) return std::nullopt;
  return tl::unexpected(base::io_error(errno, "cannot reach the server at", folder / handoff_socket_name));
}

bool peer_is_trusted(const Descriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

bool LineSocket::send(std::string_view line) {
  std::string bytes(line);
  bytes.push_back('\n');
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

LineSocket::Got LineSocket::receive(std::string& line, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (const std::size_t newline = buffer_.find('\n'); newline != std::string::npos) {
      line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return Got::line;
    }
    if (buffer_.size() > max_line_bytes) return Got::end;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd entry{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready == 0 || (ready < 0 && errno == EINTR)) return Got::nothing;
    std::array<char, 65536> bytes;
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Got::end;
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace askbase::web
