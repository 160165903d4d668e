// The passages of a KB's documents: found by words (BM25, Robertson & Zaragoza 2009) and read with their
// places in the original text. The index lies in the KB's own tables, so one snapshot covers facts and
// documents.
//
//   PassageIndex index = PassageIndex::open(store.storage().snapshot()).value();
//   for (const PassageHit& hit : index.search("who wrote Moby-Dick", 10).value()) {
//     Passage passage = index.passage(hit.passage).value();
//     ... a span [b, e) found in passage.text ...
//     SpanPlace place = passage.place(b, e);  // in the document, as it was loaded
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/storage.h"
#include "reader/document.h"

namespace askbase::reader {

struct PassageHit {
  std::uint32_t passage = 0;  // its number; numbers are never given out twice
  double score = 0;
};

// A place in a document's text, half-open.
struct SpanPlace {
  std::uint32_t begin = 0, end = 0;              // code points
  std::uint32_t begin_utf16 = 0, end_utf16 = 0;  // UTF-16 units
  std::uint32_t page = 1;                        // where it begins; 1 in texts without pages
};

struct Passage {
  std::uint32_t number = 0;
  std::string document, title, lang, url, date, source;  // as Document
  std::string text;               // to be read: running heads left out, divided words joined
  std::string original;           // as it stands in the document
  std::vector<ByteRange> unread;  // what `text` lacks, in bytes of `original`
  SpanPlace whole;
  bool paged = false;                      // the document has pages
  std::vector<std::uint32_t> page_starts;  // of the second and later pages, code points of the document

  // The place of [begin, end) of `text`, in code points. Ends beyond the text count as its end.
  SpanPlace place(std::size_t begin, std::size_t end) const;
};

struct DocumentInfo {
  std::uint32_t number = 0;
  std::string id, title, lang, url, date, source;
  std::int64_t time = 0;          // seconds since 1970, UTC, of the last change
  std::uint32_t code_points = 0;  // of the text
  std::uint32_t first_passage = 0, passages = 0, pages = 1;
};

struct Bm25 {
  double k1 = 1.2, b = 0.75;
};

// One consistent state. Immutable and thread-safe; cheap to make. Every call may fail with corrupt or io.
class PassageIndex {
 public:
  // Error unsupported when another version of the program cut the terms differently (hint: load again).
  static base::Result<PassageIndex> open(std::shared_ptr<const kb::Snapshot> snapshot);

  std::uint64_t documents() const { return documents_; }
  std::uint64_t passages() const { return passages_; }
  // Changes with every change of documents: equal generations of one KB have the same passages.
  std::uint64_t generation() const { return generation_; }

  // The best passages by BM25 of the query's terms, best first, then by number. Passages that hold none of
  // the terms are not among them. Any text is a query; the first 1,000 distinct terms of it count.
  base::Result<std::vector<PassageHit>> search(std::string_view query, std::size_t most,
                                               const Bm25& bm25 = {}) const;
  // Error not_found.
  base::Result<Passage> passage(std::uint32_t number) const;
  base::Result<bool> has_passage(std::uint32_t number) const;

  base::Result<std::optional<DocumentInfo>> document(std::string_view id) const;
  // By number, until the visitor returns false.
  base::Status each_document(const std::function<bool(const DocumentInfo&)>& visit) const;
  // All passages by number, from the first one on, until the visitor returns false.
  base::Status each_passage(std::uint32_t first,
                            const std::function<bool(std::uint32_t number)>& visit) const;
  // Error not_found.
  base::Result<std::string> document_text(std::string_view id) const;

  const kb::Snapshot& snapshot() const { return *snapshot_; }

 private:
  PassageIndex() = default;
  std::shared_ptr<const kb::Snapshot> snapshot_;
  std::uint64_t documents_ = 0, passages_ = 0, terms_ = 0, generation_ = 0;
};

struct PassageCheck {
  std::uint64_t documents = 0, passages = 0, postings = 0;
  std::vector<std::string> problems;  // at most 100
};
// Verifies the tables of documents against each other: counts, texts, passages inside their texts, and that
// the postings are exactly those of the passages. Errors: cancelled, io.
base::Result<PassageCheck> check_passages(const kb::Snapshot& snapshot);

}  // namespace askbase::reader
