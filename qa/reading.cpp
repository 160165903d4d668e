#include "qa/reading.h"

#include <algorithm>
#include <utility>

namespace askbase::qa {
namespace {

constexpr std::size_t max_matches = 16;  // predicates tried for one name
constexpr std::size_t max_own = 12;      // of an entity's own predicates, where a model tells which
constexpr float likely_share = 0.05F;    // of a predicate's sample in a class: the class fits

bool overlap(const Mention& a, const Mention& b) { return a.first < b.last && b.first < a.last; }

void mark(Mask& mask, std::size_t first, std::size_t last) {
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first),
            mask.begin() + static_cast<std::ptrdiff_t>(last), 1);
}

}  // namespace

std::string_view shape_name(Shape shape) {
  switch (shape) {
    case Shape::forward:
      return "forward";
    case Shape::inverse:
      return "inverse";
    case Shape::members:
      return "members";
    case Shape::flagged:
      return "flagged";
    case Shape::check:
      return "check";
    case Shape::check_flag:
      return "check_flag";
    case Shape::check_kind:
      return "check_kind";
    case Shape::definition:
      return "definition";
    case Shape::chain:
      return "chain";
    case Shape::identity:
      return "identity";
  }
  return "forward";
}

ReadingBuilder::ReadingBuilder(const Context& context) : context_(context) {}

Mask ReadingBuilder::mask_of(const Mention& a, const Mention* b) const {
  Mask mask(context_.question.units.size(), 0);
  mark(mask, a.first, a.last);
  if (b != nullptr) mark(mask, b->first, b->last);
  return mask;
}

RelationMatch ReadingBuilder::no_match(std::size_t predicate, std::size_t units) {
  RelationMatch match;
  match.predicate = predicate;
  match.explained.assign(units, 0);
  return match;
}

Reading ReadingBuilder::start(Shape shape, const Mention* mention, const Candidate* candidate,
                              const Mask& names) const {
  Reading reading;
  reading.shape = shape;
  reading.mention = mention;
  reading.candidate = candidate;
  if (candidate != nullptr) reading.entity = candidate->entity;
  reading.names = names;
  reading.explained_by_class.assign(names.size(), 0);
  reading.match = no_match(0, names.size());
  reading.count = context_.frame.count;
  return reading;
}

base::Result<std::vector<Reading>> ReadingBuilder::build() {
  const std::vector<Mention>& mentions = context_.links.mentions;
  for (const Mention& mention : mentions) {
    if (context_.deadline.passed()) break;
    ASKBASE_TRY(build_from(mention));
  }
  if (context_.frame.boolean) ASKBASE_TRY(build_checks());
  ASKBASE_TRY(build_class_readings());
  ASKBASE_TRY(build_chains());
  return std::move(readings_);
}

base::Status ReadingBuilder::build_from(const Mention& mention) {
  const Mask names = mask_of(mention);
  const std::vector<RelationMatch> matches = context_.relations.match(names, max_matches);
  for (const Candidate& candidate : mention.candidates) {
    if (context_.deadline.passed()) return {};
    ASKBASE_ASSIGN(const Mask wider, with_qualifiers(mention, candidate, names));
    ASKBASE_TRY(build_from_entity(mention, candidate, matches, names));
    if (wider != names) {
      ASKBASE_TRY(build_from_entity(mention, candidate, context_.relations.match(wider, max_matches), wider));
    }
    ASKBASE_TRY(build_identity(mention, candidate, names));
    if (context_.frame.definition) ASKBASE_TRY(build_definition(mention, candidate, names));
    if (context_.frame.boolean) ASKBASE_TRY(build_kind_checks(mention, candidate, names));
  }
  if (!mention.values.empty()) ASKBASE_TRY(build_from_value(mention, matches, names));
  return {};
}

base::Status ReadingBuilder::build_from_entity(const Mention& mention, const Candidate& candidate,
                                               const std::vector<RelationMatch>& matches, const Mask& names) {
  const Lexicon& lexicon = context_.lexicon;
  ASKBASE_ASSIGN(const Facts* facts, facts_of(candidate.entity));
  const std::vector<RelationMatch> own = own_matches(matches, *facts, names);
  std::vector<const RelationMatch*> tried;
  for (const std::vector<RelationMatch>* part : {&matches, &own}) {
    for (const RelationMatch& match : *part) tried.push_back(&match);
  }
  for (const RelationMatch* one : tried) {
    const RelationMatch& match = *one;
    const Predicate& predicate = lexicon.predicates()[match.predicate];
    const Facts forward = with_predicate(*facts, predicate.id);
    bool any = false;
    if (!forward.empty()) {
      any = true;
      const bool flag = predicate.kind == ValueKind::boolean;
      Reading reading = start(flag ? Shape::check_flag : Shape::forward, &mention, &candidate, names);
      reading.predicate = match.predicate;
      reading.match = match;
      set_forward(reading, forward);
      // A recorded number is said as it is, not counted; so is a single text.
      if (predicate.kind != ValueKind::entity && (predicate.kind != ValueKind::text || forward.size() == 1)) {
        reading.count = false;
      }
      if (flag) {
        ASKBASE_ASSIGN(const kb::Term value, context_.view.term(forward.front().object));
        reading.truth = (value.value == "true" || value.value == "1") != match.opposite;
        reading.facts.resize(1);
      }
      ASKBASE_TRY(apply_class(reading));
      readings_.push_back(std::move(reading));
    }
    if (predicate.kind == ValueKind::entity) {
      ASKBASE_ASSIGN(const Facts inverse, inverse_facts(match.predicate, candidate.entity));
      if (!inverse.empty()) {
        any = true;
        Reading reading = start(Shape::inverse, &mention, &candidate, names);
        reading.predicate = match.predicate;
        reading.match = match;
        set_inverse(reading, inverse);
        ASKBASE_TRY(apply_class(reading));
        readings_.push_back(std::move(reading));
      }
    }
    // Facts in the other direction do not answer "the manager of Una" when she has none.
    const bool may_be_subject = predicate.subject_classes.empty() || candidate.types.empty() ||
                                class_share(predicate.subject_classes, candidate.types) > 0;
    if (!any || (forward.empty() && may_be_subject)) {
      Reading reading = start(Shape::forward, &mention, &candidate, names);
      reading.predicate = match.predicate;
      reading.match = match;
      // What things of this kind never have is missing in another sense: the boiling point of a country.
      const bool applies = predicate.subject_classes.empty() || candidate.types.empty() ||
                           class_share(predicate.subject_classes, candidate.types) > 0 ||
                           class_share(predicate.object_classes, candidate.types) > 0;
      reading.features[static_cast<std::size_t>(Feature::missing)] = applies ? 1 : 3;
      ASKBASE_TRY(apply_class(reading));
      readings_.push_back(std::move(reading));
    }
  }

  // No word names the predicate: the class asked for and the name may leave only one.
  const std::size_t before = readings_.size();
  for (std::size_t p = 0; p < lexicon.predicates().size(); ++p) {
    const Predicate& predicate = lexicon.predicates()[p];
    if (predicate.kind != ValueKind::entity) continue;
    bool inverse_fits = false, forward_fits = false;
    for (const ClassMention& mentioned : context_.classes) {
      if (touches(names, mentioned.first, mentioned.last)) continue;
      for (const std::size_t c : mentioned.classes) {
        const std::vector<kb::TermId> classes{lexicon.classes()[c].id};
        inverse_fits |= class_share(predicate.subject_classes, classes) >= likely_share &&
                        class_share(predicate.object_classes, candidate.types) >= likely_share;
        forward_fits |= class_share(predicate.object_classes, classes) >= likely_share;
      }
    }
    const auto add = [&](Shape shape, const Facts& found) -> base::Status {
      Reading reading = start(shape, &mention, &candidate, names);
      reading.predicate = p;
      reading.match = no_match(p, names.size());
      reading.inferred = true;
      if (shape == Shape::forward) {
        set_forward(reading, found);
      } else {
        set_inverse(reading, found);
      }
      ASKBASE_TRY(apply_class(reading));
      if (reading.of_class) readings_.push_back(std::move(reading));
      return {};
    };
    if (forward_fits) {
      const Facts forward = with_predicate(*facts, predicate.id);
      if (!forward.empty()) ASKBASE_TRY(add(Shape::forward, forward));
    }
    if (inverse_fits) {
      ASKBASE_ASSIGN(const Facts inverse, inverse_facts(p, candidate.entity));
      if (!inverse.empty()) ASKBASE_TRY(add(Shape::inverse, inverse));
    }
  }
  const float share = 1.0F / static_cast<float>(std::max<std::size_t>(1, readings_.size() - before));
  for (std::size_t i = before; i < readings_.size(); ++i) {
    readings_[i].features[static_cast<std::size_t>(Feature::inferred)] = share;
  }
  return {};
}

std::vector<RelationMatch> ReadingBuilder::own_matches(const std::vector<RelationMatch>& matches,
                                                       const Facts& facts, const Mask& names) const {
  if (context_.models == nullptr) return {};
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i > 0 && facts[i].predicate == facts[i - 1].predicate) continue;
    if (const auto index = context_.lexicon.predicate_index(facts[i].predicate)) own.push_back(*index);
  }
  std::vector<RelationMatch> out = context_.relations.best_of(names, own, max_own);
  std::erase_if(out, [&](const RelationMatch& match) {
    return std::any_of(matches.begin(), matches.end(),
                       [&](const RelationMatch& other) { return other.predicate == match.predicate; });
  });
  return out;
}

base::Result<Mask> ReadingBuilder::with_qualifiers(const Mention& mention, const Candidate& candidate,
                                                   const Mask& names) {
  Mask out = names;
  if (context_.frame.boolean || context_.links.mentions.size() < 2) return out;
  ASKBASE_ASSIGN(const Facts* facts, facts_of(candidate.entity));
  std::vector<const Mention*> choices;
  for (const Mention& other : context_.links.mentions) {
    if (other.weak || !other.exact || overlap(mention, other)) continue;
    for (const Candidate& second : other.candidates) {
      bool says_more = false, choice = false;
      for (const kb::Triple& fact : *facts) {
        says_more |= fact.object == second.entity;
        const std::optional<std::size_t> index = context_.lexicon.predicate_index(fact.predicate);
        choice |=
            index && class_share(context_.lexicon.predicates()[*index].object_classes, second.types) > 0;
      }
      if (says_more) mark(out, other.first, other.last);
      if (choice && (choices.empty() || !overlap(*choices.back(), other))) choices.push_back(&other);
    }
  }
  // "solid, liquid or gas": the word between two choices goes with them.
  if (choices.size() >= 2) {
    std::sort(choices.begin(), choices.end(),
              [](const Mention* a, const Mention* b) { return a->first < b->first; });
    for (std::size_t i = 0; i + 1 < choices.size(); ++i) {
      if (choices[i]->last > choices[i + 1]->first || choices[i + 1]->first - choices[i]->last > 2) continue;
      mark(out, choices[i]->first, choices[i + 1]->last);
    }
  }
  return out;
}

base::Status ReadingBuilder::build_identity(const Mention& mention, const Candidate& candidate,
                                            const Mask& names) {
  const std::optional<kb::TermId> type = context_.lexicon.type_predicate();
  const bool by_other_name = candidate.alias || candidate.by_value;
  if (!type || !by_other_name || context_.frame.boolean || context_.frame.count) return {};
  for (const ClassMention& mentioned : context_.classes) {
    if (touches(names, mentioned.first, mentioned.last) || !is_head(mentioned)) continue;
    for (const std::size_t c : mentioned.classes) {
      const kb::TermId id = context_.lexicon.classes()[c].id;
      if (std::find(candidate.types.begin(), candidate.types.end(), id) == candidate.types.end()) continue;
      Reading reading = start(Shape::identity, &mention, &candidate, names);
      reading.of_class = c;
      mark(reading.explained_by_class, mentioned.first, mentioned.last);
      reading.features[static_cast<std::size_t>(Feature::head_class)] = 1;
      reading.answers.push_back(candidate.entity);
      ASKBASE_TRY(context_.view.match({.subject = candidate.entity, .predicate = *type, .object = {}},
                                      [&](const kb::Triple& fact) {
                                        reading.facts.push_back(fact);
                                        return reading.facts.size() < max_evidence;
                                      }));
      reading.fact_count = reading.facts.size();
      readings_.push_back(std::move(reading));
      return {};
    }
  }
  return {};
}

base::Status ReadingBuilder::build_from_value(const Mention& mention,
                                              const std::vector<RelationMatch>& matches, const Mask& names) {
  for (const kb::TermId value : mention.values) {
    for (const RelationMatch& match : matches) {
      const Predicate& predicate = context_.lexicon.predicates()[match.predicate];
      if (predicate.kind == ValueKind::entity || predicate.kind == ValueKind::boolean) continue;
      ASKBASE_ASSIGN(const Facts inverse, inverse_facts(match.predicate, value));
      if (inverse.empty()) continue;
      Reading reading = start(Shape::inverse, &mention, nullptr, names);
      reading.entity = value;
      reading.predicate = match.predicate;
      reading.match = match;
      set_inverse(reading, inverse);
      ASKBASE_TRY(apply_class(reading));
      readings_.push_back(std::move(reading));
    }
  }
  return {};
}

base::Status ReadingBuilder::build_definition(const Mention& mention, const Candidate& candidate,
                                              const Mask& names) {
  const std::optional<kb::TermId> type = context_.lexicon.type_predicate();
  const std::optional<kb::TermId> comment = context_.lexicon.comment_predicate();
  Reading reading = start(Shape::definition, &mention, &candidate, names);
  for (const std::optional<kb::TermId>& predicate : {comment, type}) {
    if (!predicate) continue;
    ASKBASE_TRY(context_.view.match({.subject = candidate.entity, .predicate = *predicate, .object = {}},
                                    [&](const kb::Triple& fact) {
                                      reading.facts.push_back(fact);
                                      reading.answers.push_back(fact.object);
                                      return reading.facts.size() < max_evidence;
                                    }));
  }
  reading.fact_count = reading.facts.size();
  reading.count = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == 0 && context_.question.units[i].role == Role::content) return {};
  }
  if (!reading.facts.empty()) readings_.push_back(std::move(reading));
  return {};
}

}  // namespace askbase::qa
