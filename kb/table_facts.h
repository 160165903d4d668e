// Writes the facts of a table that has a plan (kb/table_plan.h), and finds the values that name entities
// known elsewhere. docs/loading.md describes what comes out.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kb/fact_sink.h"
#include "kb/hash_set.h"
#include "kb/store.h"
#include "kb/table_plan.h"

namespace askbase::kb {

// The IRIs of a table's rows, asked for in the order of the rows. Rows with equal names stay apart: the
// second gets "-2" at its end, and so on.
class RowNamer {
 public:
  explicit RowNamer(const TableSource& source) : source_(source) {}
  std::string next(const TableRows& row, const TablePlan& plan);

 private:
  const TableSource& source_;
  HashSet seen_;
  std::unordered_map<std::uint64_t, std::uint64_t> repeated_;
};

struct PlannedTable {
  const TableSource* source = nullptr;
  TablePlan* plan = nullptr;
};

// Looks for the tables' values among the names of their rows and the labels that the KB has (view may be
// null), and sets the columns' links where most values name one entity each. Facts whose sources are all in
// `replaced` are on their way out and count for nothing. Errors: corrupt, io, cancelled.
base::Status link_values(const std::vector<PlannedTable>& tables, const View* view,
                         const std::set<std::string>& replaced);

// A text that is equal when link_values() found the same, for telling whether a load would change anything.
std::string describe_links(const TablePlan& plan);

// progress: called now and then with the input's raw position. Errors: what the sink and the input say.
base::Status write_table(const TableSource& source, const TablePlan& plan, FactSink& sink,
                         const std::function<void(std::uint64_t)>& progress);

}  // namespace askbase::kb
