#include <chrono>
#include <doctest/doctest.h>
#include <random>
#include <set>

#include "base/text.h"
#include "kb/entity_index.h"
#include "kb/names.h"
#include "kb/store.h"
#include "tests/kb_memory_tables.h"
#include "tests/test_support.h"

using namespace askbase;
using namespace askbase::kb;
using test::entity;
using test::NameTables;

namespace {

// A KB on disk, filled through the store as a load does.
class TestKb {
 public:
  TestKb() : store_(Store::open(folder_ / "kb", OpenMode::create).value()) {}

  struct Fact {
    std::string subject;
    std::string predicate;
    Term object;
  };
  void change(const std::vector<Fact>& added, const std::vector<Fact>& removed = {}) {
    auto update = store_->begin_update().value();
    const SourceId source = update->source({.name = "test"}, false).value();
    for (const Fact& fact : added) {
      REQUIRE(update->add(source, node(fact.subject), Term::iri(fact.predicate), fact.object, 0));
    }
    for (const Fact& fact : removed) {
      const Triple triple{update->intern(node(fact.subject)).value(),
                          update->intern(Term::iri(fact.predicate)).value(),
                          update->intern(fact.object).value()};
      REQUIRE(update->remove(triple));
    }
    REQUIRE(update->commit());
    view_ = store_->view().value();
  }
  const View& view() const { return *view_; }
  Storage& storage() { return store_->storage(); }

  TermId id(const std::string& iri) const { return view_->find(node(iri)).value().value(); }
  std::string iri(TermId id) const { return view_->term(id).value().value; }
  std::vector<std::string> iris(const base::Result<std::vector<EntityMatch>>& matches) const {
    REQUIRE(matches);
    std::vector<std::string> out;
    for (const EntityMatch& match : *matches) out.push_back(iri(match.entity));
    return out;
  }
  std::vector<std::string> exact(std::string_view text) const { return iris(find_exact(*view_, text)); }
  std::vector<std::string> fuzzy(std::string_view text) const { return iris(find_fuzzy(*view_, text, 10)); }
  std::vector<std::string> found(std::string_view text, std::string_view lang = "",
                                 std::size_t limit = 10) const {
    return iris(search(*view_, text, lang, limit));
  }
  std::string shown(const std::string& iri, std::string_view lang) const {
    const auto name = display_name(*view_, id(iri), lang);
    REQUIRE(name);
    return *name;
  }

 private:
  static Term node(const std::string& name) {
    return name.starts_with("_:") ? Term::blank(name.substr(2)) : Term::iri(name);
  }
  test::ScratchFolder folder_;
  std::unique_ptr<Store> store_;
  std::shared_ptr<const View> view_;
};

const std::string label(iri::rdfs_label), pref_label(iri::skos_pref_label), alt_label(iri::skos_alt_label);
using Iris = std::vector<std::string>;

// Facts without a name in them, so that an entity has this many.
void add_facts(std::vector<TestKb::Fact>& facts, const std::string& subject, int count) {
  for (int i = 0; i < count; ++i) facts.push_back({subject, "urn:x:p" + std::to_string(i), Term::integer(i)});
}

std::unique_ptr<TestKb> world() {
  auto kb = std::make_unique<TestKb>();
  std::vector<TestKb::Fact> facts = {
      {"urn:x:al", label, Term::text("Albania", "en")},
      {"urn:x:al", label, Term::text("阿尔巴尼亚", "zh")},
      {"urn:x:al", alt_label, Term::text("Republic of Albania", "en")},
      {"urn:x:tw", label, Term::text("Taiwan", "en")},
      {"urn:x:tw", label, Term::text("臺灣", "zh-hant")},
      {"urn:x:st", label, Term::text("São Tomé and Príncipe", "en")},
      {"urn:x:ci", label, Term::text("Côte d’Ivoire", "fr")},
      {"urn:x:us", label, Term::text("United States", "en")},
      {"urn:x:us", alt_label, Term::text("U.S.A.", "en")},
      {"urn:x:us", alt_label, Term::text("the United States of America", "en")},
      {"urn:x:nl", label, Term::text("Netherlands", "en")},
      {"urn:x:beatles", label, Term::text("The Beatles", "en")},
      {"urn:x:tshirt", label, Term::text("T恤", "zh")},
      {"urn:x:iphone", label, Term::text("iPhone 手机", "zh")},
      {"urn:x:covid", label, Term::text("COVID-19", "en")},
      {"urn:x:tolkien", label, Term::text("J. R. R. Tolkien", "en")},
      {"urn:x:ny", label, Term::text("New York", "en")},
      {"urn:x:nyc", label, Term::text("New York City", "en")},
      {"urn:x:cpp", label, Term::text("C++", "en")},
      {"urn:x:csharp", label, Term::text("C#", "en")},
      {"urn:x:pboc", label, Term::text("中国人民银行", "zh")},
      {"urn:x:boc", label, Term::text("中国银行", "zh")},
      {"urn:x:moscow", label, Term::text("Москва", "ru")},
      {"urn:x:tokyo", label, Term::text("東京タワー", "ja")},
  };
  kb->change(facts);
  return kb;
}

}  // namespace

TEST_CASE("kb: exact names in both languages and scripts") {
  const auto kb = world();
  struct Case {
    const char* text;
    Iris expected;
  };
  const Case cases[] = {
      {"Albania", {"urn:x:al"}},
      {"ALBANIA ", {"urn:x:al"}},
      {"ａｌｂａｎｉａ", {"urn:x:al"}},
      {"阿尔巴尼亚", {"urn:x:al"}},
      {"阿爾巴尼亞", {"urn:x:al"}},
      {"阿尔 巴尼亚", {"urn:x:al"}},
      {"republic of albania", {"urn:x:al"}},
      {"台湾", {"urn:x:tw"}},
      {"臺灣", {"urn:x:tw"}},
      {"台灣", {"urn:x:tw"}},
      {"Sao Tome and Principe", {"urn:x:st"}},
      {"São Tomé  and Príncipe", {"urn:x:st"}},
      {"Cote d'Ivoire", {"urn:x:ci"}},
      {"USA", {"urn:x:us"}},
      {"U.S.A.", {"urn:x:us"}},
      {"u s a", {"urn:x:us"}},
      {"the USA", {"urn:x:us"}},
      {"The U.S.A.", {"urn:x:us"}},
      {"United States of America", {"urn:x:us"}},
      {"the Netherlands", {"urn:x:nl"}},
      {"Beatles", {"urn:x:beatles"}},
      {"the beatles", {"urn:x:beatles"}},
      {"T恤", {"urn:x:tshirt"}},
      {"Ｔ恤", {"urn:x:tshirt"}},
      {"iphone手机", {"urn:x:iphone"}},
      {"iPhone 手機", {"urn:x:iphone"}},
      {"covid-19", {"urn:x:covid"}},
      {"COVID 19", {"urn:x:covid"}},
      {"J.R.R. Tolkien", {"urn:x:tolkien"}},
      {"JRR Tolkien", {"urn:x:tolkien"}},
      {"C++", {"urn:x:cpp"}},
      {"c#", {"urn:x:csharp"}},
      {"C", {}},
      {"МОСКВА", {"urn:x:moscow"}},
      {"東京タワー", {"urn:x:tokyo"}},
      {"东京タワー", {"urn:x:tokyo"}},
      {"Alban", {}},
      {"the", {}},
  };
  for (const Case& one : cases) CHECK_MESSAGE(kb->exact(one.text) == one.expected, one.text);

  const auto exact = find_exact(kb->view(), "usa").value();
  REQUIRE(exact.size() == 1);
  CHECK(exact[0].name.text == "U.S.A.");
  CHECK(exact[0].name.lang == "en");
  CHECK(exact[0].name.kind == NameKind::alias);
  CHECK(exact[0].match == MatchKind::exact);
  CHECK(exact[0].facts == 3);
}

TEST_CASE("kb: beginnings of names") {
  const auto kb = world();
  const auto begins = [&](std::string_view key) { return has_prefix(kb->view(), key).value(); };
  CHECK(begins("alb"));
  CHECK(begins("albania"));
  CHECK(begins("new york"));
  CHECK(begins("new york c"));
  CHECK(begins("阿尔"));
  CHECK(begins("u s"));  // "USA" may follow
  CHECK(begins("the netherl"));
  CHECK_FALSE(begins("albanian"));
  CHECK_FALSE(begins("york"));
  CHECK_FALSE(begins("尔巴"));
  CHECK_FALSE(has_prefix(NameTables().view(), "").value());
}

TEST_CASE("kb: names with errors, as a person types them") {
  const auto kb = world();
  CHECK(kb->fuzzy("Albnaia") == Iris{"urn:x:al"});
  CHECK(kb->fuzzy("阿尔巴尼压") == Iris{"urn:x:al"});
  CHECK(kb->fuzzy("阿爾巴尼壓") == Iris{"urn:x:al"});
  CHECK(kb->fuzzy("NewYork") == Iris{"urn:x:ny"});
  CHECK(kb->fuzzy("New Yrok") == Iris{"urn:x:ny"});
  CHECK(kb->fuzzy("the Bealtes") == Iris{"urn:x:beatles"});
  CHECK(kb->fuzzy("the Nehterlands") == Iris{"urn:x:nl"});
  CHECK(kb->fuzzy("Sao Tme and Principe") == Iris{"urn:x:st"});
  CHECK(kb->fuzzy("Москв") == Iris{"urn:x:moscow"});
  CHECK(kb->fuzzy("Albania") == Iris{});
  CHECK(kb->fuzzy("the Beatles") == Iris{});
  CHECK(kb->fuzzy("COVID-18") == Iris{});
  const auto matches = find_fuzzy(kb->view(), "Albnai", 5).value();
  REQUIRE(matches.size() == 1);
  CHECK(matches[0].edits == 2);
  CHECK(matches[0].match == MatchKind::fuzzy);
  CHECK(find_fuzzy(kb->view(), "Albnaia", 0).value().empty());
}

TEST_CASE("kb: similar words") {
  NameTables kb;
  kb.add({"Paris", "Paris Hilton", "Pariss", "Parish Church", "Parish Hall", "Paradis", "中国人民银行",
          "中国人民很行"});
  const View view = kb.view();
  const auto similar = [&](std::string_view word, std::size_t limit = 10) {
    const auto found = similar_words(view, word, limit);
    REQUIRE(found);
    std::vector<std::tuple<std::string, int, std::uint32_t>> out;
    for (const WordMatch& match : *found) out.emplace_back(match.word, match.edits, match.names);
    return out;
  };
  using Found = std::vector<std::tuple<std::string, int, std::uint32_t>>;
  CHECK(similar("PARIS") == Found{{"paris", 0, 2}, {"parish", 1, 2}, {"pariss", 1, 1}});
  CHECK(similar("paris", 2) == Found{{"paris", 0, 2}, {"parish", 1, 2}});
  CHECK(similar("parise") == Found{{"paris", 1, 2}, {"parish", 1, 2}, {"pariss", 1, 1}});
  CHECK(similar("中国人民银航") == Found{{"中国人民银行", 1, 1}});
  CHECK(similar("中国人民艮行") == Found{{"中国人民很行", 1, 1}, {"中国人民银行", 1, 1}});
  CHECK(similar("paris hilton") == Found{});
  CHECK(similar("") == Found{});
  CHECK(similar("paris", 0) == Found{});
}

TEST_CASE("kb: ranking of exact names") {
  TestKb kb;
  std::vector<TestKb::Fact> facts = {
      {"urn:x:known", label, Term::text("Paris", "en")},
      {"urn:x:texas", label, Term::text("Paris", "en")},
      {"urn:x:second", alt_label, Term::text("Paris", "en")},
      {"http://x.org/Paris", "urn:x:p", Term::literal("an identifier only")},
      {"urn:x:band", label, Term::text("The Paris", "en")},
  };
  add_facts(facts, "urn:x:known", 60);
  add_facts(facts, "urn:x:texas", 2);
  add_facts(facts, "urn:x:second", 2);
  add_facts(facts, "urn:x:band", 2);
  kb.change(facts);
  const auto matches = find_exact(kb.view(), "Paris").value();
  CHECK(kb.iris(matches) ==
        Iris{"urn:x:known", "urn:x:texas", "urn:x:band", "urn:x:second", "http://x.org/Paris"});
  CHECK(matches[0].facts == 61);
  CHECK(matches[1].facts == 3);
  CHECK(matches[4].facts == 1);
  CHECK(matches[4].name.kind == NameKind::identifier);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    CHECK(matches[i].score <= 1.0);
    CHECK(matches[i].score >= 0.8);
    if (i > 0) CHECK(matches[i].score <= matches[i - 1].score);
  }
  // The article is a small difference: between equally known things it decides, against fame it does not.
  CHECK(kb.exact("The Paris") ==
        Iris{"urn:x:known", "urn:x:band", "urn:x:texas", "urn:x:second", "http://x.org/Paris"});
  // A name as written comes before the same name in other letters.
  kb.change({{"urn:x:he1", label, Term::literal("he")}, {"urn:x:he2", label, Term::literal("He")}});
  CHECK(kb.exact("He")[0] == "urn:x:he2");
  CHECK(kb.exact("he")[0] == "urn:x:he1");
}

TEST_CASE("kb: equal scores keep one order") {
  NameTables kb;
  std::vector<EntityName> names;
  for (std::uint64_t i = 300; i > 0; --i) names.push_back({entity(i), "John Smith", "en", NameKind::label});
  kb.change(names);
  const View view = kb.view();
  const auto matches = find_exact(view, "john smith").value();
  REQUIRE(matches.size() == 300);
  for (std::size_t i = 0; i < matches.size(); ++i) CHECK(matches[i].entity == entity(i + 1));
  const auto few = search(view, "john smi", "en", 7).value();
  REQUIRE(few.size() == 7);
  for (std::size_t i = 0; i < few.size(); ++i) CHECK(few[i].entity == entity(i + 1));
}

TEST_CASE("kb: an entity stands once, under its best name") {
  NameTables kb;
  kb.change({{entity(1), "Berlin", "de", NameKind::alias},
             {entity(1), "BERLIN", "en", NameKind::label},
             {entity(1), "Berlin", "en", NameKind::label},
             {entity(1), "Berlin", "", NameKind::identifier}});
  const auto matches = find_exact(kb.view(), "Berlin").value();
  REQUIRE(matches.size() == 1);
  CHECK(matches[0].name.text == "Berlin");
  CHECK(matches[0].name.lang == "en");
  CHECK(matches[0].name.kind == NameKind::label);
  CHECK(search(kb.view(), "Berlin", "de", 5).value()[0].name.lang == "en");  // a label, though not in German
}

TEST_CASE("kb: search as a person types") {
  const auto kb = world();
  CHECK(kb->found("New York") == Iris{"urn:x:ny", "urn:x:nyc"});
  CHECK(kb->found("new yo") == Iris{"urn:x:ny", "urn:x:nyc"});
  CHECK(kb->found("york") == Iris{"urn:x:ny", "urn:x:nyc"});
  CHECK(kb->found("city new") == Iris{"urn:x:nyc"});
  CHECK(kb->found("america stat") == Iris{"urn:x:us"});
  CHECK(kb->found("america planet") == Iris{});
  CHECK(kb->found("阿尔巴") == Iris{"urn:x:al"});
  CHECK(kb->found("人民银行") == Iris{"urn:x:pboc"});
  CHECK(kb->found("银行") == Iris{"urn:x:boc", "urn:x:pboc"});
  CHECK(kb->found("手机") == Iris{"urn:x:iphone"});
  CHECK(kb->found("恤") == Iris{"urn:x:tshirt"});
  CHECK(kb->found("Albanai") == Iris{"urn:x:al"});
  CHECK(kb->found("new york", "", 1) == Iris{"urn:x:ny"});
  CHECK(kb->found("new york", "", 0) == Iris{});
  // Each kind of match in its band.
  for (const char* text : {"New York", "new", "york", "Albanai", "银行"}) {
    const auto matches = search(kb->view(), text, "", 10).value();
    for (const EntityMatch& match : matches) {
      const double low = match.match == MatchKind::exact    ? 0.8
                         : match.match == MatchKind::prefix ? 0.6
                         : match.match == MatchKind::word   ? 0.4
                                                            : 0.0;
      CHECK(match.score >= low);
      CHECK(match.score <= (low == 0.0 ? 0.4 : low + 0.2));
    }
  }
}

TEST_CASE("kb: search prefers names in the language asked for") {
  NameTables kb;
  kb.change({{entity(1), "Gift", "de", NameKind::label},
             {entity(2), "Gift", "en", NameKind::label},
             {entity(3), "Gift", "", NameKind::label},
             {entity(4), "东京", "ja", NameKind::label},
             {entity(5), "东京", "zh-hans", NameKind::label}});
  const View view = kb.view();
  const auto order = [&](std::string_view text, std::string_view lang) {
    std::vector<std::uint64_t> out;
    const auto matches = search(view, text, lang, 10).value();
    for (const EntityMatch& match : matches) out.push_back(id_payload(match.entity));
    return out;
  };
  CHECK(order("gift", "en") == std::vector<std::uint64_t>{2, 3, 1});
  CHECK(order("gift", "de") == std::vector<std::uint64_t>{1, 3, 2});
  CHECK(order("gift", "zh") == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(order("gift", "") == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(order("东京", "zh") == std::vector<std::uint64_t>{5, 4});
  CHECK(order("东京", "zh-hant") == std::vector<std::uint64_t>{5, 4});
}

TEST_CASE("kb: searches in large ranges stay bounded") {
  NameTables kb;
  std::vector<EntityName> names;
  for (std::uint64_t i = 1; i <= 6000; ++i) {
    names.push_back({entity(i), "common name " + std::to_string(i), "", NameKind::label});
    names.push_back({entity(10000 + i),
                     "银行分行" + base::to_utf8(std::u32string{char32_t(0x4E00 + i), U'支'}), "",
                     NameKind::label});
  }
  kb.change(names);
  const View view = kb.view();
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string text : {"c", "common", "name", "name common", "银", "分行", "行分"}) {
    CHECK_MESSAGE(search(view, text, "", 20).value().size() == 20, text);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("kb: exact names agree with a linear scan over several commits") {
  std::mt19937_64 random(7);
  const std::vector<std::string> pieces = {"the",  "U.S.", "a",   "b", "C", "New", "York",
                                           "中国", "1",    "T恤", "é", "-", "..."};
  const auto random_name = [&] {
    std::string out;
    for (std::size_t n = 1 + random() % 4; n > 0; --n) {
      if (!out.empty() && random() % 3 != 0) out += ' ';
      out += pieces[random() % pieces.size()];
    }
    return out;
  };
  // The forms under which a name is found, in the plainest way.
  const auto forms = [](std::string_view text) {
    std::set<std::string> out;
    const std::string key = base::match_key(text);
    if (key.empty()) return out;
    std::string joined;
    bool letter = false;
    for (std::size_t begin = 0; begin <= key.size();) {
      const std::size_t end = std::min(key.find(' ', begin), key.size());
      const std::string word = key.substr(begin, end - begin);
      const bool is_letter = base::count_code_points(word) == 1 && word != "1" && !base::contains_han(word);
      joined += (joined.empty() || (letter && is_letter) ? "" : " ") + word;
      letter = is_letter;
      begin = end + 1;
    }
    for (const std::string& form : {key, joined}) {
      out.insert(form);
      if (form.starts_with("the ")) out.insert(form.substr(4));
    }
    return out;
  };
  NameTables kb;
  std::map<std::pair<std::uint64_t, std::string>, EntityName> present;
  for (int commit = 0; commit < 5; ++commit) {
    std::vector<EntityName> added, removed;
    for (auto at = present.begin(); at != present.end();) {
      if (random() % 3 == 0) {
        removed.push_back(at->second);
        at = present.erase(at);
      } else {
        ++at;
      }
    }
    for (int i = 0; i < 300; ++i) {
      added.push_back({entity(1 + random() % 60), random_name(), "", NameKind::label});
      present[{id_payload(added.back().entity), added.back().text}] = added.back();
    }
    kb.change(added, removed);
    const View view = kb.view();
    std::size_t hits = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string text = random_name();
      const std::set<std::string> asked = forms(text);
      std::set<std::uint64_t> expected, got;
      for (const auto& [where, name] : present) {
        const std::set<std::string> own = forms(name.text);
        if (std::any_of(own.begin(), own.end(),
                        [&](const std::string& form) { return asked.contains(form); })) {
          expected.insert(where.first);
        }
      }
      const auto matches = find_exact(view, text).value();
      for (const EntityMatch& match : matches) got.insert(id_payload(match.entity));
      CHECK_MESSAGE(got == expected, text);
      CHECK(got.size() == matches.size());
      hits += expected.empty() ? 0 : 1;
    }
    CHECK(hits > 50);
  }
}

TEST_CASE("kb: what changes a name and what does not") {
  NameTables kb;
  const EntityName paris{entity(1), "Paris", "en", NameKind::label};
  const EntityName long_name{entity(2), "Long " + std::string(600, 'x') + " one", "", NameKind::label};
  const EntityName other_long{entity(2), "Long " + std::string(600, 'x') + " two", "", NameKind::label};
  kb.change({paris, paris, long_name});
  const auto after_first = kb.tables;
  kb.change({paris});  // is there already
  CHECK(kb.tables == after_first);
  kb.change({}, {{entity(1), "Paris", "fr", NameKind::label}});  // was never there
  CHECK(kb.tables == after_first);
  kb.change({paris}, {paris});  // gone by one fact, given by another
  CHECK(kb.tables == after_first);
  // The same text of another entity, language or kind is another name under the same words.
  const EntityName texas{entity(3), "paris", "en", NameKind::label};
  const EntityName alias{entity(1), "Paris", "en", NameKind::alias};
  kb.change({texas, alias});
  CHECK(kb.table(Table::names).size() == after_first[static_cast<std::size_t>(Table::names)].size() + 2);
  CHECK(kb.table(Table::vocabulary) == after_first[static_cast<std::size_t>(Table::vocabulary)]);
  CHECK(kb.table(Table::grams) == after_first[static_cast<std::size_t>(Table::grams)]);
  kb.change({}, {texas, alias});
  CHECK(kb.tables == after_first);
  // Long names are told apart although only their beginning is kept.
  kb.change({other_long});
  CHECK(find_exact(kb.view(), other_long.text).value().size() == 1);
  kb.change({}, {other_long});
  CHECK(kb.tables == after_first);
  const auto found = find_exact(kb.view(), long_name.text).value();
  REQUIRE(found.size() == 1);
  CHECK(found[0].name.text == long_name.text.substr(0, 512));
  for (const std::string& entry : name_entries(long_name)) CHECK(kb.table(Table::names).contains(entry));
  CHECK(name_entries(long_name).size() == 1);
  CHECK(name_entries({entity(1), "The U.S.", "", NameKind::label}).size() == 4);
  // Names without a key are passed over.
  kb.change({{entity(4), "...", "", NameKind::label}, {entity(4), "", "", NameKind::label}});
  CHECK(kb.tables == after_first);
  kb.change({}, {paris, long_name});
  for (const Table table : test::name_tables) CHECK(kb.table(table).empty());
}

TEST_CASE("kb: one thread and several write the same tables") {
  std::mt19937_64 random(99);
  std::vector<EntityName> names;
  for (int i = 0; i < 60000; ++i) {
    std::string text = "n" + std::to_string(random() % 9000) + " ";
    for (int n = 0; n < 6; ++n) text += static_cast<char>('a' + random() % 4);
    names.push_back({entity(1 + random() % 5000), text, "", NameKind::label});
  }
  const std::vector<EntityName> removed(names.begin(), names.begin() + 20000);
  NameTables one, two;
  one.change(names, {}, 1);
  two.change(names, {}, 3);
  CHECK(one.tables == two.tables);
  one.change({}, removed, 1);
  two.change({}, removed, 3);
  CHECK(one.tables == two.tables);
  CHECK(one.table(Table::names).size() > 30000);
}

TEST_CASE("kb: a name given by two predicates goes with the last of them") {
  TestKb kb;
  const TestKb::Fact by_label{"urn:x:a", label, Term::text("Anna", "en")};
  const TestKb::Fact by_pref_label{"urn:x:a", pref_label, Term::text("Anna", "en")};
  kb.change({by_label, by_pref_label, {"urn:x:a", "urn:x:p", Term::integer(1)}});
  CHECK(names_of(kb.view(), kb.id("urn:x:a")).value().size() == 1);
  kb.change({}, {by_label});
  CHECK(kb.exact("anna") == Iris{"urn:x:a"});
  kb.change({by_label}, {by_pref_label});
  CHECK(kb.exact("anna") == Iris{"urn:x:a"});
  kb.change({}, {by_label});
  CHECK(kb.exact("anna") == Iris{});
}

TEST_CASE("kb: the name to show") {
  TestKb kb;
  kb.change({
      {"urn:x:both", label, Term::text("China", "en")},
      {"urn:x:both", label, Term::text("中国", "zh")},
      {"urn:x:both", label, Term::text("Chine", "fr")},
      {"urn:x:tw", label, Term::text("Taiwan", "en")},
      {"urn:x:tw", label, Term::text("臺灣", "zh-hant")},
      {"urn:x:hans", label, Term::text("忧郁", "zh-hans")},
      {"urn:x:hans", label, Term::text("憂鬱", "zh-tw")},
      {"urn:x:hans", label, Term::text("憂鬱（港）", "zh-hk")},
      {"urn:x:plain", label, Term::literal("Plain")},
      {"urn:x:plain", label, Term::literal("普通")},
      {"urn:x:plain", label, Term::text("Einfach", "de")},
      {"urn:x:british", label, Term::text("Colour", "en-gb")},
      {"urn:x:order", "http://schema.org/name", Term::text("A schema name", "en")},
      {"urn:x:order", pref_label, Term::text("B preferred", "en")},
      {"urn:x:order", label, Term::text("D label", "en")},
      {"urn:x:order", label, Term::text("C label", "en")},
      {"urn:x:alias", alt_label, Term::text("Otherwise", "en")},
      {"urn:x:alias", "urn:askbase:p:别名", Term::text("别样", "zh")},
      {"http://x.org/id/Barack_Obama", "urn:x:p", Term::integer(1)},
      {"http://x.org/onto#officialLanguage", "urn:x:p", Term::integer(1)},
      {"urn:askbase:entity:COVID-19%20x", "urn:x:p", Term::integer(1)},
      {"urn:askbase:entity:北京", "urn:x:p", Term::integer(1)},
      {"_:b7", "urn:x:p", Term::text("a text", "en")},
      {"_:b7", "urn:x:q", Term::literal("2024-02-29", std::string(iri::xsd) + "date")},
      {"_:named", label, Term::literal("Named blank")},
      {"urn:x:odd", label, Term::iri("urn:x:not-a-name")},
      {"urn:x:odd", label, Term::integer(1984)},
  });
  CHECK(kb.shown("urn:x:both", "en") == "China");
  CHECK(kb.shown("urn:x:both", "zh") == "中国");
  CHECK(kb.shown("urn:x:both", "zh-hant") == "中國");
  CHECK(kb.shown("urn:x:both", "zh-TW") == "中國");
  CHECK(kb.shown("urn:x:both", "fr") == "Chine");
  CHECK(kb.shown("urn:x:both", "de") == "China");
  CHECK(kb.shown("urn:x:both", "") == "China");
  CHECK(kb.shown("urn:x:tw", "zh") == "台湾");
  CHECK(kb.shown("urn:x:tw", "zh-hant") == "臺灣");
  CHECK(kb.shown("urn:x:tw", "zh-hk") == "臺灣");
  CHECK(kb.shown("urn:x:hans", "zh") == "忧郁");
  CHECK(kb.shown("urn:x:hans", "zh-hk") == "憂鬱（港）");
  CHECK(kb.shown("urn:x:hans", "zh-tw") == "憂鬱");
  CHECK(kb.shown("urn:x:hans", "en") == "忧郁");
  CHECK(kb.shown("urn:x:plain", "en") == "Plain");
  CHECK(kb.shown("urn:x:plain", "zh") == "普通");
  CHECK(kb.shown("urn:x:plain", "de") == "Einfach");
  CHECK(kb.shown("urn:x:british", "en") == "Colour");
  CHECK(kb.shown("urn:x:order", "en") == "C label");
  CHECK(kb.shown("urn:x:alias", "en") == "Otherwise");
  CHECK(kb.shown("urn:x:alias", "zh") == "别样");
  CHECK(kb.shown("http://x.org/id/Barack_Obama", "en") == "Barack Obama");
  CHECK(kb.shown("http://x.org/onto#officialLanguage", "en") == "official language");
  CHECK(kb.shown("urn:askbase:entity:COVID-19%20x", "en") == "COVID-19 x");
  CHECK(kb.shown("urn:askbase:entity:北京", "zh") == "北京");
  CHECK(kb.shown("_:b7", "en") == "_:b7");
  CHECK(kb.shown("_:named", "en") == "Named blank");
  CHECK(kb.shown("urn:x:odd", "en") == "1984");
  const auto literal = [&](const Term& term) {
    return display_name(kb.view(), kb.view().find(term).value().value(), "en").value();
  };
  CHECK(literal(Term::text("a text", "en")) == "a text");
  CHECK(literal(Term::literal("2024-02-29", std::string(iri::xsd) + "date")) == "2024-02-29");
  CHECK(literal(Term::integer(-42)) == "-42");
  const auto unknown = display_name(kb.view(), entity(987654), "en");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == base::ErrorCode::not_found);

  const auto texts = [&](const std::string& iri) {
    std::vector<std::string> out;
    const auto names = names_of(kb.view(), kb.id(iri)).value();
    for (const EntityName& name : names) {
      out.push_back(name.text + "@" + name.lang + (name.kind == NameKind::alias ? " alias" : ""));
    }
    return out;
  };
  CHECK(texts("urn:x:order") == Iris{"C label@en", "D label@en", "B preferred@en", "A schema name@en"});
  CHECK(texts("urn:x:alias") == Iris{"Otherwise@en alias", "别样@zh alias"});
  CHECK(texts("urn:x:odd") == Iris{"1984@"});
  CHECK(texts("_:b7") == Iris{});
}

TEST_CASE("kb: readable ends of IRIs") {
  CHECK(readable_iri("http://dbpedia.org/resource/New_York_City") == "New York City");
  CHECK(readable_iri("http://www.wikidata.org/entity/Q7186") == "Q7186");
  CHECK(readable_iri("urn:askbase:p:officialLanguage") == "officialLanguage");  // as its owner wrote it
  CHECK(readable_iri("urn:askbase:entity:AC%2FDC") == "AC/DC");
  CHECK(readable_iri("http://x.org/%E5%8C%97%E4%BA%AC") == "北京");
  CHECK_FALSE(readable_iri("http://").empty());
  CHECK(readable_iri("").empty());
}

TEST_CASE("kb: the list of label predicates") {
  NameTables kb;
  CHECK(label_predicates(kb.snapshot()).value() == LabelPredicates::defaults());
  CHECK(LabelPredicates::defaults().labels.contains(std::string(iri::rdfs_label)));
  CHECK(LabelPredicates::defaults().aliases.contains("urn:askbase:p:别名"));
  LabelPredicates own;
  own.labels = {"urn:x:name"};
  own.aliases = {"urn:x:nick", "urn:askbase:p:别名"};
  auto& meta = kb.tables[static_cast<std::size_t>(Table::meta)];
  meta["label_predicates"] = encode_label_predicates(own);
  CHECK(label_predicates(kb.snapshot()).value() == own);
  meta["label_predicates"] = "";
  CHECK(label_predicates(kb.snapshot()).value() == LabelPredicates{});
  for (const char* bad : {"x", "label urn:x:a", "label urn:x:a\nother urn:x:b\n", "\n"}) {
    meta["label_predicates"] = bad;
    const auto read = label_predicates(kb.snapshot());
    REQUIRE_FALSE(read);
    CHECK(read.error().code == base::ErrorCode::corrupt);
  }
}

TEST_CASE("kb: odd texts are answered quickly and with nothing") {
  const auto kb = world();
  std::string megabyte_words, megabyte_han;
  while (megabyte_words.size() < (1U << 20)) megabyte_words += "nameless words ";
  while (megabyte_han.size() < (1U << 20)) megabyte_han += "千字文";
  const std::vector<std::string> odd = {"",
                                        "   ",
                                        "　\t\n",
                                        "😀",
                                        "👩‍👩‍👧‍👦🇨🇳",
                                        "...!?",
                                        std::string(1 << 20, 'x'),
                                        std::string(1 << 20, ' '),
                                        megabyte_words,
                                        megabyte_han,
                                        std::string("New\0York", 8).substr(3, 1),
                                        std::string("\xff\xfe\x80", 3),
                                        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
                                        "\xE2\x80\xAE gnirts"};
  for (const std::string& text : odd) {
    const std::string shown = text.substr(0, 20);
    const auto begin = std::chrono::steady_clock::now();
    CHECK_MESSAGE(kb->exact(text).empty(), shown);
    CHECK_MESSAGE(kb->fuzzy(text).empty(), shown);
    CHECK_MESSAGE(kb->found(text).empty(), shown);
    CHECK_MESSAGE(similar_words(kb->view(), text, 10).value().empty(), shown);
    CHECK(has_prefix(kb->view(), text));
    CHECK_MESSAGE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2), shown);
  }
  CHECK(kb->exact(std::string("New\0York", 8)) == Iris{"urn:x:ny"});  // a control character is a gap
}

TEST_CASE("kb: damaged name tables are reported") {
  NameTables kb;
  kb.add({"Paris", "Parish", "New Paris"});
  const auto damaged = [&](Table table, const std::string& key, const std::string& value, auto&& call) {
    NameTables broken = kb;
    broken.tables[static_cast<std::size_t>(table)][key] = value;
    const View view = broken.view();
    const auto result = call(view);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == base::ErrorCode::corrupt);
  };
  damaged(Table::names, std::string("paris\0\x12", 7), "",
          [](const View& view) { return find_exact(view, "paris"); });
  damaged(Table::names, "parisian", "", [](const View& view) { return search(view, "pari", "", 9); });
  damaged(Table::vocabulary, "parish", "", [](const View& view) { return similar_words(view, "paris", 9); });
  damaged(Table::grams, std::string("par\0", 4), "\xff",
          [](const View& view) { return find_fuzzy(view, "pariz", 9); });
}
