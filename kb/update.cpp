#include "kb/update.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

#include "base/interrupt.h"
#include "base/text.h"
#include "kb/dictionary.h"
#include "kb/entity_index.h"
#include "kb/update_facts.h"
#include "kb/update_names.h"

namespace askbase::kb {

namespace {

constexpr std::string_view label_predicates_key = "label_predicates";

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Source::time is left out: it says when the rest changed.
bool same_record(const Source& a, const Source& b) {
  return a.name == b.name && a.kind == b.kind && a.loaded_from == b.loaded_from && a.hash == b.hash &&
         a.facts == b.facts;
}

class UpdateImpl final : public Update {
 public:
  UpdateImpl(Storage& storage, const UpdateOptions& options, std::unique_ptr<Dictionary> dictionary,
             std::function<void()> ended)
      : storage_(storage),
        options_(options),
        ended_(std::move(ended)),
        before_(storage.snapshot()),
        view_(before_),
        dictionary_(std::move(dictionary)),
        additions_(options.memory_bytes / 2, options.threads, [this] { return storage_.temporary_folder(); }),
        removals_(options.memory_bytes / 16, options.threads,
                  [this] { return storage_.temporary_folder(); }) {}
  UpdateImpl(const UpdateImpl&) = delete;
  UpdateImpl& operator=(const UpdateImpl&) = delete;
  ~UpdateImpl() override { ended_(); }

  base::Status open() {
    ASKBASE_ASSIGN(next_source_, read_counter(*before_, counter::next_source));
    next_source_ = std::max<std::uint64_t>(1, next_source_);
    return {};
  }

  base::Result<SourceId> source(const Source& record, bool replace) override;
  base::Status remove_source(std::string_view name) override;
  base::Result<TermId> intern(const Term& term) override { return dictionary_->intern(term); }
  base::Status add(SourceId source, const Triple& triple, std::uint64_t row) override;
  base::Status remove(const Triple& triple, std::optional<SourceId> source) override;
  base::Status add_alias_predicate(std::string_view iri) override;
  base::Result<UpdateSummary> commit(const std::function<void(std::string_view, double)>& progress) override;

 private:
  struct SourceState {
    Source record;                 // as it will be stored
    std::optional<Source> stored;  // as it is
    bool replace = false, removed = false;
    bool adds = false;     // facts have been added by this update
    bool touched = false;  // or removed
  };

  // The states of sources that the update deals with, read from the KB when first met.
  base::Result<SourceState*> state(SourceId id);
  base::Result<SourceState*> state(std::string_view name);
  SourceState& remember(Source stored);

  base::Status write_sources(Write& write, const std::map<SourceId, SourceTotals>& totals, bool& changed);
  base::Status write_meta(Write& write, std::uint64_t facts,
                          const std::optional<LabelPredicates>& predicates);
  UpdateSummary summary(const std::map<SourceId, SourceTotals>& totals) const;

  Storage& storage_;
  UpdateOptions options_;
  std::function<void()> ended_;
  std::shared_ptr<const Snapshot> before_;
  View view_;
  std::unique_ptr<Dictionary> dictionary_;
  SourceFacts additions_, removals_;
  std::map<SourceId, SourceState> sources_;
  std::map<std::string, SourceId, std::less<>> by_name_;
  std::set<std::string> new_aliases_;
  std::uint64_t next_source_ = 1;
  SourceId last_source_ = 0;  // of add(), known to be open
  bool committed_ = false;
};

UpdateImpl::SourceState& UpdateImpl::remember(Source stored) {
  by_name_.emplace(stored.name, stored.id);
  SourceState& state = sources_[stored.id];
  state.record = stored;
  state.stored = std::move(stored);
  return state;
}

base::Result<UpdateImpl::SourceState*> UpdateImpl::state(SourceId id) {
  if (const auto known = sources_.find(id); known != sources_.end()) return &known->second;
  ASKBASE_ASSIGN(auto stored, view_.source(id));
  if (!stored) return nullptr;
  return &remember(std::move(*stored));
}

base::Result<UpdateImpl::SourceState*> UpdateImpl::state(std::string_view name) {
  if (const auto known = by_name_.find(name); known != by_name_.end()) return &sources_.at(known->second);
  ASKBASE_ASSIGN(auto stored, view_.source(name));
  if (!stored) return nullptr;
  return &remember(std::move(*stored));
}

base::Result<SourceId> UpdateImpl::source(const Source& record, bool replace) {
  if (record.name.empty() || !base::valid_utf8(record.name) || record.name.find('\0') != std::string::npos)
    return base::fail(base::ErrorCode::invalid_argument,
                      "not a source's name: it is empty, holds a NUL, or is not UTF-8",
                      "name the source with --source");
  ASKBASE_ASSIGN(SourceState * known, state(record.name));
  if (known == nullptr) {
    if (next_source_ > max_source_id) return base::fail(base::ErrorCode::too_large, "too many sources");
    Source fresh;
    fresh.id = static_cast<SourceId>(next_source_++);
    fresh.name = record.name;
    by_name_.emplace(fresh.name, fresh.id);
    known = &sources_[fresh.id];
    known->record = std::move(fresh);
  }
  known->replace = known->replace || replace || known->removed;
  known->removed = false;
  known->record.kind = record.kind;
  known->record.loaded_from = record.loaded_from;
  known->record.hash = record.hash;
  return known->record.id;
}

base::Status UpdateImpl::remove_source(std::string_view name) {
  ASKBASE_ASSIGN(SourceState* const known, state(name));
  if (known == nullptr || known->removed)
    return base::fail(base::ErrorCode::not_found, "no source is called " + std::string(name),
                      "list them with `askbase stats`");
  if (known->adds)
    return base::fail(base::ErrorCode::invalid_argument,
                      "facts are being added to the source " + std::string(name));
  known->removed = true;
  return {};
}

base::Status UpdateImpl::add(SourceId source, const Triple& triple, std::uint64_t row) {
  if (source != last_source_ || source == 0) {
    const auto known = sources_.find(source);
    if (known == sources_.end() || known->second.removed)
      return base::fail(base::ErrorCode::invalid_argument,
                        "no source with the id " + std::to_string(source) + " is open");
    known->second.adds = known->second.touched = true;
    last_source_ = source;
  }
  if (id_type(triple.subject) != IdType::iri && id_type(triple.subject) != IdType::blank)
    return base::fail(base::ErrorCode::bad_input, "the subject of a fact is a literal",
                      "write it as an IRI or _:label");
  if (id_type(triple.predicate) != IdType::iri)
    return base::fail(base::ErrorCode::bad_input, "the predicate of a fact is no IRI", "write it as an IRI");
  if (!triple.object) return base::fail(base::ErrorCode::bad_input, "a fact has no object");
  return additions_.add({triple, SourceFact::pack(source, row)});
}

base::Status UpdateImpl::remove(const Triple& triple, std::optional<SourceId> source) {
  std::string value;
  ASKBASE_ASSIGN(const bool found, before_->get(Table::spo, FactKey(Order::spo, triple).view(), value));
  if (!found) return {};
  std::vector<SourceId> having;
  if (!read_sources(value, having))
    return tl::unexpected(damaged(Table::spo, "a list of sources cannot be read"));
  for (const SourceId id : having) {
    if (source && *source != id) continue;
    ASKBASE_ASSIGN(SourceState* const known, state(id));
    if (known == nullptr) return tl::unexpected(damaged(Table::sources, "a fact's source has no record"));
    known->touched = true;
    known->record.hash.clear();  // the source is no longer what its file says
    ASKBASE_TRY(removals_.add({triple, SourceFact::pack(id, 0)}));
  }
  return {};
}

base::Status UpdateImpl::add_alias_predicate(std::string_view iri) {
  if (iri.empty() || !base::valid_utf8(iri) ||
      iri.find_first_of(std::string_view("\0\n", 2)) != std::string_view::npos)
    return base::fail(base::ErrorCode::invalid_argument, "not the IRI of a predicate: " + std::string(iri));
  new_aliases_.emplace(iri);
  return {};
}

base::Result<UpdateSummary> UpdateImpl::commit(
    const std::function<void(std::string_view, double)>& progress) {
  if (std::exchange(committed_, true))
    return base::fail(base::ErrorCode::internal, "an update was committed twice");
  ASKBASE_ASSIGN(LabelPredicates predicates, label_predicates(*before_));
  std::erase_if(new_aliases_, [&](const std::string& iri) {
    return predicates.labels.contains(iri) || predicates.aliases.contains(iri);
  });
  predicates.aliases.insert(new_aliases_.begin(), new_aliases_.end());

  std::map<SourceId, SourceTotals> totals;
  for (const auto& [id, state] : sources_)
    if (state.touched || state.replace || state.removed)
      totals[id].clear = state.stored && (state.replace || state.removed);

  ASKBASE_ASSIGN(const auto write, storage_.begin_write());
  const bool fresh = view_.facts() == 0;
  NameCommit names(*before_, *dictionary_, fresh, options_.threads);
  ASKBASE_TRY(names.open(predicates, new_aliases_));
  FactCommit facts(*before_, *write, names,
                   {.fresh = fresh,
                    .memory_bytes = options_.memory_bytes * 3 / 4,
                    .threads = options_.threads,
                    .temporary_folder = [this] { return storage_.temporary_folder(); },
                    .progress = progress});
  {
    // The dictionary's tables and the facts' are independent of each other.
    auto terms = std::async(options_.threads > 1 ? std::launch::async : std::launch::deferred,
                            [&] { return dictionary_->write(*write); });
    const base::Status done = facts.run(additions_, removals_, totals);
    ASKBASE_TRY(terms.get());
    ASKBASE_TRY(done);
  }
  if (progress) progress("names", 0);
  ASKBASE_TRY(names.write(*write, facts.object_uses()));

  bool sources_changed = false;
  ASKBASE_TRY(write_sources(*write, totals, sources_changed));
  UpdateSummary result = summary(totals);
  result.added = facts.added();
  result.removed = facts.removed();
  result.facts = view_.facts() + facts.added() - facts.removed();
  if (!facts.wrote() && !sources_changed && new_aliases_.empty()) return result;
  ASKBASE_TRY(
      write_meta(*write, result.facts, new_aliases_.empty() ? std::nullopt : std::optional(predicates)));
  ASKBASE_TRY(base::check_interrupt());
  ASKBASE_TRY(write->commit());
  if (progress) progress("names", 1);
  return result;
}

base::Status UpdateImpl::write_sources(Write& write, const std::map<SourceId, SourceTotals>& totals,
                                       bool& changed) {
  const std::int64_t time = now();
  std::map<std::string, std::optional<SourceId>> names;  // changes of the names' entries, in key order
  for (auto& [id, state] : sources_) {
    SourceTotals counted;
    if (const auto known = totals.find(id); known != totals.end()) counted = known->second;
    state.record.facts += counted.added - counted.removed;
    if (state.removed) {
      if (!state.stored) continue;  // came and went within the update
      changed = true;
      names[state.record.name] = std::nullopt;
      ASKBASE_TRY(write.erase(Table::sources, source_key(id)));
      continue;
    }
    if (state.stored && same_record(*state.stored, state.record) && counted.added + counted.removed == 0)
      continue;
    changed = true;
    state.record.time = time;
    if (!state.stored) names[state.record.name] = id;
    ASKBASE_TRY(write.put(Table::sources, source_key(id), encode_source(state.record)));
  }
  for (const auto& [name, id] : names)
    ASKBASE_TRY(id ? write.put(Table::sources, source_name_key(name), source_key(*id))
                   : write.erase(Table::sources, source_name_key(name)));
  return {};
}

base::Status UpdateImpl::write_meta(Write& write, std::uint64_t facts,
                                    const std::optional<LabelPredicates>& predicates) {
  ASKBASE_TRY(write.put(Table::meta, counter::facts, encode_counter(facts)));
  if (predicates)
    ASKBASE_TRY(write.put(Table::meta, label_predicates_key, encode_label_predicates(*predicates)));
  ASKBASE_TRY(write.put(Table::meta, counter::next_source, encode_counter(next_source_)));
  ASKBASE_TRY(write.put(Table::meta, counter::next_term, encode_counter(dictionary_->next_serial())));
  return write.put(Table::meta, counter::version, encode_counter(view_.version() + 1));
}

UpdateSummary UpdateImpl::summary(const std::map<SourceId, SourceTotals>& totals) const {
  UpdateSummary result;
  for (const auto& [id, state] : sources_) {
    SourceTotals counted;
    if (const auto known = totals.find(id); known != totals.end()) counted = known->second;
    result.sources.push_back(
        {state.record.name, state.removed ? 0 : state.record.facts, counted.added, counted.removed});
  }
  return result;
}

}  // namespace

base::Result<std::unique_ptr<Update>> make_update(Storage& storage, const UpdateOptions& options,
                                                  std::function<void()> ended) {
  if (storage.read_only())
    return base::fail(base::ErrorCode::internal,
                      "the knowledge base was opened for reading: " + storage.folder().string());
  ASKBASE_ASSIGN(auto dictionary, Dictionary::open(storage, options.memory_bytes * 2 / 5));
  auto update = std::make_unique<UpdateImpl>(storage, options, std::move(dictionary), std::move(ended));
  ASKBASE_TRY(update->open());
  return update;
}

}  // namespace askbase::kb
