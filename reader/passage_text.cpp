#include "reader/passage_text.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace askbase::reader {
namespace {

// Numbers for the distinct terms of a document.
class TermNumbers {
 public:
  explicit TermNumbers(std::vector<std::string>& terms) : terms_(terms) {}
  std::uint32_t of(std::string_view term) {
    key_ = term;
    const auto [known, fresh] = numbers_.try_emplace(key_, static_cast<std::uint32_t>(terms_.size()));
    if (fresh) terms_.emplace_back(term);
    return known->second;
  }

 private:
  std::vector<std::string>& terms_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::string key_;
};

// Moves forward through a text, knowing its place in code points and UTF-16 units.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}
  void to(std::size_t byte) {
    for (; byte_ < byte; ++byte_) {
      const auto c = static_cast<unsigned char>(text_[byte_]);
      if ((c & 0xC0U) == 0x80U) continue;
      ++points_;
      utf16_ += c >= 0xF0 ? 2 : 1;
    }
  }
  std::uint32_t points() const { return points_; }
  std::uint32_t utf16() const { return utf16_; }

 private:
  std::string_view text_;
  std::size_t byte_ = 0;
  std::uint32_t points_ = 0, utf16_ = 0;
};

// From places in the text without its holes to places in the text; asked for ascending places.
class Places {
 public:
  explicit Places(const std::vector<ByteRange>& holes) : holes_(holes) {}
  std::uint32_t of(std::uint32_t byte) {
    while (next_ < holes_.size() && holes_[next_].begin - left_out_ <= byte)
      left_out_ += holes_[next_].end - holes_[next_].begin, ++next_;
    return byte + left_out_;
  }

 private:
  const std::vector<ByteRange>& holes_;
  std::size_t next_ = 0;
  std::uint32_t left_out_ = 0;
};

struct Occurrence {
  std::uint32_t begin = 0, term = 0;
  bool pair = false;
};

// Counts of the sorted numbers.
std::vector<std::pair<std::uint32_t, std::uint32_t>> counted(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts;
  for (const std::uint32_t number : numbers) {
    if (!counts.empty() && counts.back().first == number)
      ++counts.back().second;
    else
      counts.emplace_back(number, 1);
  }
  return counts;
}

}  // namespace

base::Result<std::string> stored_text(const kb::Snapshot& snapshot, DocumentNumber document,
                                      ByteRange range) {
  std::string out, segment;
  out.reserve(range.end - range.begin);
  for (std::uint32_t at = range.begin; at < range.end;) {
    const std::uint32_t number = at / segment_bytes, start = at % segment_bytes;
    ASKBASE_ASSIGN(const bool found,
                   snapshot.get(kb::Table::document_text, segment_key(document, number), segment));
    const std::uint32_t wanted = std::min(range.end - at, segment_bytes - start);
    if (!found || segment.size() < start + wanted)
      return tl::unexpected(damaged_index(kb::Table::document_text, "a piece of a text is missing"));
    out.append(segment, start, wanted);
    at += wanted;
  }
  return out;
}

base::Result<std::optional<DocumentNumber>> find_document(const kb::Snapshot& snapshot, std::string_view id) {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot.get(kb::Table::documents, document_id_key(id), value));
  if (!found) return std::nullopt;
  DocumentNumber number = 0;
  if (!read_number_key(value, number))
    return tl::unexpected(damaged_index(kb::Table::documents, "an id cannot be read"));
  return number;
}

base::Result<std::optional<DocumentRecord>> stored_document(const kb::Snapshot& snapshot,
                                                            DocumentNumber number) {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot.get(kb::Table::documents, number_key(number), value));
  if (!found) return std::nullopt;
  DocumentRecord record;
  if (!decode_document(value, record))
    return tl::unexpected(damaged_index(kb::Table::documents, "a record cannot be read"));
  return record;
}

IndexedText index_text(std::string_view text, TextForm form, std::string_view title,
                       const PassageOptions& options, TermReader& terms) {
  IndexedText out;
  const std::vector<ByteRange> unread = unread_ranges(text, form);
  const std::string read = unread.empty() ? std::string() : read_text(text, unread);
  const std::string_view clean = unread.empty() ? text : std::string_view(read);
  const std::vector<ByteRange> cuts = split_passages(clean, options);

  TermNumbers numbers(out.terms);
  std::vector<std::uint32_t> in_title;
  terms.read(title, [&](const IndexTerm& one) { in_title.push_back(numbers.of(one.term)); });
  std::sort(in_title.begin(), in_title.end());
  in_title.erase(std::unique(in_title.begin(), in_title.end()), in_title.end());
  std::vector<Occurrence> words;
  terms.read(clean, [&](const IndexTerm& one) {
    words.push_back({one.begin, numbers.of(one.term), one.pair});
  });

  Places begins(unread), last_bytes(unread);
  Walk at_begin(text), at_end(text);
  std::size_t first = 0;
  std::vector<std::uint32_t> held;
  for (const ByteRange& cut : cuts) {
    PassageTerms& passage = out.passages.emplace_back();
    PassageRecord& record = passage.record;
    record.bytes = {begins.of(cut.begin), last_bytes.of(cut.end - 1) + 1};
    at_begin.to(record.bytes.begin);
    at_end.to(record.bytes.end);
    record.begin = at_begin.points();
    record.begin_utf16 = at_begin.utf16();
    record.end = at_end.points();
    auto hole =
        std::lower_bound(unread.begin(), unread.end(), record.bytes.begin,
                         [](const ByteRange& range, std::uint32_t byte) { return range.end <= byte; });
    for (; hole != unread.end() && hole->begin < record.bytes.end; ++hole)
      record.unread.push_back({hole->begin - record.bytes.begin, hole->end - record.bytes.begin});

    while (first < words.size() && words[first].begin < cut.begin) ++first;
    held = in_title;
    for (std::size_t i = first; i < words.size() && words[i].begin < cut.end; ++i) {
      held.push_back(words[i].term);
      if (!words[i].pair) ++record.length;
    }
    passage.counts = counted(held);
  }
  Walk walk(text);
  for (std::size_t at = text.find('\f'); at != std::string_view::npos; at = text.find('\f', at + 1)) {
    walk.to(at + 1);
    out.page_starts.push_back(walk.points());
  }
  walk.to(text.size());
  out.code_points = walk.points();
  return out;
}

}  // namespace askbase::reader
