// Handing work to the process that holds the KB: while `serve` has the store open for writing, `load` and
// `delete` send their words over a socket in the KB folder (askbase.sock, mode 0600) and print what comes
// back. One JSON object a line in both directions; docs/operations.md describes it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/load.h"
#include "kb/store.h"
#include "qa/engine.h"
#include "reader/document_load.h"

namespace askbase::web {

// What `delete` removes: a source, or the facts of a pattern (N-Triples terms; empty: any).
struct DeleteRequest {
  std::string source = {};
  std::string subject = {}, predicate = {}, object = {};
};

// Runs a delete on a store that this process holds.
base::Result<kb::UpdateSummary> run_delete(kb::Store& store, const DeleteRequest& request);

// The same for documents: one, by its id, or all of a source.
struct DeleteDocumentsRequest {
  std::string document = {}, source = {};
};
base::Result<reader::DocumentSummary> run_delete_documents(kb::Store& store,
                                                           const DeleteDocumentsRequest& request);

// Serving side: accepts work until destroyed; jobs run one after another, and the engine is refreshed after
// each. Thread-safe.
class HandoffServer {
 public:
  static base::Result<std::unique_ptr<HandoffServer>> start(kb::Store& store, qa::Engine& engine);
  virtual ~HandoffServer() = default;
};

// Asking side. Nothing when no server listens for this KB; else the result of the job as the server's.
// Paths are made absolute; "-" (standard input) is spooled to a file for the server to read. Ctrl-C cancels
// the job there: the KB stays as it was.
base::Result<std::optional<kb::LoadReport>> hand_over_load(const std::filesystem::path& kb_folder,
                                                           const std::vector<std::filesystem::path>& paths,
                                                           const kb::LoadOptions& options);
base::Result<std::optional<kb::UpdateSummary>> hand_over_delete(const std::filesystem::path& kb_folder,
                                                                const DeleteRequest& request);
base::Result<std::optional<reader::DocumentLoadReport>> hand_over_documents(
    const std::filesystem::path& kb_folder, const std::vector<std::filesystem::path>& paths,
    const reader::DocumentLoadOptions& options);
base::Result<std::optional<reader::DocumentSummary>> hand_over_delete_documents(
    const std::filesystem::path& kb_folder, const DeleteDocumentsRequest& request);

}  // namespace askbase::web
