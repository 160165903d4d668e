// How names that people write become IRIs: the readers of JSON lines and tables share these. Thread-safe.
//
// A name keeps its letters, Chinese included; only what an IRI may not hold, and what would end it (% # ? [
// ]), is percent-encoded: "New York" -> urn:askbase:entity:New%20York, "北京" -> urn:askbase:entity:北京.
#pragma once

#include <string>
#include <string_view>

#include "kb/term.h"

namespace askbase::kb {

inline constexpr std::string_view class_prefix = "urn:askbase:class:";
inline constexpr std::string_view source_prefix = "urn:askbase:source:";

// Something that is meant as an IRI rather than as a name: no character that an IRI may not hold, and a
// scheme in lower case of two letters or more with something after it, or any scheme and "//". So "iso:FR"
// and "https://x" are IRIs, "Re:Zero" and "CSI: Miami" are names.
bool looks_like_iri(std::string_view text);

std::string encode_name(std::string_view name);
// Nothing is lost: decode_name(encode_name(x)) == x. Text that is not so encoded is returned as it is.
std::string decode_name(std::string_view encoded);

// urn:askbase:<space>:<encoded name>. space is encoded too.
std::string name_iri(std::string_view space, std::string_view name);

// "en", "zh" or "" for text in neither.
std::string language_of(std::string_view text);
// The text with the language of its script.
Term text_in_its_language(std::string_view text);

// The IRI under which N-Quads name a source: itself, or source_prefix and its encoded name. And back.
std::string source_to_graph(std::string_view source);
std::string graph_to_source(std::string_view graph);

}  // namespace askbase::kb
