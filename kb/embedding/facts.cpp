#include "kb/embedding/facts.h"

#include <algorithm>
#include <bit>

#include "kb/embedding/table.h"

namespace askbase::kb::embedding {

namespace {

struct Entry {
  Query query;
  std::uint32_t answer = 0;
  auto operator<=>(const Entry&) const = default;
};

std::uint32_t distinct(std::vector<std::uint32_t>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return static_cast<std::uint32_t>(items.size());
}

}  // namespace

QueryIndex::QueryIndex(std::initializer_list<std::span<const Fact>> parts) {
  std::size_t count = 0;
  for (const auto& part : parts) count += part.size();
  answers_.reserve(2 * count);
  std::vector<Entry> entries;
  entries.reserve(count);
  for (const Side missing : {Side::tail, Side::head}) {
    entries.clear();
    for (const auto& part : parts) {
      for (const Fact& fact : part) entries.push_back({query_of(fact, missing), answer_of(fact, missing)});
    }
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    for (const Entry& entry : entries) {
      if (queries_.empty() || queries_.back() != entry.query) {
        queries_.push_back(entry.query);
        offsets_.push_back(answers_.size());
      }
      answers_.push_back(entry.answer);
      offsets_.back() = answers_.size();
    }
  }
}

std::span<const std::uint32_t> QueryIndex::answers(const Query& query) const {
  const auto at = std::lower_bound(queries_.begin(), queries_.end(), query);
  if (at == queries_.end() || *at != query) return {};
  return answers(static_cast<std::size_t>(at - queries_.begin()));
}

FactFilter::FactFilter(std::span<const Fact> facts) {
  if (facts.empty()) return;
  mask_ = std::bit_ceil(2 * facts.size()) - 1;
  slots_ = make_table<std::uint32_t>(1, static_cast<nn::Index>(mask_ + 1));
  std::uint32_t* slots = slots_.data();
  for (const Fact& fact : facts) {
    const std::uint64_t hash = hash_of(fact);
    const std::uint32_t print = print_of(hash);
    std::size_t i = hash & mask_;
    while (slots[i] != 0 && slots[i] != print) i = (i + 1) & mask_;
    slots[i] = print;
  }
}

std::string_view category_name(Category category) {
  switch (category) {
    case Category::one_to_one:
      return "1-1";
    case Category::one_to_many:
      return "1-N";
    case Category::many_to_one:
      return "N-1";
    case Category::many_to_many:
      break;
  }
  return "N-N";
}

std::vector<RelationStatistics> relation_statistics(std::span<const Fact> facts, std::size_t relations) {
  std::vector<RelationStatistics> out(relations);
  for (const Fact& fact : facts) {
    RelationStatistics& one = out[fact.relation];
    ++one.facts;
    one.heads.push_back(fact.head);
    one.tails.push_back(fact.tail);
  }
  for (RelationStatistics& one : out) {
    if (one.facts == 0) continue;
    one.tails_per_head = static_cast<double>(one.facts) / distinct(one.heads);
    one.heads_per_tail = static_cast<double>(one.facts) / distinct(one.tails);
    one.heads.shrink_to_fit();
    one.tails.shrink_to_fit();
    const bool many_tails = one.tails_per_head > 1.5, many_heads = one.heads_per_tail > 1.5;
    one.category = many_tails ? (many_heads ? Category::many_to_many : Category::one_to_many)
                              : (many_heads ? Category::many_to_one : Category::one_to_one);
  }
  return out;
}

}  // namespace askbase::kb::embedding
