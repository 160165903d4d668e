// Embeddings of a knowledge base: its facts, its changes, other ones' vectors, and the scorers.
#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kb/embedding/kb_embeddings.h"
#include "kb/embedding/scorers.h"
#include "kb/embedding/trainer.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;
using namespace askbase::kb::embedding;
using namespace askbase::test;

namespace {

Term thing(const std::string& name) { return Term::iri("urn:x:" + name); }

using Rows = std::vector<std::array<Term, 3>>;

void add(Store& store, const std::string& source, const Rows& rows) {
  auto update = store.begin_update().value();
  const SourceId id = update->source({.name = source, .kind = "file"}, false).value();
  std::uint64_t row = 0;
  for (const auto& [s, p, o] : rows) REQUIRE(update->add(id, s, p, o, ++row));
  REQUIRE(update->commit());
}

// Countries with capitals and a continent each, people born in the capitals.
Rows world() {
  Rows rows;
  for (int i = 0; i < 16; ++i) {
    const std::string n = std::to_string(i);
    rows.push_back({thing("country" + n), thing("capital"), thing("city" + n)});
    rows.push_back({thing("country" + n), thing("continent"), thing("continent" + std::to_string(i % 2))});
    rows.push_back({thing("city" + n), thing("country"), thing("country" + n)});
    for (int k = 0; k < 3; ++k)
      rows.push_back({thing("person" + n + "_" + std::to_string(k)), thing("born"), thing("city" + n)});
    rows.push_back(
        {thing("country" + n), Term::iri(std::string(iri::rdfs_label)), Term::text("国家" + n, "zh")});
    rows.push_back({thing("country" + n), thing("population"), Term::integer(1000 + i)});
  }
  return rows;
}

EmbeddingSet trained(const View& view, ModelKind kind = ModelKind::transe) {
  const KbFacts facts = read_kb_facts(view).value();
  EmbeddingSet set;
  REQUIRE(name_set(view, facts, set));
  TrainOptions options;
  options.model = {.kind = kind, .dim = 16};
  options.epochs = 60;
  options.batch = 32;
  options.negatives = kind == ModelKind::transh || kind == ModelKind::transr ? 8 : 0;
  options.initial = 0.2;
  const auto trainer =
      Trainer::create(options, {facts.facts, {}, {}, facts.entities.size(), facts.relations.size()}).value();
  REQUIRE(trainer->run({}));
  set.model = options.model;
  set.tables = trainer->take_tables();
  set.trained_entities = set.entities.size();
  return set;
}

struct World {
  ScratchFolder folder;
  std::unique_ptr<Store> store = Store::open(folder / "kb", OpenMode::create).value();
  std::shared_ptr<const View> view;
  World() {
    add(*store, "world", world());
    view = store->view().value();
  }
  TermId id(const std::string& name) const { return view->find(thing(name)).value().value(); }
};

}  // namespace

TEST_CASE("kb embeddings: facts between things, literals as configured") {
  const World w;
  const KbFacts facts = read_kb_facts(*w.view).value();
  CHECK(facts.facts.size() == 16 * 6);
  CHECK(facts.relations.size() == 4);
  CHECK(facts.version == w.view->version());
  const KbFacts with = read_kb_facts(*w.view, {.literals = true}).value();
  CHECK(with.facts.size() == 16 * 7);  // populations, no labels
  CHECK(with.entities.size() == facts.entities.size() + 16);
  EmbeddingSet set;
  REQUIRE(name_set(*w.view, with, set));
  CHECK(std::find(set.entities.begin(), set.entities.end(), "<urn:x:city3>") != set.entities.end());

  const ScratchFolder empty;
  const auto store = Store::open(empty / "kb", OpenMode::create).value();
  CHECK(read_kb_facts(*store->view().value())->facts.empty());
}

TEST_CASE("kb embeddings: kept beside the KB, and known from those of another one") {
  World w;
  const auto none = KbEmbeddings::open(w.folder / "kb", *w.view);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == base::ErrorCode::not_found);
  CHECK(none.error().hint.find("embed") != std::string::npos);
  EmbeddingSet set = trained(*w.view);
  REQUIRE(save(set, vectors_file(w.folder / "kb")));
  const auto opened = KbEmbeddings::open(w.folder / "kb", *w.view).value();
  CHECK(opened->set().kb_version == w.view->version());
  CHECK(opened->row(w.id("city3")));
  CHECK(opened->relation_row(w.id("capital")));
  CHECK_FALSE(opened->relation_row(w.id("city3")));

  const ScratchFolder folder;
  const auto other = Store::open(folder / "kb", OpenMode::create).value();
  add(*other, "o", {{thing("a"), thing("b"), thing("c")}, {thing("d"), thing("b"), thing("c")}});
  const auto refused = KbEmbeddings::make(set, *other->view().value());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("another") != std::string::npos);
  EmbeddingSet unbound = set;
  unbound.entity_ids.clear();
  CHECK_FALSE(KbEmbeddings::make(unbound, *w.view));
}

TEST_CASE("kb embeddings: imported vectors find their entities by name") {
  World w;
  EmbeddingSet set;
  set.model = {.dim = 3};
  set.entities = {"urn:x:city1", "<urn:x:country1>", "urn:x:stranger", "_:nobody"};
  set.relations = {"urn:x:gone", "urn:x:capital"};
  set.reciprocal = true;
  Model<float>::make(set.model)->initialise(set.tables, 4, 4, 1, 1);
  const float kept = set.tables.entities(1, 0), inverse = set.tables.relations(3, 0);
  REQUIRE(bind_names(*w.view, set));
  CHECK(set.entities == std::vector<std::string>{"<urn:x:city1>", "<urn:x:country1>"});
  CHECK(set.tables.entities(1, 0) == kept);
  CHECK(set.tables.relations.rows() == 2);
  CHECK(set.tables.relations(1, 0) == inverse);
  CHECK(KbEmbeddings::make(set, *w.view));
  set.entities = {"a", "b"};
  set.relations = {"c"};
  const auto refused = bind_names(*w.view, set);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("none of the 2") != std::string::npos);
}

TEST_CASE("kb embeddings: what comes later gets a vector from its facts, what has none is not scored") {
  World w;
  for (const ModelKind kind : {ModelKind::transe, ModelKind::complex, ModelKind::transh, ModelKind::transr}) {
    CAPTURE(model_name(kind));
    EmbeddingSet set = trained(*w.view, kind);
    const auto before = set.tables.entities;
    add(*w.store, "later" + std::string(model_name(kind)),
        {{thing("新人"), thing("born"), thing("city5")},
         {thing("loner"), thing("knows"), thing("nobody")},
         {thing("novelcountry"), thing("continent"), thing("continent1")},
         {thing("novelcountry"), thing("capital"), thing("novelcity")}});
    const auto view = w.store->view().value();
    const auto embeddings = KbEmbeddings::make(set, *view).value();
    const auto id = [&](const char* name) { return view->find(thing(name)).value().value(); };
    const auto vector = embeddings->vector(*view, id("新人")).value();
    REQUIRE(vector);
    CHECK(*vector == *embeddings->vector(*view, id("新人")).value());  // the same every time
    CHECK_FALSE(embeddings->vector(*view, id("loner")).value());
    CHECK_FALSE(embeddings->similar(*view, id("loner"), 3).value());
    // The new fact scores above most others.
    const Model<float>& model = embeddings->model();
    const float* born = set.tables.relations.row(*embeddings->relation_row(id("born")));
    const auto score = [&](const char* city) {
      return model.score(vector->data(), born, set.tables.entities.row(*embeddings->row(id(city))));
    };
    int better = 0;
    for (int i = 0; i < 16; ++i) {
      const std::string city = "city" + std::to_string(i);
      better += score(city.c_str()) > score("city5") ? 1 : 0;
    }
    CHECK(better <= 2);
    const auto similar = embeddings->similar(*view, id("新人"), 5).value().value();
    CHECK(similar.size() == 5);
    std::uint64_t added = 0;
    const EmbeddingSet extended = embeddings->extended(*view, &added).value();
    CHECK(added >= 2);
    CHECK(extended.kb_version == view->version());
    CHECK(extended.entities.size() == set.entities.size() + added);
    CHECK(std::equal(before.data(), before.data() + before.size(),
                     extended.tables.entities.data()));  // nothing else moved
    CHECK(KbEmbeddings::make(extended, *view).value()->row(id("新人")));
  }
}

TEST_CASE("kb embeddings: similar entities are those of a kind; those without facts are left out") {
  World w;
  const auto embeddings = KbEmbeddings::make(trained(*w.view), *w.view).value();
  const auto similar = embeddings->similar(*w.view, w.id("person3_0"), 2).value().value();
  REQUIRE(similar.size() == 2);
  for (const auto& one : similar)
    CHECK(to_ntriples(w.view->term(one.entity).value()).find("person3_") != std::string::npos);
  auto update = w.store->begin_update().value();
  for (const auto& one : similar) REQUIRE(update->remove({one.entity, w.id("born"), w.id("city3")}));
  REQUIRE(update->commit());
  const auto view = w.store->view().value();
  const auto left = embeddings->similar(*view, w.id("person3_0"), 5).value().value();
  for (const auto& one : left) {
    for (const auto& gone : similar) CHECK(one.entity != gone.entity);
  }
}

TEST_CASE("embedding scorers: the fact that the question's vectors predict wins") {
  World w;
  for (const ModelKind kind : {ModelKind::transe, ModelKind::transh, ModelKind::transr}) {
    CAPTURE(model_name(kind));
    const EmbeddingSet set = trained(*w.view, kind);
    const auto embeddings = KbEmbeddings::make(set, *w.view).value();
    const auto scorer = make_reconstruction(embeddings).value();
    const auto model = Model<float>::make(set.model);
    std::vector<float> head(16), relation(static_cast<std::size_t>(model->relation_size()));
    model->pack_entity(set.tables.entities.row(*embeddings->row(w.id("country4"))), head.data());
    model->pack_relation(set.tables.relations.row(*embeddings->relation_row(w.id("capital"))),
                         relation.data());
    relation.resize(16);  // the translation
    head[3] += 0.01F;     // a prediction is never exact
    const QuestionContext question{head, relation, {}};
    const auto score = [&](const char* h, const char* r) {
      return scorer->score(*w.view, question, {w.id(h), w.id(r), false, {}}).value();
    };
    const double right = score("country4", "capital").value();
    CHECK(right <= 0);
    CHECK(right > score("country5", "capital").value());
    CHECK(right > score("country4", "continent").value());
    CHECK(right > score("city4", "country").value());
    CHECK_FALSE(scorer->score(*w.view, {}, {w.id("country4"), w.id("capital"), false, {}}).value());
    CHECK_FALSE(score("country4", "population"));  // has no vector
  }
  const auto other = KbEmbeddings::make(trained(*w.view, ModelKind::complex), *w.view).value();
  CHECK(make_reconstruction(other).error().code == base::ErrorCode::unsupported);
}

TEST_CASE("embedding scorers: nearness tells entities of one name apart, types tell answers apart") {
  World w;
  const auto embeddings = KbEmbeddings::make(trained(*w.view), *w.view).value();
  const auto nearness = make_disambiguation(embeddings);
  const std::vector<std::vector<TermId>> mentions = {{w.id("person7_1"), w.id("person7_2")},
                                                     {w.id("city2"), w.id("city7")}};
  const QuestionContext question{{}, {}, mentions};
  const auto near = [&](const char* head) {
    return nearness->score(*w.view, question, {w.id(head), w.id("born"), false, {}}).value();
  };
  CHECK(near("city7").value() > near("city3").value());
  CHECK_FALSE(nearness->score(*w.view, {}, {w.id("city7"), w.id("born"), false, {}}).value());

  const auto types = make_type_consistency(embeddings);
  const auto fits = [&](const char* relation, bool inverse, std::vector<TermId> answers) {
    return types->score(*w.view, {}, {w.id("country1"), w.id(relation), inverse, std::move(answers)}).value();
  };
  CHECK(fits("born", false, {w.id("city9")}).value() > fits("born", false, {w.id("person3_1")}).value());
  CHECK(fits("born", true, {w.id("person3_1")}).value() > fits("born", true, {w.id("continent0")}).value());
  CHECK_FALSE(fits("born", false, {}));
  CHECK_FALSE(fits("population", false, {w.id("city1")}));
  CHECK(types->name() != nearness->name());
}
