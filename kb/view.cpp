#include <array>

#include "kb/dictionary.h"
#include "kb/encoding.h"
#include "kb/records.h"
#include "kb/store.h"
#include "kb/subject_cache.h"

namespace askbase::kb {

namespace {

Table table_of(Order order) {
  switch (order) {
    case Order::spo:
      return Table::spo;
    case Order::pos:
      return Table::pos;
    case Order::osp:
      break;
  }
  return Table::osp;
}

// What follows the subject in a key of the spo table.
std::string_view without_first_id(std::string_view key) {
  return key.substr(1 + (static_cast<unsigned char>(key.front()) & 15U));
}

}  // namespace

View::View(std::shared_ptr<const Snapshot> snapshot, std::size_t cache_bytes)
    : snapshot_(std::move(snapshot)) {
  // Store::view() has seen that the counters can be read.
  facts_ = read_counter(*snapshot_, counter::facts).value_or(0);
  version_ = read_counter(*snapshot_, counter::version).value_or(0);
  if (cache_bytes > 0) cache_ = std::make_unique<SubjectCache>(cache_bytes);
}

View::~View() = default;

base::Result<std::optional<TermId>> View::find(const Term& term) const {
  if (const auto packed = pack_literal(term)) return packed;
  return find_stored_term(*snapshot_, encode_term(term));
}

base::Result<Term> View::term(TermId id) const {
  if (id && !in_dictionary(id)) return unpack_literal(id);
  std::string bytes;
  ASKBASE_ASSIGN(const bool found, read_stored_term(*snapshot_, id, bytes));
  if (!found) return base::fail(base::ErrorCode::not_found, "no term has the id " + std::to_string(id.bits));
  Term term;
  if (!decode_term(bytes, term)) return tl::unexpected(damaged(Table::terms, "an entry cannot be read"));
  return term;
}

base::Result<bool> View::contains(const Triple& triple) const {
  const FactKey key(Order::spo, triple);
  if (cache_) {
    const SubjectCache::Answer answer = cache_->contains(triple.subject, without_first_id(key.view()));
    if (answer == SubjectCache::Answer::yes) return true;
    if (answer == SubjectCache::Answer::no) return false;
    std::string ignored;
    ASKBASE_ASSIGN(const bool found, snapshot_->get(Table::spo, key.view(), ignored));
    // (What is not there costs little: a filter knows.)
    if (found && answer == SubjectCache::Answer::unknown && cache_->admits(triple.subject)) {
      std::string facts;
      ASKBASE_TRY(read_subject(triple.subject, facts));
    }
    return found;
  }
  std::string ignored;
  return snapshot_->get(Table::spo, key.view(), ignored);
}

base::Result<bool> View::read_subject(TermId subject, std::string& facts) const {
  std::string prefix;
  append_id(prefix, subject);
  const std::unique_ptr<Cursor> cursor = snapshot_->cursor(Table::spo, prefix);
  for (cursor->seek(prefix); cursor->valid() && facts.size() <= SubjectCache::max_bytes; cursor->next()) {
    Triple triple;
    if (!read_key(cursor->key(), Order::spo, triple))
      return tl::unexpected(damaged(Table::spo, "a key cannot be read"));
    facts += cursor->key().substr(prefix.size());
  }
  ASKBASE_TRY(cursor->status());
  cache_->insert(subject, facts);
  return facts.size() <= SubjectCache::max_bytes;
}

base::Status View::match(const Pattern& pattern, const std::function<bool(const Triple&)>& visitor) const {
  if (!pattern.subject) return match_stored(pattern, visitor);
  if (pattern.predicate && pattern.object) {
    const Triple triple{*pattern.subject, *pattern.predicate, *pattern.object};
    ASKBASE_ASSIGN(const bool found, contains(triple));
    if (found) visitor(triple);
    return {};
  }
  if (!cache_) return match_stored(pattern, visitor);
  std::string facts;
  SubjectCache::Answer answer = cache_->copy(*pattern.subject, facts);
  if (answer == SubjectCache::Answer::unknown && cache_->admits(*pattern.subject)) {
    ASKBASE_ASSIGN(const bool complete, read_subject(*pattern.subject, facts));
    answer = complete ? SubjectCache::Answer::yes : SubjectCache::Answer::large;
  }
  if (answer != SubjectCache::Answer::yes) return match_stored(pattern, visitor);
  Triple triple{*pattern.subject, {}, {}};
  for (std::string_view rest = facts; read_id(rest, triple.predicate) && read_id(rest, triple.object);) {
    if (pattern.predicate && *pattern.predicate != triple.predicate) continue;
    if (pattern.object && *pattern.object != triple.object) continue;
    if (!visitor(triple)) break;
  }
  return {};
}

base::Status View::match_stored(const Pattern& pattern,
                                const std::function<bool(const Triple&)>& visitor) const {
  std::string prefix;
  const Order order = scan_prefix(pattern, prefix);
  const std::unique_ptr<Cursor> cursor = snapshot_->cursor(table_of(order), prefix);
  Triple triple;
  for (cursor->seek(prefix); cursor->valid(); cursor->next()) {
    if (!read_key(cursor->key(), order, triple))
      return tl::unexpected(damaged(table_of(order), "a key cannot be read"));
    if (!visitor(triple)) return {};
  }
  return cursor->status();
}

base::Result<std::uint64_t> View::count(const Pattern& pattern, std::uint64_t limit) const {
  if (!pattern.subject && !pattern.predicate && !pattern.object) return std::min(facts_, limit);
  if (limit == 0) return 0;
  std::uint64_t found = 0;
  ASKBASE_TRY(match(pattern, [&](const Triple&) { return ++found < limit; }));
  return found;
}

base::Result<std::vector<TermId>> View::predicates() const {
  std::vector<TermId> found;
  const std::unique_ptr<Cursor> cursor = snapshot_->cursor(Table::pos, {});
  std::string prefix;
  cursor->seek(prefix);
  while (cursor->valid()) {
    std::string_view key = cursor->key();
    TermId predicate;
    if (!read_id(key, predicate)) return tl::unexpected(damaged(Table::pos, "a key cannot be read"));
    found.push_back(predicate);
    prefix.clear();
    append_id(prefix, predicate);
    cursor->seek(prefix_end(prefix));
  }
  ASKBASE_TRY(cursor->status());
  return found;
}

base::Result<std::vector<Origin>> View::origins(const Triple& triple) const {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot_->get(Table::spo, FactKey(Order::spo, triple).view(), value));
  std::vector<Origin> origins;
  if (!found) return origins;
  std::vector<SourceId> sources;
  if (!read_sources(value, sources))
    return tl::unexpected(damaged(Table::spo, "a list of sources cannot be read"));
  for (const SourceId source : sources) {
    std::string key;
    append_source_fact(key, source, triple);
    ASKBASE_ASSIGN(const bool known, snapshot_->get(Table::by_source, key, value));
    std::string_view in = value;
    Origin origin{source, 0};
    if (!known || !read_varint(in, origin.row))
      return tl::unexpected(damaged(Table::by_source, "a fact's row is missing"));
    origins.push_back(origin);
  }
  return origins;
}

base::Result<std::vector<Source>> View::sources() const {
  std::vector<Source> sources;
  const std::unique_ptr<Cursor> cursor = snapshot_->cursor(Table::sources, {});
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    Source source;
    if (!read_source_key(cursor->key(), source.id)) break;  // names follow the ids
    if (!decode_source(cursor->value(), source))
      return tl::unexpected(damaged(Table::sources, "a record cannot be read"));
    sources.push_back(std::move(source));
  }
  ASKBASE_TRY(cursor->status());
  return sources;
}

base::Result<std::optional<Source>> View::source(SourceId id) const {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot_->get(Table::sources, source_key(id), value));
  if (!found) return std::nullopt;
  Source source;
  source.id = id;
  if (!decode_source(value, source))
    return tl::unexpected(damaged(Table::sources, "a record cannot be read"));
  return source;
}

base::Result<std::optional<Source>> View::source(std::string_view name) const {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot_->get(Table::sources, source_name_key(name), value));
  if (!found) return std::nullopt;
  SourceId id = 0;
  if (!read_source_key(value, id))
    return tl::unexpected(damaged(Table::sources, "a name's id cannot be read"));
  ASKBASE_ASSIGN(auto found_source, source(id));
  if (!found_source) return tl::unexpected(damaged(Table::sources, "a name has no record"));
  return found_source;
}

}  // namespace askbase::kb
