#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/interrupt.h"
#include "kb/check.h"
#include "kb/encoding.h"
#include "kb/entity_index.h"
#include "kb/names.h"
#include "kb/records.h"
#include "kb/update_facts.h"

namespace askbase::kb {

namespace {

constexpr std::uint64_t poll_every = 1 << 16;

// Visits the keys that the names table should hold, each once.
class ExpectedNames {
 public:
  ExpectedNames(const View& view, std::function<void(const std::string&)> visitor)
      : view_(view), visitor_(std::move(visitor)) {}

  base::Status run() {
    ASKBASE_TRY(read_predicates());
    ASKBASE_TRY(subjects());
    return objects();
  }

 private:
  base::Status read_predicates() {
    ASKBASE_ASSIGN(const LabelPredicates predicates, label_predicates(view_.snapshot()));
    const auto read = [&](const std::set<std::string>& iris, NameKind kind) -> base::Status {
      for (const std::string& iri : iris) {
        ASKBASE_ASSIGN(const auto id, view_.find(Term::iri(iri)));
        if (id) kinds_.emplace(*id, kind);
      }
      return {};
    };
    ASKBASE_TRY(read(predicates.labels, NameKind::label));
    return read(predicates.aliases, NameKind::alias);
  }

  void take(const EntityName& name) {
    for (std::string& entry : name_entries(name)) entries_.insert(std::move(entry));
  }
  base::Status take_identifier(TermId id) {
    ASKBASE_ASSIGN(const Term term, view_.term(id));
    take({id, readable_iri(term.value), {}, NameKind::identifier});
    return {};
  }
  void give() {
    for (const std::string& entry : entries_) visitor_(entry);
    entries_.clear();
  }

  // Names of one entity may meet (from two predicates): they are gathered by subject.
  base::Status subjects() {
    const auto cursor = view_.snapshot().cursor(Table::spo, {});
    TermId subject;
    Triple triple;
    for (cursor->seek({}); cursor->valid(); cursor->next()) {
      if (visited_++ % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
      if (!read_key(cursor->key(), Order::spo, triple)) continue;
      if (triple.subject != subject) {
        give();
        subject = triple.subject;
        if (id_type(subject) == IdType::iri) ASKBASE_TRY(take_identifier(subject));
      }
      const auto kind = kinds_.find(triple.predicate);
      if (kind == kinds_.end()) continue;
      ASKBASE_ASSIGN(const Term object, view_.term(triple.object));
      if (const auto name = name_of_fact(subject, object, kind->second)) take(*name);
    }
    give();
    return cursor->status();
  }

  // IRIs that are objects only.
  base::Status objects() {
    AscendingCursor spo(view_.snapshot(), Table::spo, {});
    std::string prefix;
    append_id(prefix, make_id(IdType::iri, 0));  // the least IRI
    const auto cursor = view_.snapshot().cursor(Table::osp, {});
    TermId object;
    Triple triple;
    for (cursor->seek(prefix); cursor->valid(); cursor->next()) {
      if (visited_++ % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
      if (!read_key(cursor->key(), Order::osp, triple)) continue;
      if (id_type(triple.object) != IdType::iri) break;
      if (triple.object == object) continue;
      object = triple.object;
      prefix.clear();
      append_id(prefix, object);
      if (spo.find_prefix(prefix)) continue;
      ASKBASE_TRY(take_identifier(object));
      give();
    }
    ASKBASE_TRY(spo.at().status());
    return cursor->status();
  }

  const View& view_;
  std::function<void(const std::string&)> visitor_;
  std::map<TermId, NameKind> kinds_;
  std::set<std::string> entries_;
  std::uint64_t visited_ = 0;
};

// What the tables words, vocabulary and grams should hold for the keys of the names table.
class ExpectedWords {
 public:
  void add_key(std::string_view key) {
    split_words(key, words_of_key_);
    std::sort(words_of_key_.begin(), words_of_key_.end());
    const auto end = std::unique(words_of_key_.begin(), words_of_key_.end());
    for (auto word = words_of_key_.begin(); word != end; ++word) {
      ++vocabulary_[std::string(*word)];
      if (words_of_key_.size() == 1) continue;
      entry_.assign(*word);
      entry_ += '\0';
      entry_ += key;
      words.add(entry_);
    }
  }
  void finish() {
    std::unordered_map<std::uint64_t, std::uint64_t> gram_counts;
    std::vector<std::uint64_t> found;
    std::string count;
    for (const auto& [word, keys] : vocabulary_) {
      count.clear();
      append_varint(count, keys);
      vocabulary.add(word, count);
      std::size_t length = 0;
      word_grams(word, found, length);
      for (const std::uint64_t gram : found) {
        ++gram_counts[gram];
        entry_.clear();
        append_gram(entry_, gram);
        entry_ += static_cast<char>(length);
        entry_ += word;
        grams.add(entry_);
      }
    }
    for (const auto& [gram, holders] : gram_counts) {
      entry_.clear();
      append_gram(entry_, gram);
      entry_ += '\0';
      count.clear();
      append_varint(count, holders);
      grams.add(entry_, count);
    }
  }
  Tally words, vocabulary, grams;

 private:
  std::unordered_map<std::string, std::uint64_t> vocabulary_;
  std::vector<std::string_view> words_of_key_;
  std::string entry_;
};

std::string show(std::string_view table_key) {
  NameEntry entry;
  if (!read_name_entry(table_key, entry)) return "an entry that cannot be read";
  return '"' + std::string(entry.text) + "\" of id " + std::to_string(entry.entity.bits);
}

// Names what the facts and the names table do not have in common.
base::Status compare_names(const View& view, Problems& problems) {
  std::unordered_set<std::uint64_t> expected;
  const std::size_t limit = problems.count() + 10;
  base::Status status;
  std::string ignored;
  ExpectedNames names(view, [&](const std::string& entry) {
    expected.insert(std::hash<std::string_view>{}(entry));
    if (problems.count() >= limit || !status) return;
    const auto found = view.snapshot().get(Table::names, entry, ignored);
    if (!found) status = tl::unexpected(found.error());
    if (found && !*found)
      problems.add("the facts give a name that table names does not hold: " + show(entry));
  });
  ASKBASE_TRY(names.run());
  ASKBASE_TRY(status);
  const auto cursor = view.snapshot().cursor(Table::names, {});
  for (cursor->seek({}); cursor->valid() && problems.count() < 2 * limit; cursor->next())
    if (!expected.contains(std::hash<std::string_view>{}(cursor->key())))
      problems.add("table names holds a name that no fact gives: " + show(cursor->key()));
  return cursor->status();
}

base::Status compare_table(const View& view, Table table, const Tally& expected, Problems& problems) {
  Tally found;
  const auto cursor = view.snapshot().cursor(table, {});
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (found.count() % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
    const std::string_view key = cursor->key();
    if (table != Table::grams || key.ends_with('\0')) {
      found.add(key, cursor->value());
      continue;
    }
    // A row holds many words; each is expected as an entry of its own.
    std::string_view word;
    for (std::string_view row = cursor->value(); take_word(row, word);)
      found.add(std::string(key).append(word));
  }
  ASKBASE_TRY(cursor->status());
  if (found != expected)
    problems.add("table " + std::string(table_name(table)) + " does not agree with table names: it holds " +
                 std::to_string(found.count()) + " entries, " + std::to_string(expected.count()) +
                 " are expected");
  return {};
}

}  // namespace

base::Status check_names(const View& view, CheckReport& report) {
  Problems problems(report);
  Tally expected, found;
  ASKBASE_TRY(ExpectedNames(view, [&](const std::string& entry) { expected.add(entry); }).run());

  ExpectedWords words;
  std::string last_key;
  const auto cursor = view.snapshot().cursor(Table::names, {});
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (found.count() % poll_every == 0) ASKBASE_TRY(base::check_interrupt());
    found.add(cursor->key());
    NameEntry entry;
    if (!read_name_entry(cursor->key(), entry)) {
      problems.add("table names: a key cannot be read");
      continue;
    }
    if (!entry.variant) ++report.names;
    if (entry.key == last_key) continue;
    last_key = entry.key;
    words.add_key(entry.key);
  }
  ASKBASE_TRY(cursor->status());
  words.finish();
  if (found != expected) ASKBASE_TRY(compare_names(view, problems));
  ASKBASE_TRY(compare_table(view, Table::words, words.words, problems));
  ASKBASE_TRY(compare_table(view, Table::vocabulary, words.vocabulary, problems));
  return compare_table(view, Table::grams, words.grams, problems);
}

}  // namespace askbase::kb
