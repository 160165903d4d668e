#include "qa/choice.h"

#include <algorithm>
#include <set>
#include <utility>

namespace askbase::qa {
namespace {

constexpr float same_name_quality = 0.035F;  // names this close in score are equally good
constexpr double same_score = 0.9;           // readings this close in score are rivals
// How much better a reading without facts must be to stand; more where the other leaves nothing open (large
// KBs have several predicates for one thing).
constexpr double least_missing_margin = 0.8, full_missing_margin = 1.6;
constexpr float clearly_known = 1.6F;       // times as many facts: the better known namesake is meant
constexpr double clearly_larger = 10;       // times as many people: the larger place is meant
constexpr double least_alternative = 0.15;  // confidence of further answers
constexpr std::size_t max_namesakes = 8;

double missing_margin(const Reading& best) {
  // "The manager of Una" is not whose manager Una is.
  if (feature(best, Feature::direction) < 0) return 0;
  return feature(best, Feature::coverage) >= 0.9F ? full_missing_margin : least_missing_margin;
}

bool same_answers(const Reading& a, const Reading& b) {
  if (is_check(a) || is_check(b)) return is_check(a) && is_check(b) && a.truth == b.truth;
  if (a.answers.size() != b.answers.size()) return false;
  std::vector<kb::TermId> left = a.answers, right = b.answers;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

// A fact is not missing when facts in the other direction answer, unless the words say this direction.
bool answered_the_other_way(const std::vector<Reading>& readings, const Reading& missing) {
  if (feature(missing, Feature::direction) > 0) return false;
  return std::any_of(readings.begin(), readings.end(), [&](const Reading& other) {
    return !other.missing() && other.shape == Shape::inverse && other.entity == missing.entity &&
           other.predicate == missing.predicate;
  });
}

// How many live there, where the KB says so; 0 otherwise.
base::Result<double> population_of(const Context& context, kb::TermId entity) {
  double found = 0;
  for (const Predicate& predicate : context.lexicon.predicates()) {
    const bool counts_people =
        predicate.kind == ValueKind::number &&
        std::any_of(predicate.texts.begin(), predicate.texts.end(), [](const RelationText& text) {
          return text.origin == RelationText::Origin::label && text.concepts.size() == 1 &&
                 Words::instance().concept_name(text.concepts[0].id) == "population";
        });
    if (!counts_people) continue;
    ASKBASE_TRY(context.view.match({.subject = entity, .predicate = predicate.id, .object = {}},
                                   [&](const kb::Triple& fact) {
                                     if (kb::id_type(fact.object) == kb::IdType::integer) {
                                       found = static_cast<double>(kb::id_payload(fact.object));
                                     }
                                     return false;
                                   }));
    if (found > 0) break;
  }
  return found;
}

// The one of several namesakes that is meant when nothing else is said: of which far more is known, or where
// far more people live. Null when they are comparable.
base::Result<const Reading*> best_known(const Context& context, const Reading& best,
                                        const std::vector<const Reading*>& rivals) {
  std::uint32_t most = 0;
  for (const Reading* rival : rivals) most = std::max(most, rival->candidate->facts);
  if (static_cast<float>(best.candidate->facts) >= clearly_known * static_cast<float>(most)) return &best;
  const Reading* largest = nullptr;
  double first = 0, second = 0;
  std::vector<const Reading*> all = rivals;
  all.push_back(&best);
  for (const Reading* reading : all) {
    ASKBASE_ASSIGN(const double people, population_of(context, reading->entity));
    if (people > first) {
      second = std::exchange(first, people);
      largest = reading;
    } else {
      second = std::max(second, people);
    }
  }
  return second > 0 && first >= clearly_larger * second ? largest : nullptr;
}

bool is_blocked(const Context& context, const Reading* best) {
  for (const CueHit& hit : context.frame.blockers) {
    bool explained = best != nullptr;
    for (std::size_t i = hit.first; i < hit.last && explained; ++i) {
      explained = best->names[i] != 0 || best->match.explained[i] > 0.5F || best->explained_by_class[i] != 0;
    }
    if (!explained) return true;
  }
  return false;
}

// The other entities of the same name that would answer differently and as well.
std::vector<const Reading*> namesakes_of(const std::vector<Reading>& readings, const Reading& best) {
  std::vector<const Reading*> out;
  if (best.candidate == nullptr || best.candidate->pinned) return out;
  std::set<kb::TermId> seen{best.entity};
  for (const Reading& other : readings) {
    if (other.missing() || other.candidate == nullptr || other.mention != best.mention) continue;
    if (other.shape != best.shape || other.second_entity != best.second_entity) continue;
    if (other.candidate->score + same_name_quality < best.candidate->score) continue;
    if (other.score + same_score < best.score || same_answers(best, other)) continue;
    if (seen.insert(other.entity).second) out.push_back(&other);
  }
  return out;
}

std::string unknown_name(const Context& context) {
  if (context.links.unknown.empty()) return {};
  const auto longest =
      std::max_element(context.links.unknown.begin(), context.links.unknown.end(),
                       [](const auto& a, const auto& b) { return a.second - a.first < b.second - b.first; });
  return std::string(context.question.span(longest->first, longest->second));
}

// What is left of a Chinese question when all that is understood is taken out: the unknown name, most likely.
std::string unexplained_text(const Context& context, const std::vector<Reading>& readings) {
  const std::vector<Unit>& units = context.question.units;
  const std::vector<RelationMatch> matches = context.relations.match(Mask(units.size(), 0), 1);
  std::size_t first = 0, best_first = 0, best_last = 0;
  for (std::size_t i = 0; i <= units.size(); ++i) {
    const bool open = i < units.size() && units[i].han && !units[i].splits &&
                      (matches.empty() || matches[0].explained[i] < 0.5F) &&
                      (readings.empty() || readings[0].explained_by_class[i] == 0);
    if (open) continue;
    if (i - first > best_last - best_first) {
      best_first = first;
      best_last = i;
    }
    first = i + 1;
  }
  return best_last - best_first >= 2 ? std::string(context.question.span(best_first, best_last))
                                     : std::string();
}

void explain_nothing(const Context& context, const std::vector<Reading>& readings, Choice& choice) {
  if (std::all_of(context.question.units.begin(), context.question.units.end(),
                  [](const Unit& unit) { return unit.symbol; })) {
    choice.reason = Reason::unsupported_question;
    return;
  }
  const auto strong =
      std::find_if(context.links.mentions.begin(), context.links.mentions.end(), [](const Mention& mention) {
        return !mention.weak && !mention.candidates.empty() && mention.candidates[0].score > 0.8F;
      });
  const Reading* best = readings.empty() ? nullptr : &readings[0];
  const bool partial = best != nullptr && feature(*best, Feature::partial_name) > 0;
  if (strong == context.links.mentions.end() || partial) {
    choice.subject_text = unknown_name(context);
    if (choice.subject_text.empty()) choice.subject_text = unexplained_text(context, readings);
    choice.reason = Reason::entity_unknown;
    return;
  }
  choice.reason = Reason::relation_unmatched;
  choice.subject_text = strong->text;
  if (best != nullptr && best->candidate != nullptr) choice.about = best;
}

}  // namespace

bool is_check(const Reading& reading) {
  return reading.shape == Shape::check || reading.shape == Shape::check_flag ||
         reading.shape == Shape::check_kind;
}

bool counts_answers(const Context& context, const Reading& reading) {
  if (!reading.count || is_check(reading) || reading.shape == Shape::definition) return false;
  if (!reading.asks_objects()) return true;
  const ValueKind kind = context.lexicon.predicates()[*reading.predicate].kind;
  return kind == ValueKind::entity || (kind == ValueKind::text && reading.answers.size() > 1);
}

std::vector<kb::TermId> answer_ids(const Reading& reading) {
  if (reading.shape != Shape::check) return reading.answers;
  std::vector<kb::TermId> out;
  for (const kb::Triple& fact : reading.facts) out.push_back(fact.object);
  return out;
}

base::Result<Choice> choose(const Context& context, const std::vector<Reading>& readings, double threshold) {
  Choice choice;
  const Reading* best = nullptr;
  const Reading* missing = nullptr;
  for (const Reading& reading : readings) {
    const Reading*& place = reading.missing() ? missing : best;
    if (place == nullptr && !(reading.missing() && answered_the_other_way(readings, reading)))
      place = &reading;
  }
  if (is_blocked(context, best)) {
    choice.reason = Reason::unsupported_question;
    return choice;
  }
  const bool fact_is_missing = missing != nullptr && missing->confidence >= threshold &&
                               (best == nullptr || best->confidence < threshold ||
                                missing->score > best->score + missing_margin(*best));
  if (fact_is_missing) {
    // Of a name that is only near a known one it is likelier that the KB has it not at all.
    const bool whole_name = missing->mention->exact && feature(*missing, Feature::partial_name) == 0;
    choice.reason = whole_name ? Reason::fact_missing : Reason::entity_unknown;
    choice.about = missing;
    choice.subject_text = missing->mention->text;
    return choice;
  }
  if (best == nullptr || best->confidence < threshold) {
    explain_nothing(context, readings, choice);
    return choice;
  }

  const std::vector<const Reading*> rivals = namesakes_of(readings, *best);
  if (!rivals.empty()) {
    ASKBASE_ASSIGN(const Reading* known, best_known(context, *best, rivals));
    Namesakes namesakes;
    namesakes.mention = best->mention;
    if (known != nullptr) namesakes.candidates.push_back(known->candidate);
    if (known != best) namesakes.candidates.push_back(best->candidate);
    for (const Reading* rival : rivals) {
      if (rival != known && namesakes.candidates.size() < max_namesakes) {
        namesakes.candidates.push_back(rival->candidate);
      }
    }
    choice.namesakes.push_back(std::move(namesakes));
    if (known == nullptr) {
      choice.reason = best->mention->exact ? Reason::ambiguous : Reason::entity_unknown;
      choice.subject_text = best->mention->text;
      return choice;
    }
    best = known;
  }

  std::vector<const Reading*> kept{best};
  for (const Reading& reading : readings) {
    if (reading.missing() || &reading == best) continue;
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const Reading* other) { return same_answers(*other, reading); })) {
      continue;
    }
    kept.push_back(&reading);
    if (kept.size() >= 8) break;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double rival = i == 0 && kept.size() > 1 ? kept[1]->score : i > 0 ? kept[0]->score : -1e9;
    double confidence = calibrated(context, *kept[i], rival);
    if (i > 0) {
      confidence = std::min(confidence, 1 - choice.answers[0].confidence);
      if (confidence < least_alternative) break;
    }
    choice.answers.push_back({kept[i], confidence});
  }
  if (choice.answers[0].confidence < threshold) {
    choice.answers.clear();
    choice.reason = Reason::low_confidence;
    choice.about = best;
    if (best->mention != nullptr) choice.subject_text = best->mention->text;
  }
  return choice;
}

}  // namespace askbase::qa
