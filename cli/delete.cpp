// askbase delete --source NAME | --subject T --predicate T --object T
#include <memory>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/output.h"
#include "web/handoff.h"

namespace askbase::cli {
namespace {

struct DeleteArguments {
  web::DeleteRequest request;
  bool json = false;
};

// N-Triples terms, with IRIs also written bare: urn:x:a means <urn:x:a>.
base::Status complete_term(const char* option, std::string& term) {
  if (term.empty()) return {};
  const bool marked = term.front() == '<' || term.front() == '"' || term.starts_with("_:");
  if (!marked && term.find(':') != std::string::npos) term = "<" + term + ">";
  if (const auto parsed = kb::parse_ntriples(term); !parsed) {
    return base::fail(base::ErrorCode::invalid_argument,
                      std::string(option) + " \"" + term + "\" is not a term: " + parsed.error().message,
                      "write an IRI (urn:x:a or <urn:x:a>), a blank node (_:b) or a literal (\"text\"@en, "
                      "\"5\"^^<http://www.w3.org/2001/XMLSchema#integer>)");
  }
  return {};
}

base::Result<int> run_delete(DeleteArguments arguments, const Globals& globals) {
  web::DeleteRequest& request = arguments.request;
  const bool pattern = !request.subject.empty() || !request.predicate.empty() || !request.object.empty();
  if (pattern == !request.source.empty()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      pattern ? "delete takes a source or a pattern, not both"
                              : "delete needs --source, or some of --subject, --predicate, --object",
                      "askbase delete --help shows examples");
  }
  ASKBASE_TRY(complete_term("--subject", request.subject));
  ASKBASE_TRY(complete_term("--predicate", request.predicate));
  ASKBASE_TRY(complete_term("--object", request.object));
  base::watch_interrupts();
  ASKBASE_ASSIGN(std::optional<kb::UpdateSummary> summary, web::hand_over_delete(globals.kb, request));
  if (!summary) {
    ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_write));
    ASKBASE_ASSIGN(summary, web::run_delete(*store, request));
  }
  if (arguments.json) {
    print(base::dump_json(summary_json(*summary)) + "\n");
  } else {
    print_summary(*summary, globals.kb.string(), -1);
  }
  return exit_done;
}

}  // namespace

void add_delete(const Command& askbase) {
  auto arguments = std::make_shared<DeleteArguments>();
  web::DeleteRequest& request = arguments->request;
  const Command command =
      askbase.add("delete", "Delete a source, or facts by pattern",
                  "  askbase --kb my-kb delete --source people.csv\n"
                  "  askbase --kb my-kb delete --subject urn:x:ann --predicate urn:x:knows\n"
                  "  askbase --kb my-kb delete --object '\"Ann\"@en'\n"
                  "A place that is left out matches anything.");
  command.option("--source", "NAME", request.source, "Name of a source, as stats lists it");
  command.option("--subject", "TERM", request.subject, "Facts with this subject");
  command.option("--predicate", "TERM", request.predicate, "Facts with this predicate");
  command.option("--object", "TERM", request.object, "Facts with this object");
  command.flag("--json", arguments->json, "Report as JSON");
  command.on_run([arguments](const Globals& globals) { return run_delete(*arguments, globals); });
}

}  // namespace askbase::cli
