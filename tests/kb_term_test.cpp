#include <doctest/doctest.h>
#include <random>

#include "base/text.h"
#include "kb/term.h"

using namespace askbase;
using namespace askbase::kb;

TEST_CASE("terms are written in canonical N-Triples") {
  CHECK(to_ntriples(Term::iri("http://example.org/北京")) == "<http://example.org/北京>");
  CHECK(to_ntriples(Term::iri("urn:a b<c>\"{}|^`\\")) ==
        R"(<urn:a\u0020b\u003Cc\u003E\u0022\u007B\u007D\u007C\u005E\u0060\u005C>)");
  CHECK(to_ntriples(Term::blank("b0")) == "_:b0");
  CHECK(to_ntriples(Term::literal("a\"b\\c\nd\re\tf")) == "\"a\\\"b\\\\c\\nd\\re\tf\"");
  CHECK(to_ntriples(Term::text("color", "en-US")) == "\"color\"@en-us");
  CHECK(to_ntriples(Term::integer(-5)) == "\"-5\"^^<http://www.w3.org/2001/XMLSchema#integer>");
  CHECK(to_ntriples(Term::literal("x", "http://www.w3.org/2001/XMLSchema#string")) == "\"x\"");
}

TEST_CASE("N-Triples terms are read") {
  CHECK(parse_ntriples("<urn:\\u5317\\U00004EAC>").value() == Term::iri("urn:北京"));
  CHECK(parse_ntriples(R"("\t\b\n\r\f\"\'\\\u00e9\U0001F600")").value() ==
        Term::literal("\t\b\n\r\f\"'\\é😀"));
  CHECK(parse_ntriples("\"臺灣\"@zh-Hant").value() == Term::text("臺灣", "zh-hant"));
  CHECK(parse_ntriples("\"\"").value() == Term::literal(""));
  CHECK(parse_ntriples("_:a.b-c").value() == Term::blank("a.b-c"));
}

TEST_CASE("what is no N-Triples term is refused, with the reason") {
  for (const char* bad : {"",
                          "x",
                          "<",
                          "<>",
                          "<a b>",
                          "<a",
                          "<a>x",
                          "<a\\n>",
                          "<\\ud800>",
                          "<\\u12>",
                          "\"",
                          "\"a",
                          "\"a\nb\"",
                          "\"\\x\"",
                          "\"a\"@",
                          "\"a\"@en_US",
                          "\"a\"@-",
                          "\"a\"@1",
                          "\"a\"^^",
                          "\"a\"^^b",
                          "\"a\"^^<b>c",
                          "\"a\"b",
                          "_:",
                          "_:.a",
                          "_:a.",
                          "_:a b",
                          "\"\\u0000\"",
                          "\"\\U00110000\"",
                          "\"\\UFFFFFFFF\"",
                          "\"\xFF\"",
                          "<\xC3>"}) {
    CAPTURE(bad);
    const auto result = parse_ntriples(bad);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == base::ErrorCode::bad_input);
    CHECK(result.error().message.size() > 20);
    CHECK(base::valid_utf8(result.error().message));
  }
  CHECK_FALSE(parse_ntriples(std::string_view("\"a\0b\"", 5)));
}

TEST_CASE("writing and reading gives the term back") {
  std::mt19937 random(5);
  const std::u32string letters = U"ab \"\\\n\r\t<>{}|^`@_.:é北😀\u0001\u007F";
  for (int i = 0; i < 20'000; ++i) {
    std::u32string text;
    for (std::size_t k = random() % 12; k > 0; --k) text += letters[random() % letters.size()];
    const std::string value = base::to_utf8(text);
    Term term = Term::literal(value);
    switch (random() % 4) {
      case 0:
        term = Term::iri("x" + value);
        break;
      case 1:
        term = Term::text(value, "zh-hans");
        break;
      case 2:
        term = Term::literal(value, "urn:" + value);
        break;
      default:
        break;
    }
    const auto back = parse_ntriples(to_ntriples(term));
    REQUIRE(back);
    CHECK(*back == term);
  }
}

TEST_CASE("the end of an IRI") {
  CHECK(iri_end("http://x.org/Barack_Obama") == "Barack_Obama");
  CHECK(iri_end("http://x.org/ns#label") == "label");
  CHECK(iri_end("http://x.org/things/") == "things");
  CHECK(iri_end("urn:askbase:entity:New%20York") == "New%20York");
  CHECK(iri_end("word") == "word");
  CHECK(iri_end("").empty());
}
