#include "qa/chain_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "qa/learned.h"

namespace askbase::qa {
namespace {

constexpr std::size_t least_facts = 24;  // read of each entity, however many there are

bool can_go_on(kb::TermId id) {
  return kb::id_type(id) == kb::IdType::iri || kb::id_type(id) == kb::IdType::blank;
}

kb::Pattern pattern_of(kb::TermId entity, std::optional<kb::TermId> predicate, bool inverse) {
  kb::Pattern pattern;
  (inverse ? pattern.object : pattern.subject) = entity;
  if (predicate) pattern.predicate = *predicate;
  return pattern;
}

// The relations of some entities as they are found.
class Reached {
 public:
  Reached(const Lexicon& lexicon, std::size_t most) : lexicon_(lexicon), most_(most) {}

  void add(const kb::Triple& fact, bool inverse) {
    const std::optional<std::size_t> predicate = lexicon_.predicate_index(fact.predicate);
    const kb::TermId end = inverse ? fact.subject : fact.object;
    if (!predicate || lexicon_.is_schema(end)) return;
    std::vector<kb::TermId>& ends = ends_[{*predicate, inverse}];
    if (ends.size() < most_ && std::find(ends.begin(), ends.end(), end) == ends.end()) ends.push_back(end);
  }
  std::vector<ReachedBy> take() {
    std::vector<ReachedBy> out;
    for (auto& [step, ends] : ends_) out.push_back({step, std::move(ends)});
    return out;
  }

 private:
  const Lexicon& lexicon_;
  std::size_t most_;
  std::map<ChainStep, std::vector<kb::TermId>> ends_;
};

// What leads back to where the path began is asked for last: "films by the director of X" are others.
void put_last(std::vector<kb::TermId>& ends, kb::TermId start) {
  const auto at = std::find(ends.begin(), ends.end(), start);
  if (at != ends.end()) std::rotate(at, at + 1, ends.end());
}

std::vector<ChainStep> most_likely(std::span<const float> alone, std::size_t most) {
  std::vector<std::size_t> order(alone.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t kept = std::min(most, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [&](std::size_t a, std::size_t b) { return std::pair(-alone[a], a) < std::pair(-alone[b], b); });
  std::vector<ChainStep> out;
  for (std::size_t i = 0; i < kept; ++i) out.push_back({order[i] / 2, order[i] % 2 == 1});
  return out;
}

}  // namespace

base::Result<std::vector<ReachedBy>> expand(const kb::View& view, const Lexicon& lexicon,
                                            std::span<const kb::TermId> from, const ChainLimits& limits,
                                            std::span<const ChainStep> likely) {
  const std::size_t entities = std::min(from.size(), limits.entities);
  const std::size_t each = std::max(least_facts, limits.facts / std::max<std::size_t>(1, entities));
  Reached reached(lexicon, limits.entities);
  for (const kb::TermId entity : from.subspan(0, entities)) {
    if (!can_go_on(entity)) continue;
    for (const bool inverse : {false, true}) {
      std::size_t seen = 0;
      ASKBASE_TRY(view.match(pattern_of(entity, {}, inverse), [&](const kb::Triple& fact) {
        reached.add(fact, inverse);
        return ++seen < each;
      }));
      if (seen < each) continue;
      for (const ChainStep& step : likely) {
        if (step.inverse != inverse) continue;
        std::size_t found = 0;
        ASKBASE_TRY(view.match(pattern_of(entity, lexicon.predicates()[step.predicate].id, inverse),
                               [&](const kb::Triple& fact) {
                                 reached.add(fact, inverse);
                                 return ++found < limits.entities;
                               }));
      }
    }
  }
  return reached.take();
}

base::Result<std::vector<FoundChain>> search_chains(const kb::View& view, const Lexicon& lexicon,
                                                    kb::TermId start, std::span<const float> alone,
                                                    const ChainLimits& limits, const ChainScorer& scorer,
                                                    const Deadline& deadline) {
  const std::vector<ChainStep> likely = most_likely(alone, limits.likely);
  const auto by_itself = [&](const FoundChain& chain) {
    const ChainStep& last = chain.chain.back();
    const std::size_t path = path_of(last.predicate, last.inverse);
    return path < alone.size() ? alone[path] : 0.0F;
  };
  std::vector<FoundChain> all, beam{{{}, {start}, 0}};
  for (std::size_t step = 0; step < limits.steps && !beam.empty(); ++step) {
    std::vector<FoundChain> longer;
    for (const FoundChain& chain : beam) {
      if (deadline.passed()) break;
      ASKBASE_ASSIGN(std::vector<ReachedBy> reached, expand(view, lexicon, chain.ends, limits, likely));
      for (ReachedBy& next : reached) {
        put_last(next.ends, start);
        longer.push_back({chain.chain, std::move(next.ends), 0});
        longer.back().chain.push_back(next.step);
      }
    }
    if (deadline.passed()) break;
    if (longer.size() > limits.paths) {
      std::stable_sort(longer.begin(), longer.end(),
                       [&](const FoundChain& a, const FoundChain& b) { return by_itself(a) > by_itself(b); });
      longer.resize(limits.paths);
    }
    std::vector<Chain> chains;
    chains.reserve(longer.size());
    for (const FoundChain& chain : longer) chains.push_back(chain.chain);
    std::vector<float> scores(chains.size());
    scorer(chains, scores);
    for (std::size_t i = 0; i < longer.size(); ++i) longer[i].score = scores[i];
    std::stable_sort(longer.begin(), longer.end(),
                     [](const FoundChain& a, const FoundChain& b) { return a.score > b.score; });
    beam.assign(longer.begin(),
                longer.begin() + static_cast<std::ptrdiff_t>(std::min(limits.beam, longer.size())));
    std::move(longer.begin(), longer.end(), std::back_inserter(all));
  }
  // Of equally good paths the shorter one.
  std::stable_sort(all.begin(), all.end(),
                   [](const FoundChain& a, const FoundChain& b) { return a.score > b.score; });
  return all;
}

base::Result<Followed> follow_chain(const kb::View& view, const Lexicon& lexicon, kb::TermId start,
                                    const Chain& chain, std::size_t most, std::size_t most_facts,
                                    const Deadline& deadline) {
  struct Walked {
    kb::Triple fact;
    std::size_t from = 0, to = 0;  // places among the ends of the step before and of this one
    bool leads_on = false;
  };
  std::vector<std::vector<Walked>> walked;
  Followed out;
  std::vector<kb::TermId> ends{start};
  std::vector<std::size_t> order{0};  // in which the ends are followed
  for (const ChainStep& step : chain) {
    std::vector<Walked> facts;
    std::vector<kb::TermId> next;
    std::unordered_map<std::uint64_t, std::size_t> place;
    std::size_t seen = 0;
    for (const std::size_t from : order) {
      if (!can_go_on(ends[from])) continue;
      if (seen >= most || deadline.passed()) {
        out.cut = true;
        break;
      }
      ASKBASE_TRY(view.match(pattern_of(ends[from], lexicon.predicates()[step.predicate].id, step.inverse),
                             [&](const kb::Triple& fact) {
                               const kb::TermId end = step.inverse ? fact.subject : fact.object;
                               if (!lexicon.is_schema(end)) {
                                 const auto [at, added] = place.try_emplace(end.bits, next.size());
                                 if (added) next.push_back(end);
                                 facts.push_back({fact, from, at->second, false});
                               }
                               return ++seen < most;
                             }));
    }
    out.cut = out.cut || seen >= most;
    walked.push_back(std::move(facts));
    ends = std::move(next);
    order.resize(ends.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return ends[i] != start; });
  }
  for (const std::size_t i : order) out.answers.push_back(ends[i]);

  // What leads to an answer, from the last step back.
  std::vector<char> alive(ends.size(), 1);
  for (std::size_t step = walked.size(); step-- > 0;) {
    std::vector<char> before;
    for (Walked& walk : walked[step]) {
      walk.leads_on = alive[walk.to] != 0;
      if (!walk.leads_on) continue;
      ++out.fact_count;
      if (walk.from >= before.size()) before.resize(walk.from + 1, 0);
      before[walk.from] = 1;
    }
    if (step > 0) {
      std::size_t width = before.size();
      for (const Walked& walk : walked[step - 1]) width = std::max(width, walk.to + 1);
      before.resize(width, 0);
    }
    alive = std::move(before);
  }
  for (const std::size_t answer : order) {
    std::vector<kb::Triple> walk;
    std::size_t at = answer;
    for (std::size_t step = walked.size(); step-- > 0;) {
      const auto found = std::find_if(walked[step].begin(), walked[step].end(),
                                      [&](const Walked& one) { return one.to == at; });
      walk.push_back(found->fact);
      at = found->from;
    }
    for (auto fact = walk.rbegin(); fact != walk.rend(); ++fact) {
      if (std::find(out.facts.begin(), out.facts.end(), *fact) == out.facts.end()) out.facts.push_back(*fact);
    }
    if (out.facts.size() >= most_facts) break;
  }
  if (out.facts.size() > most_facts) out.facts.resize(most_facts);
  return out;
}

}  // namespace askbase::qa
