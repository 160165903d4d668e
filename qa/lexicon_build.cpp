// How the lexicon is read from a KB: names and wordings of predicates, and samples of their facts.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/pinyin.h"
#include "base/text.h"
#include "base/tokenize.h"
#include "kb/encoding.h"
#include "kb/entity_index.h"
#include "qa/lexicon.h"

namespace askbase::qa {
namespace {

constexpr std::size_t sample_size = 24;  // objects looked at for one predicate
constexpr std::uint64_t counted_facts = 256;
constexpr std::uint64_t counted_instances = 4096;
constexpr std::size_t max_classes = 20000;
constexpr float least_word_weight = 0.35F;
constexpr float light_word_weight = 0.3F;

constexpr std::string_view rdf_vocabulary = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
constexpr std::string_view rdfs_vocabulary = "http://www.w3.org/2000/01/rdf-schema#";
constexpr std::string_view owl_vocabulary = "http://www.w3.org/2002/07/owl#";

bool is_machinery(std::string_view iri_text) {
  return iri_text.starts_with(rdf_vocabulary) || iri_text.starts_with(rdfs_vocabulary) ||
         iri_text.starts_with(owl_vocabulary) || iri_text == kb::iri::unit || iri_text == kb::iri::wording;
}

// Distinct objects of a predicate with one subject each, spread over the whole range of objects.
base::Status visit_distinct_objects(const kb::View& view, kb::TermId predicate, std::size_t limit,
                                    const std::function<void(const kb::Triple&)>& visit) {
  std::string prefix;
  kb::append_id(prefix, predicate);
  const std::unique_ptr<kb::Cursor> cursor = view.snapshot().cursor(kb::Table::pos, prefix);
  std::string from = prefix;
  for (std::size_t seen = 0; seen < limit; ++seen) {
    cursor->seek(from);
    if (!cursor->valid() || !cursor->key().starts_with(prefix)) break;
    kb::Triple triple;
    if (!kb::read_key(cursor->key(), kb::Order::pos, triple)) break;
    visit(triple);
    from = prefix;
    kb::append_id(from, kb::TermId{triple.object.bits + 1});
  }
  return cursor->status();
}

// Text without what stands in brackets, and what stands in them: "salary (USD)" -> "salary", "USD".
std::pair<std::string, std::string> split_brackets(std::string_view text) {
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"(", ")"}, {"（", "）"}}) {
    const std::size_t begin = text.find(open);
    const std::size_t end = text.rfind(close);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin || begin == 0)
      continue;
    std::string outside = std::string(base::trim(text.substr(0, begin)));
    outside += text.substr(end + close.size());
    return {outside, std::string(text.substr(begin + open.size(), end - begin - open.size()))};
  }
  return {std::string(text), {}};
}

std::string_view without_whether(std::string_view text) {
  for (const std::string_view start : {"是否", "有无", "是不是"}) {
    if (text.starts_with(start) && text.size() > start.size()) return text.substr(start.size());
  }
  return text;
}

bool looks_like_date(std::string_view text) {
  // 2024-03-05 and longer, 2024/3/5, 2024年3月
  if (text.size() < 7) return false;
  const bool year = std::all_of(text.begin(), text.begin() + 4, [](char c) { return c >= '0' && c <= '9'; });
  return year && (text[4] == '-' || text[4] == '/' || text.substr(4).starts_with("年"));
}

}  // namespace

class LexiconBuilder {
 public:
  explicit LexiconBuilder(const kb::View& view) : view_(view), words_(Words::instance()) {}

  base::Result<std::shared_ptr<const Lexicon>> build() {
    ASKBASE_ASSIGN(out_->type_, view_.find(kb::Term::iri(std::string(kb::iri::rdf_type))));
    ASKBASE_ASSIGN(out_->comment_, view_.find(kb::Term::iri(std::string(kb::iri::rdfs_comment))));
    ASKBASE_ASSIGN(subclass_of_, view_.find(kb::Term::iri(std::string(kb::iri::rdfs_subclass_of))));
    ASKBASE_ASSIGN(unit_, view_.find(kb::Term::iri(std::string(kb::iri::unit))));
    ASKBASE_ASSIGN(wording_, view_.find(kb::Term::iri(std::string(kb::iri::wording))));
    ASKBASE_ASSIGN(labels_, kb::label_predicates(view_.snapshot()));
    ASKBASE_TRY(read_classes());
    ASKBASE_TRY(read_predicates());
    index();
    return std::shared_ptr<const Lexicon>(std::move(out_));
  }

 private:
  base::Status read_classes() {
    if (!out_->type_) return {};
    std::vector<kb::TermId> ids;
    ASKBASE_TRY(visit_distinct_objects(view_, *out_->type_, max_classes,
                                       [&](const kb::Triple& triple) { ids.push_back(triple.object); }));
    for (const kb::TermId id : ids) {
      if (kb::id_type(id) != kb::IdType::iri) continue;
      ASKBASE_ASSIGN(const kb::Term term, view_.term(id));
      out_->schema_.insert(id.bits);
      if (is_machinery(term.value)) {
        ASKBASE_TRY(view_.match({.subject = {}, .predicate = *out_->type_, .object = id},
                                [&](const kb::Triple& triple) {
                                  out_->schema_.insert(triple.subject.bits);
                                  return true;
                                }));
        continue;
      }
      Class entry;
      entry.id = id;
      entry.iri = term.value;
      ASKBASE_ASSIGN(entry.texts, texts_of(id));
      for (const RelationText& text : entry.texts) {
        entry.person |= any_word(text, [&](const std::string& w) { return words_.names_person(w); });
        entry.place |= any_word(text, [&](const std::string& w) { return words_.names_place(w); });
      }
      ASKBASE_ASSIGN(entry.ancestors, ancestors(id));
      ASKBASE_ASSIGN(entry.instances, view_.count({.subject = {}, .predicate = *out_->type_, .object = id},
                                                  counted_instances));
      out_->class_by_id_[id.bits] = out_->classes_.size();
      out_->classes_.push_back(std::move(entry));
    }
    return {};
  }

  base::Result<std::vector<kb::TermId>> ancestors(kb::TermId id) {
    std::vector<kb::TermId> out{id};
    if (!subclass_of_) return out;
    for (std::size_t i = 0; i < out.size() && out.size() < 32; ++i) {
      ASKBASE_TRY(view_.match({.subject = out[i], .predicate = *subclass_of_, .object = {}},
                              [&](const kb::Triple& triple) {
                                if (std::find(out.begin(), out.end(), triple.object) == out.end()) {
                                  out.push_back(triple.object);
                                }
                                return true;
                              }));
    }
    return out;
  }

  // A word that is the head of the text: the last Latin word, or any end of a Han text.
  template <typename Test>
  bool any_word(const RelationText& text, const Test& test) const {
    if (text.words.empty()) return false;
    if (!text.words.back().han) return test(text.words.back().form);
    std::string tail;
    for (std::size_t i = text.words.size(); i > 0 && text.words[i - 1].han; --i) {
      tail.insert(0, text.words[i - 1].form);
      if (test(tail)) return true;
    }
    return false;
  }

  base::Result<std::vector<RelationText>> texts_of(kb::TermId id) {
    std::vector<RelationText> out;
    ASKBASE_ASSIGN(const std::vector<kb::EntityName> names, kb::names_of(view_, id));
    for (const kb::EntityName& name : names) {
      const bool label = name.kind == kb::NameKind::label;
      add_text(out, name.text, name.lang,
               label                                   ? RelationText::Origin::label
               : name.kind == kb::NameKind::identifier ? RelationText::Origin::identifier
                                                       : RelationText::Origin::alias);
    }
    if (wording_) {
      std::vector<kb::TermId> objects;
      ASKBASE_TRY(
          view_.match({.subject = id, .predicate = *wording_, .object = {}}, [&](const kb::Triple& triple) {
            objects.push_back(triple.object);
            return true;
          }));
      for (const kb::TermId object : objects) {
        ASKBASE_ASSIGN(const kb::Term term, view_.term(object));
        add_text(out, term.value, term.lang, RelationText::Origin::wording);
      }
    }
    const bool labelled = std::any_of(out.begin(), out.end(), [](const RelationText& text) {
      return text.origin == RelationText::Origin::label;
    });
    if (!labelled) {
      ASKBASE_ASSIGN(const std::string shown, kb::display_name(view_, id, ""));
      add_text(out, shown, "", RelationText::Origin::identifier);
    }
    return out;
  }

  void add_text(std::vector<RelationText>& out, std::string_view written, const std::string& lang,
                RelationText::Origin origin) {
    const auto [outside, inside] = split_brackets(written);
    const std::string_view shown = without_whether(outside);
    RelationText text;
    text.text = std::string(written);
    text.lang = lang;
    text.origin = origin;
    for (const base::Token& token : base::tokenize_characters(shown)) {
      if (token.key.empty()) continue;
      TextWord word;
      word.key = token.key;
      word.han = token.kind == base::TokenKind::han;
      word.form = word.han || token.kind == base::TokenKind::number ? token.key : words_.stem(token.key);
      if (word.han) word.sound = base::sound_of(base::to_code_points(token.key)[0]);
      text.words.push_back(std::move(word));
    }
    if (text.words.empty()) return;
    const auto same = [&](const RelationText& other) {
      return std::equal(text.words.begin(), text.words.end(), other.words.begin(), other.words.end(),
                        [](const TextWord& a, const TextWord& b) { return a.form == b.form; });
    };
    if (std::any_of(out.begin(), out.end(), same)) return;
    out.push_back(std::move(text));
    // "gross domestic product (PPP)" is asked for without the brackets, and as a whole.
    if (!inside.empty()) {
      add_text(out, std::string(outside) + " " + inside, lang, RelationText::Origin::alias);
    }
  }

  base::Status read_predicates() {
    ASKBASE_ASSIGN(const std::vector<kb::TermId> ids, view_.predicates());
    for (const kb::TermId id : ids) {
      ASKBASE_ASSIGN(const kb::Term term, view_.term(id));
      out_->schema_.insert(id.bits);
      if (is_machinery(term.value) || labels_.labels.count(term.value) != 0 ||
          labels_.aliases.count(term.value) != 0) {
        continue;
      }
      Predicate entry;
      entry.id = id;
      entry.iri = term.value;
      ASKBASE_ASSIGN(entry.texts, texts_of(id));
      ASKBASE_TRY(sample(entry));
      if (unit_) {
        std::vector<kb::TermId> objects;
        ASKBASE_TRY(
            view_.match({.subject = id, .predicate = *unit_, .object = {}}, [&](const kb::Triple& triple) {
              objects.push_back(triple.object);
              return true;
            }));
        for (const kb::TermId object : objects) {
          ASKBASE_ASSIGN(const kb::Term unit, view_.term(object));
          entry.units[unit.lang] = unit.value;
        }
      }
      if (entry.example_subject) {
        out_->predicate_by_id_[id.bits] = out_->predicates_.size();
        out_->predicates_.push_back(std::move(entry));
      }
    }
    std::sort(out_->value_languages_.begin(), out_->value_languages_.end());
    return {};
  }

  base::Status types_of(kb::TermId id, std::map<kb::TermId, int>& counts) {
    if (!out_->type_ || kb::id_type(id) != kb::IdType::iri) return {};
    return view_.match({.subject = id, .predicate = *out_->type_, .object = {}},
                       [&](const kb::Triple& triple) {
                         ++counts[triple.object];
                         return true;
                       });
  }

  base::Status sample(Predicate& entry) {
    std::vector<kb::Triple> facts;
    ASKBASE_TRY(visit_distinct_objects(view_, entry.id, sample_size * 2, [&](const kb::Triple& triple) {
      if (!out_->is_schema(triple.subject)) facts.push_back(triple);
    }));
    if (facts.size() > sample_size) facts.resize(sample_size);
    if (facts.empty()) return {};
    ASKBASE_ASSIGN(entry.facts,
                   view_.count({.subject = {}, .predicate = entry.id, .object = {}}, counted_facts));
    std::array<int, 5> kinds{};
    std::map<kb::TermId, int> subjects, objects;
    std::uint64_t values = 0;
    int people = 0;
    for (const kb::Triple& fact : facts) {
      ASKBASE_ASSIGN(const ValueKind kind, kind_of(fact.object, entry));
      ++kinds[static_cast<std::size_t>(kind)];
      ASKBASE_TRY(types_of(fact.subject, subjects));
      ASKBASE_TRY(types_of(fact.object, objects));
      ASKBASE_ASSIGN(const std::uint64_t several,
                     view_.count({.subject = fact.subject, .predicate = entry.id, .object = {}}, 16));
      values += several;
    }
    entry.kind = static_cast<ValueKind>(std::max_element(kinds.begin(), kinds.end()) - kinds.begin());
    entry.values_per_subject = static_cast<float>(values) / static_cast<float>(facts.size());
    const auto shares = [&](const std::map<kb::TermId, int>& counts) {
      std::vector<ClassShare> out;
      for (const auto& [id, count] : counts) {
        out.push_back({id, static_cast<float>(count) / static_cast<float>(facts.size())});
      }
      return out;
    };
    entry.subject_classes = shares(subjects);
    entry.object_classes = shares(objects);
    for (const ClassShare& share : entry.object_classes) {
      const std::optional<std::size_t> known = out_->class_index(share.id);
      if (!known || share.share < 0.3F) continue;
      entry.person |= out_->classes_[*known].person;
      entry.place |= out_->classes_[*known].place;
      people += out_->classes_[*known].person ? 1 : 0;
    }
    if (entry.object_classes.empty() && (entry.kind == ValueKind::entity || entry.kind == ValueKind::text)) {
      for (const RelationText& text : entry.texts) {
        entry.person |= any_word(text, [&](const std::string& w) { return words_.names_person(w); });
        entry.place |= any_word(text, [&](const std::string& w) { return words_.names_place(w); });
      }
    }
    const kb::Triple& middle = facts[facts.size() / 2];
    entry.example_subject = middle.subject;
    entry.example_object = middle.object;
    return {};
  }

  base::Result<ValueKind> kind_of(kb::TermId object, const Predicate& entry) {
    switch (kb::id_type(object)) {
      case kb::IdType::iri:
      case kb::IdType::blank:
      case kb::IdType::none:
        return ValueKind::entity;
      case kb::IdType::boolean:
        return ValueKind::boolean;
      case kb::IdType::date:
      case kb::IdType::year:
        return ValueKind::time;
      case kb::IdType::integer:
        return says_year(entry) && kb::id_payload(object) >= 1000 && kb::id_payload(object) <= 2200
                   ? ValueKind::time
                   : ValueKind::number;
      case kb::IdType::negative:
      case kb::IdType::decimal:
      case kb::IdType::double_:
        return ValueKind::number;
      case kb::IdType::string:
      case kb::IdType::literal:
        break;
    }
    ASKBASE_ASSIGN(const kb::Term term, view_.term(object));
    if (!term.lang.empty() && std::find(out_->value_languages_.begin(), out_->value_languages_.end(),
                                        term.lang) == out_->value_languages_.end()) {
      out_->value_languages_.push_back(term.lang);
    }
    const std::string_view type = term.datatype;
    if (type.starts_with(kb::iri::xsd)) {
      const std::string_view name = type.substr(kb::iri::xsd.size());
      if (name.starts_with("date") || name.starts_with("gYear") || name == "time") return ValueKind::time;
      if (name == "boolean") return ValueKind::boolean;
      if (name == "decimal" || name == "integer" || name == "double" || name == "float" || name == "long" ||
          name == "int" || name == "nonNegativeInteger") {
        return ValueKind::number;
      }
    }
    return looks_like_date(term.value) ? ValueKind::time : ValueKind::text;
  }

  static bool says_year(const Predicate& entry) {
    return std::any_of(entry.texts.begin(), entry.texts.end(), [](const RelationText& text) {
      return std::any_of(text.words.begin(), text.words.end(), [](const TextWord& word) {
        return word.form == "year" || word.form == "date" || word.form == "年";
      });
    });
  }

  // Rarity of words over predicates, then the indexes from words and concepts to texts.
  void index() {
    std::unordered_map<std::string, int> frequency;
    for (const Predicate& predicate : out_->predicates_) {
      std::unordered_set<std::string> forms;
      for (const RelationText& text : predicate.texts) {
        for (const TextWord& word : text.words) forms.insert(word.form);
      }
      for (const std::string& form : forms) ++frequency[form];
    }
    const double count = static_cast<double>(out_->predicates_.size()) + 1;
    const auto weigh = [&](RelationText& text) {
      text.weight = 0;
      std::u32string han;
      for (TextWord& word : text.words) {
        const double rarity = std::log(count / (frequency[word.form] + 0.5)) / std::log(count / 1.5);
        word.weight = static_cast<float>(std::clamp(rarity, static_cast<double>(least_word_weight), 1.0));
        if (word.han) word.weight *= 0.5F;
        const Role role = word.han ? Role::content : words_.role(word.form);
        if (role == Role::light) word.weight *= light_word_weight;
        if (role == Role::function || word.form == "的") word.weight = 0;
        text.weight += word.weight;
      }
      // A text of nothing but light words still has to count.
      if (text.weight <= 0) {
        for (TextWord& word : text.words) text.weight += word.weight = word.han ? 0.5F : 1.0F;
      }
      find_concepts(text);
    };
    const auto place_of = [](std::size_t owner, std::size_t text) {
      return TextPlace{static_cast<std::uint32_t>(owner), static_cast<std::uint32_t>(text)};
    };
    for (std::size_t p = 0; p < out_->predicates_.size(); ++p) {
      std::vector<RelationText>& texts = out_->predicates_[p].texts;
      for (std::size_t t = 0; t < texts.size(); ++t) {
        weigh(texts[t]);
        std::unordered_set<std::string> forms;
        for (const TextWord& word : texts[t].words) {
          if (word.weight > 0 && forms.insert(word.form).second) {
            out_->by_form_[word.form].push_back(place_of(p, t));
            if (word.sound != 0) out_->by_sound_[word.sound].push_back(place_of(p, t));
          }
        }
        std::unordered_set<ConceptId> concepts;
        for (const TextConcept& hit : texts[t].concepts) {
          if (concepts.insert(hit.id).second) out_->by_concept_[hit.id].push_back(place_of(p, t));
        }
        add_surfaces(texts[t]);
      }
      find_opposites(texts);
    }
    for (std::size_t c = 0; c < out_->classes_.size(); ++c) {
      std::vector<RelationText>& texts = out_->classes_[c].texts;
      for (std::size_t t = 0; t < texts.size(); ++t) {
        weigh(texts[t]);
        out_->classes_by_first_[texts[t].words.front().form].push_back(place_of(c, t));
        add_surfaces(texts[t]);
      }
    }
    for (const auto& [form, places] : out_->by_form_) {
      if (!base::contains_han(form)) out_->sorted_forms_.push_back(form);
    }
    std::sort(out_->sorted_forms_.begin(), out_->sorted_forms_.end());
    for (const auto& [spelling, stem] : words_.surfaces()) {
      out_->surfaces_.emplace_back(base::to_code_points(spelling), stem);
    }
    std::sort(out_->surfaces_.begin(), out_->surfaces_.end());
    out_->surfaces_.erase(std::unique(out_->surfaces_.begin(), out_->surfaces_.end()), out_->surfaces_.end());
  }

  // Spellings that a misspelt word is compared with: the word and its plural.
  void add_surfaces(const RelationText& text) {
    const std::string key = base::match_key(text.text);
    std::size_t begin = 0;
    while (begin < key.size()) {
      const std::size_t end = std::min(key.find(' ', begin), key.size());
      const std::string word = key.substr(begin, end - begin);
      begin = end + 1;
      if (word.size() < 4 || base::contains_han(word)) continue;
      const std::string stem = words_.stem(word);
      out_->surfaces_.emplace_back(base::to_code_points(word), stem);
      std::string plural = word + "s";
      if (word.ends_with("y")) plural = word.substr(0, word.size() - 1) + "ies";
      out_->surfaces_.emplace_back(base::to_code_points(plural), stem);
    }
  }

  void find_concepts(RelationText& text) {
    text.concepts.clear();
    for (std::size_t i = 0; i < text.words.size(); ++i) {
      const auto bucket = words_.concepts().by_first.find(text.words[i].form);
      if (bucket == words_.concepts().by_first.end()) continue;
      for (const auto& entry : bucket->second) {
        const std::size_t end = i + entry.words.size();
        if (end > text.words.size()) continue;
        bool same = true;
        for (std::size_t w = 0; w < entry.words.size() && same; ++w) {
          same = text.words[i + w].form == entry.words[w];
        }
        if (!same) continue;
        text.concepts.push_back({entry.value.id, entry.value.strength, entry.value.opposite,
                                 static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(end)});
      }
    }
    std::erase_if(text.concepts, [&](const TextConcept& hit) {
      return std::any_of(text.concepts.begin(), text.concepts.end(), [&](const TextConcept& other) {
        return other.id == hit.id && other.opposite != hit.opposite && other.first <= hit.first &&
               other.last >= hit.last && other.last - other.first > hit.last - hit.first;
      });
    });
  }

  // An alias may say the opposite of the label: "whether by the sea" for "landlocked".
  static void find_opposites(std::vector<RelationText>& texts) {
    for (const RelationText& label : texts) {
      if (label.origin != RelationText::Origin::label) continue;
      for (const TextConcept& meaning : label.concepts) {
        for (RelationText& text : texts) {
          for (const TextConcept& other : text.concepts) {
            if (other.id == meaning.id && other.opposite != meaning.opposite) text.opposite = true;
          }
        }
      }
    }
  }

  const kb::View& view_;
  const Words& words_;
  std::shared_ptr<Lexicon> out_ = std::make_shared<Lexicon>();
  std::optional<kb::TermId> subclass_of_, unit_, wording_;
  kb::LabelPredicates labels_;
};

base::Result<std::shared_ptr<const Lexicon>> Lexicon::build(const kb::View& view) {
  return LexiconBuilder(view).build();
}

}  // namespace askbase::qa
