#include "qa/learned_relations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace askbase::qa {
namespace {

constexpr std::size_t most_learned = 8;  // predicates that the matcher adds

class JoinedMatcher : public RelationMatcher {
 public:
  JoinedMatcher(std::unique_ptr<RelationMatcher> lexical, const Question& question,
                const PathMatcher& matcher, const EncodedPaths& paths)
      : lexical_(std::move(lexical)), question_(question), matcher_(matcher), paths_(paths) {}

  std::vector<RelationMatch> match(const Mask& names, std::size_t limit) const override {
    const Scored& scored = scored_for(names);
    std::vector<RelationMatch> out = scored.lexical;
    if (out.size() > limit) out.resize(limit);
    for (const std::size_t predicate : scored.likely) add(predicate, scored, out);
    return out;
  }

  std::vector<RelationMatch> best_of(const Mask& names, std::span<const std::size_t> predicates,
                                     std::size_t limit) const override {
    const Scored& scored = scored_for(names);
    std::vector<std::size_t> order(predicates.begin(), predicates.end());
    const std::size_t kept = std::min(limit, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return scored.logits[path_of(a, false)] > scored.logits[path_of(b, false)];
                      });
    order.resize(kept);
    std::vector<RelationMatch> out;
    for (const std::size_t predicate : order) add(predicate, scored, out);
    return out;
  }

 private:
  struct Scored {
    std::vector<RelationMatch> lexical;  // all of them, best first
    std::vector<float> logits;           // of each path
    float all = 0;                       // log of the sum of exp
    std::vector<std::size_t> likely;     // predicates
  };

  const Scored& scored_for(const Mask& names) const {
    const auto [at, added] = scored_.try_emplace(names);
    if (added) score(names, at->second);
    return at->second;
  }

  void score(const Mask& names, Scored& scored) const {
    std::vector<MentionRange> mentions;
    for (std::size_t i = 0; i < names.size();) {
      std::size_t end = i;
      while (end < names.size() && names[end] != 0) ++end;
      if (end > i) mentions.push_back({question_.units[i].begin, question_.units[end - 1].end});
      i = std::max(end, i + 1);
    }
    const MatchQuestion prepared = matcher_.prepare(question_.text, mentions);
    scored.logits.resize(paths_.size());
    matcher_.score(prepared, paths_, {}, scored.logits, scratch_);
    scored.all = log_of_sum(scored.logits);

    std::vector<std::size_t> order(paths_.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t kept = std::min(most_learned, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::size_t a, std::size_t b) { return scored.logits[a] > scored.logits[b]; });
    for (std::size_t i = 0; i < kept; ++i) scored.likely.push_back(order[i] / 2);
    scored.lexical = lexical_->match(names, paths_.size());
    for (RelationMatch& match : scored.lexical) set_learned(match, scored);
  }

  static void set_learned(RelationMatch& match, const Scored& scored) {
    match.learned = true;
    for (const bool inverse : {false, true}) {
      const float logit = scored.logits[path_of(match.predicate, inverse)];
      match.logit[inverse ? 1 : 0] = logit;
      match.log_share[inverse ? 1 : 0] = logit - scored.all;
    }
  }

  void add(std::size_t predicate, const Scored& scored, std::vector<RelationMatch>& out) const {
    const auto same = [&](const RelationMatch& match) { return match.predicate == predicate; };
    if (std::any_of(out.begin(), out.end(), same)) return;
    const auto said = std::find_if(scored.lexical.begin(), scored.lexical.end(), same);
    if (said != scored.lexical.end()) {
      out.push_back(*said);
      return;
    }
    RelationMatch match;
    match.predicate = predicate;
    match.explained.assign(question_.units.size(), 0);
    set_learned(match, scored);
    out.push_back(std::move(match));
  }

  std::unique_ptr<RelationMatcher> lexical_;
  const Question& question_;
  const PathMatcher& matcher_;
  const EncodedPaths& paths_;
  mutable std::map<Mask, Scored> scored_;
  mutable PathMatcher::Scratch scratch_;
};

}  // namespace

float log_of_sum(std::span<const float> logits) {
  const float top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - top));
  return top + static_cast<float>(std::log(sum));
}

std::unique_ptr<RelationMatcher> with_path_matcher(std::unique_ptr<RelationMatcher> lexical,
                                                   const Question& question, const PathMatcher& matcher,
                                                   const EncodedPaths& paths) {
  return std::make_unique<JoinedMatcher>(std::move(lexical), question, matcher, paths);
}

}  // namespace askbase::qa
