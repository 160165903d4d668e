#include <array>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "kb/entity_index.h"
#include "web/api.h"

namespace askbase::web {
namespace {

using base::Json;

constexpr std::size_t max_search_code_points = 200;
constexpr std::uint64_t max_count = 100'000;  // facts of one entity are counted up to here

std::string_view match_name(kb::MatchKind kind) {
  constexpr std::array<std::string_view, 4> names = {"exact", "prefix", "word", "fuzzy"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_kind(kb::NameKind kind) {
  constexpr std::array<std::string_view, 3> names = {"label", "alias", "identifier"};
  return names.at(static_cast<std::size_t>(kind));
}

// A language tag for names, in lower case, "" when it is left to the KB.
Outcome<std::string> display_language(const Query& query) {
  std::string tag(query.get("lang"));
  if (auto language = parse_language("lang", tag); !language) return tl::unexpected(language.error());
  for (char& c : tag) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return tag == "auto" ? std::string() : tag;
}

// Words terms, predicates and sources of one view, each looked up once.
class Wording {
 public:
  Wording(const kb::View& view, std::string lang) : view_(view), lang_(std::move(lang)) {}

  base::Result<std::string> label(kb::TermId id) {
    if (auto known = labels_.find(id); known != labels_.end()) return known->second;
    ASKBASE_ASSIGN(std::string label, kb::display_name(view_, id, lang_));
    labels_.emplace(id, label);
    return label;
  }

  // {"type", "value", "label" or "datatype", "lang"}
  base::Result<Json> term(kb::TermId id) {
    ASKBASE_ASSIGN(const kb::Term term, view_.term(id));
    Json json;
    switch (term.kind) {
      case kb::TermKind::iri:
        json = {{"type", "iri"}, {"value", term.value}};
        break;
      case kb::TermKind::blank:
        json = {{"type", "blank"}, {"value", "_:" + term.value}};
        break;
      case kb::TermKind::literal:
        json = {{"type", "literal"}, {"value", term.value}};
        if (!term.datatype.empty()) json["datatype"] = term.datatype;
        if (!term.lang.empty()) json["lang"] = term.lang;
        return json;
    }
    ASKBASE_ASSIGN(json["label"], label(id));
    return json;
  }

  // A predicate: a term, with the unit of its values when it has one.
  base::Result<Json> predicate(kb::TermId id) {
    if (auto known = predicates_.find(id); known != predicates_.end()) return known->second;
    ASKBASE_ASSIGN(Json json, term(id));
    ASKBASE_ASSIGN(const std::string unit, unit_of(id));
    if (!unit.empty()) json["unit"] = unit;
    predicates_.emplace(id, json);
    return json;
  }

  // [{"name", "row"?}]
  base::Result<Json> sources(const kb::Triple& fact) {
    ASKBASE_ASSIGN(const auto origins, view_.origins(fact));
    Json list = Json::array();
    for (const kb::Origin& origin : origins) {
      auto known = sources_.find(origin.source);
      if (known == sources_.end()) {
        ASKBASE_ASSIGN(const auto source, view_.source(origin.source));
        known = sources_.emplace(origin.source, source ? source->name : std::string()).first;
      }
      Json one = {{"name", known->second}};
      if (origin.row > 0) one["row"] = origin.row;
      list.push_back(std::move(one));
    }
    return list;
  }

 private:
  base::Result<std::string> unit_of(kb::TermId predicate) {
    ASKBASE_ASSIGN(const auto unit, view_.find(kb::Term::iri(std::string(kb::iri::unit))));
    if (!unit) return std::string();
    // The unit in the language asked for, else in English, else whichever comes first.
    std::string best;
    int best_rank = 0;
    base::Status failure;
    ASKBASE_TRY(
        view_.match({.subject = predicate, .predicate = *unit, .object = {}}, [&](const kb::Triple& fact) {
          auto term = view_.term(fact.object);
          if (!term) {
            failure = tl::unexpected(term.error());
            return false;
          }
          const bool wanted =
              !lang_.empty() && base::language_from_tag(term->lang) == base::language_from_tag(lang_);
          const int rank = wanted ? 3 : term->lang == "en" ? 2 : 1;
          if (rank > best_rank) {
            best = term->value;
            best_rank = rank;
          }
          return true;
        }));
    ASKBASE_TRY(failure);
    return best;
  }

  const kb::View& view_;
  std::string lang_;
  std::map<kb::TermId, std::string> labels_;
  std::map<kb::TermId, Json> predicates_;
  std::map<kb::SourceId, std::string> sources_;
};

struct Page {
  std::uint64_t offset = 0, limit = 0;
};

// {"total", "offset", "next"?, "facts": [...]}: facts with the entity as subject (out) or object (in).
base::Result<Json> facts_page(const kb::View& view, Wording& wording, kb::TermId entity, bool out,
                              const std::set<std::string>& name_predicates, const Page& page) {
  const kb::Pattern pattern = out ? kb::Pattern{.subject = entity, .predicate = {}, .object = {}}
                                  : kb::Pattern{.subject = {}, .predicate = {}, .object = entity};
  ASKBASE_ASSIGN(const std::uint64_t total, view.count(pattern, max_count));
  std::vector<kb::Triple> facts;
  std::uint64_t at = 0;
  ASKBASE_TRY(view.match(pattern, [&](const kb::Triple& fact) {
    if (at++ >= page.offset) facts.push_back(fact);
    return facts.size() < page.limit;
  }));
  Json list = Json::array();
  for (const kb::Triple& fact : facts) {
    Json one;
    ASKBASE_ASSIGN(Json other, wording.term(out ? fact.object : fact.subject));
    ASKBASE_ASSIGN(Json predicate, wording.predicate(fact.predicate));
    const bool is_name = out && name_predicates.contains(predicate["value"].get<std::string>());
    if (!out) one["subject"] = other;
    one["predicate"] = std::move(predicate);
    if (out) one["object"] = std::move(other);
    if (is_name) one["is_name"] = true;
    ASKBASE_ASSIGN(one["sources"], wording.sources(fact));
    list.push_back(std::move(one));
  }
  Json json = {{"total", total}, {"offset", page.offset}};
  if (total == max_count) json["total_is_at_least"] = true;
  if (page.offset + facts.size() < total) json["next"] = page.offset + facts.size();
  json["facts"] = std::move(list);
  return json;
}

base::Result<Json> describe_entity(const kb::View& view, kb::TermId id, const std::string& written,
                                   const std::string& lang, std::string_view direction, const Page& page) {
  Wording wording(view, lang);
  Json json = {{"id", written}};
  ASKBASE_ASSIGN(json["label"], wording.label(id));
  ASKBASE_ASSIGN(const auto names, kb::names_of(view, id));
  json["names"] = Json::array();
  for (const kb::EntityName& name : names) {
    json["names"].push_back({{"text", name.text}, {"lang", name.lang}, {"kind", name_kind(name.kind)}});
  }
  json["types"] = Json::array();
  ASKBASE_ASSIGN(const auto type, view.find(kb::Term::iri(std::string(kb::iri::rdf_type))));
  if (type) {
    std::vector<kb::TermId> types;
    ASKBASE_TRY(view.match({.subject = id, .predicate = *type, .object = {}}, [&](const kb::Triple& fact) {
      types.push_back(fact.object);
      return types.size() < 20;
    }));
    for (const kb::TermId one : types) {
      ASKBASE_ASSIGN(Json term, wording.term(one));
      json["types"].push_back(std::move(term));
    }
  }
  ASKBASE_ASSIGN(const kb::LabelPredicates predicates, kb::label_predicates(view.snapshot()));
  std::set<std::string> name_predicates = predicates.labels;
  name_predicates.insert(predicates.aliases.begin(), predicates.aliases.end());
  for (const bool out : {true, false}) {
    if (direction == (out ? "in" : "out")) continue;
    ASKBASE_ASSIGN(json[out ? "out" : "in"], facts_page(view, wording, id, out, name_predicates, page));
  }
  json["kb"] = {{"version", view.version()}};
  return json;
}

// Terms outlive their facts: what no fact speaks of any more is not an entity.
base::Result<bool> has_facts(const kb::View& view, kb::TermId id) {
  ASKBASE_ASSIGN(const std::uint64_t out, view.count({.subject = id, .predicate = {}, .object = {}}, 1));
  if (out > 0) return true;
  ASKBASE_ASSIGN(const std::uint64_t in, view.count({.subject = {}, .predicate = {}, .object = id}, 1));
  return in > 0;
}

base::Result<Json> found_entities(const kb::View& view, std::string_view text, const std::string& lang,
                                  std::size_t limit) {
  Json list = Json::array();
  ASKBASE_ASSIGN(const auto matches, kb::search(view, text, lang, limit));
  for (const kb::EntityMatch& match : matches) {
    ASKBASE_ASSIGN(const kb::Term term, view.term(match.entity));
    ASKBASE_ASSIGN(const std::string label, kb::display_name(view, match.entity, lang));
    list.push_back({{"id", term.kind == kb::TermKind::blank ? "_:" + term.value : term.value},
                    {"label", label},
                    {"name", match.name.text},
                    {"match", match_name(match.match)},
                    {"facts", match.facts},
                    {"score", base::json_number(match.score)}});
  }
  return list;
}

}  // namespace

ApiResult search_entities(const ApiContext& context, const Query& query) {
  if (auto allowed = query.allow({"q", "lang", "limit"}); !allowed) return tl::unexpected(allowed.error());
  auto lang = display_language(query);
  if (!lang) return tl::unexpected(lang.error());
  const auto limit = query.number("limit", 10, 1, 100);
  if (!limit) return tl::unexpected(limit.error());
  if (!query.has("q")) return reject(400, "invalid-field", "\"q\" is missing: the name to look for.", "q");
  const std::string_view text = base::trim(query.get("q"));
  if (auto length = check_length("q", text, max_search_code_points); !length)
    return tl::unexpected(length.error());

  Json list = Json::array();
  if (!text.empty()) {
    auto found = found_entities(*context.engine.view(), text, *lang, static_cast<std::size_t>(*limit));
    if (!found) return tl::unexpected(problem_of(found.error()));
    list = std::move(*found);
  }
  return base::dump_json({{"query", std::string(text)}, {"entities", std::move(list)}});
}

ApiResult show_entity(const ApiContext& context, const std::string& id, const Query& query) {
  if (auto allowed = query.allow({"lang", "limit", "offset", "direction"}); !allowed) {
    return tl::unexpected(allowed.error());
  }
  auto lang = display_language(query);
  if (!lang) return tl::unexpected(lang.error());
  const auto limit = query.number("limit", 100, 1, 1000);
  if (!limit) return tl::unexpected(limit.error());
  const auto offset = query.number("offset", 0, 0, static_cast<int>(max_count));
  if (!offset) return tl::unexpected(offset.error());
  const std::string_view direction = query.get("direction");
  if (!direction.empty() && direction != "in" && direction != "out" && direction != "both") {
    return invalid_field("direction", "\"in\", \"out\" or \"both\"");
  }

  const auto view = context.engine.view();
  const kb::Term term = id.starts_with("_:") ? kb::Term::blank(id.substr(2)) : kb::Term::iri(id);
  const auto found = view->find(term);
  if (!found) return tl::unexpected(problem_of(found.error()));
  const auto known = *found ? has_facts(*view, **found) : base::Result<bool>(false);
  if (!known) return tl::unexpected(problem_of(known.error()));
  if (!*known) {
    return reject(
        404, "not-found",
        "The knowledge base has no entity with the id " + id + ". Look for its name with entities?q=NAME.");
  }
  const auto json =
      describe_entity(*view, **found, id, *lang, direction,
                      {static_cast<std::uint64_t>(*offset), static_cast<std::uint64_t>(*limit)});
  if (!json) return tl::unexpected(problem_of(json.error()));
  return base::dump_json(*json);
}

}  // namespace askbase::web
