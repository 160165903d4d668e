// Ranking the answers of facts that were held out among all entities: link prediction.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kb/embedding/facts.h"
#include "kb/embedding/model.h"
#include "nn/team.h"

namespace askbase::kb::embedding {

// Ranks count from 1; entities with the same score share the mean of their ranks. raw: among all entities;
// filtered: other entities that make a known fact are left out (Bordes et al. 2013, section 4.2). By
// asked end: [0] the tail, [1] the head.
struct FactRanks {
  double raw[2] = {0, 0}, filtered[2] = {0, 0};
};

struct RankOptions {
  bool reciprocal = false;  // heads are asked for by the inverse relations (TrainOptions)
  // Asked now and then, on the caller's thread, with the queries done; false stops, and the result is empty.
  std::function<bool(std::uint64_t done)> go_on;
};

// One entry a fact. Every index must lie inside the tables (std::logic_error). known: all facts that are
// taken for true, those asked for among them. Not for several threads with one team; the same numbers with
// any number of threads up to the rounding of matrix products.
std::vector<FactRanks> rank_facts(const Model<float>& model, const Tables<float>& tables,
                                  std::span<const Fact> facts, const QueryIndex& known,
                                  const RankOptions& options, nn::Team& team);

// The mean of 1 / rank over both ends, filtered; 0 for no facts.
double mean_reciprocal_rank(std::span<const FactRanks> ranks);

// scores(i, j): of query i with candidate j, higher is better; candidates as the model projects them, where
// it does. order_only: for L2, numbers in the same order instead, 2 q.c - |c|^2.
void score_block(const Model<float>& model, nn::View<const float> queries, nn::View<const float> candidates,
                 bool order_only, nn::View<float> scores, nn::Team& team);

}  // namespace askbase::kb::embedding
