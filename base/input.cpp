#include "base/input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/file.h"

namespace askbase::base {
namespace {

constexpr std::size_t kBlock = 1 << 17;

// Where bytes come from before any decompression.
class Source {
 public:
  virtual ~Source() = default;
  virtual Result<std::size_t> read(char* buffer, std::size_t size) = 0;
  virtual std::optional<std::uint64_t> size() const = 0;
};

class FileSource : public Source {
 public:
  FileSource(int fd, bool owned, std::string name, std::optional<std::uint64_t> size)
      : fd_(fd), owned_(owned), name_(std::move(name)), size_(size) {}
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<std::size_t> read(char* buffer, std::size_t size) override {
    while (true) {
      const ssize_t got = ::read(fd_, buffer, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return tl::unexpected(io_error(errno, "read", name_));
    }
  }
  std::optional<std::uint64_t> size() const override { return size_; }

 private:
  int fd_;
  bool owned_;
  std::string name_;
  std::optional<std::uint64_t> size_;
};

class StringSource : public Source {
 public:
  explicit StringSource(std::string content) : content_(std::move(content)) {}
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    size = std::min(size, content_.size() - at_);
    std::memcpy(buffer, content_.data() + at_, size);
    at_ += size;
    return size;
  }
  std::optional<std::uint64_t> size() const override { return content_.size(); }

 private:
  std::string content_;
  std::size_t at_ = 0;
};

// A source with its first bytes read ahead, to tell the compression.
class Buffered {
 public:
  explicit Buffered(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  // At least `wanted` bytes in the buffer unless the source ends before.
  Status fill(std::size_t wanted) {
    if (begin_ > 0) {
      buffer_.erase(0, begin_);
      begin_ = 0;
    }
    while (buffer_.size() < wanted && !at_end_) {
      const std::size_t had = buffer_.size();
      buffer_.resize(std::max(kBlock, wanted));
      auto got = source_->read(buffer_.data() + had, buffer_.size() - had);
      buffer_.resize(had + (got ? *got : 0));
      if (!got) return tl::unexpected(std::move(got).error());
      at_end_ = *got == 0;
      raw_ += *got;
    }
    return {};
  }
  std::string_view available() const { return std::string_view(buffer_).substr(begin_); }
  void consume(std::size_t size) { begin_ += size; }
  // Bytes past the buffer go straight to the reader.
  Result<std::size_t> read(char* out, std::size_t size) {
    if (begin_ < buffer_.size()) {
      size = std::min(size, buffer_.size() - begin_);
      std::memcpy(out, buffer_.data() + begin_, size);
      begin_ += size;
      return size;
    }
    auto got = source_->read(out, size);
    if (got) raw_ += *got;
    return got;
  }
  std::uint64_t raw() const { return raw_; }
  std::uint64_t consumed() const { return raw_ - (buffer_.size() - begin_); }
  std::optional<std::uint64_t> size() const { return source_->size(); }

 private:
  std::unique_ptr<Source> source_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t raw_ = 0;
  bool at_end_ = false;
};

class InputBase : public Input {
 public:
  InputBase(std::unique_ptr<Buffered> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t raw_position() const override { return source_->consumed(); }
  std::optional<std::uint64_t> raw_size() const override { return source_->size(); }

 protected:
  tl::unexpected<Error> damaged(std::string_view format, std::string_view why) const {
    return fail(ErrorCode::bad_input,
                name_ + ": damaged " + std::string(format) + " data at byte " +
                    std::to_string(source_->consumed()) + ": " + std::string(why),
                "fetch or compress the file again");
  }

  std::unique_ptr<Buffered> source_;
  std::string name_;
};

class PlainInput : public InputBase {
 public:
  using InputBase::InputBase;
  Result<std::size_t> read(char* buffer, std::size_t size) override { return source_->read(buffer, size); }
};

class GzipInput : public InputBase {
 public:
  GzipInput(std::unique_ptr<Buffered> source, std::string name)
      : InputBase(std::move(source), std::move(name)) {
    ready_ = ::inflateInit2(&stream_, 15 + 16) == Z_OK;  // 16: gzip headers and checksums
  }
  ~GzipInput() override {
    if (ready_) ::inflateEnd(&stream_);
  }
  GzipInput(const GzipInput&) = delete;
  GzipInput& operator=(const GzipInput&) = delete;

  Result<std::size_t> read(char* buffer, std::size_t size) override {
    if (!ready_) return fail(ErrorCode::internal, name_ + ": no memory to decompress gzip");
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    const auto room = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30));
    stream_.avail_out = room;
    while (!done_ && stream_.avail_out == room && room > 0) {
      if (source_->available().empty()) ASKBASE_TRY(source_->fill(1));
      const std::string_view in = source_->available();
      if (in.empty()) {
        if (!between_members_) return damaged("gzip", "it ends too early");
        done_ = true;
        break;
      }
      if (between_members_) {
        // Zeros pad tapes and blocks; gzip itself ignores what is no further member, but that could hide
        // loss.
        if (in.front() == '\0' && members_ > 0) {
          const std::size_t zeros = std::min(in.find_first_not_of('\0'), in.size());
          source_->consume(zeros);
          continue;
        }
        if (members_ > 0 && ::inflateReset(&stream_) != Z_OK)
          return damaged("gzip", "it cannot be continued");
        between_members_ = false;
      }
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
      stream_.avail_in = static_cast<uInt>(std::min<std::size_t>(in.size(), 1U << 30));
      const uInt given = stream_.avail_in;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      source_->consume(given - stream_.avail_in);
      if (status == Z_STREAM_END) {
        between_members_ = true;
        ++members_;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return damaged("gzip", stream_.msg == nullptr ? "it does not decompress" : stream_.msg);
      }
    }
    return room - stream_.avail_out;
  }

 private:
  z_stream stream_ = {};
  bool ready_ = false, between_members_ = true, done_ = false;
  std::uint64_t members_ = 0;
};

class ZstdInput : public InputBase {
 public:
  ZstdInput(std::unique_ptr<Buffered> source, std::string name)
      : InputBase(std::move(source), std::move(name)), stream_(ZSTD_createDStream()) {}
  ~ZstdInput() override { ZSTD_freeDStream(stream_); }
  ZstdInput(const ZstdInput&) = delete;
  ZstdInput& operator=(const ZstdInput&) = delete;

  Result<std::size_t> read(char* buffer, std::size_t size) override {
    if (stream_ == nullptr) return fail(ErrorCode::internal, name_ + ": no memory to decompress zstd");
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0 && size > 0) {
      if (source_->available().empty()) ASKBASE_TRY(source_->fill(1));
      const std::string_view available = source_->available();
      ZSTD_inBuffer in{available.data(), available.size(), 0};
      const std::size_t wants = ZSTD_decompressStream(stream_, &out, &in);
      source_->consume(in.pos);
      if (ZSTD_isError(wants)) {
        if (ZSTD_getErrorCode(wants) == ZSTD_error_frameParameter_windowTooLarge) {
          return fail(ErrorCode::too_large,
                      name_ + ": compressed with a window that needs more than 128 MiB of memory",
                      "compress it without zstd's option --long, or decompress it first");
        }
        return damaged("zstd", ZSTD_getErrorName(wants));
      }
      // With the input at its end, output may still come out of the decoder's own buffer.
      if (available.empty() && out.pos == 0) {
        if (!frame_ended_) return damaged("zstd", "it ends too early");
        return std::size_t{0};
      }
      if (in.pos > 0 || out.pos > 0) frame_ended_ = wants == 0;
    }
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  bool frame_ended_ = false;
};

Result<std::unique_ptr<Input>> make_input(std::unique_ptr<Source> source, std::string name) {
  auto buffered = std::make_unique<Buffered>(std::move(source));
  ASKBASE_TRY(buffered->fill(4));
  const std::string_view start = buffered->available().substr(0, 4);
  const auto starts_with = [&](std::string_view magic) { return start.substr(0, magic.size()) == magic; };
  if (starts_with("\x1f\x8b")) return std::make_unique<GzipInput>(std::move(buffered), std::move(name));
  const bool skippable_frame =
      start.size() == 4 && (start[0] & 0xF0) == 0x50 && start.substr(1) == "\x2a\x4d\x18";
  if (starts_with("\x28\xb5\x2f\xfd") || skippable_frame) {
    return std::make_unique<ZstdInput>(std::move(buffered), std::move(name));
  }
  return std::make_unique<PlainInput>(std::move(buffered), std::move(name));
}

}  // namespace

Result<std::unique_ptr<Input>> Input::open(const std::filesystem::path& path) {
  if (path == "-") {
    return make_input(std::make_unique<FileSource>(STDIN_FILENO, false, "standard input", std::nullopt),
                      "standard input");
  }
  int fd;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return tl::unexpected(io_error(errno, "open", path));
  struct stat status = {};
  const int known = ::fstat(fd, &status);
  std::optional<std::uint64_t> size;
  if (known == 0 && S_ISREG(status.st_mode)) size = static_cast<std::uint64_t>(status.st_size);
  auto source = std::make_unique<FileSource>(fd, true, path.string(), size);
  if (known == 0 && S_ISDIR(status.st_mode)) return tl::unexpected(io_error(EISDIR, "read", path));
  return make_input(std::move(source), path.string());
}

std::unique_ptr<Input> Input::from_string(std::string content, std::string name) {
  // A string cannot fail to be read, so there is always an input.
  return std::move(*make_input(std::make_unique<StringSource>(std::move(content)), std::move(name)));
}

LineReader::LineReader(Input& input, std::size_t max_line_bytes)
    : input_(input), max_line_bytes_(max_line_bytes) {}

Result<bool> LineReader::next(std::string_view& line) {
  std::size_t searched = begin_;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    const bool found = end != std::string::npos;
    const std::size_t stop = found ? end : buffer_.size();
    // One byte over may be the CR of the line's end.
    if (stop - begin_ > max_line_bytes_ + 1 ||
        ((found || at_end_) && stop - begin_ == max_line_bytes_ + 1 && buffer_[stop - 1] != '\r')) {
      return fail(ErrorCode::too_large,
                  input_.name() + ":" + std::to_string(line_number_ + 1) + ": line longer than " +
                      std::to_string(max_line_bytes_) + " bytes",
                  "check that the file has line breaks");
    }
    if (found || (at_end_ && begin_ < buffer_.size())) {
      line = std::string_view(buffer_).substr(begin_, stop - begin_);
      begin_ = found ? end + 1 : buffer_.size();
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_number_;
      if (line_number_ == 1 && line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
      return true;
    }
    if (at_end_) return false;
    if (begin_ > 0) {
      buffer_.erase(0, begin_);
      begin_ = 0;
    }
    searched = buffer_.size();
    buffer_.resize(searched + kBlock);
    auto got = input_.read(buffer_.data() + searched, kBlock);
    buffer_.resize(searched + (got ? *got : 0));
    if (!got) return tl::unexpected(std::move(got).error());
    at_end_ = *got == 0;
  }
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

}  // namespace askbase::base
