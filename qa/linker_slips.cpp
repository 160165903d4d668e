// Misspelt words and names.
#include <algorithm>
#include <utility>

#include "base/pinyin.h"
#include "base/text.h"
#include "qa/linking.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_fuzzy_calls = 8;  // searches for misspelt names in one question
constexpr float edit_cost = 1.5F;           // of one edit, over the length of the name
constexpr float first_letter_cost = 0.2F;
constexpr float same_sound_share = 0.4F;  // of the cost, when the characters sound the same

}  // namespace

float Linking::slip_cost(const std::string& written, const std::string& name, int edits) {
  const std::u32string a = base::to_code_points(written), b = base::to_code_points(name);
  const auto letters = static_cast<float>(std::max<std::size_t>(a.size(), 1));
  float cost = edit_cost * static_cast<float>(edits) / letters;
  if (base::contains_han(written)) {
    if (a.size() != b.size()) return cost;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] && (base::sound_of(a[i]) == 0 || base::sound_of(a[i]) != base::sound_of(b[i])))
        return cost;
    }
    return cost * same_sound_share;
  }
  const bool swapped = a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0];
  if (!a.empty() && !b.empty() && a[0] != b[0] && !swapped) cost += first_letter_cost;
  return cost;
}

void Linking::mend_words() {
  const Words& words = Words::instance();
  const Mask mask = covered();
  bool changed = false;
  for (std::size_t i = 0; i < units().size(); ++i) {
    Unit& unit = question_.units[i];
    if (unit.han || mask[i] != 0 || unit.key.size() < 3 || lexicon_.knows(unit)) continue;
    if (unit.capital && i > 0) {
      unit.corrected = lexicon_.correct(unit.key);
    } else if (const std::string word = words.correct_question_word(unit.key); !word.empty()) {
      unit.corrected = words.stem(word);
      unit.role = words.role(word);
      if (unit.role != Role::content) unit.weight = 0;
    } else {
      unit.corrected = lexicon_.correct(unit.key);
    }
    changed |= !unit.corrected.empty();
  }
  if (changed) find_phrases(question_);
}

base::Status Linking::find_misspelt_names() {
  const Mask mask = covered();
  std::vector<std::uint8_t> strange(units().size(), 0);  // neither a known word nor part of a name
  Mask explained = mask;
  for (const ConceptHit& hit : question_.concepts) mark(explained, hit.first, hit.last);
  for (const ClassMention& mention : lexicon_.find_classes(question_)) {
    mark(explained, mention.first, mention.last);
  }
  for (std::size_t i = 0; i < units().size(); ++i) {
    const Unit& unit = units()[i];
    if (unit.number || mask[i] != 0) continue;
    strange[i] = unit.han ? !unit.splits && explained[i] == 0 && unit.role == Role::content
                          : !lexicon_.knows(unit) && unit.key.size() >= 3;
  }
  const bool has_certain_name =
      std::any_of(links_.mentions.begin(), links_.mentions.end(),
                  [](const Mention& m) { return !m.weak && m.exact && !m.candidates.empty(); });
  std::size_t calls = 0;
  for (std::size_t i = 0; i < units().size(); ++i) {
    if (strange[i] == 0) continue;
    // Beside a name that is certain, a strange word in lower case is hardly another one.
    if (!units()[i].han && !units()[i].capital && has_certain_name) continue;
    const auto [first, last] = units()[i].han ? han_run(i, explained) : latin_run(i, mask);
    std::vector<Span> spans = sub_spans(first, last, strange);
    if (units()[i].han) {
      // A term may be the end of the name: 加勒比地区.
      std::size_t end = last;
      while (end < units().size() && end - last < 3 && units()[end].han && !units()[end].splits) ++end;
      if (end > last) spans.insert(spans.begin(), Span(first, end));
    }
    for (const Span& span : spans) {
      if (calls >= max_fuzzy_calls || deadline_.passed()) return {};
      const std::string key = units_key(question_, span.first, span.second);
      ++calls;
      ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> matches, names_near(span, key));
      Mention mention = new_mention(span.first, span.second);
      mention.exact = false;
      for (const kb::EntityMatch& match : matches) {
        if (!named_inside(span, match.entity)) add_candidate(mention, match);
      }
      std::erase_if(mention.candidates,
                    [](const Candidate& candidate) { return candidate.score < least_slip_score; });
      if (mention.candidates.empty()) continue;
      std::stable_sort(mention.candidates.begin(), mention.candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
      links_.mentions.push_back(std::move(mention));
      break;
    }
    i = std::max(i, last - 1);
  }
  return {};
}

base::Result<std::vector<kb::EntityMatch>> Linking::names_near(const Span& span,
                                                               const std::string& key) const {
  if (!units()[span.first].han || span.second - span.first > 2) {
    return kb::find_fuzzy(view_, key, options_.max_candidates);
  }
  // Two characters are too few for edits in general; another character of the same sound is still a slip.
  std::vector<kb::EntityMatch> out;
  const std::u32string text = base::to_code_points(key);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char32_t c : base::characters_of_sound(base::sound_of(text[i]))) {
      if (c == text[i]) continue;
      std::u32string other = text;
      other[i] = c;
      ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> matches, kb::find_exact(view_, base::to_utf8(other)));
      for (kb::EntityMatch match : matches) {
        match.edits = 1;
        out.push_back(std::move(match));
      }
    }
  }
  return out;
}

bool Linking::named_inside(const Span& span, kb::TermId entity) const {
  return std::any_of(links_.mentions.begin(), links_.mentions.end(), [&](const Mention& mention) {
    return mention.exact && mention.first >= span.first && mention.last <= span.second &&
           std::any_of(mention.candidates.begin(), mention.candidates.end(),
                       [&](const Candidate& candidate) { return candidate.entity == entity; });
  });
}

Linking::Span Linking::latin_run(std::size_t i, const Mask& mask) const {
  const auto joins = [&](std::size_t k) {
    const Unit& unit = units()[k];
    return !unit.han && !unit.number && mask[k] == 0 &&
           (unit.role == Role::content || (unit.capital && k > 0));
  };
  const auto links = [&](std::size_t k) {
    const std::string& key = units()[k].key;
    return key == "of" || key == "the" || key == "and" || key == "de" || key == "d";
  };
  std::size_t first = i, last = i + 1;
  while (first > 0 && i - first < 4 && joins(first - 1)) --first;
  while (last < units().size() && last - i < 5) {
    if (joins(last)) {
      ++last;
    } else if (last + 1 < units().size() && links(last) && joins(last + 1) && units()[last + 1].capital) {
      last += 2;
    } else {
      break;
    }
  }
  return {first, last};
}

Linking::Span Linking::han_run(std::size_t i, const Mask& explained) const {
  const auto joins = [&](std::size_t k) {
    return units()[k].han && !units()[k].splits && !only_term(k, explained);
  };
  std::size_t first = i, last = i + 1;
  while (first > 0 && i - first < 10 && joins(first - 1)) --first;
  while (last < units().size() && last - i < 12 && joins(last)) ++last;
  return {first, last};
}

bool Linking::only_term(std::size_t k, const Mask& explained) const {
  if (explained[k] == 0) return false;
  return std::none_of(links_.mentions.begin(), links_.mentions.end(), [&](const Mention& mention) {
    return !mention.weak && mention.first <= k && k < mention.last;
  });
}

std::vector<Linking::Span> Linking::sub_spans(std::size_t first, std::size_t last,
                                              const std::vector<std::uint8_t>& strange) const {
  std::vector<Span> out;
  const bool han = units()[first].han;
  const std::size_t least = han ? 2 : 1;
  for (std::size_t length = last - first; length >= least && length > 0 && out.size() < 12; --length) {
    for (std::size_t at = first; at + length <= last; ++at) {
      bool any = false;
      for (std::size_t k = at; k < at + length; ++k) any |= strange[k] != 0;
      const Unit& start = units()[at];
      const Unit& end = units()[at + length - 1];
      if (!han && (start.role == Role::function || end.role == Role::function) && length > 1) continue;
      if (any) out.emplace_back(at, at + length);
    }
  }
  return out;
}

}  // namespace askbase::qa
