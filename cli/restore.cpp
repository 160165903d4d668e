// askbase restore DIR
#include <CLI/CLI.hpp>
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

namespace askbase::cli {
namespace {

namespace fs = std::filesystem;

// Puts the prepared folder in the place of the knowledge base at once: at every moment the old or the new one
// stands there.
base::Status put_in_place(const fs::path& prepared, const fs::path& kb) {
  std::error_code error;
  if (!fs::exists(kb, error)) {
    fs::rename(prepared, kb, error);
    return error ? tl::unexpected(base::io_error(error.value(), "cannot make", kb)) : base::Status();
  }
  if (::renameat2(AT_FDCWD, prepared.c_str(), AT_FDCWD, kb.c_str(), RENAME_EXCHANGE) != 0) {
    return tl::unexpected(base::io_error(errno, "cannot replace", kb));
  }
  fs::remove_all(prepared, error);  // now the old one
  return error ? tl::unexpected(base::io_error(error.value(), "cannot remove the replaced copy", prepared))
               : base::Status();
}

base::Result<int> run_restore(const std::string& backup_name, bool replace, const Globals& globals) {
  const fs::path kb = globals.kb.lexically_normal(), backup = backup_name;
  kb::StorageOptions options;
  options.threads = globals.thread_count();
  ASKBASE_ASSIGN(const auto copy, kb::Store::open(backup, kb::OpenMode::read_only, options));
  ASKBASE_TRY(copy->storage().verify_checksums());

  std::error_code error;
  std::unique_ptr<kb::Store> replaced;  // held so that nobody writes to what is about to go
  if (fs::exists(kb, error) && !fs::is_empty(kb, error)) {
    if (fs::equivalent(kb, backup, error)) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "the backup is the knowledge base itself: " + kb.string());
    }
    if (!replace) {
      return base::fail(base::ErrorCode::invalid_argument, kb.string() + " holds something already",
                        "add --replace to put the backup in its place, or name another folder with --kb");
    }
    auto held = open_kb(globals, kb::OpenMode::read_write);
    // A damaged knowledge base is what restoring is for; another one's folder or a locked one is not.
    if (!held && held.error().code != base::ErrorCode::corrupt) return tl::unexpected(held.error());
    if (held) replaced = std::move(*held);
  }

  fs::path prepared = kb;
  if (!prepared.has_filename()) prepared = prepared.parent_path();
  prepared += ".restoring-" + std::to_string(::getpid());
  auto status = copy->storage().checkpoint(prepared);
  if (status) status = put_in_place(prepared, kb);
  if (!status) {
    fs::remove_all(prepared, error);
    return tl::unexpected(status.error());
  }
  ASKBASE_ASSIGN(const auto view, copy->view());
  print_line("restored " + backup.string() + " to " + kb.string() + ": " +
             counted(view->facts(), "fact", "facts"));
  return exit_done;
}

}  // namespace

void add_restore(Commands& commands) {
  struct Arguments {
    std::string folder;
    bool replace = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      commands.add(commands.app(), "restore", "Put a backup into the place of the knowledge base",
                   "  askbase --kb my-kb restore backups/2024-02-29\n"
                   "  askbase --kb my-kb restore backups/2024-02-29 --replace\n"
                   "The backup is verified first and stays as it is.");
  command.add_option("DIR", arguments->folder, "Folder that backup made")->required();
  command.add_flag("--replace", arguments->replace, "Replace the knowledge base that is there");
  commands.on_run(command, [arguments](const Globals& globals) {
    return run_restore(arguments->folder, arguments->replace, globals);
  });
}

}  // namespace askbase::cli
