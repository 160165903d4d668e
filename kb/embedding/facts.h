// Facts as small integers: what embeddings are trained on and measured with.
//
// Entities and relations are counted from 0; who they are is told by the names of an EmbeddingSet
// (kb/embedding/vectors.h) or of a dataset (datasets/link_prediction.h).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nn/matrix.h"

namespace askbase::kb::embedding {

struct Fact {
  std::uint32_t head = 0, relation = 0, tail = 0;
  auto operator<=>(const Fact&) const = default;
};

// Which end of a fact is asked for: (head, relation, ?) or (?, relation, tail).
enum class Side : std::uint8_t { tail, head };

// One question about a fact with an end left out: the end that is given, and the relation.
struct Query {
  Side missing = Side::tail;
  std::uint32_t anchor = 0, relation = 0;
  auto operator<=>(const Query&) const = default;
};
inline Query query_of(const Fact& fact, Side missing) {
  return {missing, missing == Side::tail ? fact.head : fact.tail, fact.relation};
}
inline std::uint32_t answer_of(const Fact& fact, Side missing) {
  return missing == Side::tail ? fact.tail : fact.head;
}

// All answers to every query that the facts pose, each list ascending. Immutable: thread-safe.
class QueryIndex {
 public:
  QueryIndex() = default;
  // Of all these facts together; a fact that comes twice counts once.
  explicit QueryIndex(std::initializer_list<std::span<const Fact>> parts);

  std::size_t size() const { return queries_.size(); }
  const Query& query(std::size_t i) const { return queries_[i]; }
  std::span<const std::uint32_t> answers(std::size_t i) const {
    return {answers_.data() + offsets_[i], answers_.data() + offsets_[i + 1]};
  }
  // Empty when no fact poses the query.
  std::span<const std::uint32_t> answers(const Query& query) const;

 private:
  std::vector<Query> queries_;  // ascending
  std::vector<std::size_t> offsets_{0};
  std::vector<std::uint32_t> answers_;
};

// Whether a fact is among those given, in one look at memory: for negatives that are no facts. Keeps 32 bits
// a fact, so that once in some hundred million questions a stranger is taken for a fact: that negative is
// then drawn again, and nothing else happens. Immutable: thread-safe.
class FactFilter {
 public:
  FactFilter() = default;
  explicit FactFilter(std::span<const Fact> facts);
  bool contains(const Fact& fact) const {
    if (slots_.empty()) return false;
    const std::uint64_t hash = hash_of(fact);
    const std::uint32_t* slots = slots_.data();
    for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
      if (slots[i] == 0) return false;
      if (slots[i] == print_of(hash)) return true;
    }
  }
  // Has the place where contains() will look brought near.
  void prefetch(const Fact& fact) const {
    if (!slots_.empty()) __builtin_prefetch(slots_.data() + (hash_of(fact) & mask_));
  }

 private:
  static std::uint64_t hash_of(const Fact& fact) {
    std::uint64_t z = (std::uint64_t{fact.head} << 32 | fact.tail) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 31) ^ fact.relation) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 29)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 32);
  }
  static std::uint32_t print_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32) | 1U; }
  std::size_t mask_ = 0;
  nn::Matrix<std::uint32_t> slots_;  // 0: free
};

// 1-1, 1-N, N-1, N-N: by whether more than 1.5 tails a head, and heads a tail, stand in the facts of the
// relation (Bordes et al. 2013, section 4.3).
enum class Category : std::uint8_t { one_to_one, one_to_many, many_to_one, many_to_many };
std::string_view category_name(Category category);  // "1-1", "1-N", "N-1", "N-N"

struct RelationStatistics {
  std::uint32_t facts = 0;
  double tails_per_head = 0, heads_per_tail = 0;  // means over the heads, and tails, that the relation has
  Category category = Category::one_to_one;
  std::vector<std::uint32_t> heads, tails;  // ascending, each once
};
// One entry a relation, 0 to relations - 1.
std::vector<RelationStatistics> relation_statistics(std::span<const Fact> facts, std::size_t relations);

}  // namespace askbase::kb::embedding
