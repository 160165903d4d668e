// Byte streams to read from: files and standard input, plain or compressed with gzip or zstd (told by the
// first bytes, not by the name; concatenated members are read through).
//
// An Input belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::base {

class Input {
 public:
  // "-" is standard input. Errors: not_found, io (a directory, no permission).
  static Result<std::unique_ptr<Input>> open(const std::filesystem::path& path);
  // Decompresses as open() does.
  static std::unique_ptr<Input> from_string(std::string content, std::string name);
  virtual ~Input() = default;

  // Up to size bytes, 0 at the end. Errors: io, bad_input (damaged compression; says at which byte).
  virtual Result<std::size_t> read(char* buffer, std::size_t size) = 0;
  // For messages: the path, or "standard input".
  virtual const std::string& name() const = 0;
  // Bytes of the underlying file read so far, and its size when known: for progress.
  virtual std::uint64_t raw_position() const = 0;
  virtual std::optional<std::uint64_t> raw_size() const = 0;
};

// Lines of an Input, without their end (LF or CRLF). A UTF-8 byte order mark at the start is dropped.
class LineReader {
 public:
  explicit LineReader(Input& input, std::size_t max_line_bytes = 16 << 20);
  // False at the end. The view lives until the next call. Error too_large names the line.
  Result<bool> next(std::string_view& line);
  std::uint64_t line_number() const { return line_number_; }  // of the line last returned, from 1

 private:
  Input& input_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;
  bool at_end_ = false;
  std::uint64_t line_number_ = 0;
};

// The fields of a line, at least one; empty ones stay.
std::vector<std::string_view> split(std::string_view line, char separator);

}  // namespace askbase::base
