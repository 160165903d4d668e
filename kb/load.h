// Loading files into the store: RDF, JSON lines, tables, wordings. One call is one atomic update: on an
// error (strict mode) or Ctrl-C the KB stays as it was. docs/loading.md is the page to this header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/store.h"

namespace askbase::kb {

enum class Format : std::uint8_t { unknown, ntriples, nquads, turtle, trig, tsv, csv, jsonl };
std::string_view format_name(Format format);
// From a name ("nt", "ttl", "csv", ...) and from a file's name (a .gz or .zst at the end is looked through).
std::optional<Format> format_from_name(std::string_view name);
Format format_from_path(const std::filesystem::path& path);

// rows: each row is an entity; triples: subject, predicate, object; labels: id, language, text, kind.
enum class TableLayout : std::uint8_t { automatic, rows, triples, labels };

struct TableOptions {
  TableLayout layout = TableLayout::automatic;
  std::string id_column;                     // its values make the rows' IRIs
  std::string label_column;                  // names the rows; guessed when empty
  std::map<std::string, std::string> split;  // column -> separator: several values in one field
};

struct LoadOptions {
  std::string source;                         // default: the file's name
  Format format = Format::unknown;            // default: by the file's name
  bool skip_bad = false;                      // report bad lines and go on, instead of stopping at the first
  bool wordings = false;                      // JSONL of {"predicate", "lang", "wording"}
  std::vector<std::string> alias_predicates;  // further IRIs or column names that give aliases
  TableOptions table;
  std::string base_iri;  // for relative IRIs in Turtle; default urn:askbase:file:SOURCE/
  std::size_t threads = 2;
  std::function<void(const std::string& line)> progress;  // default: standard error (base/progress.h)
};

struct BadLine {
  std::string where;  // file:line
  std::string reason;
};

struct LoadReport {
  UpdateSummary summary;
  std::uint64_t bad_lines = 0;
  std::vector<BadLine> first_bad;    // at most 20
  std::vector<std::string> notices;  // one sentence each: guessed columns, graphs that were replaced ...
  double seconds = 0;
};

// Every path is one source named after the file (or options.source for all of them together), whose facts
// replace what the source had. A source whose files would give what they gave before is left as it is, and a
// notice says so. Named graphs are sources of their own (kind "graph", loaded_from the load's source); those
// that a former load of the source brought, and this one does not, are removed. "-" is standard input and
// needs options.format. options.progress may be called by another thread than the caller's, one at a time.
// One load a store at a time. Errors: bad_input with file:line: reason, not_found, io, unsupported,
// invalid_argument, cancelled, locked.
base::Result<LoadReport> load(Store& store, const std::vector<std::filesystem::path>& paths,
                              const LoadOptions& options);

// What `load --preview` shows of a table.
struct ColumnPreview {
  // number, date, year, entity, text, id, label, alias, empty; of the other layouts subject, predicate,
  // object or id, language, text, kind.
  std::string name, type;
  std::uint64_t filled = 0, distinct = 0;
  std::vector<std::string> examples;  // at most 3
};
struct TablePreview {
  std::string encoding, separator;
  bool triple_layout = false;
  std::uint64_t rows = 0;  // looked at
  std::vector<ColumnPreview> columns;
  std::vector<std::string> facts;      // three, readable
  std::vector<std::string> questions;  // three that can be asked
  std::vector<std::string> notices;
};
base::Result<TablePreview> preview_table(const std::filesystem::path& path, const LoadOptions& options);

// Writes every fact (of one source, when named) as canonical N-Triples, or as N-Quads with the source as
// graph: a line for each source of a fact; a source whose name is no IRI is written as
// urn:askbase:source:NAME, which loading turns back. Lines come without their end, sorted by bytes, each
// once, whatever ids the KB uses; those beyond memory_bytes are sorted through temporary files. Errors:
// not_found, io, corrupt, cancelled, the sink's.
base::Status export_facts(const View& view, const std::function<base::Status(std::string_view line)>& sink,
                          bool quads, const std::optional<std::string>& source,
                          std::size_t memory_bytes = 256 << 20);

}  // namespace askbase::kb
