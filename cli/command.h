// The command line: global options, the register of subcommands, and what they share. One thread.
//
// Each subcommand is one file that defines add_NAME(Commands&): it declares its options with CLI11 and hands
// over a function to run. That function returns the exit status, or the error that main() prints.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "kb/store.h"

namespace CLI {
class App;
}

namespace askbase::cli {

inline constexpr int exit_done = 0, exit_failed = 1, exit_usage = 2, exit_interrupted = 130;

// Options that stand anywhere on the command line.
struct Globals {
  std::filesystem::path kb = "askbase-kb";
  std::filesystem::path models;             // empty: the models that ship with the program
  std::size_t threads = 0;                  // 0: what the machine has; read it through thread_count()
  std::optional<base::LogLevel> log_level;  // unset: warn, and info for serve
  base::LogFormat log_format = base::LogFormat::text;

  std::size_t thread_count() const;
};

class Commands {
 public:
  using Run = std::function<base::Result<int>(const Globals&)>;

  explicit Commands(CLI::App& app) : app_(app) {}
  CLI::App& app() { return app_; }
  // A new subcommand of the parent, with its examples at the end of its help.
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& description,
                const std::string& examples = {});
  void on_run(const CLI::App& command, Run run) { runs_[&command] = std::move(run); }
  // Runs what the parsed command line names.
  base::Result<int> run(const Globals& globals) const;

 private:
  CLI::App& app_;
  std::map<const CLI::App*, Run> runs_;
};

void add_load(Commands& commands);
void add_delete(Commands& commands);
void add_ask(Commands& commands);
void add_search(Commands& commands);
void add_show(Commands& commands);
void add_stats(Commands& commands);
void add_check(Commands& commands);
void add_backup(Commands& commands);
void add_restore(Commands& commands);
void add_upgrade(Commands& commands);
void add_export(Commands& commands);
void add_serve(Commands& commands);
void add_eval(Commands& commands);  // and its tasks

// The KB of the globals, to read or to change.
base::Result<std::unique_ptr<kb::Store>> open_kb(const Globals& globals, kb::OpenMode mode);

// One question may have this many code points, as in the HTTP server.
inline constexpr std::size_t max_question_code_points = 2000;
// Error bad_input or too_large when the text is not a question that the engine takes.
base::Status validate_question(std::string_view question);

}  // namespace askbase::cli
