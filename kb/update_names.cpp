#include "kb/update_names.h"

#include <algorithm>

#include "kb/encoding.h"
#include "kb/records.h"

namespace askbase::kb {

NameCommit::NameCommit(const Snapshot& before, const Dictionary& dictionary, bool fresh, std::size_t threads)
    : before_(before), dictionary_(dictionary), fresh_(fresh), names_(before, threads) {}

base::Status NameCommit::open(const LabelPredicates& predicates, const std::set<std::string>& new_aliases) {
  const auto find = [&](const std::string& iri, NameKind kind) -> base::Status {
    ASKBASE_ASSIGN(const auto id, dictionary_.find(Term::iri(iri)));
    if (!id) return {};
    kinds_.emplace(*id, kind);
    if (new_aliases.contains(iri)) new_aliases_.insert(*id);
    return {};
  };
  for (const std::string& iri : predicates.labels) ASKBASE_TRY(find(iri, NameKind::label));
  for (const std::string& iri : predicates.aliases) ASKBASE_TRY(find(iri, NameKind::alias));
  return {};
}

base::Status NameCommit::changed(const Triple& triple, bool added) {
  if (triple.subject != subject_) {
    ASKBASE_TRY(finish_subject());
    subject_ = triple.subject;
  }
  ++(added ? use_.added : use_.removed);
  const auto kind = kinds_.find(triple.predicate);
  if (kind == kinds_.end()) return {};
  labels_.push_back({triple.predicate, triple.object, kind->second, added});
  if (!added && new_aliases_.contains(triple.predicate)) gone_aliases_.insert(triple);
  return {};
}

base::Status NameCommit::finish_subject() {
  if (!subject_) return {};
  if (id_type(subject_) == IdType::iri) {
    use_.id = subject_;
    subject_uses_.push_back(use_);
  }
  for (const LabelChange& label : labels_) {
    ASKBASE_ASSIGN(const auto changed_name, name(subject_, label.object, label.kind));
    if (!changed_name) continue;
    if (label.added) {
      names_.add(*changed_name);
    } else {
      ASKBASE_ASSIGN(const bool given, still_given(label));
      if (!given) names_.remove(*changed_name);
    }
  }
  labels_.clear();
  use_ = {};
  return {};
}

// Another predicate may give the same name. (One that is added now makes NameChanges keep it.)
base::Result<bool> NameCommit::still_given(const LabelChange& gone) const {
  std::string ignored;
  for (const auto& [predicate, kind] : kinds_) {
    if (kind != gone.kind || predicate == gone.predicate) continue;
    // Clang 14 captures no structured bindings by reference.
    const bool goes =
        std::any_of(labels_.begin(), labels_.end(), [&gone, same = predicate](const LabelChange& other) {
          return !other.added && other.predicate == same && other.object == gone.object;
        });
    if (goes) continue;
    const FactKey key(Order::spo, {subject_, predicate, gone.object});
    ASKBASE_ASSIGN(const bool stays, before_.get(Table::spo, key.view(), ignored));
    if (stays) return true;
  }
  return false;
}

base::Status NameCommit::write(Write& write, const std::vector<Use>& object_uses) {
  ASKBASE_TRY(finish_subject());
  subject_ = {};
  ASKBASE_TRY(name_facts_of_new_aliases());
  ASKBASE_TRY(name_identifiers(object_uses));
  return names_.write(write);
}

base::Status NameCommit::name_facts_of_new_aliases() {
  for (const TermId predicate : new_aliases_) {
    std::string prefix;
    append_id(prefix, predicate);
    const std::unique_ptr<Cursor> cursor = before_.cursor(Table::pos, prefix);
    Triple triple;
    for (cursor->seek(prefix); cursor->valid(); cursor->next()) {
      if (!read_key(cursor->key(), Order::pos, triple))
        return tl::unexpected(damaged(Table::pos, "a key cannot be read"));
      if (gone_aliases_.contains(triple)) continue;
      ASKBASE_ASSIGN(const auto alias, name(triple.subject, triple.object, NameKind::alias));
      if (alias) names_.add(*alias);
    }
    ASKBASE_TRY(cursor->status());
  }
  return {};
}

base::Status NameCommit::name_identifiers(const std::vector<Use>& object_uses) {
  std::optional<AscendingCursor> spo, osp;
  if (!fresh_) {
    spo.emplace(before_, Table::spo, std::string_view());
    osp.emplace(before_, Table::osp, std::string_view());
  }
  std::string prefix, space;
  // Facts that the KB has with the IRI there, counted as far as it matters.
  const auto count_before = [&](AscendingCursor& cursor, std::uint64_t limit) {
    std::uint64_t count = 0;
    for (bool more = limit > 0 && cursor.find_prefix(prefix); more;
         more = ++count < limit &&
                (cursor.at().next(), cursor.at().valid() && cursor.at().key().starts_with(prefix))) {
    }
    return count;
  };
  // Both lists ascend: merge them.
  for (std::size_t s = 0, o = 0; s < subject_uses_.size() || o < object_uses.size();) {
    Use use;
    const bool has_subject =
        s < subject_uses_.size() && (o == object_uses.size() || subject_uses_[s].id <= object_uses[o].id);
    if (has_subject) use = subject_uses_[s++];
    if (o < object_uses.size() && (!has_subject || object_uses[o].id == use.id)) {
      use.id = object_uses[o].id;
      use.added += object_uses[o].added;
      use.removed += object_uses[o++].removed;
    }
    std::uint64_t before = 0;
    if (!fresh_ && !dictionary_.is_new(use.id)) {
      prefix.clear();
      append_id(prefix, use.id);
      const std::uint64_t limit = std::uint64_t{use.removed} + 1;
      before = count_before(*spo, limit);
      before += count_before(*osp, limit - before);
    }
    const bool was = before > 0, is = before + use.added > use.removed;
    if (was == is) continue;
    ASKBASE_ASSIGN(const std::string_view encoded, dictionary_.encoded(use.id, space));
    Term term;
    if (!decode_term(encoded, term)) return tl::unexpected(damaged(Table::terms, "an entry cannot be read"));
    const EntityName identifier{use.id, readable_iri(term.value), {}, NameKind::identifier};
    is ? names_.add(identifier) : names_.remove(identifier);
  }
  if (spo) ASKBASE_TRY(spo->at().status());
  if (osp) ASKBASE_TRY(osp->at().status());
  subject_uses_ = {};
  return {};
}

base::Result<std::optional<EntityName>> NameCommit::name(TermId subject, TermId object, NameKind kind) const {
  if (!in_dictionary(object)) return name_of_fact(subject, unpack_literal(object), kind);
  std::string space;
  ASKBASE_ASSIGN(const std::string_view encoded, dictionary_.encoded(object, space));
  Term term;
  if (!decode_term(encoded, term)) return tl::unexpected(damaged(Table::terms, "an entry cannot be read"));
  return name_of_fact(subject, term, kind);
}

}  // namespace askbase::kb
