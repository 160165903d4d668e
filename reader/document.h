// A document as it is loaded: its text, and what of the text is not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::reader {

enum class TextForm : std::uint8_t { plain, markdown };

struct Document {
  std::string id;     // unique in the KB
  std::string title;  // empty: none
  std::string text;   // UTF-8 without NUL; evidence offsets refer to it
  std::string lang;   // BCP-47 tag; empty: told from the text
  std::string url;    // may be empty
  std::string date;   // as given, may be empty
  TextForm form = TextForm::plain;
  std::string source;  // the load that brought it: a file's name, what --source said, or "api"
};

inline constexpr std::size_t longest_document_id = 1024;   // bytes
inline constexpr std::size_t largest_document = 64 << 20;  // bytes of text

// Errors: bad_input for an id that is empty, too long, or has control characters; text, title or another
// field that is not UTF-8 or holds a NUL; too_large.
base::Status check_document(const Document& document);

// Bytes of a text, half-open.
struct ByteRange {
  std::uint32_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

// What a reader of the text skips, ascending and disjoint:
//   - of Markdown, the marks (reader/markup.h);
//   - in text of several pages (form feeds): the form feeds, and heads and feet, that is lines at the top or
//     bottom of pages which come again on other pages, numbers left aside ("Page 3 of 20");
//   - the hyphen and line end inside a word that was divided ("infor-\nmation"); where the document writes
//   the
//     word with its hyphen elsewhere ("well-known"), only the line end.
std::vector<ByteRange> unread_ranges(std::string_view text, TextForm form = TextForm::plain);

// The text without the ranges.
std::string read_text(std::string_view text, const std::vector<ByteRange>& unread);

// A page number, from 1, of a place in a text with the given starts of pages (of the second page and later).
std::uint32_t page_of(const std::vector<std::uint32_t>& page_starts, std::uint32_t place);

}  // namespace askbase::reader
