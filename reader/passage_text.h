// Reading stored documents and what is derived from their text. For the .cpp files of reader/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kb/storage.h"
#include "reader/index_terms.h"
#include "reader/passage_records.h"
#include "reader/passages.h"

namespace askbase::reader {

// Bytes of a document's stored text. Error corrupt when they are not all there.
base::Result<std::string> stored_text(const kb::Snapshot& snapshot, DocumentNumber document, ByteRange range);
base::Result<std::optional<DocumentNumber>> find_document(const kb::Snapshot& snapshot, std::string_view id);
// Nothing when there is no such document.
base::Result<std::optional<DocumentRecord>> stored_document(const kb::Snapshot& snapshot,
                                                            DocumentNumber number);

// The terms of a document's passages: what is written to, and taken from, the postings.
struct PassageTerms {
  PassageRecord record;                                         // `document` unset
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts;  // number of the term, how often; by number
};
struct IndexedText {
  std::vector<std::string> terms;  // distinct
  std::vector<PassageTerms> passages;
  std::vector<std::uint32_t> page_starts;
  std::uint32_t code_points = 0;
};
// Cuts a text up, with the title's terms added to each passage. The same text gives the same result.
IndexedText index_text(std::string_view text, TextForm form, std::string_view title,
                       const PassageOptions& options, TermReader& terms);

}  // namespace askbase::reader
