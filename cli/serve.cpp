// askbase serve
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/output.h"
#include "qa/engine.h"
#include "web/handoff.h"
#include "web/server.h"

namespace askbase::cli {
namespace {

struct ServeArguments {
  web::ServerOptions server;
  bool read_only = false;
};

std::string url_of(const web::ServerOptions& options, int port) {
  const bool v6 = options.host.find(':') != std::string::npos;
  std::string path = options.base_path;
  if (path.empty() || path.back() != '/') path += '/';
  if (path.front() != '/') path.insert(path.begin(), '/');
  return "http://" + (v6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(port) + path;
}

base::Result<int> run_serve(const ServeArguments& arguments, const Globals& globals) {
  base::set_log(globals.log_level.value_or(base::LogLevel::info), globals.log_format);
  base::watch_interrupts();
  std::signal(SIGPIPE, SIG_IGN);  // a client that went away is an error of one write, not of the server
  ASKBASE_ASSIGN(const auto store,
                 open_kb(globals, arguments.read_only ? kb::OpenMode::read_only : kb::OpenMode::read_write));
  ASKBASE_ASSIGN(const qa::EngineOptions options, engine_options(globals));
  ASKBASE_ASSIGN(const auto engine, qa::Engine::open(*store, options));
  ASKBASE_ASSIGN(const auto server, web::Server::start(*store, *engine, arguments.server));
  std::unique_ptr<web::HandoffServer> handoff;
  if (!arguments.read_only) {
    ASKBASE_ASSIGN(handoff, web::HandoffServer::start(*store, *engine));
  }
  print_line("askbase is ready on " + url_of(arguments.server, server->port()));
  ASKBASE_TRY(finish_output());

  // A signal handler may not take locks, so a thread carries the signal to the server.
  std::jthread watcher([&](const std::stop_token& done) {
    while (!done.stop_requested() && !base::interrupted()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (base::interrupted()) server->stop();
  });
  server->run();
  return exit_done;
}

}  // namespace

void add_serve(const Command& askbase) {
  auto arguments = std::make_shared<ServeArguments>();
  web::ServerOptions& server = arguments->server;
  const Command command =
      askbase.add("serve", "Serve the web page and the JSON API",
                  "  askbase --kb my-kb serve\n"
                  "  askbase --kb my-kb serve --host 0.0.0.0 --port 9000\n"
                  "  askbase --kb my-kb serve --base-path /askbase --cors https://example.org\n"
                  "Load and delete work while it runs: they hand their work over. Ctrl-C stops it.");
  command.option("--host", "HOST", server.host, "Address to listen on; 127.0.0.1, this machine only");
  command.option("--port", "PORT", server.port, "Port to listen on; 8080, 0 is any free one", 0, 65535);
  command.option("--workers", "N", server.workers, "Threads that hold connections; 64", 1, 1024);
  command.option("--cors", "ORIGIN", server.cors_origin, "Let pages of this origin use the API (* is any)");
  command.option("--base-path", "PATH", server.base_path,
                 "Path in front of every URL, behind a proxy that keeps it");
  command.option("--ui-folder", "DIR", server.ui_folder,
                 "Serve the web page from these files, for work on it", Command::folder());
  command.flag("--read-only", arguments->read_only,
               "Leave the knowledge base to others; load and delete elsewhere are seen after a restart");
  command.on_run([arguments](const Globals& globals) { return run_serve(*arguments, globals); });
}

}  // namespace askbase::cli
