// Numbers, codes and quoted text as values of facts.
#include <algorithm>
#include <set>
#include <utility>

#include "qa/linking.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_value_spans = 48;    // spans looked up as values
constexpr std::size_t max_value_subjects = 4;  // a value that more entities share names none of them
constexpr float by_value_score = 0.7F;

}  // namespace

base::Status Linking::find_values() {
  std::size_t looked_up = 0;
  for (std::size_t first = 0; first < units().size() && looked_up < max_value_spans; ++first) {
    if (deadline_.passed()) return {};
    for (std::size_t last = first + 1; last <= std::min(units().size(), first + 3); ++last) {
      if (!may_be_value(first, last)) continue;
      ++looked_up;
      std::set<kb::TermId> values;
      ASKBASE_TRY(look_up_value(first, last, values));
      if (values.empty()) continue;
      ASKBASE_TRY(add_value_mention(first, last, values));
    }
  }
  return {};
}

base::Status Linking::find_numbers_in_words() {
  for (const NumberHit& number : question_.numbers) {
    const kb::Term term = kb::Term::integer(number.value);
    ASKBASE_ASSIGN(const std::optional<kb::TermId> id, view_.find(term));
    if (id) ASKBASE_TRY(add_value_mention(number.first, number.last, {*id}));
  }
  return {};
}

bool Linking::may_be_value(std::size_t first, std::size_t last) const {
  const auto telling = [&](const Unit& unit) {
    return unit.number || (unit.capital && unit.role == Role::content) || signs_before(unit) > 0 ||
           std::any_of(unit.text.begin(), unit.text.end(), [](char c) { return c >= '0' && c <= '9'; }) ||
           (!unit.han && unit.text == unit.key && static_cast<unsigned char>(unit.text[0]) >= 0x80);
  };
  const Unit& start = units()[first];
  if (last - first == 1) {
    return telling(start) ||
           (!start.han && start.role == Role::content && question_.language == base::Language::chinese);
  }
  if (start.han) return false;
  return telling(start) && telling(units()[last - 1]);
}

std::size_t Linking::signs_before(const Unit& unit) const {
  std::size_t count = 0;
  while (count < unit.begin_byte) {
    const char c = question_.text[unit.begin_byte - count - 1];
    if (c != '.' && c != '+' && c != '#' && c != '-' && c != '@' && c != '[') break;
    ++count;
  }
  return count;
}

base::Status Linking::look_up_value(std::size_t first, std::size_t last, std::set<kb::TermId>& values) {
  const Unit& start = units()[first];
  const std::size_t end = units()[last - 1].end_byte;
  const std::size_t signs = signs_before(start);
  for (const std::size_t before : {signs, std::size_t{0}}) {
    const std::string text =
        question_.text.substr(start.begin_byte - before, end - start.begin_byte + before);
    ASKBASE_TRY(add_if_used(kb::Term::literal(text), values));
    for (const std::string& lang : lexicon_.value_languages()) {
      ASKBASE_TRY(add_if_used(kb::Term::text(text, lang), values));
    }
    if (before == 0) break;
  }
  if (last - first == 1 && start.number) {
    std::string digits;
    for (const char c : start.key) {
      if (c != ',') digits += c;
    }
    const bool whole = digits.find('.') == std::string::npos;
    for (const std::string_view type : {"integer", "decimal", "gYear", "double"}) {
      if (!whole && (type == "integer" || type == "gYear")) continue;
      if (type == "gYear" && digits.size() != 4) continue;
      ASKBASE_ASSIGN(const std::optional<kb::TermId> id,
                     view_.find(kb::Term::literal(digits, std::string(kb::iri::xsd) + std::string(type))));
      if (id) values.insert(*id);
    }
  }
  return {};
}

base::Status Linking::add_if_used(const kb::Term& term, std::set<kb::TermId>& values) {
  ASKBASE_ASSIGN(const std::optional<kb::TermId> id, view_.find(term));
  if (id) values.insert(*id);
  return {};
}

base::Status Linking::add_value_mention(std::size_t first, std::size_t last,
                                        const std::set<kb::TermId>& values) {
  std::vector<kb::TermId> used;
  std::vector<std::pair<kb::TermId, kb::TermId>> subjects;  // with the value
  for (const kb::TermId value : values) {
    bool any = false;
    const bool text = kb::id_type(value) == kb::IdType::string;
    std::size_t seen = 0;
    ASKBASE_TRY(view_.match({.subject = {}, .predicate = {}, .object = value}, [&](const kb::Triple& fact) {
      if (lexicon_.predicate_index(fact.predicate)) {
        any = true;
        if (text) subjects.emplace_back(fact.subject, value);
      }
      return ++seen < 64 && (text || !any);
    }));
    if (any) used.push_back(value);
  }
  if (used.empty()) return {};
  Mention& mention = mention_at(first, last);
  mention.values.insert(mention.values.end(), used.begin(), used.end());
  std::set<kb::TermId> distinct;
  for (const auto& [subject, value] : subjects) distinct.insert(subject);
  if (distinct.size() > max_value_subjects) return {};
  for (const kb::TermId subject : distinct) {
    kb::EntityMatch match;
    match.entity = subject;
    match.name.text = mention.text;
    match.name.kind = kb::NameKind::alias;
    const std::size_t before = mention.candidates.size();
    add_candidate(mention, match);
    if (mention.candidates.size() == before) continue;
    ASKBASE_ASSIGN(const std::uint64_t facts,
                   view_.count({.subject = subject, .predicate = {}, .object = {}}, 64));
    Candidate& candidate = mention.candidates.back();
    candidate.by_value = true;
    candidate.score = by_value_score;
    candidate.facts = static_cast<std::uint32_t>(facts);
    candidate.prominence = prominence_of(candidate.facts);
  }
  return {};
}

}  // namespace askbase::qa
