// The facts of one commit: compares what was gathered with what the KB has, and writes the tables by_source,
// spo, pos and osp. Everything streams in key order; what must be put into another order goes through a
// Sorter. For the .cpp files of kb/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/encoding.h"
#include "kb/sorter.h"
#include "kb/storage.h"
#include "kb/store.h"

namespace askbase::kb {

// A fact of a source, as gathered. Ordered by source, fact, row.
struct SourceFact {
  Triple triple;
  std::uint64_t source_and_row = 0;

  static constexpr int row_bits = 36;  // rows above are kept as unknown; sources have 28 bits
  static std::uint64_t pack(SourceId source, std::uint64_t row) {
    return static_cast<std::uint64_t>(source) << row_bits | (row >> row_bits != 0 ? 0 : row);
  }
  SourceId source() const { return static_cast<SourceId>(source_and_row >> row_bits); }
  std::uint64_t row() const { return source_and_row & ((std::uint64_t{1} << row_bits) - 1); }
};
struct SourceFactOrder {
  using Record = SourceFact;
  static constexpr unsigned words = 5;
  static std::uint64_t word(const SourceFact& fact, unsigned i) {
    switch (i) {
      case 0:
        return fact.source();
      case 1:
        return fact.triple.subject.bits;
      case 2:
        return fact.triple.predicate.bits;
      case 3:
        return fact.triple.object.bits;
      default:
        return fact.row();
    }
  }
};
using SourceFacts = Sorter<SourceFactOrder>;

// A fact put into, or erased from, one of the orders pos and osp: its ids in that order. The last one is a
// subject or predicate, whose highest bit is always 0: it is shifted, and the lowest bit is 1 for an erased
// fact.
struct OrderedFact {
  std::uint64_t words[3];
};
struct OrderedFactOrder {
  using Record = OrderedFact;
  static constexpr unsigned words = 3;
  static std::uint64_t word(const OrderedFact& fact, unsigned i) { return fact.words[i]; }
};

// A fact that a source gains or loses. Ordered by fact, source.
struct FactChange {
  Triple triple;
  std::uint64_t source_and_erased = 0;
};
struct FactChangeOrder {
  using Record = FactChange;
  static constexpr unsigned words = 4;
  static std::uint64_t word(const FactChange& change, unsigned i) {
    switch (i) {
      case 0:
        return change.triple.subject.bits;
      case 1:
        return change.triple.predicate.bits;
      case 2:
        return change.triple.object.bits;
      default:
        return change.source_and_erased;
    }
  }
};

// A cursor that is asked for ascending keys: near ones are walked to, far ones sought.
class AscendingCursor {
 public:
  AscendingCursor(const Snapshot& snapshot, Table table, std::string_view prefix)
      : cursor_(snapshot.cursor(table, prefix)) {}
  // Moves to the first key >= wanted and says whether it is that key.
  bool find(std::string_view wanted);
  bool find_prefix(std::string_view prefix);
  Cursor& at() { return *cursor_; }

 private:
  void move(std::string_view wanted);
  std::unique_ptr<Cursor> cursor_;
  bool placed_ = false;
};

struct SourceTotals {
  bool clear = false;  // facts that are not added again go
  std::uint64_t added = 0, removed = 0;
};

// How often an IRI became, or ceased to be, the subject or object of facts in the KB.
struct Use {
  TermId id;
  std::uint32_t added = 0, removed = 0;
};

// Told of every fact that enters or leaves the KB, in spo order.
class FactListener {
 public:
  virtual ~FactListener() = default;
  virtual base::Status changed(const Triple& triple, bool added) = 0;
};

class FactCommit {
 public:
  struct Options {
    bool fresh = false;  // the KB has no facts: nothing needs to be read
    std::size_t memory_bytes = 0, threads = 1;
    std::function<base::Result<std::filesystem::path>()> temporary_folder;
    std::function<void(std::string_view phase, double share)> progress;
  };
  FactCommit(const Snapshot& before, Write& write, FactListener& listener, Options options);

  // sources: those to clear, and every one that has additions or removals.
  base::Status run(SourceFacts& additions, SourceFacts& removals, std::map<SourceId, SourceTotals>& sources);

  std::uint64_t added() const { return added_; }
  std::uint64_t removed() const { return removed_; }
  bool wrote() const { return wrote_; }
  // IRIs as objects, ascending.
  const std::vector<Use>& object_uses() const { return object_uses_; }

 private:
  struct Stream;
  base::Status clear_source(SourceId id, SourceTotals& totals, Stream& additions, Stream& removals);
  base::Status amend_source(SourceId id, SourceTotals& totals, Stream& additions, Stream& removals);
  base::Status put_source_fact(SourceId id, const Triple& triple, std::uint64_t row);
  base::Status erase_source_fact(SourceId id, const Triple& triple);
  base::Status change(SourceId source, const Triple& triple, bool erased);
  base::Status apply(const FactChange& change);
  base::Status finish_triple();
  base::Status write_orders();
  base::Status write_order(Order order, bool report);
  base::Status tick();

  const Snapshot& before_;
  Write& write_;
  FactListener& listener_;
  Options options_;

  std::optional<Sorter<FactChangeOrder>> changes_;  // only when several sources change
  std::optional<AscendingCursor> spo_;
  Sorter<OrderedFactOrder> pos_, osp_;

  // The fact whose changes are being gathered.
  std::optional<Triple> current_;
  std::vector<SourceId> gained_, lost_, sources_, result_;

  std::string key_, value_;
  std::uint64_t added_ = 0, removed_ = 0, done_ = 0, expected_ = 1;
  bool wrote_ = false;
  std::vector<Use> object_uses_;
};

}  // namespace askbase::kb
