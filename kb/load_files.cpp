#include "kb/load_files.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/sha256.h"
#include "base/text.h"

namespace askbase::kb {
namespace {

constexpr std::size_t kBlock = 1 << 20;

struct FormatNames {
  Format format;
  std::array<std::string_view, 3> names;  // the first is the one that is shown
};
constexpr std::array<FormatNames, 7> kFormats = {{{Format::ntriples, {"nt", "ntriples", "n-triples"}},
                                                  {Format::nquads, {"nq", "nquads", "n-quads"}},
                                                  {Format::turtle, {"ttl", "turtle", "turtle"}},
                                                  {Format::trig, {"trig", "trig", "trig"}},
                                                  {Format::tsv, {"tsv", "tab", "tsv"}},
                                                  {Format::csv, {"csv", "csv", "csv"}},
                                                  {Format::jsonl, {"jsonl", "ndjson", "jsonl"}}}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The file's name without ".gz" or ".zst".
std::filesystem::path uncompressed(const std::filesystem::path& path) {
  const std::string ending = lower(path.extension().string());
  return ending == ".gz" || ending == ".zst" ? path.stem() : path.filename();
}

base::Error unknown_format(const std::string& name, const std::filesystem::path& path) {
  const std::string ending = lower(uncompressed(path).extension().string());
  base::Error error{base::ErrorCode::unsupported, name + ": a format that this program does not read", ""};
  if (path == "-") {
    error.message = "standard input has no name that tells its format";
    error.hint = "say it with --format nt, nq, ttl, trig, csv, tsv or jsonl";
  } else if (ending == ".xlsx" || ending == ".xls" || ending == ".ods") {
    error.message = name + ": a workbook, not a text table";
    error.hint = "in the spreadsheet program, save the sheet as CSV (UTF-8) and load that file";
  } else if (ending == ".rdf" || ending == ".owl" || ending == ".xml" || ending == ".jsonld") {
    error.hint = "convert it to Turtle or N-Triples, for example with rapper or riot";
  } else if (ending == ".json") {
    error.hint = "JSON is read a fact a line (.jsonl): {\"s\": ..., \"p\": ..., \"o\": ...}";
  } else {
    error.hint = "say its format with --format nt, nq, ttl, trig, csv, tsv or jsonl";
  }
  return error;
}

// Copies an input into a file that has no name, so that nothing is left behind.
base::Result<int> spool(base::Input& input, const std::filesystem::path& folder) {
  std::string path = (folder / "input-XXXXXX").string();
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return tl::unexpected(base::io_error(errno, "cannot make a temporary file in", folder));
  ::unlink(path.c_str());
  std::string buffer(kBlock, '\0');
  const auto failed = [&](base::Error error) {
    ::close(fd);
    return tl::unexpected(std::move(error));
  };
  while (true) {
    if (auto status = base::check_interrupt(); !status) return failed(status.error());
    auto got = input.read(buffer.data(), buffer.size());
    if (!got) return failed(std::move(got).error());
    if (*got == 0) return fd;
    std::string_view left(buffer.data(), *got);
    while (!left.empty()) {
      const ssize_t written = ::write(fd, left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed(base::io_error(errno, "cannot write a temporary file in", folder));
      left.remove_prefix(static_cast<std::size_t>(written));
    }
  }
}

// An input under the name that messages shall use.
class Renamed : public base::Input {
 public:
  Renamed(std::unique_ptr<base::Input> input, std::string name)
      : input_(std::move(input)), name_(std::move(name)) {}
  base::Result<std::size_t> read(char* buffer, std::size_t size) override {
    return input_->read(buffer, size);
  }
  const std::string& name() const override { return name_; }
  std::uint64_t raw_position() const override { return input_->raw_position(); }
  std::optional<std::uint64_t> raw_size() const override { return input_->raw_size(); }

 private:
  std::unique_ptr<base::Input> input_;
  std::string name_;
};

}  // namespace

std::string_view format_name(Format format) {
  for (const FormatNames& known : kFormats) {
    if (known.format == format) return known.names[0];
  }
  return "unknown";
}

std::optional<Format> format_from_name(std::string_view name) {
  const std::string wanted = lower(name);
  for (const FormatNames& known : kFormats) {
    for (const std::string_view other : known.names) {
      if (wanted == other) return known.format;
    }
  }
  return std::nullopt;
}

Format format_from_path(const std::filesystem::path& path) {
  const std::string ending = uncompressed(path).extension().string();
  if (ending.empty()) return Format::unknown;
  return format_from_name(std::string_view(ending).substr(1)).value_or(Format::unknown);
}

base::Result<LoadFile> LoadFile::open(
    const std::filesystem::path& path, const LoadOptions& options,
    const std::function<base::Result<std::filesystem::path>()>& temporary_folder) {
  LoadFile file;
  file.path_ = path;
  file.name_ = path == "-" ? "standard input" : path.string();
  file.format_ = options.wordings                    ? Format::jsonl
                 : options.format != Format::unknown ? options.format
                                                     : format_from_path(path);
  // A missing file is told of first: its name may be what is wrong with the format.
  ASKBASE_ASSIGN(const auto input, base::Input::open(path));
  if (file.format_ == Format::unknown) return tl::unexpected(unknown_format(file.name_, path));
  std::error_code ignored;
  if (path == "-" || !std::filesystem::is_regular_file(path, ignored)) {
    ASKBASE_ASSIGN(const std::filesystem::path folder, temporary_folder());
    ASKBASE_ASSIGN(const int fd, spool(*input, folder));
    file.spool_ = std::shared_ptr<int>(new int(fd), [](int* held) {
      ::close(*held);
      delete held;
    });
    file.path_ = "/proc/self/fd/" + std::to_string(fd);
  }
  ASKBASE_ASSIGN(file.stamp_, file.stamp());
  return file;
}

std::string LoadFile::source_name() const {
  return spool_ && name_ == "standard input" ? "standard input"
                                             : std::filesystem::path(name_).filename().string();
}

base::Result<LoadFile::Stamp> LoadFile::stamp() const {
  struct stat status = {};
  if (::stat(path_.c_str(), &status) != 0) return tl::unexpected(base::io_error(errno, "cannot read", name_));
  return Stamp{static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

base::Status LoadFile::check_unchanged() const {
  ASKBASE_ASSIGN(const Stamp now, stamp());
  if (now == stamp_) return {};
  return base::fail(base::ErrorCode::io, name_ + ": the file was changed while it was read",
                    "load it again when it is complete");
}

base::Result<std::string> LoadFile::hash() const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(base::io_error(errno, "cannot read", name_));
  base::Sha256 hash;
  std::string buffer(kBlock, '\0');
  base::Status status;
  while (status) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got > 0) {
      hash.append(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
      status = base::check_interrupt();
    } else if (errno != EINTR) {
      status = tl::unexpected(base::io_error(errno, "cannot read", name_));
    }
  }
  ::close(fd);
  ASKBASE_TRY(std::move(status));
  return hash.hex();
}

base::Result<std::unique_ptr<base::Input>> LoadFile::input() const {
  ASKBASE_ASSIGN(auto input, base::Input::open(path_));
  return std::make_unique<Renamed>(std::move(input), name_);
}

TableSource LoadFile::table(const std::string& table_name) const {
  return {[file = *this] { return file.input(); }, name_, table_name, format_};
}

}  // namespace askbase::kb
