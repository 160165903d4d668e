#include "kb/encoding.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace askbase::kb {

namespace {

constexpr std::uint64_t payload_limit = std::uint64_t{1} << 60;
constexpr std::int64_t payload_middle = std::int64_t{1} << 59;
constexpr std::int64_t decimal_scale = 1'000'000;
constexpr int decimal_places = 6;
constexpr std::size_t max_year_digits = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits without a sign; at most 18 of them, so that nothing overflows.
std::optional<std::int64_t> read_digits(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool take_minus(std::string_view& text) {
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<TermId> pack_integer(std::string_view text) {
  const bool negative = take_minus(text);
  if (text.starts_with('0') && (negative || text.size() > 1)) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || !is_digit(text.front()) || error != std::errc{} || end != text.data() + text.size() ||
      value >= payload_limit)
    return std::nullopt;
  return negative ? make_id(IdType::negative, payload_limit - value) : make_id(IdType::integer, value);
}

std::optional<TermId> pack_decimal(std::string_view text) {
  const bool negative = take_minus(text);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (whole.size() > 12 || (whole.starts_with('0') && whole.size() > 1)) return std::nullopt;
  const auto units = read_digits(whole);
  if (!units) return std::nullopt;
  std::int64_t scaled = *units * decimal_scale;
  if (point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.size() > decimal_places || fraction.back() == '0') return std::nullopt;
    auto part = read_digits(fraction);
    if (!part) return std::nullopt;
    for (std::size_t i = fraction.size(); i < decimal_places; ++i) *part *= 10;
    scaled += *part;
  }
  if (scaled >= payload_middle || (negative && scaled == 0)) return std::nullopt;
  return make_id(IdType::decimal, static_cast<std::uint64_t>(payload_middle + (negative ? -scaled : scaled)));
}

// The canonical form of XML Schema: one digit before the point, at least one after it, "E" and an exponent
// without "+" or leading zeros.
std::string canonical_double(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(result.ptr - buffer));
  const std::size_t e = text.find('e');
  std::string out(text.substr(0, e));
  if (out.find('.') == std::string::npos) out += ".0";
  out += 'E';
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '-') out += '-';
  exponent.remove_prefix(1);
  while (exponent.size() > 1 && exponent.front() == '0') exponent.remove_prefix(1);
  out += exponent;
  return out;
}

std::optional<TermId> pack_double(std::string_view text) {
  constexpr std::size_t longest = 24;  // "-1.7976931348623157E-308"
  if (text.empty() || text.size() > longest) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if ((bits & 15) != 0 || canonical_double(value) != text) return std::nullopt;
  const std::uint64_t ordered = (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
  return make_id(IdType::double_, ordered >> 4);
}

double unpack_double(std::uint64_t payload) {
  const std::uint64_t ordered = payload << 4;
  const bool positive = (ordered >> 63) != 0;
  return std::bit_cast<double>(positive ? ordered & ~(std::uint64_t{1} << 63) : ~(ordered | 15));
}

// Days since 1970-01-01 in the proleptic Gregorian calendar, and back: H. Hinnant, "chrono-compatible
// low-level date algorithms" (2014).
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

struct Civil {
  std::int64_t year;
  unsigned month, day;
};

Civil civil_from_days(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted = (5 * day_of_year + 2) / 153;
  const unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2), month,
          day_of_year - (153 * shifted + 2) / 5 + 1};
}

// A year of four digits, or more without a leading zero; "-0000" is none.
std::optional<std::int64_t> read_year(std::string_view text) {
  const bool negative = take_minus(text);
  if (text.size() < 4 || text.size() > max_year_digits || (text.size() > 4 && text.front() == '0'))
    return std::nullopt;
  const auto year = read_digits(text);
  if (!year || (negative && *year == 0)) return std::nullopt;
  return negative ? -*year : *year;
}

std::string write_year(std::int64_t year) {
  std::string digits = std::to_string(year < 0 ? -year : year);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return year < 0 ? '-' + digits : digits;
}

std::optional<TermId> pack_year(std::string_view text) {
  const auto year = read_year(text);
  if (!year) return std::nullopt;
  return make_id(IdType::year, static_cast<std::uint64_t>(payload_middle + *year));
}

std::optional<TermId> pack_date(std::string_view text) {
  constexpr std::size_t tail = 6;  // "-MM-DD"
  if (text.size() < 4 + tail) return std::nullopt;
  const std::string_view end = text.substr(text.size() - tail);
  const auto year = read_year(text.substr(0, text.size() - tail));
  const auto month = read_digits(end.substr(1, 2)), day = read_digits(end.substr(4, 2));
  if (!year || !month || !day || end[0] != '-' || end[3] != '-' || *month < 1 || *month > 12 || *day < 1)
    return std::nullopt;
  const std::int64_t days =
      days_from_civil(*year, static_cast<unsigned>(*month), static_cast<unsigned>(*day));
  const Civil back = civil_from_days(days);
  if (back.month != static_cast<unsigned>(*month) || back.day != static_cast<unsigned>(*day))
    return std::nullopt;  // 30 February
  return make_id(IdType::date, static_cast<std::uint64_t>(payload_middle + days));
}

std::string two_digits(unsigned value) {
  return {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
}

// Writes at most nine bytes; may touch up to eight bytes behind the first.
std::size_t write_id(char* out, TermId id) {
  const std::uint64_t payload = id_payload(id);
  const int length = (64 - std::countl_zero(payload) + 7) / 8;
  out[0] = static_cast<char>(static_cast<int>(id_type(id)) << 4 | length);
  if (length > 0) {
    const std::uint64_t big_endian = __builtin_bswap64(payload << (64 - 8 * length));
    std::memcpy(out + 1, &big_endian, sizeof big_endian);
  }
  return 1 + static_cast<std::size_t>(length);
}

// FNV-1a with 128 bits (Fowler, Noll, Vo): offset basis and prime of the reference.
__extension__ using Wide = unsigned __int128;
Wide fnv1a(std::string_view bytes) {
  constexpr Wide basis = Wide{0x6c62272e07bb0142} << 64 | 0x62b821756295c58d;
  constexpr Wide prime = Wide{0x0000000001000000} << 64 | 0x000000000000013b;
  Wide hash = basis;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

constexpr char tag_iri = 'i', tag_blank = 'b', tag_string = 's', tag_language = 'l', tag_typed = 't',
               tag_hash = 'h';

}  // namespace

std::optional<TermId> pack_literal(const Term& term) {
  if (term.kind != TermKind::literal || term.datatype.size() <= iri::xsd.size() ||
      !term.datatype.starts_with(iri::xsd))
    return std::nullopt;
  const std::string_view type = std::string_view(term.datatype).substr(iri::xsd.size());
  if (type == "integer") return pack_integer(term.value);
  if (type == "decimal") return pack_decimal(term.value);
  if (type == "double") return pack_double(term.value);
  if (type == "date") return pack_date(term.value);
  if (type == "gYear") return pack_year(term.value);
  if (type == "boolean") {
    if (term.value == "true") return make_id(IdType::boolean, 1);
    if (term.value == "false") return make_id(IdType::boolean, 0);
  }
  return std::nullopt;
}

Term unpack_literal(TermId id) {
  const std::uint64_t payload = id_payload(id);
  const std::int64_t offset = static_cast<std::int64_t>(payload) - payload_middle;
  const auto typed = [](std::string lexical, std::string_view type) {
    return Term::literal(std::move(lexical), std::string(iri::xsd) + std::string(type));
  };
  switch (id_type(id)) {
    case IdType::boolean:
      return typed(payload != 0 ? "true" : "false", "boolean");
    case IdType::integer:
      return typed(std::to_string(payload), "integer");
    case IdType::negative:
      return typed('-' + std::to_string(payload_limit - payload), "integer");
    case IdType::decimal: {
      const std::int64_t size = offset < 0 ? -offset : offset;
      std::string text = std::to_string(size / decimal_scale);
      if (const std::int64_t fraction = size % decimal_scale; fraction != 0) {
        std::string digits = std::to_string(fraction);
        digits.insert(0, decimal_places - digits.size(), '0');
        digits.erase(digits.find_last_not_of('0') + 1);
        text += '.' + digits;
      }
      return typed(offset < 0 ? '-' + text : text, "decimal");
    }
    case IdType::double_:
      return typed(canonical_double(unpack_double(payload)), "double");
    case IdType::date: {
      const Civil civil = civil_from_days(offset);
      return typed(write_year(civil.year) + '-' + two_digits(civil.month) + '-' + two_digits(civil.day),
                   "date");
    }
    case IdType::year:
      return typed(write_year(offset), "gYear");
    default:
      return {};
  }
}

void append_id(std::string& out, TermId id) {
  char bytes[9];
  out.append(bytes, write_id(bytes, id));
}

bool read_id(std::string_view& in, TermId& id) {
  if (in.empty()) return false;
  const auto header = static_cast<unsigned char>(in.front());
  const std::size_t length = header & 15;
  const auto type = static_cast<IdType>(header >> 4);
  if (length > 8 || length >= in.size() || type == IdType::none || type > IdType::year) return false;
  std::uint64_t payload = 0;
  for (std::size_t i = 1; i <= length; ++i) payload = payload << 8 | static_cast<unsigned char>(in[i]);
  if (payload >= payload_limit || (length > 0 && in[1] == '\0')) return false;
  id = make_id(type, payload);
  in.remove_prefix(1 + length);
  return true;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

bool read_varint(std::string_view& in, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return shift < 63 || byte <= 1;
  }
  return false;
}

FactKey::FactKey(Order order, const Triple& triple) {
  const TermId* places[3] = {&triple.subject, &triple.predicate, &triple.object};
  const unsigned first = order == Order::spo ? 0 : order == Order::pos ? 1 : 2;
  std::size_t size = 0;
  for (unsigned i = 0; i < 3; ++i) size += write_id(bytes_ + size, *places[(first + i) % 3]);
  size_ = static_cast<std::uint8_t>(size);
}

void append_key(std::string& out, Order order, const Triple& triple) { out += FactKey(order, triple).view(); }

bool read_key(std::string_view key, Order order, Triple& triple) {
  TermId* places[3] = {&triple.subject, &triple.predicate, &triple.object};
  const unsigned first = order == Order::spo ? 0 : order == Order::pos ? 1 : 2;
  for (unsigned i = 0; i < 3; ++i)
    if (!read_id(key, *places[(first + i) % 3])) return false;
  return key.empty();
}

Order scan_prefix(const Pattern& pattern, std::string& prefix) {
  const std::optional<TermId> places[3] = {pattern.subject, pattern.predicate, pattern.object};
  // Each order answers the patterns whose bound places come first in it; (s, ?, o) is osp's.
  unsigned first = 0;
  if (!pattern.subject && pattern.predicate) first = 1;
  if (pattern.object && !pattern.predicate) first = 2;
  for (unsigned i = 0; i < 3 && places[(first + i) % 3]; ++i) append_id(prefix, *places[(first + i) % 3]);
  return first == 0 ? Order::spo : first == 1 ? Order::pos : Order::osp;
}

std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xFF) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

void append_term(std::string& out, const Term& term) {
  switch (term.kind) {
    case TermKind::iri:
      out += tag_iri;
      break;
    case TermKind::blank:
      out += tag_blank;
      break;
    case TermKind::literal:
      out += !term.lang.empty() ? tag_language : term.datatype.empty() ? tag_string : tag_typed;
  }
  out += term.value;
  if (term.kind != TermKind::literal || (term.lang.empty() && term.datatype.empty())) return;
  out += '\0';
  out += term.lang.empty() ? term.datatype : term.lang;
}

std::string encode_term(const Term& term) {
  std::string out;
  out.reserve(term.value.size() + term.datatype.size() + term.lang.size() + 2);
  append_term(out, term);
  return out;
}

bool decode_term(std::string_view bytes, Term& term) {
  if (bytes.empty()) return false;
  const char tag = bytes.front();
  bytes.remove_prefix(1);
  const std::size_t nul = bytes.find('\0');
  const bool paired = tag == tag_language || tag == tag_typed;
  if (paired == (nul == std::string_view::npos)) return false;
  term = {};
  term.value = bytes.substr(0, nul);
  switch (tag) {
    case tag_iri:
      term.kind = TermKind::iri;
      return true;
    case tag_blank:
      term.kind = TermKind::blank;
      return true;
    case tag_string:
      term.kind = TermKind::literal;
      return true;
    case tag_language:
    case tag_typed: {
      term.kind = TermKind::literal;
      const std::string_view rest = bytes.substr(nul + 1);
      (tag == tag_language ? term.lang : term.datatype) = rest;
      return !rest.empty() && rest.find('\0') == std::string_view::npos;
    }
    default:
      return false;
  }
}

IdType dictionary_type(const Term& term) {
  switch (term.kind) {
    case TermKind::iri:
      return IdType::iri;
    case TermKind::blank:
      return IdType::blank;
    case TermKind::literal:
      break;
  }
  return term.datatype.empty() ? IdType::string : IdType::literal;
}

std::string dictionary_key(std::string_view encoded_term) {
  if (encoded_term.size() <= max_plain_key) return std::string(encoded_term);
  const Wide hash = fnv1a(encoded_term);
  std::string key(1, tag_hash);
  for (int shift = 120; shift >= 0; shift -= 8)
    key += static_cast<char>(static_cast<unsigned char>(hash >> shift));
  return key;
}

}  // namespace askbase::kb
