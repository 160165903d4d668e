// A request and a response as the routes see them: plain values, no type of the HTTP library.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace askbase::web {

// Views live as long as the handler runs.
struct HttpRequest {
  std::string_view method;                                             // "GET", in capitals
  std::string_view target;                                             // path and query, percent-encoded
  std::vector<std::pair<std::string_view, std::string_view>> headers;  // as sent, values trimmed
  std::string_view body;                                               // chunks put together

  // The first header of this name (case does not matter), empty without one.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type;  // empty: no body
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// "Not Found" for 404.
std::string_view status_phrase(int status);

// True when both are the same ASCII text, upper and lower case alike.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace askbase::web
