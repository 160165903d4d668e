#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/interrupt.h"
#include "tests/web_test_support.h"
#include "web/handoff.h"
#include "web/handoff_socket.h"

using namespace askbase;
using namespace askbase::test;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string triples(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "<urn:x:" + std::to_string(i) + "> <urn:x:p> \"" + std::to_string(i) + "\" .\n";
  }
  return text;
}

struct Holder {
  explicit Holder(const fs::path& kb)
      : store(kb::Store::open(kb, kb::OpenMode::create).value()), engine(*store) {
    server = web::HandoffServer::start(*store, engine).value();
  }
  std::uint64_t facts() const { return engine.view()->facts(); }
  std::unique_ptr<kb::Store> store;
  FakeEngine engine;
  std::unique_ptr<web::HandoffServer> server;
};

}  // namespace

TEST_CASE("hand-over: nothing without a server") {
  ScratchFolder folder;
  CHECK(web::hand_over_load(folder / "none", {"a.nt"}, {}).value() == std::nullopt);
  CHECK(!web::hand_over_delete(folder / "none", {.source = "a"}).value().has_value());
  fs::create_directory(folder / "kb");
  CHECK(!web::hand_over_load(folder / "kb", {"a.nt"}, {}).value().has_value());
  // What a killed server leaves: a socket file that nobody listens at.
  { const auto gone = web::listen_in(folder / "kb").value(); }
  CHECK(fs::is_socket(folder / "kb" / "askbase.sock"));
  CHECK(!web::hand_over_load(folder / "kb", {"a.nt"}, {}).value().has_value());
}

TEST_CASE("hand-over: loads and deletes, with options both ways, and the engine sees them") {
  ScratchFolder folder;
  Holder holder(folder / "kb");
  struct stat status {};
  REQUIRE(::stat((folder / "kb" / "askbase.sock").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);

  write(folder / "a.nt", triples(10));
  const auto report = web::hand_over_load(folder / "kb", {folder / "a.nt"}, {});
  REQUIRE_MESSAGE(report.has_value(), report.error().message);
  REQUIRE(report->has_value());
  CHECK((*report)->summary.facts == 10);
  CHECK((*report)->summary.added == 10);
  REQUIRE((*report)->summary.sources.size() == 1);
  CHECK((*report)->summary.sources[0].source == "a.nt");
  CHECK(holder.facts() == 10);

  write(folder / "bad.nt", triples(3) + "nonsense\n" + triples(2));
  const auto refused = web::hand_over_load(folder / "kb", {folder / "bad.nt"}, {});
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == base::ErrorCode::bad_input);
  CHECK(refused.error().message.find("bad.nt:4") != std::string::npos);
  CHECK(!refused.error().hint.empty());
  CHECK(holder.facts() == 10);

  kb::LoadOptions options;
  options.skip_bad = true;
  options.source = "named 名字";
  const auto skipped = web::hand_over_load(folder / "kb", {folder / "bad.nt"}, options);
  REQUIRE(skipped.has_value());
  CHECK((*skipped)->bad_lines == 1);
  REQUIRE((*skipped)->first_bad.size() == 1);
  CHECK((*skipped)->first_bad[0].where.find(":4") != std::string::npos);
  CHECK((*skipped)->summary.sources[0].source == "named 名字");

  write(folder / "t.csv", "name;tags\nAnn;a|b\nBob;c\n");
  kb::LoadOptions table;
  table.table.split = {{"tags", "|"}};
  table.format = kb::Format::csv;
  table.source = "t";
  const auto loaded = web::hand_over_load(folder / "kb", {folder / "t.csv"}, table);
  REQUIRE_MESSAGE(loaded.has_value(), loaded.error().message);

  const auto missing = web::hand_over_load(folder / "kb", {folder / "none.nt"}, {});
  REQUIRE(!missing.has_value());
  CHECK(missing.error().code == base::ErrorCode::not_found);

  const auto one = web::hand_over_delete(folder / "kb", {.subject = "<urn:x:5>"});
  REQUIRE(one.has_value());
  CHECK((*one)->removed == 1);
  const auto unknown = web::hand_over_delete(folder / "kb", {.subject = "<urn:x:nobody>"});
  CHECK((*unknown)->removed == 0);
  const auto whole = web::hand_over_delete(folder / "kb", {.source = "a.nt"});
  REQUIRE(whole.has_value());
  CHECK((*whole)->removed > 0);
  const auto again = web::hand_over_delete(folder / "kb", {.source = "a.nt"});
  REQUIRE(!again.has_value());
  CHECK(again.error().code == base::ErrorCode::not_found);
  CHECK(web::hand_over_delete(folder / "kb", {}).error().code == base::ErrorCode::invalid_argument);
  CHECK(web::hand_over_delete(folder / "kb", {.object = "no term"}).error().code ==
        base::ErrorCode::bad_input);
}

TEST_CASE("hand-over: relative paths are the client's") {
  ScratchFolder folder;
  Holder holder(folder / "kb");
  write(folder / "rel.nt", triples(4));
  const pid_t client = ::fork();
  if (client == 0) {
    if (::chdir(folder.path().c_str()) != 0) ::_exit(9);
    const auto report = web::hand_over_load("kb", {"rel.nt"}, {});
    ::_exit(report && *report && (*report)->summary.added == 4 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(client, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(holder.facts() == 4);
}

TEST_CASE("hand-over: standard input is spooled") {
  ScratchFolder folder;
  Holder holder(folder / "kb");
  for (const bool good : {true, false}) {
    const std::string content = triples(50'000) + (good ? "" : "nonsense\n");
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t client = ::fork();
    if (client == 0) {
      ::dup2(ends[0], 0);
      ::close(ends[0]);
      ::close(ends[1]);
      kb::LoadOptions options;
      options.format = kb::Format::ntriples;
      const auto report = web::hand_over_load(folder / "kb", {"-"}, options);
      if (good)
        ::_exit(report && *report && (*report)->summary.added == 50'000 &&
                        (*report)->summary.sources[0].source == "standard input"
                    ? 0
                    : 1);
      ::_exit(!report && report.error().message.starts_with("standard input:50001:") ? 0 : 1);
    }
    ::close(ends[0]);
    for (std::size_t at = 0; at < content.size();) {
      const ssize_t put = ::write(ends[1], content.data() + at, content.size() - at);
      REQUIRE(put > 0);
      at += static_cast<std::size_t>(put);
    }
    ::close(ends[1]);
    int status = 0;
    ::waitpid(client, &status, 0);
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(holder.facts() == 50'000);
  }
}

TEST_CASE(
    "hand-over: a client that is interrupted or killed leaves the KB as it was and the server running") {
  ScratchFolder folder;
  Holder holder(folder / "kb");
  // A pipe without an end: the load lasts until it is cancelled.
  const fs::path endless = folder / "endless.nt";
  REQUIRE(::mkfifo(endless.c_str(), 0600) == 0);
  for (const int signal : {SIGINT, SIGKILL}) {
    CAPTURE(signal);
    std::atomic<bool> stop{false};
    ::signal(SIGPIPE, SIG_IGN);
    std::thread feeder([&] {
      std::FILE* pipe = std::fopen(endless.c_str(), "w");
      for (int i = 0; pipe != nullptr && !stop; ++i) {
        if (std::fprintf(pipe, "<urn:x:%d> <urn:x:p> \"a\" .\n", i) < 0) break;
      }
      if (pipe != nullptr) std::fclose(pipe);
    });
    const pid_t client = ::fork();
    if (client == 0) {
      base::watch_interrupts();
      const auto report = web::hand_over_load(folder / "kb", {endless}, {});
      ::_exit(!report && report.error().code == base::ErrorCode::cancelled ? 0 : 1);
    }
    std::this_thread::sleep_for(milliseconds(500));
    ::kill(client, signal);
    int status = 0;
    ::waitpid(client, &status, 0);
    if (signal == SIGINT) {
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 0);
    }
    // The next job goes through, once the cancelled one has left.
    write(folder / "after.nt", triples(3));
    const auto after = web::hand_over_load(folder / "kb", {folder / "after.nt"}, {});
    REQUIRE_MESSAGE(after.has_value(), after.error().message);
    CHECK(holder.facts() == 3);
    CHECK(!base::interrupted());
    CHECK(base::check_interrupt().has_value());
    stop = true;
    feeder.join();
  }
}

TEST_CASE("hand-over: jobs run one after another") {
  ScratchFolder folder;
  Holder holder(folder / "kb");
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int i = 0; i < 6; ++i) {
    const fs::path file = folder / ("f" + std::to_string(i) + ".nt");
    write(file, "<urn:x:" + std::to_string(i) + "> <urn:x:p> \"a\" .\n");
    clients.emplace_back([&, file] {
      kb::LoadOptions quiet;
      quiet.progress = [](const std::string&) {};
      const auto report = web::hand_over_load(folder / "kb", {file}, quiet);
      if (report && *report) ++good;
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(good == 6);
  CHECK(holder.facts() == 6);
}

TEST_CASE("hand-over: stale sockets, second servers, long paths") {
  ScratchFolder folder;
  // Longer than the 107 bytes that a socket address holds.
  const fs::path deep = folder / std::string(100, 'd') / std::string(100, 'e') / "知识库";
  fs::create_directories(deep.parent_path());
  write(folder / "a.nt", triples(2));
  {
    Holder holder(deep);
    const auto report = web::hand_over_load(deep, {folder / "a.nt"}, {});
    REQUIRE(report.has_value());
    CHECK((*report)->summary.added == 2);
    const auto second = web::HandoffServer::start(*holder.store, holder.engine);
    REQUIRE(!second.has_value());
    CHECK(second.error().code == base::ErrorCode::locked);
    CHECK(web::hand_over_delete(deep, {.source = "a.nt"}).has_value());  // the first one still listens
  }
  CHECK(!fs::exists(deep / "askbase.sock"));  // taken away at the end
  // A server that is killed leaves the file; the next one replaces it.
  const pid_t killed = ::fork();
  if (killed == 0) {
    const auto listening = web::listen_in(deep);
    ::_exit(listening ? 0 : 1);
  }
  int status = 0;
  ::waitpid(killed, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(fs::exists(deep / "askbase.sock"));
  Holder holder(deep);
  CHECK(web::hand_over_load(deep, {folder / "a.nt"}, {}).has_value());
}

TEST_CASE("hand-over: strange clients do no harm") {
  ScratchFolder folder;
  Holder holder(folder / "kb");
  const auto talk = [&](const std::string& line) {
    web::LineSocket socket(std::move(*web::connect_to(folder / "kb").value()));
    socket.send(line);
    std::string reply;
    CHECK(socket.receive(reply, milliseconds(5000)) == web::LineSocket::Got::line);
    return base::parse_json(reply).value();
  };
  CHECK(talk("nonsense")["error"]["code"] == "bad_input");
  CHECK(talk("{}")["error"]["code"] == "unsupported");
  CHECK(talk("[]")["error"]["code"] == "unsupported");
  CHECK(talk("{\"load\": 5}")["error"]["code"] == "bad_input");
  CHECK(talk("{\"load\": {\"paths\": [1]}}")["error"]["code"] == "bad_input");
  CHECK(talk("{\"delete\": {\"source\": null}}")["error"]["code"] == "bad_input");
  CHECK(talk(std::string(100'000, '['))["error"]["code"] == "bad_input");
  { const auto silent = web::connect_to(folder / "kb"); }
  const auto open = web::connect_to(folder / "kb").value();  // says nothing while the server ends
  const auto begin = std::chrono::steady_clock::now();
  holder.server.reset();
  CHECK(std::chrono::steady_clock::now() - begin < milliseconds(3000));
}
