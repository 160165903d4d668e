#include "kb/update_facts.h"

#include <algorithm>
#include <future>

#include "base/interrupt.h"
#include "kb/records.h"

namespace askbase::kb {

namespace {

constexpr std::uint64_t report_every = 1 << 16;

OrderedFact ordered(Order order, const Triple& triple, bool erased) {
  const auto last = [&](TermId id) { return id.bits << 1 | (erased ? 1 : 0); };
  if (order == Order::pos) return {{triple.predicate.bits, triple.object.bits, last(triple.subject)}};
  return {{triple.object.bits, triple.subject.bits, last(triple.predicate)}};
}

Triple triple_of(Order order, const OrderedFact& fact, bool& erased) {
  erased = (fact.words[2] & 1) != 0;
  const TermId last{fact.words[2] >> 1};
  if (order == Order::pos) return {last, TermId{fact.words[0]}, TermId{fact.words[1]}};
  return {TermId{fact.words[1]}, last, TermId{fact.words[0]}};
}

}  // namespace

void AscendingCursor::move(std::string_view wanted) {
  constexpr int steps_before_seek = 8;
  if (placed_) {
    for (int i = 0; i < steps_before_seek; ++i) {
      if (!cursor_->valid() || cursor_->key() >= wanted) return;
      cursor_->next();
    }
    if (!cursor_->valid() || cursor_->key() >= wanted) return;
  }
  cursor_->seek(wanted);
  placed_ = true;
}

bool AscendingCursor::find(std::string_view wanted) {
  move(wanted);
  return cursor_->valid() && cursor_->key() == wanted;
}

bool AscendingCursor::find_prefix(std::string_view prefix) {
  move(prefix);
  return cursor_->valid() && cursor_->key().starts_with(prefix);
}

// A Sorter seen one fact ahead. Of facts that differ in their row only, the first counts.
struct FactCommit::Stream {
  explicit Stream(SourceFacts& facts_in) : facts(facts_in) { valid = facts.next(fact); }
  bool of(SourceId source) const { return valid && fact.source() == source; }
  void advance() {
    const SourceFact last = fact;
    do {
      valid = facts.next(fact);
    } while (valid && fact.triple == last.triple && fact.source() == last.source());
  }
  SourceFacts& facts;
  SourceFact fact;
  bool valid = false;
};

FactCommit::FactCommit(const Snapshot& before, Write& write, FactListener& listener, Options options)
    : before_(before),
      write_(write),
      listener_(listener),
      options_(std::move(options)),
      pos_(options_.memory_bytes / 2, 1, options_.temporary_folder),
      osp_(options_.memory_bytes / 2, 1, options_.temporary_folder) {
  if (!options_.fresh) spo_.emplace(before_, Table::spo, std::string_view());
}

base::Status FactCommit::run(SourceFacts& additions, SourceFacts& removals,
                             std::map<SourceId, SourceTotals>& sources) {
  expected_ = std::max<std::uint64_t>(1, additions.size() + removals.size());
  if (options_.progress) options_.progress("sorting", 0);
  ASKBASE_TRY(additions.finish());
  ASKBASE_TRY(removals.finish());
  // The facts of a single source come in spo order already.
  if (sources.size() > 1)
    changes_.emplace(options_.memory_bytes, options_.threads, options_.temporary_folder);

  Stream adding(additions), removing(removals);
  for (auto& [id, totals] : sources)
    ASKBASE_TRY(totals.clear ? clear_source(id, totals, adding, removing)
                             : amend_source(id, totals, adding, removing));
  ASKBASE_TRY(additions.status());
  ASKBASE_TRY(removals.status());

  if (changes_) {
    ASKBASE_TRY(changes_->finish());
    FactChange change;
    while (changes_->next(change)) ASKBASE_TRY(apply(change));
    ASKBASE_TRY(changes_->status());
    changes_.reset();
  }
  ASKBASE_TRY(finish_triple());
  if (spo_) ASKBASE_TRY(spo_->at().status());
  return write_orders();
}

// The source's stored facts and the added ones, merged.
base::Status FactCommit::clear_source(SourceId id, SourceTotals& totals, Stream& additions,
                                      Stream& removals) {
  while (removals.of(id)) removals.advance();  // all go that are not added
  const std::string prefix = source_key(id);
  std::unique_ptr<Cursor> stored;
  Triple old;
  const auto read_old = [&]() -> base::Result<bool> {
    if (!stored || !stored->valid()) return false;
    if (!read_key(stored->key().substr(prefix.size()), Order::spo, old))
      return tl::unexpected(damaged(Table::by_source, "a key cannot be read"));
    return true;
  };
  if (!options_.fresh) {
    stored = before_.cursor(Table::by_source, prefix);
    stored->seek(prefix);
  }
  ASKBASE_ASSIGN(bool has_old, read_old());
  while (has_old || additions.of(id)) {
    ASKBASE_TRY(tick());
    const bool adds = additions.of(id) && (!has_old || additions.fact.triple <= old);
    const bool keeps = adds && has_old && additions.fact.triple == old;
    if (keeps) {
      std::string_view value = stored->value();
      std::uint64_t row = 0;
      if (!read_varint(value, row)) return tl::unexpected(damaged(Table::by_source, "a row cannot be read"));
      if (row != additions.fact.row()) ASKBASE_TRY(put_source_fact(id, old, additions.fact.row()));
    } else if (adds) {
      ASKBASE_TRY(put_source_fact(id, additions.fact.triple, additions.fact.row()));
      ASKBASE_TRY(change(id, additions.fact.triple, false));
      ++totals.added;
    } else {
      ASKBASE_TRY(erase_source_fact(id, old));
      ASKBASE_TRY(change(id, old, true));
      ++totals.removed;
    }
    if (adds) additions.advance();
    if (!adds || keeps) {
      stored->next();
      ASKBASE_ASSIGN(has_old, read_old());
    }
  }
  return stored ? stored->status() : base::Status();
}

// Only the facts that are named, looked up one by one in key order.
base::Status FactCommit::amend_source(SourceId id, SourceTotals& totals, Stream& additions,
                                      Stream& removals) {
  std::optional<AscendingCursor> stored;
  if (!options_.fresh) stored.emplace(before_, Table::by_source, source_key(id));
  while (additions.of(id) || removals.of(id)) {
    ASKBASE_TRY(tick());
    const bool adds = additions.of(id) && (!removals.of(id) || additions.fact.triple <= removals.fact.triple);
    const SourceFact fact = adds ? additions.fact : removals.fact;
    if (removals.of(id) && removals.fact.triple == fact.triple) removals.advance();
    if (adds) additions.advance();
    key_.clear();
    append_source_fact(key_, id, fact.triple);
    const bool has = stored && stored->find(key_);
    if (adds && !has) {
      ASKBASE_TRY(put_source_fact(id, fact.triple, fact.row()));
      ASKBASE_TRY(change(id, fact.triple, false));
      ++totals.added;
    } else if (!adds && has) {
      ASKBASE_TRY(erase_source_fact(id, fact.triple));
      ASKBASE_TRY(change(id, fact.triple, true));
      ++totals.removed;
    }
  }
  return stored ? stored->at().status() : base::Status();
}

base::Status FactCommit::put_source_fact(SourceId id, const Triple& triple, std::uint64_t row) {
  wrote_ = true;
  key_.clear();
  append_source_fact(key_, id, triple);
  value_.clear();
  append_varint(value_, row);
  return write_.put(Table::by_source, key_, value_);
}

base::Status FactCommit::erase_source_fact(SourceId id, const Triple& triple) {
  wrote_ = true;
  key_.clear();
  append_source_fact(key_, id, triple);
  return write_.erase(Table::by_source, key_);
}

base::Status FactCommit::change(SourceId source, const Triple& triple, bool erased) {
  const FactChange change{triple, static_cast<std::uint64_t>(source) << 1 | (erased ? 1 : 0)};
  return changes_ ? changes_->add(change) : apply(change);
}

base::Status FactCommit::apply(const FactChange& change) {
  if (current_ != change.triple) {
    ASKBASE_TRY(finish_triple());
    current_ = change.triple;
  }
  const auto source = static_cast<SourceId>(change.source_and_erased >> 1);
  ((change.source_and_erased & 1) != 0 ? lost_ : gained_).push_back(source);
  return {};
}

// Writes the fact's new list of sources; the other orders follow when it enters or leaves the KB.
base::Status FactCommit::finish_triple() {
  if (!current_) return {};
  const Triple triple = *current_;
  current_.reset();
  const FactKey key(Order::spo, triple);
  sources_.clear();
  if (spo_ && spo_->find(key.view()) && !read_sources(spo_->at().value(), sources_))
    return tl::unexpected(damaged(Table::spo, "a list of sources cannot be read"));
  result_.clear();
  std::set_difference(sources_.begin(), sources_.end(), lost_.begin(), lost_.end(),
                      std::back_inserter(result_));
  const bool was = !sources_.empty();
  sources_.clear();
  std::set_union(result_.begin(), result_.end(), gained_.begin(), gained_.end(),
                 std::back_inserter(sources_));
  lost_.clear();
  gained_.clear();
  const bool is = !sources_.empty();
  if (is) {
    value_.clear();
    append_sources(value_, sources_);
    ASKBASE_TRY(write_.put(Table::spo, key.view(), value_));
  } else if (was) {
    ASKBASE_TRY(write_.erase(Table::spo, key.view()));
  }
  if (was == is) return {};
  ++(is ? added_ : removed_);
  ASKBASE_TRY(pos_.add(ordered(Order::pos, triple, !is)));
  ASKBASE_TRY(osp_.add(ordered(Order::osp, triple, !is)));
  return listener_.changed(triple, is);
}

base::Status FactCommit::write_orders() {
  auto pos = std::async(options_.threads > 1 ? std::launch::async : std::launch::deferred,
                        [this] { return write_order(Order::pos, false); });
  const base::Status osp = write_order(Order::osp, true);
  ASKBASE_TRY(pos.get());
  return osp;
}

base::Status FactCommit::write_order(Order order, bool report) {
  Sorter<OrderedFactOrder>& facts = order == Order::pos ? pos_ : osp_;
  const Table table = order == Order::pos ? Table::pos : Table::osp;
  ASKBASE_TRY(facts.finish());
  OrderedFact fact;
  for (std::uint64_t i = 0; facts.next(fact); ++i) {
    bool erased = false;
    const Triple triple = triple_of(order, fact, erased);
    const FactKey key(order, triple);
    ASKBASE_TRY(erased ? write_.erase(table, key.view()) : write_.put(table, key.view(), {}));
    if (order == Order::osp && id_type(triple.object) == IdType::iri) {
      if (object_uses_.empty() || object_uses_.back().id != triple.object)
        object_uses_.push_back({triple.object, 0, 0});
      ++(erased ? object_uses_.back().removed : object_uses_.back().added);
    }
    if (i % report_every == 0) {
      ASKBASE_TRY(base::check_interrupt());
      if (report && options_.progress)
        options_.progress("writing", 0.5 + 0.5 * static_cast<double>(i) / static_cast<double>(facts.size()));
    }
  }
  return facts.status();
}

base::Status FactCommit::tick() {
  if (done_++ % report_every != 0) return {};
  ASKBASE_TRY(base::check_interrupt());
  if (options_.progress)
    options_.progress("writing",
                      0.5 * std::min(1.0, static_cast<double>(done_) / static_cast<double>(expected_)));
  return {};
}

}  // namespace askbase::kb
