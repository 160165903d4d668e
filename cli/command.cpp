#include "cli/command.h"

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "base/thread_pool.h"

namespace askbase::cli {

std::size_t Globals::thread_count() const {
  return threads == 0 ? base::ThreadPool::hardware_threads() : threads;
}

namespace {

// In the help, a check would stand inside the option's name.
CLI::Validator quiet(const CLI::Validator& check) { return check.description(""); }

CLI::Validator to_validator(const Command::Check& check) {
  return CLI::Validator([check](std::string& value) { return check(value); }, "");
}

}  // namespace

Command Command::add(const std::string& name, const std::string& description,
                     const std::string& examples) const {
  CLI::App& command = *app_.add_subcommand(name, description);
  command.fallthrough();  // global options are found after the command too
  command.footer("Examples:\n" + examples +
                 "\nGlobal options (--kb DIR and others) stand anywhere: askbase --help");
  return {command, runs_};
}

void Command::needs_subcommand() const { app_.require_subcommand(1); }

void Command::argument(const std::string& name, std::string& value, const std::string& help) const {
  app_.add_option(name, value, help)->required();
}

void Command::arguments(const std::string& name, std::vector<std::string>& values,
                        const std::string& help) const {
  app_.add_option(name, values, help)->required();
}

void Command::option(const std::string& name, const std::string& type, std::string& value,
                     const std::string& help, const Check& check) const {
  CLI::Option& option = *app_.add_option(name, value, help)->type_name(type);
  if (check) option.check(to_validator(check));
}

void Command::option(const std::string& name, const std::string& type, int& value, const std::string& help,
                     int least, int most) const {
  app_.add_option(name, value, help)->type_name(type)->check(quiet(CLI::Range(least, most)));
}

void Command::option(const std::string& name, const std::string& type, std::size_t& value,
                     const std::string& help, std::size_t least, std::size_t most) const {
  app_.add_option(name, value, help)->type_name(type)->check(quiet(CLI::Range(least, most)));
}

void Command::option(const std::string& name, const std::string& type, double& value, const std::string& help,
                     double least, double most) const {
  app_.add_option(name, value, help)->type_name(type)->check(quiet(CLI::Range(least, most)));
}

void Command::repeated(const std::string& name, const std::string& type, std::vector<std::string>& values,
                       const std::string& help) const {
  app_.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
}

void Command::several(const std::string& name, const std::string& type, std::vector<std::string>& values,
                      const std::string& help) const {
  app_.add_option(name, values, help)->type_name(type);
}

void Command::flag(const std::string& name, bool& value, const std::string& help) const {
  app_.add_flag(name, value, help);
}

void Command::require(const std::string& name) const { app_.get_option(name)->required(); }

void Command::exclude(const std::string& name, const std::string& other) const {
  app_.get_option(name)->excludes(app_.get_option(other));
}

Command::Check Command::one_of(std::vector<std::string> values) {
  return [values = std::move(values)](const std::string& value) -> std::string {
    std::string known;
    for (const std::string& one : values) {
      if (one == value) return {};
      known += (known.empty() ? "" : ", ") + one;
    }
    return "\"" + value + "\" is none of " + known;
  };
}

Command::Check Command::folder() {
  return [](const std::string& value) -> std::string {
    std::error_code error;
    return std::filesystem::is_directory(value, error) ? "" : "there is no folder \"" + value + "\"";
  };
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
