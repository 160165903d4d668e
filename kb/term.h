// RDF terms and triples as values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace askbase::kb {

enum class TermKind : std::uint8_t { iri, literal, blank };

// A literal with a language has the datatype rdf:langString implied (datatype stays empty); a plain literal
// (xsd:string) has both empty. The language tag is kept in lower case (RDF 1.1 compares tags so).
struct Term {
  TermKind kind = TermKind::iri;
  std::string value;     // the IRI, the lexical form, or the blank node's label without "_:"
  std::string datatype;  // IRI of a typed literal other than xsd:string
  std::string lang;      // "en", "zh-hant"

  static Term iri(std::string value);
  static Term literal(std::string lexical, std::string datatype = {});  // xsd:string is normalised away
  static Term text(std::string lexical, std::string lang);              // lang may be empty
  static Term blank(std::string label);
  static Term integer(std::int64_t value);
  auto operator<=>(const Term&) const = default;
};

// N-Triples spelling, canonical escapes (W3C N-Triples canonical form).
std::string to_ntriples(const Term& term);
// Parses one N-Triples term. Error bad_input.
base::Result<Term> parse_ntriples(std::string_view text);

// RFC 5646 in outline: letters, then groups of letters and digits joined by '-'.
bool valid_language_tag(std::string_view tag);
// A label that N-Triples can write after "_:".
bool valid_blank_label(std::string_view label);

// The part of an IRI that names the thing to a reader: what follows the last '#', '/' or ':' (one of them at
// the very end is looked through). Percent-encoding stays. May be empty.
std::string_view iri_end(std::string_view iri);

// 64-bit id of a term: 4 type bits and 60 bits of payload. Ids of one type compare as their values do.
// Dictionary terms (IRI, text, other literals, blank nodes) carry a serial number; the other types carry the
// value itself, and only when its canonical form reproduces the literal exactly (see kb/encoding.h).
struct TermId {
  std::uint64_t bits = 0;
  auto operator<=>(const TermId&) const = default;
  explicit operator bool() const { return bits != 0; }
};

enum class IdType : std::uint8_t {
  none = 0,
  iri = 1,
  blank = 2,
  string = 3,   // xsd:string and language-tagged text
  literal = 4,  // any other literal that is not packed
  boolean = 5,
  negative = 6,  // xsd:integer below 0: payload 2^60 - |v|, so order holds
  integer = 7,   // xsd:integer from 0
  decimal = 8,   // xsd:decimal: 2^59 + v * 10^6
  double_ = 9,   // xsd:double: the order-preserving bit pattern without its 4 lowest bits (which are 0)
  date = 10,     // xsd:date without time zone: 2^59 + days since 1970-01-01
  year = 11,     // xsd:gYear without time zone: 2^59 + year
};

inline IdType id_type(TermId id) { return static_cast<IdType>(id.bits >> 60); }
inline std::uint64_t id_payload(TermId id) { return id.bits & ((std::uint64_t{1} << 60) - 1); }
inline TermId make_id(IdType type, std::uint64_t payload) {
  return TermId{static_cast<std::uint64_t>(type) << 60 | payload};
}
// True for ids that the dictionary explains; the others carry their value.
inline bool in_dictionary(TermId id) { return id_type(id) >= IdType::iri && id_type(id) <= IdType::literal; }

struct Triple {
  TermId subject, predicate, object;
  auto operator<=>(const Triple&) const = default;
};

// An unset place matches anything.
struct Pattern {
  std::optional<TermId> subject{}, predicate{}, object{};
};

using SourceId = std::uint32_t;

// Where one fact came from. row counts from 1 (a table's line of data, a file's line), 0 when unknown.
struct Origin {
  SourceId source = 0;
  std::uint64_t row = 0;
};

// IRIs with a meaning of their own here.
namespace iri {
inline constexpr std::string_view rdf_type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
inline constexpr std::string_view rdf_property = "http://www.w3.org/1999/02/22-rdf-syntax-ns#Property";
inline constexpr std::string_view rdfs_label = "http://www.w3.org/2000/01/rdf-schema#label";
inline constexpr std::string_view rdfs_comment = "http://www.w3.org/2000/01/rdf-schema#comment";
inline constexpr std::string_view rdfs_range = "http://www.w3.org/2000/01/rdf-schema#range";
inline constexpr std::string_view rdfs_domain = "http://www.w3.org/2000/01/rdf-schema#domain";
inline constexpr std::string_view rdfs_subclass_of = "http://www.w3.org/2000/01/rdf-schema#subClassOf";
inline constexpr std::string_view skos_pref_label = "http://www.w3.org/2004/02/skos/core#prefLabel";
inline constexpr std::string_view skos_alt_label = "http://www.w3.org/2004/02/skos/core#altLabel";
inline constexpr std::string_view schema_name = "http://schema.org/name";
inline constexpr std::string_view schema_name_https = "https://schema.org/name";
inline constexpr std::string_view schema_alternate_name = "http://schema.org/alternateName";
inline constexpr std::string_view foaf_name = "http://xmlns.com/foaf/0.1/name";
inline constexpr std::string_view xsd = "http://www.w3.org/2001/XMLSchema#";
// The unit of a predicate's values, a literal with language: "km²"@en.
inline constexpr std::string_view unit = "urn:askbase:unit";
// A way of saying a predicate, a literal with language: what `load --wordings` adds.
inline constexpr std::string_view wording = "urn:askbase:wording";
// Where names without an IRI are put: urn:askbase:entity:NAME, urn:askbase:p:NAME (percent-encoded).
inline constexpr std::string_view entity_prefix = "urn:askbase:entity:";
inline constexpr std::string_view predicate_prefix = "urn:askbase:p:";
}  // namespace iri

}  // namespace askbase::kb
