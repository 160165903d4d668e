// The target of a request taken apart: path and query parameters, percent-decoded and checked.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/problem.h"

namespace askbase::web {

// Nothing when a percent sign is not followed by two hexadecimal digits. plus_is_space: as in queries.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);
// Everything but unreserved characters (RFC 3986) encoded.
std::string percent_encode(std::string_view text);

class Query {
 public:
  // Problems 400: bad percent-encoding, invalid UTF-8.
  static Outcome<Query> parse(std::string_view target);

  const std::string& path() const { return path_; }
  // Empty when there is none: a parameter without a value is as good as absent.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const;
  // A decimal number between least and most; fallback when the parameter is absent.
  Outcome<int> number(std::string_view name, int fallback, int least, int most) const;
  // Problem 400 that names the first parameter which is not among these, or which stands twice.
  Outcome<void> allow(std::initializer_list<std::string_view> names) const;

 private:
  std::string path_;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace askbase::web
