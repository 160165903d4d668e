// askbase load FILE...
#include "kb/load.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/load_documents.h"
#include "cli/output.h"
#include "web/handoff.h"

namespace askbase::cli {
namespace {

struct LoadArguments {
  std::vector<std::string> files, splits, alias_predicates;
  std::string source, format, id_column, label_column, base_iri;
  std::size_t passage_tokens = 128, passage_overlap = 32;
  bool strict = false, skip_bad = false, wordings = false, documents = false, preview = false,
       no_vectors = false, json = false;
};

bool is_document(const std::string& file) {
  const auto format = reader::document_format_from_path(file);
  return format && *format != reader::DocumentFormat::jsonl;
}

base::Result<kb::LoadOptions> to_options(const LoadArguments& arguments, const Globals& globals) {
  kb::LoadOptions options;
  options.source = arguments.source;
  options.skip_bad = arguments.skip_bad;
  options.wordings = arguments.wordings;
  options.alias_predicates = arguments.alias_predicates;
  options.table.id_column = arguments.id_column;
  options.table.label_column = arguments.label_column;
  options.base_iri = arguments.base_iri;
  options.threads = globals.thread_count();
  if (!arguments.format.empty()) {
    const auto format = kb::format_from_name(arguments.format);
    if (!format) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "unknown format of facts \"" + arguments.format + "\"",
                        reader::document_format_from_name(arguments.format)
                            ? "documents are loaded with --documents"
                            : "facts are nt, nq, ttl, trig, csv, tsv or jsonl");
    }
    options.format = *format;
  }
  for (const std::string& split : arguments.splits) {
    const std::size_t equals = split.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == split.size()) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "--split \"" + split + "\" is not COLUMN=SEPARATOR",
                        "for example --split 'languages=;'");
    }
    options.table.split[split.substr(0, equals)] = split.substr(equals + 1);
  }
  return options;
}

base::Json preview_json(const std::string& file, const kb::TablePreview& preview) {
  base::Json out;
  out["file"] = file;
  out["encoding"] = preview.encoding;
  out["separator"] = preview.separator;
  out["triple_layout"] = preview.triple_layout;
  out["rows"] = preview.rows;
  out["columns"] = base::Json::array();
  for (const kb::ColumnPreview& column : preview.columns) {
    out["columns"].push_back({{"name", column.name},
                              {"type", column.type},
                              {"filled", column.filled},
                              {"distinct", column.distinct},
                              {"examples", column.examples}});
  }
  out["facts"] = preview.facts;
  out["questions"] = preview.questions;
  out["notices"] = preview.notices;
  return out;
}

void print_preview(const std::string& file, const kb::TablePreview& preview) {
  const std::string separator = preview.separator == "\t" ? "tab" : "\"" + preview.separator + "\"";
  print_line(file + ": " + preview.encoding + ", separated by " + separator + ", " +
             counted(preview.rows, "row", "rows") + " looked at" +
             (preview.triple_layout ? ", each a fact: subject, predicate, object" : ""));
  std::vector<std::vector<std::string>> rows = {{"  column", "type", "filled", "distinct", "examples"}};
  for (const kb::ColumnPreview& column : preview.columns) {
    std::string examples;
    for (const std::string& example : column.examples) examples += (examples.empty() ? "" : " | ") + example;
    rows.push_back(
        {"  " + column.name, column.type, grouped(column.filled), grouped(column.distinct), examples});
  }
  print(table(rows, {false, false, true, true}));
  const auto list = [](const std::string& heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    print_line(heading);
    for (const std::string& line : lines) print_line("  " + line);
  };
  list("facts it would give, such as:", preview.facts);
  list("questions it would answer, such as:", preview.questions);
  for (const std::string& notice : preview.notices) print_line("note: " + notice);
}

base::Result<int> run_preview(const LoadArguments& arguments, const kb::LoadOptions& options) {
  for (const std::string& file : arguments.files) {
    ASKBASE_ASSIGN(const kb::TablePreview preview, kb::preview_table(file, options));
    if (arguments.json) {
      print(base::dump_json(preview_json(file, preview)) + "\n");
    } else {
      print_preview(file, preview);
    }
  }
  if (!arguments.json) print_line("Nothing was loaded. Leave out --preview to load.");
  return exit_done;
}

void print_report(const kb::LoadReport& report, const LoadArguments& arguments, const Globals& globals) {
  if (arguments.json) {
    base::Json out = summary_json(report.summary);
    out["bad_lines"] = report.bad_lines;
    out["first_bad"] = base::Json::array();
    for (const kb::BadLine& bad : report.first_bad) {
      out["first_bad"].push_back({{"where", bad.where}, {"reason", bad.reason}});
    }
    out["notices"] = report.notices;
    out["seconds"] = base::json_number(report.seconds, 4);
    print(base::dump_json(out) + "\n");
    return;
  }
  for (const std::string& notice : report.notices) print_line("note: " + notice);
  if (report.bad_lines > 0) {
    for (const kb::BadLine& bad : report.first_bad) print_line("skipped " + bad.where + ": " + bad.reason);
    print_line(counted(report.bad_lines, "bad line was", "bad lines were") + " skipped");
  }
  print_summary(report.summary, globals.kb.string(), report.seconds);
}

base::Result<int> run_load(const LoadArguments& arguments, const Globals& globals) {
  if (arguments.documents) {
    const DocumentArguments documents{.source = arguments.source,
                                      .format = arguments.format,
                                      .tokens = arguments.passage_tokens,
                                      .overlap = arguments.passage_overlap,
                                      .skip_bad = arguments.skip_bad,
                                      .no_vectors = arguments.no_vectors,
                                      .json = arguments.json};
    return run_load_documents({arguments.files.begin(), arguments.files.end()}, documents, globals);
  }
  if (const auto text = std::find_if(arguments.files.begin(), arguments.files.end(), is_document);
      text != arguments.files.end() && arguments.format.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, *text + ": a document, and no --documents",
                      "askbase load --documents " + *text);
  }
  ASKBASE_ASSIGN(const kb::LoadOptions options, to_options(arguments, globals));
  if (arguments.preview) return run_preview(arguments, options);
  const std::vector<std::filesystem::path> paths(arguments.files.begin(), arguments.files.end());
  base::watch_interrupts();
  // A server that holds the KB does the work, and its readers see the new facts at once.
  ASKBASE_ASSIGN(const std::optional<kb::LoadReport> remote, web::hand_over_load(globals.kb, paths, options));
  if (remote) {
    print_report(*remote, arguments, globals);
    return exit_done;
  }
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::create));
  ASKBASE_ASSIGN(const kb::LoadReport report, kb::load(*store, paths, options));
  print_report(report, arguments, globals);
  return exit_done;
}

}  // namespace

void add_load(const Command& askbase) {
  auto arguments = std::make_shared<LoadArguments>();
  const Command command =
      askbase.add("load", "Load facts, tables or wordings from files",
                  "  askbase --kb my-kb load people.csv --preview     see how a table would be read\n"
                  "  askbase --kb my-kb load people.csv --split 'languages=;'\n"
                  "  askbase --kb my-kb load dump.nt.gz more.ttl\n"
                  "  askbase --kb my-kb load --wordings wordings.jsonl\n"
                  "  askbase --kb my-kb load --documents handbook.pdf notes.md articles.jsonl.gz\n"
                  "  zcat big.nt.gz | askbase --kb my-kb load - --format nt --source big\n"
                  "A load is a source. Loading again under the same source name replaces its facts.");
  command.arguments("FILE", arguments->files,
                    ".nt .nq .ttl .trig .csv .tsv .jsonl, with --documents .txt .md .html .jsonl .pdf; also "
                    ".gz and .zst; - is standard input");
  command.option("--source", "NAME", arguments->source, "Name of the source; the file's name");
  command.option("--format", "FORMAT", arguments->format,
                 "nt, nq, ttl, trig, csv, tsv or jsonl; of documents txt, md, html, jsonl or pdf; by the "
                 "file's name",
                 [](const std::string& name) {
                   return kb::format_from_name(name) || reader::document_format_from_name(name)
                              ? std::string()
                              : "unknown format \"" + name + "\": nt, nq, ttl, trig, csv, tsv or jsonl";
                 });
  command.flag("--strict", arguments->strict, "Stop at the first bad line and change nothing (the default)");
  command.flag("--skip-bad", arguments->skip_bad, "Report bad lines and load the others");
  command.flag("--wordings", arguments->wordings,
               "The files are JSON lines of {\"predicate\", \"lang\", \"wording\"}");
  command.flag("--documents", arguments->documents, "The files are documents: texts to find answers in");
  command.option("--passage-tokens", "N", arguments->passage_tokens,
                 "Documents are cut into passages of so many words and punctuation marks at most; 128", 16,
                 4096);
  command.option("--passage-overlap", "N", arguments->passage_overlap,
                 "As many at most stand in two neighbouring passages; 32", 0, 2048);
  command.flag("--no-vectors", arguments->no_vectors,
               "Documents: make no sentence vectors now; a server makes them later");
  command.flag("--preview", arguments->preview, "Show how a table would be read, load nothing");
  command.option("--id", "COLUMN", arguments->id_column, "Table column whose values identify the rows");
  command.option("--label", "COLUMN", arguments->label_column, "Table column that names the rows");
  command.repeated("--split", "COLUMN=SEP", arguments->splits,
                   "Several values in one field; can be repeated");
  command.repeated("--alias-predicate", "IRI", arguments->alias_predicates,
                   "Predicate or column that gives further names, from now on; can be repeated");
  command.option("--base-iri", "IRI", arguments->base_iri, "For relative IRIs in Turtle");
  command.flag("--json", arguments->json, "Report as JSON");
  command.exclude("--skip-bad", "--strict");
  command.exclude("--preview", "--wordings");
  for (const char* facts_only :
       {"--preview", "--wordings", "--id", "--label", "--split", "--alias-predicate", "--base-iri"})
    command.exclude("--documents", facts_only);
  command.on_run([arguments](const Globals& globals) { return run_load(*arguments, globals); });
}

}  // namespace askbase::cli
