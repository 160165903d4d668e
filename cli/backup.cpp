// askbase backup DIR
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/output.h"
#include "kb/maintenance.h"

namespace askbase::cli {
namespace {

base::Result<int> run_backup(const std::string& folder, const Globals& globals) {
  // Read-only, so that it works beside a server or a load: the copy is the last committed state.
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_TRY(kb::backup(*store, folder));
  ASKBASE_ASSIGN(const auto copy, kb::Store::open(folder, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, copy->view());
  print_line("backup of " + globals.kb.string() + " in " + folder + ": " +
             counted(view->facts(), "fact", "facts"));
  return exit_done;
}

}  // namespace

void add_backup(const Command& askbase) {
  auto folder = std::make_shared<std::string>();
  const Command command = askbase.add(
      "backup", "Copy the knowledge base into a new folder",
      "  askbase --kb my-kb backup backups/2024-02-29\n"
      "Safe while a server or a load runs. The copy is a knowledge base of its own: --kb opens it.\n"
      "Where the file system allows, it shares its files with the original; copy it to another disk "
      "to survive the loss of this one.");
  command.argument("DIR", *folder, "Folder to make; must not exist yet");
  command.on_run([folder](const Globals& globals) { return run_backup(*folder, globals); });
}

}  // namespace askbase::cli
