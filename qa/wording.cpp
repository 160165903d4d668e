#include "qa/wording.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "kb/entity_index.h"

namespace askbase::qa {
namespace {

constexpr std::size_t shown_in_sentence = 12;

// "Salary" inside a sentence is "salary"; "ISO code" stays.
std::string lower_first(std::string label) {
  const auto upper = [&](std::size_t i) { return i < label.size() && label[i] >= 'A' && label[i] <= 'Z'; };
  if (upper(0) && !upper(1)) label[0] = static_cast<char>(label[0] - 'A' + 'a');
  return label;
}

std::string upper_first(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string article(std::string_view noun) {
  const bool vowel = !noun.empty() && std::string_view("aeiouAEIO").find(noun[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

enum class LabelForm { noun, verb, phrase };  // the capital of, borders, located in

LabelForm form_of(std::string_view label) {
  const std::vector<std::string> words = Words::instance().phrase(label);
  if (words.empty()) return LabelForm::noun;
  const std::string_view last = label.substr(label.rfind(' ') + 1);
  for (const std::string_view preposition : {"in", "by", "of", "from", "to", "at", "with", "for", "on"}) {
    if (words.size() > 1 && last == preposition) return LabelForm::phrase;
  }
  const std::string_view first = label.substr(0, label.find(' '));
  const bool verb = words.size() <= 2 && first.ends_with("s") && !first.ends_with("ss") &&
                    Words::instance().is_relation_verb(words.front());
  return verb ? LabelForm::verb : LabelForm::noun;
}

// "borders" -> "border" for several subjects.
std::string plural_verb(const std::string& label) {
  const std::size_t end = std::min(label.find(' '), label.size());
  std::string verb = label.substr(0, end);
  if (verb.ends_with("ies")) {
    verb.replace(verb.size() - 3, 3, "y");
  } else if (verb.ends_with("s")) {
    verb.pop_back();
  }
  return verb + label.substr(end);
}

}  // namespace

Wording::Wording(const kb::View& view, const Lexicon& lexicon, base::Language language, bool traditional)
    : view_(view), lexicon_(lexicon), language_(language), traditional_(traditional) {}

std::string_view Wording::language_tag() const {
  return chinese() ? (traditional_ ? "zh-hant" : "zh") : "en";
}

std::string Wording::in_script(std::string text) const {
  return traditional_ && chinese() ? base::to_traditional(text) : std::move(text);
}

base::Result<std::string> Wording::name(kb::TermId id) {
  const auto found = names_.find(id.bits);
  if (found != names_.end()) return found->second;
  ASKBASE_ASSIGN(std::string shown, kb::display_name(view_, id, language_tag()));
  return names_.emplace(id.bits, std::move(shown)).first->second;
}

std::string Wording::unit_of(std::size_t predicate) const {
  const std::map<std::string, std::string>& units = lexicon_.predicates()[predicate].units;
  for (const std::string_view lang : {chinese() ? "zh" : "en", ""}) {
    const auto found = units.find(std::string(lang));
    if (found != units.end()) return chinese() ? in_script(found->second) : found->second;
  }
  return units.empty() ? std::string() : units.begin()->second;
}

base::Result<Value> Wording::value(kb::TermId id, std::optional<std::size_t> predicate) {
  Value out;
  ASKBASE_ASSIGN(out.term, view_.term(id));
  if (out.term.kind != kb::TermKind::literal) {
    ASKBASE_ASSIGN(out.text, name(id));
    return out;
  }
  const bool time = predicate && lexicon_.predicates()[*predicate].kind == ValueKind::time;
  const std::string_view type = out.term.datatype;
  const std::string_view short_type = type.starts_with(kb::iri::xsd) ? type.substr(kb::iri::xsd.size()) : "";
  const bool date = short_type.starts_with("date") || short_type == "gYear";
  if (short_type == "boolean") {
    out.text = yes_or_no(out.term.value == "true" || out.term.value == "1");
  } else if (date || (time && short_type == "integer")) {
    out.text = date_in_words(out.term.value, language_);
  } else if (short_type == "integer" || short_type == "decimal" || short_type == "double" ||
             short_type == "float" || short_type == "int" || short_type == "long") {
    out.text = group_digits(out.term.value);
  } else {
    out.text = out.term.value;
  }
  if (predicate && !date && short_type != "boolean") out.unit = unit_of(*predicate);
  return out;
}

std::string Wording::with_unit(const Value& value) const {
  if (value.unit.empty()) return value.text;
  const bool tight = chinese() || value.unit == "°" || value.unit == "%";
  return value.text + (tight ? "" : " ") + value.unit;
}

std::string Wording::join(const std::vector<Value>& values, std::size_t limit) const {
  const std::size_t shown = values.size() > limit + 1 ? limit : values.size();
  const std::size_t left = values.size() - shown;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == shown && left == 0;
    if (i > 0) {
      if (chinese()) {
        out += last ? "和" : "、";
      } else {
        out += last ? " and " : ", ";
      }
    }
    out += with_unit(values[i]);
  }
  if (left > 0) {
    out += chinese() ? "等" + std::to_string(values.size()) + "个" : " and " + std::to_string(left) + " more";
  }
  return out;
}

std::string Wording::yes_or_no(bool truth) const {
  if (chinese()) return truth ? "是" : "否";
  return truth ? "Yes" : "No";
}

std::string Wording::label_of(const std::vector<RelationText>& texts) const {
  const RelationText* best = nullptr;
  int best_rank = 0;
  for (const RelationText& text : texts) {
    const std::string_view primary = std::string_view(text.lang).substr(0, text.lang.find('-'));
    const bool suits =
        text.lang.empty() ? base::contains_han(text.text) == chinese() : primary == (chinese() ? "zh" : "en");
    const bool script = !chinese() || base::is_traditional(text.text) == traditional_;
    int rank = text.origin == RelationText::Origin::label        ? 4
               : text.origin == RelationText::Origin::identifier ? 2
                                                                 : 1;
    if (suits) rank += 10 + (script ? 1 : 0);
    if (primary == "en") rank += 5;
    if (best == nullptr || rank > best_rank) {
      best = &text;
      best_rank = rank;
    }
  }
  if (best == nullptr) return {};
  return chinese() ? in_script(best->text) : lower_first(best->text);
}

std::string Wording::predicate_label(std::size_t predicate) const {
  return label_of(lexicon_.predicates()[predicate].texts);
}

std::string Wording::class_label(std::size_t index) const {
  return label_of(lexicon_.classes()[index].texts);
}

base::Result<std::string> Wording::object_text(const Reading& reading) {
  const kb::TermId id = reading.shape == Shape::check ? reading.second_entity : reading.entity;
  ASKBASE_ASSIGN(const Value shown, value(id, reading.predicate));
  return with_unit(shown);
}

base::Result<std::string> Wording::class_of(kb::TermId entity) {
  ASKBASE_ASSIGN(const std::vector<kb::TermId> types, types_of(view_, lexicon_, entity));
  for (const kb::TermId type : types) {
    if (const std::optional<std::size_t> index = lexicon_.class_index(type)) return class_label(*index);
  }
  return std::string();
}

base::Result<std::string> Wording::sentence(const Question& question, const Reading& reading,
                                            const std::vector<Value>& values) {
  if (chinese()) {
    ASKBASE_ASSIGN(std::string text, chinese_sentence(reading, values));
    return in_script(std::move(text));
  }
  ASKBASE_ASSIGN(std::string text, english(question, reading, values));
  return upper_first(std::move(text));
}

std::string Wording::english_count(const Reading& reading, const std::vector<Value>& values,
                                   const std::string& subject) {
  const std::string number = group_digits(std::to_string(values.size()));
  const bool one = values.size() == 1;
  const std::string tail = values.empty() ? "." : ": " + join(values, shown_in_sentence) + ".";
  const std::string kind = reading.of_class ? class_label(*reading.of_class) : "result";
  const std::string things = one ? kind : english_plural(kind);
  if (!reading.predicate) return "There " + std::string(one ? "is " : "are ") + number + " " + things + tail;
  const std::string label = predicate_label(*reading.predicate);
  const LabelForm form = form_of(label);
  if (reading.shape == Shape::flagged) return number + " " + things + " (" + label + ")" + tail;
  if (reading.shape == Shape::forward) {
    if (form == LabelForm::verb) return subject + " " + label + " " + number + " " + things + tail;
    if (form == LabelForm::phrase) return subject + ": " + number + " " + things + tail;
    return subject + " has " + number + " " + (one ? label : english_plural(label)) + tail;
  }
  if (form == LabelForm::verb) {
    return number + " " + things + " " + (one ? label : plural_verb(label)) + " " + subject + tail;
  }
  if (form == LabelForm::phrase) {
    return number + " " + things + (one ? " is " : " are ") + label + " " + subject + tail;
  }
  return number + " " + things + (one ? " has " : " have ") + subject + " as " + (one ? "its " : "their ") +
         label + tail;
}

std::string Wording::english_chain(const Chain& chain, const std::string& subject, bool several) const {
  std::string text = subject;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const ChainStep& step = chain[i];
    const std::string label = predicate_label(step.predicate);
    const bool many = several && i + 1 == chain.size();
    switch (form_of(label)) {
      case LabelForm::noun:
        text = step.inverse ? "what has " + text + " as its " + label
                            : "the " + (many ? english_plural(label) : label) + " of " + text;
        break;
      case LabelForm::verb:
        text = step.inverse ? "what " + label + " " + text : "what " + text + " " + label;
        break;
      case LabelForm::phrase:
        text = step.inverse ? "what is " + label + " " + text : "what " + text + " is " + label;
        break;
    }
  }
  return text;
}

std::string Wording::chinese_chain(const Chain& chain, const std::string& subject) const {
  std::string text = subject;
  for (const ChainStep& step : chain) {
    const std::string label = predicate_label(step.predicate);
    text = step.inverse ? label + "是" + text + "的对象" : text + "的" + label;
  }
  return text;
}

base::Result<std::string> Wording::english(const Question& question, const Reading& reading,
                                           const std::vector<Value>& values) {
  std::string subject;
  if (reading.candidate != nullptr) {
    ASKBASE_ASSIGN(subject, name(reading.entity));
  } else if (reading.mention != nullptr) {
    ASKBASE_ASSIGN(subject, object_text(reading));
  }
  const bool several = values.size() > 1;
  const std::string list = join(values, shown_in_sentence);
  const std::string label = reading.predicate ? predicate_label(*reading.predicate) : std::string();
  const LabelForm form = form_of(label);
  switch (reading.shape) {
    case Shape::forward:
      if (reading.count) return english_count(reading, values, subject);
      if (form == LabelForm::verb) return subject + " " + label + " " + list + ".";
      if (form == LabelForm::phrase) return subject + " is " + label + " " + list + ".";
      return "The " + (several ? english_plural(label) : label) + " of " + subject +
             (several ? " are " : " is ") + list + ".";
    case Shape::inverse:
      if (reading.count) return english_count(reading, values, subject);
      if (form == LabelForm::verb)
        return list + " " + (several ? plural_verb(label) : label) + " " + subject + ".";
      if (form == LabelForm::phrase) return list + (several ? " are " : " is ") + label + " " + subject + ".";
      if (reading.candidate == nullptr) return "The " + label + " of " + list + " is " + subject + ".";
      return subject + " is the " + label + " of " + list + ".";
    case Shape::members:
      return english_count(reading, values, subject);
    case Shape::flagged:
      if (reading.count) return english_count(reading, values, subject);
      return list + " (" + label + ").";
    case Shape::check: {
      ASKBASE_ASSIGN(const std::string object,
                     reading.second != nullptr ? object_text(reading) : base::Result<std::string>(list));
      const std::string start = reading.truth ? "Yes, " : "No, ";
      const std::string& said = reading.truth ? object : list;
      if (form == LabelForm::verb) return start + subject + " " + label + " " + said + ".";
      if (form == LabelForm::phrase) return start + subject + " is " + label + " " + said + ".";
      const bool many = (reading.second == nullptr || !reading.truth) && several;
      return start + "the " + (many ? english_plural(label) : label) + " of " + subject +
             (many ? " are " : " is ") + said + ".";
    }
    case Shape::check_flag: {
      const bool has = std::any_of(question.units.begin(), question.units.end(), [](const Unit& unit) {
        return unit.key == "has" || unit.key == "have" || unit.key == "does" || unit.key == "do";
      });
      const bool with_article =
          has || std::any_of(question.units.begin(), question.units.end(),
                             [](const Unit& unit) { return unit.key == "a" || unit.key == "an"; });
      const std::string said = with_article ? article(label) : label;
      if (has) {
        return (reading.truth ? "Yes, " + subject + " has " : "No, " + subject + " does not have ") + said +
               ".";
      }
      return (reading.truth ? "Yes, " + subject + " is " : "No, " + subject + " is not ") + said + ".";
    }
    case Shape::check_kind: {
      ASKBASE_ASSIGN(const std::string actual, class_of(reading.entity));
      if (!reading.truth) return "No, " + subject + " is " + article(actual) + ".";
      return "Yes, " + subject + " is " + article(class_label(*reading.of_class)) + ".";
    }
    case Shape::chain: {
      const std::string what = english_chain(reading.chain, subject, several);
      if (reading.count)
        return what + ": " + group_digits(std::to_string(values.size())) + " (" + list + ").";
      // A clause stands apart: "what has X as its director: A and B".
      return what + (what.starts_with("the ") ? (several ? " are " : " is ") : ": ") + list + ".";
    }
    case Shape::identity:
      // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): such a reading is made from a mention
      return reading.mention->text + " is " + list + ".";
    case Shape::definition: {
      ASKBASE_ASSIGN(const std::string what, description(reading.entity));
      return what.empty() ? list : subject + " is " + article(what) + ".";
    }
  }
  return list;
}

base::Result<std::string> Wording::chinese_sentence(const Reading& reading,
                                                    const std::vector<Value>& values) {
  std::string subject;
  if (reading.candidate != nullptr) {
    ASKBASE_ASSIGN(subject, name(reading.entity));
  } else if (reading.mention != nullptr) {
    ASKBASE_ASSIGN(subject, object_text(reading));
  }
  const std::string list = join(values, shown_in_sentence);
  const std::string number = std::to_string(values.size());
  const std::string full = reading.predicate ? predicate_label(*reading.predicate) : std::string();
  std::string label = full;
  for (const std::string_view start : {"是否", "有无"}) {
    if (label.starts_with(start)) label.erase(0, start.size());
  }
  const std::string kind = reading.of_class ? class_label(*reading.of_class) : "结果";
  const std::string tail = values.empty() ? "。" : "：" + list + "。";
  switch (reading.shape) {
    case Shape::forward:
      if (reading.count) return subject + "的" + label + "共有" + number + "个" + tail;
      return subject + "的" + label + "是" + list + "。";
    case Shape::inverse:
      if (reading.count) return label + "是" + subject + "的" + kind + "共有" + number + "个" + tail;
      if (values.size() > 1 && reading.of_class)
        return label + "是" + subject + "的" + kind + "有" + list + "。";
      if (reading.candidate == nullptr) return list + "的" + label + "是" + subject + "。";
      return subject + "是" + list + "的" + label + "。";
    case Shape::members:
      return "共有" + number + "个" + kind + tail;
    case Shape::flagged:
      if (reading.count) return "共有" + number + "个" + kind + "（" + label + "）" + tail;
      return label + "：" + list + "。";
    case Shape::check: {
      ASKBASE_ASSIGN(const std::string object,
                     reading.second != nullptr ? object_text(reading) : base::Result<std::string>(list));
      return (reading.truth ? "是的，" : "不是，") + subject + "的" + label + "是" +
             (reading.truth ? object : list) + "。";
    }
    case Shape::check_flag: {
      const bool has = full.starts_with("有无");
      if (has) return (reading.truth ? "有，" + subject + "有" : "没有，" + subject + "没有") + label + "。";
      return (reading.truth ? "是的，" + subject + "是" : "不是，" + subject + "不是") + label + "。";
    }
    case Shape::check_kind: {
      ASKBASE_ASSIGN(const std::string actual, class_of(reading.entity));
      if (!reading.truth) return "不是，" + subject + "是" + actual + "。";
      return "是的，" + subject + "是" + class_label(*reading.of_class) + "。";
    }
    case Shape::chain: {
      const std::string what = chinese_chain(reading.chain, subject);
      if (reading.count) return what + "共有" + number + "个" + tail;
      return what + (reading.chain.back().inverse ? "有" : "是") + list + "。";
    }
    case Shape::identity:
      // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): such a reading is made from a mention
      return reading.mention->text + "指的是" + list + "。";
    case Shape::definition: {
      ASKBASE_ASSIGN(const std::string what, description(reading.entity));
      return what.empty() ? list : subject + "是" + what + "。";
    }
  }
  return list;
}

base::Result<std::string> Wording::description(kb::TermId id) {
  ASKBASE_ASSIGN(const std::string kind, class_of(id));
  // Where it is: values of predicates that lead to places, the narrowest first.
  std::vector<std::pair<std::uint64_t, std::string>> places;
  std::vector<kb::Triple> facts;
  ASKBASE_TRY(view_.match({.subject = id, .predicate = {}, .object = {}}, [&](const kb::Triple& fact) {
    facts.push_back(fact);
    return facts.size() < 256;
  }));
  std::optional<std::string> other;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const std::optional<std::size_t> index = lexicon_.predicate_index(facts[i].predicate);
    if (!index) continue;
    const Predicate& predicate = lexicon_.predicates()[*index];
    const bool single = (i == 0 || facts[i - 1].predicate != facts[i].predicate) &&
                        (i + 1 == facts.size() || facts[i + 1].predicate != facts[i].predicate);
    if (!single || kb::id_type(facts[i].object) != kb::IdType::iri) continue;
    ASKBASE_ASSIGN(std::string shown, name(facts[i].object));
    if (predicate.place && predicate.values_per_subject < 1.5F) {
      ASKBASE_ASSIGN(
          const std::uint64_t width,
          view_.count({.subject = {}, .predicate = facts[i].predicate, .object = facts[i].object}, 4096));
      places.emplace_back(width, std::move(shown));
    } else if (!other) {
      other = predicate_label(*index) + (chinese() ? "：" : " ") + shown;
    }
  }
  std::sort(places.begin(), places.end());
  if (places.size() > 2) places = {places[0], places.back()};
  if (chinese()) {
    std::string out;
    for (auto at = places.rbegin(); at != places.rend(); ++at) out += at->second;
    if (!out.empty()) return out + (kind.empty() ? "" : "的" + kind);
    return kind.empty() ? other.value_or("") : other ? kind + "（" + *other + "）" : kind;
  }
  std::string where;
  for (const auto& [width, place] : places) where += (where.empty() ? "" : ", ") + place;
  if (!where.empty()) return (kind.empty() ? "" : kind + " ") + "in " + where;
  return kind.empty() ? other.value_or("") : other ? kind + ", " + *other : kind;
}

base::Result<std::string> Wording::question_about(kb::TermId entity, std::size_t predicate) {
  ASKBASE_ASSIGN(const std::string subject, name(entity));
  const std::string label = predicate_label(predicate);
  const Predicate& entry = lexicon_.predicates()[predicate];
  if (chinese()) {
    if (entry.kind == ValueKind::boolean) {
      return in_script(subject + (label.starts_with("是否") || label.starts_with("有无") ? "" : "是否") +
                       label + "？");
    }
    const std::string_view what = entry.person                      ? "是谁？"
                                  : entry.kind == ValueKind::number ? "是多少？"
                                                                    : "是什么？";
    return in_script(subject + "的" + label + std::string(what));
  }
  if (entry.kind == ValueKind::boolean) return "Is " + subject + " " + label + "?";
  const LabelForm form = form_of(label);
  if (form == LabelForm::verb) return "What does " + subject + " " + plural_verb(label) + "?";
  if (form == LabelForm::phrase) return "What is " + subject + " " + label + "?";
  const bool several = entry.values_per_subject > 1.5F;
  return std::string(entry.person ? "Who " : "What ") + (several ? "are" : "is") + " the " +
         (several ? english_plural(label) : label) + " of " + subject + "?";
}

base::Result<std::string> Wording::inverse_question(kb::TermId object, std::size_t predicate) {
  ASKBASE_ASSIGN(const Value shown, value(object, predicate));
  const std::string label = predicate_label(predicate);
  const Predicate& entry = lexicon_.predicates()[predicate];
  std::string kind;
  float share = 0;
  for (const ClassShare& candidate : entry.subject_classes) {
    const std::optional<std::size_t> index = lexicon_.class_index(candidate.id);
    if (index && candidate.share > share) {
      kind = class_label(*index);
      share = candidate.share;
    }
  }
  if (chinese()) {
    return in_script((kind.empty() ? "谁" : "哪些" + kind) + "的" + label + "是" + with_unit(shown) + "？");
  }
  const std::string which = kind.empty() ? "What" : "Which " + english_plural(kind);
  const LabelForm form = form_of(label);
  const bool one = kind.empty();
  if (form == LabelForm::verb)
    return which + " " + (one ? label : plural_verb(label)) + " " + with_unit(shown) + "?";
  if (form == LabelForm::phrase)
    return which + (one ? " is " : " are ") + label + " " + with_unit(shown) + "?";
  return which + (one ? " has " : " have ") + with_unit(shown) + " as " + (one ? "its " : "their ") + label +
         "?";
}

std::string Wording::reason(Reason reason, bool small_talk, std::string_view subject,
                            std::string_view relation) const {
  const std::string name(subject), label(relation);
  const bool zh = chinese();
  std::string text;
  switch (reason) {
    case Reason::none:
      break;
    case Reason::entity_unknown:
      text = name.empty() ? (zh ? "问题里没有找到知识库中的名称。"
                                : "The question names nothing that the knowledge base has.")
             : zh         ? "知识库里没有“" + name + "”。"
                          : "The knowledge base has nothing called “" + name + "”.";
      break;
    case Reason::ambiguous:
      text = zh ? "“" + name + "”可以指几个不同的对象，请选择一个。"
                : "“" + name + "” may mean several things: please choose one.";
      break;
    case Reason::relation_unmatched:
      text = name.empty() ? (zh ? "知识库里没有与问题相符的关系。"
                                : "Nothing that the knowledge base records matches the question.")
             : zh         ? "知识库里有“" + name + "”，但没有记录所问的内容。"
                  : "The knowledge base has “" + name + "”, but records nothing that matches the question.";
      break;
    case Reason::fact_missing:
      text = zh ? "知识库没有记录“" + name + "”的" + label + "。"
                : "The knowledge base does not record the " + label + " of “" + name + "”.";
      break;
    case Reason::unsupported_question:
      if (small_talk) {
        text =
            zh ? "你好！这里回答关于已载入知识的问题。" : "Hello! Ask a question about what is loaded here.";
      } else {
        text = zh ? "这类问题（比较、最值、原因、看法等）目前不能从事实中直接回答。"
                  : "Questions of this kind (comparisons, superlatives, reasons, opinions) cannot be "
                    "answered from "
                    "single facts.";
      }
      break;
    case Reason::low_confidence:
      text = zh ? "找到的答案把握不够。" : "What was found is not certain enough.";
      break;
    case Reason::nothing_loaded:
      text = zh ? "知识库是空的，请先载入数据。" : "The knowledge base is empty: load some data first.";
      break;
    case Reason::timeout:
      text = zh ? "时间用完了，还没有找到答案。" : "The time ran out before an answer was found.";
      break;
  }
  return in_script(std::move(text));
}

}  // namespace askbase::qa
