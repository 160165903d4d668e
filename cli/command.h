// The command line: commands with their options, what all of them share, and how they end. One thread.
//
// Each subcommand is one file that defines add_NAME(Command&): it declares its options and hands over a
// function to run. That function returns the exit status, or the error that main() prints. CLI11 does the
// parsing; it costs every file that includes it seconds to compile, so command.cpp and main.cpp alone do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// A command and its options. Values are those of variables that the caller keeps alive until the command has
// run; an option that is not given leaves its variable alone.
class Command {
 public:
  using Run = std::function<base::Result<int>(const Globals&)>;
  using Runs = std::map<const CLI::App*, Run>;
  // What is wrong with a value, empty when nothing is.
  using Check = std::function<std::string(const std::string&)>;

  Command(CLI::App& app, Runs& runs) : app_(app), runs_(runs) {}

  // A subcommand, with its examples at the end of its help.
  Command add(const std::string& name, const std::string& description, const std::string& examples) const;
  void needs_subcommand() const;
  void on_run(Run run) const { runs_[&app_] = std::move(run); }

  // Arguments without a dash. They are required; the second takes one or more.
  void argument(const std::string& name, std::string& value, const std::string& help) const;
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help) const;

  // Options: "--name", what stands for the value in the help, the variable, the help.
  void option(const std::string& name, const std::string& type, std::string& value, const std::string& help,
              const Check& check = {}) const;
  void option(const std::string& name, const std::string& type, int& value, const std::string& help,
              int least, int most) const;
  void option(const std::string& name, const std::string& type, std::size_t& value, const std::string& help,
              std::size_t least, std::size_t most) const;
  void option(const std::string& name, const std::string& type, double& value, const std::string& help,
              double least, double most) const;
  // May be given several times, with one value each; or once with several values.
  void repeated(const std::string& name, const std::string& type, std::vector<std::string>& values,
                const std::string& help) const;
  void several(const std::string& name, const std::string& type, std::vector<std::string>& values,
               const std::string& help) const;
  void flag(const std::string& name, bool& value, const std::string& help) const;

  void require(const std::string& name) const;
  void exclude(const std::string& name, const std::string& other) const;

  static Check one_of(std::vector<std::string> values);
  static Check folder();  // one that exists

 private:
  CLI::App& app_;
  Runs& runs_;
};

void add_load(const Command& askbase);
void add_delete(const Command& askbase);
void add_ask(const Command& askbase);
void add_search(const Command& askbase);
void add_show(const Command& askbase);
void add_stats(const Command& askbase);
void add_check(const Command& askbase);
void add_backup(const Command& askbase);
void add_restore(const Command& askbase);
void add_upgrade(const Command& askbase);
void add_export(const Command& askbase);
void add_serve(const Command& askbase);
void add_train(const Command& askbase);  // and its models
void add_embed(const Command& askbase);
void add_model(const Command& askbase);  // import, list, info
void add_eval(const Command& askbase);   // and its tasks
void add_datasets(const Command& askbase);

// The KB of the globals, to read or to change.
base::Result<std::unique_ptr<kb::Store>> open_kb(const Globals& globals, kb::OpenMode mode);

// One question may have this many code points, as in the HTTP server.
inline constexpr std::size_t max_question_code_points = 2000;
// Error bad_input or too_large when the text is not a question that the engine takes.
base::Status validate_question(std::string_view question);

}  // namespace askbase::cli
