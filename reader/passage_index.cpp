#include "reader/passage_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "kb/records.h"
#include "reader/passage_text.h"

namespace askbase::reader {
namespace {

DocumentInfo info_of(DocumentNumber number, DocumentRecord record) {
  DocumentInfo info;
  info.number = number;
  info.id = std::move(record.id);
  info.title = std::move(record.title);
  info.lang = std::move(record.lang);
  info.url = std::move(record.url);
  info.date = std::move(record.date);
  info.source = std::move(record.source);
  info.time = record.time;
  info.code_points = record.code_points;
  info.first_passage = record.first_passage;
  info.passages = record.passages;
  info.pages = static_cast<std::uint32_t>(record.page_starts.size()) + 1;
  return info;
}

// Byte offset of the code point; the size of the text when there are fewer.
std::size_t byte_of(std::string_view text, std::size_t code_point) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) continue;
    if (code_point-- == 0) break;
  }
  return at;
}

// Of each passage what it has scored so far, by blocks, so that the passages of a block lie together.
class Scores {
 public:
  using Block = std::array<float, passages_in_block>;
  Block& block(std::uint32_t number) {
    std::unique_ptr<Block>& block = blocks_[number];
    if (!block) block = std::make_unique<Block>(Block{});
    return *block;
  }
  std::vector<PassageHit> best(std::size_t most) const {
    std::vector<PassageHit> hits;
    for (const auto& [number, block] : blocks_)
      for (std::uint32_t i = 0; i < passages_in_block; ++i)
        if ((*block)[i] > 0) hits.push_back({number * passages_in_block + i, (*block)[i]});
    const std::size_t kept = std::min(most, hits.size());
    std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(kept), hits.end(),
                      [](const PassageHit& a, const PassageHit& b) {
                        return a.score != b.score ? a.score > b.score : a.passage < b.passage;
                      });
    hits.resize(kept);
    return hits;
  }

 private:
  std::unordered_map<std::uint32_t, std::unique_ptr<Block>> blocks_;
};

}  // namespace

SpanPlace Passage::place(std::size_t begin, std::size_t end) const {
  const std::size_t from = byte_of(text, begin), to = std::max(from, byte_of(text, end));
  // A place at a hole is before it as an end, and behind it as a begin.
  const auto in_original = [&](std::size_t byte, bool is_end) {
    for (const ByteRange& hole : unread) {
      if (is_end ? hole.begin >= byte : hole.begin > byte) break;
      byte += hole.end - hole.begin;
    }
    return std::min(byte, original.size());
  };
  const std::size_t first = in_original(from, false);
  const std::size_t last = std::max(first, from == to ? first : in_original(to, true));
  const std::string_view before = std::string_view(original).substr(0, first);
  const std::string_view span = std::string_view(original).substr(first, last - first);
  SpanPlace place;
  place.begin = whole.begin + static_cast<std::uint32_t>(base::count_code_points(before));
  place.end = place.begin + static_cast<std::uint32_t>(base::count_code_points(span));
  place.begin_utf16 = whole.begin_utf16 + static_cast<std::uint32_t>(base::count_utf16(before));
  place.end_utf16 = place.begin_utf16 + static_cast<std::uint32_t>(base::count_utf16(span));
  place.page = page_of(page_starts, place.begin);
  return place;
}

base::Result<PassageIndex> PassageIndex::open(std::shared_ptr<const kb::Snapshot> snapshot) {
  PassageIndex index;
  ASKBASE_ASSIGN(index.documents_, kb::read_counter(*snapshot, counter::documents));
  ASKBASE_ASSIGN(index.passages_, kb::read_counter(*snapshot, counter::passages));
  ASKBASE_ASSIGN(index.terms_, kb::read_counter(*snapshot, counter::passage_terms));
  ASKBASE_ASSIGN(index.generation_, kb::read_counter(*snapshot, counter::generation));
  ASKBASE_ASSIGN(const std::uint64_t version, kb::read_counter(*snapshot, counter::terms_version));
  if (index.documents_ > 0 && version != index_terms_version) {
    return base::fail(base::ErrorCode::unsupported,
                      "the documents of this knowledge base were indexed by another version of askbase",
                      "load them again");
  }
  index.snapshot_ = std::move(snapshot);
  return index;
}

base::Result<std::vector<PassageHit>> PassageIndex::search(std::string_view query, std::size_t most,
                                                           const Bm25& bm25) const {
  constexpr std::size_t most_terms = 1000;
  std::map<std::string, std::uint32_t, std::less<>> wanted;
  TermReader().read(query, [&](const IndexTerm& one) {
    const auto known = wanted.find(one.term);
    if (known != wanted.end())
      ++known->second;
    else if (wanted.size() < most_terms)
      wanted.emplace(one.term, 1);
  });
  Scores scores;
  if (passages_ == 0) return std::vector<PassageHit>();
  const double all = static_cast<double>(passages_);
  const double average = std::max(1.0, static_cast<double>(terms_) / all);
  std::vector<Posting> postings;
  for (const auto& [term, times] : wanted) {
    postings.clear();
    const std::string prefix = term_prefix(term);
    const auto cursor = snapshot_->cursor(kb::Table::postings, prefix);
    for (cursor->seek(prefix); cursor->valid(); cursor->next()) {
      std::uint32_t block = 0;
      if (!read_posting_key(cursor->key(), prefix.size(), block) ||
          !read_postings(cursor->value(), block, postings))
        return tl::unexpected(damaged_index(kb::Table::postings, "a list cannot be read"));
    }
    ASKBASE_TRY(cursor->status());
    const double holding = static_cast<double>(postings.size());
    const double weight =
        times * std::log(1 + std::max(0.0, all - holding + 0.5) / (holding + 0.5)) * (bm25.k1 + 1);
    std::uint32_t block_number = 0;
    Scores::Block* block = nullptr;
    for (const Posting& posting : postings) {
      if (block == nullptr || posting.passage / passages_in_block != block_number) {
        block_number = posting.passage / passages_in_block;
        block = &scores.block(block_number);
      }
      const double count = posting.count;
      const double norm = bm25.k1 * (1 - bm25.b + bm25.b * posting.length / average);
      (*block)[posting.passage % passages_in_block] += static_cast<float>(weight * count / (count + norm));
    }
  }
  return scores.best(most);
}

base::Result<Passage> PassageIndex::passage(std::uint32_t number) const {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot_->get(kb::Table::passages, number_key(number), value));
  if (!found) {
    return base::fail(base::ErrorCode::not_found, "there is no passage " + std::to_string(number));
  }
  PassageRecord record;
  if (!decode_passage(value, record))
    return tl::unexpected(damaged_index(kb::Table::passages, "a record cannot be read"));
  ASKBASE_ASSIGN(auto document, stored_document(*snapshot_, record.document));
  if (!document) return tl::unexpected(damaged_index(kb::Table::passages, "a passage's document is missing"));
  Passage passage;
  passage.number = number;
  passage.document = std::move(document->id);
  passage.title = std::move(document->title);
  passage.lang = std::move(document->lang);
  passage.url = std::move(document->url);
  passage.date = std::move(document->date);
  passage.source = std::move(document->source);
  ASKBASE_ASSIGN(passage.original, stored_text(*snapshot_, record.document, record.bytes));
  passage.unread = std::move(record.unread);
  passage.text = read_text(passage.original, passage.unread);
  passage.paged = !document->page_starts.empty();
  passage.page_starts = std::move(document->page_starts);
  passage.whole.begin = record.begin;
  passage.whole.end = record.end;
  passage.whole.begin_utf16 = record.begin_utf16;
  passage.whole.end_utf16 =
      record.begin_utf16 + static_cast<std::uint32_t>(base::count_utf16(passage.original));
  passage.whole.page = page_of(passage.page_starts, record.begin);
  return passage;
}

base::Result<bool> PassageIndex::has_passage(std::uint32_t number) const {
  std::string value;
  return snapshot_->get(kb::Table::passages, number_key(number), value);
}

base::Result<std::optional<DocumentInfo>> PassageIndex::document(std::string_view id) const {
  ASKBASE_ASSIGN(const auto number, find_document(*snapshot_, id));
  if (!number) return std::nullopt;
  ASKBASE_ASSIGN(auto record, stored_document(*snapshot_, *number));
  if (!record) return tl::unexpected(damaged_index(kb::Table::documents, "an id has no document"));
  return info_of(*number, std::move(*record));
}

base::Status PassageIndex::each_document(const std::function<bool(const DocumentInfo&)>& visit) const {
  const auto cursor = snapshot_->cursor(kb::Table::documents, {});
  DocumentNumber number = 0;
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (cursor->key().starts_with('\xFF')) break;
    DocumentRecord record;
    if (!read_number_key(cursor->key(), number) || !decode_document(cursor->value(), record))
      return tl::unexpected(damaged_index(kb::Table::documents, "a record cannot be read"));
    if (!visit(info_of(number, std::move(record)))) return {};
  }
  return cursor->status();
}

base::Status PassageIndex::each_passage(std::uint32_t first,
                                        const std::function<bool(std::uint32_t)>& visit) const {
  const auto cursor = snapshot_->cursor(kb::Table::passages, {});
  std::uint32_t number = 0;
  for (cursor->seek(number_key(first)); cursor->valid(); cursor->next()) {
    if (!read_number_key(cursor->key(), number))
      return tl::unexpected(damaged_index(kb::Table::passages, "a key cannot be read"));
    if (!visit(number)) return {};
  }
  return cursor->status();
}

base::Result<std::string> PassageIndex::document_text(std::string_view id) const {
  ASKBASE_ASSIGN(const auto number, find_document(*snapshot_, id));
  if (!number)
    return base::fail(base::ErrorCode::not_found, "there is no document \"" + std::string(id) + "\"");
  ASKBASE_ASSIGN(const auto record, stored_document(*snapshot_, *number));
  if (!record) return tl::unexpected(damaged_index(kb::Table::documents, "an id has no document"));
  return stored_text(*snapshot_, *number, {0, record->bytes});
}

}  // namespace askbase::reader
