#include "kb/load.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "base/progress.h"
#include "base/sha256.h"
#include "base/text.h"
#include "kb/jsonl_reader.h"
#include "kb/load_files.h"
#include "kb/load_names.h"
#include "kb/load_pipe.h"
#include "kb/load_predicates.h"
#include "kb/rdf_reader.h"
#include "kb/table_facts.h"
#include "kb/table_headers.h"

namespace askbase::kb {
namespace {

// Part of every hash: to be changed when the same file would give other facts than before.
constexpr std::string_view kReading = "1";

bool is_table(Format format) { return format == Format::csv || format == Format::tsv; }
bool is_rdf(Format format) { return format <= Format::trig && format != Format::unknown; }

struct FileToLoad {
  LoadFile file;
  TableSource table;  // of tables
  TablePlan plan;
};

// Everything that goes into one source.
struct SourceToLoad {
  std::string name;
  std::vector<FileToLoad> files;
  std::string hash;  // empty: must be loaded
  bool unchanged = false;
  std::set<std::string> graphs;  // other sources that it has brought in this load
  SourceId id = 0;
};

class Loader {
 public:
  Loader(Store& store, const LoadOptions& options) : store_(store), options_(options) {
    bad_.tolerated = options.skip_bad;
  }

  base::Result<LoadReport> run(const std::vector<std::filesystem::path>& paths) {
    const auto start = std::chrono::steady_clock::now();
    // Held from here on, so that nothing changes between looking at the KB and writing to it.
    ASKBASE_ASSIGN(update_, store_.begin_update({.threads = options_.threads}));
    ASKBASE_ASSIGN(view_, store_.view());
    ASKBASE_TRY(open_files(paths));
    ASKBASE_TRY(plan_tables());
    bool any = false;
    for (SourceToLoad& source : sources_) {
      ASKBASE_TRY(look_for_changes(source));
      any = any || !source.unchanged;
    }
    if (any) {
      for (SourceToLoad& source : sources_) {
        if (!source.unchanged) ASKBASE_TRY(load_source(source));
      }
      ASKBASE_TRY(commit());
    }
    ASKBASE_TRY(add_unchanged());
    report_.bad_lines = bad_.count;
    report_.first_bad = std::move(bad_.first);
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  base::Status open_files(const std::vector<std::filesystem::path>& paths);
  base::Status plan_tables();
  base::Status look_for_changes(SourceToLoad& source);
  base::Result<std::string> hash_of(const SourceToLoad& source) const;
  base::Status load_source(SourceToLoad& source);
  base::Status load_file(SourceToLoad& source, const FileToLoad& file);
  base::Result<SourceId> graph_source(SourceToLoad& source, const FileToLoad& file, const std::string& graph);
  base::Status remove_old_graphs(const SourceToLoad& source);
  base::Status commit();
  base::Status add_unchanged();
  void notice(std::string text) { report_.notices.push_back(std::move(text)); }

  Store& store_;
  const LoadOptions& options_;
  std::unique_ptr<Update> update_;
  std::shared_ptr<const View> view_;
  std::vector<SourceToLoad> sources_;
  std::map<std::string, std::string> owners_;  // of sources that this load fills: which of ours brought it
  std::map<std::string, SourceId> graph_ids_;
  BadLines bad_;
  std::uint64_t taken_ = 0;  // facts of all files
  LoadReport report_;
};

base::Status Loader::open_files(const std::vector<std::filesystem::path>& paths) {
  if (paths.empty()) return base::fail(base::ErrorCode::invalid_argument, "no file to load");
  std::set<std::string> inputs;
  for (const std::filesystem::path& path : paths) {
    if (path == "-" && !inputs.insert("-").second) {
      return base::fail(base::ErrorCode::invalid_argument, "standard input can be read once only");
    }
    FileToLoad file;
    ASKBASE_ASSIGN(file.file,
                   LoadFile::open(path, options_, [this] { return store_.storage().temporary_folder(); }));
    const bool own_name = options_.source.empty();
    const std::string name = own_name ? file.file.source_name() : options_.source;
    file.table = file.file.table(table_name(name));
    const auto same =
        std::find_if(sources_.begin(), sources_.end(), [&](const auto& s) { return s.name == name; });
    if (same == sources_.end()) {
      sources_.push_back({});
      sources_.back().name = name;
      sources_.back().files.push_back(std::move(file));
      owners_.emplace(name, name);
    } else if (own_name) {
      return base::fail(base::ErrorCode::invalid_argument, "two files are called " + name,
                        "load them one by one with different --source names, or together with one");
    } else {
      same->files.push_back(std::move(file));
    }
  }
  return {};
}

base::Status Loader::plan_tables() {
  std::vector<PlannedTable> tables;
  std::set<std::string> replaced;
  for (SourceToLoad& source : sources_) {
    for (FileToLoad& file : source.files) {
      if (!is_table(file.file.format())) continue;
      ASKBASE_ASSIGN(file.plan, plan_table(file.table, options_));
      tables.push_back({&file.table, &file.plan});
    }
    replaced.insert(source.name);
  }
  return tables.empty() ? base::Status() : link_values(tables, view_.get(), replaced);
}

// Of the content and of everything that decides what facts it gives.
base::Result<std::string> Loader::hash_of(const SourceToLoad& source) const {
  base::Sha256 hash;
  hash.append_text(kReading);
  hash.append_text(options_.skip_bad ? "skip" : "strict");
  hash.append_text(options_.base_iri);
  hash.append_text(options_.table.id_column);
  hash.append_text(options_.table.label_column);
  hash.append_text(std::to_string(static_cast<int>(options_.table.layout)));
  for (const auto& [column, separator] : options_.table.split) {
    hash.append_text(column);
    hash.append_text(separator);
  }
  for (const std::string& alias : options_.alias_predicates) hash.append_text("alias " + alias);
  for (const FileToLoad& file : source.files) {
    hash.append_text(format_name(file.file.format()));
    hash.append_text(file.table.name);
    ASKBASE_ASSIGN(const std::string content, file.file.hash());
    hash.append_text(content);
    hash.append_text(describe_links(file.plan));
  }
  return hash.hex();
}

// A source is as it was when its record has the same hash, and so have as many other sources as it brought
// then (named graphs). The record's hash is the hash, '+' and their number.
base::Status Loader::look_for_changes(SourceToLoad& source) {
  if (options_.wordings) return {};  // what they mean depends on the whole KB
  ASKBASE_ASSIGN(source.hash, hash_of(source));
  ASKBASE_ASSIGN(const auto record, view_->source(source.name));
  if (!record || record->hash.substr(0, source.hash.size()) != source.hash) return {};
  std::size_t brought = 0;
  ASKBASE_ASSIGN(const std::vector<Source> all, view_->sources());
  for (const Source& other : all) {
    if (other.loaded_from != source.name) continue;
    if (other.hash != source.hash) return {};
    ++brought;
  }
  source.unchanged = record->hash == source.hash + "+" + std::to_string(brought);
  return {};
}

base::Status Loader::load_source(SourceToLoad& source) {
  const bool table = std::any_of(source.files.begin(), source.files.end(),
                                 [](const FileToLoad& file) { return is_table(file.file.format()); });
  Source record;
  record.name = source.name;
  record.kind = table ? "table" : "file";
  ASKBASE_ASSIGN(source.id, update_->source(record, true));
  graph_ids_[source.name] = source.id;
  const std::uint64_t bad_before = bad_.count;
  for (const FileToLoad& file : source.files) {
    for (const std::string& text : file.plan.notices) notice(text);
    ASKBASE_TRY(load_file(source, file));
    ASKBASE_TRY(file.file.check_unchanged());
  }
  ASKBASE_TRY(remove_old_graphs(source));
  // With bad lines left out, the next load shall tell of them again.
  if (bad_.count == bad_before && !source.hash.empty()) {
    record.hash = source.hash + "+" + std::to_string(source.graphs.size());
    ASKBASE_TRY(update_->source(record, false));
  }
  return {};
}

base::Status Loader::load_file(SourceToLoad& source, const FileToLoad& file) {
  const LoadFile& from = file.file;
  ASKBASE_ASSIGN(const auto input, from.input());
  base::Progress progress("reading " + from.name(), input->raw_size().value_or(0), "bytes",
                          options_.progress);
  PipeOptions pipe{.threads = options_.threads, .file = from.name(), .on_fact = {}};
  std::function<base::Status(FactSink&)> read;
  const BlankLabels blanks(source.name);
  const std::string base_iri =
      options_.base_iri.empty() ? "urn:askbase:file:" + encode_name(source.name) + "/" : options_.base_iri;
  if (!is_absolute_iri(base_iri)) {
    return base::fail(base::ErrorCode::invalid_argument, "the base \"" + base_iri + "\" is no absolute IRI",
                      "write it as http://example.org/");
  }
  if (is_table(from.format())) {
    read = [&](FactSink& sink) {
      return write_table(file.table, file.plan, sink,
                         [&](std::uint64_t position) { progress.update(position); });
    };
  } else {
    pipe.on_fact = [&] { progress.update(input->raw_position()); };
    if (options_.wordings) {
      read = [&](FactSink& sink) {
        PredicateNames names(*view_);
        return read_wordings(
            *input, [&](std::string_view name) { return names.find(name); }, sink);
      };
    } else if (from.format() == Format::jsonl) {
      read = [&](FactSink& sink) { return read_jsonl(*input, blanks, sink); };
    } else {
      read = [&](FactSink& sink) { return read_rdf(*input, from.format(), base_iri, blanks, sink); };
    }
  }
  // Neighbouring facts often have the same subject, and most facts one of few predicates.
  std::string last_graph;
  SourceId id = source.id;
  Term last_subject;
  Triple triple;
  TextMap<TermId> predicates;
  ASKBASE_TRY(pipe_facts(pipe, bad_, read, [&](const Fact& fact) -> base::Status {
    if (fact.graph != last_graph) {
      ASKBASE_ASSIGN(id, fact.graph.empty() ? base::Result<SourceId>(source.id)
                                            : graph_source(source, file, fact.graph));
      last_graph = fact.graph;
    }
    if (!triple.subject || fact.subject != last_subject) {
      ASKBASE_ASSIGN(triple.subject, update_->intern(fact.subject));
      last_subject = fact.subject;
    }
    const auto known = predicates.find(fact.predicate.value);
    if (known != predicates.end()) {
      triple.predicate = known->second;
    } else {
      ASKBASE_ASSIGN(triple.predicate, update_->intern(fact.predicate));
      predicates.emplace(fact.predicate.value, triple.predicate);
    }
    ASKBASE_ASSIGN(triple.object, update_->intern(fact.object));
    ++taken_;
    return update_->add(id, triple, fact.row);
  }));
  progress.finish();
  return {};
}

// The source that holds the facts of a named graph (or of a "source" of JSON lines).
base::Result<SourceId> Loader::graph_source(SourceToLoad& source, const FileToLoad& file,
                                            const std::string& graph) {
  const std::string name = is_rdf(file.file.format()) ? graph_to_source(graph) : graph;
  if (name == source.name) return source.id;
  const auto [owner, first] = owners_.emplace(name, source.name);
  if (!first) {
    const bool told = !source.graphs.insert(name).second;
    if (owner->second != source.name) {
      source.graphs.erase(name);
      if (!told) {
        notice(name + " comes from " + owner->second + " and from " + source.name +
               ": its facts are kept together under the former; load both with one --source to replace them "
               "together");
      }
    }
    const auto known = graph_ids_.find(name);
    if (known != graph_ids_.end()) return known->second;
  }
  ASKBASE_ASSIGN(const auto before, view_->source(name));
  if (before && before->loaded_from != source.name && before->facts > 0) {
    notice(name + " was loaded " +
           (before->loaded_from.empty() ? "by itself" : "from " + before->loaded_from) + ": its " +
           std::to_string(before->facts) + " facts are replaced by those of " + source.name);
  }
  source.graphs.insert(name);
  Source record;
  record.name = name;
  record.kind = "graph";
  record.loaded_from = source.name;
  record.hash = source.hash;
  ASKBASE_ASSIGN(const SourceId id, update_->source(record, true));
  graph_ids_[name] = id;
  return id;
}

base::Status Loader::remove_old_graphs(const SourceToLoad& source) {
  ASKBASE_ASSIGN(const std::vector<Source> all, view_->sources());
  for (const Source& old : all) {
    if (old.loaded_from != source.name || owners_.contains(old.name)) continue;
    ASKBASE_TRY(update_->remove_source(old.name));
    notice(old.name + " is no longer in " + source.name + ": its " + std::to_string(old.facts) +
           " facts are removed");
  }
  return {};
}

base::Status Loader::commit() {
  for (const std::string& alias : options_.alias_predicates) {
    ASKBASE_TRY(update_->add_alias_predicate(looks_like_iri(alias) ? alias : name_iri("p", alias)));
  }
  // Each phase is a piece of work of its own to the eye, as long as there are facts.
  std::unique_ptr<base::Progress> progress;
  std::string shown;
  const auto end_phase = [&] {
    if (!progress) return;
    progress->update(taken_);
    progress->finish();
  };
  ASKBASE_ASSIGN(report_.summary, update_->commit([&](std::string_view phase, double share) {
    if (phase != shown) {
      end_phase();
      shown = phase;
      progress = std::make_unique<base::Progress>(shown, taken_, "facts", options_.progress);
    }
    progress->update(static_cast<std::uint64_t>(share * static_cast<double>(taken_)));
  }));
  end_phase();
  return {};
}

base::Status Loader::add_unchanged() {
  for (const SourceToLoad& source : sources_) {
    if (!source.unchanged) continue;
    ASKBASE_ASSIGN(const auto record, view_->source(source.name));
    report_.summary.sources.push_back({source.name, record ? record->facts : 0, 0, 0});
    notice(source.name + ": unchanged since it was loaded");
  }
  if (std::all_of(sources_.begin(), sources_.end(), [](const SourceToLoad& s) { return s.unchanged; })) {
    report_.summary.facts = view_->facts();
  }
  return {};
}

}  // namespace

base::Result<LoadReport> load(Store& store, const std::vector<std::filesystem::path>& paths,
                              const LoadOptions& options) {
  return Loader(store, options).run(paths);
}

}  // namespace askbase::kb
