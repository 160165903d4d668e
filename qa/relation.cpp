#include "qa/relation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

namespace askbase::qa {
namespace {

// How much each way of meeting is worth beside the same word.
constexpr float related_similarity = 0.9F;  // discover, discovery
constexpr float misspelt_similarity = 0.85F;
constexpr float sound_similarity = 0.85F;   // another character of the same sound
constexpr float concept_similarity = 0.9F;  // another word for the same thing
constexpr float other_text_share = 0.9F;    // a word of another text of the predicate than the best one
constexpr float least_score = 0.1F;
constexpr std::size_t max_places_of_word = 4096;

struct Link {
  std::uint16_t unit = 0, word = 0;
  float similarity = 1;
};
struct ConceptLink {
  std::uint16_t first = 0, last = 0;  // units
  std::uint16_t first_word = 0, last_word = 0;
  float similarity = 1;
  bool opposite = false;
};
struct Run {  // the same characters in a row
  std::uint16_t unit = 0, word = 0, length = 0;
  bool exact = true;  // false: some are others of the same sound
};

// Everything that a text of a predicate has in common with the question.
struct TextLinks {
  const RelationText* text = nullptr;
  std::size_t text_index = 0;
  std::vector<Link> links;
  std::vector<ConceptLink> concepts;
  std::vector<Run> runs;  // Han, before names are taken out
  std::vector<Run> near;  // windows of the whole text with one or two characters wrong
};

class LexicalMatcher : public RelationMatcher {
 public:
  LexicalMatcher(const Question& question, const Lexicon& lexicon) : question_(question), lexicon_(lexicon) {
    for (std::size_t i = 0; i < question_.units.size(); ++i) link_unit(i);
    for (const ConceptHit& hit : question_.concepts) link_concept(hit);
    for (auto& [key, links] : touched_) find_runs(links);
    drop_false_slips();
    for (auto& [key, links] : touched_) {
      by_predicate_[static_cast<std::size_t>(key >> 32)].push_back(std::move(links));
    }
    touched_.clear();
  }

  std::vector<RelationMatch> match(const Mask& names, std::size_t limit) const override {
    float total = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == 0) total += question_.units[i].weight;
    }
    std::vector<RelationMatch> out;
    for (const auto& [predicate, texts] : by_predicate_) {
      RelationMatch match = match_predicate(predicate, texts, names, total);
      if (match.score >= least_score) out.push_back(std::move(match));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const RelationMatch& a, const RelationMatch& b) { return a.score > b.score; });
    if (out.size() > limit) out.resize(limit);
    return out;
  }

 private:
  TextLinks& touch(const TextPlace& place) {
    TextLinks& links = touched_[static_cast<std::uint64_t>(place.predicate) << 32 | place.text];
    links.text = &lexicon_.predicates()[place.predicate].texts[place.text];
    links.text_index = place.text;
    return links;
  }

  void link_form(std::size_t unit, const std::string& form, float similarity) {
    const std::vector<TextPlace>* places = lexicon_.texts_with(form);
    if (places == nullptr) return;
    const bool han = question_.units[unit].han;
    for (std::size_t i = 0; i < std::min(places->size(), max_places_of_word); ++i) {
      TextLinks& links = touch((*places)[i]);
      if (han) continue;  // runs tell more than single characters
      for (std::size_t w = 0; w < links.text->words.size(); ++w) {
        if (links.text->words[w].form == form) {
          links.links.push_back(
              {static_cast<std::uint16_t>(unit), static_cast<std::uint16_t>(w), similarity});
        }
      }
    }
  }

  void link_unit(std::size_t i) {
    const Unit& unit = question_.units[i];
    if (!unit.han && unit.role == Role::function) return;
    link_form(i, unit.stem, 1);
    if (unit.han) {
      if (const std::vector<TextPlace>* places =
              unit.sound == 0 ? nullptr : lexicon_.texts_sounding(unit.sound)) {
        for (std::size_t k = 0; k < std::min(places->size(), max_places_of_word); ++k) touch((*places)[k]);
      }
      return;
    }
    for (const std::string& form : lexicon_.related_forms(unit.stem)) link_form(i, form, related_similarity);
    if (!unit.corrected.empty()) {
      link_form(i, unit.corrected, misspelt_similarity);
      for (const std::string& form : lexicon_.related_forms(unit.corrected)) {
        link_form(i, form, misspelt_similarity * related_similarity);
      }
    }
  }

  void link_concept(const ConceptHit& hit) {
    const std::vector<TextPlace>* places = lexicon_.texts_meaning(hit.id);
    if (places == nullptr) return;
    for (std::size_t i = 0; i < std::min(places->size(), max_places_of_word); ++i) {
      TextLinks& links = touch((*places)[i]);
      for (const TextConcept& meaning : links.text->concepts) {
        if (meaning.id != hit.id) continue;
        links.concepts.push_back({static_cast<std::uint16_t>(hit.first), static_cast<std::uint16_t>(hit.last),
                                  meaning.first, meaning.last,
                                  hit.strength * meaning.strength * concept_similarity,
                                  hit.opposite != meaning.opposite});
      }
    }
  }

  void find_runs(TextLinks& links) const {
    const std::vector<Unit>& units = question_.units;
    const std::vector<TextWord>& words = links.text->words;
    const auto alike = [&](std::size_t i, std::size_t w) {
      if (!units[i].han || !words[w].han) return false;
      return units[i].stem == words[w].form || (units[i].sound != 0 && units[i].sound == words[w].sound);
    };
    for (std::size_t i = 0; i < units.size(); ++i) {
      for (std::size_t w = 0; w < words.size(); ++w) {
        if (!alike(i, w) || (i > 0 && w > 0 && alike(i - 1, w - 1))) continue;
        std::size_t length = 0, same = 0;
        while (i + length < units.size() && w + length < words.size() && alike(i + length, w + length)) {
          same += units[i + length].stem == words[w + length].form ? 1 : 0;
          ++length;
        }
        // At least half of the characters have to be the same ones.
        if (same * 2 < length) continue;
        links.runs.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(w),
                              static_cast<std::uint16_t>(length), same == length});
      }
    }
    std::stable_sort(links.runs.begin(), links.runs.end(),
                     [](const Run& a, const Run& b) { return a.length > b.length; });
    find_near(links);
  }

  // "元素符号" is said as it is, so it is no slip for "元素序号".
  void drop_false_slips() {
    std::vector<Run> whole;
    for (const auto& [key, links] : touched_) {
      for (const Run& run : links.runs) {
        if (run.exact && run.length >= 2 && run.length == links.text->words.size()) whole.push_back(run);
      }
    }
    for (auto& entry : touched_) {
      auto& links = entry.second;
      const auto false_slip = [&](const Run& run) {
        if (run.exact) return false;
        return std::any_of(whole.begin(), whole.end(), [&](const Run& other) {
          for (std::size_t k = 0; k < run.length; ++k) {
            const std::size_t unit = run.unit + k;
            const bool same = question_.units[unit].stem == links.text->words[run.word + k].form;
            if (!same && other.unit <= unit && unit < std::size_t{other.unit} + other.length) return true;
          }
          return false;
        });
      };
      std::erase_if(links.runs, false_slip);
      std::erase_if(links.near, false_slip);
    }
  }

  // A slip inside a long Chinese term: "官放语言" for "官方语言".
  void find_near(TextLinks& links) const {
    const std::vector<Unit>& units = question_.units;
    const std::vector<TextWord>& words = links.text->words;
    const std::size_t length = words.size();
    if (length < 3 || units.size() < length) return;
    if (!std::all_of(words.begin(), words.end(), [](const TextWord& word) { return word.han; })) return;
    const std::size_t allowed = length >= 6 ? 2 : 1;
    for (std::size_t i = 0; i + length <= units.size(); ++i) {
      std::size_t wrong = 0;
      for (std::size_t w = 0; w < length && wrong <= allowed; ++w) {
        if (!units[i + w].han || units[i + w].stem != words[w].form) ++wrong;
      }
      if (wrong > 0 && wrong <= allowed) {
        links.near.push_back({static_cast<std::uint16_t>(i), 0, static_cast<std::uint16_t>(length), false});
      }
    }
  }

  RelationMatch match_predicate(std::size_t predicate, const std::vector<TextLinks>& texts, const Mask& names,
                                float total) const {
    RelationMatch best;
    best.predicate = predicate;
    best.explained.assign(names.size(), 0);
    std::vector<float> any(names.size(), 0), units(names.size()), words;
    for (const TextLinks& links : texts) {
      std::fill(units.begin(), units.end(), 0.0F);
      words.assign(links.text->words.size(), 0);
      apply_words(links, names, units, words);
      apply_runs(links, names, units, words);
      float covered = 0, text_covered = 0;
      for (std::size_t i = 0; i < units.size(); ++i) {
        covered += question_.units[i].weight * units[i];
        any[i] = std::max(any[i], units[i] * other_text_share);
      }
      for (std::size_t w = 0; w < words.size(); ++w) text_covered += links.text->words[w].weight * words[w];
      const float text_cover = links.text->weight > 0 ? text_covered / links.text->weight : 0;
      if (text_cover <= 0) continue;
      const float cover = total > 0 ? covered / total : text_cover;
      const float score = 0.6F * cover + 0.4F * text_cover;
      if (score > best.score) {
        best.score = score;
        best.text = links.text_index;
        best.text_cover = text_cover;
        best.exact = text_cover > 0.99F;
        best.opposite = links.text->opposite != says_opposite(links, names);
        best.explained = units;
      }
    }
    for (std::size_t i = 0; i < any.size(); ++i) best.explained[i] = std::max(best.explained[i], any[i]);
    return best;
  }

  // By the longest phrase that means the text's concept.
  static bool says_opposite(const TextLinks& links, const Mask& names) {
    std::size_t longest = 0;
    bool opposite = false;
    for (const ConceptLink& link : links.concepts) {
      if (touches(names, link.first, link.last)) continue;
      const std::size_t length = link.last - std::size_t{link.first};
      if (length > longest || (length == longest && !link.opposite)) {
        longest = length;
        opposite = link.opposite;
      }
    }
    return opposite;
  }

  static void apply_words(const TextLinks& links, const Mask& names, std::vector<float>& units,
                          std::vector<float>& words) {
    for (const Link& link : links.links) {
      if (names[link.unit] != 0) continue;
      units[link.unit] = std::max(units[link.unit], link.similarity);
      words[link.word] = std::max(words[link.word], link.similarity);
    }
    for (const ConceptLink& link : links.concepts) {
      if (touches(names, link.first, link.last)) continue;
      // A loose paraphrase explains a word better than it tells which predicate is meant.
      const float explains = std::sqrt(link.similarity);
      for (std::size_t i = link.first; i < link.last; ++i) units[i] = std::max(units[i], explains);
      for (std::size_t w = link.first_word; w < link.last_word; ++w) {
        words[w] = std::max(words[w], link.similarity);
      }
    }
  }

  // Longest runs first, each character used once. A single character counts when it is the whole text, or
  // when a longer run of the same text was found before.
  void apply_runs(const TextLinks& links, const Mask& names, std::vector<float>& units,
                  std::vector<float>& words) const {
    std::size_t han_words = 0;
    for (const TextWord& word : links.text->words) han_words += word.han ? 1 : 0;
    if (han_words == 0) return;
    std::vector<std::uint8_t> used_unit(names.size(), 0), used_word(words.size(), 0);
    std::size_t matched = 0;
    const auto take = [&](std::size_t unit, std::size_t word, std::size_t length) {
      if (length == 0) return;
      const bool whole = length == han_words;
      const bool same_start = question_.units[unit].stem == links.text->words[word].form;
      if (length == 1 && (!same_start || !(whole ? stands_alone(unit, names) : matched * 2 >= han_words)))
        return;
      bool idle = true;  // nothing but function words: "多少" says no number of anything
      for (std::size_t k = 0; k < length; ++k) {
        if (used_unit[unit + k] != 0 || used_word[word + k] != 0) return;
        idle &= question_.units[unit + k].splits;
      }
      if (idle) return;
      for (std::size_t k = 0; k < length; ++k) {
        const bool same = question_.units[unit + k].stem == links.text->words[word + k].form;
        used_unit[unit + k] = used_word[word + k] = 1;
        units[unit + k] = words[word + k] = same ? 1 : sound_similarity;
      }
      matched += length;
    };
    for (const Run& run : links.runs) {
      std::size_t begin = 0;
      for (std::size_t k = 0; k <= run.length; ++k) {
        if (k < run.length && names[run.unit + k] == 0) continue;
        take(run.unit + begin, run.word + begin, k - begin);
        begin = k + 1;
      }
    }
    for (const Run& window : links.near) {
      if (matched >= han_words || touches(names, window.unit, window.unit + std::size_t{window.length}))
        continue;
      for (std::size_t k = 0; k < window.length; ++k) {
        units[window.unit + k] = std::max(units[window.unit + k], misspelt_similarity);
        words[k] = std::max(words[k], misspelt_similarity);
      }
    }
  }

  // 族 in "18族有哪些元素" is a word, in "民族" it is part of one.
  bool stands_alone(std::size_t i, const Mask& names) const {
    const std::vector<Unit>& units = question_.units;
    if (units[i].alone) return true;
    const auto boundary = [&](std::size_t k) {
      return !units[k].han || names[k] != 0 || units[k].role != Role::content;
    };
    return (i == 0 || boundary(i - 1)) && (i + 1 == units.size() || boundary(i + 1));
  }

  const Question& question_;
  const Lexicon& lexicon_;
  std::unordered_map<std::uint64_t, TextLinks> touched_;
  std::map<std::size_t, std::vector<TextLinks>> by_predicate_;
};

class LexicalRelationScorer : public RelationScorer {
 public:
  std::unique_ptr<RelationMatcher> prepare(const Question& question, const Lexicon& lexicon) const override {
    return std::make_unique<LexicalMatcher>(question, lexicon);
  }
};

}  // namespace

std::unique_ptr<RelationScorer> make_lexical_relation_scorer() {
  return std::make_unique<LexicalRelationScorer>();
}

}  // namespace askbase::qa
