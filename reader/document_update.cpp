#include "reader/document_update.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <vector>

#include "base/interrupt.h"
#include "base/sha256.h"
#include "kb/records.h"
#include "kb/sorter.h"
#include "reader/passage_text.h"
#include "reader/posting_runs.h"

namespace askbase::reader {

struct DocumentUpdate::Prepared {
  struct Old {
    DocumentNumber number = 0;
    DocumentRecord record;
    IndexedText text;
  };
  DocumentRecord record;
  std::string text;
  IndexedText analysed;
  std::optional<Old> old;
  bool unchanged = false;
};

void DocumentUpdate::DeletePrepared::operator()(Prepared* prepared) const { delete prepared; }

namespace {

using Prepared = DocumentUpdate::Prepared;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TermReader& terms_of_this_thread() {
  thread_local TermReader reader;
  return reader;
}

std::string from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  return out;
}

// Texts that wait to be written, in order: beyond a size in a temporary file.
class Waiting {
 public:
  Waiting(std::size_t memory_bytes, std::function<base::Result<std::filesystem::path>()> folder)
      : limit_(memory_bytes), folder_(std::move(folder)) {}
  base::Status append(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() < limit_) return {};
    if (!file_) {
      ASKBASE_ASSIGN(const std::filesystem::path folder, folder_());
      ASKBASE_ASSIGN(kb::RunFile file, kb::RunFile::create(folder));
      file_.emplace(std::move(file));
    }
    ASKBASE_TRY(file_->append(buffer_.data(), buffer_.size()));
    in_file_ += buffer_.size();
    buffer_.clear();
    return {};
  }
  // The next bytes, which append() was given first.
  base::Status take(std::size_t size, std::string& out) {
    out.resize(size);
    const auto from_file =
        static_cast<std::size_t>(std::min<std::uint64_t>(size, in_file_ > taken_ ? in_file_ - taken_ : 0));
    if (from_file > 0) ASKBASE_TRY(file_->read(taken_, out.data(), from_file));
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(taken_ + from_file - in_file_),
                size - from_file, out.begin() + static_cast<std::ptrdiff_t>(from_file));
    taken_ += size;
    return {};
  }

 private:
  std::size_t limit_;
  std::function<base::Result<std::filesystem::path>()> folder_;
  std::string buffer_;
  std::optional<kb::RunFile> file_;
  std::uint64_t in_file_ = 0, taken_ = 0;
};

class DocumentUpdateImpl final : public DocumentUpdate {
 public:
  DocumentUpdateImpl(kb::Store& store, kb::ChangeLock lock, const DocumentUpdateOptions& options)
      : lock_(std::move(lock)),
        storage_(store.storage()),
        options_(options),
        before_(storage_.snapshot()),
        texts_(std::max<std::size_t>(options.memory_bytes / 8, 1 << 16), temporary_folder()),
        postings_(options.memory_bytes, temporary_folder()) {}

  base::Status open() {
    for (auto& [name, value] : counters_) {
      ASKBASE_ASSIGN(value, kb::read_counter(*before_, name));
    }
    std::uint64_t& version = counters_.at(counter::terms_version);
    if (counters_.at(counter::documents) > 0 && version != index_terms_version) {
      return base::fail(base::ErrorCode::unsupported,
                        "the documents of this knowledge base were indexed by another version of askbase",
                        "change them with the version that loaded them, or load them into a new one");
    }
    version = index_terms_version;
    first_new_passage_ = counters_.at(counter::next_passage);
    return {};
  }

  base::Result<PreparedDocument> prepare(Document document) const override;
  base::Result<Change> add(PreparedDocument document) override;
  base::Result<bool> remove(std::string_view id) override;
  base::Result<std::uint64_t> remove_others_of(std::string_view source) override;
  base::Result<DocumentSummary> commit() override;

 private:
  std::function<base::Result<std::filesystem::path>()> temporary_folder() {
    return [this] { return storage_.temporary_folder(); };
  }
  base::Result<std::optional<Prepared::Old>> find_old(std::string_view id) const;
  base::Result<Prepared::Old> read_old(DocumentNumber number, DocumentRecord record) const;
  base::Status take_out(const Prepared::Old& old);
  base::Status write_documents(kb::Write& write) const;
  base::Status write_texts(kb::Write& write);
  base::Status write_passages(kb::Write& write);
  base::Status write_postings(kb::Write& write);
  base::Status write_list(kb::Write& write, std::string_view term, const std::vector<Posting>& changes);
  base::Status write_counters(kb::Write& write);

  kb::ChangeLock lock_;
  kb::Storage& storage_;
  const DocumentUpdateOptions options_;
  std::shared_ptr<const kb::Snapshot> before_;
  std::map<std::string_view, std::uint64_t> counters_ = {
      {counter::documents, 0},     {counter::generation, 0}, {counter::next_document, 0},
      {counter::next_passage, 0},  {counter::passages, 0},   {counter::passage_terms, 0},
      {counter::terms_version, 0}, {kb::counter::version, 0}};
  std::uint64_t first_new_passage_ = 0;

  std::set<std::string, std::less<>> dealt_with_;                 // ids
  std::map<DocumentNumber, Prepared::Old> removed_;               // without their texts
  std::map<DocumentNumber, DocumentRecord> records_;              // new ones
  std::map<std::string, std::optional<DocumentNumber>> numbers_;  // of ids; nothing: gone
  std::vector<std::pair<PassageNumber, std::string>> passages_;   // new records
  Waiting texts_;
  PostingRuns postings_;
  DocumentSummary summary_;
  bool committed_ = false;
};

base::Result<Prepared::Old> DocumentUpdateImpl::read_old(DocumentNumber number, DocumentRecord record) const {
  Prepared::Old old;
  old.number = number;
  ASKBASE_ASSIGN(const std::string text, stored_text(*before_, number, {0, record.bytes}));
  // It was cut up in the way that its passages show.
  PassageOptions options = options_.passages;
  options.whole = record.whole;
  options.tokens = record.tokens;
  options.overlap = record.overlap;
  old.text = index_text(text, record.form, record.title, options, terms_of_this_thread());
  if (old.text.passages.size() != record.passages)
    return tl::unexpected(
        damaged_index(kb::Table::documents, "a document is not cut as it was: " + record.id));
  old.record = std::move(record);
  return old;
}

base::Result<std::optional<Prepared::Old>> DocumentUpdateImpl::find_old(std::string_view id) const {
  ASKBASE_ASSIGN(const auto number, find_document(*before_, id));
  if (!number) return std::nullopt;
  ASKBASE_ASSIGN(auto record, stored_document(*before_, *number));
  if (!record) return tl::unexpected(damaged_index(kb::Table::documents, "an id has no document"));
  return read_old(*number, std::move(*record));
}

base::Result<DocumentUpdate::PreparedDocument> DocumentUpdateImpl::prepare(Document document) const {
  ASKBASE_TRY(check_document(document));
  PreparedDocument prepared(new Prepared);
  DocumentRecord& record = prepared->record;
  base::Sha256 hash;
  for (const std::string* field : {&document.id, &document.title, &document.text, &document.lang,
                                   &document.url, &document.date, &document.source})
    hash.append_text(*field);
  const PassageOptions& options = options_.passages;
  for (const std::size_t number : {options.tokens, options.overlap, static_cast<std::size_t>(options.whole),
                                   static_cast<std::size_t>(document.form)})
    hash.append_text(std::to_string(number));
  record.hash = from_hex(hash.hex());
  ASKBASE_ASSIGN(const auto number, find_document(*before_, document.id));
  if (number) {
    ASKBASE_ASSIGN(auto stored, stored_document(*before_, *number));
    if (!stored) return tl::unexpected(damaged_index(kb::Table::documents, "an id has no document"));
    if (stored->hash == record.hash) {
      prepared->unchanged = true;
      record.id = std::move(document.id);
      return prepared;
    }
    ASKBASE_ASSIGN(prepared->old, read_old(*number, std::move(*stored)));
  }
  prepared->analysed =
      index_text(document.text, document.form, document.title, options, terms_of_this_thread());
  record.id = std::move(document.id);
  record.title = std::move(document.title);
  record.lang = std::move(document.lang);
  record.url = std::move(document.url);
  record.date = std::move(document.date);
  record.source = std::move(document.source);
  record.bytes = static_cast<std::uint32_t>(document.text.size());
  record.code_points = prepared->analysed.code_points;
  record.page_starts = std::move(prepared->analysed.page_starts);
  record.passages = static_cast<std::uint32_t>(prepared->analysed.passages.size());
  record.whole = options.whole;
  record.form = document.form;
  record.tokens = static_cast<std::uint32_t>(options.tokens);
  record.overlap = static_cast<std::uint32_t>(options.overlap);
  prepared->text = std::move(document.text);
  return prepared;
}

base::Status DocumentUpdateImpl::take_out(const Prepared::Old& old) {
  PassageNumber number = old.record.first_passage;
  for (const PassageTerms& passage : old.text.passages) {
    for (const auto& [term, count] : passage.counts)
      ASKBASE_TRY(postings_.add(old.text.terms[term], {number, 0, 0}));
    counters_.at(counter::passage_terms) -= passage.record.length;
    ++number;
  }
  counters_.at(counter::passages) -= old.record.passages;
  --counters_.at(counter::documents);
  Prepared::Old& kept = removed_[old.number];
  kept.number = old.number;
  kept.record = old.record;
  return {};
}

base::Result<DocumentUpdate::Change> DocumentUpdateImpl::add(PreparedDocument document) {
  Prepared& fresh = *document;
  if (!dealt_with_.insert(fresh.record.id).second) {
    return base::fail(base::ErrorCode::bad_input, "the document \"" + fresh.record.id + "\" comes twice",
                      "give each document an id of its own");
  }
  if (fresh.unchanged) {
    ++summary_.unchanged;
    return Change::unchanged;
  }
  std::uint64_t& next_document = counters_.at(counter::next_document);
  std::uint64_t& next_passage = counters_.at(counter::next_passage);
  if (next_document > most_documents || next_passage + fresh.record.passages > UINT32_MAX)
    return base::fail(base::ErrorCode::too_large, "too many documents have gone through this knowledge base",
                      "load them into a new one");
  if (fresh.old) ASKBASE_TRY(take_out(*fresh.old));
  const auto number = static_cast<DocumentNumber>(next_document++);
  DocumentRecord& record = fresh.record;
  record.time = now();
  record.first_passage = static_cast<PassageNumber>(next_passage);
  for (PassageTerms& passage : fresh.analysed.passages) {
    const auto passage_number = static_cast<PassageNumber>(next_passage++);
    for (const auto& [term, count] : passage.counts)
      ASKBASE_TRY(postings_.add(fresh.analysed.terms[term], {passage_number, count, passage.record.length}));
    counters_.at(counter::passage_terms) += passage.record.length;
    passage.record.document = number;
    passages_.emplace_back(passage_number, encode_passage(passage.record));
  }
  counters_.at(counter::passages) += record.passages;
  ++counters_.at(counter::documents);
  ASKBASE_TRY(texts_.append(fresh.text));
  numbers_[record.id] = number;
  records_[number] = std::move(record);
  ++(fresh.old ? summary_.replaced : summary_.added);
  return fresh.old ? Change::replaced : Change::added;
}

base::Result<bool> DocumentUpdateImpl::remove(std::string_view id) {
  if (dealt_with_.contains(id)) return false;
  ASKBASE_ASSIGN(const auto old, find_old(id));
  if (!old) return false;
  dealt_with_.emplace(id);
  ASKBASE_TRY(take_out(*old));
  numbers_[std::string(id)] = std::nullopt;
  ++summary_.removed;
  return true;
}

base::Result<std::uint64_t> DocumentUpdateImpl::remove_others_of(std::string_view source) {
  std::vector<std::string> ids;
  const auto cursor = before_->cursor(kb::Table::documents, {});
  for (cursor->seek({}); cursor->valid() && !cursor->key().starts_with('\xFF'); cursor->next()) {
    DocumentRecord record;
    if (!decode_document(cursor->value(), record))
      return tl::unexpected(damaged_index(kb::Table::documents, "a record cannot be read"));
    if (record.source == source && !dealt_with_.contains(record.id)) ids.push_back(std::move(record.id));
  }
  ASKBASE_TRY(cursor->status());
  for (const std::string& id : ids) {
    ASKBASE_TRY(base::check_interrupt());
    ASKBASE_TRY(remove(id));
  }
  return ids.size();
}

base::Status DocumentUpdateImpl::write_documents(kb::Write& write) const {
  for (const auto& [number, old] : removed_)
    ASKBASE_TRY(write.erase(kb::Table::documents, number_key(number)));
  for (const auto& [number, record] : records_)
    ASKBASE_TRY(write.put(kb::Table::documents, number_key(number), encode_document(record)));
  for (const auto& [id, number] : numbers_)
    ASKBASE_TRY(number ? write.put(kb::Table::documents, document_id_key(id), number_key(*number))
                       : write.erase(kb::Table::documents, document_id_key(id)));
  return {};
}

base::Status DocumentUpdateImpl::write_texts(kb::Write& write) {
  const auto segments = [](std::uint32_t bytes) { return (bytes + segment_bytes - 1) / segment_bytes; };
  for (const auto& [number, old] : removed_)
    for (std::uint32_t i = 0; i < segments(old.record.bytes); ++i)
      ASKBASE_TRY(write.erase(kb::Table::document_text, segment_key(number, i)));
  std::string piece;
  for (const auto& [number, record] : records_)
    for (std::uint32_t i = 0; i < segments(record.bytes); ++i) {
      ASKBASE_TRY(texts_.take(std::min(segment_bytes, record.bytes - i * segment_bytes), piece));
      ASKBASE_TRY(write.put(kb::Table::document_text, segment_key(number, i), piece));
    }
  return {};
}

base::Status DocumentUpdateImpl::write_passages(kb::Write& write) {
  std::set<PassageNumber> gone;
  for (const auto& [number, old] : removed_)
    for (std::uint32_t i = 0; i < old.record.passages; ++i) gone.insert(old.record.first_passage + i);
  for (const PassageNumber number : gone) {
    ASKBASE_TRY(write.erase(kb::Table::passages, number_key(number)));
    ASKBASE_TRY(write.erase(kb::Table::vectors, number_key(number)));
  }
  for (const auto& [number, record] : passages_)
    ASKBASE_TRY(write.put(kb::Table::passages, number_key(number), record));
  return {};
}

// `changes`: of one term, by passage.
base::Status DocumentUpdateImpl::write_list(kb::Write& write, std::string_view term,
                                            const std::vector<Posting>& changes) {
  std::vector<Posting> stored, merged;
  std::string value;
  for (std::size_t begin = 0; begin < changes.size();) {
    const std::uint32_t block = changes[begin].passage / passages_in_block;
    std::size_t end = begin;
    while (end < changes.size() && changes[end].passage / passages_in_block == block) ++end;
    const std::string key = posting_key(term, block);
    stored.clear();
    if (static_cast<std::uint64_t>(block) * passages_in_block < first_new_passage_) {
      ASKBASE_ASSIGN(const bool found, before_->get(kb::Table::postings, key, value));
      if (found && !read_postings(value, block, stored))
        return tl::unexpected(damaged_index(kb::Table::postings, "a list cannot be read"));
    }
    merged.clear();
    auto old = stored.begin();
    for (; begin < end; ++begin) {
      const Posting& change = changes[begin];
      while (old != stored.end() && old->passage < change.passage) merged.push_back(*old++);
      if (old != stored.end() && old->passage == change.passage) ++old;
      if (change.count > 0) merged.push_back(change);
    }
    merged.insert(merged.end(), old, stored.end());
    value.clear();
    for (const Posting& posting : merged) append_posting(value, posting);
    if (!merged.empty())
      ASKBASE_TRY(write.put(kb::Table::postings, key, value));
    else if (!stored.empty())
      ASKBASE_TRY(write.erase(kb::Table::postings, key));
  }
  return {};
}

base::Status DocumentUpdateImpl::write_postings(kb::Write& write) {
  std::size_t terms = 0;
  return postings_.each([&](std::string_view term, const std::vector<Posting>& changes) -> base::Status {
    if (++terms % 1024 == 0) ASKBASE_TRY(base::check_interrupt());
    return write_list(write, term, changes);
  });
}

base::Status DocumentUpdateImpl::write_counters(kb::Write& write) {
  ++counters_.at(counter::generation);
  ++counters_.at(kb::counter::version);
  for (const auto& [name, value] : counters_)
    ASKBASE_TRY(write.put(kb::Table::meta, name, kb::encode_counter(value)));
  return {};
}

base::Result<DocumentSummary> DocumentUpdateImpl::commit() {
  if (std::exchange(committed_, true))
    return base::fail(base::ErrorCode::internal, "an update of documents was committed twice");
  summary_.documents = counters_.at(counter::documents);
  summary_.passages = counters_.at(counter::passages);
  if (removed_.empty() && records_.empty()) return summary_;
  ASKBASE_TRY(storage_.add_tables());
  ASKBASE_ASSIGN(const auto write, storage_.begin_write());
  ASKBASE_TRY(write_documents(*write));
  ASKBASE_TRY(write_texts(*write));
  ASKBASE_TRY(write_passages(*write));
  ASKBASE_TRY(write_postings(*write));
  ASKBASE_TRY(write_counters(*write));
  ASKBASE_TRY(base::check_interrupt());
  ASKBASE_TRY(write->commit());
  return summary_;
}

}  // namespace

base::Result<std::unique_ptr<DocumentUpdate>> DocumentUpdate::begin(kb::Store& store,
                                                                    const DocumentUpdateOptions& options) {
  if (store.storage().read_only())
    return base::fail(base::ErrorCode::internal,
                      "the knowledge base was opened for reading: " + store.storage().folder().string());
  ASKBASE_ASSIGN(kb::ChangeLock lock, store.lock_changes());
  auto update = std::make_unique<DocumentUpdateImpl>(store, std::move(lock), options);
  ASKBASE_TRY(update->open());
  return update;
}

}  // namespace askbase::reader
