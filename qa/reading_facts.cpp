// The facts behind readings, and the class of the answers.
#include <algorithm>
#include <utility>

#include "qa/reading.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_facts_of_entity = 4096;
constexpr std::size_t max_checked_types = 64;  // answers whose class is looked up one by one
constexpr float certain_share = 0.995F;        // of a sample in the class: no need to look

void mark(Mask& mask, std::size_t first, std::size_t last) {
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first),
            mask.begin() + static_cast<std::ptrdiff_t>(last), 1);
}

}  // namespace

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
      const bool literal = reading.shape == Shape::forward && predicate != nullptr &&
                           predicate->kind != ValueKind::entity &&
                           !(context_.frame.count && predicate->kind == ValueKind::number);
      if (reading.shape == Shape::inverse || literal) by_relation = 0;
    }
    // "How many moons" asks for a recorded number of moons before any counting.
    const bool recorded = reading.shape == Shape::forward && reading.predicate && context_.frame.count &&
                          head && lexicon.predicates()[*reading.predicate].kind == ValueKind::number &&
                          by_relation > 0.8F;
    bool says_all = true;  // nothing left that would speak of another relation: "circle", "绕着"
    for (std::size_t i = 0; i < reading.names.size(); ++i) {
      says_all &= reading.names[i] != 0 || context_.question.units[i].role != Role::content ||
                  reading.match.explained[i] > 0.5F;
    }
    if (recorded && says_all) head_feature = 1;
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
