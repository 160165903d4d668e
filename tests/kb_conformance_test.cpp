// The W3C test suites of RDF 1.1 (N-Triples, N-Quads, Turtle, TriG): every entry of every manifest, which our
// own Turtle reader reads. No exceptions: all positive tests are read, all negative ones refused. Evaluation
// tests compare graphs up to the names of blank nodes.
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>
#include <set>

#include "base/file.h"
#include "tests/kb_load_support.h"
#include "tests/test_support.h"

namespace askbase::kb {
namespace {

using test::Collector;

struct Entry {
  std::string name, type, action, result;
};

std::vector<Entry> manifest(const std::filesystem::path& folder, std::string& base_iri) {
  const std::string text = base::read_file(folder / "manifest.ttl").value();
  Collector sink;
  REQUIRE(test::read_rdf(text, Format::turtle, sink, "file:///m/"));
  std::map<std::string, Entry> entries;
  const std::string mf = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
  const auto file = [](const Term& term) { return term.value.substr(std::string("file:///m/").size()); };
  for (const Fact& fact : sink.facts) {
    Entry& entry = entries[fact.subject.value];
    const std::string& predicate = fact.predicate.value;
    if (predicate == mf + "name") entry.name = fact.object.value;
    if (predicate == iri::rdf_type) entry.type = fact.object.value.substr(fact.object.value.find('#') + 1);
    if (predicate == mf + "action") entry.action = file(fact.object);
    if (predicate == mf + "result") entry.result = file(fact.object);
    if (predicate == mf + "assumedTestBase") base_iri = fact.object.value;
  }
  std::vector<Entry> out;
  for (auto& [id, entry] : entries) {
    if (!entry.action.empty()) out.push_back(entry);
  }
  return out;
}

// Graph isomorphism: the blank nodes of one side are matched with those of the other, told apart by what is
// around them (colours refined to a fixed point), and tried out where that leaves a choice.
class Isomorphism {
 public:
  using Quad = std::array<std::string, 4>;  // blank nodes start with _:

  static std::set<Quad> quads(const std::vector<Fact>& facts) {
    std::set<Quad> out;
    for (const Fact& fact : facts) {
      out.insert(
          {to_ntriples(fact.subject), to_ntriples(fact.predicate), to_ntriples(fact.object), fact.graph});
    }
    return out;
  }

  static bool equal(const std::set<Quad>& a, const std::set<Quad>& b) {
    if (a.size() != b.size()) return false;
    return search(a, b, {}, {});
  }

 private:
  using Colours = std::map<std::string, std::size_t>;

  static bool is_blank(const std::string& term) { return term.starts_with("_:"); }

  static Colours refine(const std::set<Quad>& quads, Colours colours) {
    for (const Quad& quad : quads) {
      for (const std::string& term : quad) {
        if (is_blank(term)) colours.emplace(term, 0);
      }
    }
    for (std::size_t round = 0; round <= colours.size(); ++round) {
      std::map<std::string, std::multiset<std::string>> around;
      for (const Quad& quad : quads) {
        for (std::size_t i = 0; i < 4; ++i) {
          if (!is_blank(quad[i])) continue;
          std::string seen = std::to_string(i);
          for (std::size_t j = 0; j < 4; ++j) {
            seen += "|" + (!is_blank(quad[j])   ? quad[j]
                           : quad[j] == quad[i] ? "self"
                                                : "?" + std::to_string(colours[quad[j]]));
          }
          around[quad[i]].insert(seen);
        }
      }
      for (auto& [label, colour] : colours) {
        std::string all = std::to_string(colour);
        for (const std::string& seen : around[label]) all += "\n" + seen;
        colour = std::hash<std::string>()(all);
      }
    }
    return colours;
  }

  static bool search(const std::set<Quad>& a, const std::set<Quad>& b, Colours fixed_a, Colours fixed_b) {
    const Colours colours_a = refine(a, fixed_a), colours_b = refine(b, fixed_b);
    std::map<std::size_t, std::vector<std::string>> classes_a, classes_b;
    for (const auto& [label, colour] : colours_a) classes_a[colour].push_back(label);
    for (const auto& [label, colour] : colours_b) classes_b[colour].push_back(label);
    if (classes_a.size() != classes_b.size()) return false;
    std::map<std::string, std::string> names;
    for (const auto& [colour, labels] : classes_a) {
      const auto found = classes_b.find(colour);
      if (found == classes_b.end() || found->second.size() != labels.size()) return false;
      if (labels.size() > 1) {  // fix the first to each of the other side
        for (const std::string& other : found->second) {
          Colours next_a = fixed_a, next_b = fixed_b;
          next_a[labels.front()] = next_b[other] = 1000 + fixed_a.size();
          if (search(a, b, next_a, next_b)) return true;
        }
        return false;
      }
      names[labels.front()] = found->second.front();
    }
    std::set<Quad> renamed;
    for (Quad quad : a) {
      for (std::string& term : quad) {
        if (is_blank(term)) term = names.at(term);
      }
      renamed.insert(quad);
    }
    return renamed == b;
  }
};

void run_suite(const std::string& folder_name, Format format, Format result_format,
               std::size_t expected_tests) {
  const auto data = test::data_folder();
  if (!data || !std::filesystem::exists(*data / "conformance/w3c-rdf11.tar.gz")) {
    MESSAGE("skipped: no conformance suites in ASKBASE_DATA");
    return;
  }
  const test::ScratchFolder scratch;
  const std::string command = "tar xzf '" + (*data / "conformance/w3c-rdf11.tar.gz").string() + "' -C '" +
                              scratch.path().string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::filesystem::path folder = scratch / ("rdf/rdf11/" + folder_name);
  std::string base_iri = "http://example.org/";
  const std::vector<Entry> entries = manifest(folder, base_iri);
  CHECK(entries.size() == expected_tests);
  for (const Entry& entry : entries) {
    CAPTURE(entry.name);
    const std::string text = base::read_file(folder / entry.action).value();
    Collector sink;
    const base::Status read = test::read_rdf(text, format, sink, base_iri + entry.action);

    if (entry.type.find("Negative") != std::string::npos) {
      CHECK_FALSE(read);
      // "line: reason"
      if (!read) CHECK(read.error().message.find(": ") != std::string::npos);
      continue;
    }
    INFO((read ? "" : read.error().message));
    CHECK(read);
    if (entry.result.empty()) continue;
    Collector expected;
    REQUIRE(test::read_rdf(base::read_file(folder / entry.result).value(), result_format, expected));
    CHECK(Isomorphism::equal(Isomorphism::quads(sink.facts), Isomorphism::quads(expected.facts)));
  }
}

TEST_CASE("W3C N-Triples") { run_suite("rdf-n-triples", Format::ntriples, Format::ntriples, 70); }
TEST_CASE("W3C N-Quads") { run_suite("rdf-n-quads", Format::nquads, Format::nquads, 87); }
TEST_CASE("W3C Turtle") { run_suite("rdf-turtle", Format::turtle, Format::ntriples, 313); }
TEST_CASE("W3C TriG") { run_suite("rdf-trig", Format::trig, Format::nquads, 356); }

TEST_CASE("the comparison of graphs tells them apart") {
  const auto quads = [](const std::string& text) {
    Collector sink;
    REQUIRE(test::read_rdf(text, Format::nquads, sink));
    return Isomorphism::quads(sink.facts);
  };
  const auto two = quads("_:a <urn:p> _:b .\n_:b <urn:p> _:a .\n");
  CHECK(Isomorphism::equal(two, quads("_:y <urn:p> _:x .\n_:x <urn:p> _:y .\n")));
  CHECK_FALSE(Isomorphism::equal(two, quads("_:a <urn:p> _:a .\n_:b <urn:p> _:b .\n")));
  CHECK_FALSE(Isomorphism::equal(two, quads("_:a <urn:p> _:b .\n_:b <urn:q> _:a .\n")));
  CHECK_FALSE(Isomorphism::equal(two, quads("_:a <urn:p> _:b .\n")));
  // Two triangles are no hexagon, though every node looks alike.
  CHECK_FALSE(Isomorphism::equal(
      quads("_:a <urn:p> _:b .\n_:b <urn:p> _:c .\n_:c <urn:p> _:a .\n_:d <urn:p> _:e .\n_:e <urn:p> _:f .\n"
            "_:f <urn:p> _:d .\n"),
      quads("_:a <urn:p> _:b .\n_:b <urn:p> _:c .\n_:c <urn:p> _:d .\n_:d <urn:p> _:e .\n_:e <urn:p> _:f .\n"
            "_:f <urn:p> _:a .\n")));
}

}  // namespace
}  // namespace askbase::kb
