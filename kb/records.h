// Counters of the meta table, records of the sources table, and the lists of sources in the spo table: what
// View reads and Update writes. For the .cpp files of kb/; docs/format.md is the page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/store.h"

namespace askbase::kb {

// Keys of the meta table whose value is a varint.
namespace counter {
inline constexpr std::string_view facts = "facts";
inline constexpr std::string_view next_source = "next_source";
inline constexpr std::string_view next_term = "next_term";
inline constexpr std::string_view version = "version";
}  // namespace counter
// 0 when there is none. Errors: corrupt, io.
base::Result<std::uint64_t> read_counter(const Snapshot& snapshot, std::string_view key);
std::string encode_counter(std::uint64_t value);

// The sources table holds records under the source's id (four bytes, big-endian) and ids under 0xFF and the
// source's name. Ids stay below 2^28, so that the two kinds of keys cannot meet.
inline constexpr SourceId max_source_id = (1U << 28) - 1;
std::string source_key(SourceId id);
std::string source_name_key(std::string_view name);
bool read_source_key(std::string_view key, SourceId& id);
std::string encode_source(const Source& source);
bool decode_source(std::string_view bytes, Source& source);

// A spo value: the ids of the sources, ascending, each as a varint of the difference to the one before.
void append_sources(std::string& out, const std::vector<SourceId>& sources);
bool read_sources(std::string_view value, std::vector<SourceId>& sources);

// A key of the by_source table.
void append_source_fact(std::string& out, SourceId source, const Triple& triple);

base::Error damaged(Table table, std::string_view what);

}  // namespace askbase::kb
