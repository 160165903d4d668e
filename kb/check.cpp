#include "kb/check.h"

#include <map>
#include <set>
#include <unordered_set>

#include "base/interrupt.h"
#include "kb/dictionary.h"
#include "kb/encoding.h"
#include "kb/records.h"
#include "kb/update_facts.h"

namespace askbase::kb {

namespace {

constexpr std::uint64_t poll_every = 1 << 16;

class Checker {
 public:
  Checker(const View& view, CheckReport& report)
      : view_(view), snapshot_(view.snapshot()), report_(report), problems_(report) {}

  base::Status facts();
  base::Status orders();
  base::Status sources();
  base::Status terms();

 private:
  std::string show(TermId id) const {
    const auto term = view_.term(id);
    return term ? to_ntriples(*term) : "id " + std::to_string(id.bits);
  }
  std::string show(const Triple& triple) const {
    return show(triple.subject) + ' ' + show(triple.predicate) + ' ' + show(triple.object);
  }
  void need_term(AscendingCursor& terms, TermId id, std::string_view place);
  base::Status order(Order order, Table table);
  base::Status compare_order(Order order, Table table);
  base::Status compare_source(const Source& source);
  base::Status compare_terms();

  const View& view_;
  const Snapshot& snapshot_;
  CheckReport& report_;
  Problems problems_;
  Tally facts_;
  std::map<SourceId, Tally> by_fact_;  // what the spo table says of each source
  Tally term_pairs_, id_pairs_;
};

// Asked with ascending ids.
void Checker::need_term(AscendingCursor& terms, TermId id, std::string_view place) {
  if (!in_dictionary(id)) return;
  std::string key;
  append_id(key, id);
  if (!terms.find(key))
    problems_.add("id " + std::to_string(id.bits) + " is the " + std::string(place) +
                  " of facts, but has no term");
}

base::Status Checker::facts() {
  const auto cursor = snapshot_.cursor(Table::spo, {});
  AscendingCursor terms(snapshot_, Table::terms, {});
  std::vector<SourceId> sources;
  TermId subject;
  Triple triple;
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (facts_.count() % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
    facts_.add(cursor->key());
    if (!read_key(cursor->key(), Order::spo, triple)) {
      problems_.add("table spo: a key cannot be read");
      continue;
    }
    if (triple.subject != subject) need_term(terms, subject = triple.subject, "subject");
    if (id_type(triple.subject) > IdType::blank || id_type(triple.predicate) != IdType::iri)
      problems_.add("not a fact: " + show(triple));
    if (!read_sources(cursor->value(), sources))
      problems_.add("the sources of a fact cannot be read: " + show(triple));
    for (const SourceId source : sources) by_fact_[source].add(cursor->key());
  }
  report_.facts = facts_.count();
  if (view_.facts() != facts_.count())
    problems_.add("the KB counts " + std::to_string(view_.facts()) + " facts, table spo holds " +
                  std::to_string(facts_.count()));
  ASKBASE_TRY(terms.at().status());
  return cursor->status();
}

base::Status Checker::orders() {
  ASKBASE_TRY(order(Order::pos, Table::pos));
  return order(Order::osp, Table::osp);
}

base::Status Checker::order(Order order, Table table) {
  const auto cursor = snapshot_.cursor(table, {});
  AscendingCursor terms(snapshot_, Table::terms, {});
  Tally tally;
  Triple triple;
  TermId first;  // the key's first place: predicate or object
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (tally.count() % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
    if (!read_key(cursor->key(), order, triple)) {
      problems_.add("table " + std::string(table_name(table)) + ": a key cannot be read");
      tally.add(cursor->key());
      continue;
    }
    tally.add(FactKey(Order::spo, triple).view());
    const bool by_predicate = order == Order::pos;
    const TermId place = by_predicate ? triple.predicate : triple.object;
    if (place != first) need_term(terms, first = place, by_predicate ? "predicate" : "object");
  }
  ASKBASE_TRY(cursor->status());
  return tally == facts_ ? base::Status() : compare_order(order, table);
}

// Names the facts that one table has and the other has not.
base::Status Checker::compare_order(Order order, Table table) {
  std::string value;
  const auto one_way = [&](Order from, Table from_table, Order to, Table to_table) -> base::Status {
    const auto cursor = snapshot_.cursor(from_table, {});
    const std::size_t limit = problems_.count() + 10;
    Triple triple;
    for (cursor->seek({}); cursor->valid() && problems_.count() < limit; cursor->next()) {
      if (!read_key(cursor->key(), from, triple)) continue;
      ASKBASE_ASSIGN(const bool found, snapshot_.get(to_table, FactKey(to, triple).view(), value));
      if (!found)
        problems_.add("table " + std::string(table_name(from_table)) + " holds a fact that table " +
                      std::string(table_name(to_table)) + " does not: " + show(triple));
    }
    return cursor->status();
  };
  ASKBASE_TRY(one_way(Order::spo, Table::spo, order, table));
  return one_way(order, table, Order::spo, Table::spo);
}

base::Status Checker::sources() {
  ASKBASE_ASSIGN(const std::vector<Source> sources, view_.sources());
  std::map<SourceId, Tally> by_source;
  const auto cursor = snapshot_.cursor(Table::by_source, {});
  std::uint64_t visited = 0, row = 0;
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (visited++ % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
    std::string_view key = cursor->key(), value = cursor->value();
    SourceId id = 0;
    if (!read_source_key(key.substr(0, 4), id) || !read_varint(value, row) || !value.empty())
      problems_.add("table by_source: an entry cannot be read");
    else
      by_source[id].add(key.substr(4));
  }
  ASKBASE_TRY(cursor->status());
  for (const Source& source : sources) {
    const Tally facts = by_fact_[source.id], rows = by_source[source.id];
    if (source.facts != rows.count())
      problems_.add("source " + source.name + " counts " + std::to_string(source.facts) +
                    " facts, table by_source holds " + std::to_string(rows.count()));
    if (facts != rows) ASKBASE_TRY(compare_source(source));
    const auto named = view_.source(source.name);
    if (!named || !*named || (*named)->id != source.id)
      problems_.add("source " + source.name + " is not found by its name");
    by_fact_.erase(source.id);
    by_source.erase(source.id);
  }
  for (const auto& [id, tally] : by_fact_)
    problems_.add(std::to_string(tally.count()) + " facts come from source " + std::to_string(id) +
                  ", which has no record");
  for (const auto& [id, tally] : by_source)
    problems_.add("table by_source holds " + std::to_string(tally.count()) + " facts of source " +
                  std::to_string(id) + ", which has no record");
  const std::string name_prefix = source_name_key("");
  const auto names = snapshot_.cursor(Table::sources, name_prefix);
  std::uint64_t named = 0;
  for (names->seek(name_prefix); names->valid(); names->next()) ++named;
  if (named != sources.size())
    problems_.add("table sources holds " + std::to_string(sources.size()) + " records and " +
                  std::to_string(named) + " names");
  return names->status();
}

base::Status Checker::compare_source(const Source& source) {
  const std::size_t limit = problems_.count() + 10;
  const std::string prefix = source_key(source.id);
  std::vector<SourceId> listed;
  std::string value;
  Triple triple;
  const auto rows = snapshot_.cursor(Table::by_source, prefix);
  for (rows->seek(prefix); rows->valid() && problems_.count() < limit; rows->next()) {
    const std::string_view key = rows->key().substr(prefix.size());
    ASKBASE_ASSIGN(const bool found, snapshot_.get(Table::spo, key, value));
    const bool lists = found && read_sources(value, listed) &&
                       std::find(listed.begin(), listed.end(), source.id) != listed.end();
    if (!lists && read_key(key, Order::spo, triple))
      problems_.add("source " + source.name + " has a fact that does not name it: " + show(triple));
  }
  ASKBASE_TRY(rows->status());
  const auto facts = snapshot_.cursor(Table::spo, {});
  for (facts->seek({}); facts->valid() && problems_.count() < limit; facts->next()) {
    if (!read_sources(facts->value(), listed) ||
        std::find(listed.begin(), listed.end(), source.id) == listed.end())
      continue;
    std::string key = prefix;
    key += facts->key();
    ASKBASE_ASSIGN(const bool found, snapshot_.get(Table::by_source, key, value));
    if (!found && read_key(facts->key(), Order::spo, triple))
      problems_.add("a fact names source " + source.name + ", which does not have it: " + show(triple));
  }
  return facts->status();
}

base::Status Checker::terms() {
  ASKBASE_ASSIGN(const std::uint64_t next, read_counter(snapshot_, counter::next_term));
  const auto terms = snapshot_.cursor(Table::terms, {});
  Term term;
  std::string id_bytes;
  for (terms->seek({}); terms->valid(); terms->next()) {
    if (report_.terms++ % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
    std::string_view key = terms->key();
    TermId id;
    if (!read_id(key, id) || !key.empty() || !decode_term(terms->value(), term))
      problems_.add("table terms: an entry cannot be read");
    else if (!in_dictionary(id) || id_type(id) != dictionary_type(term) || pack_literal(term))
      problems_.add("the term " + to_ntriples(term) + " has an id of the wrong kind");
    else if (id_payload(id) >= next)
      problems_.add("the term " + to_ntriples(term) + " has a number that is not yet given out");
    term_pairs_.add(dictionary_key(terms->value()), terms->key());
  }
  ASKBASE_TRY(terms->status());
  const auto ids = snapshot_.cursor(Table::ids, {});
  std::vector<TermId> listed;
  for (ids->seek({}); ids->valid(); ids->next()) {
    if (!read_ids(ids->value(), listed)) problems_.add("table ids: an entry cannot be read");
    for (const TermId id : listed) {
      id_bytes.clear();
      append_id(id_bytes, id);
      id_pairs_.add(ids->key(), id_bytes);
    }
  }
  ASKBASE_TRY(ids->status());
  return term_pairs_ == id_pairs_ ? base::Status() : compare_terms();
}

base::Status Checker::compare_terms() {
  const std::size_t limit = problems_.count() + 10;
  const auto terms = snapshot_.cursor(Table::terms, {});
  for (terms->seek({}); terms->valid() && problems_.count() < limit; terms->next()) {
    std::string_view key = terms->key();
    TermId id;
    ASKBASE_ASSIGN(const auto found, find_stored_term(snapshot_, terms->value()));
    if (read_id(key, id) && found != id)
      problems_.add("term " + show(id) + " has the id " + std::to_string(id.bits) + ", but table ids says " +
                    (found ? std::to_string(found->bits) : "none"));
  }
  ASKBASE_TRY(terms->status());
  const auto ids = snapshot_.cursor(Table::ids, {});
  std::vector<TermId> listed;
  std::string bytes;
  for (ids->seek({}); ids->valid() && problems_.count() < limit; ids->next()) {
    if (!read_ids(ids->value(), listed)) continue;
    for (const TermId id : listed) {
      ASKBASE_ASSIGN(const bool found, read_stored_term(snapshot_, id, bytes));
      if (!found || dictionary_key(bytes) != ids->key())
        problems_.add("table ids gives the id " + std::to_string(id.bits) + ", whose term " +
                      (found ? "is another" : "is missing"));
    }
  }
  return ids->status();
}

}  // namespace

base::Result<CheckReport> check(const Store& store) {
  CheckReport report;
  Problems problems(report);
  ASKBASE_ASSIGN(const auto view, store.view());
  Checker checker(*view, report);
  // A table that cannot be read is a problem to report; the others are still looked at.
  const auto look = [&](base::Status status) -> base::Status {
    if (status) return {};
    if (status.error().code != base::ErrorCode::corrupt) return status;
    problems.add(status.error().message);
    return {};
  };
  ASKBASE_TRY(look(store.storage().verify_checksums()));
  ASKBASE_TRY(look(checker.facts()));
  ASKBASE_TRY(look(checker.orders()));
  ASKBASE_TRY(look(checker.sources()));
  ASKBASE_TRY(look(checker.terms()));
  ASKBASE_TRY(look(check_names(*view, report)));
  return report;
}

}  // namespace askbase::kb
