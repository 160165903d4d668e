#include "web/head_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "web/http_message.h"

namespace askbase::web {
namespace {

bool is_token(std::string_view text) {
  constexpr std::string_view signs = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  });
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7F;
  });
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls visit for every member of a comma-separated list.
template <typename Visitor>
void for_each_member(std::string_view list, Visitor visit) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    visit(trim_blanks(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// "gzip" or "*" among the encodings, and not with weight 0.
bool accepts_gzip(std::string_view encodings) {
  bool accepts = false;
  for_each_member(encodings, [&](std::string_view member) {
    const std::size_t semicolon = std::min(member.find(';'), member.size());
    const std::string_view name = trim_blanks(member.substr(0, semicolon));
    const std::string_view weight = trim_blanks(member.substr(std::min(semicolon + 1, member.size())));
    const bool refused =
        weight.starts_with("q=0") && weight.find_first_not_of("0.", 2) == std::string_view::npos;
    if ((equal_ignoring_case(name, "gzip") || name == "*") && !refused) accepts = true;
  });
  return accepts;
}

// The library percent-decodes values; this makes it give back what was sent.
void append_value(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '%') {
      out.append("%25");
    } else {
      out.push_back(c);
    }
  }
}

}  // namespace

bool HeadFilter::refuse(int status, std::string detail) {
  status_ = status;
  detail_ = std::move(detail);
  return false;
}

bool HeadFilter::part_of_line(std::string_view part) {
  // What is not HTTP at all (TLS, say) need not be waited for until the timeout.
  if (!have_request_line_ && !part.empty() && part[0] != '\r' && (part[0] < 'A' || part[0] > 'Z')) {
    return refuse(400,
                  "The request does not begin with a method in capital letters. If this was meant to be "
                  "https: the server speaks plain http.");
  }
  if (part.size() > limits_.line_bytes) {
    if (have_request_line_) {
      return refuse(431, "A header line is longer than " + std::to_string(limits_.line_bytes) + " bytes.");
    }
    return refuse(414, "The request line is longer than " + std::to_string(limits_.line_bytes) +
                           " bytes. Send a long question with POST.");
  }
  if (bytes_ + part.size() > limits_.head_bytes) {
    return refuse(431, "The headers are longer than " + std::to_string(limits_.head_bytes) + " bytes.");
  }
  return true;
}

bool HeadFilter::line(std::string_view line, std::string& out) {
  if (!part_of_line(line)) return false;
  bytes_ += line.size() + 1;
  if (!line.ends_with('\r')) return refuse(400, "A line of the request's head does not end with CR LF.");
  line.remove_suffix(1);
  if (!have_request_line_) {
    if (line.empty()) return true;  // allowed before a request (RFC 9112, 2.2)
    have_request_line_ = true;
    return request_line(line, out);
  }
  if (!line.empty()) return header(line, out);
  if (!version_1_0_ && !has_host_) return refuse(400, "An HTTP/1.1 request needs a Host header.");
  if (chunked_ && (has_length_ || version_1_0_)) {
    return refuse(400, "Transfer-Encoding stands beside Content-Length, or in an HTTP/1.0 request.");
  }
  complete_ = true;
  out.append("\r\n");
  return true;
}

bool HeadFilter::request_line(std::string_view line, std::string& out) {
  constexpr std::array<std::string_view, 8> methods = {"GET",    "HEAD",    "POST",  "PUT",
                                                       "DELETE", "OPTIONS", "TRACE", "PATCH"};
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return refuse(400, "The request line is not of the form \"METHOD TARGET HTTP/1.1\".");
  }
  const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    if (version.starts_with("HTTP/")) return refuse(505, "The server speaks HTTP/1.1 and HTTP/1.0.");
    return refuse(400, "The request line does not end with an HTTP version.");
  }
  version_1_0_ = version == "HTTP/1.0";
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
    return refuse(501, "The server does not know this method.");
  }
  if (target.find_first_of(" \t") != std::string_view::npos || has_control_character(target)) {
    return refuse(400, "The request target holds white space or a control character; percent-encode it.");
  }
  // The library takes a second '?' for an error, though it is allowed in a query (RFC 3986, 3.4).
  const std::size_t mark = std::min(target.find('?'), target.size());
  out.append(method).append(" ").append(target.substr(0, mark));
  for (std::size_t i = mark; i < target.size(); ++i) {
    if (i > mark && target[i] == '?') {
      out.append("%3F");
    } else {
      out.push_back(target[i]);
    }
  }
  out.append(" ").append(version).append("\r\n");
  return true;
}

bool HeadFilter::header(std::string_view line, std::string& out) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return refuse(400, "A header line is not of the form \"Name: value\".");
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (has_control_character(value)) return refuse(400, "A header's value holds a control character.");
  if (++headers_ > limits_.header_count) {
    return refuse(431, "The request has more than " + std::to_string(limits_.header_count) + " headers.");
  }
  const auto is = [&](std::string_view other) { return equal_ignoring_case(name, other); };
  // Reading Range overflows the library's memory or stack, and nothing here is worth a part of.
  if (is("range")) return true;
  if (is("accept-encoding")) {
    // Brotli is left out: the library compresses with it at its slowest.
    if (accepts_gzip(value)) out.append("Accept-Encoding: gzip\r\n");
    return true;
  }
  if (is("connection")) {
    // The library knows only the word alone and in this spelling.
    bool close = false;
    for_each_member(value, [&](std::string_view member) { close |= equal_ignoring_case(member, "close"); });
    if (close) out.append("Connection: close\r\n");
    return true;
  }
  if (is("content-encoding") && !equal_ignoring_case(value, "identity")) {
    return refuse(415, "A compressed body is not taken: its size could not be bounded.");
  }
  if (is("content-length")) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), content_length_);
    if (has_length_) return refuse(400, "The request has two Content-Length headers.");
    has_length_ = true;
    if (value.empty() || error == std::errc::invalid_argument || end != value.data() + value.size()) {
      return refuse(400, "Content-Length is not a number.");
    }
    if (error == std::errc::result_out_of_range) content_length_ = std::numeric_limits<std::uint64_t>::max();
  }
  if (is("transfer-encoding")) {
    if (chunked_ || !equal_ignoring_case(value, "chunked")) {
      return refuse(501, "Transfer-Encoding other than \"chunked\" is not known here.");
    }
    chunked_ = true;
  }
  if (is("host")) {
    if (has_host_) return refuse(400, "The request has two Host headers.");
    has_host_ = true;
  }
  if (is("expect") && !equal_ignoring_case(value, "100-continue")) {
    return refuse(417, "Expect other than \"100-continue\" is not known here.");
  }
  out.append(name).append(": ");
  append_value(out, value);
  out.append("\r\n");
  return true;
}

}  // namespace askbase::web
