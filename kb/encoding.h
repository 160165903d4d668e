// Bytes of the store: how ids, keys and terms are written. docs/format.md is the page to this header.
//
// An id in a key is one byte (type << 4 | length) and the payload's bytes, big-endian, leading zeros left
// out: prefix-free, and byte order equals id order. A fact key is three ids. A term is its kind, value, and
// (separated by NUL, which no term may hold) datatype or language. Its dictionary key is the same bytes;
// above 512 bytes a 128-bit hash replaces them, the dictionary lists all the ids that share it, and the
// reader compares the stored terms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kb/term.h"

namespace askbase::kb {

// The id that carries the literal's value when its canonical form is the literal itself; nothing otherwise
// ("007", "1.0", "+1", out of range, other datatypes).
std::optional<TermId> pack_literal(const Term& term);
// The literal of a packed id. Precondition: !in_dictionary(id) and id non-zero.
Term unpack_literal(TermId id);

void append_id(std::string& out, TermId id);
// Reads one id and moves past it; false when the bytes are not an id.
bool read_id(std::string_view& in, TermId& id);
void append_varint(std::string& out, std::uint64_t value);
bool read_varint(std::string_view& in, std::uint64_t& value);

enum class Order : std::uint8_t { spo, pos, osp };
// A fact's key without an allocation.
class FactKey {
 public:
  FactKey(Order order, const Triple& triple);
  std::string_view view() const { return {bytes_, size_}; }

 private:
  char bytes_[3 * 9];
  std::uint8_t size_ = 0;
};
void append_key(std::string& out, Order order, const Triple& triple);
bool read_key(std::string_view key, Order order, Triple& triple);
// The order that answers the pattern by one prefix scan, and that prefix.
Order scan_prefix(const Pattern& pattern, std::string& prefix);

// The smallest byte string above every one that starts with the prefix; empty when there is none.
std::string prefix_end(std::string_view prefix);

// Bytes of a term in the dictionary, and back (false when damaged).
std::string encode_term(const Term& term);
void append_term(std::string& out, const Term& term);
bool decode_term(std::string_view bytes, Term& term);
// The kind of dictionary id that a term gets when it is not packed.
IdType dictionary_type(const Term& term);
// The dictionary's key for encoded term bytes. Above max_plain_key bytes it is a hash, which terms may share.
inline constexpr std::size_t max_plain_key = 512;
std::string dictionary_key(std::string_view encoded_term);

}  // namespace askbase::kb
