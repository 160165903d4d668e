#include "web/http_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <httplib.h>
#include <list>
#include <mutex>
#include <poll.h>
#include <thread>
#include <vector>

#include "base/log.h"

namespace askbase::web {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds patience_under_pressure{1'000};  // for a client in the middle of a request
constexpr Milliseconds idle_under_pressure{20};  // less, and the next request may be on its way already
constexpr Milliseconds pressure_check{50};
constexpr Milliseconds linger_time{1'000};
constexpr std::size_t linger_bytes = 4 << 20;
constexpr std::size_t flush_bytes = 256 << 10;

// The connections whose threads wait for their client, longest first. Thread-safe.
class Waiting {
 public:
  struct Entry {
    int fd;
    bool idle;  // between two requests
    Clock::time_point since;
    bool cut;
  };
  using Handle = std::list<Entry>::iterator;

  Handle begin(int fd, bool idle) {
    const std::lock_guard lock(mutex_);
    return entries_.insert(entries_.end(), {fd, idle, Clock::now(), false});
  }
  void end(Handle handle) {
    const std::lock_guard lock(mutex_);
    entries_.erase(handle);
  }

  // Ends the longest wait, or all of them, that lasted so long: the thread sees the end of the input. Only
  // connections that are in the list are touched, and their descriptors are open as long as they are.
  void cut(Milliseconds idle, Milliseconds in_request, bool all) {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    for (Entry& entry : entries_) {
      if (entry.cut || now - entry.since < (entry.idle ? idle : in_request)) continue;
      entry.cut = true;
      ::shutdown(entry.fd, SHUT_RD);
      if (!all) return;
    }
  }

 private:
  std::mutex mutex_;
  std::list<Entry> entries_;
};

// Set while a connection is to be turned away instead of served.
thread_local bool turning_away = false;

// Threads for connections: some at the start, more when all are taken.
class Pool final : public httplib::TaskQueue {
 public:
  Pool(const HttpServerOptions& options, Waiting& waiting) : options_(options), waiting_(waiting) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < options.workers; ++i) add_thread();
  }

  void enqueue(std::function<void()> task) override {
    bool crowded = false;
    bool taken = false;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.size() < options_.max_waiting) {
        tasks_.push_back(std::move(task));
        taken = true;
        crowded = tasks_.size() > free_ && !(threads_.size() < options_.max_workers && add_thread());
        pressed_ = crowded;
      }
    }
    if (!taken) {
      turning_away = true;
      task();  // NOLINT(bugprone-use-after-move): not moved then
      turning_away = false;
      crowded = true;
    }
    ready_.notify_one();
    if (crowded) relieve();
  }

  // Called by the accepting thread when no connection came for a moment.
  void on_idle() override {
    if (pressed()) relieve();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_all();
    const Clock::time_point begin = Clock::now();
    while (running_ > 0) {
      // Idle clients at once, those in the middle of a request after a moment.
      const bool patient = Clock::now() - begin < patience_under_pressure;
      waiting_.cut(Milliseconds(0), patient ? Milliseconds(3'600'000) : Milliseconds(0), true);
      std::this_thread::sleep_for(Milliseconds(5));
    }
    for (std::thread& thread : threads_) thread.join();
  }

  // More connections wait than there are free threads. (One that waits for a free thread to wake up does not
  // count.)
  bool pressed() const { return pressed_; }

 private:
  void relieve() { waiting_.cut(idle_under_pressure, patience_under_pressure, false); }

  bool add_thread() {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      base::log_warn(std::string("no further thread for connections: ") + error.what());
      return false;
    }
    ++running_;
    ++free_;
    return true;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [this] { return !tasks_.empty() || stopping_; });
      if (tasks_.empty()) break;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      --free_;
      pressed_ = tasks_.size() > free_;
      lock.unlock();
      task();
      lock.lock();
      ++free_;
      pressed_ = tasks_.size() > free_;
    }
    --running_;
  }

  const HttpServerOptions& options_;
  Waiting& waiting_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t free_ = 0;  // threads without a connection
  std::atomic<bool> pressed_{false};
  std::atomic<std::size_t> running_{0};
  bool stopping_ = false;
};

// A connection as the library reads and writes it: with bounded sizes and times, the head filtered, and the
// response sent in one piece. One thread.
class LimitedStream final : public httplib::Stream {
 public:
  LimitedStream(int fd, const HttpServerOptions& options, Waiting& waiting)
      : fd_(fd), options_(options), waiting_(waiting), filter_(options.head) {}

  // Waits for the first byte of a request. False: none came in time, or the client is gone.
  bool wait_for_request() {
    if (in_at_ < in_.size()) return true;
    if (!wait(POLLIN, Clock::now() + options_.idle_timeout, true)) return false;
    return receive() > 0;
  }

  void next_request() {
    filter_ = HeadFilter(options_.head);
    passed_.clear();
    passed_at_ = 0;
    body_bytes_ = 0;
    deadline_ = {};
    answered_ = body_taken_ = must_close_ = false;
    early_response_.reset();
  }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }

  ssize_t read(char* to, size_t size) override {
    if (passed_at_ == passed_.size()) {
      if (refused_status_ != 0 || (!filter_.complete() && !read_head())) return -1;
    }
    if (passed_at_ < passed_.size()) return take(passed_, passed_at_, to, size);
    // The body. What is ready to be sent is perhaps what the client waits for ("100 Continue").
    if (!flush()) return -1;
    if (in_at_ == in_.size() && !fill()) return -1;
    size = std::min(size, in_.size() - in_at_);
    body_bytes_ += size;
    if (body_bytes_ > options_.body_bytes) {
      refuse(413, "The body is longer than " + std::to_string(options_.body_bytes) + " bytes.");
      return -1;
    }
    return take(in_, in_at_, to, size);
  }

  ssize_t write(const char* from, size_t size) override {
    // After a refusal the library's own opinion of the request does not matter.
    if (refused_status_ == 0) out_.append(from, size);
    return out_.size() < flush_bytes || flush() ? static_cast<ssize_t>(size) : -1;
  }

  bool flush() {
    std::size_t at = 0;
    while (at < out_.size()) {
      const ssize_t sent = ::send(fd_, out_.data() + at, out_.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        at += static_cast<std::size_t>(sent);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait(POLLOUT, Clock::now() + options_.write_timeout, false)) break;
      } else if (errno != EINTR) {
        break;
      }
    }
    const bool all = at == out_.size();
    out_.clear();
    return all;
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

  const HeadFilter& head() const { return filter_; }
  int refused_status() const { return refused_status_; }
  const std::string& refused_detail() const { return refused_detail_; }
  // The response to a request that was refused; not more than an attempt.
  void send_refusal(const HttpResponse& response) {
    out_ = "HTTP/1.1 " + std::to_string(response.status) + " " + std::string(status_phrase(response.status)) +
           "\r\nContent-Type: " + response.content_type +
           "\r\nContent-Length: " + std::to_string(response.body.size()) + "\r\nConnection: close\r\n";
    for (const auto& [name, value] : response.headers) out_.append(name + ": " + value + "\r\n");
    out_.append("\r\n").append(response.body);
    must_close_ = true;
    flush();
  }

  // Reads on for a moment without looking: closing with unread input would destroy the response on its way
  // (RFC 9112, 9.6).
  void linger() {
    ::shutdown(fd_, SHUT_WR);
    const Clock::time_point end = Clock::now() + linger_time;
    std::size_t thrown_away = 0;
    while (thrown_away < linger_bytes && Clock::now() < end) {
      in_.clear();
      in_at_ = 0;
      if (!wait(POLLIN, end, true)) return;
      const ssize_t got = receive();
      if (got <= 0) return;
      thrown_away += static_cast<std::size_t>(got);
    }
  }

  bool body_unread() const { return filter_.has_body() && !body_taken_; }
  bool must_close() const { return must_close_ || body_unread(); }
  void close_after_response() { must_close_ = true; }

  // What the handlers note about the request.
  std::optional<HttpResponse> early_response_;  // the body is not wanted
  bool answered_ = false;                       // the response is a handler's
  bool body_taken_ = false;

 private:
  static ssize_t take(const std::string& from, std::size_t& at, char* to, std::size_t size) {
    size = std::min(size, from.size() - at);
    std::memcpy(to, from.data() + at, size);
    at += size;
    return static_cast<ssize_t>(size);
  }

  void refuse(int status, std::string detail) {
    refused_status_ = status;
    refused_detail_ = std::move(detail);
  }

  // Takes lines in until the library has something to read.
  bool read_head() {
    passed_.clear();
    passed_at_ = 0;
    while (passed_.empty()) {
      const std::string_view rest = std::string_view(in_).substr(in_at_);
      const std::size_t newline = rest.find('\n');
      const bool good = newline == std::string_view::npos ? filter_.part_of_line(rest)
                                                          : filter_.line(rest.substr(0, newline), passed_);
      if (!good) {
        refuse(filter_.status(), filter_.detail());
        return false;
      }
      if (newline != std::string_view::npos) {
        in_at_ += newline + 1;
        if (filter_.complete()) deadline_ = {};
      } else if (!fill()) {
        return false;
      }
    }
    return true;
  }

  // Receives more of the head or body; refuses when its time is over.
  bool fill() {
    if (deadline_ == Clock::time_point()) {
      deadline_ = Clock::now() + (filter_.complete() ? options_.body_timeout : options_.head_timeout);
    }
    if (in_at_ == in_.size()) {
      in_.clear();
      in_at_ = 0;
    }
    const bool arrived = wait(POLLIN, deadline_, false);
    if (arrived && receive() > 0) return true;
    refuse(408, "The request did not arrive completely in time.");
    return false;
  }

  ssize_t receive() {
    std::array<char, 16384> bytes;
    ssize_t got;
    do {
      got = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got > 0) in_.append(bytes.data(), static_cast<std::size_t>(got));
    return got;
  }

  bool wait(short events, Clock::time_point until, bool idle) {
    const auto handle = waiting_.begin(fd_, idle);
    int ready = 0;
    do {
      const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now()).count();
      pollfd entry{.fd = fd_, .events = events, .revents = 0};
      ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    } while (ready < 0 && errno == EINTR);
    waiting_.end(handle);
    return ready > 0;
  }

  const int fd_;
  const HttpServerOptions& options_;
  Waiting& waiting_;
  HeadFilter filter_;
  std::string in_, passed_, out_;  // received; filtered, for the library; to be sent
  std::size_t in_at_ = 0, passed_at_ = 0, body_bytes_ = 0;
  Clock::time_point deadline_;  // of the head or the body, whichever is being received
  int refused_status_ = 0;
  std::string refused_detail_;
  bool must_close_ = false;
};

// The connection that this thread serves: the library's handlers are not told.
thread_local LimitedStream* current = nullptr;

HttpRequest view_of(const httplib::Request& request) {
  HttpRequest view;
  view.method = request.method;
  view.target = request.target;
  view.headers.reserve(request.headers.size());
  for (const auto& [name, value] : request.headers) view.headers.emplace_back(name, value);
  view.body = request.body;
  return view;
}

void put_response(HttpResponse from, httplib::Response& to) {
  to.status = from.status;
  to.body = std::move(from.body);
  if (!from.content_type.empty()) to.headers.emplace("Content-Type", std::move(from.content_type));
  for (auto& [name, value] : from.headers) to.headers.emplace(std::move(name), std::move(value));
  current->answered_ = true;
}

}  // namespace

class HttpServer::Impl final : public httplib::Server {
 public:
  explicit Impl(HttpServerOptions options) : options_(std::move(options)), port_(options_.port) {
    using HR = HandlerResponse;
    set_tcp_nodelay(true);
    set_keep_alive_max_count(1'000'000);
    set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(options_.idle_timeout).count());
    set_payload_max_length(options_.body_bytes);
    set_idle_interval(pressure_check);
    // Not the library's default, SO_REUSEPORT, with which two servers share a port unnoticed.
    set_socket_options([this](socket_t fd) {
      const int on = 1;
      ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      listener_ = fd;
    });
    new_task_queue = [this] {
      auto pool = std::make_unique<Pool>(options_, waiting_);
      pool_ = pool.get();
      // From here on stop() finds the server running; what it said before is caught up with.
      if (stopping_) stop_listening();
      return pool.release();
    };
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (current->early_response_) {
        put_response(std::move(*current->early_response_), response);
      } else if (current->head().has_body() && !ignores_body(request.method)) {
        return HR::Unhandled;  // the library reads the body and calls one of the handlers below
      } else {
        put_response(options_.handler(view_of(request)), response);
      }
      return HR::Handled;
    });
    const auto with_body = [this](const httplib::Request& request, httplib::Response& response) {
      current->body_taken_ = true;
      put_response(options_.handler(view_of(request)), response);
    };
    // Only paths that before_body let through come here: short ones, for which the regular expression is
    // safe.
    Post(".*", with_body);
    Put(".*", with_body);
    Patch(".*", with_body);
    Delete(".*", with_body);
    const HandlerWithResponse on_error = [this](const httplib::Request&, httplib::Response& response) {
      if (current->answered_) return HR::Unhandled;
      // The library's own opinion: a body that is not what its head says.
      current->close_after_response();
      put_response(options_.refusal(response.status, "The request is malformed."), response);
      return HR::Handled;
    };
    set_error_handler(on_error);
    set_exception_handler(
        [this](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          response.headers.clear();
          current->close_after_response();
          put_response(options_.refusal(500, "The server failed to answer."), response);
        });
    set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
      // These two never have a body, and a length of 0 would contradict the 200 that a 304 stands for.
      if (response.status == 204 || response.status == 304) response.headers.erase("Content-Length");
      response.headers.erase("Accept-Ranges");  // said of every HEAD, and not true
      if (current->must_close()) {
        response.headers.erase("Keep-Alive");
        response.headers.erase("Connection");
        response.headers.emplace("Connection", "close");
      }
    });
  }

  base::Status bind() {
    errno = 0;
    int port = port_;
    const bool bound =
        port == 0 ? (port = bind_to_any_port(options_.host)) > 0 : bind_to_port(options_.host, port);
    if (bound) {
      port_ = port;
      // The library's backlog of 5 loses connections when many come at once.
      ::listen(listener_, 512);
      return {};
    }
    const int reason = errno;
    return base::fail(
        reason == 0 ? base::ErrorCode::invalid_argument : base::ErrorCode::io,
        "cannot listen on " + options_.host + " port " + std::to_string(port_) + ": " +
            (reason == 0 ? "no such host" : std::strerror(reason)),
        reason == EADDRINUSE ? "another program uses this port: choose one with --port, or 0 for any free one"
        : reason == EACCES   ? "ports below 1024 need privileges: choose a higher one with --port"
                             : "give an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all");
  }

  int port() const { return port_; }
  bool stopping() const { return stopping_; }
  std::size_t connections() const { return connections_; }

  void run() {
    while (!stopping_ && !listen_after_bind() && !stopping_) {
      // The library gives up when accepting fails, for want of memory say; a server must not.
      base::log_error("accepting connections failed; listening again");
      do {
        std::this_thread::sleep_for(pressure_check);
      } while (!stopping_ && !bind());
    }
  }

  void stop() {
    stopping_ = true;
    if (is_running()) stop_listening();
  }

 private:
  static bool ignores_body(const std::string& method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
  }

  void stop_listening() {
    if (!stopped_.exchange(true)) httplib::Server::stop();
  }

  bool process_and_close_socket(socket_t fd) override {
    LimitedStream stream(fd, options_, waiting_);
    if (turning_away) {
      stream.send_refusal(
          options_.refusal(503, "The server has too many connections. Try again in a moment."));
    } else {
      ++connections_;
      serve(stream);
      --connections_;
    }
    ::shutdown(fd, SHUT_RDWR);
    ::close(fd);
    return true;
  }

  void serve(LimitedStream& stream) {
    // Once others wait for a thread, a connection ends with the response that it is waiting for.
    while (!stopping_ && stream.wait_for_request()) {
      const bool last = stopping_ || pool_.load()->pressed();
      bool closed = false;
      current = &stream;
      const bool written = process_request(stream, last, closed,
                                           [&](httplib::Request& request) { look_at_head(stream, request); });
      current = nullptr;
      if (stream.refused_status() != 0) {
        stream.send_refusal(options_.refusal(stream.refused_status(), stream.refused_detail()));
        return stream.linger();
      }
      if (!stream.flush() || !written) return;
      if (stream.must_close()) return stream.linger();
      if (last || closed) return;
      stream.next_request();
    }
  }

  // Before the library routes the request: whether its body is wanted at all.
  void look_at_head(LimitedStream& stream, httplib::Request& request) const {
    if (!stream.head().has_body()) return;
    if (stream.head().content_length() > options_.body_bytes) {
      stream.early_response_ =
          options_.refusal(413, "The body is longer than " + std::to_string(options_.body_bytes) + " bytes.");
    } else {
      stream.early_response_ = options_.before_body(view_of(request));
    }
    if (stream.early_response_ || ignores_body(request.method)) request.headers.erase("Expect");
  }

  const HttpServerOptions options_;
  std::atomic<int> port_;
  socket_t listener_ = INVALID_SOCKET;
  Waiting waiting_;
  std::atomic<Pool*> pool_{nullptr};
  std::atomic<bool> stopping_{false}, stopped_{false};
  std::atomic<std::size_t> connections_{0};
};

base::Result<std::unique_ptr<HttpServer>> HttpServer::listen(HttpServerOptions options) {
  options.workers = std::max<std::size_t>(2, options.workers);
  options.max_workers = std::max(options.workers, options.max_workers);
  auto impl = std::make_unique<Impl>(std::move(options));
  ASKBASE_TRY(impl->bind());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return impl_->port(); }
void HttpServer::run() { impl_->run(); }
void HttpServer::stop() { impl_->stop(); }
bool HttpServer::stopping() const { return impl_->stopping(); }
std::size_t HttpServer::connections() const { return impl_->connections(); }

}  // namespace askbase::web
