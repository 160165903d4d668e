// Failures of a request as RFC 9457 problem details.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/result.h"
#include "web/http_message.h"

namespace askbase::web {

struct Problem {
  int status = 500;
  std::string kind;    // last part of the type URN: "invalid-field"; docs/http.md lists them
  std::string detail;  // for a person: what is wrong and what is expected
  std::string field;   // the field or parameter that is wrong; empty: none
  std::string allow;   // value of the Allow header of a 405
};

// What a route computes: a value, or what is wrong with the request.
template <typename T>
using Outcome = tl::expected<T, Problem>;

inline tl::unexpected<Problem> reject(int status, std::string kind, std::string detail,
                                      std::string field = {}) {
  return tl::unexpected<Problem>(Problem{status, std::move(kind), std::move(detail), std::move(field), {}});
}
// The field (or query parameter) does not hold what is expected.
inline tl::unexpected<Problem> invalid_field(const std::string& field, const std::string& expected) {
  return reject(400, "invalid-field", "\"" + field + "\" must be " + expected + ".", field);
}

// The problem that an error from below is for a client. Errors that are not the client's doing (io, corrupt,
// internal) are logged in full and shown without their words.
Problem problem_of(const base::Error& error);

HttpResponse problem_response(const Problem& problem);

}  // namespace askbase::web
