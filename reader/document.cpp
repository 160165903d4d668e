#include "reader/document.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "reader/markup.h"

namespace askbase::reader {
namespace {

constexpr std::size_t edge_lines = 2;         // of a page's top and bottom are looked at
constexpr std::size_t repeated_on_pages = 3;  // a line at so many pages' edges is no part of the text
constexpr std::size_t longest_edge = 120;     // bytes; nobody prints longer heads

base::Status check_text(std::string_view what, std::string_view text) {
  if (const auto bad = base::first_invalid_utf8(text)) {
    return base::fail(base::ErrorCode::bad_input,
                      "the " + std::string(what) + " is not UTF-8 (byte " + std::to_string(*bad) + ")");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return base::fail(
        base::ErrorCode::bad_input,
        "the " + std::string(what) + " holds a NUL character (byte " + std::to_string(nul) + ")");
  }
  return {};
}

struct Line {
  ByteRange place;  // without its end
  std::size_t page = 0;
};

// Two lines are the same head when they differ in numbers and spacing only.
std::string head_key(std::string_view line) {
  std::string key;
  bool number = false;
  for (const char c : line) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !number) key += '#';
    number = digit;
    if (!digit && c != ' ' && c != '\t' && c != '\r') key += c;
  }
  return key;
}

// The first and last lines of each page that are not blank.
std::vector<Line> edges_of_pages(std::string_view text, std::size_t& pages) {
  std::vector<Line> edges;
  pages = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++pages) {
    const std::size_t end = std::min(text.find('\f', begin), text.size());
    std::vector<Line> lines;
    for (std::size_t at = begin; at < end;) {
      const std::size_t stop = std::min(text.find('\n', at), end);
      if (!base::trim(text.substr(at, stop - at)).empty())
        lines.push_back({{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(stop)}, pages});
      at = stop + 1;
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (i < edge_lines || i + edge_lines >= lines.size()) edges.push_back(lines[i]);
    begin = end + 1;
  }
  return edges;
}

void add_heads(std::string_view text, std::vector<ByteRange>& unread) {
  if (text.find('\f') == std::string_view::npos) return;
  std::size_t pages = 0;
  const std::vector<Line> edges = edges_of_pages(text, pages);
  std::map<std::string, std::set<std::size_t>> seen;  // the pages where a line stands
  const auto key_of = [&](const Line& line) {
    return head_key(text.substr(line.place.begin, line.place.end - line.place.begin));
  };
  for (const Line& line : edges)
    if (line.place.end - line.place.begin <= longest_edge) seen[key_of(line)].insert(line.page);
  const std::size_t enough = std::min(repeated_on_pages, std::max<std::size_t>(2, pages));
  for (const Line& line : edges) {
    const auto known = seen.find(key_of(line));
    if (known == seen.end() || known->second.size() < enough) continue;
    ByteRange range = line.place;
    if (range.end < text.size() && text[range.end] == '\n') ++range.end;
    unread.push_back(range);
  }
  for (std::size_t at = text.find('\f'); at != std::string_view::npos; at = text.find('\f', at + 1))
    unread.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + 1)});
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; }
bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c & 0x80) != 0; }

// A word divided over a line end: the hyphen's place, and where the word goes on.
struct Division {
  std::size_t word = 0, hyphen = 0, hyphen_end = 0, rest = 0, rest_end = 0;
};

std::vector<Division> divisions(std::string_view text, const std::vector<ByteRange>& unread) {
  constexpr std::string_view hyphen = "\u2010";
  std::vector<Division> found;
  auto hole = unread.begin();
  for (std::size_t newline = text.find('\n'); newline != std::string_view::npos;
       newline = text.find('\n', newline + 1)) {
    Division one;
    one.hyphen_end = newline;
    if (one.hyphen_end > 0 && text[one.hyphen_end - 1] == '\r') --one.hyphen_end;
    const std::string_view before = text.substr(0, one.hyphen_end);
    const std::size_t mark = before.ends_with('-') ? 1 : before.ends_with(hyphen) ? hyphen.size() : 0;
    if (mark == 0) continue;
    one.word = one.hyphen = one.hyphen_end - mark;
    while (one.word > 0 && is_letter(text[one.word - 1])) --one.word;
    if (one.word == one.hyphen || !is_lower(text[one.hyphen - 1])) continue;
    one.rest = newline + 1;
    while (hole != unread.end() && hole->end <= one.rest) ++hole;
    if (hole != unread.end() && hole->begin <= one.rest) one.rest = hole->end;  // to the next page
    while (one.rest < text.size() && (text[one.rest] == ' ' || text[one.rest] == '\t')) ++one.rest;
    one.rest_end = one.rest;
    while (one.rest_end < text.size() && is_letter(text[one.rest_end])) ++one.rest_end;
    if (one.rest_end == one.rest || !is_lower(text[one.rest])) continue;
    found.push_back(one);
  }
  return found;
}

// Words that are written with a hyphen inside a line.
std::set<std::string, std::less<>> hyphenated_words(std::string_view text) {
  std::set<std::string, std::less<>> words;
  for (std::size_t at = text.find('-'); at != std::string_view::npos; at = text.find('-', at + 1)) {
    std::size_t begin = at, end = at + 1;
    while (begin > 0 && is_letter(text[begin - 1])) --begin;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (begin < at && end > at + 1) words.emplace(text.substr(begin, end - begin));
  }
  return words;
}

void normalise(std::vector<ByteRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  }
  ranges = std::move(merged);
}

void add_divisions(std::string_view text, std::vector<ByteRange>& unread) {
  const std::vector<Division> found = divisions(text, unread);
  if (found.empty()) return;
  const auto hyphenated = hyphenated_words(text);
  for (const Division& one : found) {
    std::string word(text.substr(one.word, one.hyphen - one.word));
    word += '-';
    word += text.substr(one.rest, one.rest_end - one.rest);
    unread.push_back({static_cast<std::uint32_t>(hyphenated.contains(word) ? one.hyphen_end : one.hyphen),
                      static_cast<std::uint32_t>(one.rest)});
  }
}

// The blank lines around a head belong to it: what stands before and after it is one text.
void take_blank_lines(std::string_view text, std::vector<ByteRange>& unread) {
  for (ByteRange& range : unread) {
    while (range.begin > 0) {
      const std::size_t before =
          range.begin == 1 ? std::string_view::npos : text.rfind('\n', range.begin - 2);
      const std::size_t line = before == std::string_view::npos ? 0 : before + 1;
      if (text[range.begin - 1] != '\n' || !base::trim(text.substr(line, range.begin - line)).empty()) break;
      range.begin = static_cast<std::uint32_t>(line);
    }
    while (range.end < text.size()) {
      const std::size_t newline = text.find('\n', range.end);
      if (newline == std::string_view::npos ||
          !base::trim(text.substr(range.end, newline - range.end)).empty())
        break;
      range.end = static_cast<std::uint32_t>(newline + 1);
    }
  }
}

}  // namespace

base::Status check_document(const Document& document) {
  if (document.id.empty())
    return base::fail(base::ErrorCode::bad_input, "a document has no id", "give it an \"id\" of its own");
  if (document.id.size() > longest_document_id) {
    return base::fail(base::ErrorCode::bad_input, "the id of a document is longer than " +
                                                      std::to_string(longest_document_id) + " bytes");
  }
  ASKBASE_TRY(check_text("document's id", document.id));
  const bool controls = std::any_of(document.id.begin(), document.id.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (controls)
    return base::fail(base::ErrorCode::bad_input, "the id of a document holds a control character");
  if (document.text.size() > largest_document) {
    return base::fail(base::ErrorCode::too_large,
                      "the document " + document.id + " has more than " +
                          std::to_string(largest_document >> 20) + " MiB of text",
                      "split it into several documents");
  }
  ASKBASE_TRY(check_text("text of " + document.id, document.text));
  for (const auto& [what, value] : {std::pair<const char*, const std::string*>{"title", &document.title},
                                    {"language", &document.lang},
                                    {"URL", &document.url},
                                    {"date", &document.date},
                                    {"source", &document.source}}) {
    ASKBASE_TRY(check_text(std::string(what) + " of " + document.id, *value));
  }
  return {};
}

std::vector<ByteRange> unread_ranges(std::string_view text, TextForm form) {
  std::vector<ByteRange> unread;
  add_heads(text, unread);
  normalise(unread);
  take_blank_lines(text, unread);
  if (form == TextForm::markdown) {
    const std::vector<ByteRange> marks = markdown_marks(text);
    unread.insert(unread.end(), marks.begin(), marks.end());
  }
  normalise(unread);
  add_divisions(text, unread);
  normalise(unread);
  return unread;
}

std::string read_text(std::string_view text, const std::vector<ByteRange>& unread) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (const ByteRange& hole : unread) {
    out += text.substr(at, hole.begin - at);
    at = hole.end;
  }
  out += text.substr(at);
  return out;
}

std::uint32_t page_of(const std::vector<std::uint32_t>& page_starts, std::uint32_t place) {
  const auto later = std::upper_bound(page_starts.begin(), page_starts.end(), place);
  return static_cast<std::uint32_t>(later - page_starts.begin()) + 1;
}

}  // namespace askbase::reader
