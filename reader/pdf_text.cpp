#include "reader/pdf_text.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "reader/document.h"

extern char** environ;

namespace askbase::reader {
namespace {

// Both ends of a pipe; what is open is closed.
struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (int& end : ends) shut(end);
  }
  static void shut(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// The running program; killed when it is given up, and always waited for.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    return status;
  }

 private:
  pid_t id_;
};

base::Error not_installed() {
  return {base::ErrorCode::unsupported, "PDF files are read by the program pdftotext, which is not installed",
          "install it (on Debian: apt-get install poppler-utils), or convert the file to text"};
}

}  // namespace

base::Result<std::string> pdf_text(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return base::fail(base::ErrorCode::not_found, "no such file: " + path.string());
  if (::access(path.c_str(), R_OK) != 0) return tl::unexpected(base::io_error(errno, "cannot read", path));
  Pipe out, err;
  if (::pipe2(out.ends.data(), O_CLOEXEC) != 0 || ::pipe2(err.ends.data(), O_CLOEXEC) != 0)
    return tl::unexpected(base::io_error(errno, "cannot start pdftotext for", path));
  std::string program = "pdftotext", encoding = "-enc", utf8 = "UTF-8", output = "-";
  std::string file = std::filesystem::absolute(path).string();  // never taken for an option
  std::array<char*, 6> arguments = {program.data(), encoding.data(), utf8.data(),
                                    file.data(),    output.data(),   nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t id = 0;
  const int failed = ::posix_spawnp(&id, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    if (failed == ENOENT) return tl::unexpected(not_installed());
    return tl::unexpected(base::io_error(failed, "cannot start pdftotext for", path));
  }
  Child child(id);
  Pipe::shut(out.ends[1]);
  Pipe::shut(err.ends[1]);
  std::string text, complaint;
  std::array<char, 65536> block;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    ASKBASE_TRY(base::check_interrupt());
    std::array<pollfd, 2> wanted = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
    if (::poll(wanted.data(), wanted.size(), 100) <= 0) continue;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].fd < 0 || wanted[i].revents == 0) continue;
      const ssize_t got = ::read(wanted[i].fd, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        Pipe::shut(i == 0 ? out.ends[0] : err.ends[0]);
        continue;
      }
      std::string& to = i == 0 ? text : complaint;
      if (i == 0 || to.size() < block.size()) to.append(block.data(), static_cast<std::size_t>(got));
    }
    if (text.size() > largest_document)
      return base::fail(
          base::ErrorCode::too_large,
          path.string() + ": more than " + std::to_string(largest_document >> 20) + " MiB of text",
          "split it into several documents");
  }
  const int status = child.wait();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return tl::unexpected(not_installed());
    const std::string reason(base::trim(std::string_view(complaint).substr(0, complaint.find('\n'))));
    return base::fail(base::ErrorCode::bad_input,
                      path.string() + ": pdftotext cannot read it" + (reason.empty() ? "" : ": " + reason),
                      "see that it is a PDF file and not encrypted");
  }
  while (text.ends_with('\f')) text.pop_back();  // behind every page
  // Fonts without a proper encoding give anything.
  for (char& c : text)
    if (c == '\0') c = ' ';
  return text;
}

}  // namespace askbase::reader
