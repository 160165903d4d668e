// askbase upgrade
#include <CLI/CLI.hpp>
#include <string>

#include "cli/command.h"
#include "cli/output.h"

namespace askbase::cli {
namespace {

base::Result<int> run_upgrade(const Globals& globals) {
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_write));
  // Opening refuses every format but the current one, as there is no other yet.
  static_assert(kb::oldest_format_version == kb::format_version, "an older format needs its way up here");
  print_line("knowledge base " + globals.kb.string() + " has format " + std::to_string(kb::format_version) +
             ", the newest: nothing to do");
  return exit_done;
}

}  // namespace

void add_upgrade(Commands& commands) {
  CLI::App& command =
      commands.add(commands.app(), "upgrade", "Bring a knowledge base of an older format up to the newest",
                   "  askbase --kb my-kb upgrade");
  commands.on_run(command, [](const Globals& globals) { return run_upgrade(globals); });
}

}  // namespace askbase::cli
