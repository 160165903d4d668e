// Changes of a KB's documents: added, replaced and deleted one by one, written at once.
//
//   auto update = DocumentUpdate::begin(store, {}).value();
//   update->add(update->prepare(document).value());
//   update->commit();   // all or nothing, also on kill -9; searches see it from their next snapshot on
//
// The store is locked for other changes while a DocumentUpdate lives. prepare() may be called by many threads
// at once; everything else belongs to one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kb/store.h"
#include "reader/document.h"
#include "reader/passages.h"

namespace askbase::reader {

struct DocumentUpdateOptions {
  PassageOptions passages;
  std::size_t memory_bytes = 256 << 20;  // of postings and text; more goes to temporary files
};

struct DocumentSummary {
  std::uint64_t added = 0, replaced = 0, removed = 0, unchanged = 0;  // documents
  std::uint64_t documents = 0, passages = 0;                          // in the KB afterwards
};

class DocumentUpdate {
 public:
  enum class Change { added, replaced, unchanged };
  // A document cut up and compared with the KB. Its content is for add() alone.
  struct Prepared;
  struct DeletePrepared {
    void operator()(Prepared* prepared) const;
  };
  using PreparedDocument = std::unique_ptr<Prepared, DeletePrepared>;

  // Errors: locked while another change of this store is being made; internal when it was opened read-only;
  // io.
  static base::Result<std::unique_ptr<DocumentUpdate>> begin(kb::Store& store,
                                                             const DocumentUpdateOptions& options);
  virtual ~DocumentUpdate() = default;

  // Errors: those of check_document(); corrupt, io.
  virtual base::Result<PreparedDocument> prepare(Document document) const = 0;
  // Error bad_input when a document of this id was added before.
  virtual base::Result<Change> add(PreparedDocument document) = 0;
  // False when the KB has no such document (or this update has dealt with it already).
  virtual base::Result<bool> remove(std::string_view id) = 0;
  // Removes the source's documents that this update has not added. Returns how many.
  virtual base::Result<std::uint64_t> remove_others_of(std::string_view source) = 0;

  // Writes nothing when nothing changed. Errors: cancelled when base::interrupted() (all stays as it was),
  // io.
  virtual base::Result<DocumentSummary> commit() = 0;
};

}  // namespace askbase::reader
