#include "web/handoff.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "web/handoff_json.h"
#include "web/handoff_socket.h"

namespace askbase::web {
namespace {

using base::Json;
using std::chrono::milliseconds;

constexpr milliseconds glance{100};  // between two looks at what may have changed
constexpr milliseconds request_patience{10'000};

// One client: its job, and the eye on whether it still wants it.
class Session {
 public:
  Session(Descriptor socket, kb::Store& store, qa::Engine& engine, std::timed_mutex& jobs)
      : socket_(std::move(socket)), store_(store), engine_(engine), jobs_(jobs) {
    // A client that is stopped must not stop the job.
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket_.socket().get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    thread_ = std::thread([this] { run(); });
  }
  ~Session() {
    cancel();
    thread_.join();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool done() const { return done_; }

  void cancel() {
    const std::lock_guard lock(state_mutex_);
    cancelled_ = true;
    if (running_) base::cancel_change();
  }

 private:
  void run() {
    const auto result = converse();
    send(result ? *result : Json{{"error", to_json(result.error())}});
    // The client reads to the end; what it says now does not matter.
    ::shutdown(socket_.socket().get(), SHUT_RDWR);
    done_ = true;
  }

  base::Result<Json> converse() {
    if (!peer_is_trusted(socket_.socket())) {
      return base::fail(base::ErrorCode::invalid_argument, "the server belongs to another user",
                        "ask its owner to load, or run as the same user");
    }
    std::string line;
    const auto end = std::chrono::steady_clock::now() + request_patience;
    LineSocket::Got got;
    do {
      got = socket_.receive(line, glance);
    } while (got == LineSocket::Got::nothing && !cancelled_ && std::chrono::steady_clock::now() < end);
    if (got != LineSocket::Got::line) return base::fail(base::ErrorCode::bad_input, "no request came");
    ASKBASE_ASSIGN(const Json request, base::parse_json(line));
    std::atomic<bool> finished{false};
    std::thread watcher([&] { watch(finished); });
    base::Result<Json> result = wait_and_work(request);
    finished = true;
    watcher.join();
    return result;
  }

  // Cancels the job when the client says so or goes away.
  void watch(const std::atomic<bool>& finished) {
    std::string line;
    while (!finished) {
      if (socket_.receive(line, glance) != LineSocket::Got::nothing) return cancel();
    }
  }

  base::Result<Json> wait_and_work(const Json& request) {
    std::unique_lock turn(jobs_, std::defer_lock);
    for (bool said = false; !turn.try_lock_for(glance);) {
      if (cancelled_) return base::fail(base::ErrorCode::cancelled, "cancelled before it began");
      if (!said) send({{"progress", "waiting for another change of the knowledge base to end"}});
      said = true;
    }
    {
      const std::lock_guard lock(state_mutex_);
      if (cancelled_) return base::fail(base::ErrorCode::cancelled, "cancelled before it began");
      running_ = true;
    }
    base::Result<Json> result = work(request);
    {
      const std::lock_guard lock(state_mutex_);
      running_ = false;
      base::clear_cancelled_change();
    }
    return result;
  }

  base::Result<Json> work(const Json& request) {
    Json result;
    if (request.contains("load")) {
      ASKBASE_ASSIGN(LoadJob job, load_job(request["load"]));
      job.options.progress = [this](const std::string& line) { send({{"progress", line}}); };
      ASKBASE_ASSIGN(const kb::LoadReport report, kb::load(store_, job.paths, job.options));
      result = {{"load", to_json(report)}};
    } else if (request.contains("delete")) {
      ASKBASE_ASSIGN(const DeleteRequest job, delete_request(request["delete"]));
      ASKBASE_ASSIGN(const kb::UpdateSummary summary, run_delete(store_, job));
      result = {{"delete", to_json(summary)}};
    } else if (request.contains("documents")) {
      ASKBASE_ASSIGN(DocumentsJob job, documents_job(request["documents"]));
      job.options.progress = [this](const std::string& line) { send({{"progress", line}}); };
      ASKBASE_ASSIGN(const auto report, reader::load_documents(store_, job.paths, job.options));
      result = {{"documents", to_json(report)}};
    } else if (request.contains("delete_documents")) {
      ASKBASE_ASSIGN(const auto job, delete_documents_request(request["delete_documents"]));
      ASKBASE_ASSIGN(const auto summary, run_delete_documents(store_, job));
      result = {{"delete_documents", to_json(summary)}};
    } else {
      return base::fail(base::ErrorCode::unsupported, "the running server does not know this request",
                        "restart the server: it is of another version than this program");
    }
    // The change is durable whatever happens here; the server goes on with the old state if it must.
    if (const base::Status refreshed = engine_.refresh(); !refreshed) {
      base::log_error("answers still come from the state before the change: " + refreshed.error().message);
    }
    return result;
  }

  void send(const Json& message) {
    const std::lock_guard lock(send_mutex_);
    socket_.send(base::dump_json(message));
  }

  LineSocket socket_;
  kb::Store& store_;
  qa::Engine& engine_;
  std::timed_mutex& jobs_;
  std::mutex send_mutex_, state_mutex_;
  bool running_ = false;  // guarded by state_mutex_
  std::atomic<bool> cancelled_{false}, done_{false};
  std::thread thread_;
};

class HandoffServerImpl final : public HandoffServer {
 public:
  HandoffServerImpl(Descriptor listener, kb::Store& store, qa::Engine& engine)
      : listener_(std::move(listener)), store_(store), engine_(engine) {
    thread_ = std::thread([this] { accept_all(); });
  }
  ~HandoffServerImpl() override {
    stopping_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);  // wakes the thread that accepts
    thread_.join();
    sessions_.clear();  // cancels and waits
    std::error_code ignored;
    std::filesystem::remove(store_.storage().folder() / handoff_socket_name, ignored);
  }

 private:
  void accept_all() {
    while (!stopping_) {
      Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      sessions_.remove_if([](const Session& session) { return session.done(); });
      if (socket) {
        sessions_.emplace_back(std::move(socket), store_, engine_, jobs_);
      } else if (!stopping_ && errno != EINTR) {
        base::log_warn("the hand-over socket: accepting failed");
        std::this_thread::sleep_for(glance);
      }
    }
  }

  Descriptor listener_;
  kb::Store& store_;
  qa::Engine& engine_;
  std::timed_mutex jobs_;
  std::atomic<bool> stopping_{false};
  std::list<Session> sessions_;
  std::thread thread_;
};

// Sends the job and follows it to its end: the member `name` of the server's last line. Nothing when no
// server listens.
base::Result<std::optional<Json>> hand_over(const std::filesystem::path& kb_folder, const char* name,
                                            Json job,
                                            const std::function<void(const std::string&)>& progress) {
  ASKBASE_ASSIGN(auto connection, connect_to(kb_folder));
  if (!connection) return std::nullopt;
  LineSocket socket(std::move(*connection));
  socket.send(base::dump_json({{name, std::move(job)}}));
  bool cancelled = false;
  std::string line;
  for (;;) {
    // The server decides whether the job was cancelled in time, so its word is waited for.
    if (base::interrupted() && !cancelled) {
      cancelled = true;
      socket.send(R"({"cancel":true})");
    }
    const LineSocket::Got got = socket.receive(line, glance);
    if (got == LineSocket::Got::nothing) continue;
    if (got == LineSocket::Got::end) {
      return base::fail(base::ErrorCode::io, "the server ended before the work was done",
                        "look at its log; the knowledge base holds the whole change or nothing of it");
    }
    ASKBASE_ASSIGN(Json message, base::parse_json(line));
    if (message.contains("progress") && message["progress"].is_string()) {
      const std::string text = message["progress"].get<std::string>();
      if (progress) {
        progress(text);
      } else {
        std::fprintf(stderr, "%s\n", text.c_str());
      }
    } else if (message.contains("error")) {
      ASKBASE_ASSIGN(base::Error error, error_of(message["error"]));
      return tl::unexpected(std::move(error));
    } else if (message.contains(name)) {
      return std::optional<Json>(std::move(message[name]));
    }
  }
}

// Standard input in a file that the server can read; removed with the object.
class SpooledInput {
 public:
  static base::Result<std::unique_ptr<SpooledInput>> read(const std::filesystem::path& kb_folder) {
    std::string pattern = (std::filesystem::temp_directory_path() / "askbase-stdin-XXXXXX").string();
    const Descriptor file(::mkostemp(pattern.data(), O_CLOEXEC));
    if (!file) return tl::unexpected(base::io_error(errno, "cannot keep standard input in", pattern));
    auto spooled = std::unique_ptr<SpooledInput>(new SpooledInput(pattern));
    // root may hand over to a server of the KB's owner, who has to read the file.
    struct stat folder {};
    if (::geteuid() == 0 && ::stat(kb_folder.c_str(), &folder) == 0 &&
        ::fchown(file.get(), folder.st_uid, folder.st_gid) != 0) {
      return tl::unexpected(base::io_error(errno, "cannot give the KB's owner", pattern));
    }
    std::array<char, 65536> bytes;
    for (;;) {
      ASKBASE_TRY(base::check_interrupt());
      const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (got == 0) return spooled;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tl::unexpected(base::io_error(errno, "cannot read", "standard input"));
      for (ssize_t at = 0; at < got;) {
        const ssize_t put = ::write(file.get(), bytes.data() + at, static_cast<std::size_t>(got - at));
        if (put < 0 && errno != EINTR) return tl::unexpected(base::io_error(errno, "cannot write", pattern));
        if (put > 0) at += put;
      }
    }
  }
  ~SpooledInput() { ::unlink(path_.c_str()); }
  SpooledInput(const SpooledInput&) = delete;
  SpooledInput& operator=(const SpooledInput&) = delete;
  const std::string& path() const { return path_; }

  // Messages speak of standard input, not of the file.
  void rename_in(std::string& text) const {
    for (std::size_t at; (at = text.find(path_)) != std::string::npos;) {
      text.replace(at, path_.size(), "standard input");
    }
  }

 private:
  explicit SpooledInput(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Paths as the server can open them.
struct HandedPaths {
  std::vector<std::filesystem::path> absolute;
  std::unique_ptr<SpooledInput> spooled;
};

// Nothing when no server listens: standard input is left for the caller then.
base::Result<std::optional<HandedPaths>> hand_paths(const std::filesystem::path& kb_folder,
                                                    const std::vector<std::filesystem::path>& paths) {
  HandedPaths handed;
  for (const std::filesystem::path& path : paths) {
    if (path != "-") {
      handed.absolute.push_back(std::filesystem::absolute(path));
      continue;
    }
    if (!handed.spooled) {
      ASKBASE_ASSIGN(const auto listening, connect_to(kb_folder));
      if (!listening) return std::nullopt;
      ASKBASE_ASSIGN(handed.spooled, SpooledInput::read(kb_folder));
    }
    handed.absolute.emplace_back(handed.spooled->path());
  }
  return handed;
}

}  // namespace

base::Result<reader::DocumentSummary> run_delete_documents(kb::Store& store,
                                                           const DeleteDocumentsRequest& request) {
  if (!request.document.empty()) return reader::delete_document(store, request.document);
  return reader::delete_documents_of(store, request.source);
}

base::Result<kb::UpdateSummary> run_delete(kb::Store& store, const DeleteRequest& request) {
  const bool pattern = !request.subject.empty() || !request.predicate.empty() || !request.object.empty();
  if (!pattern && request.source.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "nothing is named that is to be deleted",
                      "name a source, or a subject, predicate or object");
  }
  ASKBASE_ASSIGN(const auto view, store.view());
  ASKBASE_ASSIGN(const auto update, store.begin_update());
  if (!pattern) {
    ASKBASE_TRY(update->remove_source(request.source));
    return update->commit();
  }
  std::optional<kb::SourceId> source;
  if (!request.source.empty()) {
    ASKBASE_ASSIGN(const auto known, view->source(request.source));
    if (!known) {
      return base::fail(base::ErrorCode::not_found, "there is no source \"" + request.source + "\"",
                        "askbase stats lists the sources");
    }
    source = known->id;
  }
  kb::Pattern wanted;
  bool known = true;  // a term that the KB has never seen is in no fact
  const auto place = [&](const std::string& text, std::optional<kb::TermId>& id) -> base::Status {
    if (text.empty()) return {};
    ASKBASE_ASSIGN(const kb::Term term, kb::parse_ntriples(text));
    ASKBASE_ASSIGN(id, view->find(term));
    known = known && id.has_value();
    return {};
  };
  ASKBASE_TRY(place(request.subject, wanted.subject));
  ASKBASE_TRY(place(request.predicate, wanted.predicate));
  ASKBASE_TRY(place(request.object, wanted.object));
  base::Status removed;
  if (known) {
    ASKBASE_TRY(view->match(wanted, [&](const kb::Triple& fact) {
      removed = update->remove(fact, source);
      return removed.has_value();
    }));
  }
  ASKBASE_TRY(removed);
  return update->commit();
}

base::Result<std::unique_ptr<HandoffServer>> HandoffServer::start(kb::Store& store, qa::Engine& engine) {
  ASKBASE_ASSIGN(Descriptor listener, listen_in(store.storage().folder()));
  return std::make_unique<HandoffServerImpl>(std::move(listener), store, engine);
}

base::Result<std::optional<kb::LoadReport>> hand_over_load(const std::filesystem::path& kb_folder,
                                                           const std::vector<std::filesystem::path>& paths,
                                                           const kb::LoadOptions& options) {
  kb::LoadOptions handed = options;
  ASKBASE_ASSIGN(auto given, hand_paths(kb_folder, paths));
  if (!given) return std::nullopt;
  const SpooledInput* const spooled = given->spooled.get();
  if (spooled != nullptr && handed.source.empty() && paths.size() == 1) handed.source = "standard input";
  auto result = hand_over(kb_folder, "load", to_json(given->absolute, handed), options.progress);
  if (!result) {
    if (spooled != nullptr) spooled->rename_in(result.error().message);
    return tl::unexpected(std::move(result.error()));
  }
  if (!*result) return std::nullopt;
  ASKBASE_ASSIGN(kb::LoadReport report, load_report(**result));
  if (spooled != nullptr) {
    for (kb::BadLine& bad : report.first_bad) spooled->rename_in(bad.where);
    for (std::string& notice : report.notices) spooled->rename_in(notice);
  }
  return std::optional(std::move(report));
}

base::Result<std::optional<reader::DocumentLoadReport>> hand_over_documents(
    const std::filesystem::path& kb_folder, const std::vector<std::filesystem::path>& paths,
    const reader::DocumentLoadOptions& options) {
  ASKBASE_ASSIGN(auto given, hand_paths(kb_folder, paths));
  if (!given) return std::nullopt;
  const SpooledInput* const spooled = given->spooled.get();
  reader::DocumentLoadOptions handed = options;
  if (spooled != nullptr) handed.spooled_input = spooled->path();
  auto result = hand_over(kb_folder, "documents", to_json(given->absolute, handed), options.progress);
  if (!result) {
    if (spooled != nullptr) spooled->rename_in(result.error().message);
    return tl::unexpected(std::move(result.error()));
  }
  if (!*result) return std::nullopt;
  ASKBASE_ASSIGN(reader::DocumentLoadReport report, document_report(**result));
  if (spooled != nullptr) {
    for (kb::BadLine& bad : report.first_bad) spooled->rename_in(bad.where);
    for (std::string& notice : report.notices) spooled->rename_in(notice);
  }
  return std::optional(std::move(report));
}

base::Result<std::optional<reader::DocumentSummary>> hand_over_delete_documents(
    const std::filesystem::path& kb_folder, const DeleteDocumentsRequest& request) {
  ASKBASE_ASSIGN(const auto result, hand_over(kb_folder, "delete_documents", to_json(request), {}));
  if (!result) return std::nullopt;
  ASKBASE_ASSIGN(reader::DocumentSummary summary, document_summary(*result));
  return std::optional(std::move(summary));
}

base::Result<std::optional<kb::UpdateSummary>> hand_over_delete(const std::filesystem::path& kb_folder,
                                                                const DeleteRequest& request) {
  ASKBASE_ASSIGN(const auto result, hand_over(kb_folder, "delete", to_json(request), {}));
  if (!result) return std::nullopt;
  ASKBASE_ASSIGN(kb::UpdateSummary summary, update_summary(*result));
  return std::optional(std::move(summary));
}

}  // namespace askbase::web
