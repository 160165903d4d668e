#include "cli/command.h"

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "base/thread_pool.h"

namespace askbase::cli {

std::size_t Globals::thread_count() const {
  return threads == 0 ? base::ThreadPool::hardware_threads() : threads;
}

CLI::App& Commands::add(CLI::App& parent, const std::string& name, const std::string& description,
                        const std::string& examples) {
  CLI::App& command = *parent.add_subcommand(name, description);
  command.fallthrough();  // global options are found after the command too
  command.option_defaults()->always_capture_default(false);
  std::string footer;
  if (!examples.empty()) footer = "Examples:\n" + examples + "\n";
  command.footer(footer + "Global options (--kb DIR and others) stand anywhere: askbase --help");
  return command;
}

base::Result<int> Commands::run(const Globals& globals) const {
  const CLI::App* command = &app_;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const auto found = runs_.find(command);
  if (found == runs_.end()) {
    return base::fail(base::ErrorCode::invalid_argument, "a command is needed", "askbase --help lists them");
  }
  return found->second(globals);
}

base::Result<std::unique_ptr<kb::Store>> open_kb(const Globals& globals, kb::OpenMode mode) {
  kb::StorageOptions options;
  options.threads = globals.thread_count();
  return kb::Store::open(globals.kb, mode, options);
}

base::Status validate_question(std::string_view question) {
  if (const auto bad = base::first_invalid_utf8(question)) {
    return base::fail(base::ErrorCode::bad_input,
                      "the question is not valid UTF-8 at byte " + std::to_string(*bad + 1),
                      "set the terminal, or convert the file, to UTF-8");
  }
  const std::size_t length = base::count_code_points(question);
  if (length > max_question_code_points) {
    return base::fail(base::ErrorCode::too_large, "the question has " + std::to_string(length) +
                                                      " characters, at most " +
                                                      std::to_string(max_question_code_points) + " are read");
  }
  return {};
}

}  // namespace askbase::cli
