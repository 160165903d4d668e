// What web/handoff.h sends, as JSON and back. Included by .cpp files only (base/json.h).
#pragma once

#include <filesystem>
#include <vector>

#include "base/json.h"
#include "kb/load.h"
#include "web/handoff.h"

namespace askbase::web {

base::Json to_json(const std::vector<std::filesystem::path>& paths, const kb::LoadOptions& options);
base::Json to_json(const DeleteRequest& request);
base::Json to_json(const kb::UpdateSummary& summary);
base::Json to_json(const kb::LoadReport& report);
base::Json to_json(const std::vector<std::filesystem::path>& paths,
                   const reader::DocumentLoadOptions& options);
base::Json to_json(const DeleteDocumentsRequest& request);
base::Json to_json(const reader::DocumentSummary& summary);
base::Json to_json(const reader::DocumentLoadReport& report);
base::Json to_json(const base::Error& error);

// Error bad_input when the other end speaks otherwise: it is of another version.
struct LoadJob {
  std::vector<std::filesystem::path> paths;
  kb::LoadOptions options;
};
base::Result<LoadJob> load_job(const base::Json& json);
base::Result<DeleteRequest> delete_request(const base::Json& json);
base::Result<kb::UpdateSummary> update_summary(const base::Json& json);
base::Result<kb::LoadReport> load_report(const base::Json& json);
struct DocumentsJob {
  std::vector<std::filesystem::path> paths;
  reader::DocumentLoadOptions options;
};
base::Result<DocumentsJob> documents_job(const base::Json& json);
base::Result<DeleteDocumentsRequest> delete_documents_request(const base::Json& json);
base::Result<reader::DocumentSummary> document_summary(const base::Json& json);
base::Result<reader::DocumentLoadReport> document_report(const base::Json& json);
base::Result<base::Error> error_of(const base::Json& json);

}  // namespace askbase::web
