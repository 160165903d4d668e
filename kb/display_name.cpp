// Names as facts give them: which predicates do, and which name to show.
#include <algorithm>
#include <tuple>

#include "base/language.h"
#include "base/text.h"
#include "kb/entity_index.h"
#include "kb/records.h"

namespace askbase::kb {
namespace {

constexpr std::string_view meta_key = "label_predicates";
constexpr std::string_view label_word = "label ", alias_word = "alias ";
constexpr std::size_t max_shown_from = 1000;  // labels of one entity that the one to show is chosen from

// What someone who reads this language would rather see.
struct Wish {
  std::string lang, primary;  // "zh-tw", "zh"
  bool chinese = false, traditional = false;

  explicit Wish(std::string_view tag) : lang(base::fold_case(tag)) {
    primary = lang.substr(0, lang.find('-'));
    chinese = primary == "zh";
    traditional = chinese && is_traditional_tag(lang);
  }

  static bool is_traditional_tag(std::string_view tag) {
    return tag.starts_with("zh-hant") || tag == "zh-tw" || tag == "zh-hk" || tag == "zh-mo";
  }

  // Smaller is better.
  int distance(std::string_view tag, std::string_view text) const {
    const int fallback = 10;
    if (tag.empty()) {
      if (lang.empty()) return 0;
      return base::contains_han(text) == chinese ? 5 : fallback + 2;
    }
    if (chinese && tag.substr(0, tag.find('-')) == "zh") {
      if (traditional) return tag == lang ? 0 : is_traditional_tag(tag) ? 1 : tag == "zh" ? 2 : 3;
      if (tag == "zh") return 0;
      return tag.starts_with("zh-hans") ? 1 : tag == "zh-cn" ? 2 : is_traditional_tag(tag) ? 4 : 3;
    }
    if (!lang.empty()) {
      if (tag == lang) return 0;
      if (tag.substr(0, tag.find('-')) == primary) return 1;
    }
    if (tag == "en") return fallback;
    return tag.starts_with("en-") ? fallback + 1 : fallback + 3;
  }

  // The name in the script that was asked for.
  std::string in_script(std::string text, std::string_view tag) const {
    const bool chinese_name = tag.empty() || tag.starts_with("zh");
    if (!chinese || !chinese_name || base::is_traditional(text) == traditional) return text;
    return traditional ? base::to_traditional(text) : base::to_simplified(text);
  }
};

int predicate_rank(std::string_view predicate) {
  return predicate == iri::rdfs_label ? 0 : predicate == iri::skos_pref_label ? 1 : 2;
}

// Predicates of a kind in the order in which they are preferred.
std::vector<std::string> ordered(const std::set<std::string>& predicates) {
  std::vector<std::string> out(predicates.begin(), predicates.end());
  std::stable_sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    return predicate_rank(a) < predicate_rank(b);
  });
  return out;
}

// Appends the names that facts of this predicate give the entity, at most up to a size of `limit`.
base::Status names_by(const View& view, TermId id, const std::string& predicate, NameKind kind,
                      std::size_t limit, std::vector<EntityName>& names) {
  ASKBASE_ASSIGN(const std::optional<TermId> predicate_id, view.find(Term::iri(predicate)));
  if (!predicate_id) return {};
  std::vector<TermId> objects;
  ASKBASE_TRY(view.match({.subject = id, .predicate = *predicate_id, .object = {}}, [&](const Triple& fact) {
    objects.push_back(fact.object);
    return names.size() + objects.size() < limit;
  }));
  for (const TermId object : objects) {
    ASKBASE_ASSIGN(const Term term, view.term(object));
    if (std::optional<EntityName> name = name_of_fact(id, term, kind)) names.push_back(std::move(*name));
  }
  return {};
}

// The best name of a kind for the wish; nothing when facts give none.
base::Result<std::optional<std::string>> best_name(const View& view, TermId id,
                                                   const std::set<std::string>& predicates, NameKind kind,
                                                   const Wish& wish) {
  std::vector<EntityName> names;
  std::vector<int> ranks;
  for (const std::string& predicate : ordered(predicates)) {
    ASKBASE_TRY(names_by(view, id, predicate, kind, max_shown_from, names));
    ranks.resize(names.size(), predicate_rank(predicate));
    // Nothing that follows can be better than the language itself under the first predicate.
    if (ranks.empty() || ranks.front() > 0) continue;
    const bool perfect = std::any_of(names.begin(), names.end(), [&](const EntityName& name) {
      return wish.distance(name.lang, name.text) == 0;
    });
    if (perfect) break;
  }
  if (names.empty()) return std::nullopt;
  std::size_t best = 0;
  const auto place = [&](std::size_t i) {
    return std::tuple(wish.distance(names[i].lang, names[i].text), ranks[i], std::string_view(names[i].text),
                      std::string_view(names[i].lang));
  };
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (place(i) < place(best)) best = i;
  }
  return wish.in_script(names[best].text, names[best].lang);
}

}  // namespace

std::optional<EntityName> name_of_fact(TermId subject, const Term& object, NameKind kind) {
  if (object.kind != TermKind::literal) return std::nullopt;
  return EntityName{subject, object.value, object.lang, kind};
}

std::string readable_iri(std::string_view iri) {
  // The names inside the IRIs that loading makes are someone's own words; nothing in them is to be split.
  for (const std::string_view prefix : {iri::entity_prefix, iri::predicate_prefix}) {
    if (iri.starts_with(prefix) && iri.size() > prefix.size()) {
      return base::percent_decoded(iri.substr(prefix.size()));
    }
  }
  std::string name = base::readable_name(iri_end(iri));
  return name.empty() ? std::string(iri) : name;
}

base::Result<std::string> display_name(const View& view, TermId id, std::string_view lang) {
  const IdType type = id_type(id);
  if (type != IdType::iri && type != IdType::blank) {
    ASKBASE_ASSIGN(Term literal, view.term(id));
    return std::move(literal.value);
  }
  ASKBASE_ASSIGN(const LabelPredicates predicates, label_predicates(view.snapshot()));
  const Wish wish(lang);
  ASKBASE_ASSIGN(std::optional<std::string> name,
                 best_name(view, id, predicates.labels, NameKind::label, wish));
  if (name) return std::move(*name);
  ASKBASE_ASSIGN(name, best_name(view, id, predicates.aliases, NameKind::alias, wish));
  if (name) return std::move(*name);
  ASKBASE_ASSIGN(const Term term, view.term(id));
  return term.kind == TermKind::blank ? "_:" + term.value : readable_iri(term.value);
}

base::Result<std::vector<EntityName>> names_of(const View& view, TermId id) {
  ASKBASE_ASSIGN(const LabelPredicates predicates, label_predicates(view.snapshot()));
  std::vector<EntityName> names;
  const auto gather = [&](const std::set<std::string>& of_kind, NameKind kind) -> base::Status {
    for (const std::string& predicate : ordered(of_kind)) {
      const std::size_t begin = names.size();
      ASKBASE_TRY(names_by(view, id, predicate, kind, SIZE_MAX, names));
      std::sort(names.begin() + static_cast<std::ptrdiff_t>(begin), names.end(),
                [](const EntityName& a, const EntityName& b) {
                  return std::tie(a.text, a.lang) < std::tie(b.text, b.lang);
                });
    }
    return {};
  };
  ASKBASE_TRY(gather(predicates.labels, NameKind::label));
  ASKBASE_TRY(gather(predicates.aliases, NameKind::alias));
  // Two predicates may give the same name.
  std::set<std::tuple<std::string, std::string, NameKind>> seen;
  std::erase_if(
      names, [&](const EntityName& name) { return !seen.emplace(name.text, name.lang, name.kind).second; });
  return names;
}

LabelPredicates LabelPredicates::defaults() {
  LabelPredicates out;
  for (const std::string_view label :
       {iri::rdfs_label, iri::skos_pref_label, iri::schema_name, iri::schema_name_https, iri::foaf_name}) {
    out.labels.emplace(label);
  }
  for (const std::string_view alias : {iri::skos_alt_label, iri::schema_alternate_name,
                                       std::string_view("https://schema.org/alternateName")}) {
    out.aliases.emplace(alias);
  }
  // Columns of tables and predicates of Chinese encyclopedias that name the thing itself.
  for (const std::string_view column :
       {"alias", "aliases", "别名", "别称", "又名", "又称", "简称", "全称", "全名", "俗称", "外文名",
        "外文名称", "英文名", "英文名称", "中文名", "中文名称", "原名", "本名", "曾用名"}) {
    out.aliases.insert(std::string(iri::predicate_prefix) + std::string(column));
  }
  return out;
}

std::string encode_label_predicates(const LabelPredicates& predicates) {
  std::string out;
  const auto write = [&out](std::string_view word, const std::set<std::string>& iris) {
    for (const std::string& iri : iris) {
      if (iri.find('\n') == std::string::npos) out.append(word).append(iri).append("\n");  // no IRI holds it
    }
  };
  write(label_word, predicates.labels);
  write(alias_word, predicates.aliases);
  return out;
}

base::Result<LabelPredicates> label_predicates(const Snapshot& snapshot) {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot.get(Table::meta, meta_key, value));
  if (!found) return LabelPredicates::defaults();
  LabelPredicates out;
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.starts_with(label_word) && end != std::string_view::npos) {
      out.labels.emplace(line.substr(label_word.size()));
    } else if (line.starts_with(alias_word) && end != std::string_view::npos) {
      out.aliases.emplace(line.substr(alias_word.size()));
    } else {
      return base::fail(base::ErrorCode::corrupt,
                        "the list of label predicates in the table meta cannot be read",
                        "load the knowledge base again, or restore a backup");
    }
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace askbase::kb
