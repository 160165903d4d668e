// Documents over HTTP: POST /api/v1/documents, DELETE /api/v1/documents/{id}. Thread-safe.
#pragma once

#include <string>

#include "kb/store.h"
#include "qa/engine.h"
#include "web/http_message.h"
#include "web/problem.h"

namespace askbase::web {

struct WriteContext {
  kb::Store& store;
  qa::Engine& engine;  // refreshed after a change
  std::string token;   // that writers must send; empty: none
};

// Problem 401 without the token, 403 when the KB was opened for reading.
Outcome<void> check_write(const WriteContext& context, const HttpRequest& request);

// One document, {"id", "text", "title"?, "lang"?, "url"?, "date"?}: 201 when it is new, else 200.
Outcome<HttpResponse> put_document(const WriteContext& context, const HttpRequest& request);
// 204, or problem 404.
Outcome<HttpResponse> delete_document(const WriteContext& context, const std::string& id);

}  // namespace askbase::web
