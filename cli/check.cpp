// askbase check
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/output.h"
#include "reader/passage_index.h"

namespace askbase::cli {
namespace {

base::Result<int> run_check(bool json, const Globals& globals) {
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_TRY(store->storage().verify_checksums());
  ASKBASE_ASSIGN(kb::CheckReport report, kb::check(*store));
  ASKBASE_ASSIGN(const reader::PassageCheck documents, reader::check_passages(*store->storage().snapshot()));
  report.problems.insert(report.problems.end(), documents.problems.begin(), documents.problems.end());
  if (json) {
    base::Json out;
    out["ok"] = report.problems.empty();
    out["facts"] = report.facts;
    out["terms"] = report.terms;
    out["names"] = report.names;
    out["documents"] = documents.documents;
    out["passages"] = documents.passages;
    out["problems"] = report.problems;
    print(base::dump_json(out) + "\n");
  } else {
    for (const std::string& problem : report.problems) print_line("problem: " + problem);
    print_line("knowledge base " + globals.kb.string() + ": " + counted(report.facts, "fact", "facts") +
               ", " + counted(report.terms, "term", "terms") + ", " + counted(report.names, "name", "names") +
               (documents.documents == 0 ? ""
                                         : ", " + counted(documents.documents, "document", "documents") +
                                               " in " + counted(documents.passages, "passage", "passages")) +
               ": " + (report.problems.empty() ? "all indexes agree" : "damaged"));
  }
  if (report.problems.empty()) return exit_done;
  return base::fail(
      base::ErrorCode::corrupt,
      globals.kb.string() + ": " + counted(report.problems.size(), "problem", "problems") + " found",
      "restore a backup (askbase restore), or load the sources into a new folder");
}

}  // namespace

void add_check(const Command& askbase) {
  auto json = std::make_shared<bool>(false);
  const Command command =
      askbase.add("check", "Verify the indexes against each other",
                  "  askbase --kb my-kb check\n"
                  "Reads everything; can run while a server holds the knowledge base. Exit status 1 when "
                  "something is damaged.");
  command.flag("--json", *json, "One JSON object");
  command.on_run([json](const Globals& globals) { return run_check(*json, globals); });
}

}  // namespace askbase::cli
