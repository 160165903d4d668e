// The dictionary of terms: looking up what is stored, and gathering what an update adds. For the .cpp files
// of kb/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/storage.h"
#include "kb/term.h"

namespace askbase::kb {

// The id under which the encoded term is stored.
base::Result<std::optional<TermId>> find_stored_term(const Snapshot& snapshot, std::string_view encoded);
// The encoded term of an id; false when there is none.
base::Result<bool> read_stored_term(const Snapshot& snapshot, TermId id, std::string& encoded);
// The ids of an entry of the ids table: one, or several that share a hash.
bool read_ids(std::string_view value, std::vector<TermId>& ids);

// The terms that one update has met, in memory: those that the KB has, and new ones with their new ids. One
// thread; find() and encoded() may be called by several while nothing else is.
class Dictionary {
 public:
  // storage: for writing terms ahead of the update, once they take more than memory_bytes.
  static base::Result<std::unique_ptr<Dictionary>> open(Storage& storage, std::size_t memory_bytes);

  // As Update::intern.
  base::Result<TermId> intern(const Term& term);
  // The id of a term that was interned or is stored.
  base::Result<std::optional<TermId>> find(const Term& term) const;
  // The bytes of a term that was interned or is stored (then copied into `space`). Error corrupt.
  base::Result<std::string_view> encoded(TermId id, std::string& space) const;

  // Made by this update and not written ahead: surely no fact has used it.
  bool is_new(TermId id) const {
    return in_dictionary(id) && id_payload(id) >= first_serial_ && id_payload(id) < next_serial();
  }
  bool has_new() const { return !fresh_.empty(); }
  std::uint64_t next_serial() const { return first_serial_ + fresh_.size(); }
  // Puts the new terms into the tables terms and ids.
  base::Status write(Write& write) const;

 private:
  struct Entry {
    const char* data;
    std::uint32_t size;
    std::uint32_t hash;
    TermId id;
    std::string_view bytes() const { return {data, size}; }
  };

  Dictionary(Storage& storage, std::size_t memory_bytes) : storage_(storage), memory_bytes_(memory_bytes) {}
  const Entry* look_up(std::string_view encoded, std::uint64_t hash) const;
  void insert(std::string_view encoded, std::uint64_t hash, TermId id);
  void grow();
  std::size_t memory() const;
  // Writes the new terms by a commit of their own and forgets all entries. A term without a fact does no
  // harm.
  base::Status flush();
  base::Status write_terms(Write& write) const;
  base::Status write_ids(Write& write) const;

  Storage& storage_;
  std::size_t memory_bytes_;
  std::shared_ptr<const Snapshot> stored_;
  bool any_stored_ = false;
  std::uint64_t first_serial_ = 1;  // of the first term in fresh_
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> fresh_;             // new terms by serial: their place in entries_
  std::vector<std::uint32_t> slots_;             // open addressing: 0, or the place in entries_ and one
  std::vector<std::unique_ptr<char[]>> blocks_;  // the entries' bytes
  std::size_t block_left_ = 0, used_bytes_ = 0;
  char* block_at_ = nullptr;
  std::string scratch_;
};

}  // namespace askbase::kb
