#include <doctest/doctest.h>

#include "kb/entity_index.h"
#include "kb/store.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;

TEST_CASE("a fact goes in and comes out") {
  test::ScratchFolder folder;
  {
    auto store = Store::open(folder / "kb", OpenMode::create);
    REQUIRE(store);
    auto update = (*store)->begin_update();
    REQUIRE(update);
    const SourceId source = (*update)->source({.name = "people.ttl"}, true).value();
    REQUIRE(
        (*update)->add(source, Term::iri("urn:x:ann"), Term::iri("urn:x:knows"), Term::iri("urn:x:bob"), 1));
    REQUIRE((*update)->add(source, Term::iri("urn:x:ann"), Term::iri(std::string(iri::rdfs_label)),
                           Term::text("Ann", "en"), 2));
    auto summary = (*update)->commit();
    if (!summary) FAIL(summary.error().message);
    CHECK(summary->added == 2);
  }
  auto store = Store::open(folder / "kb", OpenMode::read_only);
  if (!store) FAIL(store.error().message);
  auto view = (*store)->view().value();
  CHECK(view->facts() == 2);
  CHECK(view->version() == 1);
  const TermId ann = view->find(Term::iri("urn:x:ann")).value().value();
  std::vector<Triple> found;
  REQUIRE(view->match({.subject = ann}, [&](const Triple& t) {
    found.push_back(t);
    return true;
  }));
  REQUIRE(found.size() == 2);
  CHECK(view->term(found[0].object).value() == Term::iri("urn:x:bob"));
  CHECK(view->origins(found[0]).value().at(0).row == 1);
  CHECK(find_exact(*view, "ANN").value().size() >= 1);
}
