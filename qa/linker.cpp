#include "qa/linker.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "qa/linking.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_span_units = 24;  // of Han characters or words, in one name
constexpr std::size_t max_mentions = 16;
constexpr float least_tagged = 0.1F;  // mentions that a tagger finds so probable stay beyond that number
constexpr float alias_score = 0.97F;
constexpr float remark_score = 0.92F;     // of a name with a further remark in brackets
constexpr float adjective_score = 0.85F;  // "African" for Africa
constexpr float prominence_scale = 64;    // facts that make an entity well known

}  // namespace

float prominence_of(std::uint32_t facts) {
  return std::log2(1.0F + static_cast<float>(facts)) / std::log2(1.0F + prominence_scale);
}

base::Result<Links> Linking::run() {
  ASKBASE_TRY(find_exact_names());
  ASKBASE_TRY(find_values());
  ASKBASE_TRY(find_numbers_in_words());
  mend_words();
  ASKBASE_TRY(find_misspelt_names());
  ASKBASE_TRY(find_tagged_names());
  ASKBASE_TRY(apply_pins());
  for (Mention& mention : links_.mentions) mention.tagged = tagged(mention.first, mention.last);
  std::stable_sort(links_.mentions.begin(), links_.mentions.end(), [](const Mention& a, const Mention& b) {
    if (a.weak != b.weak) return b.weak;
    return a.length() > b.length();
  });
  std::size_t kept = 0;
  std::erase_if(links_.mentions, [&](const Mention& mention) {
    return ++kept > max_mentions && mention.tagged < least_tagged;
  });
  for (Mention& mention : links_.mentions) {
    for (Candidate& candidate : mention.candidates) {
      ASKBASE_ASSIGN(candidate.types, types_of(view_, lexicon_, candidate.entity));
    }
  }
  find_unknown_names();
  find_tagged_unknown_names();
  return std::move(links_);
}

Mention Linking::new_mention(std::size_t first, std::size_t last) const {
  Mention mention;
  mention.first = first;
  mention.last = last;
  mention.text = std::string(question_.span(first, last));
  mention.begin = units()[first].begin;
  mention.end = units()[last - 1].end;
  return mention;
}

bool Linking::is_common(std::size_t first, std::size_t last, const std::string& key) const {
  const Words& words = Words::instance();
  if (units()[first].han) {
    const std::u32string text = base::to_code_points(key);
    std::size_t length = 0;
    words.han_role(text, 0, length);
    if (length == text.size()) return true;
    if (last - first == 1 && !units()[first].alone) return true;
    return is_term(key);
  }
  if (last - first > 1) {
    return std::all_of(units().begin() + static_cast<std::ptrdiff_t>(first),
                       units().begin() + static_cast<std::ptrdiff_t>(last),
                       [](const Unit& unit) { return unit.role == Role::function; }) ||
           is_term(key);
  }
  const Unit& unit = units()[first];
  if (unit.role == Role::function) return true;
  if (unit.capital && first > 0 && unit.role == Role::content) return false;
  return unit.role == Role::light || words.is_known(unit.key) || lexicon_.texts_with(unit.stem) != nullptr;
}

bool Linking::is_term(const std::string& key) const {
  const std::vector<std::string> forms = Words::instance().phrase(key);
  if (forms.empty()) return true;
  if (const std::vector<TextPlace>* places = lexicon_.texts_with(forms[0])) {
    for (const TextPlace& place : *places) {
      const std::vector<TextWord>& text = lexicon_.predicates()[place.predicate].texts[place.text].words;
      if (std::equal(text.begin(), text.end(), forms.begin(), forms.end(),
                     [](const TextWord& word, const std::string& form) { return word.form == form; })) {
        return true;
      }
    }
  }
  return false;
}

base::Status Linking::find_exact_names() {
  for (std::size_t first = 0; first < units().size(); ++first) {
    if (deadline_.passed()) return {};
    for (std::size_t last = first + 1; last <= units().size() && last - first <= max_span_units; ++last) {
      const std::string key = units_key(question_, first, last);
      ASKBASE_ASSIGN(const bool more, kb::has_prefix(view_, key));
      ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> matches, names_like(key, more, units()[last - 1]));
      if (matches.empty() && more) continue;
      if (matches.empty()) break;
      Mention mention = new_mention(first, last);
      mention.weak = is_common(first, last, key);
      // "He" inside a sentence may be helium; "he" is not.
      const Unit& unit = units()[first];
      if (mention.weak && unit.role == Role::function && !unit.han &&
          (!unit.capital || first == 0 || last - first > 1)) {
        continue;
      }
      for (const kb::EntityMatch& match : matches) add_candidate(mention, match);
      if (mention.candidates.empty()) continue;
      if (mention.weak && unit.role == Role::function && !unit.han &&
          std::none_of(mention.candidates.begin(), mention.candidates.end(),
                       [&](const Candidate& candidate) { return candidate.name == mention.text; })) {
        continue;
      }
      links_.mentions.push_back(std::move(mention));
    }
  }
  return {};
}

base::Result<std::vector<kb::EntityMatch>> Linking::names_like(const std::string& key, bool more,
                                                               const Unit& end) const {
  if (more) {
    ASKBASE_ASSIGN(std::vector<kb::EntityMatch> matches, kb::find_exact(view_, key));
    if (!matches.empty()) return matches;
  }
  if (end.han || end.key.size() < 4) return std::vector<kb::EntityMatch>();
  if (end.capital) return names_of_adjective(key);
  if (!end.key.ends_with("s")) return std::vector<kb::EntityMatch>();
  for (const std::size_t cut : {std::size_t{1}, std::size_t{2}}) {
    if (cut == 2 && !key.ends_with("es")) break;
    ASKBASE_ASSIGN(std::vector<kb::EntityMatch> matches,
                   kb::find_exact(view_, key.substr(0, key.size() - cut)));
    if (!matches.empty()) return matches;
  }
  return std::vector<kb::EntityMatch>();
}

base::Result<std::vector<kb::EntityMatch>> Linking::names_of_adjective(const std::string& key) const {
  struct Ending {
    std::string_view adjective, noun;
  };
  constexpr Ending endings[] = {{"n", ""},   {"ian", ""},  {"ian", "y"}, {"ean", "e"}, {"an", ""},
                                {"ese", ""}, {"ese", "a"}, {"i", ""},    {"ish", ""}};
  for (const Ending& ending : endings) {
    if (!key.ends_with(ending.adjective) || key.size() < ending.adjective.size() + 4) continue;
    const std::string noun = key.substr(0, key.size() - ending.adjective.size()) + std::string(ending.noun);
    ASKBASE_ASSIGN(std::vector<kb::EntityMatch> matches, kb::find_exact(view_, noun));
    for (kb::EntityMatch& match : matches) match.match = kb::MatchKind::word;
    if (!matches.empty()) return matches;
  }
  return std::vector<kb::EntityMatch>();
}

void Linking::add_candidate(Mention& mention, const kb::EntityMatch& match) {
  if (lexicon_.is_schema(match.entity)) return;
  const auto known =
      std::find_if(mention.candidates.begin(), mention.candidates.end(),
                   [&](const Candidate& candidate) { return candidate.entity == match.entity; });
  if (known != mention.candidates.end() || mention.candidates.size() >= options_.max_candidates) {
    return;
  }
  Candidate candidate;
  candidate.entity = match.entity;
  candidate.name = match.name.text;
  candidate.alias = match.name.kind != kb::NameKind::label;
  candidate.facts = match.facts;
  candidate.prominence = prominence_of(match.facts);
  candidate.edits = match.edits;
  candidate.score = candidate.alias ? alias_score : 1.0F;
  // "Asia (UN region)" is what "Asia" means only when the plain name does not fit.
  if (match.edits == 0 && match.name.text.size() > mention.text.size() &&
      (match.name.text.ends_with(")") || match.name.text.ends_with("）"))) {
    candidate.score = remark_score;
  }
  if (match.match == kb::MatchKind::word) candidate.score = adjective_score;
  if (match.edits > 0) {
    candidate.score =
        std::max(0.0F, candidate.score - slip_cost(base::match_key(mention.text),
                                                   base::match_key(match.name.text), match.edits));
  }
  mention.candidates.push_back(std::move(candidate));
}

Mention& Linking::mention_at(std::size_t first, std::size_t last) {
  for (Mention& mention : links_.mentions) {
    if (mention.first == first && mention.last == last) return mention;
  }
  links_.mentions.push_back(new_mention(first, last));
  return links_.mentions.back();
}

Mask Linking::covered() const {
  Mask mask(units().size(), 0);
  for (const Mention& mention : links_.mentions) {
    if (mention.weak || (mention.candidates.empty() && !units()[mention.first].number)) continue;
    std::fill(mask.begin() + static_cast<std::ptrdiff_t>(mention.first),
              mask.begin() + static_cast<std::ptrdiff_t>(mention.last), 1);
  }
  return mask;
}

void Linking::mark(Mask& mask, std::size_t first, std::size_t last) {
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first),
            mask.begin() + static_cast<std::ptrdiff_t>(last), 1);
}

base::Status Linking::apply_pins() {
  for (const auto& [key, entity] : pins_) {
    for (std::size_t first = 0; first < units().size(); ++first) {
      for (std::size_t last = first + 1; last <= units().size() && last - first <= max_span_units; ++last) {
        if (units_key(question_, first, last) != key) continue;
        kb::EntityMatch match;
        match.entity = entity;
        ASKBASE_ASSIGN(match.name.text,
                       kb::display_name(view_, entity, base::language_code(question_.language)));
        ASKBASE_ASSIGN(const std::uint64_t facts,
                       view_.count({.subject = entity, .predicate = {}, .object = {}}, 64));
        match.facts = static_cast<std::uint32_t>(facts);
        Mention& mention = mention_at(first, last);
        mention.weak = false;
        mention.exact = true;
        mention.candidates.clear();
        add_candidate(mention, match);
        if (!mention.candidates.empty()) mention.candidates.back().pinned = true;
      }
    }
  }
  return {};
}

void Linking::find_unknown_names() {
  Mask mask(units().size(), 0);
  for (const Mention& mention : links_.mentions) {
    if (!mention.weak) mark(mask, mention.first, mention.last);
  }
  for (std::size_t i = 0; i < units().size(); ++i) {
    const Unit& unit = units()[i];
    if (mask[i] != 0 || unit.han || unit.number) continue;
    const bool name = (unit.capital && i > 0 && unit.role != Role::function) || !lexicon_.knows(unit);
    if (!name) continue;
    std::size_t last = i + 1;
    while (
        last < units().size() && mask[last] == 0 && !units()[last].han &&
        ((units()[last].capital && units()[last].role != Role::function) || !lexicon_.knows(units()[last]))) {
      ++last;
    }
    links_.unknown.emplace_back(i, last);
    i = last;
  }
}

namespace {

class LexicalLinker : public EntityLinker {
 public:
  explicit LexicalLinker(const LinkOptions& options) : options_(options) {}

  base::Result<Links> link(Question& question, const kb::View& view, const Lexicon& lexicon,
                           const std::map<std::string, kb::TermId>& pins,
                           const Deadline& deadline) const override {
    return Linking(question, view, lexicon, pins, deadline, options_).run();
  }

 private:
  LinkOptions options_;
};

}  // namespace

std::unique_ptr<EntityLinker> make_lexical_linker(const LinkOptions& options) {
  return std::make_unique<LexicalLinker>(options);
}

base::Result<std::vector<kb::TermId>> types_of(const kb::View& view, const Lexicon& lexicon,
                                               kb::TermId entity) {
  std::vector<kb::TermId> out;
  if (!lexicon.type_predicate() || kb::id_type(entity) != kb::IdType::iri) return out;
  ASKBASE_TRY(view.match({.subject = entity, .predicate = *lexicon.type_predicate(), .object = {}},
                         [&](const kb::Triple& triple) {
                           out.push_back(triple.object);
                           return out.size() < 32;
                         }));
  const std::size_t direct = out.size();
  for (std::size_t i = 0; i < direct; ++i) {
    if (const std::optional<std::size_t> known = lexicon.class_index(out[i])) {
      for (const kb::TermId ancestor : lexicon.classes()[*known].ancestors) {
        if (std::find(out.begin(), out.end(), ancestor) == out.end()) out.push_back(ancestor);
      }
    }
  }
  return out;
}

std::string units_key(const Question& question, std::size_t first, std::size_t last) {
  std::string key;
  for (std::size_t i = first; i < last; ++i) {
    const Unit& unit = question.units[i];
    const bool clitic = unit.text.starts_with("'") || unit.text.starts_with("’");
    const bool between_han = i > first && unit.han && question.units[i - 1].han;
    if (i > first && !clitic && !between_han) key += ' ';
    key += unit.key;
  }
  return key;
}

}  // namespace askbase::qa
