// What `load --preview` shows of a table.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "kb/load_files.h"
#include "kb/load_names.h"
#include "kb/table_headers.h"
#include "kb/table_plan.h"

namespace askbase::kb {
namespace {

constexpr std::uint64_t kRows = 20'000;
constexpr std::size_t kShown = 3;
constexpr std::size_t kLongest = 60;

// The beginning of a long value, for showing.
std::string shortened(std::string_view text) {
  std::u32string points = base::to_code_points(text);
  if (points.size() <= kLongest) return std::string(text);
  points.resize(kLongest);
  return base::to_utf8(points) + "…";
}

struct Example {
  std::string subject, predicate, object;
  bool entity = false;
};

// Facts of different columns from the first rows that have them.
base::Result<std::vector<Example>> examples(const TableSource& source, const TablePlan& plan) {
  std::vector<Example> out;
  if (plan.columns.empty()) return out;
  ASKBASE_ASSIGN(const auto rows, TableRows::open(source, plan));
  std::vector<std::size_t> columns;  // to take an example from
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    const ColumnType type = plan.columns[i].type;
    if (type != ColumnType::label && type != ColumnType::alias && type != ColumnType::empty && plan.id != i) {
      columns.push_back(i);
    }
  }
  std::size_t next = 0;
  for (std::uint64_t row = 0; row < kRows && out.size() < kShown; ++row) {
    ASKBASE_ASSIGN(const auto outcome, rows->next());
    if (outcome == TableReader::Outcome::end) break;
    if (outcome == TableReader::Outcome::bad) continue;
    if (plan.layout == TableLayout::triples) {
      const auto field = [&](std::size_t i) {
        return std::string(without_brackets(rows->field(plan.triple[i])));
      };
      out.push_back({field(0), field(1), field(2), !rows->quoted(plan.triple[2])});
      continue;
    }
    if (plan.layout == TableLayout::labels) {
      out.push_back(
          {std::string(rows->field(0)), std::string(rows->field(3)), std::string(rows->field(2)), false});
      continue;
    }
    if (!plan.label || rows->field(*plan.label).empty() || columns.empty()) continue;
    const TableColumn& column = plan.columns[columns[next % columns.size()]];
    std::string value;
    column.each_value(rows->field(columns[next % columns.size()]), [&](std::string_view part) {
      if (value.empty() && !is_placeholder(part)) value = part;
    });
    ++next;
    if (value.empty()) continue;
    if (!column.unit.empty() && !value.ends_with(column.unit)) value += " " + column.unit;
    out.push_back({std::string(rows->field(*plan.label)), base::readable_name(column.label), value,
                   column.type == ColumnType::entity});
  }
  return out;
}

std::vector<std::string> questions(const std::vector<Example>& facts, const TableSource& source,
                                   const TablePlan& plan) {
  std::vector<std::string> out;
  if (plan.layout == TableLayout::labels) return out;
  for (const Example& fact : facts) {
    if (looks_like_iri(fact.subject) || looks_like_iri(fact.predicate)) continue;
    const bool chinese = base::contains_han(fact.predicate);
    // The last question goes backwards, where there is a way back.
    if (out.size() + 1 == kShown && plan.layout == TableLayout::rows) {
      const auto back = std::find_if(facts.begin(), facts.end(), [](const Example& e) { return e.entity; });
      if (back != facts.end() && !looks_like_iri(back->object)) {
        const bool back_chinese = base::contains_han(back->predicate);
        out.push_back(
            back_chinese ? "哪个" + source.name + "的" + back->predicate + "是" + back->object + "？"
                         : "Which " + source.name + " has the " + back->predicate + " " + back->object + "?");
        break;
      }
    }
    const std::string predicate =
        plan.layout == TableLayout::triples ? base::readable_name(fact.predicate) : fact.predicate;
    out.push_back(chinese ? fact.subject + "的" + predicate + "是什么？"
                          : "What is the " + predicate + " of " + fact.subject + "?");
  }
  return out;
}

ColumnPreview describe(const TablePlan& plan, std::size_t index) {
  const TableColumn& column = plan.columns[index];
  ColumnPreview out;
  out.name = column.header;
  if (plan.layout == TableLayout::triples) {
    constexpr std::array<std::string_view, 3> roles = {"subject", "predicate", "object"};
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (plan.triple[i] == index) out.type = roles[i];
    }
  } else if (plan.layout == TableLayout::labels) {
    constexpr std::array<std::string_view, 4> roles = {"id", "language", "text", "kind"};
    out.type = index < roles.size() ? roles[index] : "text";
  } else {
    out.type = plan.id == index ? "id" : column_type_name(column.type);
  }
  out.filled = column.profile.filled();
  out.distinct = column.profile.distinct();
  return out;
}

}  // namespace

base::Result<TablePreview> preview_table(const std::filesystem::path& path, const LoadOptions& options) {
  ASKBASE_ASSIGN(const LoadFile file,
                 LoadFile::open(path, options, []() -> base::Result<std::filesystem::path> {
                   return std::filesystem::temp_directory_path();
                 }));
  if (file.format() != Format::csv && file.format() != Format::tsv) {
    return base::fail(base::ErrorCode::invalid_argument,
                      file.name() + ": no table, so there is nothing to preview",
                      "load it without --preview");
  }
  const TableSource source =
      file.table(table_name(options.source.empty() ? file.source_name() : options.source));
  ASKBASE_ASSIGN(TablePlan plan, plan_table(source, options, kRows));
  TablePreview out;
  out.encoding = base::charset_name(plan.format.charset);
  out.separator = std::string(1, plan.format.separator);
  out.triple_layout = plan.layout == TableLayout::triples;
  out.rows = plan.rows;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) out.columns.push_back(describe(plan, i));
  {
    // The first different values of each column.
    ASKBASE_ASSIGN(const auto rows, TableRows::open(source, plan));
    std::size_t missing = plan.columns.size();
    for (std::uint64_t row = 0; row < kRows && missing > 0; ++row) {
      ASKBASE_ASSIGN(const auto outcome, rows->next());
      if (outcome == TableReader::Outcome::end) break;
      if (outcome == TableReader::Outcome::bad) continue;
      for (std::size_t i = 0; i < plan.columns.size(); ++i) {
        std::vector<std::string>& shown = out.columns[i].examples;
        const std::string value = shortened(rows->field(i));
        if (value.empty() || shown.size() >= kShown ||
            std::find(shown.begin(), shown.end(), value) != shown.end())
          continue;
        shown.push_back(value);
        missing -= shown.size() == kShown ? 1 : 0;
      }
    }
  }
  ASKBASE_ASSIGN(const std::vector<Example> facts, examples(source, plan));
  for (const Example& fact : facts) {
    out.facts.push_back(shortened(fact.subject) + " — " + shortened(fact.predicate) + " — " +
                        shortened(fact.object));
  }
  out.questions = questions(facts, source, plan);
  out.notices = std::move(plan.notices);
  if (!plan.complete) {
    out.notices.push_back(file.name() + ": only the first " + std::to_string(plan.rows) +
                          " rows were looked at; all of them decide when it is loaded");
  }
  return out;
}

}  // namespace askbase::kb
