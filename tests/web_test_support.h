// What the tests of web/ share: a small store, an engine with canned answers, a running server, and an HTTP
// client of plain sockets, so that nothing of the server's own library judges its output.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "kb/store.h"
#include "qa/engine.h"
#include "tests/test_support.h"
#include "web/server.h"

namespace askbase::test {

using base::Json;
using std::chrono::milliseconds;

// Answers a few questions in a set way and everything else with an echo. Notes the last request.
class FakeEngine final : public qa::Engine {
 public:
  explicit FakeEngine(const kb::Store& store) : store_(store), view_(store.view().value()) {}

  base::Result<qa::Response> ask(const qa::Request& request) const override {
    {
      const std::lock_guard lock(mutex_);
      last_ = request;
    }
    ++asked_;
    if (request.question == "throw") throw std::runtime_error("secret words");
    if (request.question == "throw a number") throw 42;
    if (request.question == "io") return base::fail(base::ErrorCode::io, "secret path");
    if (request.question == "sleep") std::this_thread::sleep_for(milliseconds(400));
    qa::Response response;
    response.question = request.question;
    response.lang =
        request.lang == base::Language::unknown ? base::detect_language(request.question) : request.lang;
    response.kb_version = view()->version();
    response.timings = {{"total", 0.5}};
    if (request.question.find("unknown") != std::string::npos) {
      response.reason = qa::Reason::entity_unknown;
      response.reason_sentence = "Nothing is called so.";
      response.alternatives = {"Freedonia"};
      response.ambiguous = {{"Fred", 0, 4, {{"urn:x:fredville", "Fredville", "city", 3}}}};
      return response;
    }
    qa::Answer answer;
    answer.text = "echo: " + request.question;
    answer.kind = qa::AnswerKind::literal;
    answer.values = {{answer.text, kb::Term::literal(answer.text), "km"}};
    answer.confidence = 0.75;
    answer.sentence = "A sentence.";
    answer.evidence = {{kb::Term::iri("urn:x:s"), kb::Term::iri("urn:x:p"), kb::Term::text("o", "en"), "S",
                        "P", "o", "facts.nt", 7}};
    answer.evidence_total = 1;
    answer.pipeline = "kb";
    if (request.question.find("quote") != std::string::npos) {
      answer.kind = qa::AnswerKind::span;
      answer.evidence.clear();
      qa::Quote quote;
      quote.document = "whales.pdf";
      quote.title = "Whales";
      quote.url = "https://example.org/whales";
      quote.source = "whales.pdf";
      quote.page = 3;
      quote.start = 10, quote.end = 12, quote.start_utf16 = 11, quote.end_utf16 = 13;
      quote.sentence = "A sentence.";
      quote.in_sentence = {2, 4, 2, 4};
      quote.passage = "A sentence. Another.";
      answer.quotes = {quote};
      answer.pipeline = "text";
    }
    response.answers = {answer};
    if (request.explain) response.trace = R"({"steps":[]})";
    return response;
  }

  base::Status refresh() override {
    auto view = store_.view();
    if (!view) return tl::unexpected(view.error());
    const std::lock_guard lock(mutex_);
    view_ = *view;
    return {};
  }
  std::shared_ptr<const kb::View> view() const override {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  base::Result<std::vector<std::string>> example_questions(base::Language lang,
                                                           std::size_t limit) const override {
    ++examples_asked_;
    std::vector<std::string> all = {"What is the capital of Freedonia?", "Who founded Fredville?"};
    if (lang == base::Language::chinese) all = {"弗里多尼亚的首都是哪里？"};
    if (all.size() > limit) all.resize(limit);
    return all;
  }

  qa::Request last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  int asked() const { return asked_; }
  int examples_asked() const { return examples_asked_; }

 private:
  const kb::Store& store_;
  mutable std::mutex mutex_;
  std::shared_ptr<const kb::View> view_;
  mutable qa::Request last_;
  mutable std::atomic<int> asked_{0}, examples_asked_{0};
};

inline void add_facts(kb::Store& store, const std::string& source, const std::vector<kb::Term>& flat) {
  auto update = store.begin_update().value();
  kb::Source record;
  record.name = source;
  record.kind = "file";
  const kb::SourceId id = update->source(record, false).value();
  for (std::size_t i = 0; i + 2 < flat.size(); i += 3) {
    REQUIRE(update->add(id, flat[i], flat[i + 1], flat[i + 2], i / 3 + 1).has_value());
  }
  REQUIRE(update->commit().has_value());
}

// Freedonia and its cities, in both languages.
inline void add_freedonia(kb::Store& store) {
  const auto iri = [](const char* name) { return kb::Term::iri(std::string("urn:x:") + name); };
  const kb::Term label = kb::Term::iri(std::string(kb::iri::rdfs_label));
  const kb::Term alias = kb::Term::iri(std::string(kb::iri::skos_alt_label));
  const kb::Term type = kb::Term::iri(std::string(kb::iri::rdf_type));
  const kb::Term unit = kb::Term::iri(std::string(kb::iri::unit));
  std::vector<kb::Term> facts = {
      iri("freedonia"),
      label,
      kb::Term::text("Freedonia", "en"),
      iri("freedonia"),
      label,
      kb::Term::text("弗里多尼亚", "zh"),
      iri("freedonia"),
      alias,
      kb::Term::text("Land of the Free", "en"),
      iri("freedonia"),
      type,
      iri("Country"),
      iri("freedonia"),
      iri("capital"),
      iri("fredville"),
      iri("freedonia"),
      iri("area"),
      kb::Term::integer(1200),
      iri("fredville"),
      label,
      kb::Term::text("Fredville", "en"),
      iri("fredville"),
      label,
      kb::Term::text("弗雷德维尔", "zh"),
      iri("area"),
      label,
      kb::Term::text("area", "en"),
      iri("area"),
      unit,
      kb::Term::text("km²", "en"),
      iri("area"),
      unit,
      kb::Term::text("平方公里", "zh"),
      iri("odd/name?x=1&y=%2F#z"),
      label,
      kb::Term::text("odd \"name\" <b>", "en"),
  };
  add_facts(store, "freedonia.nt", facts);
  std::vector<kb::Term> many;
  for (int i = 0; i < 25; ++i) {
    const kb::Term village = kb::Term::iri("urn:x:village:" + std::to_string(i));
    many.insert(many.end(), {village, iri("country"), iri("freedonia")});
  }
  add_facts(store, "villages.csv", many);
}

struct Reply {
  int status = 0;                              // 0: no response came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  Json json() const {
    auto parsed = base::parse_json(body, 100);
    REQUIRE_MESSAGE(parsed.has_value(), body);
    return *parsed;
  }
};

// One connection to 127.0.0.1.
class Connection {
 public:
  explicit Connection(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  bool connected() const { return connected_; }
  int fd() const { return fd_; }

  // False when the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  // The next response. head: of a HEAD request, without a body.
  Reply read(milliseconds patience = milliseconds(10000), bool head = false) {
    const auto until = std::chrono::steady_clock::now() + patience;
    std::size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!fill(until)) return {};
    }
    Reply reply;
    std::string_view lines = std::string_view(buffer_).substr(0, end + 2);
    reply.status = std::atoi(std::string(lines.substr(9, 3)).c_str());
    lines.remove_prefix(lines.find("\r\n") + 2);
    while (!lines.empty()) {
      const std::size_t line_end = lines.find("\r\n"), colon = lines.find(':');
      std::string name(lines.substr(0, colon));
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      const std::string value(lines.substr(colon + 2, line_end - colon - 2));
      // A header that stands twice is joined, as RFC 9110 reads it.
      auto [at, fresh] = reply.headers.emplace(name, value);
      if (!fresh) at->second += ", " + value;
      lines.remove_prefix(line_end + 2);
    }
    buffer_.erase(0, end + 4);
    if (head || reply.status == 204 || reply.status == 304 || reply.status == 100) return reply;
    const std::size_t length = static_cast<std::size_t>(std::stoul(reply.headers.at("content-length")));
    while (buffer_.size() < length) {
      if (!fill(until)) return {};
    }
    reply.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return reply;
  }

  // True when the server closes the connection within the time; what it still sends is thrown away.
  bool closed_within(milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (fill(until)) buffer_.clear();
    return end_;
  }

  Reply get(const std::string& target, const std::string& headers = {}) {
    send("GET " + target + " HTTP/1.1\r\nHost: test\r\n" + headers + "\r\n");
    return read();
  }
  Reply request(const std::string& method, const std::string& target, const std::string& headers = {},
                const std::string& body = {}) {
    send(method + " " + target + " HTTP/1.1\r\nHost: test\r\n" + headers +
         (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" + body);
    return read(milliseconds(10000), method == "HEAD");
  }
  Reply post(const std::string& target, const std::string& body) {
    return request("POST", target, "Content-Type: application/json\r\n", body);
  }

 private:
  bool fill(std::chrono::steady_clock::time_point until) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd entry{.fd = fd_, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&entry, 1, static_cast<int>(left)) <= 0) return false;
    char bytes[16384];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) {
      end_ = true;
      return false;
    }
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  int fd_;
  bool connected_ = false, end_ = false;
  std::string buffer_;
};

// A server over a scratch KB with Freedonia in it.
class TestServer {
 public:
  // readers: must outlive the server.
  explicit TestServer(web::ServerOptions options = {}, const qa::TextReaders* readers = nullptr)
      : store_(kb::Store::open(folder_ / "kb", kb::OpenMode::create).value()) {
    add_freedonia(*store_);
    engine_ = std::make_unique<FakeEngine>(*store_);
    options.port = 0;
    server_ = web::Server::start(*store_, *engine_, options, nullptr, readers).value();
    thread_ = std::thread([this] { server_->run(); });
  }
  ~TestServer() { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  int port() const { return server_->port(); }
  kb::Store& store() { return *store_; }
  FakeEngine& engine() { return *engine_; }
  web::Server& server() { return *server_; }

  Reply get(const std::string& target, const std::string& headers = {}) const {
    return Connection(port()).get(target, headers);
  }
  Reply post(const std::string& target, const std::string& body) const {
    return Connection(port()).post(target, body);
  }

 private:
  ScratchFolder folder_;
  std::unique_ptr<kb::Store> store_;
  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<web::Server> server_;
  std::thread thread_;
};

}  // namespace askbase::test
