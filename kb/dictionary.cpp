#include "kb/dictionary.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/text.h"
#include "kb/encoding.h"
#include "kb/records.h"
#include "kb/sorter.h"

namespace askbase::kb {

namespace {

constexpr std::size_t max_term_bytes = 16 << 20;
constexpr std::size_t block_bytes = 1 << 20;
constexpr std::uint64_t max_serial = (std::uint64_t{1} << 60) - 1;

base::Status check_term(const Term& term) {
  const auto refuse = [](std::string reason, std::string hint = {}) {
    return base::fail(base::ErrorCode::bad_input, std::move(reason), std::move(hint));
  };
  if (term.value.size() + term.datatype.size() + term.lang.size() > max_term_bytes - 2)
    return refuse("a term is over 16 MiB", "keep long texts as documents");
  for (const std::string* text : {&term.value, &term.datatype}) {
    if (!base::valid_utf8(*text)) return refuse("a term is not UTF-8", "convert the file to UTF-8");
    if (text->find('\0') != std::string::npos) return refuse("a term holds a NUL character");
  }
  if (term.kind == TermKind::iri && term.value.empty()) return refuse("an IRI is empty");
  if (term.kind == TermKind::blank && !valid_blank_label(term.value))
    return refuse("not a blank node's label: " + term.value, "use letters, digits, _ - and .");
  if (!term.lang.empty() && (!valid_language_tag(term.lang) || !term.datatype.empty()))
    return refuse("not a language tag: " + term.lang, "write tags as en, zh or zh-hant");
  return {};
}

std::uint64_t hash_of(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }

// Places of entries ordered by their bytes: by eight bytes at a time, deeper only where those are equal.
struct ByteHead {
  std::uint64_t head;
  std::uint32_t length;  // bytes that the head holds: a shorter text comes first
  std::uint32_t place;
};
struct ByteOrder {
  using Record = ByteHead;
  static constexpr unsigned words = 2;
  static std::uint64_t word(const Record& record, unsigned i) { return i == 0 ? record.head : record.length; }
};

template <typename Bytes>
void sort_by_bytes(ByteHead* begin, ByteHead* end, std::size_t depth, const Bytes& bytes) {
  if (end - begin < 2) return;
  for (ByteHead* r = begin; r != end; ++r) {
    const std::string_view rest = bytes(r->place).substr(depth);
    unsigned char head[8] = {};
    r->length = static_cast<std::uint32_t>(std::min<std::size_t>(rest.size(), sizeof head));
    std::memcpy(head, rest.data(), r->length);
    r->head = 0;
    for (const unsigned char c : head) r->head = r->head << 8 | c;
  }
  RadixSort<ByteOrder>::sort(begin, end, 1);
  for (ByteHead* first = begin; first != end;) {
    ByteHead* last = first + 1;
    while (last != end && last->head == first->head && last->length == first->length) ++last;
    // Entries are distinct, so equal ones have more bytes; all eight of these were full.
    if (last - first > 1) sort_by_bytes(first, last, depth + sizeof first->head, bytes);
    first = last;
  }
}

}  // namespace

bool read_ids(std::string_view value, std::vector<TermId>& ids) {
  ids.clear();
  while (!value.empty()) {
    TermId id;
    if (!read_id(value, id)) return false;
    ids.push_back(id);
  }
  return !ids.empty();
}

base::Result<std::optional<TermId>> find_stored_term(const Snapshot& snapshot, std::string_view encoded) {
  std::string value;
  const bool hashed = encoded.size() > max_plain_key;
  ASKBASE_ASSIGN(const bool found, hashed ? snapshot.get(Table::ids, dictionary_key(encoded), value)
                                          : snapshot.get(Table::ids, encoded, value));
  if (!found) return std::nullopt;
  std::vector<TermId> ids;
  if (!read_ids(value, ids)) return tl::unexpected(damaged(Table::ids, "an entry cannot be read"));
  if (!hashed) return ids.front();
  for (const TermId id : ids) {
    ASKBASE_ASSIGN(const bool stored, read_stored_term(snapshot, id, value));
    if (stored && value == encoded) return id;
  }
  return std::nullopt;
}

base::Result<bool> read_stored_term(const Snapshot& snapshot, TermId id, std::string& encoded) {
  std::string key;
  append_id(key, id);
  return snapshot.get(Table::terms, key, encoded);
}

base::Result<std::unique_ptr<Dictionary>> Dictionary::open(Storage& storage, std::size_t memory_bytes) {
  std::unique_ptr<Dictionary> dictionary(new Dictionary(storage, memory_bytes));
  dictionary->stored_ = storage.snapshot();
  ASKBASE_ASSIGN(const std::uint64_t next, read_counter(*dictionary->stored_, counter::next_term));
  dictionary->any_stored_ = next != 0;
  dictionary->first_serial_ = std::max<std::uint64_t>(1, next);
  dictionary->slots_.assign(1 << 10, 0);
  return dictionary;
}

base::Result<TermId> Dictionary::intern(const Term& term) {
  if (const auto packed = pack_literal(term)) return *packed;
  scratch_.clear();
  append_term(scratch_, term);
  const std::uint64_t hash = hash_of(scratch_);
  if (const Entry* entry = look_up(scratch_, hash)) return entry->id;
  ASKBASE_TRY(check_term(term));
  if (memory() > memory_bytes_) ASKBASE_TRY(flush());
  if (any_stored_) {
    ASKBASE_ASSIGN(const auto stored, find_stored_term(*stored_, scratch_));
    if (stored) {
      insert(scratch_, hash, *stored);
      return *stored;
    }
  }
  const std::uint64_t serial = next_serial();
  if (serial > max_serial || entries_.size() == UINT32_MAX - 1)
    return base::fail(base::ErrorCode::too_large, "too many terms");
  const TermId id = make_id(dictionary_type(term), serial);
  fresh_.push_back(static_cast<std::uint32_t>(entries_.size()));
  insert(scratch_, hash, id);
  return id;
}

base::Result<std::optional<TermId>> Dictionary::find(const Term& term) const {
  if (const auto packed = pack_literal(term)) return packed;
  const std::string encoded = encode_term(term);
  if (const Entry* entry = look_up(encoded, hash_of(encoded))) return entry->id;
  return find_stored_term(*stored_, encoded);
}

base::Result<std::string_view> Dictionary::encoded(TermId id, std::string& space) const {
  if (is_new(id)) return entries_[fresh_[id_payload(id) - first_serial_]].bytes();
  ASKBASE_ASSIGN(const bool found, read_stored_term(*stored_, id, space));
  if (!found) return tl::unexpected(damaged(Table::terms, "no term has the id " + std::to_string(id.bits)));
  return std::string_view(space);
}

const Dictionary::Entry* Dictionary::look_up(std::string_view encoded, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == static_cast<std::uint32_t>(hash >> 32) && entry.bytes() == encoded) return &entry;
  }
  return nullptr;
}

void Dictionary::insert(std::string_view encoded, std::uint64_t hash, TermId id) {
  if (encoded.size() > block_left_) {
    block_left_ = std::max(encoded.size(), block_bytes);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_left_));
    block_at_ = blocks_.back().get();
  }
  std::memcpy(block_at_, encoded.data(), encoded.size());
  entries_.push_back(
      {block_at_, static_cast<std::uint32_t>(encoded.size()), static_cast<std::uint32_t>(hash >> 32), id});
  block_at_ += encoded.size();
  block_left_ -= encoded.size();
  used_bytes_ += encoded.size();
  if (entries_.size() * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = static_cast<std::uint32_t>(entries_.size());
}

void Dictionary::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {  // the last one is about to be placed
    std::size_t slot = hash_of(entries_[i].bytes()) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

std::size_t Dictionary::memory() const {
  return used_bytes_ + entries_.size() * sizeof(Entry) +
         (slots_.size() + fresh_.size()) * sizeof(std::uint32_t);
}

base::Status Dictionary::flush() {
  if (has_new()) {
    ASKBASE_ASSIGN(const auto ahead, storage_.begin_write());
    ASKBASE_TRY(write(*ahead));
    ASKBASE_TRY(ahead->put(Table::meta, counter::next_term, encode_counter(next_serial())));
    ASKBASE_TRY(ahead->commit());
    first_serial_ = next_serial();
    stored_ = storage_.snapshot();
    any_stored_ = true;
  }
  entries_ = {};
  fresh_ = {};
  blocks_.clear();
  block_left_ = used_bytes_ = 0;
  slots_.assign(1 << 10, 0);
  return {};
}

base::Status Dictionary::write(Write& write) const {
  ASKBASE_TRY(write_terms(write));
  return write_ids(write);
}

base::Status Dictionary::write_terms(Write& write) const {
  std::string key;
  for (int type = static_cast<int>(IdType::iri); type <= static_cast<int>(IdType::literal); ++type) {
    for (const std::uint32_t place : fresh_) {
      const Entry& entry = entries_[place];
      if (id_type(entry.id) != static_cast<IdType>(type)) continue;
      key.clear();
      append_id(key, entry.id);
      ASKBASE_TRY(write.put(Table::terms, key, entry.bytes()));
    }
  }
  return {};
}

base::Status Dictionary::write_ids(Write& write) const {
  // Long terms are stored under a hash, with all the ids that share it.
  std::vector<std::pair<std::string, TermId>> hashed;
  std::vector<ByteHead> plain;
  plain.reserve(fresh_.size());
  for (const std::uint32_t place : fresh_) {
    if (entries_[place].size > max_plain_key)
      hashed.emplace_back(dictionary_key(entries_[place].bytes()), entries_[place].id);
    else
      plain.push_back({0, 0, place});
  }
  std::sort(hashed.begin(), hashed.end());
  sort_by_bytes(plain.data(), plain.data() + plain.size(), 0,
                [&](std::uint32_t place) { return entries_[place].bytes(); });

  std::string value;
  auto next = hashed.begin();
  const auto put_hashed_before = [&](std::optional<std::string_view> limit) -> base::Status {
    while (next != hashed.end() && (!limit || next->first < *limit)) {
      const std::string& key = next->first;
      if (any_stored_) {
        ASKBASE_ASSIGN(const bool found, stored_->get(Table::ids, key, value));
        if (!found) value.clear();
      } else {
        value.clear();
      }
      auto last = next;
      for (; last != hashed.end() && last->first == key; ++last) append_id(value, last->second);
      ASKBASE_TRY(write.put(Table::ids, key, value));
      next = last;
    }
    return {};
  };
  for (const ByteHead& head : plain) {
    const Entry& entry = entries_[head.place];
    ASKBASE_TRY(put_hashed_before(entry.bytes()));
    value.clear();
    append_id(value, entry.id);
    ASKBASE_TRY(write.put(Table::ids, entry.bytes(), value));
  }
  return put_hashed_before(std::nullopt);
}

}  // namespace askbase::kb
