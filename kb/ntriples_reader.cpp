#include "kb/ntriples_reader.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "base/text.h"

namespace askbase::kb {
namespace {

constexpr std::string_view kXsdString = "http://www.w3.org/2001/XMLSchema#string";
constexpr std::string_view kLangString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

constexpr std::array<bool, 256> make_literal_stops() {
  std::array<bool, 256> stops{};
  stops['"'] = stops['\\'] = stops['\r'] = true;
  return stops;
}
constexpr std::array<bool, 256> kLiteralStops = make_literal_stops();

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_high_bit(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    if ((word & 0x8080808080808080ULL) != 0) return true;
  }
  for (; left > 0; ++at, --left) {
    if ((static_cast<unsigned char>(*at) & 0x80) != 0) return true;
  }
  return false;
}

}  // namespace

NTriplesLine::NTriplesLine(std::string_view line, bool quads, const BlankLabels& blanks)
    : begin_(line.data()),
      at_(line.data()),
      end_(line.data() + line.size()),
      quads_(quads),
      blanks_(blanks) {}

void NTriplesLine::skip_blanks() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
}

base::Result<bool> NTriplesLine::next(Fact& fact) {
  const auto refused = [this] {
    return base::fail(base::ErrorCode::bad_input,
                      std::string(reason_) + " (column " + std::to_string(at_ - begin_ + 1) + ")");
  };
  if (!checked_) {
    checked_ = true;
    const std::string_view line(begin_, static_cast<std::size_t>(end_ - begin_));
    if (has_high_bit(line)) {
      if (const auto bad = base::first_invalid_utf8(line)) {
        at_ += *bad;
        wrong("invalid UTF-8");
        return refused();
      }
    }
  }
  // A carriage return alone ends a line too (EOL ::= [#xD#xA]+).
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  while (at_ != end_ && *at_ == '#') {
    while (at_ != end_ && *at_ != '\r') ++at_;
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  if (at_end()) return false;
  if (!subject(fact.subject)) return refused();
  skip_blanks();
  if (at_end() || *at_ != '<') {
    wrong("expected the predicate, an IRI in <...>");
    return refused();
  }
  fact.predicate.kind = TermKind::iri;
  fact.predicate.datatype.clear();
  fact.predicate.lang.clear();
  if (!iri(fact.predicate.value)) return refused();
  skip_blanks();
  if (!object(fact.object)) return refused();
  skip_blanks();
  fact.graph.clear();
  if (quads_ && !at_end() && *at_ != '.') {
    if (!graph(fact.graph)) return refused();
    skip_blanks();
  }
  if (at_end() || *at_ != '.') {
    wrong("expected '.' at the end of the statement");
    return refused();
  }
  ++at_;
  skip_blanks();
  if (!at_end() && *at_ == '#') {
    while (at_ != end_ && *at_ != '\r') ++at_;
  }
  if (!at_end() && *at_ != '\r') {
    wrong("text after the end of the statement");
    return refused();
  }
  return true;
}

bool NTriplesLine::resource(Term& term, const char* expected) {
  term.datatype.clear();
  term.lang.clear();
  if (*at_ == '<') {
    term.kind = TermKind::iri;
    return iri(term.value);
  }
  if (*at_ == '_') {
    term.kind = TermKind::blank;
    return blank(term.value);
  }
  return wrong(expected);
}

bool NTriplesLine::subject(Term& term) {
  return resource(term, "expected the subject, an IRI in <...> or a blank node _:...");
}

bool NTriplesLine::object(Term& term) {
  if (at_end()) return wrong("expected the object");
  if (*at_ == '"') return literal(term);
  return resource(term, "expected the object, an IRI in <...>, a blank node _:... or a literal in \"...\"");
}

bool NTriplesLine::graph(std::string& out) {
  if (*at_ == '<') return iri(out);
  if (*at_ != '_') return wrong("expected the graph, an IRI in <...> or a blank node _:..., or '.'");
  if (!blank(label_)) return false;
  out = "_:";
  out += label_;
  return true;
}

bool NTriplesLine::iri(std::string& out) {
  const char* start = ++at_;
  while (at_ != end_ && !forbidden_in_iri(static_cast<unsigned char>(*at_))) ++at_;
  out.assign(start, at_);
  while (at_ != end_ && *at_ == '\\') {
    if (!escape(out, true)) return false;
    start = at_;
    while (at_ != end_ && !forbidden_in_iri(static_cast<unsigned char>(*at_))) ++at_;
    out.append(start, at_);
  }
  if (at_end()) return wrong("'<' without '>'");
  if (*at_ != '>') return wrong("a character that an IRI may not hold (write it as %XX)");
  ++at_;
  if (!has_scheme(out)) return wrong("a relative IRI (it must start with a scheme, such as http:)");
  return true;
}

bool NTriplesLine::blank(std::string& out) {
  if (end_ - at_ < 3 || at_[1] != ':') return wrong("expected a blank node _:label");
  at_ += 2;
  const char* start = at_;
  const char* last = at_;  // past the last character that is not a dot
  while (at_ != end_) {
    const char c = *at_;
    const bool first = at_ == start;
    if (is_letter(c) || is_digit(c) || c == '_' || (!first && c == '-')) {
      last = ++at_;
    } else if (c == '.' && !first) {
      ++at_;  // inside a label, unless nothing follows it
    } else if ((static_cast<unsigned char>(c) & 0x80) != 0) {
      std::size_t length = 1;
      while (at_ + length != end_ && (static_cast<unsigned char>(at_[length]) & 0xC0) == 0x80) ++length;
      const std::u32string code_point = base::to_code_points(std::string_view(at_, length));
      if (!is_name_char(code_point.front(), first)) break;
      last = at_ += length;
    } else {
      break;
    }
  }
  at_ = last;
  if (last == start) return wrong("a character that a blank node's label may not start with");
  blanks_.write(std::string_view(start, static_cast<std::size_t>(last - start)), out);
  return true;
}

bool NTriplesLine::literal(Term& term) {
  term.kind = TermKind::literal;
  term.datatype.clear();
  term.lang.clear();
  const char* start = ++at_;
  while (at_ != end_ && !kLiteralStops[static_cast<unsigned char>(*at_)]) ++at_;
  term.value.assign(start, at_);
  while (at_ != end_ && *at_ == '\\') {
    if (!escape(term.value, false)) return false;
    start = at_;
    while (at_ != end_ && !kLiteralStops[static_cast<unsigned char>(*at_)]) ++at_;
    term.value.append(start, at_);
  }
  if (at_end() || *at_ != '"') return wrong("'\"' without a closing '\"' on the same line");
  ++at_;
  if (at_end()) return true;
  if (*at_ == '@') {
    start = ++at_;
    while (at_ != end_ && (is_letter(*at_) || is_digit(*at_) || *at_ == '-')) ++at_;
    term.lang.assign(start, at_);
    if (!valid_language_tag(term.lang)) {
      at_ = start;
      return wrong("not a language tag");
    }
    for (char& c : term.lang) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return true;
  }
  if (*at_ != '^') return true;
  if (end_ - at_ < 3 || at_[1] != '^' || at_[2] != '<') return wrong("expected ^^<datatype>");
  at_ += 2;
  if (!iri(term.datatype)) return false;
  if (term.datatype == kLangString) return wrong("rdf:langString without a language tag");
  if (term.datatype == kXsdString) term.datatype.clear();
  return true;
}

// At a backslash; appends what it stands for and moves past it.
bool NTriplesLine::escape(std::string& out, bool in_iri) {
  if (end_ - at_ < 2) return wrong("'\\' at the end of the line");
  const char kind = at_[1];
  if (kind == 'u' || kind == 'U') {
    const int digits = kind == 'u' ? 4 : 8;
    if (end_ - at_ < 2 + digits) return wrong("an escape \\uXXXX or \\UXXXXXXXX with too few digits");
    std::uint32_t code_point = 0;
    for (int i = 0; i < digits; ++i) {
      const int value = hex_value(at_[2 + i]);
      if (value < 0) return wrong("an escape \\uXXXX or \\UXXXXXXXX with too few digits");
      code_point = code_point << 4 | static_cast<std::uint32_t>(value);
    }
    if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
      return wrong("an escape that is no Unicode character");
    }
    if (in_iri && code_point < 0x80 && forbidden_in_iri(static_cast<unsigned char>(code_point))) {
      return wrong("an escaped character that an IRI may not hold");
    }
    base::append_utf8(out, code_point);
    at_ += 2 + digits;
    return true;
  }
  if (in_iri) return wrong("in an IRI only the escapes \\uXXXX and \\UXXXXXXXX are allowed");
  switch (kind) {
    case 't':
      out += '\t';
      break;
    case 'b':
      out += '\b';
      break;
    case 'n':
      out += '\n';
      break;
    case 'r':
      out += '\r';
      break;
    case 'f':
      out += '\f';
      break;
    case '"':
      out += '"';
      break;
    case '\'':
      out += '\'';
      break;
    case '\\':
      out += '\\';
      break;
    default:
      return wrong("an unknown escape");
  }
  at_ += 2;
  return true;
}

base::Status read_ntriples(base::Input& input, bool quads, const BlankLabels& blanks, FactSink& sink) {
  base::LineReader lines(input);
  std::string_view text;
  while (true) {
    ASKBASE_ASSIGN(const bool more, lines.next(text));
    if (!more) return {};
    NTriplesLine line(text, quads, blanks);
    while (true) {
      Fact& fact = sink.slot();
      const base::Result<bool> read = line.next(fact);
      if (!read) {
        ASKBASE_TRY(sink.bad(lines.line_number(), read.error().message));
        break;
      }
      if (!*read) break;
      fact.row = lines.line_number();
      ASKBASE_TRY(sink.add());
    }
  }
}

}  // namespace askbase::kb
