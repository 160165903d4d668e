// Export: what is loaded from an export is what was exported.
#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <random>

#include "base/file.h"
#include "base/text.h"
#include "kb/load.h"
#include "tests/test_support.h"

namespace askbase::kb {
namespace {

std::string exported(const View& view, bool quads, const std::optional<std::string>& source = std::nullopt,
                     std::size_t memory = 256 << 20) {
  std::string out;
  REQUIRE(export_facts(
      view,
      [&](std::string_view line) -> base::Status {
        out += line;
        out += '\n';
        return {};
      },
      quads, source, memory));
  return out;
}

// Terms of all kinds, with characters that need care somewhere.
class Terms {
 public:
  explicit Terms(unsigned seed) : random_(seed) {}

  Term iri() {
    switch (random_() % 4) {
      case 0:
        return Term::iri("http://x/" + std::to_string(random_() % 20));
      case 1:
        return Term::iri("urn:askbase:entity:" + han());
      case 2:
        return Term::iri("http://x/" + std::string(600, 'l') + std::to_string(random_() % 5));
      default:
        return Term::iri("http://x/é%20/" + han() + "#'()");
    }
  }
  Term blank() {
    return Term::blank("b0123456789abx" + std::to_string(random_() % 5) + (random_() % 2 == 0 ? ".1" : ""));
  }
  Term subject() { return random_() % 4 == 0 ? blank() : iri(); }
  Term object() {
    const std::string xsd(iri::xsd);
    const auto number = [&] { return std::to_string(static_cast<std::int64_t>(random_() % 2001) - 1000); };
    switch (random_() % 12) {
      case 0:
        return iri();
      case 1:
        return blank();
      case 2:
        return Term::text(text(), "en");
      case 3:
        return Term::text(han() + text(), random_() % 2 == 0 ? "zh" : "zh-hant-tw");
      case 4:
        return Term::literal(number(), xsd + "integer");
      case 5:
        return Term::literal("00" + number(), xsd + "integer");
      case 6:
        return Term::literal(number() + ".5", xsd + "decimal");
      case 7:
        return Term::literal(random_() % 2 == 0 ? "1.5E3" : "1.50e3", xsd + "double");
      case 8:
        return Term::literal(random_() % 2 == 0 ? "2024-02-29" : "2024-02-30", xsd + "date");
      case 9:
        return Term::literal(random_() % 2 == 0 ? "1949" : "-0044", xsd + "gYear");
      case 10:
        return Term::literal(text(), iri().value);
      default:
        return Term::literal(random_() % 3 == 0 ? "true" : text(), random_() % 3 == 0 ? xsd + "boolean" : "");
    }
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

 private:
  std::string han() {
    std::string out;
    for (unsigned n = 1 + below(4); n > 0; --n) base::append_utf8(out, 0x4E00 + below(0x5000));
    return out;
  }
  std::string text() {
    static const std::vector<char32_t> odd = {'a',  ' ',  '"',    '\\',   '\n',   '\r',   '\t',    '<',
                                              '>',  '.',  '#',    '@',    '^',    1,      0x1F,    0x7F,
                                              0x85, 0xA0, 0x2028, 0x3000, 0xFEFF, 0xFFFD, 0x1F600, 0x10FFFF};
    std::string out;
    for (unsigned n = below(9); n > 0; --n)
      base::append_utf8(out, odd[below(static_cast<unsigned>(odd.size()))]);
    return out;
  }
  std::mt19937_64 random_;
};

TEST_CASE("load, export, load, export: the same, for all terms and sources") {
  const test::ScratchFolder folder;
  for (unsigned round = 0; round < 6; ++round) {
    CAPTURE(round);
    Terms terms(round);
    const std::string mark = std::to_string(round);
    const auto first = Store::open(folder / ("a" + mark), OpenMode::create).value();
    auto update = first->begin_update().value();
    for (const char* name : {"people.ttl", "http://x/graph", "我的 表格.csv", "100% <odd>",
                             "urn:askbase:source:x", "_:b0123456789abxg", "_:odd"}) {
      const SourceId id = update
                              ->source({.id = 0,
                                        .name = name,
                                        .kind = "file",
                                        .loaded_from = "",
                                        .hash = "",
                                        .time = 0,
                                        .facts = 0},
                                       true)
                              .value();
      for (int i = 0; i < 300; ++i) {
        REQUIRE(update->add(id, terms.subject(), Term::iri("http://x/p" + std::to_string(terms.below(5))),
                            terms.object(), 1));
      }
    }
    REQUIRE(update->commit());
    update.reset();
    for (const bool quads : {false, true}) {
      const std::string out = exported(*first->view().value(), quads);
      const std::string name = std::string(quads ? "out.nq" : "out.nt");
      std::ofstream(folder / name, std::ios::binary) << out;
      const auto second = Store::open(folder / ((quads ? "q" : "t") + mark), OpenMode::create).value();
      const auto report = load(*second, {folder / name}, {});
      INFO((report ? "" : report.error().message));
      REQUIRE(report);
      CHECK(report->summary.facts == first->view().value()->facts());
      CHECK((exported(*second->view().value(), quads) == out));
      CHECK((exported(*second->view().value(), false) == exported(*first->view().value(), false)));
      if (!quads) continue;
      // The sources have their names again.
      const std::vector<Source> sources = first->view().value()->sources().value();
      for (const Source& source : sources) {
        CAPTURE(source.name);
        const auto again = second->view().value()->source(source.name).value();
        REQUIRE(again);
        CHECK(again->facts == source.facts);
        CHECK(exported(*second->view().value(), false, source.name) ==
              exported(*first->view().value(), false, source.name));
      }
    }
  }
}

TEST_CASE("lines are sorted, each once, also when they do not fit into memory") {
  const test::ScratchFolder folder;
  const auto store = Store::open(folder / "kb", OpenMode::create).value();
  std::string text;
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    text += "<urn:" + std::to_string(random() % 3000) + "> <urn:p> \"" + std::to_string(random() % 100) +
            "\" .\n";
  }
  std::ofstream(folder / "a.nt") << text;
  std::ofstream(folder / "b.nt") << text;
  REQUIRE(load(*store, {folder / "a.nt", folder / "b.nt"}, {}));
  const auto view = store->view().value();
  std::vector<std::string> expected;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    expected.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  std::string joined;
  for (const std::string& line : expected) joined += line + "\n";
  CHECK((exported(*view, false) == joined));
  CHECK(exported(*view, false, std::nullopt, 20000) == joined);  // some 25 runs
  CHECK((exported(*view, true, "a.nt", 20000) == exported(*view, true, "a.nt")));
  CHECK(exported(*view, true).size() > 2 * joined.size());
}

TEST_CASE("an export of one source; unknown sources; a sink that fails") {
  const test::ScratchFolder folder;
  const auto store = Store::open(folder / "kb", OpenMode::create).value();
  std::ofstream(folder / "a.nt") << "<urn:a> <urn:p> <urn:1> .\n<urn:a> <urn:p> <urn:2> .\n";
  std::ofstream(folder / "b.nt") << "<urn:a> <urn:p> <urn:2> .\n";
  REQUIRE(load(*store, {folder / "a.nt", folder / "b.nt"}, {}));
  const auto view = store->view().value();
  CHECK((exported(*view, false, "b.nt") == "<urn:a> <urn:p> <urn:2> .\n"));
  CHECK(exported(*view, true) ==
        "<urn:a> <urn:p> <urn:1> <urn:askbase:source:a.nt> .\n"
        "<urn:a> <urn:p> <urn:2> <urn:askbase:source:a.nt> .\n"
        "<urn:a> <urn:p> <urn:2> <urn:askbase:source:b.nt> .\n");
  const auto nothing = [](std::string_view) -> base::Status { return {}; };
  CHECK(export_facts(*view, nothing, false, "c.nt").error().code == base::ErrorCode::not_found);
  const auto full = [](std::string_view) -> base::Status {
    return base::fail(base::ErrorCode::io, "disk full");
  };
  CHECK(export_facts(*view, full, false, std::nullopt).error().message == "disk full");
}

}  // namespace
}  // namespace askbase::kb
