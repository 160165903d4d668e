#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#include <random>

#include "kb/encoding.h"

using namespace askbase::kb;

namespace {

Term typed(const std::string& lexical, const std::string& type) {
  return Term::literal(lexical, std::string(iri::xsd) + type);
}

std::string bytes_of(TermId id) {
  std::string out;
  append_id(out, id);
  return out;
}

TermId random_id(std::mt19937_64& random) {
  const auto type = static_cast<IdType>(1 + random() % 11);
  return make_id(type, random() >> (4 + random() % 60));
}

}  // namespace

TEST_CASE("literals whose value says it all are packed, and come back letter by letter") {
  struct Case {
    const char *lexical, *type;
  };
  for (const Case& c : std::initializer_list<Case>{{"0", "integer"},
                                                   {"7", "integer"},
                                                   {"-7", "integer"},
                                                   {"1152921504606846975", "integer"},
                                                   {"-1152921504606846975", "integer"},
                                                   {"0", "decimal"},
                                                   {"5", "decimal"},
                                                   {"-5.25", "decimal"},
                                                   {"0.000001", "decimal"},
                                                   {"-0.000001", "decimal"},
                                                   {"576460752303.423487", "decimal"},
                                                   {"1.5E0", "double"},
                                                   {"-1.5E0", "double"},
                                                   {"0.0E0", "double"},
                                                   {"-0.0E0", "double"},
                                                   {"1.0E1", "double"},
                                                   {"6.25E-2", "double"},
                                                   {"true", "boolean"},
                                                   {"false", "boolean"},
                                                   {"2024-02-29", "date"},
                                                   {"1970-01-01", "date"},
                                                   {"1969-12-31", "date"},
                                                   {"-0044-03-15", "date"},
                                                   {"0000-01-01", "date"},
                                                   {"12024-12-31", "date"},
                                                   {"1949", "gYear"},
                                                   {"-0044", "gYear"},
                                                   {"0000", "gYear"},
                                                   {"12024", "gYear"}}) {
    const Term term = typed(c.lexical, c.type);
    CAPTURE(to_ntriples(term));
    const auto id = pack_literal(term);
    REQUIRE(id);
    CHECK_FALSE(in_dictionary(*id));
    CHECK(unpack_literal(*id) == term);
  }
}

TEST_CASE("literals that a value would not give back stay terms") {
  struct Case {
    const char *lexical, *type;
  };
  for (const Case& c : std::initializer_list<Case>{{"007", "integer"},
                                                   {"+1", "integer"},
                                                   {"-0", "integer"},
                                                   {"", "integer"},
                                                   {"-", "integer"},
                                                   {"1.0", "integer"},
                                                   {" 1", "integer"},
                                                   {"1152921504606846976", "integer"},
                                                   {"-1152921504606846976", "integer"},
                                                   {"99999999999999999999999", "integer"},
                                                   {"1.0", "decimal"},
                                                   {"1.", "decimal"},
                                                   {".5", "decimal"},
                                                   {"01.5", "decimal"},
                                                   {"+1.5", "decimal"},
                                                   {"-0", "decimal"},
                                                   {"-0.0", "decimal"},
                                                   {"0.0000001", "decimal"},
                                                   {"576460752303.423488", "decimal"},
                                                   {"1e3", "decimal"},
                                                   {"1.5", "double"},
                                                   {"1.5e0", "double"},
                                                   {"15E-1", "double"},
                                                   {"1E0", "double"},
                                                   {"INF", "double"},
                                                   {"-INF", "double"},
                                                   {"NaN", "double"},
                                                   {"nan", "double"},
                                                   {"inf", "double"},
                                                   {"1.0E-1", "double"},
                                                   {"1.0E400", "double"},
                                                   {"1", "boolean"},
                                                   {"TRUE", "boolean"},
                                                   {"2023-02-29", "date"},
                                                   {"2024-13-01", "date"},
                                                   {"2024-00-10", "date"},
                                                   {"2024-01-00", "date"},
                                                   {"2024-1-01", "date"},
                                                   {"02024-01-01", "date"},
                                                   {"2024-01-01Z", "date"},
                                                   {"-0000-01-01", "date"},
                                                   {"24-01-01", "date"},
                                                   {"2024/01/01", "date"},
                                                   {"49", "gYear"},
                                                   {"1949Z", "gYear"},
                                                   {"-0000", "gYear"},
                                                   {"1234567890123", "gYear"},
                                                   {"5", "int"},
                                                   {"5", "float"},
                                                   {"2024-01-01T00:00:00", "dateTime"}}) {
    CAPTURE(c.lexical);
    CAPTURE(c.type);
    CHECK_FALSE(pack_literal(typed(c.lexical, c.type)));
  }
  CHECK_FALSE(pack_literal(Term::literal("5")));
  CHECK_FALSE(pack_literal(Term::text("5", "en")));
  CHECK_FALSE(pack_literal(Term::iri("5")));
}

TEST_CASE("ids of a type, and their bytes, are ordered as the values") {
  std::mt19937_64 random(3);
  const auto check = [&](const std::string& type, auto value_of, auto lexical_of) {
    using Value = decltype(value_of());
    std::vector<std::pair<Value, TermId>> all;
    for (int i = 0; i < 4000; ++i) {
      const Value value = value_of();
      const auto id = pack_literal(typed(lexical_of(value), type));
      if (id) all.emplace_back(value, *id);
    }
    CAPTURE(type);
    CHECK(all.size() > 1000);
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i) {
      CHECK((all[i - 1].first < all[i].first) == (all[i - 1].second < all[i].second));
      CHECK((all[i - 1].second < all[i].second) == (bytes_of(all[i - 1].second) < bytes_of(all[i].second)));
    }
  };
  const auto number = [&] { return static_cast<std::int64_t>(random()) >> (4 + random() % 59); };
  check("integer", number, [](std::int64_t v) { return std::to_string(v); });
  check(
      "gYear", [&] { return static_cast<std::int64_t>(1000 + random() % 90'000); },
      [](std::int64_t v) { return std::to_string(v); });
  check(
      "decimal", [&] { return number() % 100'000'000'000; },
      [](std::int64_t v) { return std::to_string(v); });
  check(
      "double",
      [&] { return std::ldexp(static_cast<double>(number() % 1000), static_cast<int>(random() % 8) - 4); },
      [](double v) {
        const Term canonical = unpack_literal(make_id(IdType::double_, [&] {
          std::uint64_t bits = 0;
          std::memcpy(&bits, &v, sizeof bits);
          return (bits >> 63 ? ~bits : bits | (1ULL << 63)) >> 4;
        }()));
        return canonical.value;
      });
  // Dates, whose spelling (years of four digits) is ordered as they are.
  check(
      "date",
      [&] {
        char text[11];
        std::snprintf(text, sizeof text, "%04d-%02d-%02d", static_cast<int>(random() % 10'000),
                      static_cast<int>(1 + random() % 12), static_cast<int>(1 + random() % 31));
        return std::string(text);
      },
      [](const std::string& v) { return v; });
}

TEST_CASE("days are counted as elsewhere") {
  // Python: (datetime.date(y, m, d) - datetime.date(1970, 1, 1)).days
  const auto days = [](const char* date) {
    return static_cast<std::int64_t>(id_payload(*pack_literal(typed(date, "date")))) -
           (std::int64_t{1} << 59);
  };
  CHECK(days("1970-01-01") == 0);
  CHECK(days("2000-03-01") == 11017);
  CHECK(days("2024-02-29") == 19782);
  CHECK(days("1949-10-01") == -7397);
  CHECK(days("0001-01-01") == -719162);
  CHECK(days("9999-12-31") == 2932896);
}

TEST_CASE("ids and keys: bytes and back, prefix-free, in order") {
  std::mt19937_64 random(4);
  for (int i = 0; i < 50'000; ++i) {
    const TermId a = random_id(random), b = random_id(random);
    const std::string x = bytes_of(a), y = bytes_of(b);
    std::string_view in = x;
    TermId back;
    REQUIRE(read_id(in, back));
    CHECK(in.empty());
    CHECK(back == a);
    CHECK((a < b) == (x < y));
    if (a != b) CHECK_FALSE(y.starts_with(x));
    const Triple t{a, b, random_id(random)};
    for (const Order order : {Order::spo, Order::pos, Order::osp}) {
      Triple read;
      REQUIRE(read_key(FactKey(order, t).view(), order, read));
      CHECK(read == t);
      const FactKey key(order, t);
      const std::string_view cut = key.view().substr(0, key.view().size() - 1);
      CHECK_FALSE(read_key(cut, order, read));
    }
  }
}

TEST_CASE("bytes that are no id") {
  TermId id;
  for (const std::string_view bad :
       {std::string_view(), std::string_view("\x00", 1), std::string_view("\x11", 1),
        std::string_view("\x12\x01"), std::string_view("\x11\x00", 2),
        std::string_view("\x19\x01\x01\x01\x01\x01\x01\x01\x01\x01"),
        std::string_view("\x18\x10\x01\x01\x01\x01\x01\x01\x01"), std::string_view("\xC1\x01")}) {
    std::string_view in = bad;
    CHECK_FALSE(read_id(in, id));
  }
}

TEST_CASE("varints") {
  std::mt19937_64 random(6);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);
    std::string bytes;
    append_varint(bytes, value);
    std::string_view in = bytes;
    std::uint64_t back = 0;
    REQUIRE(read_varint(in, back));
    CHECK(in.empty());
    CHECK(back == value);
    in = std::string_view(bytes).substr(0, bytes.size() - 1);
    CHECK_FALSE(read_varint(in, back));
  }
  std::string_view overlong = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02";
  std::uint64_t value = 0;
  CHECK_FALSE(read_varint(overlong, value));
}

TEST_CASE("each pattern has an order whose first places it binds") {
  const Triple t{make_id(IdType::iri, 300), make_id(IdType::iri, 2), make_id(IdType::year, 70'000)};
  for (int bound = 0; bound < 8; ++bound) {
    Pattern pattern;
    if (bound & 1) pattern.subject = t.subject;
    if (bound & 2) pattern.predicate = t.predicate;
    if (bound & 4) pattern.object = t.object;
    std::string prefix, wanted;
    const Order order = scan_prefix(pattern, prefix);
    CHECK(FactKey(order, t).view().starts_with(prefix));
    for (const auto& place : {pattern.subject, pattern.predicate, pattern.object})
      if (place) append_id(wanted, *place);
    CHECK(prefix.size() == wanted.size());
  }
  CHECK(prefix_end("a") == "b");
  CHECK(prefix_end("a\xFF\xFF") == "b");
  CHECK(prefix_end("\xFF\xFF").empty());
  CHECK(prefix_end("").empty());
}

TEST_CASE("terms: bytes and back") {
  for (const Term& term : {Term::iri("urn:x"), Term::blank("b"), Term::literal(""), Term::literal("i"),
                           Term::text("", "en"), Term::text("北京", "zh"),
                           Term::literal("POINT(1 2)", "urn:wkt"), Term::literal(std::string(5000, 'x'))}) {
    Term back;
    REQUIRE(decode_term(encode_term(term), back));
    CHECK(back == term);
  }
  Term term;
  for (const std::string_view bad :
       {std::string_view(), std::string_view("x"), std::string_view("la"), std::string_view("ta"),
        std::string_view("sa\0b", 4), std::string_view("la\0", 3), std::string_view("ta\0b\0c", 6)})
    CHECK_FALSE(decode_term(bad, term));
}

TEST_CASE("long terms share the dictionary by a hash") {
  const std::string plain = encode_term(Term::literal(std::string(511, 'x')));
  CHECK(dictionary_key(plain) == plain);
  const std::string a = dictionary_key(encode_term(Term::literal(std::string(512, 'x')))),
                    b = dictionary_key(encode_term(Term::literal(std::string(513, 'x'))));
  CHECK(a.size() == 17);
  CHECK(a.front() == 'h');
  CHECK(a != b);
  // FNV-1a with 128 bits of "s" and 512 times "x", by Python: h = (h ^ byte) * 0x1000000000000000000013B %
  // 2**128 (basis of the reference)
  std::string digits;
  for (const char c : a.substr(1)) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    digits += pair;
  }
  CHECK(digits == "e7f54c5016ea1d0572c1772e6e085f8a");
}
