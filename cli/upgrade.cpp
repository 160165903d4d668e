// askbase upgrade
#include <string>

#include "cli/command.h"
#include "cli/output.h"
#include "kb/maintenance.h"

namespace askbase::cli {
namespace {

base::Result<int> run_upgrade(const Globals& globals) {
  ASKBASE_ASSIGN(const kb::UpgradeReport report, kb::upgrade(globals.kb));
  const std::string name = "knowledge base " + globals.kb.string();
  if (report.from == report.to) {
    print_line(name + " has format " + std::to_string(report.to) + ", the newest: nothing to do");
  } else {
    print_line(name + ": brought from format " + std::to_string(report.from) + " to " +
               std::to_string(report.to) + "; as it was, it stands in " + report.kept.string());
  }
  return exit_done;
}

}  // namespace

void add_upgrade(const Command& askbase) {
  const Command command = askbase.add("upgrade", "Bring a knowledge base of an older format up to the newest",
                                      "  askbase --kb my-kb upgrade\n"
                                      "The knowledge base as it was stays beside the new one.");
  command.on_run([](const Globals& globals) { return run_upgrade(globals); });
}

}  // namespace askbase::cli
