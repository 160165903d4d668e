// askbase show ID
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/output.h"
#include "kb/embedding/kb_embeddings.h"
#include "kb/entity_index.h"

namespace askbase::cli {
namespace {

struct ShowArguments {
  std::string id, lang = "en";
  std::uint64_t limit = 50;
  bool similar = false, json = false;
};

// The entity of an IRI, a blank node "_:b", or a name that only one entity has.
base::Result<kb::TermId> resolve(const kb::View& view, const std::string& text) {
  std::string value = text;
  if (value.size() > 2 && value.front() == '<' && value.back() == '>')
    value = value.substr(1, value.size() - 2);
  const kb::Term term = value.starts_with("_:") ? kb::Term::blank(value.substr(2)) : kb::Term::iri(value);
  ASKBASE_ASSIGN(const auto id, view.find(term));
  if (id) return *id;
  ASKBASE_ASSIGN(const auto matches, kb::find_exact(view, value));
  std::set<kb::TermId> entities;
  for (const kb::EntityMatch& match : matches) entities.insert(match.entity);
  if (entities.size() == 1) return *entities.begin();
  if (entities.empty()) {
    return base::fail(base::ErrorCode::not_found,
                      "the knowledge base has nothing with the id or name \"" + text + "\"",
                      "askbase search finds names that are nearly so");
  }
  std::string ids;
  for (const kb::TermId entity : entities) {
    ASKBASE_ASSIGN(const kb::Term one, view.term(entity));
    if (!ids.empty()) ids += ", ";
    ids += (one.kind == kb::TermKind::blank ? "_:" : "") + one.value;
  }
  return base::fail(base::ErrorCode::invalid_argument,
                    std::to_string(entities.size()) + " entities are called \"" + text + "\"",
                    "show one of " + ids);
}

struct Fact {
  kb::Term predicate, other;
  std::string predicate_label, other_label;
  std::vector<std::string> places;                             // source:row
  std::vector<std::pair<std::string, std::uint64_t>> origins;  // source, row
};

struct Facts {
  std::vector<Fact> shown;
  std::uint64_t total = 0;
};

// Facts of the entity as subject, or as object.
base::Result<Facts> facts_of(const kb::View& view, kb::TermId id, bool outgoing,
                             const ShowArguments& arguments) {
  Facts facts;
  std::vector<kb::Triple> triples;
  kb::Pattern pattern;
  (outgoing ? pattern.subject : pattern.object) = id;
  ASKBASE_TRY(view.match(pattern, [&](const kb::Triple& triple) {
    if (++facts.total <= arguments.limit) triples.push_back(triple);
    return true;
  }));
  for (const kb::Triple& triple : triples) {
    const kb::TermId other = outgoing ? triple.object : triple.subject;
    Fact fact;
    ASKBASE_ASSIGN(fact.predicate, view.term(triple.predicate));
    ASKBASE_ASSIGN(fact.other, view.term(other));
    ASKBASE_ASSIGN(fact.predicate_label, kb::display_name(view, triple.predicate, arguments.lang));
    ASKBASE_ASSIGN(fact.other_label, kb::display_name(view, other, arguments.lang));
    ASKBASE_ASSIGN(const auto origins, view.origins(triple));
    for (const kb::Origin& origin : origins) {
      ASKBASE_ASSIGN(const auto source, view.source(origin.source));
      const std::string name = source ? source->name : "source " + std::to_string(origin.source);
      fact.origins.emplace_back(name, origin.row);
      fact.places.push_back(origin.row == 0 ? name : name + ":" + std::to_string(origin.row));
    }
    facts.shown.push_back(std::move(fact));
  }
  return facts;
}

base::Json facts_json(const Facts& facts, const char* other_key) {
  base::Json out = base::Json::array();
  for (const Fact& fact : facts.shown) {
    base::Json item;
    item["predicate"] = fact.predicate.value;
    item["predicate_label"] = fact.predicate_label;
    item[other_key] = term_json(fact.other);
    item[std::string(other_key) + "_label"] = fact.other_label;
    item["origins"] = base::Json::array();
    for (const auto& [source, row] : fact.origins) {
      base::Json origin = {{"source", source}};
      if (row > 0) origin["row"] = row;
      item["origins"].push_back(std::move(origin));
    }
    out.push_back(std::move(item));
  }
  return out;
}

std::string lang_mark(const std::string& lang) { return lang.empty() ? "" : "@" + lang; }

void print_facts(const std::string& heading, const Facts& facts) {
  if (facts.total == 0) return;
  print_line(heading);
  std::vector<std::vector<std::string>> rows;
  for (const Fact& fact : facts.shown) {
    const bool entity = fact.other.kind != kb::TermKind::literal;
    std::string places;
    for (const std::string& place : fact.places) places += (places.empty() ? "" : ", ") + place;
    rows.push_back(
        {"  " + fact.predicate_label,
         fact.other_label + lang_mark(fact.other.lang) + (entity ? "  <" + fact.other.value + ">" : ""),
         "[" + places + "]"});
  }
  print(table(rows));
  if (facts.total > facts.shown.size()) {
    print_line("  + " + grouped(facts.total - facts.shown.size()) + " more; --limit shows them");
  }
}

struct SimilarEntity {
  std::string id, label;
  double similarity = 0;
};

// Nothing when the entity has no vector.
base::Result<std::optional<std::vector<SimilarEntity>>> similar_to(const kb::View& view, kb::TermId id,
                                                                   const ShowArguments& arguments,
                                                                   const Globals& globals) {
  constexpr std::size_t shown = 10;
  ASKBASE_ASSIGN(const auto embeddings, kb::embedding::KbEmbeddings::open(globals.kb, view));
  ASKBASE_ASSIGN(const auto similar, embeddings->similar(view, id, shown));
  if (!similar) return std::optional<std::vector<SimilarEntity>>();
  std::vector<SimilarEntity> out;
  for (const auto& one : *similar) {
    ASKBASE_ASSIGN(const kb::Term term, view.term(one.entity));
    ASKBASE_ASSIGN(const std::string label, kb::display_name(view, one.entity, arguments.lang));
    out.push_back({(term.kind == kb::TermKind::blank ? "_:" : "") + term.value, label, one.similarity});
  }
  return out;
}

base::Result<int> run_show(const ShowArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  ASKBASE_ASSIGN(const kb::TermId id, resolve(*view, arguments.id));
  ASKBASE_ASSIGN(const kb::Term term, view->term(id));
  ASKBASE_ASSIGN(const std::string label, kb::display_name(*view, id, arguments.lang));
  ASKBASE_ASSIGN(const auto names, kb::names_of(*view, id));
  ASKBASE_ASSIGN(const Facts outgoing, facts_of(*view, id, true, arguments));
  ASKBASE_ASSIGN(const Facts incoming, facts_of(*view, id, false, arguments));
  std::optional<std::vector<SimilarEntity>> similar;
  if (arguments.similar) {
    ASKBASE_ASSIGN(similar, similar_to(*view, id, arguments, globals));
  }
  constexpr std::array<const char*, 3> kinds = {"label", "alias", "identifier"};
  if (arguments.json) {
    base::Json out;
    out["id"] = term.kind == kb::TermKind::blank ? "_:" + term.value : term.value;
    out["label"] = label;
    out["names"] = base::Json::array();
    for (const kb::EntityName& name : names) {
      base::Json item = {{"text", name.text}, {"kind", kinds[static_cast<std::size_t>(name.kind)]}};
      if (!name.lang.empty()) item["lang"] = name.lang;
      out["names"].push_back(std::move(item));
    }
    out["facts"] = facts_json(outgoing, "object");
    out["facts_total"] = outgoing.total;
    out["incoming"] = facts_json(incoming, "subject");
    out["incoming_total"] = incoming.total;
    if (arguments.similar) {
      out["similar"] = base::Json::array();
      for (const SimilarEntity& one : similar.value_or(std::vector<SimilarEntity>())) {
        out["similar"].push_back(
            {{"id", one.id}, {"label", one.label}, {"similarity", base::json_number(one.similarity, 4)}});
      }
    }
    print(base::dump_json(out) + "\n");
    return exit_done;
  }
  print(bold(label) + "\n");
  print_line("  " + kb::to_ntriples(term));
  std::string line;
  for (const kb::EntityName& name : names) {
    if (name.text == label && name.lang == arguments.lang) continue;
    line += (line.empty() ? "  also: " : "; ") + name.text + lang_mark(name.lang);
  }
  if (!line.empty()) print_line(line);
  print_facts("facts", outgoing);
  print_facts("facts about others", incoming);
  if (arguments.similar) {
    std::vector<std::vector<std::string>> rows;
    for (const SimilarEntity& one : similar.value_or(std::vector<SimilarEntity>()))
      rows.push_back({"  " + one.label, "<" + one.id + ">", decimal(one.similarity, 3)});
    print_line(rows.empty() ? "similar: nothing, it has no facts with entities that have vectors"
                            : "similar");
    print(table(rows));
  }
  return exit_done;
}

}  // namespace

void add_show(const Command& askbase) {
  auto arguments = std::make_shared<ShowArguments>();
  const Command command = askbase.add("show", "Show an entity with its facts and where they come from",
                                      "  askbase --kb my-kb show urn:x:paris\n"
                                      "  askbase --kb my-kb show \"New York\" --lang zh");
  command.argument("ID", arguments->id, "An IRI, or a name that only one entity has");
  command.option("--lang", "LANG", arguments->lang, "Language of names; en");
  command.option("--limit", "N", arguments->limit, "Facts shown in each direction; 50", 1, 1000000);
  command.flag("--similar", arguments->similar, "And the entities most like it, by the embeddings");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals& globals) { return run_show(*arguments, globals); });
}

}  // namespace askbase::cli
