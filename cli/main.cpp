// askbase COMMAND: parses the command line, runs the command, turns its result into an exit status.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

namespace askbase::cli {
namespace {

int exit_status(base::ErrorCode code) {
  if (code == base::ErrorCode::invalid_argument) return exit_usage;
  if (code == base::ErrorCode::cancelled) return exit_interrupted;
  return exit_failed;
}

base::LogLevel log_level(const std::string& name) {
  base::LogLevel level = base::LogLevel::warn;
  base::parse_log_level(name, level);  // checked before
  return level;
}

// As they stand on the command line.
struct GlobalArguments {
  std::string kb = "askbase-kb", models, log_level, log_format;
  std::size_t threads = 0;

  Globals globals() const {
    Globals out;
    out.kb = kb;
    out.models = models;
    out.threads = threads;
    if (!log_level.empty()) out.log_level = cli::log_level(log_level);
    if (log_format == "json") out.log_format = base::LogFormat::json;
    return out;
  }
};

void add_globals(CLI::App& app, const Command& askbase, GlobalArguments& arguments) {
  askbase.option("--kb", "DIR", arguments.kb, "Folder of the knowledge base; askbase-kb");
  askbase.option("--models", "DIR", arguments.models, "Folder of trained models (this version needs none)",
                 Command::folder());
  askbase.option("--threads", "N", arguments.threads,
                 "Threads for loading and evaluation; as many as the machine has", 1, 256);
  askbase.option("--log-level", "LEVEL", arguments.log_level,
                 "trace, debug, info, warn, error or off; warn, for serve info",
                 Command::one_of({"trace", "debug", "info", "warn", "error", "off"}));
  askbase.option("--log-format", "FORMAT", arguments.log_format, "text or json (one object a line)",
                 Command::one_of({"text", "json"}));
  app.set_config("--config", "", "Options from a TOML file: kb = \"DIR\", and [serve] port = 8080")
      ->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
}

// The command nearest to a mistyped one, empty when none is near.
std::string nearest_command(const CLI::App& app, const std::string& word) {
  std::string best;
  int best_distance = 3;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const int distance =
        base::edit_distance(base::to_code_points(word), base::to_code_points(command->get_name()), 2);
    if (distance < best_distance) {
      best_distance = distance;
      best = command->get_name();
    }
  }
  return best;
}

// CLI11's complaint as one line and a hint.
base::Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string path = "askbase";
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  if (command->get_require_subcommand_min() > 0) {
    const std::vector<std::string> rest = app.remaining(true);
    const auto word = std::find_if(rest.begin(), rest.end(), [](const std::string& argument) {
      return !argument.empty() && argument.front() != '-';
    });
    if (word != rest.end()) {
      const std::string nearest = nearest_command(*command, *word);
      return {.code = base::ErrorCode::invalid_argument,
              .message = path + " has no command \"" + *word + "\"",
              .hint = (nearest.empty() ? std::string() : "did you mean \"" + nearest + "\"? ") + path +
                      " --help lists the commands"};
    }
    if (rest.empty() && error.get_name() == "RequiredError") {
      return {.code = base::ErrorCode::invalid_argument,
              .message = path + " needs a command",
              .hint = path + " --help lists the commands"};
    }
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  message.erase(message.find_last_not_of(" .") + 1);
  const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  const std::vector<std::string> extra = app.remaining(true);
  const bool loose_words =
      extras && command->get_name() == "ask" && !extra.empty() && !extra.front().starts_with('-');
  return {.code = base::ErrorCode::invalid_argument,
          .message = path + ": " + message,
          .hint = loose_words ? "put the question in quotes: askbase ask \"What is ...?\""
                              : path + " --help shows its options"};
}

int run(int argc, char** argv) {
  CLI::App app("Answers questions in English and Chinese from your own facts.", "askbase");
  Command::Runs runs;
  const Command askbase(app, runs);
  GlobalArguments arguments;
  add_globals(app, askbase, arguments);
  app.set_version_flag("--version", std::string("askbase ") + ASKBASE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Start with:\n"
      "  askbase --kb my-kb load people.csv      put a table into a knowledge base\n"
      "  askbase --kb my-kb ask \"Who is ...?\"    ask it\n"
      "  askbase --kb my-kb serve                open it in a browser\n"
      "askbase COMMAND --help shows a command's options and examples.\n"
      "Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.");

  add_load(askbase);
  add_delete(askbase);
  add_ask(askbase);
  add_search(askbase);
  add_show(askbase);
  add_serve(askbase);
  add_stats(askbase);
  add_check(askbase);
  add_backup(askbase);
  add_restore(askbase);
  add_upgrade(askbase);
  add_export(askbase);
  add_train(askbase);
  add_embed(askbase);
  add_eval(askbase);
  add_datasets(askbase);
  add_model(askbase);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    print_error(usage_error(app, error));
    return exit_usage;
  }

  const Globals globals = arguments.globals();
  base::set_log(globals.log_level.value_or(base::LogLevel::warn), globals.log_format);
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  auto status = runs.at(command)(globals);
  if (auto written = finish_output(); status && !written) status = tl::unexpected(written.error());
  if (!status) {
    print_error(status.error());
    return exit_status(status.error().code);
  }
  return *status;
}

}  // namespace
}  // namespace askbase::cli

int main(int argc, char** argv) {
  try {
    return askbase::cli::run(argc, argv);
  } catch (const std::exception& error) {
    askbase::cli::print_error({.code = askbase::base::ErrorCode::internal,
                               .message = std::string("unexpected: ") + error.what(),
                               .hint = "this is a fault of askbase; please report it with the command line"});
    return askbase::cli::exit_failed;
  }
}
