// Readings of yes-or-no questions, and of questions that name a class and no entity.
#include <algorithm>
#include <utility>

#include "qa/reading.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_matches = 16;  // predicates tried for a class; half of them for a pair of names
constexpr float likely_share = 0.05F;    // of a predicate's sample in a class: the class fits

bool overlap(const Mention& a, const Mention& b) { return a.first < b.last && b.first < a.last; }

void mark(Mask& mask, std::size_t first, std::size_t last) {
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first),
            mask.begin() + static_cast<std::ptrdiff_t>(last), 1);
}

}  // namespace

base::Status ReadingBuilder::build_checks() {
  const std::vector<Mention>& mentions = context_.links.mentions;
  for (std::size_t i = 0; i < mentions.size(); ++i) {
    for (std::size_t k = 0; k < mentions.size(); ++k) {
      if (context_.deadline.passed()) return {};
      if (i == k || overlap(mentions[i], mentions[k])) continue;
      // Two names once in each order only when both can be the subject; a value is always the object.
      if (mentions[i].candidates.empty()) continue;
      ASKBASE_TRY(build_pair(mentions[i], mentions[k]));
    }
  }
  drop_refuted_checks();
  return {};
}

void ReadingBuilder::drop_refuted_checks() {
  // One fact that joins the two names is worth more than all that do not: Hydra orbits Pluto although Pluto
  // does not orbit Hydra, and Dandong is in China although it is not China's capital.
  // The same words, whichever of their namesakes: one Berlin that is the capital is enough.
  const auto same_names = [](const Reading& a, const Reading& b) {
    return (a.mention == b.mention && a.second == b.second) ||
           (a.mention == b.second && a.second == b.mention);
  };
  std::vector<Reading> kept;
  for (const Reading& reading : readings_) {
    const bool refuted =
        reading.shape == Shape::check && !reading.truth &&
        std::any_of(readings_.begin(), readings_.end(), [&](const Reading& other) {
          return other.shape == Shape::check && other.truth && same_names(reading, other) &&
                 (other.predicate == reading.predicate || (reading.inferred && other.inferred));
        });
    if (!refuted) kept.push_back(reading);
  }
  readings_ = std::move(kept);
}

base::Status ReadingBuilder::build_pair(const Mention& a, const Mention& b) {
  const Mask names = mask_of(a, &b);
  const std::vector<RelationMatch> matches = context_.relations.match(names, max_matches / 2);
  for (const Candidate& first : a.candidates) {
    for (const Candidate& second : b.candidates) {
      ASKBASE_TRY(build_pair_check(a, first, b, &second, second.entity, matches, names));
    }
    for (const kb::TermId value : b.values) {
      ASKBASE_TRY(build_pair_check(a, first, b, nullptr, value, matches, names));
    }
  }
  return {};
}

base::Status ReadingBuilder::build_pair_check(const Mention& a, const Candidate& first, const Mention& b,
                                              const Candidate* second, kb::TermId object,
                                              const std::vector<RelationMatch>& matches, const Mask& names) {
  ASKBASE_ASSIGN(const Facts* facts, facts_of(first.entity));
  const auto add = [&](const RelationMatch& match, const Facts& found, bool inferred) -> base::Status {
    Reading reading = start(Shape::check, &a, &first, names);
    reading.second = &b;
    reading.second_candidate = second;
    reading.second_entity = object;
    reading.predicate = match.predicate;
    reading.match = match;
    reading.inferred = inferred;
    reading.count = false;
    if (inferred) reading.features[static_cast<std::size_t>(Feature::inferred)] = 1;
    for (const kb::Triple& fact : found) {
      if (fact.object == object) reading.truth = true;
    }
    for (const kb::Triple& fact : found) {
      if (!reading.truth || fact.object == object) reading.facts.push_back(fact);
    }
    reading.fact_count = reading.facts.size();
    ASKBASE_TRY(apply_class(reading));
    readings_.push_back(std::move(reading));
    return {};
  };
  for (const RelationMatch& match : matches) {
    const Predicate& predicate = context_.lexicon.predicates()[match.predicate];
    if ((predicate.kind == ValueKind::entity) != (second != nullptr)) continue;
    const Facts found = with_predicate(*facts, predicate.id);
    if (!found.empty()) ASKBASE_TRY(add(match, found, false));
  }
  for (std::size_t p = 0; p < context_.lexicon.predicates().size(); ++p) {
    const Predicate& predicate = context_.lexicon.predicates()[p];
    if (predicate.kind != ValueKind::entity || second == nullptr) continue;
    const Facts found = with_predicate(*facts, predicate.id);
    if (found.empty()) continue;
    const bool linked = std::any_of(found.begin(), found.end(),
                                    [&](const kb::Triple& fact) { return fact.object == object; });
    // "Is Paris in Germany?": no word names the predicate, but only one leads from a city to a country.
    const bool fits = class_share(predicate.object_classes, second->types) >= likely_share;
    if (linked || fits) ASKBASE_TRY(add(no_match(p, names.size()), found, true));
  }
  return {};
}

base::Status ReadingBuilder::build_kind_checks(const Mention& mention, const Candidate& candidate,
                                               const Mask& names) {
  const std::optional<kb::TermId> type = context_.lexicon.type_predicate();
  if (!type || candidate.types.empty()) return {};
  for (const ClassMention& mentioned : context_.classes) {
    if (touches(names, mentioned.first, mentioned.last)) continue;
    Reading reading = start(Shape::check_kind, &mention, &candidate, names);
    reading.count = false;
    mark(reading.explained_by_class, mentioned.first, mentioned.last);
    reading.of_class = mentioned.classes.front();
    for (const std::size_t c : mentioned.classes) {
      const kb::TermId id = context_.lexicon.classes()[c].id;
      if (std::find(candidate.types.begin(), candidate.types.end(), id) != candidate.types.end()) {
        reading.truth = true;
        reading.of_class = c;
      }
    }
    ASKBASE_TRY(context_.view.match({.subject = candidate.entity, .predicate = *type, .object = {}},
                                    [&](const kb::Triple& fact) {
                                      reading.facts.push_back(fact);
                                      return reading.facts.size() < max_evidence;
                                    }));
    reading.fact_count = reading.facts.size();
    readings_.push_back(std::move(reading));
  }
  return {};
}

base::Status ReadingBuilder::build_class_readings() {
  const std::optional<kb::TermId> type = context_.lexicon.type_predicate();
  if (!type || context_.frame.boolean) return {};
  const Mask names(context_.question.units.size(), 0);
  const std::vector<RelationMatch> matches = context_.relations.match(names, max_matches);
  const std::string boolean_type = std::string(kb::iri::xsd) + "boolean";
  ASKBASE_ASSIGN(const std::optional<kb::TermId> yes,
                 context_.view.find(kb::Term::literal("true", boolean_type)));
  ASKBASE_ASSIGN(const std::optional<kb::TermId> no,
                 context_.view.find(kb::Term::literal("false", boolean_type)));
  const bool named =
      std::any_of(context_.links.mentions.begin(), context_.links.mentions.end(), [&](const Mention& m) {
        const Unit& unit = context_.question.units[m.first];
        return !m.weak && m.exact && !m.candidates.empty() && (unit.han || unit.capital);
      });
  for (const ClassMention& mentioned : context_.classes) {
    if (context_.deadline.passed()) return {};
    for (const RelationMatch& match : matches) {
      const std::optional<kb::TermId>& wanted = match.opposite ? no : yes;
      if (context_.lexicon.predicates()[match.predicate].kind != ValueKind::boolean || !wanted) continue;
      ASKBASE_ASSIGN(const Facts found, inverse_facts(match.predicate, *wanted));
      if (found.empty()) continue;
      Reading reading = start(Shape::flagged, nullptr, nullptr, names);
      reading.entity = *wanted;
      reading.predicate = match.predicate;
      reading.match = match;
      set_inverse(reading, found);
      ASKBASE_TRY(apply_class(reading));
      readings_.push_back(std::move(reading));
    }
    // All members of a class are asked for only where no name narrows them down.
    if (named || (!context_.frame.list && !context_.frame.count && !is_head(mentioned))) continue;
    Reading reading = start(Shape::members, nullptr, nullptr, names);
    for (std::size_t c = 0; c < context_.lexicon.classes().size(); ++c) {
      const Class& entry = context_.lexicon.classes()[c];
      const bool under = std::any_of(mentioned.classes.begin(), mentioned.classes.end(), [&](std::size_t m) {
        const kb::TermId id = context_.lexicon.classes()[m].id;
        return std::find(entry.ancestors.begin(), entry.ancestors.end(), id) != entry.ancestors.end();
      });
      if (!under) continue;
      ASKBASE_TRY(context_.view.match({.subject = {}, .predicate = *type, .object = entry.id},
                                      [&](const kb::Triple& fact) {
                                        reading.facts.push_back(fact);
                                        reading.answers.push_back(fact.subject);
                                        return reading.facts.size() < max_answers;
                                      }));
    }
    if (reading.facts.empty()) continue;
    reading.fact_count = reading.facts.size();
    reading.of_class = mentioned.classes.front();
    mark(reading.explained_by_class, mentioned.first, mentioned.last);
    readings_.push_back(std::move(reading));
  }
  return {};
}

}  // namespace askbase::qa
