#include "web/problem.h"

#include "base/json.h"
#include "base/log.h"

namespace askbase::web {

Problem problem_of(const base::Error& error) {
  const std::string said = error.hint.empty() ? error.message : error.message + ". " + error.hint;
  switch (error.code) {
    case base::ErrorCode::invalid_argument:
      return {400, "invalid-request", said, {}, {}};
    case base::ErrorCode::bad_input:
      return {400, "invalid-request", said, {}, {}};
    case base::ErrorCode::not_found:
      return {404, "not-found", said, {}, {}};
    case base::ErrorCode::locked:
      return {409, "locked", said, {}, {}};
    case base::ErrorCode::too_large:
      return {413, "too-large", said, {}, {}};
    case base::ErrorCode::unsupported:
      return {415, "unsupported-media-type", said, {}, {}};
    case base::ErrorCode::cancelled:
    case base::ErrorCode::timeout:
      return {503, "unavailable", said, {}, {}};
    case base::ErrorCode::corrupt:
    case base::ErrorCode::io:
    case base::ErrorCode::internal:
      break;
  }
  base::log_error("request failed: " + error.message);
  return {500, "internal", "The server failed to answer; its log says why.", {}, {}};
}

HttpResponse problem_response(const Problem& problem) {
  base::Json body = {{"type", "urn:askbase:problem:" + problem.kind},
                     {"title", status_phrase(problem.status)},
                     {"status", problem.status},
                     {"detail", problem.detail}};
  if (!problem.field.empty()) body["field"] = problem.field;
  HttpResponse response{problem.status, "application/problem+json", base::dump_json(body), {}};
  response.headers.emplace_back("Cache-Control", "no-store");
  if (!problem.allow.empty()) response.headers.emplace_back("Allow", problem.allow);
  if (problem.status == 503 || problem.status == 409) response.headers.emplace_back("Retry-After", "1");
  if (problem.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (problem.status == 415) response.headers.emplace_back("Accept-Post", "application/json");
  return response;
}

}  // namespace askbase::web
