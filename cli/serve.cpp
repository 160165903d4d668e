// askbase serve
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
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
  std::string token_file;
  bool read_only = false;
};

std::string url_of(const web::ServerOptions& options, int port) {
  const bool v6 = options.host.find(':') != std::string::npos;
  std::string path = options.base_path;
  if (path.empty() || path.back() != '/') path += '/';
  if (path.front() != '/') path.insert(path.begin(), '/');
  return "http://" + (v6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(port) + path;
}

// The file's first line.
base::Result<std::string> read_token(const std::string& file) {
  if (file.empty()) return std::string();
  ASKBASE_ASSIGN(const std::string content, base::read_file(file, 1 << 16));
  const std::string token(base::trim(std::string_view(content).substr(0, content.find('\n'))));
  if (token.empty())
    return base::fail(base::ErrorCode::invalid_argument, "--token-file: " + file + " holds no token",
                      "write a long random word into its first line");
  return token;
}

base::Result<int> run_serve(const ServeArguments& arguments, const Globals& globals) {
  base::set_log(globals.log_level.value_or(base::LogLevel::info), globals.log_format);
  base::watch_interrupts();
  std::signal(SIGPIPE, SIG_IGN);  // a client that went away is an error of one write, not of the server
  ASKBASE_ASSIGN(const auto store,
                 open_kb(globals, arguments.read_only ? kb::OpenMode::read_only : kb::OpenMode::read_write));
  ASKBASE_ASSIGN(qa::EngineOptions options, engine_options(globals));
  ASKBASE_ASSIGN(options.text, text_parts(globals));
  std::unique_ptr<reader::VectorKeeper> vectors;
  if (options.text.sentences) {
    vectors = std::make_unique<reader::VectorKeeper>(*store, *options.text.sentences,
                                                     static_cast<int>(globals.thread_count()));
    options.text.vectors = [keeper = vectors.get()] { return keeper->vectors(); };
  }
  ASKBASE_ASSIGN(const auto engine, qa::Engine::open(*store, options));
  web::ServerOptions server_options = arguments.server;
  ASKBASE_ASSIGN(server_options.token, read_token(arguments.token_file));
  ASKBASE_ASSIGN(const auto server, web::Server::start(*store, *engine, server_options, vectors.get(),
                                                       options.text.readers.get()));
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
  command.option("--token-file", "FILE", arguments->token_file,
                 "Its first line is a token that changes over HTTP need (Authorization: Bearer TOKEN)");
  command.flag("--read-only", arguments->read_only,
               "Leave the knowledge base to others; load and delete elsewhere are seen after a restart");
  command.on_run([arguments](const Globals& globals) { return run_serve(*arguments, globals); });
}

}  // namespace askbase::cli
