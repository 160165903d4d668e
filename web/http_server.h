// cpp-httplib with the limits that it lacks; http_server.cpp is the one file that includes it.
//
// A connection holds a thread, as the library has it. What keeps a slow, idle or hostile client from keeping
// others out: a bounded time for each part of a request, and a pool that grows, and then cuts off whoever
// has kept a thread waiting longest, when a new connection finds no free thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "web/head_filter.h"
#include "web/http_message.h"

namespace askbase::web {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                    // 0: any free one
  std::size_t workers = 64;        // threads at the start
  std::size_t max_workers = 256;   // threads at most
  std::size_t max_waiting = 1024;  // connections that wait for a thread; above: 503
  HeadLimits head;
  std::size_t body_bytes = 1 << 20;                 // 413 above
  std::chrono::milliseconds idle_timeout{30'000};   // between requests
  std::chrono::milliseconds head_timeout{10'000};   // for the whole of a request's head: 408
  std::chrono::milliseconds body_timeout{30'000};   // for the whole of its body: 408
  std::chrono::milliseconds write_timeout{10'000};  // without progress
  // Called when the head of a request with a body is there; a response refuses the body.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> before_body;
  std::function<HttpResponse(const HttpRequest&)> handler;
  // Makes the response to what never became a request.
  std::function<HttpResponse(int status, const std::string& detail)> refusal;
};

// The callbacks are called by many threads at once and must not throw.
class HttpServer {
 public:
  // Listens. Errors: io (address in use, not allowed), invalid_argument (no such host).
  static base::Result<std::unique_ptr<HttpServer>> listen(HttpServerOptions options);
  ~HttpServer();

  int port() const;
  // Serves until stop(); then finishes running requests and returns.
  void run();
  // Thread-safe and safe in a signal handler; may come before run().
  void stop();
  bool stopping() const;
  std::size_t connections() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace askbase::web
