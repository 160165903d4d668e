// Writing the names of one commit. Everything is sorted in memory: the entries of the names table by their
// bytes; then, walking over the keys that came or went in that order, each word gets its postings already
// sorted, so that only the distinct words have to be sorted once more.
#include <algorithm>
#include <cstring>
#include <future>
#include <optional>

#include "base/thread_pool.h"
#include "kb/encoding.h"
#include "kb/names.h"
#include "kb/records.h"

namespace askbase::kb {
namespace {

constexpr std::size_t batch_names = 1 << 15;   // folded at once by all threads
constexpr std::size_t batch_bytes = 64 << 20;  // or these, when names are long
constexpr std::size_t block_bytes = 1 << 18;   // of an arena
constexpr std::size_t min_parallel = 4096;     // names or records below which threads do not pay
constexpr std::size_t fetch_ahead = 16;        // sorted records point all over the arenas
constexpr std::size_t steps_before_seek = 4;   // a short way in a table is walked, not sought

// Keeps bytes in place until it dies.
class Arena {
 public:
  std::string_view keep(std::string_view bytes) {
    if (bytes.size() > left_) {
      left_ = std::max(bytes.size(), block_bytes);
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
      free_ = blocks_.back().get();
    }
    char* const kept = free_;
    std::memcpy(kept, bytes.data(), bytes.size());
    free_ += bytes.size();
    left_ -= bytes.size();
    return {kept, bytes.size()};
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  std::size_t left_ = 0;
};

// An entry of the names table that is put or erased. Points into an arena.
struct Record {
  std::uint64_t head = 0, neck = 0;  // the first 16 bytes, big-endian: most comparisons end here
  const char* data = nullptr;
  std::uint32_t size = 0;
  std::uint16_t key_size = 0;
  bool add = false;

  std::string_view bytes() const { return {data, size}; }
  std::string_view key() const { return {data, key_size}; }
};

std::uint64_t head_of(std::string_view bytes) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    head = head << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
  }
  return head;
}

// Of equal entries, the added one comes first.
bool before_in_table(const Record& a, const Record& b) {
  if (a.head != b.head) return a.head < b.head;
  if (a.neck != b.neck) return a.neck < b.neck;
  const int order = a.bytes().compare(b.bytes());
  if (order != 0) return order < 0;
  return a.add && !b.add;
}

// A key that the names table did not have before the commit and has after it, or the other way round.
struct KeyChange {
  std::string_view key;
  bool appears = false;
};

// Numbers words in the order in which they are first met. Open addressing: a bulk load looks up millions.
class WordNumbers {
 public:
  WordNumbers() : slots_(1 << 12) {}

  std::uint32_t number(std::string_view word) {
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(word));
    Slot* slot = &slots_[hash & (slots_.size() - 1)];
    while (slot->number != empty) {
      if (slot->hash == hash && words_[slot->number] == word) return slot->number;
      slot = next(slot, slots_);
    }
    const auto added = static_cast<std::uint32_t>(words_.size());
    *slot = {hash, added};
    words_.push_back(word);
    if (words_.size() * 2 > slots_.size()) grow();
    return added;
  }
  const std::vector<std::string_view>& words() const { return words_; }

 private:
  static constexpr std::uint32_t empty = UINT32_MAX;
  struct Slot {
    std::uint32_t hash = 0, number = empty;
  };

  static Slot* next(Slot* slot, std::vector<Slot>& slots) {
    return slot == &slots.back() ? slots.data() : slot + 1;
  }
  void grow() {
    std::vector<Slot> slots(slots_.size() * 2);
    for (const Slot& old : slots_) {
      if (old.number == empty) continue;
      Slot* slot = &slots[old.hash & (slots.size() - 1)];
      while (slot->number != empty) slot = next(slot, slots);
      *slot = old;
    }
    slots_.swap(slots);
  }

  std::vector<std::string_view> words_;
  std::vector<Slot> slots_;
};

base::Result<std::uint64_t> read_count(const Snapshot& snapshot, Table table, std::string_view key) {
  std::string value;
  ASKBASE_ASSIGN(const bool found, snapshot.get(table, key, value));
  if (!found) return 0;
  std::string_view rest = value;
  std::uint64_t count = 0;
  if (!read_varint(rest, count) || !rest.empty()) {
    return tl::unexpected(damaged(table, "a count cannot be read"));
  }
  return count;
}

// Moves to the first key >= wanted; cheap when that is near.
void move_to(Cursor& cursor, std::string_view wanted, bool& placed) {
  if (placed) {
    for (std::size_t i = 0; i < steps_before_seek; ++i) {
      if (!cursor.valid() || cursor.key() >= wanted) return;
      cursor.next();
    }
    if (!cursor.valid() || cursor.key() >= wanted) return;
  }
  cursor.seek(wanted);
  placed = true;
}

// Drops additions of entries that are there and removals of those that are not.
base::Status drop_idle(const Snapshot& before, std::vector<Record>& records) {
  const std::unique_ptr<Cursor> cursor = before.cursor(Table::names, {});
  bool placed = false;
  std::size_t kept = 0;
  for (const Record& record : records) {
    move_to(*cursor, record.bytes(), placed);
    const bool present = cursor->valid() && cursor->key() == record.bytes();
    if (present != record.add) records[kept++] = record;
  }
  records.resize(kept);
  return cursor->status();
}

// The keys that come or go by these changes (nothing idle among them). They are copied close together: what
// follows reads each several times, in the order of words.
base::Result<std::vector<KeyChange>> key_changes(const Snapshot& before, bool fresh,
                                                 const std::vector<Record>& records, Arena& arena) {
  std::vector<KeyChange> changes;
  const std::unique_ptr<Cursor> cursor = fresh ? nullptr : before.cursor(Table::names, {});
  bool placed = false;
  std::string prefix;
  for (std::size_t begin = 0, end; begin < records.size(); begin = end) {
    const std::string_view key = records[begin].key();
    std::size_t adds = 0;
    if (begin + fetch_ahead < records.size()) __builtin_prefetch(records[begin + fetch_ahead].data);
    for (end = begin; end < records.size() && records[end].key() == key; ++end)
      adds += records[end].add ? 1 : 0;
    const std::size_t removes = end - begin - adds;
    std::size_t old_entries = 0;  // counted as far as it matters
    if (!fresh) {
      prefix.assign(key);
      prefix += '\0';
      move_to(*cursor, prefix, placed);
      while (old_entries <= removes && cursor->valid() && cursor->key().starts_with(prefix)) {
        ++old_entries;
        cursor->next();
      }
    }
    const bool was = old_entries > 0, is = adds > 0 || old_entries > removes;
    if (was != is) changes.push_back({arena.keep(key), is});
  }
  if (cursor) ASKBASE_TRY(cursor->status());
  return changes;
}

base::Status put_or_erase(Write& write, Table table, std::string_view key, bool put) {
  return put ? write.put(table, key, {}) : write.erase(table, key);
}

base::Status write_names(Write& write, const std::vector<Record>& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i + fetch_ahead < records.size()) __builtin_prefetch(records[i + fetch_ahead].data);
    ASKBASE_TRY(put_or_erase(write, Table::names, records[i].bytes(), records[i].add));
  }
  return {};
}

struct WordChange {
  std::string_view word;
  bool appears = false;
};

base::Status write_grams(const Snapshot& before, bool fresh, Write& write,
                         const std::vector<WordChange>& words) {
  struct Posting {
    std::uint64_t gram;
    std::uint32_t length, word;
    bool operator<(const Posting& other) const {
      if (gram != other.gram) return gram < other.gram;
      return length != other.length ? length < other.length : word < other.word;
    }
  };
  std::vector<Posting> postings;
  std::vector<std::uint64_t> grams;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::size_t length = 0;
    word_grams(words[i].word, grams, length);
    for (const std::uint64_t gram : grams) {
      postings.push_back({gram, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(i)});
    }
  }
  std::sort(postings.begin(), postings.end());
  std::string key, value, old;
  const auto put_or_erase_row = [&](bool put) {
    return put ? write.put(Table::grams, key, value) : write.erase(Table::grams, key);
  };
  for (std::size_t begin = 0, end; begin < postings.size(); begin = end) {
    std::int64_t delta = 0;
    for (end = begin; end < postings.size() && postings[end].gram == postings[begin].gram; ++end) {
      delta += words[postings[end].word].appears ? 1 : -1;
    }
    key.clear();
    append_gram(key, postings[begin].gram);
    const std::size_t gram_size = key.size();
    if (delta != 0) {
      key += '\0';
      std::int64_t count = delta;
      if (!fresh) {
        ASKBASE_ASSIGN(const std::uint64_t before_it, read_count(before, Table::grams, key));
        count += static_cast<std::int64_t>(before_it);
      }
      value.clear();
      append_varint(value, static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)));
      ASKBASE_TRY(put_or_erase_row(count > 0));
    }
    for (std::size_t row = begin, row_end; row < end; row = row_end) {
      key.resize(gram_size);
      key += static_cast<char>(postings[row].length);
      old.clear();
      if (!fresh) ASKBASE_TRY(before.get(Table::grams, key, old));
      // Merges the changes into the row; both are sorted.
      value.clear();
      std::string_view rest = old, word;
      bool more = take_word(rest, word);
      for (row_end = row; row_end < end && postings[row_end].length == postings[row].length; ++row_end) {
        const WordChange& change = words[postings[row_end].word];
        for (; more && word < change.word; more = take_word(rest, word)) append_word(value, word);
        if (more && word == change.word) more = take_word(rest, word);
        if (change.appears) append_word(value, change.word);
      }
      for (; more; more = take_word(rest, word)) append_word(value, word);
      ASKBASE_TRY(put_or_erase_row(!value.empty()));
    }
  }
  return {};
}

// The tables words, vocabulary and grams.
base::Status write_words(const Snapshot& before, bool fresh, Write& write,
                         const std::vector<KeyChange>& changes) {
  struct Posting {
    std::uint32_t word, change;
  };
  WordNumbers numbers;
  std::vector<std::int32_t> delta;    // of the number of keys, by word number
  std::vector<std::uint32_t> posted;  // postings, by word number
  std::vector<Posting> postings;      // of keys with several words, by change
  std::vector<std::string_view> words;
  std::vector<std::uint32_t> seen;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i + fetch_ahead < changes.size()) __builtin_prefetch(changes[i + fetch_ahead].key.data());
    split_words(changes[i].key, words);
    seen.clear();
    for (const std::string_view word : words) {
      const std::uint32_t number = numbers.number(word);
      if (std::find(seen.begin(), seen.end(), number) != seen.end()) continue;
      seen.push_back(number);
      if (number == delta.size()) {
        delta.push_back(0);
        posted.push_back(0);
      }
      delta[number] += changes[i].appears ? 1 : -1;
      if (words.size() == 1) continue;
      ++posted[number];
      postings.push_back({number, static_cast<std::uint32_t>(i)});
    }
  }

  std::vector<std::uint32_t> order(numbers.words().size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::vector<std::uint64_t> heads(order.size());
  for (std::size_t i = 0; i < heads.size(); ++i) heads[i] = head_of(numbers.words()[i]);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return heads[a] != heads[b] ? heads[a] < heads[b] : numbers.words()[a] < numbers.words()[b];
  });

  // Counting sort by the words' order; within a word the changes, and so the keys, stay in theirs.
  std::vector<std::uint32_t> place(order.size());
  std::uint32_t next = 0;
  for (const std::uint32_t number : order) {
    place[number] = next;
    next += posted[number];
  }
  std::vector<std::uint32_t> by_word(postings.size());
  for (const Posting& posting : postings) by_word[place[posting.word]++] = posting.change;
  postings = {};

  std::vector<WordChange> word_changes;
  std::string key, value;
  std::size_t at = 0;
  for (const std::uint32_t number : order) {
    const std::string_view word = numbers.words()[number];
    for (const std::size_t end = at + posted[number]; at < end; ++at) {
      if (at + fetch_ahead < by_word.size())
        __builtin_prefetch(changes[by_word[at + fetch_ahead]].key.data());
      const KeyChange& change = changes[by_word[at]];
      key.assign(word);
      key += '\0';
      key += change.key;
      ASKBASE_TRY(put_or_erase(write, Table::words, key, change.appears));
    }
    if (delta[number] == 0) continue;
    std::int64_t old = 0;
    if (!fresh) {
      ASKBASE_ASSIGN(const std::uint64_t count, read_count(before, Table::vocabulary, word));
      old = static_cast<std::int64_t>(count);
    }
    const std::int64_t now = old + delta[number];
    if (now > 0) {
      value.clear();
      append_varint(value, static_cast<std::uint64_t>(now));
      ASKBASE_TRY(write.put(Table::vocabulary, word, value));
    } else {
      ASKBASE_TRY(write.erase(Table::vocabulary, word));
    }
    if ((old > 0) != (now > 0)) word_changes.push_back({word, now > 0});
  }
  return write_grams(before, fresh, write, word_changes);
}

}  // namespace

struct NameChanges::State {
  // A name as it was handed in: its text and language lie in `bytes`.
  struct Raw {
    TermId entity;
    std::size_t begin = 0;
    std::size_t text_size = 0, lang_size = 0;
    NameKind kind = NameKind::label;
    bool add = false;
  };

  State(const Snapshot& snapshot, std::size_t thread_count)
      : before(snapshot), threads(thread_count), arenas(thread_count) {}

  void gather(const EntityName& name, bool add) {
    raws.push_back({name.entity, bytes.size(), name.text.size(), name.lang.size(), name.kind, add});
    bytes += name.text;
    bytes += name.lang;
    if (raws.size() >= batch_names || bytes.size() >= batch_bytes) fold();
  }

  // Turns the gathered names into records.
  void fold() {
    if (raws.size() < min_parallel || threads == 1) {
      fold_range(0, raws.size(), arenas[0], records);
    } else {
      if (!pool) pool.emplace(threads - 1);  // this thread works too
      std::vector<std::vector<Record>> made(threads);
      pool->parallel_for(threads, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t part = begin; part < end; ++part) {
          fold_range(raws.size() * part / threads, raws.size() * (part + 1) / threads, arenas[part],
                     made[part]);
        }
      });
      for (const std::vector<Record>& part : made) records.insert(records.end(), part.begin(), part.end());
    }
    raws.clear();
    bytes.clear();
  }

  void fold_range(std::size_t begin, std::size_t end, Arena& arena, std::vector<Record>& out) const {
    EntityName name;
    std::string entry;
    for (std::size_t i = begin; i < end; ++i) {
      const Raw& raw = raws[i];
      name.entity = raw.entity;
      name.kind = raw.kind;
      name.text.assign(bytes, raw.begin, raw.text_size);
      name.lang.assign(bytes, raw.begin + raw.text_size, raw.lang_size);
      const std::string key = index_key(name.text);
      if (key.empty()) continue;
      const auto put = [&](std::string_view under, bool variant) {
        entry.clear();
        append_name_entry(entry, under, variant, name);
        const std::string_view kept = arena.keep(entry);
        out.push_back({head_of(kept), head_of(kept.substr(std::min<std::size_t>(kept.size(), 8))),
                       kept.data(), static_cast<std::uint32_t>(kept.size()),
                       static_cast<std::uint16_t>(under.size()), raw.add});
      };
      put(key, false);
      for (const std::string& variant : variant_keys(key)) put(variant, true);
      if (const std::string_view bare = without_remark(name.text); !bare.empty()) {
        const std::string bare_key = index_key(bare);
        if (!bare_key.empty() && bare_key != key) put(bare_key, true);
      }
    }
  }

  void sort_records() {
    const auto middle = records.begin() + static_cast<std::ptrdiff_t>(records.size() / 2);
    if (threads > 1 && records.size() >= min_parallel) {
      std::future<void> front =
          std::async(std::launch::async, [&] { std::sort(records.begin(), middle, before_in_table); });
      std::sort(middle, records.end(), before_in_table);
      front.get();
      std::inplace_merge(records.begin(), middle, records.end(), before_in_table);
    } else {
      std::sort(records.begin(), records.end(), before_in_table);
    }
    records.erase(std::unique(records.begin(), records.end(),
                              [](const Record& a, const Record& b) { return a.bytes() == b.bytes(); }),
                  records.end());
  }

  const Snapshot& before;
  std::size_t threads;
  std::string bytes;
  std::vector<Raw> raws;
  std::vector<Arena> arenas;  // one for each thread
  std::vector<Record> records;
  std::optional<base::ThreadPool> pool;
};

NameChanges::NameChanges(const Snapshot& before, std::size_t threads)
    : state_(std::make_unique<State>(before, std::max<std::size_t>(threads, 1))) {}
NameChanges::~NameChanges() = default;

void NameChanges::add(const EntityName& name) { state_->gather(name, true); }
void NameChanges::remove(const EntityName& name) { state_->gather(name, false); }

base::Status NameChanges::write(Write& write) {
  State& state = *state_;
  state.fold();
  state.sort_records();
  const std::unique_ptr<Cursor> first = state.before.cursor(Table::names, {});
  first->seek({});
  const bool fresh = !first->valid();
  ASKBASE_TRY(first->status());
  if (fresh) {
    std::erase_if(state.records, [](const Record& record) { return !record.add; });
  } else {
    ASKBASE_TRY(drop_idle(state.before, state.records));
  }
  Arena keys;
  ASKBASE_ASSIGN(const std::vector<KeyChange> changes, key_changes(state.before, fresh, state.records, keys));
  if (state.threads == 1 || state.records.size() < min_parallel) {
    ASKBASE_TRY(write_names(write, state.records));
    return write_words(state.before, fresh, write, changes);
  }
  // Different tables may be written by different threads.
  std::future<base::Status> names =
      std::async(std::launch::async, [&] { return write_names(write, state.records); });
  const base::Status words = write_words(state.before, fresh, write, changes);
  ASKBASE_TRY(names.get());
  return words;
}

}  // namespace askbase::kb
