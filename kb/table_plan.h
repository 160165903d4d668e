// How a table becomes facts: which column names the rows, what each column's values are. Made by looking at
// all rows once; kb/table_facts.h then writes the facts.
//
//   rows     each row is an entity, each column a predicate
//   triples  three columns; each row is a fact
//   labels   id, language, text, kind (label, alias or description); each row names an entity
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "base/result.h"
#include "kb/hash_set.h"
#include "kb/load.h"
#include "kb/load_values.h"
#include "kb/table_profile.h"
#include "kb/table_reader.h"

namespace askbase::kb {

// A file that can be read from its beginning as often as needed.
struct TableSource {
  std::function<base::Result<std::unique_ptr<base::Input>>()> open;
  std::string file;  // for messages
  std::string name;  // of the table, singular: "city"
  Format format = Format::csv;
};

enum class ColumnType : std::uint8_t { empty, text, entity, number, date, year, id, label, alias };
std::string_view column_type_name(ColumnType type);

struct TableColumn {
  std::string header;  // as written; "column 3" when there is none
  std::string label;   // without a unit
  std::string unit;
  std::string lang;         // of labels and aliases that say theirs
  std::string separator;    // parts of one field; empty: the field is one value
  bool list_signs = false;  // of aliases: parts at ; ； | ｜ 、
  ColumnType type = ColumnType::text;
  NumberStyle number_style = NumberStyle::point;
  DateOrder date_order = DateOrder::unknown;
  bool percent = false;
  std::string predicate;       // IRI
  TextMap<std::string> links;  // values that name an entity known elsewhere -> its IRI
  ColumnProfile profile;

  // Calls body for each value in the field, white space trimmed, empty ones left out.
  void each_value(std::string_view field, const std::function<void(std::string_view)>& body) const;
};

struct TablePlan {
  TableFormat format;
  TableLayout layout = TableLayout::rows;
  bool has_header = true;
  std::vector<TableColumn> columns;
  std::optional<std::size_t> id, label;        // of rows
  std::array<std::size_t, 3> triple{0, 1, 2};  // of triples: the columns of subject, predicate, object
  // Of triples: hashes of the subjects, and of long objects that stand there twice: these are entities.
  HashSet entities;
  std::uint64_t rows = 0;  // looked at
  bool complete = true;    // all were
  std::vector<std::string> notices;
};

// Looks at most_rows rows at most. Bad rows are an error, or passed over with options.skip_bad. Errors:
// bad_input with file:line: reason; invalid_argument for options that name columns that are not there.
base::Result<TablePlan> plan_table(const TableSource& source, const LoadOptions& options,
                                   std::uint64_t most_rows = UINT64_MAX);

// A name as files of facts write it: without the <...> that some put around names and IRIs.
std::string_view without_brackets(std::string_view name);

// The rows of a table under its plan: trimmed, and with as many fields as there are columns.
class TableRows {
 public:
  static base::Result<std::unique_ptr<TableRows>> open(const TableSource& source, const TablePlan& plan);
  base::Result<TableReader::Outcome> next();

  std::string_view field(std::size_t column) const { return fields_[column]; }
  bool quoted(std::size_t column) const { return quoted_[column]; }
  std::uint64_t row() const { return row_; }  // of the data, from 1
  std::uint64_t line() const { return raw_.line; }
  const std::string& problem() const { return raw_.problem; }
  // Rows that ended early so far, and the line of the first.
  std::uint64_t short_rows() const { return short_rows_; }
  std::uint64_t first_short() const { return first_short_; }
  const base::Input& input() const { return *input_; }

 private:
  TableRows(std::unique_ptr<base::Input> input, const TableFormat& format, std::size_t columns)
      : input_(std::move(input)), reader_(*input_, format), fields_(columns), quoted_(columns) {}

  std::unique_ptr<base::Input> input_;
  TableReader reader_;
  TableRow raw_;
  std::vector<std::string_view> fields_;
  std::vector<bool> quoted_;
  std::uint64_t row_ = 0, short_rows_ = 0, first_short_ = 0;
};

}  // namespace askbase::kb
