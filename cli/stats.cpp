// askbase stats
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/output.h"
#include "kb/entity_index.h"
#include "reader/passage_index.h"

namespace askbase::cli {
namespace {

struct StatsArguments {
  bool predicates = false, documents = false, json = false;
};

struct SourceOfDocuments {
  std::uint64_t documents = 0, passages = 0;
  std::int64_t time = 0;
};

struct DocumentStats {
  std::uint64_t documents = 0, passages = 0;
  std::map<std::string, SourceOfDocuments> sources;
  std::vector<reader::DocumentInfo> all;  // when they are asked for
};

base::Result<DocumentStats> count_documents(const kb::Store& store, bool list) {
  ASKBASE_ASSIGN(const auto index, reader::PassageIndex::open(store.storage().snapshot()));
  DocumentStats stats{index.documents(), index.passages(), {}, {}};
  ASKBASE_TRY(index.each_document([&](const reader::DocumentInfo& document) {
    SourceOfDocuments& source = stats.sources[document.source];
    ++source.documents;
    source.passages += document.passages;
    source.time = std::max(source.time, document.time);
    if (list) stats.all.push_back(document);
    return true;
  }));
  std::sort(stats.all.begin(), stats.all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return stats;
}

base::Json documents_json(const DocumentStats& stats, bool list) {
  base::Json out = {{"documents", stats.documents}, {"passages", stats.passages}};
  out["sources"] = base::Json::array();
  for (const auto& [name, source] : stats.sources)
    out["sources"].push_back({{"source", name},
                              {"documents", source.documents},
                              {"passages", source.passages},
                              {"time", readable_time(source.time)}});
  if (!list) return out;
  out["list"] = base::Json::array();
  for (const reader::DocumentInfo& one : stats.all) {
    base::Json item = {{"id", one.id},
                       {"source", one.source},
                       {"characters", one.code_points},
                       {"passages", one.passages},
                       {"pages", one.pages},
                       {"time", readable_time(one.time)}};
    if (!one.title.empty()) item["title"] = one.title;
    if (!one.lang.empty()) item["lang"] = one.lang;
    if (!one.url.empty()) item["url"] = one.url;
    if (!one.date.empty()) item["date"] = one.date;
    out["list"].push_back(std::move(item));
  }
  return out;
}

void print_documents(const DocumentStats& stats, bool list) {
  std::vector<std::vector<std::string>> rows = {{"DOCUMENTS OF", "DOCUMENTS", "PASSAGES", "CHANGED"}};
  for (const auto& [name, source] : stats.sources)
    rows.push_back({name, grouped(source.documents), grouped(source.passages), readable_time(source.time)});
  if (rows.size() > 1) print(table(rows, {false, true, true}));
  if (!list || stats.all.empty()) return;
  rows = {{"DOCUMENT", "CHARACTERS", "PASSAGES", "TITLE"}};
  for (const reader::DocumentInfo& one : stats.all)
    rows.push_back({one.id, grouped(one.code_points), grouped(one.passages), one.title});
  print(table(rows, {false, true, true}));
}

struct PredicateCount {
  std::string id, label;
  std::uint64_t facts = 0;
};

base::Result<std::vector<PredicateCount>> count_predicates(const kb::View& view,
                                                           const std::vector<kb::TermId>& predicates) {
  std::vector<PredicateCount> out;
  for (const kb::TermId predicate : predicates) {
    PredicateCount count;
    ASKBASE_ASSIGN(const kb::Term term, view.term(predicate));
    count.id = term.value;
    ASKBASE_ASSIGN(count.label, kb::display_name(view, predicate, "en"));
    ASKBASE_ASSIGN(count.facts, view.count({.subject = {}, .predicate = predicate, .object = {}}));
    out.push_back(std::move(count));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PredicateCount& a, const PredicateCount& b) { return a.facts > b.facts; });
  return out;
}

base::Result<int> run_stats(const StatsArguments& arguments, const Globals& globals) {
  ASKBASE_ASSIGN(const auto store, open_kb(globals, kb::OpenMode::read_only));
  ASKBASE_ASSIGN(const auto view, store->view());
  ASKBASE_ASSIGN(const auto sources, view->sources());
  ASKBASE_ASSIGN(const auto predicates, view->predicates());
  ASKBASE_ASSIGN(const DocumentStats documents, count_documents(*store, arguments.documents));
  std::vector<PredicateCount> counts;
  if (arguments.predicates) {
    ASKBASE_ASSIGN(counts, count_predicates(*view, predicates));
  }
  std::map<std::string, std::uint64_t> bytes;
  std::uint64_t total_bytes = 0;
  for (int i = 0; i < kb::table_count; ++i) {
    const auto one = static_cast<kb::Table>(i);
    const std::uint64_t size = store->storage().disk_bytes(one);
    bytes[std::string(kb::table_name(one))] = size;
    total_bytes += size;
  }

  if (arguments.json) {
    base::Json out;
    out["kb"] = globals.kb.string();
    out["version"] = view->version();
    out["facts"] = view->facts();
    out["predicates"] = predicates.size();
    out["sources"] = base::Json::array();
    for (const kb::Source& source : sources) {
      base::Json item;
      item["source"] = source.name;
      item["kind"] = source.kind;
      item["facts"] = source.facts;
      item["time"] = readable_time(source.time);
      if (!source.loaded_from.empty()) item["loaded_from"] = source.loaded_from;
      if (!source.hash.empty()) item["hash"] = source.hash;
      out["sources"].push_back(std::move(item));
    }
    if (arguments.predicates) {
      out["by_predicate"] = base::Json::array();
      for (const PredicateCount& count : counts) {
        out["by_predicate"].push_back({{"id", count.id}, {"label", count.label}, {"facts", count.facts}});
      }
    }
    out["documents"] = documents_json(documents, arguments.documents);
    out["disk_bytes"] = total_bytes;
    out["disk_bytes_by_table"] = bytes;
    print(base::dump_json(out) + "\n");
    return exit_done;
  }
  print_line("knowledge base " + globals.kb.string());
  print(table({{"  facts", grouped(view->facts())},
               {"  predicates", grouped(predicates.size())},
               {"  sources", grouped(sources.size())},
               {"  documents", grouped(documents.documents)},
               {"  passages", grouped(documents.passages)},
               {"  on disk", readable_bytes(total_bytes)},
               {"  version", std::to_string(view->version())}},
              {false, true}));
  std::vector<std::vector<std::string>> rows = {{"SOURCE", "KIND", "FACTS", "CHANGED"}};
  for (const kb::Source& source : sources) {
    rows.push_back({source.name, source.kind, grouped(source.facts), readable_time(source.time)});
  }
  if (rows.size() > 1) print(table(rows, {false, false, true}));
  print_documents(documents, arguments.documents);
  if (!counts.empty()) {
    rows = {{"PREDICATE", "FACTS", "ID"}};
    for (const PredicateCount& count : counts) rows.push_back({count.label, grouped(count.facts), count.id});
    print(table(rows, {false, true}));
  }
  return exit_done;
}

}  // namespace

void add_stats(const Command& askbase) {
  auto arguments = std::make_shared<StatsArguments>();
  const Command command = askbase.add("stats", "Counts, sources and sizes",
                                      "  askbase --kb my-kb stats\n"
                                      "  askbase --kb my-kb stats --predicates\n"
                                      "  askbase --kb my-kb stats --documents");
  command.flag("--predicates", arguments->predicates, "Also the facts of each predicate");
  command.flag("--documents", arguments->documents, "Also each document");
  command.flag("--json", arguments->json, "One JSON object");
  command.on_run([arguments](const Globals& globals) { return run_stats(*arguments, globals); });
}

}  // namespace askbase::cli
