#include "kb/term.h"

#include <array>

#include "base/text.h"

namespace askbase::kb {

namespace {

constexpr std::string_view xsd_string = "http://www.w3.org/2001/XMLSchema#string";

std::string lower_ascii(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_uchar(std::string& out, unsigned char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out += "\\u00";
  out += digits[c >> 4];
  out += digits[c & 15];
}

void append_iri(std::string& out, std::string_view iri) {
  // The characters that the grammar of IRIREF leaves out; all are ASCII.
  constexpr std::string_view refused = "<>\"{}|^`\\";
  out += '<';
  for (const char c : iri) {
    if (static_cast<unsigned char>(c) <= 0x20 || refused.find(c) != std::string_view::npos)
      append_uchar(out, static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += '>';
}

void append_quoted(std::string& out, std::string_view lexical) {
  out += '"';
  for (const char c : lexical) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  out += '"';
}

base::Result<Term> refuse(std::string_view text, std::string_view reason) {
  constexpr std::size_t shown = 80;
  std::string quoted(text.substr(0, shown));
  while (!quoted.empty() && !base::valid_utf8(quoted)) quoted.pop_back();
  return base::fail(
      base::ErrorCode::bad_input,
      "not an N-Triples term: " + quoted + (text.size() > shown ? "...: " : ": ") + std::string(reason),
      "write <iri>, \"text\", \"text\"@en, \"1\"^^<datatype> or _:label");
}

// Reads an escape whose backslash has been passed. IRIs allow \u and \U only.
bool read_escape(std::string_view& in, bool iri, std::string& out) {
  if (in.empty()) return false;
  const char kind = in.front();
  in.remove_prefix(1);
  if (kind == 'u' || kind == 'U') {
    const std::size_t length = kind == 'u' ? 4 : 8;
    if (in.size() < length) return false;
    std::uint32_t code = 0;
    for (const char c : in.substr(0, length)) {
      if (code > 0x10FFFF) return false;
      if (is_digit(c))
        code = code * 16 + static_cast<std::uint32_t>(c - '0');
      else if (c >= 'a' && c <= 'f')
        code = code * 16 + static_cast<std::uint32_t>(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        code = code * 16 + static_cast<std::uint32_t>(c - 'A' + 10);
      else
        return false;
    }
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    in.remove_prefix(length);
    base::append_utf8(out, static_cast<char32_t>(code));
    return true;
  }
  if (iri) return false;
  switch (kind) {
    case 't':
      out += '\t';
      return true;
    case 'b':
      out += '\b';
      return true;
    case 'n':
      out += '\n';
      return true;
    case 'r':
      out += '\r';
      return true;
    case 'f':
      out += '\f';
      return true;
    case '"':
    case '\'':
    case '\\':
      out += kind;
      return true;
    default:
      return false;
  }
}

// Reads up to the closing character and past it.
bool read_until(std::string_view& in, char close, std::string& out) {
  const bool iri = close == '>';
  while (!in.empty()) {
    const char c = in.front();
    in.remove_prefix(1);
    if (c == close) return true;
    if (c == '\\') {
      if (!read_escape(in, iri, out)) return false;
    } else if (iri ? static_cast<unsigned char>(c) <= 0x20 ||
                         std::string_view("<\"{}|^`").find(c) != std::string_view::npos
                   : c == '\n' || c == '\r') {
      return false;
    } else {
      out += c;
    }
  }
  return false;
}

bool read_iri(std::string_view& in, std::string& out) {
  if (in.empty() || in.front() != '<') return false;
  in.remove_prefix(1);
  return read_until(in, '>', out) && !out.empty();
}

}  // namespace

bool valid_language_tag(std::string_view tag) {
  std::size_t part = 0;  // characters of the present subtag
  bool first = true;
  for (const char c : tag) {
    if (c == '-') {
      if (part == 0) return false;
      part = 0;
      first = false;
    } else if (is_letter(c) || (!first && is_digit(c))) {
      ++part;
    } else {
      return false;
    }
  }
  return part > 0;
}

bool valid_blank_label(std::string_view label) {
  if (label.empty() || label.front() == '.' || label.front() == '-' || label.back() == '.') return false;
  for (const char c : label)
    if (static_cast<unsigned char>(c) < 0x80 && !is_letter(c) && !is_digit(c) && c != '_' && c != ':' &&
        c != '-' && c != '.')
      return false;
  return true;
}

Term Term::iri(std::string value) { return {TermKind::iri, std::move(value), {}, {}}; }

Term Term::literal(std::string lexical, std::string datatype) {
  if (datatype == xsd_string) datatype.clear();
  return {TermKind::literal, std::move(lexical), std::move(datatype), {}};
}

Term Term::text(std::string lexical, std::string lang) {
  return {TermKind::literal, std::move(lexical), {}, lower_ascii(std::move(lang))};
}

Term Term::blank(std::string label) { return {TermKind::blank, std::move(label), {}, {}}; }

Term Term::integer(std::int64_t value) {
  return {TermKind::literal, std::to_string(value), std::string(iri::xsd) + "integer", {}};
}

std::string to_ntriples(const Term& term) {
  std::string out;
  switch (term.kind) {
    case TermKind::iri:
      append_iri(out, term.value);
      break;
    case TermKind::blank:
      out += "_:" + term.value;
      break;
    case TermKind::literal:
      append_quoted(out, term.value);
      if (!term.lang.empty()) {
        out += '@' + term.lang;
      } else if (!term.datatype.empty()) {
        out += "^^";
        append_iri(out, term.datatype);
      }
  }
  return out;
}

base::Result<Term> parse_ntriples(std::string_view text) {
  if (!base::valid_utf8(text) || text.find('\0') != std::string_view::npos)
    return base::fail(base::ErrorCode::bad_input, "not an N-Triples term: it holds a NUL or is not UTF-8");
  std::string_view in = text;
  if (in.empty()) return refuse(text, "it is empty");
  if (in.front() == '<') {
    Term term = Term::iri({});
    if (!read_iri(in, term.value))
      return refuse(text, "the IRI is empty, not closed, or holds a character that must be escaped");
    if (!in.empty()) return refuse(text, "something follows the IRI");
    return term;
  }
  if (in.starts_with("_:")) {
    in.remove_prefix(2);
    if (!valid_blank_label(in)) return refuse(text, "the label is not one of a blank node");
    return Term::blank(std::string(in));
  }
  if (in.front() != '"') return refuse(text, "it starts with none of < \" _:");
  in.remove_prefix(1);
  std::string lexical;
  if (!read_until(in, '"', lexical))
    return refuse(text, "the text is not closed, or has a bad escape or a line break");
  if (in.empty()) return Term::literal(std::move(lexical));
  if (in.front() == '@') {
    in.remove_prefix(1);
    if (!valid_language_tag(in)) return refuse(text, "the language tag is not well-formed");
    return Term::text(std::move(lexical), std::string(in));
  }
  if (!in.starts_with("^^")) return refuse(text, "something follows the text");
  in.remove_prefix(2);
  std::string datatype;
  if (!read_iri(in, datatype)) return refuse(text, "the datatype is not an IRI");
  if (!in.empty()) return refuse(text, "something follows the datatype");
  return Term::literal(std::move(lexical), std::move(datatype));
}

std::string_view iri_end(std::string_view iri) {
  constexpr std::string_view separators = "#/:";
  if (!iri.empty() && separators.find(iri.back()) != std::string_view::npos) iri.remove_suffix(1);
  const std::size_t cut = iri.find_last_of(separators);
  return cut == std::string_view::npos ? iri : iri.substr(cut + 1);
}

}  // namespace askbase::kb
