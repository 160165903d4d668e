#include "qa/reading.h"

#include <algorithm>
#include <utility>

namespace askbase::qa {
namespace {

constexpr std::size_t max_matches = 16;  // predicates tried for one name
constexpr std::size_t max_facts_of_entity = 4096;
constexpr std::size_t max_checked_types = 64;  // answers whose class is looked up one by one
constexpr float certain_share = 0.995F;        // of a sample in the class: no need to look
constexpr float likely_share = 0.05F;

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
  for (const RelationMatch& match : matches) {
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

void ReadingBuilder::drop_refuted_checks() {
  // One fact that joins the two names is worth more than all that do not: Hydra orbits Pluto although Pluto
  // does not orbit Hydra, and Dandong is in China although it is not China's capital.
  const auto same_names = [](const Reading& a, const Reading& b) {
    return (a.entity == b.entity && a.second_entity == b.second_entity) ||
           (a.entity == b.second_entity && a.second_entity == b.entity);
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

base::Result<const ReadingBuilder::Facts*> ReadingBuilder::facts_of(kb::TermId entity) {
  const auto [at, added] = facts_.try_emplace(entity.bits);
  if (added) {
    Facts& facts = at->second;
    ASKBASE_TRY(
        context_.view.match({.subject = entity, .predicate = {}, .object = {}}, [&](const kb::Triple& fact) {
          facts.push_back(fact);
          return facts.size() < max_facts_of_entity;
        }));
  }
  return &at->second;
}

ReadingBuilder::Facts ReadingBuilder::with_predicate(const Facts& facts, kb::TermId predicate) {
  Facts out;  // facts of one subject are in the order of their predicates
  for (auto at = std::lower_bound(facts.begin(), facts.end(), predicate,
                                  [](const kb::Triple&fact, kb::TermId id) { return fact.predicate < id; });
       at != facts.end() && at->predicate == predicate; ++at) {
    out.push_back(*at);
  }
  return out;
}

base::Result<ReadingBuilder::Facts> ReadingBuilder::inverse_facts(std::size_t predicate, kb::TermId object) {
  Facts out;
  std::size_t seen = 0;
  ASKBASE_TRY(context_.view.match(
      {.subject = {}, .predicate = context_.lexicon.predicates()[predicate].id, .object = object},
      [&](const kb::Triple& fact) {
        if (!context_.lexicon.is_schema(fact.subject)) out.push_back(fact);
        return out.size() < max_answers && ((++seen & 255) != 0 || !context_.deadline.passed());
      }));
  return out;
}

void ReadingBuilder::set_forward(Reading& reading, const Facts& facts) const {
  reading.facts = facts;
  reading.fact_count = facts.size();
  for (const kb::Triple& fact : facts) reading.answers.push_back(fact.object);
}

void ReadingBuilder::set_inverse(Reading& reading, const Facts& facts) const {
  reading.facts = facts;
  reading.fact_count = facts.size();
  for (const kb::Triple& fact : facts) reading.answers.push_back(fact.subject);
}

base::Result<bool> ReadingBuilder::is_of_class(kb::TermId entity, const std::vector<std::size_t>& classes) {
  for (const std::size_t c : classes) {
    const auto [at, added] =
        of_class_.try_emplace(entity.bits ^ (static_cast<std::uint64_t>(c + 1) << 40), false);
    if (added) {
      ASKBASE_ASSIGN(const std::vector<kb::TermId> types, types_of(context_.view, context_.lexicon, entity));
      const kb::TermId id = context_.lexicon.classes()[c].id;
      at->second = std::find(types.begin(), types.end(), id) != types.end();
    }
    if (at->second) return true;
  }
  return false;
}

bool ReadingBuilder::is_head(const ClassMention& mention) const {
  const Frame& frame = context_.frame;
  if (mention.first < frame.head_last && mention.last > frame.head_first) return true;
  // 国家有哪些, 元素是哪个: the noun stands before the question word in Chinese.
  if (!context_.question.units[mention.first].han) return false;
  return std::any_of(context_.question.cues.begin(), context_.question.cues.end(), [&](const CueHit& hit) {
    const bool asks = hit.cue == Cue::which || hit.cue == Cue::list || hit.cue == Cue::count ||
                      hit.cue == Cue::number || hit.cue == Cue::person;
    if (!asks || hit.first < mention.last || hit.first > mention.last + 3) return false;
    for (std::size_t i = mention.last; i < hit.first; ++i) {
      if (context_.question.units[i].role != Role::function || context_.question.units[i].key == "的")
        return false;
    }
    return true;
  });
}

bool ReadingBuilder::is_final_head(const ClassMention& mention) const {
  const Frame& frame = context_.frame;
  if (!is_head(mention)) return false;
  const bool inside = mention.first < frame.head_last && mention.last > frame.head_first;
  return !inside || mention.last >= frame.head_last;
}

base::Status ReadingBuilder::apply_class(Reading& reading) {
  const Lexicon& lexicon = context_.lexicon;
  float& head_feature = reading.features[static_cast<std::size_t>(Feature::head_class)];
  for (const ClassMention& mentioned : context_.classes) {
    if (touches(reading.names, mentioned.first, mentioned.last)) continue;
    float by_relation = 1;
    for (std::size_t i = mentioned.first; i < mentioned.last; ++i) {
      by_relation = std::min(by_relation, reading.match.explained[i]);
    }
    const bool head = is_head(mentioned);
    // "Which country has ...": answers of another class are wrong, even where the predicate's text has the
    // word.
    if (is_final_head(mentioned) && reading.shape != Shape::check) {
      const Predicate* predicate = reading.predicate ? &lexicon.predicates()[*reading.predicate] : nullptr;
      const bool literal =
          reading.shape == Shape::forward && predicate != nullptr && predicate->kind != ValueKind::entity;
      if (reading.shape == Shape::inverse || literal) by_relation = 0;
    }
    bool of_name = false;
    if (reading.candidate != nullptr) {
      for (const std::size_t c : mentioned.classes) {
        const std::vector<kb::TermId>& types = reading.candidate->types;
        of_name |= std::find(types.begin(), types.end(), lexicon.classes()[c].id) != types.end();
      }
    }
    bool kept_any = false;
    if (reading.shape == Shape::inverse || reading.shape == Shape::flagged ||
        reading.shape == Shape::forward) {
      const Predicate& predicate = lexicon.predicates()[*reading.predicate];
      const std::vector<ClassShare>& shares =
          reading.shape == Shape::forward ? predicate.object_classes : predicate.subject_classes;
      std::vector<kb::TermId> ids;
      for (const std::size_t c : mentioned.classes) ids.push_back(lexicon.classes()[c].id);
      const bool entities = reading.shape != Shape::forward || predicate.kind == ValueKind::entity;
      const bool surely =
          reading.answers.size() > max_checked_types && class_share(shares, ids) >= certain_share;
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < reading.answers.size() && entities && !surely; ++i) {
        ASKBASE_ASSIGN(const bool member, is_of_class(reading.answers[i], mentioned.classes));
        if (member) kept.push_back(i);
        if ((i & 255) == 255 && context_.deadline.passed()) break;
      }
      kept_any = surely || !kept.empty();
      if (!surely && !kept.empty() && kept.size() < reading.answers.size() && (head || !of_name)) {
        std::vector<kb::TermId> answers;
        Facts facts;
        for (const std::size_t i : kept) {
          answers.push_back(reading.answers[i]);
          facts.push_back(reading.facts[i]);
        }
        reading.answers = std::move(answers);
        reading.facts = std::move(facts);
        reading.fact_count = reading.facts.size();
      }
    }
    if (kept_any && (head || !of_name || reading.shape == Shape::inverse)) {
      reading.of_class = mentioned.classes.front();
      mark(reading.explained_by_class, mentioned.first, mentioned.last);
      if (head) head_feature = 1;
    } else if (of_name && (!head || by_relation < 0.5F)) {
      mark(reading.explained_by_class, mentioned.first, mentioned.last);
      reading.features[static_cast<std::size_t>(Feature::name_class)] = head ? 0.0F : 1.0F;
      if (head && head_feature == 0 && reading.shape != Shape::check) head_feature = -1;
    } else if (head && by_relation < 0.5F && head_feature == 0 && reading.shape != Shape::check) {
      head_feature = -1;
    }
  }
  return {};
}

}  // namespace askbase::qa
