#include "qa/lexicon.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace askbase::qa {
namespace {

// Endings that make one word of another: "discover" and "discovery" and "discoverer".
constexpr std::array<std::string_view, 38> derivations = {
    "",    "e",   "er",   "or",   "r",   "y",   "i",   "ion", "at",  "ation", "al",  "ial", "ment",
    "ing", "ant", "ent",  "anc",  "enc", "ist", "ism", "ic",  "iti", "eri",   "ori", "ian", "an",
    "iv",  "age", "ship", "hood", "s",   "d",   "n",   "en",  "t",   "or",    "ar",  "ed"};

// The word or its plural: classes are named, not alluded to ("national" is no nation).
bool same_noun(const std::string& said, const std::string& named) {
  if (said == named) return true;
  const std::string& shorter = said.size() < named.size() ? said : named;
  const std::string& longer = said.size() < named.size() ? named : said;
  if (longer == shorter + "s" || longer == shorter + "es") return true;
  return shorter.ends_with("y") && longer == shorter.substr(0, shorter.size() - 1) + "ies";
}

bool derived(const std::string& a, const std::string& b) {
  std::size_t common = 0;
  while (common < a.size() && common < b.size() && a[common] == b[common]) ++common;
  if (common < 4) return false;
  const auto ending = [&](const std::string& word) {
    return std::find(derivations.begin(), derivations.end(), std::string_view(word).substr(common)) !=
           derivations.end();
  };
  return ending(a) && ending(b);
}

}  // namespace

std::string_view value_kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::entity:
      return "entity";
    case ValueKind::number:
      return "number";
    case ValueKind::time:
      return "time";
    case ValueKind::boolean:
      return "boolean";
    case ValueKind::text:
      return "text";
  }
  return "text";
}

std::optional<std::size_t> Lexicon::predicate_index(kb::TermId id) const {
  const auto found = predicate_by_id_.find(id.bits);
  if (found == predicate_by_id_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Lexicon::class_index(kb::TermId id) const {
  const auto found = class_by_id_.find(id.bits);
  if (found == class_by_id_.end()) return std::nullopt;
  return found->second;
}

const std::vector<TextPlace>* Lexicon::texts_with(const std::string& form) const {
  const auto found = by_form_.find(form);
  return found == by_form_.end() ? nullptr : &found->second;
}

const std::vector<TextPlace>* Lexicon::texts_sounding(std::uint16_t sound) const {
  const auto found = by_sound_.find(sound);
  return found == by_sound_.end() ? nullptr : &found->second;
}

const std::vector<TextPlace>* Lexicon::texts_meaning(ConceptId id) const {
  const auto found = by_concept_.find(id);
  return found == by_concept_.end() ? nullptr : &found->second;
}

std::vector<std::string> Lexicon::related_forms(const std::string& stem) const {
  std::vector<std::string> out;
  if (stem.size() < 4) return out;
  const std::string prefix = stem.substr(0, 4);
  for (auto at = std::lower_bound(sorted_forms_.begin(), sorted_forms_.end(), prefix);
       at != sorted_forms_.end() && at->starts_with(prefix); ++at) {
    if (*at != stem && derived(*at, stem)) out.push_back(*at);
  }
  return out;
}

bool Lexicon::knows(const Unit& unit) const {
  if (unit.han || unit.number || unit.role == Role::function) return true;
  if (by_form_.count(unit.stem) != 0 || classes_by_first_.count(unit.stem) != 0) return true;
  return Words::instance().is_known(unit.key) || !related_forms(unit.stem).empty();
}

std::string Lexicon::correct(const std::string& key) const {
  const std::u32string word = base::to_code_points(key);
  if (word.size() < 4 || word.size() > 24) return {};
  // Of four letters one wrong leaves too little: only swapped ones are a slip.
  const bool short_word = word.size() == 4;
  const int limit = word.size() >= 8 ? 2 : 1;
  const std::string* best = nullptr;
  int best_edits = limit + 1;
  for (const auto& [spelling, stem] : surfaces_) {
    const auto difference = static_cast<int>(spelling.size()) - static_cast<int>(word.size());
    if (difference > limit || -difference > limit || spelling.size() < 4) continue;
    // The first letter is seldom wrong, and then by swapping with the second.
    if (spelling[0] != word[0] && !(spelling[0] == word[1] && spelling[1] == word[0])) continue;
    const int edits = base::edit_distance(spelling, word, best_edits - 1);
    if (short_word && !std::is_permutation(word.begin(), word.end(), spelling.begin(), spelling.end()))
      continue;
    if (edits < best_edits) {
      best_edits = edits;
      best = &stem;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::vector<ClassMention> Lexicon::find_classes(const Question& question) const {
  std::vector<ClassMention> out;
  const std::vector<Unit>& units = question.units;
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (const bool mended : {false, true}) {
      const std::string& start = mended ? units[i].corrected : units[i].stem;
      const auto bucket = start.empty() ? classes_by_first_.end() : classes_by_first_.find(start);
      if (bucket == classes_by_first_.end()) continue;
      for (const TextPlace& place : bucket->second) {
        const std::vector<TextWord>& words = classes_[place.predicate].texts[place.text].words;
        if (i + words.size() > units.size()) continue;
        bool same = true, misspelt = false;
        for (std::size_t w = 0; w < words.size() && same; ++w) {
          const Unit& unit = units[i + w];
          const bool as_written =
              unit.stem == words[w].form && (words[w].han || same_noun(unit.key, words[w].key));
          const bool sounds_so = unit.sound != 0 && unit.sound == words[w].sound && words.size() > 1;
          same = as_written || unit.corrected == words[w].form || (sounds_so && !misspelt);
          misspelt |= !as_written;
        }
        // One character is a class only where it is a word: 市 in 市长 is not a city.
        if (same && words.size() == 1 && words[0].han && !units[i].alone) same = false;
        if (!same) continue;
        const std::size_t last = i + words.size();
        const auto known = std::find_if(out.begin(), out.end(), [&](const ClassMention& mention) {
          return mention.first == i && mention.last == last;
        });
        ClassMention& mention = known == out.end() ? out.emplace_back() : *known;
        mention.first = i;
        mention.last = last;
        if (misspelt) mention.similarity = 0.85F;
        if (std::find(mention.classes.begin(), mention.classes.end(), place.predicate) ==
            mention.classes.end()) {
          mention.classes.push_back(place.predicate);
        }
      }
    }
  }
  // "dwarf planets" is not "planets": the longest mention at a place stands.
  std::vector<ClassMention> kept;
  for (const ClassMention& mention : out) {
    const bool inside = std::any_of(out.begin(), out.end(), [&](const ClassMention& other) {
      return other.first <= mention.first && other.last >= mention.last &&
             other.last - other.first > mention.last - mention.first;
    });
    if (!inside) kept.push_back(mention);
  }
  return kept;
}

float class_share(const std::vector<ClassShare>& shares, const std::vector<kb::TermId>& classes) {
  float sum = 0;
  for (const ClassShare& share : shares) {
    if (std::find(classes.begin(), classes.end(), share.id) != classes.end()) sum += share.share;
  }
  return std::min(sum, 1.0F);
}

}  // namespace askbase::qa
