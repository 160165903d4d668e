// Ranks against a ranker that compares every entity one by one; nearest neighbours.
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <set>
#include <tuple>
#include <vector>

#include "kb/embedding/evaluate.h"
#include "kb/embedding/neighbours.h"
#include "nn/random.h"
#include "tests/kb_embedding_support.h"

using namespace askbase;
using namespace askbase::kb::embedding;
using namespace askbase::test;

namespace {

std::vector<Fact> random_facts(std::uint32_t entities, std::uint32_t relations, std::size_t count,
                               std::uint64_t seed) {
  nn::Random random(seed);
  std::set<Fact> facts;
  while (facts.size() < count) {
    facts.insert({static_cast<std::uint32_t>(random.below(entities)),
                  static_cast<std::uint32_t>(random.below(relations)),
                  static_cast<std::uint32_t>(random.below(entities))});
  }
  return {facts.begin(), facts.end()};
}

// Numbers of few values, so that many scores are equal, and exactly so in any order of adding.
void make_coarse(Tables<float>& tables, std::uint64_t seed, bool phases) {
  nn::Random random(seed);
  for (nn::Matrix<float>* table : {&tables.entities, &tables.relations}) {
    for (Index i = 0; i < table->size(); ++i) {
      float& x = table->data()[i];
      if (x != 0) x = static_cast<float>(random.below(3)) - 1.0F;
      if (phases && table == &tables.relations) x = 0;
    }
  }
}

}  // namespace

TEST_CASE("embedding evaluation: ranks are those of brute force, ties at their mean rank") {
  const std::uint32_t entities = 40, relations = 3;
  const auto facts = random_facts(entities, relations, 160, 1);
  const std::vector<Fact> asked(facts.begin(), facts.begin() + 50);
  const QueryIndex known({facts});
  for (const ModelConfig& config : all_models(4, 2)) {
    for (const bool reciprocal : {false, true}) {
      CAPTURE(case_name(config));
      const auto model = Model<float>::make(config);
      Tables<float> tables;
      model->initialise(tables, entities, relations * (reciprocal ? 2 : 1), 7, 1);
      make_coarse(tables, 8, config.kind == ModelKind::rotate);
      const auto ranks =
          rank_facts(*model, tables, asked, known, {.reciprocal = reciprocal, .go_on = {}}, nn::one_thread());
      REQUIRE(ranks.size() == asked.size());
      bool ties = false;
      for (std::size_t f = 0; f < asked.size(); ++f) {
        for (const Side side : {Side::tail, Side::head}) {
          const Fact& fact = asked[f];
          const auto score = [&](std::uint32_t e) {
            const float* other = tables.entities.row(side == Side::tail ? fact.head : fact.tail);
            const float* one = tables.entities.row(e);
            const std::uint32_t r = fact.relation + (reciprocal && side == Side::head ? relations : 0);
            const bool turned = side == Side::head && !reciprocal;
            // With inverse relations heads are asked for as tails of the inverse.
            return turned ? model->score(one, tables.relations.row(r), other)
                          : model->score(other, tables.relations.row(r), one);
          };
          const std::uint32_t answer = answer_of(fact, side);
          const float own = score(answer);
          double raw = 1, filtered = 1;
          for (std::uint32_t e = 0; e < entities; ++e) {
            if (e == answer) continue;
            const double weight = score(e) > own ? 1 : score(e) == own ? 0.5 : 0;
            if (weight == 0.5) ties = true;
            raw += weight;
            const Fact as_fact =
                side == Side::tail ? Fact{fact.head, fact.relation, e} : Fact{e, fact.relation, fact.tail};
            if (std::find(facts.begin(), facts.end(), as_fact) == facts.end()) filtered += weight;
          }
          const auto s = static_cast<std::size_t>(side);
          CHECK(ranks[f].raw[s] == raw);
          CHECK(ranks[f].filtered[s] == filtered);
        }
      }
      CHECK(ties);
    }
  }
}

TEST_CASE("embedding evaluation: the number of threads changes nothing, a stop gives nothing") {
  const auto facts = random_facts(300, 5, 800, 2);
  const QueryIndex known({facts});
  const auto model = Model<float>::make({.dim = 24});
  Tables<float> tables;
  model->initialise(tables, 300, 5, 3, 0.4);
  nn::Team team(3);
  const auto one = rank_facts(*model, tables, facts, known, {}, nn::one_thread());
  const auto three = rank_facts(*model, tables, facts, known, {}, team);
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    worst = std::max(worst, std::abs(one[i].filtered[0] - three[i].filtered[0]));
  CHECK(worst <= 1);  // rounding may turn two neighbours
  CHECK(mean_reciprocal_rank(one) == doctest::Approx(mean_reciprocal_rank(three)).epsilon(1e-3));
  CHECK(mean_reciprocal_rank({}) == 0);
  RankOptions stop;
  stop.go_on = [](std::uint64_t) { return false; };
  CHECK(rank_facts(*model, tables, facts, known, stop, nn::one_thread()).empty());
  const std::vector<Fact> outside = {{0, 0, 300}};
  CHECK_THROWS_AS(rank_facts(*model, tables, outside, known, {}, nn::one_thread()), std::logic_error);
}

TEST_CASE("embedding evaluation: answers that are no numbers rank last") {
  const auto model = Model<float>::make({.dim = 8});
  Tables<float> tables;
  model->initialise(tables, 10, 1, 3, 0.4);
  tables.entities(4, 2) = std::nanf("");
  const std::vector<Fact> facts = {{0, 0, 4}};
  const auto ranks = rank_facts(*model, tables, facts, QueryIndex({facts}), {}, nn::one_thread());
  CHECK(ranks[0].filtered[0] == 10);
}

TEST_CASE("embedding evaluation: all answers of a query, each once") {
  const std::vector<Fact> a = {{0, 0, 2}, {0, 0, 1}, {3, 1, 2}}, b = {{0, 0, 1}, {0, 0, 5}};
  const QueryIndex index({a, b});
  const auto answers = [&](Query query) {
    const auto found = index.answers(query);
    return std::vector<std::uint32_t>(found.begin(), found.end());
  };
  CHECK(answers({Side::tail, 0, 0}) == std::vector<std::uint32_t>{1, 2, 5});
  CHECK(answers({Side::head, 2, 0}) == std::vector<std::uint32_t>{0});
  CHECK(answers({Side::head, 9, 0}).empty());
  CHECK(index.size() == 6);
  CHECK(QueryIndex().answers({Side::tail, 0, 0}).empty());
}

TEST_CASE("embedding neighbours: all compared, and by a graph") {
  const Index count = 3000, dim = 12;
  nn::Random random(5);
  nn::Matrix<float> rows(count, dim);
  for (Index i = 0; i < rows.size(); ++i) rows.data()[i] = static_cast<float>(random.normal());
  for (Index i = 0; i < dim; ++i) rows(7, i) = 0;               // nobody's neighbour
  for (Index i = 0; i < dim; ++i) rows(9, i) = 3 * rows(8, i);  // the same direction
  const auto exact = NeighbourIndex::build(rows.view(), 1);
  CHECK(exact.exact());
  const auto near = exact.nearest({rows.row(8), static_cast<std::size_t>(dim)}, 5, 8);
  REQUIRE(near.size() == 5);
  CHECK(near[0].row == 9);
  CHECK(near[0].similarity == doctest::Approx(1).epsilon(1e-5));
  for (std::size_t i = 1; i < near.size(); ++i) CHECK(near[i].similarity <= near[i - 1].similarity);
  CHECK(exact.nearest({rows.row(0), static_cast<std::size_t>(dim)}, 5000).size() == 2999);

  const auto graph = NeighbourIndex::build(rows.view(), 2, 1000);
  CHECK_FALSE(graph.exact());
  int found = 0;
  for (Index q = 100; q < 200; ++q) {
    const std::span<const float> query(rows.row(q), static_cast<std::size_t>(dim));
    const auto a = exact.nearest(query, 10), b = graph.nearest(query, 10);
    for (const Neighbour& one : a)
      found += std::any_of(b.begin(), b.end(), [&](const Neighbour& x) { return x.row == one.row; }) ? 1 : 0;
  }
  CHECK(found > 950);

  const ScratchFolder folder;
  REQUIRE(graph.save(folder / "graph"));
  const auto opened = NeighbourIndex::open(rows.view(), folder / "graph", 1000);
  CHECK_FALSE(opened.exact());
  const std::span<const float> query(rows.row(3), static_cast<std::size_t>(dim));
  CHECK(opened.nearest(query, 3)[0].row == 3);
  rows(0, 0) += 1;  // another set of vectors: the graph is not theirs
  CHECK(NeighbourIndex::open(rows.view(), folder / "graph", 1000).exact());
  CHECK(NeighbourIndex::open(rows.view(), folder / "none", 1000).exact());
  REQUIRE(exact.save(folder / "nothing"));
  CHECK_FALSE(std::filesystem::exists(folder / "nothing"));
}
