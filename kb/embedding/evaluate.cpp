#include "kb/embedding/evaluate.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "kb/embedding/kernels.h"
#include "nn/gemm.h"

namespace askbase::kb::embedding {

namespace {

using Floats = Vector<float>;

constexpr Index kBlockQueries = 64;

// How many of the scores lie above the bound, and how many equal it.
struct Counts {
  std::uint32_t above = 0, equal = 0;
};
Counts count_scores(const float* scores, Index n, float bound) {
  VectorOf<float>::Mask above{}, equal{};
  const Floats b = splat(bound);
  Index j = 0;
  for (; j + kGroup <= n; j += kGroup) {
    const Floats v = load(scores + j);
    above -= v > b;
    equal -= v == b;
  }
  Counts out;
  for (Index k = 0; k < kGroup; ++k) {
    out.above += static_cast<std::uint32_t>(above[k]);
    out.equal += static_cast<std::uint32_t>(equal[k]);
  }
  for (; j < n; ++j) {
    out.above += scores[j] > bound ? 1 : 0;
    out.equal += scores[j] == bound ? 1 : 0;
  }
  return out;
}

// -|q - c| in L1 for four queries and one candidate at a time, which stays in registers.
void l1_scores(nn::View<const float> queries, nn::View<const float> candidates, nn::View<float> scores) {
  const Index n = queries.cols;
  for (Index i = 0; i < queries.rows; i += 4) {
    const Index rows = std::min<Index>(4, queries.rows - i);
    const float* q[4];
    for (Index k = 0; k < 4; ++k) q[k] = queries.row(i + std::min(k, rows - 1));
    for (Index c = 0; c < candidates.rows; ++c) {
      const float* p = candidates.row(c);
      Floats s0{}, s1{}, s2{}, s3{};
      for (Index k = 0; k < n; k += kGroup) {
        const Floats v = load(p + k);
        s0 += absolute<float>(load(q[0] + k) - v);
        s1 += absolute<float>(load(q[1] + k) - v);
        s2 += absolute<float>(load(q[2] + k) - v);
        s3 += absolute<float>(load(q[3] + k) - v);
      }
      const float sums[4] = {sum_of<float>(s0), sum_of<float>(s1), sum_of<float>(s2), sum_of<float>(s3)};
      for (Index k = 0; k < rows; ++k) scores(i + k, c) = -sums[k];
    }
  }
}

void moduli_scores(nn::View<const float> queries, nn::View<const float> candidates, nn::View<float> scores) {
  for (Index i = 0; i < queries.rows; ++i) {
    for (Index c = 0; c < candidates.rows; ++c)
      scores(i, c) = ModuliCompare<float>::compare(queries.row(i), candidates.row(c), queries.cols);
  }
}

}  // namespace

void score_block(const Model<float>& model, nn::View<const float> queries, nn::View<const float> candidates,
                 bool order_only, nn::View<float> scores, nn::Team& team) {
  const Comparison comparison = model.comparison();
  if (comparison == Comparison::l1 || comparison == Comparison::moduli) {
    // Blocks of candidates that stay in the cache for all the queries.
    team.parallel_for((candidates.rows + 63) / 64, 1, [&](Index first, Index last) {
      for (Index block = first; block < last; ++block) {
        const Index from = block * 64, many = std::min<Index>(64, candidates.rows - from);
        (comparison == Comparison::l1 ? l1_scores : moduli_scores)(queries, candidates.rows_from(from, many),
                                                                   scores.cols_from(from, many));
      }
    });
    return;
  }
  nn::gemm<float>(nn::Op::none, nn::Op::transpose, comparison == Comparison::l2 ? 2.0F : 1.0F, queries,
                  candidates, 0.0F, scores, team);
  if (comparison == Comparison::dot) return;
  team.parallel_for(candidates.rows, 256, [&](Index begin, Index end) {
    std::vector<float> c2(static_cast<std::size_t>(end - begin));
    for (Index c = begin; c < end; ++c)
      c2[static_cast<std::size_t>(c - begin)] = squares(candidates.row(c), candidates.cols);
    for (Index i = 0; i < queries.rows; ++i) {
      float* s = scores.row(i) + begin;
      for (Index c = 0; c < end - begin; ++c) s[c] -= c2[static_cast<std::size_t>(c)];
      if (order_only) continue;
      const float q2 = squares(queries.row(i), queries.cols);
      for (Index c = 0; c < end - begin; ++c) s[c] = -std::sqrt(std::max(0.0F, q2 - s[c]));
    }
  });
}

std::vector<FactRanks> rank_facts(const Model<float>& model, const Tables<float>& tables,
                                  std::span<const Fact> facts, const QueryIndex& known,
                                  const RankOptions& options, nn::Team& team) {
  const auto entities = static_cast<std::size_t>(tables.entities.rows());
  const auto all_relations = static_cast<std::size_t>(tables.relations.rows());
  const std::size_t relations = options.reciprocal ? all_relations / 2 : all_relations;
  for (const Fact& fact : facts) {
    if (fact.head >= entities || fact.tail >= entities || fact.relation >= relations)
      throw std::logic_error("kb::embedding: a fact outside the tables is ranked");
  }
  // Facts by the query they pose, so that each is scored once; by relation first, for models that project.
  struct Place {
    Query asked;             // of the model: with inverse relations always for the tail
    Side side = Side::tail;  // of the fact
    std::size_t fact = 0;
  };
  std::vector<Place> places;
  places.reserve(2 * facts.size());
  for (std::size_t f = 0; f < facts.size(); ++f) {
    for (const Side side : {Side::tail, Side::head}) {
      Query asked = query_of(facts[f], side);
      if (options.reciprocal && side == Side::head) {
        asked.missing = Side::tail;
        asked.relation += static_cast<std::uint32_t>(relations);
      }
      places.push_back({asked, side, f});
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.asked.relation, a.asked, a.fact) < std::tie(b.asked.relation, b.asked, b.fact);
  });

  std::vector<FactRanks> ranks(facts.size());
  nn::Matrix<float> projected, queries, scores;
  std::vector<std::size_t> starts;  // of each query of a block, in places
  std::optional<std::uint32_t> projected_relation;
  for (std::size_t begin = 0; begin < places.size();) {
    if (options.go_on && !options.go_on(begin)) return {};
    starts.clear();
    std::size_t end = begin;
    const std::uint32_t relation = places[begin].asked.relation;
    while (end < places.size() && (!model.projects() || places[end].asked.relation == relation)) {
      if (end == begin || places[end].asked != places[end - 1].asked) {
        if (static_cast<Index>(starts.size()) == kBlockQueries) break;
        starts.push_back(end);
      }
      ++end;
    }
    const Index count = static_cast<Index>(starts.size());
    starts.push_back(end);
    queries.resize(count, model.query_width());
    for (Index i = 0; i < count; ++i) {
      const Query& query = places[starts[static_cast<std::size_t>(i)]].asked;
      model.query(query.missing, tables.entities.row(query.anchor), tables.relations.row(query.relation),
                  queries.row(i));
    }
    nn::View<const float> candidates = tables.entities.view();
    if (model.projects()) {
      if (projected_relation != relation) {
        projected.resize(tables.entities.rows(), model.query_width());
        model.project(tables.relations.row(relation), tables.entities, projected, team);
        projected_relation = relation;
      }
      candidates = projected.view();
    }
    scores.resize(count, tables.entities.rows());
    score_block(model, queries, candidates, true, scores, team);
    team.parallel_for(count, 4, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const float* s = scores.row(i);
        const auto from = starts[static_cast<std::size_t>(i)], to = starts[static_cast<std::size_t>(i) + 1];
        const Side side = places[from].side;
        const auto true_answers = known.answers(query_of(facts[places[from].fact], side));
        for (std::size_t p = from; p < to; ++p) {
          const std::uint32_t answer = answer_of(facts[places[p].fact], side);
          const float own = s[answer];
          const Counts raw = count_scores(s, scores.cols(), own);
          Counts others;  // known ones
          for (const std::uint32_t other : true_answers) {
            if (other == answer) continue;
            others.above += s[other] > own ? 1 : 0;
            others.equal += s[other] == own ? 1 : 0;
          }
          FactRanks& out = ranks[places[p].fact];
          const auto which = static_cast<std::size_t>(side);
          if (raw.equal == 0) {  // not a number: equals nothing, ranks last
            out.raw[which] = out.filtered[which] = static_cast<double>(entities);
            continue;
          }
          // Equal ones count half; raw.equal holds the answer itself.
          out.raw[which] = 1 + raw.above + 0.5 * (raw.equal - 1.0);
          out.filtered[which] = 1.0 + raw.above - others.above + 0.5 * (raw.equal - 1.0 - others.equal);
        }
      }
    });
    begin = end;
  }
  return ranks;
}

double mean_reciprocal_rank(std::span<const FactRanks> ranks) {
  if (ranks.empty()) return 0;
  double sum = 0;
  for (const FactRanks& one : ranks) sum += 1 / one.filtered[0] + 1 / one.filtered[1];
  return sum / (2 * static_cast<double>(ranks.size()));
}

}  // namespace askbase::kb::embedding
