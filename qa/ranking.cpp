// The features of readings that their words, names and values tell; and the judgement (qa/ranker.h) by all.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "qa/reading.h"

namespace askbase::qa {
namespace {

constexpr float strange_word_bound = 0.3F;  // explained less than this: not explained

float explained_at(const Reading& reading, std::size_t i) {
  return std::max(reading.match.explained[i], reading.explained_by_class[i] != 0 ? 1.0F : 0.0F);
}

void set_coverage(const Context& context, Reading& reading) {
  float total = 0, covered = 0;
  for (std::size_t i = 0; i < context.question.units.size(); ++i) {
    if (reading.names[i] != 0) continue;
    float weight = context.question.units[i].weight;
    // Without classes in the KB the noun after "which" only says what kind of thing is asked for.
    const bool head = i >= context.frame.head_first && i < context.frame.head_last;
    if (head && context.lexicon.classes().empty()) weight *= 0.3F;
    total += weight;
    covered += weight * explained_at(reading, i);
  }
  // With nothing but question words left, the predicate is as sure as its text is.
  const bool by_relation = reading.predicate && !reading.inferred;
  feature(reading, Feature::coverage) = total > 0     ? covered / total
                                        : by_relation ? reading.match.text_cover
                                                      : 1.0F;
  feature(reading, Feature::unexplained) = std::min(2.0F, total - covered) / 2;
}

float expected_of_classes(const Context& context, const std::vector<ClassShare>& shares, Expect expect) {
  float known = 0, right = 0;
  for (const ClassShare& share : shares) {
    const std::optional<std::size_t> index = context.lexicon.class_index(share.id);
    if (!index) continue;
    known += share.share;
    const Class& entry = context.lexicon.classes()[*index];
    if (expect == Expect::person ? entry.person : entry.place) right += share.share;
  }
  if (known < 0.3F) return 0;
  // "Who governs it" may well be a country.
  return right > 0.2F ? 1.0F : expect == Expect::person ? -0.4F : -0.7F;
}

bool is_yes_or_no(const Reading& reading) {
  return reading.shape == Shape::check || reading.shape == Shape::check_flag ||
         reading.shape == Shape::check_kind;
}

float expected_value(const Context& context, const Reading& reading) {
  const Expect expect = context.frame.expect;
  if (context.frame.boolean && !is_yes_or_no(reading)) return -2.5F;
  if (reading.shape == Shape::check || reading.shape == Shape::check_kind)
    return context.frame.boolean ? 0.6F : -1.0F;
  if (reading.shape == Shape::check_flag) return context.frame.boolean ? 1.0F : -0.8F;
  if (reading.shape == Shape::definition || reading.shape == Shape::members ||
      reading.shape == Shape::identity)
    return 0;
  const Predicate& predicate = context.lexicon.predicates()[*reading.predicate];
  if (reading.asks_objects()) {
    switch (expect) {
      case Expect::any:
        return 0;
      case Expect::person:
        if (predicate.kind == ValueKind::text) return predicate.person ? 1.0F : 0.0F;
        if (predicate.kind != ValueKind::entity) return -1;
        return predicate.person ? 1.0F : expected_of_classes(context, predicate.object_classes, expect);
      case Expect::place:
        if (predicate.kind == ValueKind::text) return predicate.place ? 1.0F : 0.0F;
        if (predicate.kind != ValueKind::entity) return -1;
        return predicate.place ? 1.0F : expected_of_classes(context, predicate.object_classes, expect);
      case Expect::time:
        if (predicate.kind == ValueKind::time) return 1;
        return predicate.kind == ValueKind::text ? 0.0F : predicate.kind == ValueKind::number ? -0.3F : -1.0F;
      case Expect::number:
        if (predicate.kind == ValueKind::number) return 1;
        if (reading.count) return 0.2F;
        return predicate.kind == ValueKind::text ? -0.2F : predicate.kind == ValueKind::time ? -0.3F : -0.8F;
    }
  }
  // Inverse and flagged: the answers are subjects.
  switch (expect) {
    case Expect::any:
      return 0;
    case Expect::person:
    case Expect::place:
      return expected_of_classes(context, predicate.subject_classes, expect);
    case Expect::time:
      return -1;
    case Expect::number:
      return reading.count ? 0.2F : -1.0F;
  }
  return 0;
}

// "Which country is Lyon in", "里昂位于哪个国家": the name lies in what is asked for. "Which cities are in
// France", "位于法国的城市": what is asked for lies in the name.
float location_cue(const Context& context, const Reading& reading) {
  const std::vector<Unit>& units = context.question.units;
  const Mention& mention = *reading.mention;
  if (!context.lexicon.predicates()[*reading.predicate].place) return 0;
  const auto key_at = [&](std::size_t i) { return i < units.size() ? std::string_view(units[i].key) : ""; };
  const auto says = [&](std::size_t at, std::initializer_list<std::string_view> phrases) {
    std::string text;
    for (std::size_t i = at; i < std::min(units.size(), at + 4); ++i) text += units[i].key;
    return std::any_of(phrases.begin(), phrases.end(),
                       [&](std::string_view phrase) { return std::string_view(text).starts_with(phrase); });
  };
  if (units[mention.first].han) {
    if (says(mention.last, {"位于", "在", "属于", "地处", "坐落", "处于", "隶属"})) return 1;
    for (std::size_t back = 1; back <= 3 && back <= mention.first; ++back) {
      if (says(mention.first - back, {"位于", "属于", "地处", "坐落在", "坐落于", "隶属于"})) return -1;
    }
    return 0;
  }
  const std::string_view last = key_at(units.size() - 1);
  const bool open_end = last == "in" || last == "to" || last == "from";
  const std::string_view before = mention.first > 0 ? key_at(mention.first - 1) : "";
  const bool subject = before == "is" || before == "does" || before == "was" || before == "did";
  if (open_end && subject) return 1;
  const bool inside = before == "in" || before == "within" ||
                      (before == "the" && mention.first > 1 && key_at(mention.first - 2) == "in");
  return inside && context.frame.head_last > context.frame.head_first ? -1.0F : 0.0F;
}

// "What does Asia consist of",  "亚洲分成哪些区域": the name is the whole, so the object of "part of".
float container_cue(const Context& context, const Reading& reading) {
  static const std::vector<std::string> words = Words::instance().phrase(
      "contain include comprise consist split divide divided made make subdivide encompass");
  const Predicate& predicate = context.lexicon.predicates()[*reading.predicate];
  const bool part_of =
      std::any_of(predicate.texts.begin(), predicate.texts.end(), [](const RelationText& text) {
        return std::any_of(text.concepts.begin(), text.concepts.end(), [](const TextConcept& meaning) {
          return Words::instance().concept_name(meaning.id) == "part of" && meaning.strength >= 1;
        });
      });
  if (!part_of) return 0;
  const std::string key = base::match_key(context.question.text);
  for (const std::string_view phrase :
       {"分成", "分为", "划分", "底下", "下辖", "下属", "包括", "包含", "由哪", "组成"}) {
    if (key.find(phrase) != std::string::npos) return -1;
  }
  return std::any_of(context.question.units.begin(), context.question.units.end(),
                     [&](const Unit& unit) {
                       return std::find(words.begin(), words.end(), unit.stem) != words.end();
                     })
             ? -1.0F
             : 0.0F;
}

// +1: the words say that the name is the subject; -1: that it is the object; 0: nothing.
float direction_cue(const Context& context, const Reading& reading) {
  const std::vector<Unit>& units = context.question.units;
  const Mention& mention = *reading.mention;
  std::size_t relation_first = units.size(), relation_last = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (reading.names[i] == 0 && units[i].weight > 0 && reading.match.explained[i] > 0.5F) {
      relation_first = std::min(relation_first, i);
      relation_last = i + 1;
    }
  }
  if (relation_last == 0) return 0;
  const auto key_at = [&](std::size_t i) -> std::string_view {
    return i < units.size() ? std::string_view(units[i].key) : std::string_view();
  };
  if (const float place = location_cue(context, reading); place != 0) return place;
  // 法国的首都; 首都是巴黎; 巴黎是……的首都
  if (key_at(mention.last) == "的") return relation_first >= mention.last ? 1.0F : 0.0F;
  if (mention.first > 0 && (key_at(mention.first - 1) == "是" || key_at(mention.first - 1) == "为") &&
      relation_last <= mention.first) {
    return -1;
  }
  if (relation_first > 0 && key_at(relation_first - 1) == "的" && relation_first > mention.last) return -1;
  // France's capital; the capital of France; Paris is the capital of which country
  if (key_at(mention.last) == "s" && mention.last < units.size() && units[mention.last].text.size() > 1)
    return 1;
  const bool of_after_relation = key_at(relation_last) == "of";
  if (mention.last <= relation_first && of_after_relation) return -1;
  for (std::size_t i = mention.first; i > 0 && i + 3 > mention.first; --i) {
    // "the country of Western Sahara" only says what Western Sahara is.
    const bool names_class = relation_last > 0 && reading.explained_by_class[relation_last - 1] != 0;
    if (key_at(i - 1) == "of" && relation_last <= i && !names_class) return 1;
  }
  // has Paris as its capital
  for (std::size_t i = mention.last; i < relation_first && i < mention.last + 3; ++i) {
    if (key_at(i) == "as" || key_at(i) == "for") return -1;
  }
  // does Io orbit; which moons orbit Jupiter
  const bool helped = std::any_of(
      units.begin(), units.begin() + static_cast<std::ptrdiff_t>(mention.first),
      [](const Unit& unit) { return unit.key == "does" || unit.key == "do" || unit.key == "did"; });
  const Predicate& predicate = context.lexicon.predicates()[*reading.predicate];
  if (predicate.texts.empty()) return 0;
  const bool verb = predicate.texts[reading.match.text].words.size() <= 2 &&
                    Words::instance().is_relation_verb(units[relation_first].stem);
  // "directed by" and "founder" lead to the one who acts, "orbits" comes from it.
  const std::vector<TextWord>& said = predicate.texts[reading.match.text].words;
  const bool to_agent = predicate.person || (!said.empty() && said.back().form == "by");
  const float acting = to_agent ? -1.0F : 1.0F;
  if (verb && mention.last <= relation_first && helped) return acting;
  if (verb && relation_last <= mention.first && !helped) return -acting;
  return container_cue(context, reading);
}

// An unexplained word directly beside the name, as if the KB's name were only a part of the one meant.
bool has_partial_name(const Context& context, const Reading& reading, const Mention& mention) {
  const std::vector<Unit>& units = context.question.units;
  const bool han = units[mention.first].han;
  const auto strange = [&](std::size_t i) {
    const Unit& unit = units[i];
    if (reading.names[i] != 0 || explained_at(reading, i) > strange_word_bound) return false;
    if (unit.han != han || unit.role == Role::function || unit.number) return false;
    if (han) return unit.role == Role::content;
    return unit.capital && i > 0 && (units[mention.first].capital || !context.lexicon.knows(unit));
  };
  if (mention.first > 0 && strange(mention.first - 1)) return true;
  if (mention.last >= units.size() || !strange(mention.last)) return false;
  if (!han) return true;
  // A Chinese verb may follow a name at once; before 的 the rest belongs to the name.
  std::size_t end = mention.last;
  while (end < units.size() && units[end].han && !units[end].splits &&
         explained_at(reading, end) <= strange_word_bound)
    ++end;
  return (end < units.size() && units[end].key == "的") ||
         (mention.length() == 1 && !units[mention.first].alone);
}

// "The national anthem of Barbados", "Barbados's anthem", "巴巴多斯的国歌": the noun next to the name says
// what is asked for; without it the rest means something else.
bool misses_head_noun(const Context& context, const Reading& reading) {
  if (reading.mention == nullptr ||
      (reading.shape != Shape::forward && reading.shape != Shape::inverse && reading.shape != Shape::chain))
    return false;
  const std::vector<Unit>& units = context.question.units;
  const Mention& mention = *reading.mention;
  const auto unexplained = [&](std::size_t i) {
    return reading.names[i] == 0 && units[i].role == Role::content &&
           explained_at(reading, i) <= strange_word_bound;
  };
  if (units[mention.first].han) {
    if (mention.last >= units.size() || units[mention.last].key != "的") return false;
    std::size_t end = mention.last + 1;
    while (end < units.size() && !units[end].splits && reading.names[end] == 0) ++end;
    return end > mention.last + 1 && unexplained(end - 1);
  }
  if (mention.last < units.size() && units[mention.last].text.starts_with("'")) {
    std::size_t end = mention.last + 1;
    while (end < units.size() && units[end].role != Role::function && reading.names[end] == 0) ++end;
    return end > mention.last + 1 && unexplained(end - 1);
  }
  std::size_t at = mention.first;
  while (at > 0 && (units[at - 1].key == "the" || reading.names[at - 1] != 0)) --at;
  return at > 1 && (units[at - 1].key == "of" || units[at - 1].key == "for") && unexplained(at - 2);
}

// Another name in the question that this reading does nothing with.
bool leaves_a_name(const Context& context, const Reading& reading) {
  const auto left = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (reading.names[i] != 0 || explained_at(reading, i) > 0.5F) return false;
    }
    return true;
  };
  for (const Mention& mention : context.links.mentions) {
    const bool capital =
        context.question.units[mention.first].capital || context.question.units[mention.first].han;
    if (!mention.weak && mention.exact && capital && !mention.candidates.empty() &&
        left(mention.first, mention.last)) {
      return true;
    }
  }
  return std::any_of(context.links.unknown.begin(), context.links.unknown.end(), [&](const auto& span) {
    return context.question.units[span.first].capital && left(span.first, span.second);
  });
}

float plurality(const Context& context, const Reading& reading) {
  if (is_yes_or_no(reading) || reading.shape == Shape::definition || reading.missing()) return 0;
  if (reading.predicate && reading.asks_objects() &&
      context.lexicon.predicates()[*reading.predicate].kind != ValueKind::entity) {
    return 0;
  }
  if (context.frame.several) return reading.answers.size() > 1 ? 1.0F : -0.5F;
  const bool one = context.frame.head_last > context.frame.head_first;  // "which country", "哪个国家"
  return reading.answers.size() > 1 && one ? -0.5F : 0.0F;
}

// True when the only answer is what the name says already: "the element with the symbol Ac" -> "Ac".
bool repeats_the_name(const Context& context, const Reading& reading) {
  if (reading.shape != Shape::forward || reading.answers.size() != 1 || reading.mention == nullptr)
    return false;
  if (kb::id_type(reading.answers[0]) != kb::IdType::string) return false;
  const base::Result<kb::Term> term = context.view.term(reading.answers[0]);
  return term && base::match_key(term->value) == base::match_key(reading.mention->text);
}

void set_features(const Context& context, Reading& reading) {
  set_coverage(context, reading);
  feature(reading, Feature::text_cover) = reading.match.text_cover;
  feature(reading, Feature::relation) = reading.match.text_cover > 0 ? 1 : 0;
  feature(reading, Feature::expected) = expected_value(context, reading);
  float link = 1, weak = 0, prominence = 0;
  bool partial = false;
  for (const auto& [mention, candidate] :
       {std::pair{reading.mention, reading.candidate}, std::pair{reading.second, reading.second_candidate}}) {
    if (mention == nullptr) continue;
    weak = std::max(weak, mention->weak ? 1.0F : 0.0F);
    partial |= has_partial_name(context, reading, *mention);
    if (candidate == nullptr) continue;
    link = std::min(link, candidate->score);
    prominence = std::max(prominence, candidate->prominence);
  }
  // Without a name everything else has to fit.
  if (reading.mention == nullptr) link = feature(reading, Feature::coverage);
  feature(reading, Feature::link) = link;
  feature(reading, Feature::weak_name) = weak;
  feature(reading, Feature::partial_name) = partial ? 1 : 0;
  feature(reading, Feature::head_noun) = misses_head_noun(context, reading) ? 1 : 0;
  feature(reading, Feature::exact_text) = reading.match.exact ? 1 : 0;
  feature(reading, Feature::unused_name) = leaves_a_name(context, reading) ? 1 : 0;
  feature(reading, Feature::plurality) = plurality(context, reading);
  feature(reading, Feature::echo) = repeats_the_name(context, reading) ? 1 : 0;
  feature(reading, Feature::prominence) = prominence;
  const bool directed = reading.shape == Shape::forward || reading.shape == Shape::inverse;
  if (directed && reading.mention != nullptr) {
    const float cue = direction_cue(context, reading);
    feature(reading, Feature::direction) = reading.shape == Shape::forward ? cue : -cue;
  }
  const bool members = reading.shape == Shape::members || reading.shape == Shape::definition ||
                       reading.shape == Shape::check_kind;
  feature(reading, Feature::bare_shape) = members ? 1 : 0;
  feature(reading, Feature::chain) =
      reading.chain.empty() ? 0.0F : static_cast<float>(reading.chain.size() - 1) / 2;
}

}  // namespace

void judge(const Context& context, std::vector<Reading>& readings) {
  for (Reading& reading : readings) set_features(context, reading);
  set_learned_features(context, readings);
  for (Reading& reading : readings) {
    reading.score = context.weights.score(reading.features);
    reading.confidence = context.weights.confidence(reading.score);
  }
  std::stable_sort(readings.begin(), readings.end(),
                   [](const Reading& a, const Reading& b) { return a.score > b.score; });
}

double calibrated(const Context& context, const Reading& best, double rival_score) {
  return context.weights.confidence(best.score, rival_score);
}

}  // namespace askbase::qa
