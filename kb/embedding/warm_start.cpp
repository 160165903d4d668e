#include "kb/embedding/warm_start.h"

#include <algorithm>
#include <cmath>

#include "kb/embedding/kernels.h"
#include "nn/random.h"

namespace askbase::kb::embedding {

namespace {

constexpr std::size_t max_facts = 64, negatives = 32;
constexpr int steps = 24;

float length_of(const float* row, Index n) { return std::sqrt(squares(row, n)); }

// Mean length of the trained rows, from a sample of them.
float usual_length(const EmbeddingSet& set, Index width) {
  const auto rows = static_cast<std::size_t>(std::max<std::uint64_t>(1, set.trained_entities));
  const std::size_t stride = std::max<std::size_t>(1, rows / 1000);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t r = 0; r < rows; r += stride, ++count)
    sum += static_cast<double>(length_of(set.tables.entities.row(static_cast<Index>(r)), width));
  return static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

std::optional<std::vector<float>> warm_start(const Model<float>& model, const EmbeddingSet& set,
                                             std::span<const NewFact> all) {
  if (all.empty() || set.trained_entities == 0) return std::nullopt;
  const std::span<const NewFact> facts = all.subspan(0, std::min(all.size(), max_facts));
  const Index width = model.entity_width();
  const bool place = model.query_width() == width;
  std::vector<float> row(static_cast<std::size_t>(width), 0.0F),
      q(static_cast<std::size_t>(model.query_width()));
  for (const NewFact& fact : facts) {
    const float* other = set.tables.entities.row(fact.other);
    const float* relation = set.tables.relations.row(fact.relation);
    if (place) model.query(fact.missing, other, relation, q.data());
    add_scaled(row.data(), 1.0F / static_cast<float>(facts.size()), place ? q.data() : other, width);
  }
  const float usual = usual_length(set, width);
  if (model.comparison() == Comparison::dot) {
    // Products say in which direction the entity lies, not how far.
    const float length = length_of(row.data(), width);
    if (length > 0) {
      for (float& x : row) x *= usual / length;
    }
  }

  // Adagrad on the softmax of each fact among facts with another entity in the place of the known one.
  nn::Random random(set.trained_entities, facts.size());
  const float rate = 0.1F * usual / std::sqrt(static_cast<float>(std::max<Index>(1, set.model.dim)));
  std::vector<float> gradient(row.size()), sums(row.size(), 0.0F), scores(negatives + 1);
  std::vector<float> unused(row.size()), unused_relation(static_cast<std::size_t>(model.relation_width()));
  std::vector<std::uint32_t> others(negatives + 1);
  for (int step = 0; step < steps; ++step) {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    for (const NewFact& fact : facts) {
      const float* relation = set.tables.relations.row(fact.relation);
      const auto with = [&](std::uint32_t other, auto&& use) {
        const float* its = set.tables.entities.row(other);
        return fact.missing == Side::head ? use(row.data(), its) : use(its, row.data());
      };
      others[0] = fact.other;
      float top = -INFINITY;
      for (std::size_t j = 0; j <= negatives; ++j) {
        if (j > 0) others[j] = static_cast<std::uint32_t>(random.below(set.trained_entities));
        scores[j] =
            with(others[j], [&](const float* h, const float* t) { return model.score(h, relation, t); });
        top = std::max(top, scores[j]);
      }
      float sum = 0;
      for (float& s : scores) sum += s = std::exp(s - top);
      for (std::size_t j = 0; j <= negatives; ++j) {
        const float weight = scores[j] / sum - (j == 0 ? 1.0F : 0.0F);
        with(others[j], [&](const float* h, const float* t) {
          const bool head = fact.missing == Side::head;
          model.add_gradient(h, relation, t, weight, head ? gradient.data() : unused.data(),
                             unused_relation.data(), head ? unused.data() : gradient.data());
          return 0;
        });
      }
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const float g = gradient[i] / static_cast<float>(facts.size());
      sums[i] += g * g;
      row[i] -= rate * g / (std::sqrt(sums[i]) + 1e-10F);
    }
  }
  return row;
}

}  // namespace askbase::kb::embedding
