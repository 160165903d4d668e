// Loading files of documents into a KB: one call is one atomic change. docs/documents.md is the page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "kb/load.h"
#include "kb/store.h"
#include "reader/document_files.h"
#include "reader/document_update.h"

namespace askbase::reader {

struct DocumentLoadOptions {
  std::string source;                    // empty: each file's name
  std::optional<DocumentFormat> format;  // nothing: by each file's name
  bool skip_bad = false;                 // report what cannot be read and go on
  PassageOptions passages;
  std::size_t threads = 2;
  std::filesystem::path spooled_input;  // a file of this name stands for standard input; empty: none does
  base::Progress::Sink progress;
};

struct DocumentLoadReport {
  DocumentSummary summary;
  std::uint64_t bad = 0;               // documents that were left out
  std::vector<kb::BadLine> first_bad;  // at most 20
  std::vector<std::string> notices;
  double seconds = 0;
};

// Every file is a source (or all of them one, when named): its documents replace those that it brought
// before, and those that it brought before and no longer has are removed. A file that holds one document
// gives it the file's name as id. Errors: those of read_document_file() and DocumentUpdate; invalid_argument
// when two files would have one id.
base::Result<DocumentLoadReport> load_documents(kb::Store& store,
                                                const std::vector<std::filesystem::path>& files,
                                                const DocumentLoadOptions& options);

// Adds or replaces single documents, whose sources are as they say.
base::Result<DocumentSummary> put_documents(kb::Store& store, std::vector<Document> documents,
                                            const PassageOptions& options = {});
// Error not_found.
base::Result<DocumentSummary> delete_document(kb::Store& store, const std::string& id);
// How many documents of the source there were.
base::Result<DocumentSummary> delete_documents_of(kb::Store& store, const std::string& source);

}  // namespace askbase::reader
