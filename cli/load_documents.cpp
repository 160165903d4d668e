#include "cli/load_documents.h"

#include <optional>

#include "base/interrupt.h"
#include "cli/output.h"
#include "reader/document_load.h"
#include "web/handoff.h"

namespace askbase::cli {
namespace {

void print_report(const reader::DocumentLoadReport& report, const DocumentArguments& arguments,
                  const Globals& globals) {
  if (arguments.json) {
    base::Json out = summary_json(report.summary);
    out["bad"] = report.bad;
    out["first_bad"] = base::Json::array();
    for (const kb::BadLine& bad : report.first_bad)
      out["first_bad"].push_back({{"where", bad.where}, {"reason", bad.reason}});
    out["notices"] = report.notices;
    out["seconds"] = base::json_number(report.seconds, 4);
    print(base::dump_json(out) + "\n");
    return;
  }
  for (const std::string& notice : report.notices) print_line("note: " + notice);
  for (const kb::BadLine& bad : report.first_bad) print_line("skipped " + bad.where + ": " + bad.reason);
  if (report.bad > 0) print_line(counted(report.bad, "document was", "documents were") + " skipped");
  print_summary(report.summary, globals.kb.string(), report.seconds);
}

}  // namespace

base::Result<int> run_load_documents(const std::vector<std::filesystem::path>& paths,
                                     const DocumentArguments& arguments, const Globals& globals) {
  reader::DocumentLoadOptions options;
  options.source = arguments.source;
  if (!arguments.format.empty()) {
    options.format = reader::document_format_from_name(arguments.format);
    if (!options.format) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "unknown format of documents \"" + arguments.format + "\"",
                        "documents are txt, md, html, jsonl or pdf");
    }
  }
  options.skip_bad = arguments.skip_bad;
  options.passages.tokens = arguments.tokens;
  options.passages.overlap = arguments.overlap;
  options.threads = globals.thread_count();
  base::watch_interrupts();
  ASKBASE_ASSIGN(std::optional<reader::DocumentLoadReport> report,
                 web::hand_over_documents(globals.kb, paths, options));
  if (!report) {
    ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::create));
    ASKBASE_ASSIGN(report, reader::load_documents(*store, paths, options));
  }
  print_report(*report, arguments, globals);
  return exit_done;
}

}  // namespace askbase::cli
