#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <thread>

#include "base/file.h"
#include "base/interrupt.h"
#include "kb/entity_index.h"
#include "kb/load.h"
#include "kb/load_files.h"
#include "tests/test_support.h"

namespace askbase::kb {
namespace {

using Lines = std::vector<std::string>;

std::string nt(const std::string& s, const std::string& p, const std::string& o) {
  return "<urn:" + s + "> <urn:" + p + "> <urn:" + o + "> .\n";
}

// A KB and a folder of files.
struct Place {
  test::ScratchFolder folder;
  std::unique_ptr<Store> store = Store::open(folder / "kb", OpenMode::create).value();

  std::filesystem::path file(const std::string& name, const std::string& content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
    return folder / name;
  }
  LoadReport load(const std::vector<std::filesystem::path>& paths, const LoadOptions& options = {}) const {
    auto report = kb::load(*store, paths, options);
    INFO((report ? "" : report.error().message));
    REQUIRE(report);
    return std::move(*report);
  }
  base::Error refused(const std::vector<std::filesystem::path>& paths,
                      const LoadOptions& options = {}) const {
    const Lines before = lines(true);
    const std::uint64_t version = view()->version();
    const auto report = kb::load(*store, paths, options);
    REQUIRE_FALSE(report);
    CHECK(lines(true) == before);
    CHECK(view()->version() == version);
    return report.error();
  }
  std::shared_ptr<const View> view() const { return store->view().value(); }
  Lines lines(bool quads = false, const std::optional<std::string>& source = std::nullopt) const {
    Lines out;
    REQUIRE(export_facts(
        *view(),
        [&](std::string_view line) -> base::Status {
          out.emplace_back(line);
          return {};
        },
        quads, source));
    return out;
  }
  std::set<std::string> sources() const {
    std::set<std::string> names;
    const std::vector<Source> all = view()->sources().value();
    for (const Source& source : all) names.insert(source.name);
    return names;
  }
};

bool has_notice(const LoadReport& report, const std::string& part) {
  return std::any_of(report.notices.begin(), report.notices.end(),
                     [&](const std::string& notice) { return notice.find(part) != std::string::npos; });
}

TEST_CASE("formats are told by names") {
  CHECK(format_from_path("a/b.NT") == Format::ntriples);
  CHECK(format_from_path("b.ttl.gz") == Format::turtle);
  CHECK(format_from_path("b.jsonl.zst") == Format::jsonl);
  CHECK(format_from_path("b.txt") == Format::unknown);
  CHECK(format_from_path("csv") == Format::unknown);
  CHECK(format_from_name("n-quads") == Format::nquads);
  CHECK(format_from_name("xlsx") == std::nullopt);
  for (const char* name : {"nt", "nq", "ttl", "trig", "tsv", "csv", "jsonl"})
    CHECK(format_name(*format_from_name(name)) == name);
}

TEST_CASE("a new version of a source replaces its facts; an unchanged one is left alone") {
  const Place place;
  auto file = place.file("a.nt", nt("a", "p", "1") + nt("a", "p", "2") + nt("a", "p", "2"));
  LoadReport report = place.load({file});
  CHECK(report.summary.added == 2);
  REQUIRE(report.summary.sources.size() == 1);
  CHECK(report.summary.sources[0].source == "a.nt");
  CHECK(report.summary.sources[0].facts == 2);
  const std::uint64_t version = place.view()->version();

  report = place.load({file});
  CHECK(report.summary.added + report.summary.removed == 0);
  CHECK(report.summary.facts == 2);
  CHECK(report.summary.sources.at(0).facts == 2);
  CHECK(has_notice(report, "a.nt: unchanged"));
  CHECK(place.view()->version() == version);

  file = place.file("a.nt", nt("a", "p", "2") + nt("a", "p", "3"));
  report = place.load({file});
  CHECK(report.summary.added == 1);
  CHECK(report.summary.removed == 1);
  CHECK(place.lines() == Lines{"<urn:a> <urn:p> <urn:2> .", "<urn:a> <urn:p> <urn:3> ."});

  // Facts that were taken out come back: the file says so.
  auto update = place.store->begin_update().value();
  const Triple fact{update->intern(Term::iri("urn:a")).value(), update->intern(Term::iri("urn:p")).value(),
                    update->intern(Term::iri("urn:3")).value()};
  REQUIRE(update->remove(fact));
  REQUIRE(update->commit());
  update.reset();
  CHECK(place.load({file}).summary.added == 1);
}

TEST_CASE("several files: each a source, or all of them one") {
  const Place place;
  const auto a = place.file("a.nt", nt("a", "p", "1")), b = place.file("b.ttl", "<urn:b> <urn:p> <urn:2> .");
  place.load({a, b});
  CHECK(place.sources() == std::set<std::string>{"a.nt", "b.ttl"});
  LoadOptions options;
  options.source = "both";
  const LoadReport report = place.load({a, b}, options);
  CHECK(report.summary.sources.at(0).facts == 2);
  CHECK(report.summary.added == 0);
  CHECK(place.sources() == std::set<std::string>{"a.nt", "b.ttl", "both"});
  CHECK(has_notice(place.load({a, b}, options), "both: unchanged"));
  CHECK_FALSE(has_notice(place.load({b, a}, options), "unchanged"));
  std::filesystem::create_directory(place.folder / "x");
  const auto other = place.file("x/a.nt", nt("c", "p", "1"));
  CHECK(place.refused({a, other}).message == "two files are called a.nt");
  CHECK(place.refused({}).code == base::ErrorCode::invalid_argument);
}

TEST_CASE("an error in any file leaves the KB as it was") {
  const Place place;
  place.load({place.file("old.nt", nt("a", "p", "1"))});
  const auto good = place.file("good.nt", nt("b", "p", "1"));
  const auto bad = place.file("bad.nt", nt("b", "p", "1") + "nonsense\n" + nt("b", "p", "2"));
  const base::Error error = place.refused({good, bad});
  CHECK(error.code == base::ErrorCode::bad_input);
  CHECK(error.message.find("bad.nt:2: expected the subject") != std::string::npos);
  CHECK(error.hint.find("--skip-bad") != std::string::npos);
  CHECK(place.sources() == std::set<std::string>{"old.nt"});

  LoadOptions options;
  options.skip_bad = true;
  for (int times = 0; times < 2; ++times) {  // told of again each time
    const LoadReport report = place.load({good, bad}, options);
    CHECK(report.bad_lines == 1);
    REQUIRE(report.first_bad.size() == 1);
    CHECK(report.first_bad[0].where.ends_with("bad.nt:2"));
  }
  CHECK(place.lines().size() == 3);
}

TEST_CASE("at most twenty bad lines are kept, all are counted") {
  const Place place;
  std::string text;
  for (int i = 0; i < 100; ++i) text += "x\n";
  LoadOptions options;
  options.skip_bad = true;
  const LoadReport report = place.load({place.file("a.nt", text)}, options);
  CHECK(report.bad_lines == 100);
  CHECK(report.first_bad.size() == 20);
}

TEST_CASE("what cannot be read is told with what to do") {
  const Place place;
  const auto error = [&](const std::filesystem::path& path) { return place.refused({path}); };
  CHECK(error(place.folder / "none.nt").code == base::ErrorCode::not_found);
  CHECK(error(place.folder.path()).code == base::ErrorCode::io);
  CHECK(error(place.file("x.xlsx", "PK\x03\x04")).hint.find("save the sheet as CSV") != std::string::npos);
  CHECK(error(place.file("x.csv", "PK\x03\x04zip")).hint.find("save the sheet as CSV") != std::string::npos);
  CHECK(error(place.file("x.rdf", "<rdf/>")).code == base::ErrorCode::unsupported);
  CHECK(error(place.file("x.txt", "x")).hint.find("--format") != std::string::npos);
  CHECK(error(place.file("x.json", "{}")).hint.find(".jsonl") != std::string::npos);
  CHECK(error(place.file("nul.nt", std::string("<urn:a> <urn:p> \"\0\" .", 21)))
            .message.find(":1: the character U+0000") != std::string::npos);
  CHECK(
      error(place.file("esc.nt", "<urn:a> <urn:p> \"\\u0000\" .")).message.find(":1: the character U+0000") !=
      std::string::npos);
  std::string binary = "name,x\n";
  std::uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) binary += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  CHECK(error(place.file("binary.csv", binary)).message.find("binary.csv:") != std::string::npos);
  LoadOptions options;
  options.base_iri = "not an iri";
  CHECK(place.refused({place.file("x.ttl", "<a> <urn:p> <b> .")}, options).code ==
        base::ErrorCode::invalid_argument);
}

TEST_CASE("compressed files are read; cut off ones are refused") {
  const Place place;
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += nt("a" + std::to_string(i % 7919), "p", std::to_string(i * 31 % 10007));
  const auto file = place.file("a.nt", text);
  const std::string name = file.string();
  REQUIRE(std::system(("gzip -k '" + name + "'").c_str()) == 0);
  LoadReport report = place.load({place.folder / "a.nt.gz"});
  CHECK(report.summary.added == 20000);
  const std::string packed = base::read_file(place.folder / "a.nt.gz").value();
  const base::Error error = place.refused({place.file("cut.nt.gz", packed.substr(0, packed.size() / 2))});
  CHECK(error.code == base::ErrorCode::bad_input);
  CHECK(error.message.find("cut.nt.gz") != std::string::npos);
  // In strict mode and when bad lines are left out alike: what is missing is not a line.
  LoadOptions options;
  options.skip_bad = true;
  CHECK(place.refused({place.folder / "cut.nt.gz"}, options).code == base::ErrorCode::bad_input);
}

TEST_CASE("a pipe is read as a file is") {
  const Place place;
  const std::filesystem::path pipe = place.folder / "pipe.csv";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe) << "name,size\nAnn,5\nBob,6\n"; });
  const auto report = kb::load(*place.store, {pipe}, {});
  writer.join();
  REQUIRE(report);
  CHECK(report->summary.facts > 5);
  CHECK(place.sources() == std::set<std::string>{"pipe.csv"});
}

TEST_CASE("one thread and two give the same KB") {
  const Place one, two;
  std::string text = "@prefix : <urn:x:> .\n";
  for (int i = 0; i < 5000; ++i)
    text += ":s" + std::to_string(i / 3) + " :p" + std::to_string(i % 7) + " [ :q " + std::to_string(i) +
            " ] .\n";
  LoadOptions options;
  options.threads = 1;
  one.load({one.file("a.ttl", text)}, options);
  options.threads = 4;
  two.load({two.file("a.ttl", text)}, options);
  CHECK(one.lines(true) == two.lines(true));
  CHECK(one.lines().size() == 10000);
  const Place bad;
  for (const std::size_t threads : {1, 2}) {
    options.threads = threads;
    CHECK(bad.refused({bad.file("a.ttl", text + "x")}, options).message.find("a.ttl:5002: ") !=
          std::string::npos);
  }
}

TEST_CASE("rows of facts are their lines") {
  const Place place;
  place.load({place.file("a.nt", "# comment\n" + nt("a", "p", "1") + "\n" + nt("a", "p", "2"))});
  const auto view = place.view();
  const auto id = [&](const std::string& iri) { return view->find(Term::iri(iri)).value().value(); };
  const auto origins = view->origins({id("urn:a"), id("urn:p"), id("urn:2")}).value();
  REQUIRE(origins.size() == 1);
  CHECK(origins[0].row == 4);
}

TEST_CASE("Ctrl-C ends a load and changes nothing") {
  const Place place;
  place.load({place.file("a.nt", nt("a", "p", "1"))});
  std::string text;
  for (int i = 0; i < 20000; ++i) text += nt("b" + std::to_string(i), "p", "x");
  const auto file = place.file("b.nt", text);
  const auto table = place.file("t.csv", "name,x\nAnn,1\n");
  base::request_interrupt();
  for (const std::size_t threads : {1, 2}) {
    LoadOptions options;
    options.threads = threads;
    const auto report = kb::load(*place.store, {file}, options);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == base::ErrorCode::cancelled);
  }
  CHECK_FALSE(kb::load(*place.store, {table}, {}));
  base::clear_interrupt();
  CHECK(place.lines().size() == 1);
  CHECK(place.load({file}).summary.added == 20000);
}

TEST_CASE("progress goes where it is sent") {
  const Place place;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += nt("b" + std::to_string(i), "p", "x");
  LoadOptions options;
  std::vector<std::string> shown;
  options.progress = [&](const std::string& line) { shown.push_back(line); };
  place.load({place.file("b.nt", text)}, options);
  for (const std::string& line : shown) CHECK(line.find('\r') == std::string::npos);
}

TEST_CASE("a file that changes while it is read is noticed") {
  const Place place;
  const auto path = place.file("a.nt", nt("a", "p", "1"));
  const auto no_folder = []() -> base::Result<std::filesystem::path> {
    return base::fail(base::ErrorCode::internal, "not needed");
  };
  const LoadFile file = LoadFile::open(path, {}, no_folder).value();
  CHECK(file.check_unchanged());
  place.file("a.nt", nt("a", "p", "1") + nt("a", "p", "2"));
  const base::Status status = file.check_unchanged();
  REQUIRE_FALSE(status);
  CHECK(status.error().message.find("was changed while it was read") != std::string::npos);
}

TEST_CASE("named graphs are sources of their own") {
  const Place place;
  const std::string g1 = "<urn:a> <urn:p> <urn:1> <urn:g1> .\n", g2 = "<urn:a> <urn:p> <urn:2> <urn:g2> .\n",
                    none = "<urn:a> <urn:p> <urn:3> .\n";
  place.load({place.file("a.nq", g1 + g2 + none)});
  CHECK(place.sources() == std::set<std::string>{"a.nq", "urn:g1", "urn:g2"});
  const Source record = place.view()->source("urn:g1").value().value();
  CHECK(record.kind == "graph");
  CHECK(record.loaded_from == "a.nq");
  CHECK(place.lines(false, "a.nq") == Lines{"<urn:a> <urn:p> <urn:3> ."});
  CHECK(has_notice(place.load({place.folder / "a.nq"}), "unchanged"));

  // A graph that is gone from the file is gone from the KB.
  LoadReport report = place.load({place.file("a.nq", g1 + none)});
  CHECK(has_notice(report, "urn:g2 is no longer in a.nq: its 1 facts are removed"));
  CHECK(place.sources() == std::set<std::string>{"a.nq", "urn:g1"});
  CHECK(place.lines().size() == 2);

  // Another load takes a graph over ...
  report = place.load({place.file("b.trig", "<urn:g1> { <urn:b> <urn:p> <urn:4> }")});
  CHECK(has_notice(report, "urn:g1 was loaded from a.nq: its 1 facts are replaced by those of b.trig"));
  CHECK(place.lines(false, "urn:g1") == Lines{"<urn:b> <urn:p> <urn:4> ."});
  // ... and the first one is no longer unchanged.
  report = place.load({place.folder / "a.nq"});
  CHECK(has_notice(report, "urn:g1 was loaded from b.trig"));
  CHECK(place.lines(false, "urn:g1") == Lines{"<urn:a> <urn:p> <urn:1> ."});

  // A graph that was deleted comes back.
  auto update = place.store->begin_update().value();
  REQUIRE(update->remove_source("urn:g1"));
  REQUIRE(update->commit());
  update.reset();
  CHECK(place.load({place.folder / "a.nq"}).summary.added == 1);
}

TEST_CASE("graphs with blank names, graphs of several files, and one called as the load") {
  const Place place;
  const auto a = place.file("a.nq", "<urn:a> <urn:p> <urn:1> _:g .\n<urn:a> <urn:p> <urn:2> <urn:both> .\n");
  const auto b = place.file("b.nq", "<urn:a> <urn:p> <urn:3> <urn:both> .\n");
  const LoadReport report = place.load({a, b});
  CHECK(has_notice(report, "urn:both comes from a.nq and from b.nq"));
  CHECK(place.lines(false, "urn:both").size() == 2);
  CHECK(place.sources().size() == 4);
  CHECK(place.sources().begin()->starts_with("_:b"));
  LoadOptions options;
  options.source = "urn:both";
  place.load({b}, options);
  CHECK(place.lines(false, "urn:both") == Lines{"<urn:a> <urn:p> <urn:3> ."});
  CHECK(place.view()->source("urn:both").value()->kind == "file");
}

TEST_CASE("JSON lines make sources of their own") {
  const Place place;
  place.load({place.file("a.jsonl", R"({"s":"urn:a","p":"urn:p","o":1,"source":"crawl 1"})"
                                    "\n"
                                    R"({"s":"urn:a","p":"urn:p","o":2})")});
  CHECK(place.sources() == std::set<std::string>{"a.jsonl", "crawl 1"});
  CHECK(place.lines(false, "crawl 1").size() == 1);
}

TEST_CASE("tables: values are linked to entities that the KB names so") {
  const Place place;
  place.load({place.file("c.ttl",
                         "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
                         "<urn:w:Q90> rdfs:label \"Paris\"@en . <urn:w:Q64> rdfs:label \"Berlin\"@en .\n"
                         "<urn:w:Q1> rdfs:label \"Rome\"@en . <urn:w:Q2> rdfs:label \"Rome\"@en .\n")});
  const auto table = place.file("people.csv", "name,home\nAnn,Paris\nBob,Berlin\nCid,Rome\n");
  place.load({table});
  const Lines lines = place.lines(false, "people.csv");
  const auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(has("<urn:askbase:person:Ann> <urn:askbase:p:home> <urn:w:Q90> ."));
  CHECK(has("<urn:askbase:person:Cid> <urn:askbase:p:home> <urn:askbase:home:Rome> ."));
  CHECK(has_notice(place.load({table}), "unchanged"));
  // The KB has changed so that the same file means something else.
  place.load({place.file(
      "c.ttl",
      "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n<urn:w:Q90> rdfs:label \"Paris\"@en .\n")});
  const LoadReport report = place.load({table});
  CHECK_FALSE(has_notice(report, "unchanged"));
  CHECK(report.summary.removed > 0);
}

TEST_CASE("tables: loading again changes nothing, alone or together, in any order") {
  const Place place;
  const auto cities =
      place.file("cities.csv", "name,country,twin\nLyon,France,Turin\nTurin,Italy,Lyon\nNice,France,Turin\n");
  const auto countries = place.file("countries.csv", "name,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\n");
  const auto capitals =
      place.file("capitals.csv", "name,river,of\nParis,Seine,France\nRome,Tiber,Italy\nLima,,Peru\n");
  place.load({cities, countries, capitals});
  const Lines first = place.lines(true);
  for (const auto& file : {cities, countries, capitals, countries}) {
    const LoadReport report = place.load({file});
    CAPTURE(file);
    CHECK(report.summary.added + report.summary.removed == 0);
  }
  CHECK(place.lines(true) == first);
  place.load({capitals, cities, countries});
  CHECK(place.lines(true) == first);
}

TEST_CASE("Chinese tables in GB18030") {
  const Place place;
  // "名称,人口\n北京,21893095\n上海,24870895\n" from Python's codec.
  place.load({place.file(
      "城市.csv",
      "\xC3\xFB\xB3\xC6,\xC8\xCB\xBF\xDA\n\xB1\xB1\xBE\xA9,21893095\n\xC9\xCF\xBA\xA3,24870895\n")});
  const Lines lines = place.lines();
  CHECK(std::find(lines.begin(), lines.end(),
                  "<urn:askbase:城市:上海> <urn:askbase:p:人口> "
                  "\"24870895\"^^<http://www.w3.org/2001/XMLSchema#integer> .") != lines.end());
}

TEST_CASE("wordings name predicates by IRI, by name and by label") {
  const Place place;
  place.load(
      {place.file("c.csv", "name,capital city,人口\nFrance,Paris,5\nPeru,Lima,6\n"),
       place.file("d.ttl",
                  "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
                  "<urn:w:P6> rdfs:label \"head of government\"@en . <urn:x> <urn:w:P6> <urn:y> .\n")});
  LoadOptions options;
  options.wordings = true;
  const auto file =
      place.file("w.jsonl", R"({"predicate":"Capital City","lang":"en","wording":"seat of government"})"
                            "\n"
                            R"({"predicate":"人口","lang":"zh","wording":"有多少人"})"
                            "\n"
                            R"({"predicate":"head of government","wording":"who runs"})"
                            "\n"
                            R"({"predicate":"urn:w:P6","wording":"谁领导"})");
  const LoadReport report = place.load({file}, options);
  CHECK(report.summary.added == 4);
  const Lines lines = place.lines(false, "w.jsonl");
  CHECK(lines.at(0) == "<urn:askbase:p:capital%20city> <urn:askbase:wording> \"seat of government\"@en .");
  CHECK(lines.at(3) == "<urn:w:P6> <urn:askbase:wording> \"谁领导\"@zh .");
  CHECK(place.load({file}, options).summary.added == 0);
  const base::Error error =
      place.refused({place.file("v.jsonl", R"({"predicate":"capital sity","wording":"x"})")}, options);
  CHECK(
      error.message.find("v.jsonl:1: no predicate is called \"capital sity\"; near ones: \"capital city\"") !=
      std::string::npos);
}

TEST_CASE("alias predicates are made such for good") {
  const Place place;
  LoadOptions options;
  options.alias_predicates = {"urn:nick", "nick name"};
  place.load({place.file("a.nt", "<urn:a> <urn:nick> \"Al\" .\n")}, options);
  const auto predicates = label_predicates(place.view()->snapshot()).value();
  CHECK(predicates.aliases.contains("urn:nick"));
  CHECK(predicates.aliases.contains("urn:askbase:p:nick%20name"));
}

TEST_CASE("a preview shows what would be loaded, and loads nothing") {
  const Place place;
  const auto file = place.file(
      "countries.csv",
      "name;area (km²);continent\nFrance;643801;Europe\nItaly;301230;Europe\nPeru;1285216;America\n");
  const TablePreview preview = preview_table(file, {}).value();
  CHECK(preview.encoding == "UTF-8");
  CHECK(preview.separator == ";");
  CHECK_FALSE(preview.triple_layout);
  CHECK(preview.rows == 3);
  REQUIRE(preview.columns.size() == 3);
  CHECK(preview.columns[0].type == "label");
  CHECK(preview.columns[1].type == "number");
  CHECK(preview.columns[2].type == "entity");
  CHECK(preview.columns[2].distinct == 2);
  CHECK(preview.columns[2].examples == Lines{"Europe", "America"});
  CHECK(preview.facts ==
        Lines{"France — area — 643801 km²", "Italy — continent — Europe", "Peru — area — 1285216 km²"});
  CHECK(preview.questions == Lines{"What is the area of France?", "What is the continent of Italy?",
                                   "Which country has the continent Europe?"});
  const TablePreview chinese =
      preview_table(place.file("城市.csv", "名称,国家\n北京,中国\n上海,中国\n东京,日本\n"), {}).value();
  CHECK(chinese.questions == Lines{"北京的国家是什么？", "上海的国家是什么？", "哪个城市的国家是中国？"});
  const TablePreview facts =
      preview_table(place.file("f.tsv", "姚明\t国籍\t中国\n刘翔\t国籍\t中国\n"), {}).value();
  CHECK(facts.triple_layout);
  CHECK(facts.questions.at(0) == "姚明的国籍是什么？");
  CHECK(preview_table(place.file("x.nt", ""), {}).error().code == base::ErrorCode::invalid_argument);
  CHECK(place.view()->facts() == 0);
}

}  // namespace
}  // namespace askbase::kb
