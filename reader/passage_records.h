// Records of the tables documents, document_text, passages and postings: what PassageIndex reads and
// DocumentUpdate writes. For the .cpp files of reader/; docs/format.md is the page. Numbers in keys have four
// bytes, big-endian; varints are those of kb/encoding.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/storage.h"
#include "reader/document.h"

namespace askbase::reader {

using DocumentNumber = std::uint32_t;
using PassageNumber = std::uint32_t;

// Keys of the meta table, values varints.
namespace counter {
inline constexpr std::string_view documents = "documents";
inline constexpr std::string_view passages = "passages";
inline constexpr std::string_view passage_terms = "passage_terms";  // the lengths of all passages together
inline constexpr std::string_view next_document = "next_document";
inline constexpr std::string_view next_passage = "next_passage";
inline constexpr std::string_view generation =
    "documents_generation";                                        // grows with every change of documents
inline constexpr std::string_view vectors = "vectors_generation";  // grows with every change of vectors
inline constexpr std::string_view terms_version = "passage_terms_version";  // index_terms_version
}  // namespace counter

std::string number_key(std::uint32_t number);
bool read_number_key(std::string_view key, std::uint32_t& number);

// Document numbers stay below 0xFF000000, where the keys of ids begin.
inline constexpr DocumentNumber most_documents = 0xFEFFFFFF;
std::string document_id_key(std::string_view id);

struct DocumentRecord {
  std::string id, title, lang, url, date, source;
  std::string hash;                          // SHA-256 (32 bytes) of the document and of how it was split
  std::int64_t time = 0;                     // seconds since 1970, UTC
  std::uint32_t bytes = 0, code_points = 0;  // of the text
  PassageNumber first_passage = 0;
  std::uint32_t passages = 0;
  std::uint32_t tokens = 0, overlap = 0;  // how it was cut: PassageOptions
  bool whole = false;
  TextForm form = TextForm::plain;
  std::vector<std::uint32_t> page_starts;  // of the second and later pages, in code points
};
std::string encode_document(const DocumentRecord& record);
bool decode_document(std::string_view bytes, DocumentRecord& record);

// The text in pieces of so many bytes; the last is shorter.
inline constexpr std::uint32_t segment_bytes = 16 << 10;
std::string segment_key(DocumentNumber document, std::uint32_t segment);

struct PassageRecord {
  DocumentNumber document = 0;
  ByteRange bytes;                   // of the document's text
  std::uint32_t begin = 0, end = 0;  // the same in code points
  std::uint32_t begin_utf16 = 0;     // and its begin in UTF-16 units
  std::uint32_t length = 0;          // in terms, pairs of characters not counted
  std::vector<ByteRange> unread;     // inside it, in bytes from its begin
};
std::string encode_passage(const PassageRecord& record);
bool decode_passage(std::string_view bytes, PassageRecord& record);

// Passages of one block are those with the same number / 256. A posting list's value: for each passage that
// holds the term, ascending, its number % 256 (one byte), how often (varint), and the passage's length
// (varint).
struct Posting {
  PassageNumber passage = 0;
  std::uint32_t count = 0, length = 0;
};
inline constexpr std::uint32_t passages_in_block = 256;
std::string term_prefix(std::string_view term);
std::string posting_key(std::string_view term, std::uint32_t block);
// The block of a key of this table that starts with the term's prefix.
bool read_posting_key(std::string_view key, std::size_t prefix_size, std::uint32_t& block);
void append_posting(std::string& value, const Posting& posting);
bool read_postings(std::string_view value, std::uint32_t block, std::vector<Posting>& out);  // appends

base::Error damaged_index(kb::Table table, std::string_view what);

}  // namespace askbase::reader
