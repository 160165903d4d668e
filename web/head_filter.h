// What stands between the network and cpp-httplib's parser: looks at a request's head line by line, refuses
// what is malformed or over a limit, and rewrites what the library gets wrong.
//
// Strict where laxness lets requests be smuggled (RFC 9112): both Content-Length and Transfer-Encoding, two
// lengths, a folded header, white space before a colon, or a line that ends with a bare LF are errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace askbase::web {

struct HeadLimits {
  std::size_t line_bytes = 8000;    // request line: 414; one header line: 431
  std::size_t head_bytes = 16'384;  // all lines together: 431
  std::size_t header_count = 100;   // 431
};

class HeadFilter {
 public:
  explicit HeadFilter(const HeadLimits& limits) : limits_(limits) {}

  // Takes one line without its LF and appends what the library may see to out. False when the request is
  // refused: status() and detail() say why.
  bool line(std::string_view line, std::string& out);
  // Looks at the beginning of a line that is not complete yet: false when it is refused already.
  bool part_of_line(std::string_view part);

  bool complete() const { return complete_; }
  bool started() const { return bytes_ > 0; }
  int status() const { return status_; }
  const std::string& detail() const { return detail_; }

  // Of a complete head.
  bool chunked() const { return chunked_; }
  std::uint64_t content_length() const { return content_length_; }
  bool has_body() const { return chunked_ || content_length_ > 0; }

 private:
  bool refuse(int status, std::string detail);
  bool request_line(std::string_view line, std::string& out);
  bool header(std::string_view line, std::string& out);

  HeadLimits limits_;
  std::size_t bytes_ = 0, headers_ = 0;
  bool have_request_line_ = false, complete_ = false, version_1_0_ = false;
  bool has_host_ = false, has_length_ = false, chunked_ = false;
  std::uint64_t content_length_ = 0;
  int status_ = 0;
  std::string detail_;
};

}  // namespace askbase::web
