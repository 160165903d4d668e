#include <doctest/doctest.h>

#include "base/text.h"
#include "kb/jsonl_reader.h"
#include "kb/load_names.h"
#include "kb/load_values.h"
#include "tests/kb_load_support.h"

namespace askbase::kb {
namespace {

using test::Collector;
using Lines = std::vector<std::string>;

const std::string kLabel = "<http://www.w3.org/2000/01/rdf-schema#label>";
const std::string kXsd = "<http://www.w3.org/2001/XMLSchema#";

base::Status run(const std::string& text, Collector& sink) {
  const auto input = base::Input::from_string(text, "test");
  return read_jsonl(*input, BlankLabels("test"), sink);
}

Lines read(const std::string& text) {
  Collector sink;
  const base::Status status = run(text, sink);
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return sink.lines();
}

// The object that a line's "o" gives.
std::string object(const std::string& json) {
  return to_ntriples([&] {
    Collector sink;
    const base::Status status = run("{\"s\":\"urn:s\",\"p\":\"urn:p\",\"o\":" + json + "}", sink);
    INFO((status ? "" : status.error().message));
    REQUIRE(status);
    return sink.facts.at(0).object;
  }());
}

std::string refused(const std::string& line) {
  Collector sink;
  const base::Status status = run("\n" + line, sink);
  REQUIRE_FALSE(status);
  CHECK(sink.facts.empty());
  return status.error().message;
}

TEST_CASE("JSON lines: IRIs and names") {
  CHECK(read(R"({"s":"http://x/a","p":"urn:p","o":"http://x/b"})") ==
        Lines{"<http://x/a> <urn:p> <http://x/b> ."});
  CHECK(read("{\"s\":\"New York\",\"p\":\"位于\",\"o\":\"美国\"}\n") ==
        Lines{"<urn:askbase:entity:New%20York> <urn:askbase:p:位于> <urn:askbase:entity:美国> .",
              "<urn:askbase:entity:New%20York> " + kLabel + " \"New York\"@en .",
              "<urn:askbase:p:位于> " + kLabel + " \"位于\"@zh .",
              "<urn:askbase:entity:美国> " + kLabel + " \"美国\"@zh ."});
  // A name is labelled once.
  CHECK(read("{\"s\":\"A b\",\"p\":\"urn:p\",\"o\":1}\n\n{\"s\":\"A b\",\"p\":\"urn:p\",\"o\":2}\n").size() ==
        3);
  CHECK(read(R"({"s":"_:x","p":"urn:p","o":"_:y z"})")[0] ==
        "_:bf9e6e6ef197cxx <urn:p> _:bf9e6e6ef197cxy-32-z .");
}

TEST_CASE("JSON lines: values keep their digits and types") {
  CHECK(object("1") == "\"1\"^^" + kXsd + "integer>");
  CHECK(object("-12345678901234567890123") == "\"-12345678901234567890123\"^^" + kXsd + "integer>");
  CHECK(object("2.50") == "\"2.5\"^^" + kXsd + "decimal>");
  CHECK(object("0.1") == "\"0.1\"^^" + kXsd + "decimal>");
  CHECK(object("1e5") == "\"1E5\"^^" + kXsd + "double>");
  CHECK(object("true") == "\"true\"^^" + kXsd + "boolean>");
  CHECK(object(R"({"value":"x y"})") == "\"x y\"");
  CHECK(object(R"({"value":" x "})") == "\" x \"");
  CHECK(object(R"({"value":"北京","lang":"zh-Hans"})") == "\"北京\"@zh-hans");
  CHECK(object(R"({"value":7})") == "\"7\"^^" + kXsd + "integer>");
  CHECK(object(R"({"value":"2024-02-29","type":"date"})") == "\"2024-02-29\"^^" + kXsd + "date>");
  CHECK(object(R"({"value":"1949","type":"year"})") == "\"1949\"^^" + kXsd + "gYear>");
  CHECK(object(R"({"value":"007","type":"xsd:integer"})") == "\"007\"^^" + kXsd + "integer>");
  CHECK(object(R"({"value":5,"type":"decimal"})") == "\"5\"^^" + kXsd + "decimal>");
  CHECK(object(R"x({"value":"POINT(1 2)","type":"http://x/wkt"})x") == "\"POINT(1 2)\"^^<http://x/wkt>");
  CHECK(object(R"("\u5317\ud83d\ude00")") == "<urn:askbase:entity:北😀>");
}

TEST_CASE("JSON lines: a source of its own, for labels too") {
  Collector sink;
  REQUIRE(run(R"({"s":"Ann","p":"urn:p","o":1,"source":"crawl 1"})"
              "\n"
              R"({"s":"Ann","p":"urn:p","o":2})",
              sink));
  REQUIRE(sink.facts.size() == 4);
  CHECK(sink.facts[0].graph == "crawl 1");
  CHECK(sink.facts[1].graph == "crawl 1");
  CHECK(sink.facts[2].graph.empty());
  CHECK(sink.facts[3].graph.empty());
  CHECK(sink.facts[3].row == 2);
}

TEST_CASE("JSON lines: what is wrong is named, with the line") {
  CHECK(refused("{").starts_with("2: not JSON: column"));
  CHECK(refused("[1]") == "2: a list; each line holds one object {...}");
  CHECK(refused("5") == "2: each line holds one object {...}");
  CHECK(refused(R"({"s":"a","p":"b"})") == "2: no \"o\"");
  CHECK(refused(R"({"p":"a","o":"b"})") == "2: no \"s\"");
  CHECK(refused(R"({"s":"a","p":"b","o":"c","sauce":"x"})")
            .starts_with("2: unknown field \"sauce\" (known: s, p, o, source)"));
  CHECK(
      refused(R"({"s":"a","p":"b","o":{"value":"x","typ":"date"}})").starts_with("2: unknown field \"typ\""));
  CHECK(refused(R"({"s":1,"p":"b","o":"c"})").starts_with("2: \"s\" must be a text"));
  CHECK(refused(R"({"s":" ","p":"b","o":"c"})") == "2: \"s\" is empty");
  CHECK(refused(R"({"s":"a","p":"_:b","o":"c"})") == "2: \"p\" is a blank node");
  CHECK(refused(R"({"s":"a","p":"b","o":null})").starts_with("2: \"o\" must be"));
  CHECK(refused(R"({"s":"a","p":"b","o":["c"]})") == "2: \"o\" is a list; write one line for each value");
  CHECK(refused(R"({"s":"a","p":"b","o":{"value":{"x":1}}})") == "2: values are nested too deep");
  CHECK(refused(R"({"s":"a","s":"a","p":"b","o":"c"})") == "2: \"s\" twice");
  CHECK(refused(R"({"s":"a","p":"b","o":{"lang":"en"}})") == "2: no \"value\" in \"o\"");
  CHECK(refused(R"({"s":"a","p":"b","o":{"value":"x","lang":"en","type":"date"}})")
            .starts_with("2: a text with a language"));
  CHECK(refused(R"({"s":"a","p":"b","o":{"value":"x","lang":"e n"}})").starts_with("2: \"lang\" must be"));
  CHECK(
      refused(R"({"s":"a","p":"b","o":{"value":"x","type":"nonsense"}})").starts_with("2: \"type\" must be"));
  CHECK(refused(R"({"s":"a","p":"b","o":{"value":"2023-02-29","type":"date"}})") ==
        "2: \"2023-02-29\" is no date");
  CHECK(refused(R"({"s":"a","p":"b","o":{"value":"1.5","type":"integer"}})") == "2: \"1.5\" is no integer");
  CHECK(refused("{\"s\":\"a\xFF\"}") == "2: invalid UTF-8 (column 8)");
  CHECK(refused(R"({"s":"\ud800","p":"b","o":"c"})").starts_with("2: not JSON"));
  CHECK(refused(std::string(100000, '[')).starts_with("2: a list"));
  CHECK(refused("{\"s\":" + std::string(100000, '{')).starts_with("2: "));
}

TEST_CASE("JSON lines: bad lines can be left out") {
  Collector sink(false);
  REQUIRE(
      run("{\"s\":\"urn:a\",\"p\":\"urn:p\",\"o\":1}\nx\n{\"s\":\"urn:a\",\"p\":\"urn:p\",\"o\":2}\n", sink));
  CHECK(sink.facts.size() == 2);
  REQUIRE(sink.bads.size() == 1);
  CHECK(sink.bads[0].line == 2);
}

TEST_CASE("wordings") {
  const auto resolve = [](std::string_view name) -> base::Result<std::string> {
    if (name == "首都" || name == "urn:askbase:p:首都") return std::string("urn:askbase:p:首都");
    return base::fail(base::ErrorCode::not_found, "no predicate is called \"" + std::string(name) + "\"");
  };
  const auto input = base::Input::from_string(
      "{\"predicate\":\"首都\",\"lang\":\"zh\",\"wording\":\"哪里是首府\"}\n"
      "{\"predicate\":\"urn:askbase:p:首都\",\"wording\":\"seat of government\"}\n"
      "{\"predicate\":\"capitol\",\"lang\":\"en\",\"wording\":\"x\"}\n"
      "{\"predicate\":\"首都\",\"lang\":\"en\",\"wording\":\"\"}\n"
      "{\"predicate\":\"首都\",\"lang\":\"1\",\"wording\":\"x\"}\n"
      "{\"predicate\":\"首都\",\"wording\":\"x\",\"words\":1}\n",
      "w.jsonl");
  Collector sink(false);
  REQUIRE(read_wordings(*input, resolve, sink));
  CHECK(sink.lines() == Lines{"<urn:askbase:p:首都> <urn:askbase:wording> \"哪里是首府\"@zh .",
                              "<urn:askbase:p:首都> <urn:askbase:wording> \"seat of government\"@en ."});
  REQUIRE(sink.bads.size() == 4);
  CHECK(sink.bads[0].reason == "no predicate is called \"capitol\"");
  CHECK(sink.bads[1].reason == "\"wording\" is empty");
  CHECK(sink.bads[3].reason.starts_with("unknown field \"words\""));
}

TEST_CASE("names and IRIs are told apart") {
  for (const char* iri :
       {"http://x/a", "urn:isbn:1", "iso:FR", "geonames:3040051", "HTTP://X/", "mailto:a@b"}) {
    CAPTURE(iri);
    CHECK(looks_like_iri(iri));
  }
  for (const char* name : {"Paris", "Re:Zero", "CSI: Miami", "12:30", "a:b", "http://x/a b", "note: x", ":x",
                           "urn:", "北京:x", ""}) {
    CAPTURE(name);
    CHECK_FALSE(looks_like_iri(name));
  }
}

TEST_CASE("names come back from their IRIs") {
  CHECK(encode_name("C# 100% <x>") == "C%23%20100%25%20%3Cx%3E");
  CHECK(encode_name("北京/東京 é😀") == "北京/東京%20é😀");
  CHECK(encode_name("a\u200Eb\uE000\uFFFD") == "a%E2%80%8Eb%EE%80%80%EF%BF%BD");
  CHECK(name_iri("a b:c", "x:y") == "urn:askbase:a%20b%3Ac:x:y");
  CHECK(decode_name("100%") == "100%");
  CHECK(decode_name("%FF") == "%FF");
  std::string all;
  for (char32_t c = 1; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 61) {
    if (c < 0xD800 || c >= 0xE000) base::append_utf8(all, c);
  }
  CHECK(decode_name(encode_name(all)) == all);
  for (const char* source : {"people.ttl", "http://x/g", "urn:askbase:source:x", "_:b1", "_:b0123456789abxg",
                             "我的 表.csv", "a:b c", "100%"}) {
    CAPTURE(source);
    CHECK(graph_to_source(source_to_graph(source)) == source);
  }
  CHECK(source_to_graph("my table.csv") == "urn:askbase:source:my%20table.csv");
  CHECK(source_to_graph("http://x/g") == "http://x/g");
}

}  // namespace
}  // namespace askbase::kb
