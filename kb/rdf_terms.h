// What the readers of RDF syntaxes share: the characters that terms may hold, escapes, and the names that
// blank nodes get in the knowledge base. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace askbase::kb {

// A blank node's label means something inside its file only. In the KB it becomes
//   b <12 hex digits of the source's name> x <label>
// so that the same file gives the same nodes each time and two files never share one. A label that has this
// form already (from an export) is kept, so that exports load to what they were made from.
class BlankLabels {
 public:
  explicit BlankLabels(std::string_view source);
  void write(std::string_view label, std::string& out) const;
  // Whether a label has that form.
  static bool is_kept(std::string_view label);

 private:
  std::string prefix_;
};

// True for a byte below 0x80 that an IRI must escape: controls, space, < > " { } | ^ ` and backslash.
bool forbidden_in_iri(unsigned char byte);
// "http:", "urn:", ...: a letter, then letters, digits, + - . up to a colon.
bool has_scheme(std::string_view iri);
// An absolute IRI that may stand in <...> as it is.
bool is_absolute_iri(std::string_view iri);
// The reference resolved against an absolute base (RFC 3986, section 5.2). An absolute reference is returned
// as it is, dots and all.
std::string resolve_iri(std::string_view base, std::string_view reference);
// The characters of a blank node's label (N-Triples: PN_CHARS_U, PN_CHARS) above ASCII.
bool is_name_char(char32_t c, bool first);
// A whole label, as N-Triples and Turtle have it.
bool is_blank_label(std::string_view label);

}  // namespace askbase::kb
