// The socket of web/handoff.h: lines of JSON over a Unix socket in the KB folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace askbase::web {

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

inline constexpr std::string_view handoff_socket_name = "askbase.sock";

// Listens in the folder; the socket file has mode 0600. A file that a killed server left is replaced. Errors:
// locked (a server listens already), io.
base::Result<Descriptor> listen_in(const std::filesystem::path& folder);
// Nothing when no server listens there. Error io.
base::Result<std::optional<Descriptor>> connect_to(const std::filesystem::path& folder);
// True when the other end is a process of the same user, or of root.
bool peer_is_trusted(const Descriptor& socket);

// Whole lines over a connected socket. One thread reads; writing is for one thread at a time.
class LineSocket {
 public:
  explicit LineSocket(Descriptor socket) : socket_(std::move(socket)) {}
  const Descriptor& socket() const { return socket_; }
  // False when the other end is gone.
  bool send(std::string_view line);

  enum class Got { line, end, nothing };  // nothing: not within the time
  // Lines longer than 4 MiB count as the end.
  Got receive(std::string& line, std::chrono::milliseconds patience);

 private:
  Descriptor socket_;
  std::string buffer_;
};

}  // namespace askbase::web
