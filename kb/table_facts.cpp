#include "kb/table_facts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "kb/load_names.h"
#include "kb/load_values.h"
#include "kb/table_headers.h"

namespace askbase::kb {
namespace {

constexpr std::uint64_t kProgressRows = 1024;

Term iri_term(std::string_view text) { return Term::iri(std::string(text)); }

// Names that mean something of their own under urn:askbase: are no names of tables or columns.
std::string space_of(std::string_view name) {
  for (const std::string_view reserved : {"p", "class", "source", "file", "unit", "wording"}) {
    if (name == reserved) return std::string(name) + "_";
  }
  return std::string(name);
}

// The entity that a value of a column is. Columns and tables of one name share their entities: "France" in a
// column "country" is the row "France" of a table of countries.
std::string own_value_iri(const TableColumn& column, std::string_view value) {
  return name_iri(space_of(singular(plain_header(column.label))), value);
}

std::string value_iri(const TableColumn& column, std::string_view value) {
  if (const auto link = column.links.find(value); link != column.links.end()) return link->second;
  return looks_like_iri(value) ? std::string(value) : own_value_iri(column, value);
}

// Whether a text comes for the first time, nearly always: the KB keeps a fact once however often it is added,
// so forgetting costs time only, and keeps the memory bounded.
class Recently {
 public:
  bool first_time(std::string_view text) {
    constexpr std::size_t most = 1 << 20;
    if (seen_.size() >= most) seen_ = HashSet();
    return seen_.insert(text_hash(text));
  }

 private:
  HashSet seen_;
};

// Codes have no language: "007", "A-12".
Term text_term(std::string_view value) {
  const bool digits = value.find_first_of("0123456789") != std::string_view::npos;
  if (digits && value.find(' ') == std::string_view::npos && !base::contains_han(value)) {
    return Term::literal(std::string(value));
  }
  return text_in_its_language(value);
}

class RowWriter {
 public:
  RowWriter(const TableSource& source, const TablePlan& plan, FactSink& sink)
      : source_(source), plan_(plan), sink_(sink), namer_(source) {}

  // What holds of the columns and the table, before any row.
  base::Status describe() {
    class_ = Term::iri(std::string(class_prefix) + encode_name(source_.name));
    ASKBASE_TRY(sink_.add(class_, label_, text_in_its_language(source_.name), 0));
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
      const TableColumn& column = plan_.columns[i];
      predicates_.push_back(Term::iri(column.predicate));
      if (column.type == ColumnType::label || column.type == ColumnType::alias ||
          column.type == ColumnType::empty) {
        continue;
      }
      ASKBASE_TRY(sink_.add(predicates_[i], type_, iri_term(iri::rdf_property), 0));
      ASKBASE_TRY(sink_.add(predicates_[i], label_, text_in_its_language(column.label), 0));
      if (!column.unit.empty()) {
        ASKBASE_TRY(sink_.add(predicates_[i], iri_term(iri::unit), text_in_its_language(column.unit), 0));
      }
    }
    return {};
  }

  base::Status write(const TableRows& row) {
    const Term subject = Term::iri(namer_.next(row, plan_));
    ASKBASE_TRY(sink_.add(subject, type_, class_, row.row()));
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
      const TableColumn& column = plan_.columns[i];
      base::Status status;
      column.each_value(row.field(i), [&](std::string_view value) {
        if (status) status = write_value(subject, i, column, value, row.row());
      });
      ASKBASE_TRY(std::move(status));
    }
    return {};
  }

 private:
  static Term name(const TableColumn& column, std::string_view value) {
    return column.lang.empty() ? text_in_its_language(value) : Term::text(std::string(value), column.lang);
  }

  base::Status write_value(const Term& subject, std::size_t index, const TableColumn& column,
                           std::string_view value, std::uint64_t row) {
    const auto text = [&] { return sink_.add(subject, predicates_[index], text_term(value), row); };
    switch (column.type) {
      case ColumnType::empty:
        return {};
      case ColumnType::label:
        return sink_.add(subject, label_, name(column, value), row);
      case ColumnType::alias:
        return sink_.add(subject, alias_, name(column, value), row);
      case ColumnType::number: {
        const bool percent = column.percent && (value.ends_with("%") || value.ends_with("％"));
        const std::string_view digits = percent ? value.substr(0, value.find_first_of("%\xEF")) : value;
        if (const auto number = parse_number(percent ? base::trim(digits) : value, column.number_style)) {
          return sink_.add(subject, predicates_[index], *number, row);
        }
        return is_placeholder(value) ? base::Status() : text();
      }
      case ColumnType::year: {
        std::string_view digits = value;
        if (digits.ends_with("年"))
          digits = base::trim(digits.substr(0, digits.size() - std::string_view("年").size()));
        if (const auto year = parse_date(digits, DateOrder::unknown)) {
          return sink_.add(subject, predicates_[index], year->literal, row);
        }
        return is_placeholder(value) ? base::Status() : text();
      }
      case ColumnType::date:
        if (const auto date = parse_date(value, column.date_order)) {
          return sink_.add(subject, predicates_[index], date->literal, row);
        }
        return is_placeholder(value) ? base::Status() : text();
      case ColumnType::entity: {
        const std::string entity = value_iri(column, value);
        ASKBASE_TRY(sink_.add(subject, predicates_[index], Term::iri(entity), row));
        // The label of an entity of someone else is theirs to give.
        const bool ours = !looks_like_iri(value) && entity == own_value_iri(column, value);
        if (!ours || !labels_.first_time(entity)) return {};
        return sink_.add(Term::iri(entity), label_, text_in_its_language(value), row);
      }
      default:
        return text();
    }
  }

  const TableSource& source_;
  const TablePlan& plan_;
  FactSink& sink_;
  RowNamer namer_;
  Recently labels_;
  std::vector<Term> predicates_;
  Term class_;
  const Term type_ = iri_term(iri::rdf_type), label_ = iri_term(iri::rdfs_label),
             alias_ = iri_term(iri::skos_alt_label);
};

class TripleWriter {
 public:
  TripleWriter(const TablePlan& plan, FactSink& sink) : plan_(plan), sink_(sink) {}

  // A reason when the row is no fact.
  base::Status write(const TableRows& row, std::string& reason) {
    const std::string_view subject = without_brackets(row.field(plan_.triple[0]));
    const std::string_view predicate = without_brackets(row.field(plan_.triple[1]));
    const std::string_view object = row.field(plan_.triple[2]);
    if (subject.empty() || predicate.empty()) {
      reason = std::string("the ") + (subject.empty() ? "subject" : "predicate") + " is empty";
      return {};
    }
    if (object.empty()) return {};  // a value that is not known; the plan has told of it
    const Term subject_term = entity(subject), predicate_term = resource(predicate, "p");
    const std::string_view object_name = without_brackets(object);
    const bool is_text = row.quoted(plan_.triple[2]) && plan_.format.quoting == Quoting::line;
    Term object_term;
    bool named = false;
    if (is_text) {
      object_term = text_in_its_language(object);
    } else if (looks_like_iri(object_name)) {
      object_term = Term::iri(std::string(object_name));
    } else if (object_name.size() != object.size() || plan_.entities.contains(text_hash(object))) {
      object_term = entity(object_name);
      named = true;
    } else if (const auto value = typed(predicate, object)) {
      object_term = *value;
    } else if (object.size() <= longest_name || base::count_code_points(object) <= longest_name) {
      object_term = entity(object);
      named = true;
    } else {
      object_term = text_in_its_language(object);
    }
    ASKBASE_TRY(sink_.add(subject_term, predicate_term, object_term, row.row()));
    ASKBASE_TRY(label(subject_term, subject, row.row()));
    ASKBASE_TRY(label(predicate_term, predicate, row.row()));
    return named ? label(object_term, object_name, row.row()) : base::Status();
  }

 private:
  static Term resource(std::string_view name, std::string_view space) {
    return Term::iri(looks_like_iri(name) ? std::string(name) : name_iri(space, name));
  }
  static Term entity(std::string_view name) { return resource(name, "entity"); }

  static std::optional<Term> typed(std::string_view predicate, std::string_view object) {
    if (is_year_header(predicate)) {
      if (auto year = parse_year(object)) return year;
    }
    if (auto number = parse_number(object, NumberStyle::point)) return number;
    const auto date = parse_date(object, DateOrder::unknown);
    const bool clear = date && (!date->needs_order || date->told != DateOrder::unknown);
    return clear ? std::optional<Term>(date->literal) : std::nullopt;
  }

  base::Status label(const Term& term, std::string_view name, std::uint64_t row) {
    if (looks_like_iri(name)) return {};
    if (!labels_.first_time(term.value)) return {};
    return sink_.add(term, label_, text_in_its_language(name), row);
  }

  const TablePlan& plan_;
  FactSink& sink_;
  Recently labels_;
  const Term label_ = iri_term(iri::rdfs_label);
};

class LabelWriter {
 public:
  explicit LabelWriter(FactSink& sink) : sink_(sink) {}

  base::Status write(const TableRows& row, std::string& reason) {
    const std::string_view id = without_brackets(row.field(0)), lang = row.field(1), text = row.field(2),
                           kind = row.field(3);
    if (id.empty() || text.empty()) {
      reason = std::string("the ") + (id.empty() ? "id" : "text") + " is empty";
      return {};
    }
    std::string_view predicate;
    if (kind == "label") predicate = iri::rdfs_label;
    if (kind == "alias") predicate = iri::skos_alt_label;
    if (kind == "description") predicate = iri::rdfs_comment;
    if (predicate.empty()) return {};  // other kinds name nothing
    // "mul" (any language) and "-" are none.
    const std::string tag = lang == "mul" || !valid_language_tag(lang) ? std::string() : std::string(lang);
    return sink_.add(Term::iri(looks_like_iri(id) ? std::string(id) : name_iri("entity", id)),
                     iri_term(predicate), Term::text(std::string(text), tag), row.row());
  }

 private:
  FactSink& sink_;
};

template <typename Body>
base::Status each_row(TableRows& rows, FactSink& sink, const std::function<void(std::uint64_t)>& progress,
                      const Body& body) {
  while (true) {
    ASKBASE_ASSIGN(const auto outcome, rows.next());
    if (outcome == TableReader::Outcome::end) return {};
    if (progress && rows.row() % kProgressRows == 0) progress(rows.input().raw_position());
    std::string reason;
    if (outcome == TableReader::Outcome::bad) {
      reason = rows.problem();
    } else {
      ASKBASE_TRY(body(reason));
    }
    if (!reason.empty()) ASKBASE_TRY(sink.bad(rows.line(), reason));
  }
}

}  // namespace

std::string RowNamer::next(const TableRows& row, const TablePlan& plan) {
  const std::string space = space_of(source_.name);
  if (plan.id && !row.field(*plan.id).empty()) {
    const std::string_view id = row.field(*plan.id);
    return looks_like_iri(id) ? std::string(id) : name_iri(space, id);
  }
  if (!plan.label || row.field(*plan.label).empty())
    return name_iri(space, "row " + std::to_string(row.row()));
  const std::string name = name_iri(space, row.field(*plan.label));
  const std::uint64_t hash = text_hash(name);
  if (seen_.insert(hash)) return name;
  // A number that no other row has, by its name or by its own repetition.
  std::uint64_t& number = repeated_.try_emplace(hash, 1).first->second;
  std::string numbered;
  do {
    numbered = name + "-" + std::to_string(++number);
  } while (!seen_.insert(text_hash(numbered)));
  return numbered;
}

base::Status write_table(const TableSource& source, const TablePlan& plan, FactSink& sink,
                         const std::function<void(std::uint64_t)>& progress) {
  if (plan.columns.empty()) return {};
  ASKBASE_ASSIGN(const auto rows, TableRows::open(source, plan));
  switch (plan.layout) {
    case TableLayout::triples: {
      TripleWriter writer(plan, sink);
      return each_row(*rows, sink, progress,
                      [&](std::string& reason) { return writer.write(*rows, reason); });
    }
    case TableLayout::labels: {
      LabelWriter writer(sink);
      return each_row(*rows, sink, progress,
                      [&](std::string& reason) { return writer.write(*rows, reason); });
    }
    default: {
      RowWriter writer(source, plan, sink);
      ASKBASE_TRY(writer.describe());
      return each_row(*rows, sink, progress, [&](std::string&) { return writer.write(*rows); });
    }
  }
}

}  // namespace askbase::kb
