#include "kb/rdf_terms.h"

#include <array>
#include <cstddef>

#include "base/text.h"

namespace askbase::kb {
namespace {

constexpr std::size_t kHashDigits = 12;

constexpr std::array<bool, 256> make_iri_stops() {
  std::array<bool, 256> stops{};
  for (int byte = 0; byte <= 0x20; ++byte) stops[byte] = true;
  for (const unsigned char byte : {'<', '>', '"', '{', '}', '|', '^', '`', '\\'}) stops[byte] = true;
  return stops;
}
constexpr std::array<bool, 256> kIriStops = make_iri_stops();

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// FNV-1a, 64 bits: part of the data that a KB keeps, so it must never change.
std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

// The parts of an IRI reference, with their marks where a part may be there and empty.
struct IriParts {
  std::string_view scheme;     // without ':'
  std::string_view authority;  // with "//"
  std::string_view path;
  std::string_view query;     // with '?'
  std::string_view fragment;  // with '#'
};

std::string_view cut(std::string_view& rest, std::size_t end) {
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(part.size());
  return part;
}

IriParts split_iri(std::string_view rest) {
  IriParts parts;
  if (has_scheme(rest)) {
    parts.scheme = cut(rest, rest.find(':'));
    rest.remove_prefix(1);
  }
  if (rest.substr(0, 2) == "//") parts.authority = cut(rest, rest.find_first_of("/?#", 2));
  parts.path = cut(rest, rest.find_first_of("?#"));
  parts.query = cut(rest, rest.find('#'));
  parts.fragment = rest;
  return parts;
}

// RFC 3986, 5.2.4.
std::string without_dots(std::string_view path) {
  std::string out;
  const auto drop_last = [&out] { out.erase(out.rfind('/') == std::string::npos ? 0 : out.rfind('/')); };
  while (!path.empty()) {
    if (path.substr(0, 3) == "../") {
      path.remove_prefix(3);
    } else if (path.substr(0, 2) == "./") {
      path.remove_prefix(2);
    } else if (path.substr(0, 3) == "/./") {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.substr(0, 4) == "/../") {
      path.remove_prefix(3);
      drop_last();
    } else if (path == "/..") {
      path = "/";
      drop_last();
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      out += cut(path, path.find('/', 1));
    }
  }
  return out;
}

}  // namespace

BlankLabels::BlankLabels(std::string_view source) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::uint64_t hash = fnv1a(source);
  prefix_ = "b";
  for (std::size_t i = 0; i < kHashDigits; ++i) prefix_ += digits[hash >> (60 - 4 * i) & 15];
  prefix_ += 'x';
}

bool BlankLabels::is_kept(std::string_view label) {
  if (label.size() < kHashDigits + 3 || label[0] != 'b' || label[kHashDigits + 1] != 'x') return false;
  for (std::size_t i = 1; i <= kHashDigits; ++i) {
    if (!is_hex(label[i])) return false;
  }
  return true;
}

void BlankLabels::write(std::string_view label, std::string& out) const {
  if (is_kept(label)) {
    out = label;
    return;
  }
  out = prefix_;
  out += label;
}

bool forbidden_in_iri(unsigned char byte) { return kIriStops[byte]; }

bool has_scheme(std::string_view iri) {
  if (iri.empty() || !is_letter(iri[0])) return false;
  for (const char c : iri) {
    if (c == ':') return true;
    if (!is_letter(c) && !is_digit(c) && c != '+' && c != '-' && c != '.') return false;
  }
  return false;
}

bool is_absolute_iri(std::string_view iri) {
  if (!has_scheme(iri)) return false;
  for (const char c : iri) {
    if (kIriStops[static_cast<unsigned char>(c)]) return false;
  }
  return true;
}

std::string resolve_iri(std::string_view base, std::string_view reference) {
  const IriParts to = split_iri(reference), from = split_iri(base);
  if (!to.scheme.empty()) return std::string(reference);
  std::string out(from.scheme);
  out += ':';
  const auto append = [&out](std::string_view authority, std::string_view path, std::string_view query) {
    out += authority;
    out += path;
    out += query;
  };
  if (!to.authority.empty()) {
    append(to.authority, without_dots(to.path), to.query);
  } else if (to.path.empty()) {
    append(from.authority, from.path, to.query.empty() ? from.query : to.query);
  } else if (to.path.front() == '/') {
    append(from.authority, without_dots(to.path), to.query);
  } else {
    std::string path(
        !from.authority.empty() && from.path.empty() ? "/" : from.path.substr(0, from.path.rfind('/') + 1));
    path += to.path;
    append(from.authority, without_dots(path), to.query);
  }
  out += to.fragment;
  return out;
}

bool is_name_char(char32_t c, bool first) {
  const auto in = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  if (in(0xC0, 0xD6) || in(0xD8, 0xF6) || in(0xF8, 0x2FF) || in(0x370, 0x37D) || in(0x37F, 0x1FFF) ||
      in(0x200C, 0x200D) || in(0x2070, 0x218F) || in(0x2C00, 0x2FEF) || in(0x3001, 0xD7FF) ||
      in(0xF900, 0xFDCF) || in(0xFDF0, 0xFFFD) || in(0x10000, 0xEFFFF)) {
    return true;
  }
  return !first && (c == 0xB7 || in(0x300, 0x36F) || in(0x203F, 0x2040));
}

bool is_blank_label(std::string_view label) {
  if (label.empty() || label.back() == '.') return false;
  bool first = true;
  for (const char32_t c : base::to_code_points(label)) {
    const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z' && c < 0x80;
    const bool plain = letter || (c >= '0' && c <= '9') || c == '_' || (!first && (c == '-' || c == '.'));
    if (!plain && (c < 0x80 || !is_name_char(c, first))) return false;
    first = false;
  }
  return true;
}

}  // namespace askbase::kb
