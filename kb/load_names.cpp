#include "kb/load_names.h"

#include <cstddef>

#include "base/language.h"
#include "base/text.h"
#include "kb/rdf_terms.h"

namespace askbase::kb {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// RFC 3987: ucschar, without the marks that steer the direction of writing.
bool may_stand(char32_t c) {
  const auto in = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  if (c < 0x80) {
    return !forbidden_in_iri(static_cast<unsigned char>(c)) && c != 0x7F && c != '%' && c != '#' &&
           c != '?' && c != '[' && c != ']';
  }
  if (in(0x200E, 0x200F) || in(0x202A, 0x202E)) return false;
  if (in(0xA0, 0xD7FF) || in(0xF900, 0xFDCF) || in(0xFDF0, 0xFFEF)) return true;
  return c >= 0x10000 && c < 0xF0000 && (c & 0xFFFF) <= 0xFFFD && !in(0xE0000, 0xE0FFF);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

bool looks_like_iri(std::string_view text) {
  if (!is_absolute_iri(text)) return false;
  const std::size_t colon = text.find(':');
  const std::string_view scheme = text.substr(0, colon), rest = text.substr(colon + 1);
  if (rest.empty()) return false;
  if (rest.size() > 2 && rest.substr(0, 2) == "//") return true;
  if (scheme.size() < 2) return false;
  for (const char c : scheme) {
    if (!is_lower_or_digit(c) && c != '+' && c != '-' && c != '.') return false;
  }
  return true;
}

std::string encode_name(std::string_view name) {
  std::string out;
  out.reserve(name.size() + 8);
  std::size_t at = 0;
  while (at < name.size()) {
    std::size_t length = 1;
    while (at + length < name.size() && (static_cast<unsigned char>(name[at + length]) & 0xC0) == 0x80)
      ++length;
    const std::string_view character = name.substr(at, length);
    const auto lead = static_cast<unsigned char>(character.front());
    const char32_t code_point = lead < 0x80 ? lead : base::to_code_points(character).front();
    if (may_stand(code_point)) {
      out += character;
    } else {
      for (const char c : character) {
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      }
    }
    at += length;
  }
  return out;
}

std::string decode_name(std::string_view encoded) {
  std::string out;
  out.reserve(encoded.size());
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] == '%' && i + 2 < encoded.size() && hex_value(encoded[i + 1]) >= 0 &&
        hex_value(encoded[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(encoded[i + 1]) * 16 + hex_value(encoded[i + 2]));
      i += 2;
    } else {
      out += encoded[i];
    }
  }
  return base::valid_utf8(out) ? out : std::string(encoded);
}

std::string name_iri(std::string_view space, std::string_view name) {
  // A colon inside the space would make another space of it.
  std::string out = "urn:askbase:";
  for (const char c : encode_name(space)) {
    if (c == ':') {
      out += "%3A";
    } else {
      out += c;
    }
  }
  out += ':';
  out += encode_name(name);
  return out;
}

std::string language_of(std::string_view text) {
  const base::Language language = base::detect_language(text);
  return language == base::Language::unknown ? std::string() : std::string(base::language_code(language));
}

Term text_in_its_language(std::string_view text) { return Term::text(std::string(text), language_of(text)); }

std::string source_to_graph(std::string_view source) {
  const bool reserved = source.substr(0, source_prefix.size()) == source_prefix;
  const bool blank = source.starts_with("_:") && BlankLabels::is_kept(source.substr(2)) &&
                     valid_blank_label(source.substr(2));
  if (!reserved && (blank || is_absolute_iri(source))) return std::string(source);
  return std::string(source_prefix) + encode_name(source);
}

std::string graph_to_source(std::string_view graph) {
  if (graph.substr(0, source_prefix.size()) != source_prefix) return std::string(graph);
  return decode_name(graph.substr(source_prefix.size()));
}

}  // namespace askbase::kb
