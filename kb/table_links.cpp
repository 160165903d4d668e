// Values that name entities: rows of the same tables, or entities that the KB knows by that label.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/interrupt.h"
#include "kb/load_names.h"
#include "kb/table_facts.h"

namespace askbase::kb {
namespace {

constexpr std::uint64_t kInterruptEvery = 4096;

struct Target {
  std::string iri;  // empty: none found yet
  bool ambiguous = false;

  void found(const std::string& other) {
    if (iri.empty()) {
      iri = other;
    } else if (iri != other) {
      ambiguous = true;
    }
  }
};
using Targets = TextMap<Target>;

// Columns whose values may be names of things; all their values must be known to be told from a few that
// happen to match.
bool may_link(const TablePlan& plan, std::size_t index) {
  const TableColumn& column = plan.columns[index];
  return plan.layout == TableLayout::rows && plan.id != index && column.profile.all_distinct_kept() &&
         (column.type == ColumnType::text || column.type == ColumnType::entity) && column.profile.iris == 0 &&
         column.profile.long_values == 0;
}

// The names of the table's rows among the targets. own: for each column, rows whose value is their own name.
base::Status match_rows(const PlannedTable& table, Targets& targets, std::vector<std::uint64_t>& own) {
  const TablePlan& plan = *table.plan;
  if (plan.layout != TableLayout::rows || plan.columns.empty() || !plan.label) return {};
  ASKBASE_ASSIGN(const auto rows, TableRows::open(*table.source, plan));
  RowNamer namer(*table.source);
  while (true) {
    ASKBASE_ASSIGN(const auto outcome, rows->next());
    if (outcome == TableReader::Outcome::end) return {};
    if (outcome == TableReader::Outcome::bad) continue;
    if (rows->row() % kInterruptEvery == 0) ASKBASE_TRY(base::check_interrupt());
    const std::string iri = namer.next(*rows, plan);
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
      const TableColumn& column = plan.columns[i];
      if (column.type == ColumnType::label) {
        if (const auto target = targets.find(rows->field(i)); target != targets.end())
          target->second.found(iri);
      } else if (!rows->field(i).empty() && rows->field(i) == rows->field(*plan.label)) {
        ++own[i];
      }
    }
  }
}

class KnownNames {
 public:
  KnownNames(const View& view, const std::set<std::string>& replaced) : view_(view), replaced_(replaced) {}

  base::Status open() {
    for (const std::string_view predicate :
         {iri::rdfs_label, iri::skos_pref_label, iri::schema_name, iri::schema_name_https, iri::foaf_name}) {
      ASKBASE_ASSIGN(const auto id, view_.find(Term::iri(std::string(predicate))));
      if (id) predicates_.push_back(*id);
    }
    for (const std::string& name : replaced_) {
      ASKBASE_ASSIGN(const auto source, view_.source(name));
      if (source) leaving_.insert(source->id);
    }
    return {};
  }

  base::Status find(const std::string& name, Target& target) const {
    for (const std::string_view lang : {"", "en", "zh", "zh-hans", "zh-hant", "zh-cn", "en-us", "en-gb"}) {
      ASKBASE_ASSIGN(const auto label, view_.find(Term::text(name, std::string(lang))));
      if (!label) continue;
      for (const TermId predicate : predicates_) {
        std::vector<Triple> facts;
        ASKBASE_TRY(
            view_.match({.subject = {}, .predicate = predicate, .object = *label}, [&](const Triple& fact) {
              facts.push_back(fact);
              return facts.size() < most_homonyms;
            }));
        for (const Triple& fact : facts) ASKBASE_TRY(consider(fact, target));
        if (target.ambiguous) return {};
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t most_homonyms = 64;

  base::Status consider(const Triple& fact, Target& target) const {
    if (!leaving_.empty()) {
      ASKBASE_ASSIGN(const auto origins, view_.origins(fact));
      const bool leaves = std::all_of(origins.begin(), origins.end(),
                                      [&](const Origin& origin) { return leaving_.contains(origin.source); });
      if (leaves) return {};
    }
    ASKBASE_ASSIGN(const Term subject, view_.term(fact.subject));
    // Predicates and classes have labels, too, and are not what a value means.
    if (subject.kind != TermKind::iri || subject.value.starts_with(iri::predicate_prefix) ||
        subject.value.starts_with(class_prefix)) {
      return {};
    }
    target.found(subject.value);
    return {};
  }

  const View& view_;
  const std::set<std::string>& replaced_;
  std::vector<TermId> predicates_;
  std::set<SourceId> leaving_;
};

void set_links(TablePlan& plan, const std::vector<std::uint64_t>& own, const Targets& targets) {
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (!may_link(plan, i)) continue;
    TableColumn& column = plan.columns[i];
    // A second column of the rows' own names says nothing of other things.
    if (2 * own[i] > column.profile.filled()) continue;
    TextMap<std::string> links;
    for (const auto& [value, count] : column.profile.values()) {
      const auto target = targets.find(value);
      if (target == targets.end() || target->second.iri.empty() || target->second.ambiguous) continue;
      links.emplace(value, target->second.iri);
    }
    if (links.empty() || 2 * links.size() <= column.profile.distinct()) continue;
    column.links = std::move(links);
    column.type = ColumnType::entity;
  }
}

}  // namespace

base::Status link_values(const std::vector<PlannedTable>& tables, const View* view,
                         const std::set<std::string>& replaced) {
  Targets targets;
  for (const PlannedTable& table : tables) {
    for (std::size_t i = 0; i < table.plan->columns.size(); ++i) {
      if (!may_link(*table.plan, i)) continue;
      for (const auto& [value, count] : table.plan->columns[i].profile.values()) targets.try_emplace(value);
    }
  }
  if (targets.empty()) return {};
  std::vector<std::vector<std::uint64_t>> own;
  for (const PlannedTable& table : tables) {
    own.emplace_back(table.plan->columns.size());
    ASKBASE_TRY(match_rows(table, targets, own.back()));
  }
  if (view != nullptr && view->facts() > 0) {
    KnownNames known(*view, replaced);
    ASKBASE_TRY(known.open());
    std::uint64_t looked_at = 0;
    for (auto& [name, target] : targets) {
      if (++looked_at % kInterruptEvery == 0) ASKBASE_TRY(base::check_interrupt());
      if (!target.ambiguous) ASKBASE_TRY(known.find(name, target));
    }
  }
  for (std::size_t i = 0; i < tables.size(); ++i) set_links(*tables[i].plan, own[i], targets);
  return {};
}

std::string describe_links(const TablePlan& plan) {
  std::vector<std::string> all;
  for (const TableColumn& column : plan.columns) {
    for (const auto& [value, iri] : column.links) all.push_back(column.header + '\0' + value + '\0' + iri);
  }
  std::sort(all.begin(), all.end());
  std::string out;
  for (const std::string& link : all) out += link + '\n';
  return out;
}

}  // namespace askbase::kb
