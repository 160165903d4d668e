#include "reader/passage_records.h"

#include <limits>

#include "kb/encoding.h"

namespace askbase::reader {
namespace {

using kb::append_varint;

void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}

bool read_text(std::string_view& in, std::string& text) {
  std::uint64_t size = 0;
  if (!kb::read_varint(in, size) || size > in.size()) return false;
  text = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

bool read_u32(std::string_view& in, std::uint32_t& value) {
  std::uint64_t wide = 0;
  if (!kb::read_varint(in, wide) || wide > std::numeric_limits<std::uint32_t>::max()) return false;
  value = static_cast<std::uint32_t>(wide);
  return true;
}

void append_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xFFU);
}

}  // namespace

std::string number_key(std::uint32_t number) {
  std::string key;
  append_number(key, number);
  return key;
}

bool read_number_key(std::string_view key, std::uint32_t& number) {
  if (key.size() != 4) return false;
  number = 0;
  for (const char c : key) number = number << 8 | static_cast<unsigned char>(c);
  return true;
}

std::string document_id_key(std::string_view id) {
  std::string key = "\xFF";
  key += id;
  return key;
}

std::string encode_document(const DocumentRecord& record) {
  std::string out;
  for (const std::string* text :
       {&record.id, &record.title, &record.lang, &record.url, &record.date, &record.source, &record.hash})
    append_text(out, *text);
  append_varint(out, static_cast<std::uint64_t>(record.time));
  for (const std::uint32_t number :
       {record.bytes, record.code_points, record.first_passage, record.passages, record.tokens,
        record.overlap, static_cast<std::uint32_t>(record.whole), static_cast<std::uint32_t>(record.form)})
    append_varint(out, number);
  append_varint(out, record.page_starts.size());
  std::uint32_t before = 0;
  for (const std::uint32_t start : record.page_starts) {
    append_varint(out, start - before);
    before = start;
  }
  return out;
}

bool decode_document(std::string_view bytes, DocumentRecord& record) {
  for (std::string* text :
       {&record.id, &record.title, &record.lang, &record.url, &record.date, &record.source, &record.hash})
    if (!read_text(bytes, *text)) return false;
  std::uint64_t time = 0, pages = 0;
  if (!kb::read_varint(bytes, time)) return false;
  record.time = static_cast<std::int64_t>(time);
  std::uint32_t whole = 0, form = 0;
  for (std::uint32_t* number : {&record.bytes, &record.code_points, &record.first_passage, &record.passages,
                                &record.tokens, &record.overlap, &whole, &form})
    if (!read_u32(bytes, *number)) return false;
  record.whole = whole != 0;
  record.form = form == 0 ? TextForm::plain : TextForm::markdown;
  if (!kb::read_varint(bytes, pages) || pages > bytes.size()) return false;
  record.page_starts.resize(pages);
  std::uint32_t before = 0;
  for (std::uint32_t& start : record.page_starts) {
    if (!read_u32(bytes, start)) return false;
    before = start += before;
  }
  return bytes.empty();
}

std::string segment_key(DocumentNumber document, std::uint32_t segment) {
  std::string key = number_key(document);
  append_number(key, segment);
  return key;
}

std::string encode_passage(const PassageRecord& record) {
  std::string out;
  for (const std::uint32_t number :
       {record.document, record.bytes.begin, record.bytes.end - record.bytes.begin, record.begin,
        record.end - record.begin, record.begin_utf16 - record.begin, record.length})
    append_varint(out, number);
  append_varint(out, record.unread.size());
  std::uint32_t before = 0;
  for (const ByteRange& hole : record.unread) {
    append_varint(out, hole.begin - before);
    append_varint(out, hole.end - hole.begin);
    before = hole.end;
  }
  return out;
}

bool decode_passage(std::string_view bytes, PassageRecord& record) {
  std::uint32_t size = 0, points = 0, wide = 0;
  for (std::uint32_t* number :
       {&record.document, &record.bytes.begin, &size, &record.begin, &points, &wide, &record.length})
    if (!read_u32(bytes, *number)) return false;
  record.bytes.end = record.bytes.begin + size;
  record.end = record.begin + points;
  record.begin_utf16 = record.begin + wide;
  std::uint64_t holes = 0;
  if (!kb::read_varint(bytes, holes) || holes > bytes.size()) return false;
  record.unread.resize(holes);
  std::uint32_t before = 0;
  for (ByteRange& hole : record.unread) {
    if (!read_u32(bytes, hole.begin) || !read_u32(bytes, hole.end)) return false;
    hole.begin += before;
    before = hole.end += hole.begin;
    if (hole.begin > hole.end || hole.end > size) return false;
  }
  return bytes.empty();
}

std::string term_prefix(std::string_view term) {
  std::string key(term);
  key += '\0';
  return key;
}

std::string posting_key(std::string_view term, std::uint32_t block) {
  std::string key = term_prefix(term);
  append_number(key, block);
  return key;
}

bool read_posting_key(std::string_view key, std::size_t prefix_size, std::uint32_t& block) {
  return key.size() > prefix_size && read_number_key(key.substr(prefix_size), block);
}

void append_posting(std::string& value, const Posting& posting) {
  value += static_cast<char>(posting.passage % passages_in_block);
  append_varint(value, posting.count);
  append_varint(value, posting.length);
}

bool read_postings(std::string_view value, std::uint32_t block, std::vector<Posting>& out) {
  while (!value.empty()) {
    Posting posting;
    posting.passage = block * passages_in_block + static_cast<unsigned char>(value.front());
    value.remove_prefix(1);
    if (!read_u32(value, posting.count) || !read_u32(value, posting.length)) return false;
    out.push_back(posting);
  }
  return true;
}

base::Error damaged_index(kb::Table table, std::string_view what) {
  return {
      base::ErrorCode::corrupt,
      "the passage index is damaged: table " + std::string(kb::table_name(table)) + ": " + std::string(what),
      "delete the documents concerned and load them again, or bring back a backup with `askbase restore`"};
}

}  // namespace askbase::reader
