// Random updates against a model made of plain sets.
#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "kb/entity_index.h"
#include "kb/store.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;

namespace {

using Fact = std::tuple<Term, Term, Term>;

struct ModelSource {
  Source record;
  std::map<Fact, std::uint64_t> rows;
};

struct Model {
  std::map<std::string, ModelSource> sources;
  std::set<std::string> aliases;

  std::map<Fact, std::set<std::string>> facts() const {
    std::map<Fact, std::set<std::string>> all;
    for (const auto& [name, source] : sources)
      for (const auto& [fact, row] : source.rows) all[fact].insert(name);
    return all;
  }
};

bool same(const Model& a, const Model& b) {
  if (a.aliases != b.aliases || a.sources.size() != b.sources.size()) return false;
  return std::equal(a.sources.begin(), a.sources.end(), b.sources.begin(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.rows == y.second.rows &&
           x.second.record.kind == y.second.record.kind && x.second.record.hash == y.second.record.hash;
  });
}

const std::vector<Term>& subjects() {
  static const std::vector<Term> all = [] {
    std::vector<Term> terms;
    for (int i = 0; i < 12; ++i) terms.push_back(Term::iri("http://example.org/thing_" + std::to_string(i)));
    terms.push_back(Term::iri("http://example.org/北京"));
    terms.push_back(Term::iri("http://example.org/" + std::string(600, 'x')));
    terms.push_back(Term::iri("http://example.org/" + std::string(600, 'x') + "y"));
    for (int i = 0; i < 4; ++i) terms.push_back(Term::blank("b" + std::to_string(i)));
    return terms;
  }();
  return all;
}

const std::vector<Term>& predicates() {
  static const std::vector<Term> all = {Term::iri(std::string(iri::rdfs_label)),
                                        Term::iri(std::string(iri::skos_pref_label)),
                                        Term::iri(std::string(iri::skos_alt_label)),
                                        Term::iri("urn:x:knows"),
                                        Term::iri("urn:x:also"),
                                        Term::iri("urn:x:size")};
  return all;
}

const std::vector<Term>& objects() {
  static const std::vector<Term> all = [] {
    const std::string xsd(iri::xsd);
    std::vector<Term> terms = subjects();
    for (const char* text : {"Ann", "ann", "北京", "臺灣", "a \"quoted\"\nline", ""}) {
      terms.push_back(Term::literal(text));
      terms.push_back(Term::text(text, "en"));
      terms.push_back(Term::text(text, "zh-Hant"));
    }
    for (const char* number :
         {"0", "-1", "7", "007", "1152921504606846975", "1152921504606846976", "-5000000000"})
      terms.push_back(Term::literal(number, xsd + "integer"));
    for (const char* number : {"0.5", "-0.5", "5", "1.0", "123456.789012"})
      terms.push_back(Term::literal(number, xsd + "decimal"));
    for (const char* number : {"1.5E0", "-0.0E0", "1.0E-1", "INF", "NaN"})
      terms.push_back(Term::literal(number, xsd + "double"));
    for (const char* date : {"2024-02-29", "1969-12-31", "-0044-03-15", "2023-02-29"})
      terms.push_back(Term::literal(date, xsd + "date"));
    terms.push_back(Term::literal("1949", xsd + "gYear"));
    terms.push_back(Term::literal("true", xsd + "boolean"));
    terms.push_back(Term::literal("POINT(1 2)", "http://www.opengis.net/ont/geosparql#wktLiteral"));
    terms.push_back(Term::literal(std::string(2000, 'l')));
    terms.push_back(Term::literal(std::string(2000, 'l') + "!"));
    return terms;
  }();
  return all;
}

class Player {
 public:
  Player(std::uint64_t seed, const StorageOptions& storage, const UpdateOptions& update)
      : random_(seed), storage_options_(storage), update_options_(update) {
    reopen();
  }

  void play(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      CAPTURE(round);
      if (chance(15)) reopen();
      one_update();
      compare();
    }
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool chance(int percent) { return static_cast<int>(below(100)) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  Fact random_fact() { return {pick(subjects()), pick(predicates()), pick(objects())}; }

  void reopen() {
    store_.reset();
    auto opened = Store::open(folder_ / "kb", OpenMode::create, storage_options_);
    if (!opened) FAIL(opened.error().message);
    store_ = std::move(*opened);
  }

  void one_update() {
    auto begun = store_->begin_update(update_options_);
    REQUIRE(begun);
    Update& update = **begun;
    Model after = model_;
    std::map<std::string, std::map<Fact, std::uint64_t>> adds;
    std::map<std::string, std::set<Fact>> removals;
    std::set<std::string> cleared, opened;
    const auto known = model_.facts();
    std::vector<Fact> known_facts;
    for (const auto& entry : known) known_facts.push_back(entry.first);

    for (std::size_t i = 0, n = below(4); i < n; ++i) {
      const std::string name = "source " + std::to_string(below(5));
      Source record;
      record.name = name;
      record.kind = chance(50) ? "file" : "api";
      record.hash = std::to_string(below(3));
      const bool replace = chance(40);
      auto id = update.source(record, replace);
      REQUIRE(id);
      opened.insert(name);
      if (replace) cleared.insert(name);
      after.sources[name].record = record;
      const std::size_t facts = chance(10) ? 400 : below(20);
      for (std::size_t k = 0; k < facts; ++k) {
        // Often one that some source has: the interesting cases are overlaps.
        const Fact fact = !known_facts.empty() && chance(40) ? pick(known_facts) : random_fact();
        const std::uint64_t row = below(1000);
        REQUIRE(update.add(*id, std::get<0>(fact), std::get<1>(fact), std::get<2>(fact), row));
        const auto [place, fresh] = adds[name].emplace(fact, row);
        if (!fresh) place->second = std::min(place->second, row);
      }
    }
    if (chance(15)) {
      const std::string name = "source " + std::to_string(below(5));
      const auto done = update.remove_source(name);
      if (!model_.sources.contains(name) && !opened.contains(name)) {
        REQUIRE_FALSE(done);
        CHECK(done.error().code == base::ErrorCode::not_found);
      } else if (!adds[name].empty()) {
        REQUIRE_FALSE(done);
        CHECK(done.error().code == base::ErrorCode::invalid_argument);
      } else {
        REQUIRE(done);
        cleared.insert(name);
        after.sources.erase(name);
        opened.erase(name);
      }
    }
    if (chance(40) && !known_facts.empty()) {
      auto view = store_->view().value();
      for (std::size_t k = 0, n = below(12); k < n; ++k) {
        const Fact fact = chance(90) ? pick(known_facts) : random_fact();
        std::optional<SourceId> only;
        const std::string name = "source " + std::to_string(below(5));
        if (chance(30) && model_.sources.contains(name)) only = view->source(name).value()->id;
        const Triple triple{update.intern(std::get<0>(fact)).value(),
                            update.intern(std::get<1>(fact)).value(),
                            update.intern(std::get<2>(fact)).value()};
        REQUIRE(update.remove(triple, only));
        for (const auto& [source, content] : model_.sources)
          if (content.rows.contains(fact) && (!only || source == name)) removals[source].insert(fact);
      }
    }
    if (chance(5)) {
      REQUIRE(update.add_alias_predicate("urn:x:also"));
      after.aliases.insert("urn:x:also");
    }
    if (chance(10)) return;  // dropped: nothing happens

    for (auto& [name, source] : after.sources) {
      const auto old = source.rows;
      if (cleared.contains(name)) source.rows.clear();
      for (const Fact& fact : removals[name]) source.rows.erase(fact);
      if (!removals[name].empty()) source.record.hash.clear();
      for (const auto& [fact, row] : adds[name])
        source.rows[fact] = !cleared.contains(name) && old.contains(fact) ? old.at(fact) : row;
    }
    const std::uint64_t version = store_->view().value()->version();
    const auto summary = update.commit();
    if (!summary) FAIL(summary.error().message);
    CHECK(store_->view().value()->version() == version + (same(model_, after) ? 0 : 1));
    const auto now = after.facts();
    std::uint64_t added = 0, removed = 0;
    for (const auto& entry : now) added += known.contains(entry.first) ? 0 : 1;
    for (const auto& entry : known) removed += now.contains(entry.first) ? 0 : 1;
    CHECK(summary->added == added);
    CHECK(summary->removed == removed);
    CHECK(summary->facts == now.size());
    for (const SourceChange& change : summary->sources)
      CHECK(change.facts ==
            (after.sources.contains(change.source) ? after.sources.at(change.source).rows.size() : 0));
    model_ = std::move(after);
  }

  void compare() {
    const auto view = store_->view().value();
    const auto expected = model_.facts();
    CHECK(view->facts() == expected.size());
    std::map<SourceId, std::string> names;
    const auto sources = view->sources().value();
    REQUIRE(sources.size() == model_.sources.size());
    for (const Source& source : sources) {
      REQUIRE(model_.sources.contains(source.name));
      const ModelSource& wanted = model_.sources.at(source.name);
      CHECK(source.facts == wanted.rows.size());
      CHECK(source.kind == wanted.record.kind);
      CHECK(source.hash == wanted.record.hash);
      CHECK(view->source(source.name).value()->id == source.id);
      names[source.id] = source.name;
    }
    std::map<Fact, std::set<std::string>> found;
    const auto fact_of = [&](const Triple& t) -> Fact {
      return {view->term(t.subject).value(), view->term(t.predicate).value(), view->term(t.object).value()};
    };
    REQUIRE(view->match({}, [&](const Triple& triple) {
      const Fact fact = fact_of(triple);
      const auto origins = view->origins(triple).value();
      for (const Origin& origin : origins) {
        found[fact].insert(names.at(origin.source));
        CHECK(model_.sources.at(names.at(origin.source)).rows.at(fact) == origin.row);
      }
      return true;
    }));
    CHECK(found == expected);
    compare_patterns(*view, expected, fact_of);
    compare_names(*view, expected);
    const auto report = check(*store_);
    REQUIRE(report);
    CHECK(report->facts == expected.size());
    for (const std::string& problem : report->problems) FAIL_CHECK(problem);
  }

  template <typename FactOf>
  void compare_patterns(const View& view, const std::map<Fact, std::set<std::string>>& expected,
                        const FactOf& fact_of) {
    std::set<Term> used;
    for (const auto& entry : expected) used.insert(std::get<1>(entry.first));
    CHECK(view.predicates().value().size() == used.size());
    for (int i = 0; i < 16; ++i) {
      Fact probe = random_fact();
      if (!expected.empty() && chance(70))
        probe = std::next(expected.begin(), static_cast<std::ptrdiff_t>(below(expected.size())))->first;
      const auto [s, p, o] = probe;
      Pattern pattern;
      bool known = true;
      const auto bind = [&](bool wanted, const Term& term, std::optional<TermId>& place) {
        if (!wanted) return;
        place = view.find(term).value();
        if (!place) known = false;
      };
      const bool by_s = (i & 1) != 0, by_p = (i & 2) != 0, by_o = (i & 4) != 0;
      bind(by_s, s, pattern.subject);
      bind(by_p, p, pattern.predicate);
      bind(by_o, o, pattern.object);
      if (!known) continue;
      std::set<Fact> wanted, got;
      for (const auto& [fact, sources] : expected)
        if ((!by_s || std::get<0>(fact) == s) && (!by_p || std::get<1>(fact) == p) &&
            (!by_o || std::get<2>(fact) == o))
          wanted.insert(fact);
      REQUIRE(view.match(pattern, [&](const Triple& t) {
        CHECK(got.insert(fact_of(t)).second);
        return true;
      }));
      CHECK(got == wanted);
      CHECK(view.count(pattern).value() == wanted.size());
      CHECK(view.count(pattern, 2).value() == std::min<std::size_t>(2, wanted.size()));
      if (by_s && by_p && by_o)
        CHECK(view.contains({*pattern.subject, *pattern.predicate, *pattern.object}).value() ==
              !wanted.empty());
    }
  }

  void compare_names(const View& view, const std::map<Fact, std::set<std::string>>& expected) {
    LabelPredicates labels = LabelPredicates::defaults();
    for (const std::string& alias : model_.aliases) labels.aliases.insert(alias);
    std::set<std::string> wanted, got;
    const auto want = [&](const EntityName& name) {
      for (std::string& entry : name_entries(name)) wanted.insert(std::move(entry));
    };
    for (const auto& [fact, sources] : expected) {
      const auto& [s, p, o] = fact;
      const TermId subject = view.find(s).value().value();
      std::optional<EntityName> name;
      if (labels.labels.contains(p.value)) name = name_of_fact(subject, o, NameKind::label);
      if (labels.aliases.contains(p.value)) name = name_of_fact(subject, o, NameKind::alias);
      if (name) want(*name);
      for (const Term* used : {&s, &o})
        if (used->kind == TermKind::iri)
          want({view.find(*used).value().value(), readable_iri(used->value), "", NameKind::identifier});
    }
    const auto cursor = view.snapshot().cursor(Table::names, {});
    for (cursor->seek({}); cursor->valid(); cursor->next()) got.emplace(cursor->key());
    REQUIRE(cursor->status());
    CHECK(got == wanted);
  }

  test::ScratchFolder folder_;
  std::mt19937_64 random_;
  StorageOptions storage_options_;
  UpdateOptions update_options_;
  std::unique_ptr<Store> store_;
  Model model_;
};

}  // namespace

TEST_CASE("random updates leave the store as a model says") {
  SUBCASE("through the log") { Player(1, {}, {}).play(60); }
  SUBCASE("through sorted files, with sorted runs and terms written ahead") {
    StorageOptions storage;
    storage.batch_bytes = 0;
    storage.file_bytes = 2000;
    UpdateOptions update;
    update.memory_bytes = 20'000;
    Player(2, storage, update).play(15);
  }
  SUBCASE("one thread") {
    StorageOptions storage;
    storage.threads = 1;
    storage.batch_bytes = 4000;
    UpdateOptions update;
    update.threads = 1;
    update.memory_bytes = 200'000;
    Player(3, storage, update).play(25);
  }
}
