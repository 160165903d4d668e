// The triple store: facts with their sources, and the dictionary of terms.
//
//   auto store = Store::open("my-kb", OpenMode::create).value();
//   auto update = store->begin_update().value();
//   SourceId source = update->source({.name = "people.ttl"}, /*replace=*/true).value();
//   update->add(source, Term::iri("urn:x:ann"), Term::iri("urn:x:knows"), Term::iri("urn:x:bob"), 1);
//   update->commit();                          // all or nothing
//   auto view = store->view();                 // one consistent state, shared between threads
//   view->match({.subject = id}, [&](const Triple& t) { ...; return true; });
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kb/storage.h"
#include "kb/term.h"

namespace askbase::kb {

// One load: a file, a named graph, or facts sent through the API.
struct Source {
  SourceId id = 0;
  std::string name{};         // unique; a graph IRI, a file's name, or what --source said
  std::string kind{};         // "file", "graph", "table", "api"
  std::string loaded_from{};  // for graphs inside a quads file: the load's name, else empty
  std::string hash{};         // of the content, hex; empty when unknown
  std::int64_t time = 0;      // seconds since 1970, UTC, of the last change
  std::uint64_t facts = 0;
};

class SubjectCache;

// One consistent state of the KB. Immutable and thread-safe. Every call may fail with corrupt or io.
class View {
 public:
  // cache_bytes: for the facts of subjects that were asked for lately; 0: none.
  explicit View(std::shared_ptr<const Snapshot> snapshot, std::size_t cache_bytes = 0);
  ~View();

  // The id of a term that the KB knows, nothing when it knows it not. Packed literals are always known.
  base::Result<std::optional<TermId>> find(const Term& term) const;
  base::Result<Term> term(TermId id) const;  // error not_found for an id without an entry

  base::Result<bool> contains(const Triple& triple) const;
  // Visits every fact that matches, in the order of the index used, until the visitor returns false.
  base::Status match(const Pattern& pattern, const std::function<bool(const Triple&)>& visitor) const;
  // Facts that match, counted up to the limit.
  base::Result<std::uint64_t> count(const Pattern& pattern, std::uint64_t limit = UINT64_MAX) const;
  // The distinct predicates in use (skips from one to the next: fast).
  base::Result<std::vector<TermId>> predicates() const;
  // Where a fact comes from; empty when it is not in the KB.
  base::Result<std::vector<Origin>> origins(const Triple& triple) const;

  base::Result<std::vector<Source>> sources() const;
  base::Result<std::optional<Source>> source(SourceId id) const;
  base::Result<std::optional<Source>> source(std::string_view name) const;

  std::uint64_t facts() const { return facts_; }
  // Grows with every commit: equal versions of one KB are equal states.
  std::uint64_t version() const { return version_; }

  const Snapshot& snapshot() const { return *snapshot_; }

 private:
  // Reads the facts of a subject for the cache; false when there are too many for it.
  base::Result<bool> read_subject(TermId subject, std::string& facts) const;
  base::Status match_stored(const Pattern& pattern, const std::function<bool(const Triple&)>& visitor) const;

  std::shared_ptr<const Snapshot> snapshot_;
  std::uint64_t facts_ = 0, version_ = 0;
  std::unique_ptr<SubjectCache> cache_;
};

struct SourceChange {
  std::string source;
  std::uint64_t facts = 0, added = 0, removed = 0;  // of this source, after the commit
};

struct UpdateSummary {
  std::vector<SourceChange> sources;
  std::uint64_t added = 0, removed = 0;  // facts that are new in, or gone from, the whole KB
  std::uint64_t facts = 0;               // in the KB after the commit
};

// One atomic change. Facts are gathered (sorted runs go to disk beyond a memory budget), compared with what
// the KB has, and written at once by commit(). One thread; one Update a store at a time. Dropping it without
// commit() changes nothing.
class Update {
 public:
  virtual ~Update() = default;
  // The id of the source with this name, made when new. replace: its facts that are not added again are
  // removed by commit(). The record's kind, hash, loaded_from are stored, its time is set to now.
  virtual base::Result<SourceId> source(const Source& record, bool replace) = 0;
  // Removes the source and its facts. Error not_found.
  virtual base::Status remove_source(std::string_view name) = 0;

  // The id of a term, made when new. Errors: bad_input for invalid UTF-8, NUL, or a term over 16 MiB.
  virtual base::Result<TermId> intern(const Term& term) = 0;
  // A fact that comes twice from one source keeps its smallest row. Errors: bad_input when the subject is a
  // literal or the predicate no IRI.
  virtual base::Status add(SourceId source, const Triple& triple, std::uint64_t row) = 0;
  base::Status add(SourceId source, const Term& subject, const Term& predicate, const Term& object,
                   std::uint64_t row);
  // Takes the fact from every source that has it (or from the one named), in the state before the update: a
  // fact that the update adds as well stays. The sources' records lose their hash.
  virtual base::Status remove(const Triple& triple, std::optional<SourceId> source = std::nullopt) = 0;

  // Makes the predicate one that gives aliases, for good (kb/entity_index.h, LabelPredicates); the facts that
  // the KB has of it become names by the same commit.
  virtual base::Status add_alias_predicate(std::string_view iri) = 0;

  // A commit that changes nothing writes nothing, and leaves the version as it was. Error cancelled when
  // base::interrupted() (everything stays as it was), locked when another Update is being written.
  // progress: called now and then with a phase ("sorting", "writing") and a share from 0 to 1.
  virtual base::Result<UpdateSummary> commit(
      const std::function<void(std::string_view phase, double share)>& progress = {}) = 0;
};

struct UpdateOptions {
  std::size_t memory_bytes = 768 << 20;  // gathered facts beyond this go to sorted runs on disk
  std::size_t threads = 2;
};

// Keeps other changes of a store away while it lives: for what is written beside Update (documents).
class ChangeLock {
 public:
  explicit ChangeLock(std::atomic<bool>& taken) : taken_(&taken) {}
  ChangeLock(ChangeLock&& other) noexcept : taken_(std::exchange(other.taken_, nullptr)) {}
  ChangeLock& operator=(ChangeLock&&) = delete;
  ChangeLock(const ChangeLock&) = delete;
  ChangeLock& operator=(const ChangeLock&) = delete;
  ~ChangeLock() {
    if (taken_ != nullptr) *taken_ = false;
  }

 private:
  std::atomic<bool>* taken_;
};

// Thread-safe.
class Store {
 public:
  static base::Result<std::unique_ptr<Store>> open(const std::filesystem::path& folder, OpenMode mode,
                                                   const StorageOptions& options = {});
  ~Store();
  // The newest committed state.
  base::Result<std::shared_ptr<const View>> view() const;
  // Error locked while another Update of this store lives. It must not outlive the store.
  base::Result<std::unique_ptr<Update>> begin_update(const UpdateOptions& options = {});
  // As an Update that never writes. Error locked.
  base::Result<ChangeLock> lock_changes();
  Storage& storage() { return *storage_; }
  const Storage& storage() const { return *storage_; }

 private:
  Store(std::unique_ptr<Storage> storage, std::size_t view_cache_bytes);
  std::unique_ptr<Storage> storage_;
  std::size_t view_cache_bytes_;
  std::atomic<bool> updating_ = false;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const View> view_;  // of the storage's newest snapshot, when it has been asked for
};

struct CheckReport {
  std::uint64_t facts = 0, terms = 0, names = 0;
  std::vector<std::string> problems;  // each: what disagrees with what; at most 100
};
// Verifies the indexes against each other: every order holds the same facts, every id has a term and every
// term its id, sources and their facts agree, names agree with the label facts.
base::Result<CheckReport> check(const Store& store);

}  // namespace askbase::kb
