// askbase delete --source NAME | --document ID | --subject T --predicate T --object T
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
  std::string document;
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

base::Result<reader::DocumentSummary> delete_documents(const web::DeleteDocumentsRequest& request,
                                                       const Globals& globals) {
  ASKBASE_ASSIGN(const auto handed, web::hand_over_delete_documents(globals.kb, request));
  if (handed) return *handed;
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_write));
  return web::run_delete_documents(*store, request);
}

base::Result<kb::UpdateSummary> delete_facts(const web::DeleteRequest& request, const Globals& globals) {
  ASKBASE_ASSIGN(auto handed, web::hand_over_delete(globals.kb, request));
  if (handed) return std::move(*handed);
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_write));
  return web::run_delete(*store, request);
}

template <typename Summary>
int report(const Summary& summary, const DeleteArguments& arguments, const Globals& globals) {
  if (arguments.json) {
    print(base::dump_json(summary_json(summary)) + "\n");
  } else {
    print_summary(summary, globals.kb.string(), -1);
  }
  return exit_done;
}

base::Result<int> run_delete(DeleteArguments arguments, const Globals& globals) {
  web::DeleteRequest& request = arguments.request;
  const bool pattern = !request.subject.empty() || !request.predicate.empty() || !request.object.empty();
  const bool document = !arguments.document.empty();
  if ((document && (pattern || !request.source.empty())) ||
      (!document && pattern == !request.source.empty())) {
    return base::fail(base::ErrorCode::invalid_argument,
                      pattern || document
                          ? "delete takes a source, a document or a pattern, one of them"
                          : "delete needs --source, --document, or some of --subject, --predicate, --object",
                      "askbase delete --help shows examples");
  }
  ASKBASE_TRY(complete_term("--subject", request.subject));
  ASKBASE_TRY(complete_term("--predicate", request.predicate));
  ASKBASE_TRY(complete_term("--object", request.object));
  base::watch_interrupts();
  if (document) {
    ASKBASE_ASSIGN(const auto summary, delete_documents({.document = arguments.document}, globals));
    return report(summary, arguments, globals);
  }
  const auto facts = delete_facts(request, globals);
  if (facts) return report(*facts, arguments, globals);
  if (facts.error().code == base::ErrorCode::not_found && !pattern) {
    // Then perhaps a source of documents.
    const auto documents = delete_documents({.source = request.source}, globals);
    if (documents && documents->removed > 0) return report(*documents, arguments, globals);
  }
  return tl::unexpected(facts.error());
}

}  // namespace

void add_delete(const Command& askbase) {
  auto arguments = std::make_shared<DeleteArguments>();
  web::DeleteRequest& request = arguments->request;
  const Command command =
      askbase.add("delete", "Delete a source, a document, or facts by pattern",
                  "  askbase --kb my-kb delete --source people.csv\n"
                  "  askbase --kb my-kb delete --document handbook.pdf\n"
                  "  askbase --kb my-kb delete --subject urn:x:ann --predicate urn:x:knows\n"
                  "  askbase --kb my-kb delete --object '\"Ann\"@en'\n"
                  "A place that is left out matches anything.");
  command.option("--source", "NAME", request.source, "Name of a source, as stats lists it");
  command.option("--document", "ID", arguments->document, "A document, by its id");
  command.option("--subject", "TERM", request.subject, "Facts with this subject");
  command.option("--predicate", "TERM", request.predicate, "Facts with this predicate");
  command.option("--object", "TERM", request.object, "Facts with this object");
  command.flag("--json", arguments->json, "Report as JSON");
  command.on_run([arguments](const Globals& globals) { return run_delete(*arguments, globals); });
}

}  // namespace askbase::cli
