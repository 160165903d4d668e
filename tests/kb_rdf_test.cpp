#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>

#include "base/text.h"
#include "kb/ntriples_reader.h"
#include "tests/kb_load_support.h"
#include "tests/test_support.h"

namespace askbase::kb {
namespace {

using test::Collector;

std::vector<std::string> read(const std::string& text, Format format) {
  Collector sink;
  const base::Status status = test::read_rdf(text, format, sink);
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return sink.lines();
}

// The message of the error that reading must give.
std::string refused(const std::string& text, Format format) {
  Collector sink;
  const base::Status status = test::read_rdf(text, format, sink);
  REQUIRE_FALSE(status);
  return status.error().message;
}

using Lines = std::vector<std::string>;

TEST_CASE("N-Triples: terms, escapes and what may surround them") {
  CHECK(read("<urn:s> <urn:p> <urn:o> .", Format::ntriples) == Lines{"<urn:s> <urn:p> <urn:o> ."});
  CHECK(read("\xEF\xBB\xBF# comment\n\n  <urn:s>\t<urn:p>\"a\"@EN-gb.# more\r\n<urn:s><urn:p>_:x.",
             Format::ntriples) ==
        Lines{"<urn:s> <urn:p> \"a\"@en-gb .", "<urn:s> <urn:p> _:bf9e6e6ef197cxx ."});
  CHECK(read(R"(<urn:s> <urn:p> "\u5317\U00004EAC \"x\" \t\n\\" .)", Format::ntriples) ==
        Lines{"<urn:s> <urn:p> \"北京 \\\"x\\\" \t\\n\\\\\" ."});
  CHECK(read(R"(<urn:\u5317> <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#string> .)", Format::ntriples) ==
        Lines{"<urn:北> <urn:p> \"1\" ."});
  // Lone carriage returns end lines, too.
  CHECK(
      read("<urn:s> <urn:p> \"1\" .\r<urn:s> <urn:p> \"2\" .\r# x\r<urn:s> <urn:p> \"3\" .", Format::ntriples)
          .size() == 3);
  CHECK(read("", Format::ntriples).empty());
}

TEST_CASE("N-Quads: the graph stands in the fourth place") {
  CHECK(read("<urn:s> <urn:p> <urn:o> <urn:g> .\n<urn:s> <urn:p> <urn:o> .\n", Format::nquads) ==
        Lines{"<urn:s> <urn:p> <urn:o> <urn:g> .", "<urn:s> <urn:p> <urn:o> ."});
  CHECK(refused("<urn:s> <urn:p> <urn:o> <urn:g> .", Format::ntriples).starts_with("1: expected '.'"));
  CHECK(refused("<urn:s> <urn:p> <urn:o> \"g\" .", Format::nquads).starts_with("1: expected the graph"));
}

TEST_CASE("N-Triples: bad lines are told with line, reason and column") {
  const std::string good = "<urn:s> <urn:p> <urn:o> .\n";
  const auto second = [&](const std::string& line) {
    return refused(good + line + "\n" + good, Format::ntriples);
  };
  CHECK(second("<urn:s> <urn:p> \"x .") == "2: '\"' without a closing '\"' on the same line (column 21)");
  CHECK(second("<urn:a b> <urn:p> <urn:o> .") ==
        "2: a character that an IRI may not hold (write it as %XX) (column 7)");
  CHECK(second("<s> <urn:p> <urn:o> .").starts_with("2: a relative IRI"));
  CHECK(second("\"s\" <urn:p> <urn:o> .").starts_with("2: expected the subject"));
  CHECK(second("<urn:s> _:p <urn:o> .").starts_with("2: expected the predicate"));
  CHECK(second("<urn:s> <urn:p> .").starts_with("2: expected the object"));
  CHECK(second("<urn:s> <urn:p> <urn:o>").starts_with("2: expected '.'"));
  CHECK(second("<urn:s> <urn:p> <urn:o> . x").starts_with("2: text after the end"));
  CHECK(second("<urn:s> <urn:p> \"\\uD800\" .").starts_with("2: an escape that is no Unicode character"));
  CHECK(second("<urn:s> <urn:p> \"\\U00110000\" .").starts_with("2: an escape that is no Unicode character"));
  CHECK(second("<urn:s> <urn:p> \"\\x\" .").starts_with("2: an unknown escape"));
  CHECK(second("<urn:s> <urn:p> \"\\u12\" .").starts_with("2: an escape \\uXXXX"));
  CHECK(second("<urn:\\u0020> <urn:p> <urn:o> .")
            .starts_with("2: an escaped character that an IRI may not hold"));
  CHECK(second("<urn:s> <urn:p> \"x\"@1 .").starts_with("2: not a language tag"));
  CHECK(second("<urn:s> <urn:p> \"x\"^^xsd:int .").starts_with("2: expected ^^<datatype>"));
  CHECK(second("<urn:s> <urn:p> _: .").starts_with("2: "));
  CHECK(second("<urn:s> <urn:p> \"\xC0\xAF\" .") == "2: invalid UTF-8 (column 18)");
  CHECK(second("   # \xFF").starts_with("2: invalid UTF-8"));
  CHECK(second("<urn:s> <urn:p> \"\xED\xA0\x80\" .").starts_with("2: invalid UTF-8"));
}

TEST_CASE("N-Triples: bad lines can be left out") {
  Collector sink(false);
  REQUIRE(test::read_rdf(
      "<urn:s> <urn:p> \"1\" .\nnonsense\n<urn:s> <urn:p> \"\xFF\" .\n<urn:s> <urn:p> \"2\" .\n",
      Format::ntriples, sink));
  CHECK(sink.lines() == Lines{"<urn:s> <urn:p> \"1\" .", "<urn:s> <urn:p> \"2\" ."});
  REQUIRE(sink.bads.size() == 2);
  CHECK(sink.bads[0].line == 2);
  CHECK(sink.bads[1].line == 3);
  CHECK(sink.facts[1].row == 4);
}

TEST_CASE("N-Triples: a line of 100 MB is refused") {
  std::string text = "<urn:s> <urn:p> \"1\" .\n<urn:s> <urn:p> \"";
  text.append(100 << 20, 'x');
  Collector sink;
  const base::Status status = test::read_rdf(text, Format::ntriples, sink);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == base::ErrorCode::too_large);
  CHECK(status.error().message.find(":2:") != std::string::npos);
}

TEST_CASE("Turtle: prefixes, lists, nodes without a name, numbers, rows") {
  Collector sink;
  REQUIRE(
      test::read_rdf("@prefix ex: <http://e/> .\n"
                     "ex:a ex:p ex:b , \"北京\"@zh ;\n"
                     "  ex:n 1 , 2.5 , 1e3 , true ;\n"
                     "  a ex:C .\n"
                     "<#x> ex:list ( ex:a 2 ) .\n"
                     "[ ex:p ex:q ] .\n",
                     Format::turtle, sink, "http://base/doc"));
  const std::string xsd = "<http://www.w3.org/2001/XMLSchema#",
                    rdf = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#";
  CHECK(sink.has("<http://e/a> <http://e/p> \"北京\"@zh ."));
  CHECK(sink.has("<http://e/a> <http://e/n> \"1\"^^" + xsd + "integer> ."));
  CHECK(sink.has("<http://e/a> <http://e/n> \"2.5\"^^" + xsd + "decimal> ."));
  CHECK(sink.has("<http://e/a> <http://e/n> \"1e3\"^^" + xsd + "double> ."));
  CHECK(sink.has("<http://e/a> <http://e/n> \"true\"^^" + xsd + "boolean> ."));
  CHECK(sink.has("<http://e/a> " + rdf + "type> <http://e/C> ."));
  CHECK(sink.facts.size() == 13);
  std::map<std::string, std::uint64_t> rows;
  for (const Fact& fact : sink.facts) rows[to_ntriples(fact.object)] = fact.row;
  CHECK(rows.at("\"北京\"@zh") == 2);
  CHECK(rows.at("\"1\"^^" + xsd + "integer>") == 3);
  CHECK(rows.at("<http://e/C>") == 4);
  CHECK(rows.at("<http://e/q>") == 6);
}

TEST_CASE("Turtle: blank nodes keep apart and are the same each time") {
  // Labels that look like the ones that the library makes up, in any order, beside such.
  const std::string text =
      "_:b1 <urn:p> [] .\n_:B1 <urn:p> _:xb1 .\n_:x <urn:p> _:b2 .\n_:xx <urn:p> [ <urn:q> _:b1 ] .\n";
  Collector first, second, other;
  REQUIRE(test::read_rdf(text, Format::turtle, first));
  REQUIRE(test::read_rdf(text, Format::turtle, second));
  REQUIRE(test::read_rdf(text, Format::turtle, other, "urn:x:base/", "another"));
  CHECK(first.lines() == second.lines());
  const auto labels = [](const Collector& sink) {
    std::set<std::string> all;
    for (const Fact& fact : sink.facts) {
      all.insert(fact.subject.value);
      all.insert(fact.object.value);
    }
    return all;
  };
  // b1, [], B1, xb1, x, b2, xx, []
  CHECK(labels(first).size() == 8);
  CHECK(first.facts.back().object.value.empty() == false);
  for (const std::string& label : labels(other)) CHECK_FALSE(labels(first).contains(label));
  // What an export holds is kept as it is.
  Collector again;
  std::string exported;
  for (const std::string& line : first.lines()) exported += line + "\n";
  REQUIRE(test::read_rdf(exported, Format::ntriples, again, "urn:x:base/", "export"));
  CHECK(again.lines() == first.lines());
}

TEST_CASE("Turtle: errors say where and why") {
  const std::string start = "@prefix : <urn:x:> .\n";
  CHECK(refused(start + ":a :p ex:b .", Format::turtle).starts_with("2: the prefix of ex:b is not declared"));
  CHECK(refused(start + ":a :p \"x\\uD800\" .", Format::turtle)
            .starts_with("2: an escape that is no Unicode character"));
  CHECK(refused(start + "\n:a :p \"\xFF\" .", Format::turtle) == "3: invalid UTF-8");
  CHECK(refused(start + ":a :p \"x .\n", Format::turtle).starts_with("2: "));
  CHECK(refused(start + ":a :p [ :q :r .\n", Format::turtle).starts_with("2: "));
  CHECK(refused(start + "true :p :o .", Format::turtle).starts_with("2: "));
  CHECK(refused(std::string("<urn:a> \0 <urn:b> .", 19), Format::turtle).starts_with("1: a NUL byte"));
  CHECK(refused(start + ":a :p <a b> .", Format::turtle).starts_with("2: "));
  CHECK(refused(start + ":a :p \"x\"@- .", Format::turtle).starts_with("2: "));
  CHECK(refused(start + ":a :p", Format::turtle).starts_with("2: "));
}

TEST_CASE("Turtle: a label with a character that it may not hold gives no fact") {
  for (const Format format : {Format::turtle, Format::trig}) {
    Collector sink(false);
    REQUIRE(test::read_rdf("<urn:a> <urn:p> _:a\u240D .\n<urn:a> <urn:p> _:b\u5317 .\n", format, sink));
    CHECK(sink.bads.size() == 1);
    REQUIRE(sink.facts.size() == 1);
    CHECK(sink.facts[0].object.value.ends_with("xb\u5317"));
  }
}

TEST_CASE("TriG: what the library makes of a statement after an error is no fact") {
  Collector sink(false);
  REQUIRE(test::read_rdf("@prefix : <urn:x:> .\n{\n_:0b :p :o .\n_b:.0 :p :o .\n}\n:a :p :o .\n",
                         Format::trig, sink));
  CHECK(sink.lines() == Lines{"_:bf9e6e6ef197cx0b <urn:x:p> <urn:x:o> .", "<urn:x:a> <urn:x:p> <urn:x:o> ."});
  CHECK(sink.bads.size() == 1);
}

TEST_CASE("Turtle: what would exhaust stack or memory is refused") {
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "[<urn:q>";
  CHECK(refused("<urn:a> <urn:p> " + nested, Format::turtle).find("nested more than") != std::string::npos);
  CHECK(refused("<urn:a> <urn:p> " + std::string(200000, '(') + " .", Format::turtle)
            .find("nested more than") != std::string::npos);
  CHECK(refused("<urn:a> <urn:p> \"\"\"" + std::string(20 << 20, 'x') + "\"\"\" .", Format::turtle)
            .find("a term of more than 16 MiB") != std::string::npos);
  // A long line of short terms is fine.
  std::string long_line = "<urn:a> <urn:p> 0";
  for (int i = 1; i < 200000; ++i) long_line += ", " + std::to_string(i);
  CHECK(read(long_line + " .", Format::turtle).size() == 200000);
}

TEST_CASE("Turtle: reading goes on after a bad statement, with prefixes kept") {
  Collector sink(false);
  REQUIRE(
      test::read_rdf("@prefix : <urn:x:> .\n"
                     ":a :p :one .\n"
                     ":a :p .\n"
                     ":a :p :two .\n"
                     ":a nope:p [ :q :r ; :s \"x. y\" ] .\n"
                     ":a :p :three , [] .\n"
                     ":a :p \"\\uD800\" , :four .\n"
                     ":a :p \"\xFF\" .\n"
                     ":a :p [] ; :p :five .\n",
                     Format::turtle, sink));
  std::vector<std::uint64_t> bad;
  for (const auto& record : sink.bads) bad.push_back(record.line);
  CHECK(bad == std::vector<std::uint64_t>{3, 5, 7, 8});
  std::set<std::string> objects;
  for (const Fact& fact : sink.facts) objects.insert(to_ntriples(fact.object));
  for (const char* name : {"one", "two", "three", "four", "five"})
    CHECK(objects.contains("<urn:x:" + std::string(name) + ">"));
  for (const std::string& object : objects) CHECK(object.find("\xEF\xBF\xBE") == std::string::npos);
  // Nodes without a name before and after an error are not the same.
  std::set<std::string> blanks;
  for (const Fact& fact : sink.facts) {
    if (fact.object.kind == TermKind::blank) blanks.insert(fact.object.value);
  }
  CHECK(blanks.size() == 2);
}

TEST_CASE("TriG: an error inside a graph loses no fact to another graph") {
  Collector sink(false);
  REQUIRE(
      test::read_rdf("@prefix : <urn:x:> .\n"
                     ":g1 { :a :p :one . :a :p . :a :p :lost . }\n"
                     ":a :p :two .\n"
                     ":g2 { :a :p :three }\n",
                     Format::trig, sink));
  CHECK(sink.bads.size() == 1);
  CHECK(sink.lines() == Lines{"<urn:x:a> <urn:x:p> <urn:x:one> <urn:x:g1> .",
                              "<urn:x:a> <urn:x:p> <urn:x:two> .",
                              "<urn:x:a> <urn:x:p> <urn:x:three> <urn:x:g2> ."});
}

TEST_CASE("IRIs are resolved as RFC 3986 says") {
  const std::string base = "http://a/b/c/d;p?q";
  // The examples of sections 5.4.1 and 5.4.2.
  const std::vector<std::pair<std::string, std::string>> examples = {{"g:h", "g:h"},
                                                                     {"g", "http://a/b/c/g"},
                                                                     {"./g", "http://a/b/c/g"},
                                                                     {"g/", "http://a/b/c/g/"},
                                                                     {"/g", "http://a/g"},
                                                                     {"//g", "http://g"},
                                                                     {"?y", "http://a/b/c/d;p?y"},
                                                                     {"g?y", "http://a/b/c/g?y"},
                                                                     {"#s", "http://a/b/c/d;p?q#s"},
                                                                     {"g#s", "http://a/b/c/g#s"},
                                                                     {"", "http://a/b/c/d;p?q"},
                                                                     {".", "http://a/b/c/"},
                                                                     {"..", "http://a/b/"},
                                                                     {"../g", "http://a/b/g"},
                                                                     {"../..", "http://a/"},
                                                                     {"../../../g", "http://a/g"},
                                                                     {"/./g", "http://a/g"},
                                                                     {"g.", "http://a/b/c/g."},
                                                                     {"g/../h", "http://a/b/c/h"},
                                                                     {"g;x=1/../y", "http://a/b/c/y"},
                                                                     {"g?y/../x", "http://a/b/c/g?y/../x"}};
  for (const auto& [reference, full] : examples) {
    CAPTURE(reference);
    CHECK(resolve_iri(base, reference) == full);
  }
  CHECK(resolve_iri("urn:askbase:file:x.ttl/", "name") == "urn:askbase:file:x.ttl/name");
  CHECK(resolve_iri("urn:askbase:file:x.ttl/", "#name") == "urn:askbase:file:x.ttl/#name");
  CHECK(resolve_iri("http://a", "b") == "http://a/b");
}

// Both readers must read what to_ntriples writes, whatever the terms hold.
TEST_CASE("random terms survive N-Triples and Turtle") {
  std::mt19937 random(11);
  const std::vector<char32_t> odd = {'a',  'Z',  '0',    ' ',    '"',    '\\',    '\n',     '\r', '\t',
                                     '<',  '>',  '{',    '#',    '.',    '\'',    '%',      0x7F, 0x85,
                                     0xA0, 0xE9, 0x5317, 0x4EAC, 0xFFFD, 0x1F600, 0x10FFFF, 1,    0x1F};
  const auto text = [&] {
    std::string out;
    for (std::size_t n = random() % 8; n > 0; --n) base::append_utf8(out, odd[random() % odd.size()]);
    return out;
  };
  const auto iri = [&] {
    std::string out = "http://x/";
    for (const char c : text()) out += forbidden_in_iri(static_cast<unsigned char>(c)) ? '_' : c;
    return Term::iri(out);
  };
  const auto blank = [&] { return Term::blank("b0123456789abx" + std::to_string(random() % 5)); };
  std::vector<std::string> expected;
  std::string document;
  for (int i = 0; i < 2000; ++i) {
    Term object;
    switch (random() % 5) {
      case 0:
        object = iri();
        break;
      case 1:
        object = blank();
        break;
      case 2:
        object = Term::text(text(), random() % 2 == 0 ? "zh-hant" : "en");
        break;
      case 3:
        object = Term::literal(text(), iri().value);
        break;
      default:
        object = Term::literal(text());
    }
    const std::string line = to_ntriples(random() % 4 == 0 ? blank() : iri()) + " " + to_ntriples(iri()) +
                             " " + to_ntriples(object) + " .";
    expected.push_back(line);
    document += line + "\n";
  }
  CHECK(read(document, Format::ntriples) == expected);
  CHECK(read(document, Format::turtle) == expected);
}

}  // namespace
}  // namespace askbase::kb
