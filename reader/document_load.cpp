#include "reader/document_load.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/interrupt.h"
#include "base/text.h"
#include "base/thread_pool.h"

namespace askbase::reader {
namespace {

struct Waiting {
  Document document;
  std::string where;
};

base::Error located(const std::string& where, base::Error error) {
  if (!error.message.starts_with(where)) error.message = where + ": " + error.message;
  return error;
}

class Loader {
 public:
  Loader(kb::Store& store, const DocumentLoadOptions& options)
      : store_(store), options_(options), pool_(std::max<std::size_t>(1, options.threads) - 1) {}

  base::Result<DocumentLoadReport> run(const std::vector<std::filesystem::path>& paths) {
    const auto start = std::chrono::steady_clock::now();
    ASKBASE_ASSIGN(const std::vector<DocumentFile> files, plan(paths));
    DocumentUpdateOptions options;
    options.passages = options_.passages;
    ASKBASE_ASSIGN(update_, DocumentUpdate::begin(store_, options));
    std::set<std::string> sources;
    for (const DocumentFile& file : files) {
      ASKBASE_TRY(read_document_file(
          file, [&](Document document, const std::string& where) { return take(std::move(document), where); },
          [&](const std::string& where, base::Error error) { return leave_out(where, std::move(error)); },
          options_.progress));
      sources.insert(file.source);
    }
    ASKBASE_TRY(work());
    for (const std::string& source : sources) ASKBASE_TRY(update_->remove_others_of(source));
    ASKBASE_ASSIGN(report_.summary, update_->commit());
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  base::Result<std::vector<DocumentFile>> plan(const std::vector<std::filesystem::path>& paths) const {
    if (paths.empty()) return base::fail(base::ErrorCode::invalid_argument, "no file to load");
    std::vector<DocumentFile> files;
    std::map<std::string, std::string> ids;  // and their paths
    for (const std::filesystem::path& path : paths) {
      DocumentFile file;
      file.path = path;
      file.format = options_.format;
      const bool input = path == "-" || (!options_.spooled_input.empty() && path == options_.spooled_input);
      file.id = !input                    ? path.filename().string()
                : options_.source.empty() ? "standard input"
                                          : options_.source;
      file.source = options_.source.empty() ? file.id : options_.source;
      const auto format = file.format ? file.format : document_format_from_path(path);
      const bool named_by_file = options_.source.empty() || format != DocumentFormat::jsonl;
      const auto [known, fresh] = ids.emplace(file.id, path.string());
      if (!fresh && named_by_file) {
        return base::fail(
            base::ErrorCode::invalid_argument,
            "two files are called " + file.id + ": " + known->second + " and " + path.string(),
            "a file's name is its document's id: rename one, or put the documents into a .jsonl file "
            "with ids of their own");
      }
      files.push_back(std::move(file));
    }
    return files;
  }

  base::Status leave_out(const std::string& where, base::Error error) {
    if (!options_.skip_bad) return tl::unexpected(std::move(error));
    constexpr std::size_t most_shown = 20;
    ++report_.bad;
    if (report_.first_bad.size() < most_shown) {
      std::string reason = std::move(error.message);
      if (reason.starts_with(where + ": ")) reason.erase(0, where.size() + 2);
      report_.first_bad.push_back({where, std::move(reason)});
    }
    return {};
  }

  base::Status take(Document document, const std::string& where) {
    constexpr std::size_t batch_bytes = 4 << 20, batch_documents = 4096;
    waiting_bytes_ += document.text.size();
    waiting_.push_back({std::move(document), where});
    return waiting_bytes_ >= batch_bytes || waiting_.size() >= batch_documents ? work() : base::Status();
  }

  // Cuts up what waits, on all threads, and adds it in order.
  base::Status work() {
    std::vector<base::Result<DocumentUpdate::PreparedDocument>> prepared(waiting_.size());
    pool_.parallel_for(waiting_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        prepared[i] = update_->prepare(std::move(waiting_[i].document));
    });
    ASKBASE_TRY(base::check_interrupt());
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      const std::string& where = waiting_[i].where;
      base::Result<DocumentUpdate::Change> added =
          prepared[i] ? update_->add(std::move(*prepared[i])) : tl::unexpected(prepared[i].error());
      if (added) continue;
      const base::ErrorCode code = added.error().code;
      base::Error error = located(where, std::move(added.error()));
      if (code != base::ErrorCode::bad_input && code != base::ErrorCode::too_large)
        return tl::unexpected(std::move(error));
      ASKBASE_TRY(leave_out(where, std::move(error)));
    }
    waiting_.clear();
    waiting_bytes_ = 0;
    return {};
  }

  kb::Store& store_;
  const DocumentLoadOptions& options_;
  base::ThreadPool pool_;  // the calling thread works, too
  std::unique_ptr<DocumentUpdate> update_;
  std::vector<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  DocumentLoadReport report_;
};

}  // namespace

base::Result<DocumentLoadReport> load_documents(kb::Store& store,
                                                const std::vector<std::filesystem::path>& files,
                                                const DocumentLoadOptions& options) {
  return Loader(store, options).run(files);
}

base::Result<DocumentSummary> put_documents(kb::Store& store, std::vector<Document> documents,
                                            const PassageOptions& options) {
  DocumentUpdateOptions update_options;
  update_options.passages = options;
  ASKBASE_ASSIGN(const auto update, DocumentUpdate::begin(store, update_options));
  for (Document& document : documents) {
    ASKBASE_ASSIGN(auto prepared, update->prepare(std::move(document)));
    ASKBASE_TRY(update->add(std::move(prepared)));
  }
  return update->commit();
}

base::Result<DocumentSummary> delete_document(kb::Store& store, const std::string& id) {
  ASKBASE_ASSIGN(const auto update, DocumentUpdate::begin(store, {}));
  ASKBASE_ASSIGN(const bool found, update->remove(id));
  if (!found) {
    return base::fail(base::ErrorCode::not_found, "there is no document \"" + id + "\"",
                      "askbase stats --documents lists them");
  }
  return update->commit();
}

base::Result<DocumentSummary> delete_documents_of(kb::Store& store, const std::string& source) {
  ASKBASE_ASSIGN(const auto update, DocumentUpdate::begin(store, {}));
  ASKBASE_TRY(update->remove_others_of(source));
  return update->commit();
}

}  // namespace askbase::reader
