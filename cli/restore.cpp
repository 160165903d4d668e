// askbase restore DIR
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "kb/maintenance.h"

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;

// What is about to be replaced must be a knowledge base, perhaps a damaged one, and nobody else's to write.
base::Result<base::FileLock> lock_replaced(const fs::path& folder, const fs::path& backup, bool replace) {
  std::error_code error;
  if (fs::equivalent(folder, backup, error)) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "the backup is the knowledge base itself: " + folder.string());
  }
  if (!replace) {
    return base::fail(base::ErrorCode::invalid_argument, folder.string() + " exists already",
                      "add --replace to put the backup in its place, or name another folder with --kb");
  }
  const auto readable = kb::Store::open(folder, kb::OpenMode::read_only);
  if (!readable && readable.error().code != base::ErrorCode::corrupt) {
    return tl::unexpected(readable.error());
  }
  return base::FileLock::acquire(folder / kb::lock_file_name,
                                 "pid " + std::to_string(::getpid()) + ": askbase restore");
}

base::Result<int> run_restore(const fs::path& backup, bool replace, const Globals& globals) {
  fs::path folder = globals.kb.lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  std::error_code error;
  if (!fs::exists(folder, error)) {
    ASKBASE_TRY(kb::restore(backup, folder));
  } else {
    ASKBASE_ASSIGN(const base::FileLock lock, lock_replaced(folder, backup, replace));
    fs::path prepared = folder;
    prepared += ".restoring-" + std::to_string(::getpid());
    ASKBASE_TRY(kb::restore(backup, prepared));
    // At every moment the old or the new one stands there.
    const int exchanged = ::renameat2(AT_FDCWD, prepared.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE);
    const int reason = errno;
    fs::remove_all(prepared, error);  // the old one, when they were exchanged
    if (exchanged != 0) return tl::unexpected(base::io_error(reason, "replace", folder));
  }
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  print_line("restored " + backup.string() + " to " + folder.string() + ": " +
             counted(view->facts(), "fact", "facts"));
  return exit_done;
}

}  // namespace

void add_restore(const Command& askbase) {
  struct Arguments {
    std::string folder;
    bool replace = false;
  };
  auto arguments = std::make_shared<Arguments>();
  const Command command = askbase.add("restore", "Put a backup into the place of the knowledge base",
                                      "  askbase --kb my-kb restore backups/2024-02-29\n"
                                      "  askbase --kb my-kb restore backups/2024-02-29 --replace\n"
                                      "The backup is verified first and stays as it is.");
  command.argument("DIR", arguments->folder, "Folder that backup made");
  command.flag("--replace", arguments->replace, "Replace the knowledge base that is there");
  command.on_run([arguments](const Globals& globals) {
    return run_restore(arguments->folder, arguments->replace, globals);
  });
}

}  // namespace askbase::cli
