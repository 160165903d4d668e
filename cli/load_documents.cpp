#include "cli/load_documents.h"

#include <optional>

#include "base/interrupt.h"
#include "cli/models.h"
#include "cli/output.h"
#include "reader/document_load.h"
#include "reader/passage_vectors.h"
#include "web/handoff.h"

namespace askbase::cli {
namespace {

// vectors: nothing where none are made here.
void print_report(const reader::DocumentLoadReport& report,
                  const std::optional<reader::VectorReport>& vectors, const DocumentArguments& arguments,
                  const Globals& globals) {
  if (arguments.json) {
    base::Json out = summary_json(report.summary);
    out["bad"] = report.bad;
    out["first_bad"] = base::Json::array();
    for (const kb::BadLine& bad : report.first_bad)
      out["first_bad"].push_back({{"where", bad.where}, {"reason", bad.reason}});
    out["notices"] = report.notices;
    out["seconds"] = base::json_number(report.seconds, 4);
    if (vectors) out["vectors"] = vectors->made;
    print(base::dump_json(out) + "\n");
    return;
  }
  for (const std::string& notice : report.notices) print_line("note: " + notice);
  for (const kb::BadLine& bad : report.first_bad) print_line("skipped " + bad.where + ": " + bad.reason);
  if (report.bad > 0) print_line(counted(report.bad, "document was", "documents were") + " skipped");
  print_summary(report.summary, globals.kb.string(), report.seconds);
  if (vectors && vectors->made > 0)
    print_line(counted(vectors->made, "vector was", "vectors were") + " made of passages");
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
  if (report) {  // the server makes the vectors
    print_report(*report, std::nullopt, arguments, globals);
    return exit_done;
  }
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::create));
  ASKBASE_ASSIGN(report, reader::load_documents(*store, paths, options));
  std::optional<reader::VectorReport> vectors;
  if (!arguments.no_vectors && report->summary.passages > 0) {
    ASKBASE_ASSIGN(const auto model, sentence_model(globals));
    if (model) {
      auto made = reader::make_vectors(*store, *model);
      if (!made && made.error().code == base::ErrorCode::cancelled) {
        return base::fail(base::ErrorCode::cancelled,
                          "the documents are loaded, not all vectors of their passages made",
                          "a server makes the others when it runs, or the same load again");
      }
      if (!made) return tl::unexpected(made.error());
      vectors = *made;
    }
  }
  print_report(*report, vectors, arguments, globals);
  return exit_done;
}

}  // namespace askbase::cli
