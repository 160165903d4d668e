// Loading files into the store: RDF, JSON lines, tables, wordings. One call is one atomic update: on an
// error (strict mode) or Ctrl-C the KB stays as it was.
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
  std::string base_iri;  // for relative IRIs in Turtle; default urn:askbase:file:NAME
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

// Every path is one source named after the file (or options.source for all of them together). "-" is
// standard input and needs options.format. Errors: bad_input with file:line: reason, not_found, io,
// cancelled, locked.
base::Result<LoadReport> load(Store& store, const std::vector<std::filesystem::path>& paths,
                              const LoadOptions& options);

// What `load --preview` shows of a table.
struct ColumnPreview {
  std::string name, type;  // type: number, date, entity, text, id, label, alias
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

// Writes every fact (of one source, when named) as sorted N-Triples, or N-Quads with the source as graph.
base::Status export_facts(const View& view, const std::function<base::Status(std::string_view line)>& sink,
                          bool quads, const std::optional<std::string>& source);

}  // namespace askbase::kb
