// Errors as values: Result<T> is either a T or an Error that says what went wrong, where, and what to do.
//
// Expected failures (input, parsing, not found, bad requests) travel as Result. Exceptions are left for
// programmer errors and for foreign libraries, whose wrappers catch them.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace askbase::base {

enum class ErrorCode {
  invalid_argument,  // the caller's words are wrong (exit 2, HTTP 400)
  bad_input,         // a file or a request body does not parse (HTTP 400/422)
  not_found,         // no such file, entity, source (HTTP 404)
  locked,            // someone else holds it (HTTP 409)
  too_large,         // over a stated limit (HTTP 413)
  unsupported,       // a format or version that this program does not read (HTTP 415)
  corrupt,           // stored data fails its checks
  io,                // the operating system said no: permission, full disk
  cancelled,         // Ctrl-C or a closed connection (exit 130)
  timeout,           // a deadline passed
  internal,          // a bug: should not be seen
};

// "bad_input", "locked", ...: the spelling used in JSON and logs.
std::string_view error_code_name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // one line: what failed, where (file:line: reason), why
  std::string hint;     // one line, may be empty: what the user can do next
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}

}  // namespace askbase::base

// Returns the error of a Status/Result expression from the enclosing function.
#define ASKBASE_TRY(expression)                                                       \
  do {                                                                                \
    if (auto askbase_try_ = (expression); !askbase_try_)                              \
      return tl::unexpected<::askbase::base::Error>(std::move(askbase_try_).error()); \
  } while (false)

#define ASKBASE_CONCAT_INNER(a, b) a##b
#define ASKBASE_CONCAT(a, b) ASKBASE_CONCAT_INNER(a, b)
// ASKBASE_ASSIGN(auto x, f()): x is the value of f(), or the error is returned.
#define ASKBASE_ASSIGN_IMPL(tmp, declaration, expression)                          \
  auto tmp = (expression);                                                         \
  if (!tmp) return tl::unexpected<::askbase::base::Error>(std::move(tmp).error()); \
  declaration = std::move(*tmp)
#define ASKBASE_ASSIGN(declaration, expression) \
  ASKBASE_ASSIGN_IMPL(ASKBASE_CONCAT(askbase_assign_, __LINE__), declaration, expression)
