#include "kb/table_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/interrupt.h"
#include "base/text.h"
#include "kb/load_names.h"
#include "kb/table_headers.h"

namespace askbase::kb {
namespace {

using Record = std::vector<std::string>;

constexpr std::size_t kHeadRows = 5000;
// Share of a column's values that must read as numbers (dates ...) for the column to be one of them. Those
// that do not are kept as texts; below this many values all must.
constexpr double kTypical = 0.95;
constexpr std::uint64_t kEnoughForOutliers = 20;
constexpr std::uint64_t kInterruptRows = 4096;

bool nearly_all(std::uint64_t some, std::uint64_t all) {
  if (all == 0) return false;
  if (all < kEnoughForOutliers) return some == all;
  return static_cast<double>(some) >= kTypical * static_cast<double>(all);
}

char separator_of(Format format) { return format == Format::tsv ? '\t' : '\0'; }

std::string count_of(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

// The first rows as they are.
base::Result<std::vector<Record>> read_head(const TableSource& source, const TableFormat& format) {
  ASKBASE_ASSIGN(const auto input, source.open());
  TableReader reader(*input, format);
  TableRow row;
  std::vector<Record> head;
  while (head.size() < kHeadRows) {
    ASKBASE_ASSIGN(const auto outcome, reader.next(row));
    if (outcome == TableReader::Outcome::end) break;
    if (outcome == TableReader::Outcome::bad) {
      // Told by the pass over all rows, but for the header, which must be right.
      if (head.empty()) {
        return base::fail(base::ErrorCode::bad_input,
                          source.file + ":" + std::to_string(row.line) + ": " + row.problem);
      }
      continue;
    }
    Record record;
    for (const std::string_view field : row.fields) record.emplace_back(base::trim(field));
    head.push_back(std::move(record));
  }
  return head;
}

bool is_number(std::string_view text) {
  return parse_number(text, NumberStyle::point) || parse_number(text, NumberStyle::comma);
}

// A field of the first row that is called as columns of names and ids are, and comes again in no other row.
bool has_known_header(const std::vector<Record>& head, std::string_view table) {
  const Record& first = head.front();
  for (std::size_t column = 0; column < first.size(); ++column) {
    if (read_header(first[column], table).role == HeaderRole::none) continue;
    const bool again = std::any_of(head.begin() + 1, head.end(), [&](const Record& row) {
      return column < row.size() && row[column] == first[column];
    });
    if (!again) return true;
  }
  return false;
}

bool first_row_is_header(const std::vector<Record>& head, std::string_view table) {
  const Record& first = head.front();
  if (has_known_header(head, table)) return true;
  int data_votes = 0, header_votes = 0;
  for (std::size_t column = 0; column < first.size(); ++column) {
    const std::string& field = first[column];
    if (field.empty()) continue;
    std::uint64_t filled = 0, numbers = 0, dates = 0, same = 0;
    for (std::size_t i = 1; i < head.size(); ++i) {
      if (column >= head[i].size() || head[i][column].empty()) continue;
      ++filled;
      numbers += is_number(head[i][column]) ? 1 : 0;
      dates += parse_date(head[i][column], DateOrder::unknown) ? 1 : 0;
      same += head[i][column] == field ? 1 : 0;
    }
    const bool number = is_number(field), date = parse_date(field, DateOrder::unknown).has_value();
    if (filled == 0) {
      if (head.size() == 1 && (number || date || looks_like_iri(field))) ++data_votes;
    } else if (nearly_all(numbers, filled) || nearly_all(dates, filled)) {
      // Years stand above the columns of tables that go by years.
      const bool year_above = parse_year(field) && same == 0 && dates < filled;
      if ((number || date) && !year_above) {
        ++data_votes;
      } else {
        ++header_votes;
      }
    } else if (same > 0 || looks_like_iri(field)) {
      ++data_votes;
    }
  }
  return data_votes == 0 || header_votes > 0;
}

bool all_have(const std::vector<Record>& head, std::size_t columns) {
  return std::all_of(head.begin(), head.end(), [&](const Record& row) { return row.size() == columns; });
}

std::size_t distinct(const std::vector<Record>& head, std::size_t column) {
  std::set<std::string_view> values;
  for (const Record& row : head) values.insert(row[column]);
  return values.size();
}

// Facts without a header: three fields, of which the middle one takes few values, again and again.
bool looks_like_triples(const std::vector<Record>& head, const TableFormat& format) {
  if (format.separator != '\t' || head.size() < 2 || !all_have(head, 3)) return false;
  const std::size_t subjects = distinct(head, 0), predicates = distinct(head, 1), rows = head.size();
  const bool repeats = 10 * predicates <= (rows < 10 ? 7 : 5) * rows;
  const bool first_repeats =
      std::any_of(head.begin() + 1, head.end(), [&](const Record& row) { return row[1] == head.front()[1]; });
  return repeats && (first_repeats || 10 * subjects <= 9 * rows);
}

bool looks_like_labels(const std::vector<Record>& head) {
  if (head.empty() || !all_have(head, 4)) return false;
  bool label = false;
  for (const Record& row : head) {
    if (row[1] != "-" && row[1] != "mul" && !(row[1].size() <= 12 && valid_language_tag(row[1])))
      return false;
    if (row[3].empty() || row[3].find(' ') != std::string::npos) return false;
    label = label || row[3] == "label" || row[3] == "alias";
  }
  return label;
}

void decide_layout(const std::vector<Record>& head, const TableSource& source, TableLayout wanted,
                   TablePlan& plan) {
  const auto columns = triple_header(head.front());
  const bool labels = looks_like_labels(head);
  plan.layout = wanted;
  if (wanted == TableLayout::automatic) {
    if (labels) {
      plan.layout = TableLayout::labels;
    } else if (columns || (!has_known_header(head, source.name) && looks_like_triples(head, plan.format))) {
      plan.layout = TableLayout::triples;
    } else {
      plan.layout = TableLayout::rows;
    }
  }
  if (plan.layout == TableLayout::triples) {
    plan.has_header = columns.has_value();
    if (columns) plan.triple = *columns;
  } else if (plan.layout == TableLayout::labels) {
    plan.has_header = !labels;
  } else {
    plan.has_header = first_row_is_header(head, source.name);
  }
}

// least: columns that the layout needs, whatever their names.
void name_columns(const std::vector<Record>& head, const TableSource& source, std::size_t least,
                  TablePlan& plan) {
  std::size_t columns = head.front().size();
  if (!plan.has_header) {
    for (const Record& row : head) columns = std::max(columns, row.size());
  } else {
    while (columns > least && head.front()[columns - 1].empty())
      --columns;  // separators at the end of each line
    for (const Record& row : head) {
      const auto last =
          std::find_if(row.rbegin(), row.rend(), [](const std::string& field) { return !field.empty(); });
      const auto used = static_cast<std::size_t>(row.rend() - last);
      if (used > columns && used <= head.front().size()) columns = used;
    }
  }
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < columns; ++i) {
    std::string header = plan.has_header && i < head.front().size() ? head.front()[i] : std::string();
    std::replace_if(
        header.begin(), header.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    if (header.empty()) {
      header = "column " + std::to_string(i + 1);
      if (plan.has_header)
        plan.notices.push_back(source.file + ": column " + std::to_string(i + 1) + " has no name");
    }
    if (const int times = ++seen[header]; times > 1) {
      plan.notices.push_back(source.file + ": more than one column is called \"" + header + "\"");
      header += " (" + std::to_string(times) + ")";
    }
    TableColumn column;
    column.label = column.header = header;
    column.predicate = name_iri("p", header);
    plan.columns.push_back(std::move(column));
  }
  if (!plan.has_header && plan.layout == TableLayout::rows) {
    plan.notices.push_back(
        source.file +
        ": the first row looks like data, so the columns are called \"column 1\" and so on; "
        "put their names into a first row");
  }
}

base::Result<std::size_t> find_column(const TablePlan& plan, std::string_view name, const TableSource& source,
                                      std::string_view option) {
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (plan.columns[i].header == name) return i;
  }
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (plain_header(plan.columns[i].header) == plain_header(name)) return i;
  }
  std::string all;
  for (const TableColumn& column : plan.columns) all += (all.empty() ? "\"" : ", \"") + column.header + "\"";
  return base::fail(base::ErrorCode::invalid_argument,
                    source.file + ": no column \"" + std::string(name) + "\" for " + std::string(option),
                    "the columns are " + all);
}

bool is_alias_option(const TableColumn& column, const LoadOptions& options) {
  return std::any_of(options.alias_predicates.begin(), options.alias_predicates.end(),
                     [&](const std::string& name) {
                       return name == column.predicate || plain_header(name) == plain_header(column.header);
                     });
}

// What headers and options say; values are looked at later.
base::Status apply_headers(const TableSource& source, const LoadOptions& options, TablePlan& plan) {
  if (!options.table.id_column.empty()) {
    ASKBASE_ASSIGN(plan.id, find_column(plan, options.table.id_column, source, "--id"));
  }
  if (!options.table.label_column.empty()) {
    ASKBASE_ASSIGN(plan.label, find_column(plan, options.table.label_column, source, "--label"));
  }
  for (const auto& [name, separator] : options.table.split) {
    ASKBASE_ASSIGN(const std::size_t column, find_column(plan, name, source, "--split"));
    if (separator.empty()) {
      return base::fail(base::ErrorCode::invalid_argument, "--split " + name + " has no separator",
                        "write it as --split \"" + name + "=;\"");
    }
    plan.columns[column].separator = separator;
  }
  int best_rank = 99;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    TableColumn& column = plan.columns[i];
    const HeaderMeaning meaning = plan.has_header ? read_header(column.header, source.name) : HeaderMeaning();
    if (is_alias_option(column, options) || meaning.role == HeaderRole::alias) {
      column.type = ColumnType::alias;
      column.lang = meaning.role == HeaderRole::none ? "" : meaning.lang;
    } else if (meaning.role == HeaderRole::label) {
      if (!meaning.lang.empty()) {
        column.type = ColumnType::label;
        column.lang = meaning.lang;
      }
      const int rank = meaning.rank * 2 + (meaning.lang.empty() ? 0 : 1);
      if (rank < best_rank) {
        best_rank = rank;
        best = i;
      }
    }
    if (!plan.id && meaning.role == HeaderRole::id) plan.id = i;  // unless its values say no
  }
  if (!plan.label) plan.label = best;
  if (plan.label) plan.columns[*plan.label].type = ColumnType::label;
  return {};
}

void decide_number(TableColumn& column, bool comma, bool percent) {
  column.type = ColumnType::number;
  column.number_style = comma ? NumberStyle::comma : NumberStyle::point;
  column.percent = percent;
  if (percent) {
    column.unit = "%";
    return;
  }
  HeaderUnit parts = split_unit(column.header);
  column.label = std::move(parts.label);
  column.unit = std::move(parts.unit);
}

void decide_type(TableColumn& column, const TableSource& source, std::vector<std::string>& notices) {
  const ColumnProfile& seen = column.profile;
  const std::uint64_t meant = seen.meant();
  const auto notice = [&](const std::string& text) {
    notices.push_back(source.file + ": column \"" + column.header + "\" " + text);
  };
  if (meant == 0) {
    column.type = ColumnType::empty;
    return;
  }
  const bool comma = seen.numbers_comma > seen.numbers_point;
  const std::uint64_t numbers = std::max(seen.numbers_point, seen.numbers_comma);
  const std::uint64_t percents = std::max(seen.percents_point, seen.percents_comma);
  const bool years =
      nearly_all(seen.written_years, meant) || (seen.years == meant && is_year_header(column.header));
  if (seen.codes == 0 && years) {
    column.type = ColumnType::year;
  } else if (seen.codes == 0 && nearly_all(numbers, meant)) {
    decide_number(column, comma, false);
  } else if (nearly_all(percents, meant)) {
    decide_number(column, seen.percents_comma > seen.percents_point, true);
  } else if (seen.dates_with_month > 0 && nearly_all(seen.dates, meant)) {
    if (seen.day_first > 0 && seen.month_first > 0) {
      notice("has dates with the day first and dates with the month first: kept as text");
    } else if (seen.order_open > 0 && seen.day_first + seen.month_first == 0) {
      notice("has dates that may have the day or the month first: kept as text (write them as 2024-03-05)");
    } else {
      column.type = ColumnType::date;
      column.date_order = seen.month_first > 0 ? DateOrder::month_first : DateOrder::day_first;
      if (seen.order_open > 0) {
        notice(std::string("is read with the ") + (seen.month_first > 0 ? "month" : "day") +
               " first, as some of its dates show");
      }
    }
  } else if (nearly_all(seen.iris, meant)) {
    column.type = ColumnType::entity;
  } else {
    // A few values that stand there again and again are things, not remarks.
    const bool repeated = meant >= 3 && seen.distinct() < meant && seen.distinct_share() <= 0.8;
    column.type = repeated && seen.long_values == 0 ? ColumnType::entity : ColumnType::text;
    if (column.separator.empty() && 5 * seen.listed >= 2 * meant && seen.listed >= 2) {
      notice("seems to hold lists: --split \"" + column.header +
             "=;\" (or its separator) makes a fact of each part");
    }
  }
  if (column.type == ColumnType::number || column.type == ColumnType::date ||
      column.type == ColumnType::year) {
    const std::uint64_t read = column.type == ColumnType::number ? (column.percent ? percents : numbers)
                               : column.type == ColumnType::year ? std::max(seen.written_years, seen.years)
                                                                 : seen.dates;
    if (read < meant) {
      notice("has " + count_of(meant - read, "value", "values") + " of another kind than its other " +
             std::to_string(read) + ": kept as text");
    }
    if (seen.placeholders() > 0) {
      notice("has " + count_of(seen.placeholders(), "placeholder", "placeholders") +
             " such as \"-\" or \"N/A\", taken as empty");
    }
  }
}

// Parts of an alias column: at the signs that stand between things and in no name; at others when most of the
// values have them.
void decide_alias_separator(TableColumn& column) {
  if (!column.separator.empty()) return;
  column.list_signs = true;
  std::uint64_t slashes = 0, commas = 0;
  for (const auto& [value, count] : column.profile.values()) {
    slashes += value.find('/') != std::string::npos ? count : 0;
    commas += value.find("，") != std::string::npos ? count : 0;
  }
  if (column.profile.listed > 0) return;
  if (2 * slashes >= column.profile.filled() && slashes > 0) column.separator = "/";
  if (2 * commas >= column.profile.filled() && commas > 0) column.separator = "，";
}

bool can_name_rows(const TableColumn& column) {
  return (column.type == ColumnType::text || column.type == ColumnType::entity) && column.profile.iris == 0 &&
         column.profile.long_values * 20 <= column.profile.filled();
}

void guess_label(const TableSource& source, TablePlan& plan) {
  // The first column of texts that are mostly different, or else the one whose texts differ most.
  std::optional<std::size_t> best;
  double best_share = -1;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    const TableColumn& column = plan.columns[i];
    if (plan.id == i || !can_name_rows(column)) continue;
    const double share = column.profile.distinct_share() * static_cast<double>(column.profile.filled()) /
                         static_cast<double>(plan.rows);
    if (share >= 0.9) {
      best = i;
      break;
    }
    if (share > best_share) {
      best_share = share;
      best = i;
    }
  }
  plan.label = best;
  if (best) {
    plan.columns[*best].type = ColumnType::label;
    plan.notices.push_back(source.file + ": column \"" + plan.columns[*best].header +
                           "\" is taken for the names of the rows (another: --label)");
  } else if (plan.rows > 0) {
    plan.notices.push_back(source.file +
                           ": no column names the rows, so they are known by their number; "
                           "choose one with --label");
  }
}

void decide_id(const TableSource& source, const LoadOptions& options, bool all_differ, TablePlan& plan) {
  if (!plan.id) return;
  TableColumn& column = plan.columns[*plan.id];
  const bool chosen = !options.table.id_column.empty();
  const bool unique = all_differ && column.profile.filled() == plan.rows;
  if (!unique && !chosen) {
    plan.notices.push_back(source.file + ": column \"" + column.header +
                           "\" is no id, for it has empty or repeated values");
    plan.id.reset();
  } else if (!unique) {
    plan.notices.push_back(source.file + ": rows with the same \"" + column.header + "\" are one entity");
  }
}

}  // namespace

std::string_view column_type_name(ColumnType type) {
  switch (type) {
    case ColumnType::empty:
      return "empty";
    case ColumnType::text:
      return "text";
    case ColumnType::entity:
      return "entity";
    case ColumnType::number:
      return "number";
    case ColumnType::date:
      return "date";
    case ColumnType::year:
      return "year";
    case ColumnType::id:
      return "id";
    case ColumnType::label:
      return "label";
    case ColumnType::alias:
      return "alias";
  }
  return "text";
}

std::string_view without_brackets(std::string_view name) {
  if (name.size() <= 2 || name.front() != '<' || name.back() != '>') return name;
  return base::trim(name.substr(1, name.size() - 2));
}

void TableColumn::each_value(std::string_view field,
                             const std::function<void(std::string_view)>& body) const {
  if (separator.empty() && !list_signs) {
    if (!field.empty()) body(field);
    return;
  }
  while (!field.empty()) {
    std::size_t at = std::string_view::npos, size = 0;
    const auto look_for = [&](std::string_view sign) {
      if (const std::size_t found = field.find(sign); found < at) {
        at = found;
        size = sign.size();
      }
    };
    if (!separator.empty()) look_for(separator);
    if (list_signs) {
      for (const std::string_view sign : {";", "；", "|", "｜", "、", " / "}) look_for(sign);
    }
    const std::string_view part = base::trim(field.substr(0, at));
    if (!part.empty()) body(part);
    field.remove_prefix(at == std::string_view::npos ? field.size() : at + size);
  }
}

base::Result<std::unique_ptr<TableRows>> TableRows::open(const TableSource& source, const TablePlan& plan) {
  ASKBASE_ASSIGN(auto input, source.open());
  std::unique_ptr<TableRows> rows(new TableRows(std::move(input), plan.format, plan.columns.size()));
  if (plan.has_header) ASKBASE_TRY(rows->reader_.next(rows->raw_));
  return rows;
}

base::Result<TableReader::Outcome> TableRows::next() {
  ASKBASE_ASSIGN(const auto outcome, reader_.next(raw_));
  if (outcome == TableReader::Outcome::end) return outcome;
  ++row_;
  if (outcome == TableReader::Outcome::bad) return outcome;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    fields_[i] = i < raw_.fields.size() ? base::trim(raw_.fields[i]) : std::string_view();
    quoted_[i] = i < raw_.fields.size() && raw_.quoted[i];
  }
  if (raw_.fields.size() < fields_.size()) {
    if (short_rows_++ == 0) first_short_ = raw_.line;
  }
  for (std::size_t i = fields_.size(); i < raw_.fields.size(); ++i) {
    if (base::trim(raw_.fields[i]).empty()) continue;
    raw_.problem = std::to_string(raw_.fields.size()) + " fields where the table has " +
                   count_of(fields_.size(), "column", "columns") +
                   " (a field that holds the separator must stand in quotation marks)";
    return TableReader::Outcome::bad;
  }
  return outcome;
}

base::Result<TablePlan> plan_table(const TableSource& source, const LoadOptions& options,
                                   std::uint64_t most_rows) {
  TablePlan plan;
  {
    ASKBASE_ASSIGN(const auto input, source.open());
    ASKBASE_ASSIGN(plan.format, detect_table(*input, separator_of(source.format)));
  }
  ASKBASE_ASSIGN(const std::vector<Record> head, read_head(source, plan.format));
  if (head.empty()) {
    plan.notices.push_back(source.file + ": an empty table");
    return plan;
  }
  decide_layout(head, source, options.table.layout, plan);
  if (plan.format.charset != base::Charset::utf8) {
    plan.notices.push_back(source.file + ": read as " + std::string(base::charset_name(plan.format.charset)));
  }
  const std::size_t needed = plan.layout == TableLayout::triples  ? 3
                             : plan.layout == TableLayout::labels ? 4
                                                                  : 1;
  if (head.front().size() < needed) {
    return base::fail(base::ErrorCode::bad_input,
                      source.file + ":1: " + count_of(head.front().size(), "column", "columns") +
                          " where this kind of table has " + std::to_string(needed));
  }
  name_columns(head, source, needed, plan);
  if (plan.layout == TableLayout::rows) ASKBASE_TRY(apply_headers(source, options, plan));

  ASKBASE_ASSIGN(const auto rows, TableRows::open(source, plan));
  HashSet long_objects, ids;
  bool ids_repeat = false;
  std::uint64_t empty_objects = 0, first_empty = 0;
  while (true) {
    ASKBASE_ASSIGN(const auto outcome, rows->next());
    if (outcome == TableReader::Outcome::end) break;
    if (plan.rows >= most_rows) {
      plan.complete = false;
      break;
    }
    if (outcome == TableReader::Outcome::bad) {
      if (options.skip_bad) continue;
      return base::fail(base::ErrorCode::bad_input,
                        source.file + ":" + std::to_string(rows->line()) + ": " + rows->problem(),
                        "mend the row, or leave bad rows out with --skip-bad");
    }
    if (++plan.rows % kInterruptRows == 0) ASKBASE_TRY(base::check_interrupt());
    if (plan.layout == TableLayout::labels) continue;
    if (plan.layout == TableLayout::triples) {
      plan.entities.insert(text_hash(rows->field(plan.triple[0])));
      const std::string_view object = rows->field(plan.triple[2]);
      if (object.empty() && empty_objects++ == 0) first_empty = rows->line();
      if (object.size() <= longest_name) continue;
      const std::uint64_t hash = text_hash(object);
      if (!long_objects.insert(hash)) plan.entities.insert(hash);
      continue;
    }
    if (plan.id && !ids.insert(text_hash(rows->field(*plan.id)))) ids_repeat = true;
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
      TableColumn& column = plan.columns[i];
      column.each_value(rows->field(i), [&](std::string_view value) { column.profile.add(value); });
    }
  }
  if (rows->short_rows() > 0) {
    plan.notices.push_back(
        source.file + ":" + std::to_string(rows->first_short()) + ": " +
        (rows->short_rows() == 1
             ? "this row has"
             : "this and other rows (" + std::to_string(rows->short_rows()) + " in all) have") +
        " fewer fields than the table has columns; the missing ones are taken as empty");
  }
  if (empty_objects > 0) {
    plan.notices.push_back(source.file + ":" + std::to_string(first_empty) + ": " +
                           count_of(empty_objects, "row has", "rows have") + " no object and " +
                           (empty_objects == 1 ? "is" : "are") + " left out (this is the first)");
  }
  if (plan.layout != TableLayout::rows) return plan;
  decide_id(source, options, !ids_repeat, plan);
  for (TableColumn& column : plan.columns) {
    if (column.type == ColumnType::alias) decide_alias_separator(column);
    if (column.type == ColumnType::text) decide_type(column, source, plan.notices);
  }
  if (!plan.label) guess_label(source, plan);
  return plan;
}

}  // namespace askbase::kb
