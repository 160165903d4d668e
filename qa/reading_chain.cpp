// Readings of several steps: "where was the father of X born", "X的父亲的出生地".
//
// A matcher that learned paths (PathMatcher::steps) says itself which path the question asks for. One that
// learned single relations cannot tell a path from its parts; then every step has to be said by words of its
// own, in the order in which they stand away from the name, and together they have to explain more than a
// single fact does. Both look at real paths alone (qa/chain_search.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "qa/learned_relations.h"
#include "qa/reading.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_mentions = 3, max_candidates = 2;  // of which paths are looked for
constexpr std::size_t max_chains = 3;                        // readings of one candidate
constexpr std::size_t most_encoded = 96;                     // paths of a step, of all candidates
constexpr std::size_t max_ways = 2;                          // of saying a path
constexpr float sure_share = -0.105F;                        // log of 0.9
constexpr std::size_t max_followed = 1024;                   // facts of a step
constexpr std::size_t max_said = 64;                         // relations that words may name
constexpr float said_cover = 0.5F;                           // of a relation's text: it is said
constexpr float said_word = 0.5F;                            // a unit explained so well belongs to the step
constexpr float least_gain = 0.05F;    // of the question's words, explained by the path beyond single facts
constexpr float path_margin = 1;       // logits by which a path may lie behind the best single relation
constexpr float likely_share = 0.05F;  // of a predicate's sample in a class: the class fits

std::vector<MentionRange> ranges_of(const Question& question, const Mention& mention) {
  return {{.begin = question.units[mention.first].begin,
           .end = question.units[mention.last - 1].end,
           .type = {}}};
}

// Share of the weight of the question's words beside the name that is explained.
float covered(const Question& question, const Mask& names, const std::vector<float>& explained) {
  float all = 0, part = 0;
  for (std::size_t i = 0; i < question.units.size(); ++i) {
    if (names[i] != 0) continue;
    all += question.units[i].weight;
    part += question.units[i].weight * explained[i];
  }
  return all > 0 ? part / all : 1.0F;
}

// The steps' words stand further and further from the name, on the side of it where they stand: "the wife of
// the father of X", "X's father's wife".
bool in_order(const Mention& mention, const std::vector<const RelationMatch*>& steps) {
  std::size_t before = 0, behind = 0;
  for (const RelationMatch* step : steps) {
    std::size_t nearest = std::numeric_limits<std::size_t>::max();
    bool left = false;
    for (std::size_t i = 0; i < step->explained.size(); ++i) {
      if (step->explained[i] <= said_word || (i >= mention.first && i < mention.last)) continue;
      const bool on_left = i < mention.first;
      const std::size_t away = on_left ? mention.first - i : i + 1 - mention.last;
      if (away < nearest) {
        nearest = away;
        left = on_left;
      }
    }
    std::size_t& last = left ? before : behind;
    if (nearest <= last) return false;
    last = nearest;
  }
  return true;
}

// Each step explains a word that no other does.
bool each_said(const std::vector<const RelationMatch*>& steps) {
  for (const RelationMatch* step : steps) {
    bool own = false;
    for (std::size_t i = 0; i < step->explained.size() && !own; ++i) {
      own = step->explained[i] > said_word &&
            std::all_of(steps.begin(), steps.end(), [&](const RelationMatch* other) {
              return other == step || other->explained[i] <= said_word;
            });
    }
    if (!own) return false;
  }
  return true;
}

// "Directed by" and "borders" are said of both ends, "father" only of the child's: "the birthplace of the
// father of X" never asks for that of X's children, whatever is known of the father.
bool may_go_back(const Predicate& predicate, const RelationMatch& said) {
  if (said.text >= predicate.texts.size()) return false;
  const std::vector<TextWord>& words = predicate.texts[said.text].words;
  if (words.empty() || words.front().han) return false;
  static constexpr std::string_view prepositions[] = {"by", "in",   "of",  "from", "to",
                                                      "at", "with", "for", "on"};
  const bool open_end = words.size() > 1 && std::find(std::begin(prepositions), std::end(prepositions),
                                                      words.back().key) != std::end(prepositions);
  return open_end || (words.size() <= 2 && Words::instance().is_relation_verb(words.front().form));
}

}  // namespace

base::Status ReadingBuilder::build_chains() {
  const LanguageModels* models = context_.models;
  const bool able = models != nullptr && models->matcher && context_.codes != nullptr &&
                    context_.codes->paths.size() > 0 &&
                    context_.codes->paths.size() == 2 * context_.codes->steps.size();
  if (!able || !context_.chains) return {};
  // "Is X's mother a man or a woman?" asks for a value; who did not learn such questions takes it for a
  // check.
  if (context_.frame.boolean && models->matcher->steps() == 1) return {};
  const bool strong =
      std::any_of(context_.links.mentions.begin(), context_.links.mentions.end(),
                  [](const Mention& mention) { return !mention.weak && !mention.candidates.empty(); });
  std::vector<std::pair<const Mention*, const Candidate*>> starts;
  std::size_t mentions = 0;
  Mask taken(context_.question.units.size(), 0);  // by longer names
  for (const Mention& mention : context_.links.mentions) {
    if (mention.candidates.empty() || (strong && mention.weak)) continue;
    if (touches(taken, mention.first, mention.last)) continue;
    if (++mentions > max_mentions) break;
    for (std::size_t i = mention.first; i < mention.last; ++i) taken[i] = 1;
    for (std::size_t c = 0; c < std::min(max_candidates, mention.candidates.size()); ++c)
      starts.emplace_back(&mention, &mention.candidates[c]);
  }
  for (const auto& [mention, candidate] : starts) {
    if (context_.deadline.passed()) return {};
    if (models->matcher->steps() > 1) {
      ASKBASE_TRY(build_learned_chains(*mention, *candidate, most_encoded / starts.size()));
    } else {
      ASKBASE_TRY(build_spoken_chains(*mention, *candidate));
    }
  }
  return {};
}

base::Result<Reading> ReadingBuilder::chain_reading(const Mention& mention, const Candidate& candidate,
                                                    const Chain& chain,
                                                    const std::vector<const RelationMatch*>& said) {
  Reading reading = start(Shape::chain, &mention, &candidate, mask_of(mention));
  reading.chain = chain;
  reading.predicate = chain.back().predicate;
  reading.match = no_match(chain.back().predicate, reading.names.size());
  reading.match.learned = true;
  reading.match.text_cover = 1;
  reading.match.exact = true;
  for (const RelationMatch* match : said) {
    reading.match.text_cover =
        std::min(reading.match.text_cover, match != nullptr ? match->text_cover : 0.0F);
    reading.match.exact = reading.match.exact && match != nullptr && match->exact;
    for (std::size_t i = 0; match != nullptr && i < match->explained.size(); ++i) {
      reading.match.explained[i] = std::max(reading.match.explained[i], match->explained[i]);
    }
  }
  if (said.back() != nullptr) reading.match.text = said.back()->text;
  ASKBASE_ASSIGN(Followed followed, follow_chain(context_.view, context_.lexicon, candidate.entity, chain,
                                                 max_followed, max_evidence, context_.deadline));
  reading.answers = std::move(followed.answers);
  reading.facts = std::move(followed.facts);
  reading.fact_count = followed.fact_count;
  // A recorded number is said as it is, not counted.
  const ValueKind kind = context_.lexicon.predicates()[chain.back().predicate].kind;
  if (!chain.back().inverse && kind != ValueKind::entity &&
      (kind != ValueKind::text || reading.answers.size() == 1)) {
    reading.count = false;
  }
  // Not all of them: there is no number to say.
  if (followed.cut && reading.count) reading.answers.clear();
  apply_class_to_chain(reading);
  return reading;
}

void ReadingBuilder::apply_class_to_chain(Reading& reading) const {
  const Predicate& predicate = context_.lexicon.predicates()[*reading.predicate];
  const std::vector<ClassShare>& shares =
      reading.asks_objects() ? predicate.object_classes : predicate.subject_classes;
  for (const ClassMention& mentioned : context_.classes) {
    if (touches(reading.names, mentioned.first, mentioned.last) || !is_head(mentioned)) continue;
    const auto fits = std::find_if(mentioned.classes.begin(), mentioned.classes.end(), [&](std::size_t c) {
      return class_share(shares, {context_.lexicon.classes()[c].id}) >= likely_share;
    });
    const bool there = fits != mentioned.classes.end();
    feature(reading, Feature::head_class) = there ? 1.0F : -1.0F;
    if (!there) continue;
    reading.of_class = *fits;
    for (std::size_t i = mentioned.first; i < mentioned.last; ++i) reading.explained_by_class[i] = 1;
  }
}

base::Status ReadingBuilder::build_learned_chains(const Mention& mention, const Candidate& candidate,
                                                  std::size_t most_paths) {
  const PathMatcher& matcher = *context_.models->matcher;
  const RelationCodes& codes = *context_.codes;
  const Mask names = mask_of(mention);
  const MatchQuestion question =
      matcher.prepare(context_.question.text, ranges_of(context_.question, mention));
  PathMatcher::Scratch scratch;
  std::vector<float> alone(codes.paths.size());
  matcher.score(question, codes.paths, {}, alone, scratch);

  std::vector<float> all;  // scores of whatever was looked at
  const ChainScorer scorer = [&](std::span<const Chain> chains, std::span<float> scores) {
    std::vector<MatchPath> paths;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      if (chains[i].size() == 1) {
        scores[i] = alone[path_of(chains[i][0].predicate, chains[i][0].inverse)];
        continue;
      }
      std::vector<RelationStep> steps;
      for (const ChainStep& step : chains[i]) {
        steps.push_back(codes.steps[step.predicate]);
        steps.back().inverse = step.inverse;
      }
      paths.push_back({.texts = path_texts(steps, max_ways)});
      places.push_back(i);
    }
    if (!paths.empty()) {
      const EncodedPaths encoded = matcher.encode(paths);
      std::vector<float> found(paths.size());
      matcher.score(question, encoded, {}, found, scratch);
      for (std::size_t i = 0; i < places.size(); ++i) scores[places[i]] = found[i];
    }
    all.insert(all.end(), scores.begin(), scores.end());
  };
  ChainLimits limits;
  limits.steps = std::min(limits.steps, matcher.steps());
  limits.paths = std::min(limits.paths, most_paths);
  ASKBASE_ASSIGN(const std::vector<FoundChain> found,
                 search_chains(context_.view, context_.lexicon, candidate.entity, alone, limits, scorer,
                               context_.deadline));
  if (found.empty()) return {};
  const auto single = std::find_if(found.begin(), found.end(),
                                   [](const FoundChain& chain) { return chain.chain.size() == 1; });
  const float log_all = log_of_sum(all);
  const std::vector<RelationMatch> matches = context_.relations.match(names, max_said);
  std::size_t made = 0;
  for (const FoundChain& chain : found) {
    if (chain.score + path_margin < single->score || made == max_chains) break;
    if (chain.chain.size() == 1) continue;
    std::vector<const RelationMatch*> said;
    for (const ChainStep& step : chain.chain) {
      const auto match = std::find_if(matches.begin(), matches.end(), [&](const RelationMatch& one) {
        return one.predicate == step.predicate && one.text_cover > 0;
      });
      said.push_back(match != matches.end() ? &*match : nullptr);
    }
    ASKBASE_ASSIGN(Reading reading, chain_reading(mention, candidate, chain.chain, said));
    if (reading.answers.empty()) continue;
    feature(reading, Feature::fits) = of_logit(chain.score);
    feature(reading, Feature::matched) = of_log_share(chain.score - log_all);
    // "Why did X's wife die?" is no question for reasons where the matcher has learned to answer it.
    if (chain.score - log_all > sure_share) {
      for (const CueHit& hit : context_.frame.blockers)
        std::fill(reading.match.explained.begin() + static_cast<std::ptrdiff_t>(hit.first),
                  reading.match.explained.begin() + static_cast<std::ptrdiff_t>(hit.last), 1.0F);
    }
    readings_.push_back(std::move(reading));
    ++made;
  }
  return {};
}

base::Status ReadingBuilder::build_spoken_chains(const Mention& mention, const Candidate& candidate) {
  const Mask names = mask_of(mention);
  const std::vector<RelationMatch> matches = context_.relations.match(names, max_said);
  std::map<std::size_t, const RelationMatch*> said;
  float best_single = 0;
  for (const RelationMatch& match : matches) {
    if (match.text_cover < said_cover || match.opposite) continue;
    said.emplace(match.predicate, &match);
    best_single = std::max(best_single, covered(context_.question, names, match.explained));
  }
  if (said.size() < 2 || best_single + least_gain > 1) return {};

  // Relations that no word names lead nowhere: they are scored so low that they are never made longer.
  constexpr float unsaid = -1;
  const auto matches_of = [&](const Chain& chain) {
    std::vector<const RelationMatch*> out;
    for (const ChainStep& step : chain) {
      const auto found = said.find(step.predicate);
      const bool fits =
          found != said.end() &&
          (!step.inverse || may_go_back(context_.lexicon.predicates()[step.predicate], *found->second));
      if (!fits) return std::vector<const RelationMatch*>();
      out.push_back(found->second);
    }
    return out;
  };
  const auto logit_of = [](const ChainStep& step, const RelationMatch& match) {
    return match.logit[step.inverse ? 1 : 0];
  };
  const ChainScorer scorer = [&](std::span<const Chain> chains, std::span<float> scores) {
    for (std::size_t c = 0; c < chains.size(); ++c) {
      const std::vector<const RelationMatch*> steps = matches_of(chains[c]);
      scores[c] = unsaid;
      if (steps.empty() || !each_said(steps) || !in_order(mention, steps)) continue;
      std::vector<float> explained(names.size(), 0);
      float logits = 0;
      for (std::size_t s = 0; s < steps.size(); ++s) {
        logits += logit_of(chains[c][s], *steps[s]) / static_cast<float>(steps.size());
        for (std::size_t i = 0; i < explained.size(); ++i)
          explained[i] = std::max(explained[i], steps[s]->explained[i]);
      }
      // The matcher only tells directions and relations of the same words apart.
      scores[c] = covered(context_.question, names, explained) + 0.02F * std::tanh(of_logit(logits));
    }
  };
  std::vector<float> alone(context_.codes->paths.size(), unsaid);
  for (const auto& [predicate, match] : said) {
    for (const bool inverse : {false, true})
      alone[path_of(predicate, inverse)] = of_logit(logit_of({predicate, inverse}, *match));
  }
  ASKBASE_ASSIGN(const std::vector<FoundChain> found,
                 search_chains(context_.view, context_.lexicon, candidate.entity, alone, ChainLimits{},
                               scorer, context_.deadline));
  std::size_t made = 0;
  for (const FoundChain& chain : found) {
    if (made == max_chains || chain.score < best_single + least_gain) break;
    if (chain.chain.size() == 1) continue;
    const std::vector<const RelationMatch*> steps = matches_of(chain.chain);
    if (steps.empty()) continue;
    ASKBASE_ASSIGN(Reading reading, chain_reading(mention, candidate, chain.chain, steps));
    if (reading.answers.empty()) continue;
    // The relations of a path share what the matcher, which takes them for rivals, gives to one.
    float logit = 0, share = 0;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const std::size_t way = chain.chain[s].inverse ? 1 : 0;
      logit += steps[s]->logit[way] / static_cast<float>(steps.size());
      share += std::exp(steps[s]->log_share[way]);
    }
    feature(reading, Feature::fits) = of_logit(logit);
    feature(reading, Feature::matched) = of_log_share(std::min(0.0F, std::log(share)));
    readings_.push_back(std::move(reading));
    ++made;
  }
  return {};
}

}  // namespace askbase::qa
