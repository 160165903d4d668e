#include "qa/linker.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/pinyin.h"
#include "base/text.h"
#include "kb/entity_index.h"

namespace askbase::qa {
namespace {

constexpr std::size_t max_span_units = 24;  // of Han characters or words, in one name
constexpr std::size_t max_mentions = 16;
constexpr std::size_t max_candidates = 10;     // entities kept for one mention
constexpr std::size_t max_fuzzy_calls = 8;     // searches for misspelt names in one question
constexpr std::size_t max_value_spans = 48;    // spans looked up as values
constexpr std::size_t max_value_subjects = 4;  // a value that more entities share names none of them
constexpr float alias_score = 0.97F;
constexpr float by_value_score = 0.7F;
constexpr float remark_score = 0.92F;     // of a name with a further remark in brackets
constexpr float adjective_score = 0.85F;  // "African" for Africa
constexpr float edit_cost = 1.5F;         // of one edit, over the length of the name
constexpr float first_letter_cost = 0.2F;
constexpr float same_sound_share = 0.4F;  // of the cost, when the characters sound the same
constexpr float least_slip_score = 0.6F;  // below it a misspelt name is none
constexpr float prominence_scale = 64;    // facts that make an entity well known

using Span = std::pair<std::size_t, std::size_t>;

float prominence_of(std::uint32_t facts) {
  return std::log2(1.0F + static_cast<float>(facts)) / std::log2(1.0F + prominence_scale);
}

class Linking {
 public:
  Linking(Question& question, const kb::View& view, const Lexicon& lexicon,
          const std::map<std::string, kb::TermId>& pins, const Deadline& deadline)
      : question_(question), view_(view), lexicon_(lexicon), pins_(pins), deadline_(deadline) {}

  base::Result<Links> run() {
    ASKBASE_TRY(find_exact_names());
    ASKBASE_TRY(find_values());
    ASKBASE_TRY(find_numbers_in_words());
    mend_words();
    ASKBASE_TRY(find_misspelt_names());
    ASKBASE_TRY(apply_pins());
    std::stable_sort(links_.mentions.begin(), links_.mentions.end(), [](const Mention& a, const Mention& b) {
      if (a.weak != b.weak) return b.weak;
      return a.length() > b.length();
    });
    if (links_.mentions.size() > max_mentions) links_.mentions.resize(max_mentions);
    for (Mention& mention : links_.mentions) {
      for (Candidate& candidate : mention.candidates) {
        ASKBASE_ASSIGN(candidate.types, types_of(view_, lexicon_, candidate.entity));
      }
    }
    find_unknown_names();
    return std::move(links_);
  }

 private:
  const std::vector<Unit>& units() const { return question_.units; }

  Mention new_mention(std::size_t first, std::size_t last) const {
    Mention mention;
    mention.first = first;
    mention.last = last;
    mention.text = std::string(question_.span(first, last));
    mention.begin = units()[first].begin;
    mention.end = units()[last - 1].end;
    return mention;
  }

  // True for a span of common words: it is a name only when nothing else in the question is.
  bool is_common(std::size_t first, std::size_t last, const std::string& key) const {
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

  // True when the whole span is what a predicate or concept is called.
  bool is_term(const std::string& key) const {
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

  base::Status find_exact_names() {
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

  // The names that are exactly this, or its singular: "noble gases".
  base::Result<std::vector<kb::EntityMatch>> names_like(const std::string& key, bool more,
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

  // "African" -> "Africa", "Brazilian" -> "Brazil", "European" -> "Europe", "Italian" -> "Italy".
  base::Result<std::vector<kb::EntityMatch>> names_of_adjective(const std::string& key) const {
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

  void add_candidate(Mention& mention, const kb::EntityMatch& match) {
    if (lexicon_.is_schema(match.entity)) return;
    const auto known =
        std::find_if(mention.candidates.begin(), mention.candidates.end(),
                     [&](const Candidate& candidate) { return candidate.entity == match.entity; });
    if (known != mention.candidates.end() || mention.candidates.size() >= max_candidates) return;
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

  // What the difference between what was written and a name costs. A slip seldom hits the first letter, and
  // in Chinese it is most often another character of the same sound.
  static float slip_cost(const std::string& written, const std::string& name, int edits) {
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

  // Numbers, codes and quoted text that are values of facts.
  base::Status find_values() {
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

  // "fourteenth", "第十四": the number as a value.
  base::Status find_numbers_in_words() {
    for (const NumberHit& number : question_.numbers) {
      const kb::Term term = kb::Term::integer(number.value);
      ASKBASE_ASSIGN(const std::optional<kb::TermId> id, view_.find(term));
      if (id) ASKBASE_TRY(add_value_mention(number.first, number.last, {*id}));
    }
    return {};
  }

  bool may_be_value(std::size_t first, std::size_t last) const {
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

  // Bytes of signs that stand directly before the word: "." of ".fr", "+" of "+33".
  std::size_t signs_before(const Unit& unit) const {
    std::size_t count = 0;
    while (count < unit.begin_byte) {
      const char c = question_.text[unit.begin_byte - count - 1];
      if (c != '.' && c != '+' && c != '#' && c != '-' && c != '@' && c != '[') break;
      ++count;
    }
    return count;
  }

  base::Status look_up_value(std::size_t first, std::size_t last, std::set<kb::TermId>& values) {
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

  base::Status add_if_used(const kb::Term& term, std::set<kb::TermId>& values) {
    ASKBASE_ASSIGN(const std::optional<kb::TermId> id, view_.find(term));
    if (id) values.insert(*id);
    return {};
  }

  base::Status add_value_mention(std::size_t first, std::size_t last, const std::set<kb::TermId>& values) {
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

  Mention& mention_at(std::size_t first, std::size_t last) {
    for (Mention& mention : links_.mentions) {
      if (mention.first == first && mention.last == last) return mention;
    }
    links_.mentions.push_back(new_mention(first, last));
    return links_.mentions.back();
  }

  Mask covered() const {
    Mask mask(units().size(), 0);
    for (const Mention& mention : links_.mentions) {
      if (mention.weak || (mention.candidates.empty() && !units()[mention.first].number)) continue;
      std::fill(mask.begin() + static_cast<std::ptrdiff_t>(mention.first),
                mask.begin() + static_cast<std::ptrdiff_t>(mention.last), 1);
    }
    return mask;
  }

  // Misspelt question words and words of predicates.
  void mend_words() {
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

  // Runs of words that nothing explains are compared with names that differ in a letter or two.
  base::Status find_misspelt_names() {
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

  base::Result<std::vector<kb::EntityMatch>> names_near(const Span& span, const std::string& key) const {
    if (!units()[span.first].han || span.second - span.first > 2) {
      return kb::find_fuzzy(view_, key, max_candidates);
    }
    // Two characters are too few for edits in general; another character of the same sound is still a slip.
    std::vector<kb::EntityMatch> out;
    const std::u32string text = base::to_code_points(key);
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (const char32_t c : base::characters_of_sound(base::sound_of(text[i]))) {
        if (c == text[i]) continue;
        std::u32string other = text;
        other[i] = c;
        ASKBASE_ASSIGN(const std::vector<kb::EntityMatch> matches,
                       kb::find_exact(view_, base::to_utf8(other)));
        for (kb::EntityMatch match : matches) {
          match.edits = 1;
          out.push_back(std::move(match));
        }
      }
    }
    return out;
  }

  // True when a part of the span is exactly a name of the entity: the rest is no slip then.
  bool named_inside(const Span& span, kb::TermId entity) const {
    return std::any_of(links_.mentions.begin(), links_.mentions.end(), [&](const Mention& mention) {
      return mention.exact && mention.first >= span.first && mention.last <= span.second &&
             std::any_of(mention.candidates.begin(), mention.candidates.end(),
                         [&](const Candidate& candidate) { return candidate.entity == entity; });
    });
  }

  static void mark(Mask& mask, std::size_t first, std::size_t last) {
    std::fill(mask.begin() + static_cast<std::ptrdiff_t>(first),
              mask.begin() + static_cast<std::ptrdiff_t>(last), 1);
  }

  // Content words in a row around i; "of" and the like inside when a capital follows.
  Span latin_run(std::size_t i, const Mask& mask) const {
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

  Span han_run(std::size_t i, const Mask& explained) const {
    const auto joins = [&](std::size_t k) {
      return units()[k].han && !units()[k].splits && !only_term(k, explained);
    };
    std::size_t first = i, last = i + 1;
    while (first > 0 && i - first < 10 && joins(first - 1)) --first;
    while (last < units().size() && last - i < 12 && joins(last)) ++last;
    return {first, last};
  }

  // Explained by a concept or class rather than by a name: a boundary of names.
  bool only_term(std::size_t k, const Mask& explained) const {
    if (explained[k] == 0) return false;
    return std::none_of(links_.mentions.begin(), links_.mentions.end(), [&](const Mention& mention) {
      return !mention.weak && mention.first <= k && k < mention.last;
    });
  }

  // The run itself and its parts that hold a strange word, longest first.
  std::vector<Span> sub_spans(std::size_t first, std::size_t last,
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

  base::Status apply_pins() {
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

  // Capitalised words inside the sentence, and unknown words, that no mention covers.
  void find_unknown_names() {
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
      while (last < units().size() && mask[last] == 0 && !units()[last].han &&
             ((units()[last].capital && units()[last].role != Role::function) ||
              !lexicon_.knows(units()[last]))) {
        ++last;
      }
      links_.unknown.emplace_back(i, last);
      i = last;
    }
  }

  Question& question_;
  const kb::View& view_;
  const Lexicon& lexicon_;
  const std::map<std::string, kb::TermId>& pins_;
  const Deadline& deadline_;
  Links links_;
};

class LexicalLinker : public EntityLinker {
 public:
  base::Result<Links> link(Question& question, const kb::View& view, const Lexicon& lexicon,
                           const std::map<std::string, kb::TermId>& pins,
                           const Deadline& deadline) const override {
    return Linking(question, view, lexicon, pins, deadline).run();
  }
};

}  // namespace

std::unique_ptr<EntityLinker> make_lexical_linker() { return std::make_unique<LexicalLinker>(); }

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
