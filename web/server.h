// The HTTP server: routes of docs/http.md over one store and engine, and the web page.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "kb/store.h"
#include "qa/engine.h"
#include "qa/text_readers.h"
#include "reader/vector_keeper.h"

namespace askbase::web {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                              // 0: any free one
  std::size_t workers = 64;                     // threads that hold connections
  std::size_t max_body_bytes = 1 << 20;         // 413 above
  std::size_t max_document_bytes = 16 << 20;    // of the body of POST /api/v1/documents and /api/v1/read
  std::size_t max_context_bytes = 10 << 20;     // of a text to be read: 413 above
  std::size_t max_question_code_points = 2000;  // 413 above
  std::string token = {};                       // that changes over HTTP need; empty: none
  std::string base_path = {};                   // "/askbase" behind a proxy that keeps the path
  std::string cors_origin = {};                 // value of Access-Control-Allow-Origin; empty: none
  std::string ui_folder = {};  // the page from files instead of the built-in copy (development)
};

// start() returns when the socket listens; run() serves until stop() (from a signal or another thread).
class Server {
 public:
  // The store and engine must outlive the server, and so must the keeper (null: there are no vectors) and the
  // readers (null: nothing is read).
  static base::Result<std::unique_ptr<Server>> start(kb::Store& store, qa::Engine& engine,
                                                     const ServerOptions& options,
                                                     const reader::VectorKeeper* vectors = nullptr,
                                                     const qa::TextReaders* readers = nullptr);
  virtual ~Server() = default;
  virtual int port() const = 0;
  virtual void run() = 0;
  virtual void stop() = 0;  // finishes running requests; thread-safe
};

}  // namespace askbase::web
