#include <map>
#include <set>

#include "base/interrupt.h"
#include "kb/check.h"
#include "kb/records.h"
#include "reader/passage_index.h"
#include "reader/passage_text.h"

namespace askbase::reader {
namespace {

constexpr std::size_t most_problems = 100;

class Checker {
 public:
  explicit Checker(const kb::Snapshot& snapshot) : snapshot_(snapshot) {}

  base::Result<PassageCheck> run() {
    ASKBASE_TRY(documents());
    ASKBASE_TRY(passages());
    ASKBASE_TRY(postings());
    ASKBASE_TRY(counters());
    return std::move(check_);
  }

 private:
  void problem(std::string words) {
    if (check_.problems.size() < most_problems) check_.problems.push_back(std::move(words));
  }

  // The documents, and from their texts what the other tables should hold.
  base::Status documents() {
    const auto cursor = snapshot_.cursor(kb::Table::documents, {});
    std::uint64_t named = 0;
    for (cursor->seek({}); cursor->valid(); cursor->next()) {
      ASKBASE_TRY(base::check_interrupt());
      DocumentNumber number = 0;
      if (cursor->key().starts_with('\xFF')) {
        ++named;
        continue;
      }
      DocumentRecord record;
      if (!read_number_key(cursor->key(), number) || !decode_document(cursor->value(), record)) {
        problem("table documents: an entry cannot be read");
        continue;
      }
      ++check_.documents;
      ASKBASE_ASSIGN(const auto known, find_document(snapshot_, record.id));
      if (known != number) problem("document " + record.id + " is not found by its id");
      ASKBASE_TRY(document(number, record));
    }
    if (named != check_.documents)
      problem("table documents holds " + std::to_string(check_.documents) + " records and " +
              std::to_string(named) + " ids");
    return cursor->status();
  }

  base::Status document(DocumentNumber number, const DocumentRecord& record) {
    const auto text = stored_text(snapshot_, number, {0, record.bytes});
    if (!text) {
      if (text.error().code != base::ErrorCode::corrupt) return tl::unexpected(text.error());
      problem("the text of document " + record.id + " is not whole");
      return {};
    }
    PassageOptions options;
    options.tokens = record.tokens;
    options.overlap = record.overlap;
    options.whole = record.whole;
    IndexedText analysed = index_text(*text, record.form, record.title, options, terms_);
    if (analysed.passages.size() != record.passages || analysed.code_points != record.code_points ||
        analysed.page_starts != record.page_starts) {
      problem("document " + record.id + " does not fit its text");
      return {};
    }
    std::string value;
    PassageNumber passage_number = record.first_passage;
    for (PassageTerms& passage : analysed.passages) {
      passage.record.document = number;
      ASKBASE_ASSIGN(const bool found, snapshot_.get(kb::Table::passages, number_key(passage_number), value));
      if (!found || value != encode_passage(passage.record))
        problem("passage " + std::to_string(passage_number) + " of document " + record.id +
                (found ? " does not fit its text" : " is missing"));
      for (const auto& [term, count] : passage.counts)
        add(expected_, analysed.terms[term], {passage_number, count, passage.record.length});
      lengths_ += passage.record.length;
      ++passages_;
      ++passage_number;
    }
    return {};
  }

  static void add(kb::Tally& tally, std::string_view term, const Posting& posting) {
    std::string value;
    append_posting(value, posting);
    tally.add(posting_key(term, posting.passage / passages_in_block), value);
  }

  base::Status passages() {
    const auto cursor = snapshot_.cursor(kb::Table::passages, {});
    for (cursor->seek({}); cursor->valid(); cursor->next()) ++check_.passages;
    if (check_.passages != passages_)
      problem("the documents have " + std::to_string(passages_) + " passages, table passages holds " +
              std::to_string(check_.passages));
    ASKBASE_TRY(cursor->status());
    const auto vectors = snapshot_.cursor(kb::Table::vectors, {});
    std::string value;
    for (vectors->seek({}); vectors->valid(); vectors->next()) {
      ASKBASE_ASSIGN(const bool found, snapshot_.get(kb::Table::passages, vectors->key(), value));
      if (!found) problem("table vectors holds a vector of a passage that is not there");
    }
    return vectors->status();
  }

  base::Status postings() {
    kb::Tally stored;
    std::vector<Posting> list;
    const auto cursor = snapshot_.cursor(kb::Table::postings, {});
    for (cursor->seek({}); cursor->valid(); cursor->next()) {
      if (stored.count() % 4096 == 0) ASKBASE_TRY(base::check_interrupt());
      const std::string_view key = cursor->key();
      const std::size_t nul = key.find('\0');
      std::uint32_t block = 0;
      list.clear();
      if (nul == std::string_view::npos || !read_posting_key(key, nul + 1, block) ||
          !read_postings(cursor->value(), block, list)) {
        problem("table postings: an entry cannot be read");
        continue;
      }
      for (const Posting& posting : list) add(stored, key.substr(0, nul), posting);
    }
    ASKBASE_TRY(cursor->status());
    check_.postings = stored.count();
    if (stored != expected_)
      problem("the passages have " + std::to_string(expected_.count()) + " terms, table postings holds " +
              std::to_string(stored.count()) + ", or others");
    return {};
  }

  base::Status counters() {
    const auto compare = [&](std::string_view name, std::uint64_t expected) -> base::Status {
      ASKBASE_ASSIGN(const std::uint64_t counted, kb::read_counter(snapshot_, name));
      if (counted != expected)
        problem("the counter " + std::string(name) + " says " + std::to_string(counted) +
                " where there are " + std::to_string(expected));
      return {};
    };
    ASKBASE_TRY(compare(counter::documents, check_.documents));
    ASKBASE_TRY(compare(counter::passages, check_.passages));
    return compare(counter::passage_terms, lengths_);
  }

  const kb::Snapshot& snapshot_;
  PassageCheck check_;
  TermReader terms_;
  kb::Tally expected_;
  std::uint64_t passages_ = 0, lengths_ = 0;
};

}  // namespace

base::Result<PassageCheck> check_passages(const kb::Snapshot& snapshot) { return Checker(snapshot).run(); }

}  // namespace askbase::reader
