// What a slow, broken or hostile client can do to the server: nothing to others, and nothing for long.
#include "tests/web_test_support.h"
#include "web/http_server.h"

using namespace askbase;
using namespace askbase::test;
using Clock = std::chrono::steady_clock;

namespace {

// The HTTP layer alone, with short times.
class SmallServer {
 public:
  explicit SmallServer(web::HttpServerOptions options = {}) {
    options.head_timeout = milliseconds(400);
    options.body_timeout = milliseconds(400);
    options.write_timeout = milliseconds(400);
    options.handler = [this](const web::HttpRequest& request) {
      if (request.target == "/slow") std::this_thread::sleep_for(milliseconds(300));
      ++handled;
      if (request.target == "/large") return web::HttpResponse{200, "text/x", std::string(64 << 20, 'x'), {}};
      return web::HttpResponse{
          200, "text/plain", std::string(request.target) + " " + std::string(request.body), {}};
    };
    options.before_body = [](const web::HttpRequest& request) -> std::optional<web::HttpResponse> {
      if (request.target == "/no-body") return web::HttpResponse{404, "text/plain", "no", {}};
      return std::nullopt;
    };
    options.refusal = [](int status, const std::string& detail) {
      return web::HttpResponse{status, "text/plain", detail, {}};
    };
    server = web::HttpServer::listen(options).value();
    thread_ = std::thread([this] { server->run(); });
  }
  ~SmallServer() {
    server->stop();
    thread_.join();
  }
  int port() const { return server->port(); }

  std::unique_ptr<web::HttpServer> server;
  std::atomic<int> handled{0};

 private:
  std::thread thread_;
};

milliseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

}  // namespace

TEST_CASE("limits: malformed and oversized heads are answered and end the connection") {
  SmallServer server;
  const struct {
    std::string sent;
    int status;
  } cases[] = {
      {std::string(100'000, 'A'), 414},
      {"GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100'000, 'a'), 431},
      {"GET / HTTP/1.1\r\nHost: a\r\n" + std::string(20'000, '\n'), 400},
      {"\x16\x03\x01\x02\x00\x01", 400},
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/3\r\nHost: a\r\n\r\n", 505},
      {"HELO me\r\n", 400},
      {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\nabc", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", 400},
      {"POST /no-body HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\nabc", 404},
  };
  for (const auto& one : cases) {
    CAPTURE(one.sent.substr(0, 40));
    const auto begin = Clock::now();
    Connection connection(server.port());
    connection.send(one.sent);
    const Reply reply = connection.read();
    CHECK(reply.status == one.status);
    CHECK(reply.headers.at("connection") == "close");
    CHECK(!reply.headers.contains("keep-alive"));
    CHECK(connection.closed_within(milliseconds(3000)));
    CHECK(since(begin) < milliseconds(2500));
  }
  CHECK(server.handled == 0);
  // A hundred thousand chunks of one byte are one body; more than the limit are not.
  std::string chunks;
  for (int i = 0; i < 100'000; ++i) chunks += "1\r\nx\r\n";
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  Connection connection(server.port());
  REQUIRE(connection.send(head + chunks + "0\r\n\r\n"));
  CHECK(connection.read().body == "/ " + std::string(100'000, 'x'));
  CHECK(connection.get("/next").body == "/next ");
  Connection other(server.port());
  for (int i = 0; i < 4 && other.send((i == 0 ? head : "") + chunks); ++i) continue;
  CHECK(other.read().status == 413);
}

TEST_CASE("limits: a client that sends a byte at a time is given up on, and holds nobody up") {
  SmallServer server;
  std::atomic<bool> done{false};
  std::vector<std::thread> slow;
  std::atomic<int> timed_out{0};
  for (int i = 0; i < 30; ++i) {
    slow.emplace_back([&, i] {
      Connection connection(server.port());
      const std::string text =
          i % 2 == 0 ? "GET / HTTP/1.1\r\nHost: a\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                     : "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\naaaaaaaaaaaaaaaaaaaaaaaaaaa";
      const std::size_t at_once = i % 2 == 0 ? 1 : text.size() - 27;
      connection.send(text.substr(0, at_once));
      for (std::size_t at = at_once; at < text.size() && !done; ++at) {
        if (!connection.send(text.substr(at, 1))) break;
        std::this_thread::sleep_for(milliseconds(30));
      }
      if (connection.read().status == 408) ++timed_out;
    });
  }
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    CHECK(Connection(server.port()).get("/").status == 200);
    CHECK(since(begin) < milliseconds(200));
    std::this_thread::sleep_for(milliseconds(20));
  }
  for (std::thread& thread : slow) thread.join();
  CHECK(timed_out == 30);
}

TEST_CASE("limits: idle connections beyond all threads are cut, and newcomers answered") {
  web::HttpServerOptions options;
  options.workers = 4;
  options.max_workers = 8;
  SmallServer server(options);
  std::vector<std::unique_ptr<Connection>> idle;
  for (int i = 0; i < 40; ++i) {
    const auto begin = Clock::now();
    idle.push_back(std::make_unique<Connection>(server.port()));
    CHECK(idle.back()->get("/").status == 200);
    CHECK(since(begin) < milliseconds(400));
  }
  // The first were cut; the last still lives.
  CHECK(idle.front()->closed_within(milliseconds(1000)));
  CHECK(idle.back()->get("/again").body == "/again ");
}

TEST_CASE("limits: a ninth client among eight busy ones is answered within 100 ms") {
  SmallServer server;
  std::atomic<bool> done{false};
  std::vector<std::thread> busy;
  std::atomic<int> requests{0};
  for (int i = 0; i < 8; ++i) {
    busy.emplace_back([&] {
      Connection connection(server.port());
      while (!done && connection.get("/").status == 200) ++requests;
    });
  }
  std::this_thread::sleep_for(milliseconds(100));
  std::vector<milliseconds> times;
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    CHECK(Connection(server.port()).get("/").status == 200);
    times.push_back(since(begin));
  }
  done = true;
  for (std::thread& thread : busy) thread.join();
  std::sort(times.begin(), times.end());
  CHECK(times[times.size() / 2] < milliseconds(100));
  CHECK(requests > 100);
}

TEST_CASE("limits: a hundred clients connect at once") {
  TestServer server;
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  const auto begin = Clock::now();
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back([&, i] {
      Connection connection(server.port());
      const std::string question = "q" + std::to_string(i);
      const Reply reply = connection.post("/api/v1/ask", "{\"question\": \"" + question + "\"}");
      if (reply.status == 200 && reply.body.find("\"echo: " + question + "\"") != std::string::npos) ++good;
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(good == 100);
  CHECK(since(begin) < milliseconds(5000));
}

TEST_CASE("limits: pipelined, half-closed and unread") {
  SmallServer server;
  Connection pipelined(server.port());
  std::string many;
  for (int i = 0; i < 50; ++i) many += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  pipelined.send(many);
  for (int i = 0; i < 50; ++i) CHECK(pipelined.read().body == "/" + std::to_string(i) + " ");

  // A client that closes its side still gets its answer (printf | nc).
  Connection half(server.port());
  half.send("GET /half HTTP/1.1\r\nHost: a\r\n\r\n");
  half.finish_sending();
  CHECK(half.read().body == "/half ");
  CHECK(half.closed_within(milliseconds(2000)));

  // The body of a GET is never taken for a request.
  Connection smuggler(server.port());
  const std::string inner = "GET /inner HTTP/1.1\r\nHost: a\r\n\r\n";
  smuggler.send("GET /outer HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(inner.size()) +
                "\r\n\r\n" + inner);
  const Reply outer = smuggler.read();
  CHECK(outer.body.starts_with("/outer"));
  CHECK(outer.headers.at("connection") == "close");
  CHECK(smuggler.read(milliseconds(1500)).status == 0);

  // "Expect: 100-continue" is waited for by curl before it sends a body.
  Connection careful(server.port());
  careful.send("POST /careful HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  CHECK(careful.read().status == 100);
  careful.send("body");
  CHECK(careful.read().body == "/careful body");
  Connection refused(server.port());
  refused.send("POST /no-body HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  CHECK(refused.read().status == 404);

  CHECK(Connection(server.port()).get("/", "Connection: close\r\n").headers.at("connection") == "close");
  Connection old(server.port());
  old.send("GET /old HTTP/1.0\r\n\r\n");
  CHECK(old.read().body == "/old ");
  CHECK(old.closed_within(milliseconds(1000)));
}

TEST_CASE("limits: someone who does not read a large response is given up on") {
  SmallServer server;
  const auto begin = Clock::now();
  Connection deaf(server.port());
  deaf.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(100));
  while (server.server->connections() > 0 && since(begin) < milliseconds(5000))
    std::this_thread::sleep_for(milliseconds(20));
  CHECK(since(begin) < milliseconds(4000));
  CHECK(Connection(server.port()).get("/after").status == 200);
}

TEST_CASE("limits: the connections of clients that vanish are freed") {
  SmallServer server;
  for (int i = 0; i < 200; ++i) {
    Connection connection(server.port());
    connection.send(i % 3 == 0 ? "GET / HT" : i % 3 == 1 ? "GET / HTTP/1.1\r\nHost: a\r\n\r\n" : "");
  }
  const auto begin = Clock::now();
  while (server.server->connections() > 0 && since(begin) < milliseconds(5000))
    std::this_thread::sleep_for(milliseconds(10));
  CHECK(server.server->connections() == 0);
}

TEST_CASE("stop: running requests are finished, idle connections closed, and it is soon over") {
  auto server = std::make_unique<SmallServer>();
  Connection idle(server->port()), running(server->port());
  CHECK(idle.get("/").status == 200);
  running.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(100));
  const int port = server->port();
  const auto begin = Clock::now();
  server.reset();
  CHECK(since(begin) < milliseconds(2000));
  CHECK(running.read().body == "/slow ");
  CHECK(idle.closed_within(milliseconds(100)));
  CHECK(!Connection(port).connected());
}

TEST_CASE("stop: before run, twice, and while clients hammer") {
  for (int round = 0; round < 5; ++round) {
    TestServer server;
    std::atomic<bool> done{false};
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        while (!done) {
          Connection connection(server.port());
          if (!connection.connected() || connection.get("/livez").status == 0) return;
        }
      });
    }
    std::this_thread::sleep_for(milliseconds(round * 7));
    server.server().stop();
    server.server().stop();
    server.stop();
    done = true;
    for (std::thread& client : clients) client.join();
  }
  ScratchFolder folder;
  const auto store = kb::Store::open(folder / "kb", kb::OpenMode::create).value();
  FakeEngine engine(*store);
  const auto server = web::Server::start(*store, engine, {.port = 0}).value();
  server->stop();
  server->run();  // returns at once
}

TEST_CASE("asking goes on while the KB changes") {
  TestServer server;
  std::atomic<bool> done{false};
  std::atomic<int> good{0}, bad{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      Connection connection(server.port());
      while (!done) {
        const bool one = connection.get("/api/v1/ask?q=a").status == 200 &&
                         connection.get("/api/v1/entities/urn:x:freedonia").status == 200 &&
                         connection.get("/readyz").status == 200;
        ++(one ? good : bad);
      }
    });
  }
  // At least so many changes, and as many more as it takes the clients to have asked.
  int changes = 0;
  const auto begin = Clock::now();
  for (; changes < 20 || (good <= 10 && bad == 0 && since(begin) < milliseconds(10'000)); ++changes) {
    add_facts(server.store(), "change.nt",
              {kb::Term::iri("urn:x:" + std::to_string(changes)), kb::Term::iri("urn:x:p"),
               kb::Term::integer(changes)});
    REQUIRE(server.engine().refresh().has_value());
  }
  done = true;
  for (std::thread& client : clients) client.join();
  CHECK(bad == 0);
  CHECK(good > 10);
  CHECK(server.get("/readyz").json()["kb"]["facts"] == 37 + changes);
}
