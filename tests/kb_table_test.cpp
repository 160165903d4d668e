#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "kb/load_values.h"
#include "kb/table_facts.h"
#include "kb/table_headers.h"
#include "tests/kb_load_support.h"

namespace askbase::kb {
namespace {

using test::Collector;
using Lines = std::vector<std::string>;

const std::string kType = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const std::string kLabel = "<http://www.w3.org/2000/01/rdf-schema#label>";
const std::string kAlias = "<http://www.w3.org/2004/02/skos/core#altLabel>";

std::string typed(const std::string& lexical, const std::string& type) {
  return "\"" + lexical + "\"^^<http://www.w3.org/2001/XMLSchema#" + type + ">";
}

struct Table {
  TableSource source;
  TablePlan plan;
  Collector sink{false};

  bool has(const std::string& subject, const std::string& predicate, const std::string& object) const {
    return sink.has(subject + " " + predicate + " " + object + " .");
  }
  // "urn:askbase:" is left out of s and p: "city:Paris", "p:capital".
  bool says(const std::string& subject, const std::string& predicate, const std::string& object) const {
    return has("<urn:askbase:" + subject + ">", "<urn:askbase:" + predicate + ">", object);
  }
  ColumnType type(std::size_t column) const { return plan.columns.at(column).type; }
  bool notices(const std::string& part) const {
    return std::any_of(plan.notices.begin(), plan.notices.end(),
                       [&](const std::string& notice) { return notice.find(part) != std::string::npos; });
  }
};

TableSource source_of(const std::string& text, const std::string& file) {
  return {[text, file]() -> base::Result<std::unique_ptr<base::Input>> {
            return base::Input::from_string(text, file);
          },
          file, table_name(file), file.ends_with(".tsv") ? Format::tsv : Format::csv};
}

Table read(const std::string& text, const std::string& file = "things.csv", LoadOptions options = {}) {
  Table table;
  table.source = source_of(text, file);
  auto plan = plan_table(table.source, options);
  INFO((plan ? "" : plan.error().message));
  REQUIRE(plan);
  table.plan = std::move(*plan);
  REQUIRE(link_values({{&table.source, &table.plan}}, nullptr, {}));
  REQUIRE(write_table(table.source, table.plan, table.sink, {}));
  return table;
}

std::string refused(const std::string& text, const std::string& file = "things.csv",
                    const LoadOptions& options = {}) {
  const auto plan = plan_table(source_of(text, file), options);
  REQUIRE_FALSE(plan);
  return plan.error().message;
}

const std::string e = "<urn:askbase:";

TEST_CASE("a table of rows: names, types, values") {
  const Table t = read(
      "name,capital,area (km²),population,continent,since,day\n"
      "France,Paris,643801,\"67,413,000\",Europe,1958,1958-10-04\n"
      "Germany,Berlin,357022.5,\"83,190,556\",Europe,1949,1949-05-23\n"
      "Japan,Tokyo,377975,\"125,502,000\",Asia,1947,1947-05-03\n",
      "countries.csv");
  CHECK(t.has(e + "class:country>", kLabel, "\"country\"@en"));
  CHECK(t.has(e + "country:France>", kType, e + "class:country>"));
  CHECK(t.has(e + "country:France>", kLabel, "\"France\"@en"));
  CHECK(t.says("country:France", "p:capital", "\"Paris\"@en"));
  CHECK(t.says("country:Germany", "p:area%20(km²)", typed("357022.5", "decimal")));
  CHECK(t.says("country:France", "p:population", typed("67413000", "integer")));
  CHECK(t.says("country:France", "p:continent", e + "continent:Europe>"));
  CHECK(t.has(e + "continent:Europe>", kLabel, "\"Europe\"@en"));
  CHECK(t.says("country:France", "p:since", typed("1958", "gYear")));
  CHECK(t.says("country:Japan", "p:day", typed("1947-05-03", "date")));
  CHECK(t.has(e + "p:area%20(km²)>", kLabel, "\"area\"@en"));
  CHECK(t.has(e + "p:area%20(km²)>", "<urn:askbase:unit>", "\"km²\"@en"));
  CHECK(t.has(e + "p:capital>", kType, "<http://www.w3.org/1999/02/22-rdf-syntax-ns#Property>"));
  CHECK_FALSE(t.has(e + "p:name>", kLabel, "\"name\"@en"));
  for (const Fact& fact : t.sink.facts) {
    if (fact.subject.value == "urn:askbase:country:Japan") CHECK(fact.row == 3);
  }
}

TEST_CASE("a Chinese table") {
  const Table t = read(
      "名称,别名,国家,面积（平方公里）,成立日期,简介\n"
      "北京,京；燕京,中国,16410.54,1949年10月1日,中华人民共和国的首都\n"
      "上海,沪|申,中国,6340.5,1949年5月27日,最大的城市\n"
      "东京,,日本,2194,1943年7月1日,日本的首都\n",
      "城市.csv");
  CHECK(t.has(e + "城市:北京>", kType, e + "class:城市>"));
  CHECK(t.has(e + "城市:北京>", kLabel, "\"北京\"@zh"));
  for (const char* alias : {"京", "燕京"})
    CHECK(t.has(e + "城市:北京>", kAlias, "\"" + std::string(alias) + "\"@zh"));
  for (const char* alias : {"沪", "申"})
    CHECK(t.has(e + "城市:上海>", kAlias, "\"" + std::string(alias) + "\"@zh"));
  CHECK(t.says("城市:东京", "p:国家", e + "国家:日本>"));
  CHECK(t.says("城市:北京", "p:面积（平方公里）", typed("16410.54", "decimal")));
  CHECK(t.has(e + "p:面积（平方公里）>", kLabel, "\"面积\"@zh"));
  CHECK(t.has(e + "p:面积（平方公里）>", "<urn:askbase:unit>", "\"平方公里\"@zh"));
  CHECK(t.says("城市:上海", "p:成立日期", typed("1949-05-27", "date")));
  CHECK(t.says("城市:上海", "p:简介", "\"最大的城市\"@zh"));
}

TEST_CASE("names: equal ones stay apart, empty ones get the row's number, languages by column") {
  const Table t = read("name,x\nA,1\nA,2\nA-2,3\nA,4\n,5\n");
  for (const auto& [entity, value] : std::vector<std::pair<std::string, std::string>>{
           {"A", "1"}, {"A-2", "2"}, {"A-2-2", "3"}, {"A-3", "4"}, {"row%205", "5"}}) {
    CAPTURE(entity);
    CHECK(t.says("thing:" + entity, "p:x", typed(value, "integer")));
  }
  const Table langs =
      read("label_en,name@zh,名称 (ja),Alias zh-hant,Deutscher Name\nBeijing,北京,ペキン,北平,Peking\n");
  CHECK(langs.has(e + "thing:Beijing>", kLabel, "\"Beijing\"@en"));
  CHECK(langs.has(e + "thing:Beijing>", kLabel, "\"北京\"@zh"));
  CHECK(langs.has(e + "thing:Beijing>", kLabel, "\"ペキン\"@ja"));
  CHECK(langs.has(e + "thing:Beijing>", kAlias, "\"北平\"@zh-hant"));
  CHECK(langs.says("thing:Beijing", "p:Deutscher%20Name", "\"Peking\"@en"));
}

TEST_CASE("ids: unique ones make the IRIs") {
  const Table t = read("id,name,size\n007,Bond,1\n008,Bill,2\n");
  CHECK(t.has(e + "thing:007>", kLabel, "\"Bond\"@en"));
  CHECK(t.says("thing:007", "p:id", "\"007\""));  // leading zeros stay
  const Table repeated = read("id,name\n1,Bond\n1,Bill\n");
  CHECK(repeated.has(e + "thing:Bond>", kLabel, "\"Bond\"@en"));
  CHECK(repeated.notices("is no id"));
  LoadOptions options;
  options.table.id_column = "ID";
  const Table chosen = read("id,name\n1,Bond\n1,James\n", "things.csv", options);
  CHECK(chosen.has(e + "thing:1>", kLabel, "\"Bond\"@en"));
  CHECK(chosen.has(e + "thing:1>", kLabel, "\"James\"@en"));
  const Table iris = read("iri,name\nhttp://x/1,Bond\nhttp://x/2,Bill\n");
  CHECK(iris.has("<http://x/2>", kLabel, "\"Bill\"@en"));
  const Table own = read("country_id,country,x\n1,France,5\n2,Peru,6\n", "countries.csv");
  CHECK(own.has(e + "country:1>", kLabel, "\"France\"@en"));
}

TEST_CASE("the label column: chosen, by name, or guessed") {
  LoadOptions options;
  options.table.label_column = "who";
  CHECK(read("name,who\na,X\nb,Y\n", "things.csv", options).has(e + "thing:X>", kLabel, "\"X\"@en"));
  CHECK(read("title,name\na,X\nb,Y\n").has(e + "thing:X>", kLabel, "\"X\"@en"));
  const Table guessed = read("kind,who,n\nx,Ann,1\nx,Bob,2\nx,Cid,3\n");
  CHECK(guessed.has(e + "thing:Bob>", kLabel, "\"Bob\"@en"));
  CHECK(guessed.notices("\"who\" is taken for the names of the rows"));
  const Table numbers = read("a,b\n1,2\n3,4\n");
  CHECK(numbers.says("thing:row%202", "p:b", typed("4", "integer")));
  CHECK(numbers.notices("no column names the rows"));
  options.table.label_column = "whom";
  CHECK(refused("name,who\na,X\n", "things.csv", options) == "things.csv: no column \"whom\" for --label");
}

TEST_CASE("types are decided over all rows") {
  const auto type = [](const std::string& header, const std::vector<std::string>& values) {
    std::string text = "name;" + header + "\n";
    for (std::size_t i = 0; i < values.size(); ++i)
      text += "row" + std::to_string(i) + ";" + values[i] + "\n";
    return read(text).type(1);
  };
  CHECK(type("n", {"1", "-2", "+3", "４"}) == ColumnType::number);
  CHECK(type("n", {"1", "2", "x"}) == ColumnType::text);
  CHECK(type("n", {"007", "123", "456"}) == ColumnType::text);
  CHECK(type("n", {"12 km", "15 km", "3 km"}) == ColumnType::text);
  CHECK(type("n", {"5 %", "7.5%", "10%"}) == ColumnType::number);
  CHECK(type("n", {"1", "-", "N/A"}) == ColumnType::number);
  CHECK(type("year", {"1999", "2001"}) == ColumnType::year);
  CHECK(type("出生年份", {"1999", "2001"}) == ColumnType::year);
  CHECK(type("年龄", {"1999", "2001"}) == ColumnType::number);
  CHECK(type("year", {"1999", "12"}) == ColumnType::number);
  CHECK(type("n", {"1999年", "2001年"}) == ColumnType::year);
  CHECK(type("d", {"2024-03-05", "2024/3/5"}) == ColumnType::date);
  CHECK(type("d", {"2024年3月5日", "2024年3月", "2024年"}) == ColumnType::date);
  CHECK(type("d", {"2024-02-30", "2024-03-01"}) == ColumnType::text);
  CHECK(type("d", {"05.03.2024", "31.12.2023"}) == ColumnType::date);
  CHECK(type("c", {"yes", "no", "yes", "no"}) == ColumnType::entity);
  CHECK(type("c", {"red", "blue", "red", "blue", "green", "green"}) == ColumnType::entity);
  CHECK(type("c", {"red", "blue", "green"}) == ColumnType::text);
  CHECK(type("c", {std::string(80, 'x'), std::string(80, 'x'), "y", "y"}) == ColumnType::text);
  CHECK(type("c", {"http://x/a", "http://x/b"}) == ColumnType::entity);
  CHECK(type("c", {"", "", ""}) == ColumnType::empty);
  // A few strays among many are kept as texts.
  std::string text = "name,n\n";
  for (int i = 0; i < 100; ++i)
    text += "r" + std::to_string(i) + "," + (i == 50 ? "about 5" : std::to_string(i)) + "\n";
  const Table strays = read(text);
  CHECK(strays.type(1) == ColumnType::number);
  CHECK(strays.says("thing:r50", "p:n", "\"about 5\"@en"));
  CHECK(strays.notices("has 1 value of another kind"));
}

TEST_CASE("day and month: the column decides") {
  const Table days = read("name;d\na;3/5/2024\nb;25/12/2023\n");
  CHECK(days.says("thing:a", "p:d", typed("2024-05-03", "date")));
  CHECK(days.notices("day first"));
  const Table months = read("name;d\na;3/5/2024\nb;12/25/2023\n");
  CHECK(months.says("thing:a", "p:d", typed("2024-03-05", "date")));
  CHECK(months.notices("month first"));
  const Table open = read("name;d\na;3/5/2024\nb;1/2/2023\n");
  CHECK(open.says("thing:a", "p:d", "\"3/5/2024\""));
  CHECK(open.notices("may have the day or the month first"));
  const Table both = read("name;d\na;13/5/2024\nb;1/20/2023\n");
  CHECK(both.says("thing:a", "p:d", "\"13/5/2024\""));
}

TEST_CASE("numbers as they are written") {
  const auto number = [](const char* text, NumberStyle style = NumberStyle::point) {
    const auto term = parse_number(text, style);
    return term ? to_ntriples(*term) : "";
  };
  CHECK(number("1,234,567") == typed("1234567", "integer"));
  CHECK(number("1 234 567") == typed("1234567", "integer"));
  CHECK(number("-1234.50") == typed("-1234.5", "decimal"));
  CHECK(number("−3") == typed("-3", "integer"));
  CHECK(number("+3") == typed("3", "integer"));
  CHECK(number("-0") == typed("0", "integer"));
  CHECK(number(".5") == typed("0.5", "decimal"));
  CHECK(number("1.0") == typed("1", "decimal"));
  CHECK(number("１２，３４５") == typed("12345", "integer"));
  CHECK(number("2.5e-3") == typed("2.5E-3", "double"));
  CHECK(number("123456789012345678901234567890") == typed("123456789012345678901234567890", "integer"));
  CHECK(number("1.234,5", NumberStyle::comma) == typed("1234.5", "decimal"));
  CHECK(number("3,14", NumberStyle::comma) == typed("3.14", "decimal"));
  for (const char* text : {"", "-", "1,23", "12,34,567", "1234,567", "1.", "1.2.3", "007", "00", "1e", "e5",
                           "0x1", "1 2", "12a", "1,234,", ",123", "NaN", "½"}) {
    CAPTURE(text);
    CHECK(number(text).empty());
  }
  // 1.234 means a thousand where other values say so.
  const Table comma = read("name;n\na;1.234\nb;5,5\nc;2.000,25\n");
  CHECK(comma.says("thing:a", "p:n", typed("1234", "integer")));
  CHECK(comma.says("thing:c", "p:n", typed("2000.25", "decimal")));
  CHECK(read("name;n\na;1.234\nb;5.5\n").says("thing:a", "p:n", typed("1.234", "decimal")));
  const Table percent = read("name,n\na,45%\nb,7.5 %\n");
  CHECK(percent.says("thing:b", "p:n", typed("7.5", "decimal")));
  CHECK(percent.has(e + "p:n>", "<urn:askbase:unit>", "\"%\""));
}

TEST_CASE("dates as they are written") {
  const auto date = [](const char* text, DateOrder order = DateOrder::unknown) {
    const auto value = parse_date(text, order);
    return value ? value->literal.value : "";
  };
  for (const char* text :
       {"2024-03-05", "2024/3/5", "2024.3.5", "2024年3月5日", "2024年03月05号", "05.03.2024", "5.3.2024",
        "5 March 2024", "5 Mar 2024", "March 5, 2024", "Mar. 5 2024", "5th of March 2024", "5-Mar-2024",
        "2024-03-05 00:00:00", "２０２４年３月５日"}) {
    CAPTURE(text);
    CHECK(date(text) == "2024-03-05");
  }
  CHECK(date("3/5/2024", DateOrder::month_first) == "2024-03-05");
  CHECK(date("3/5/2024", DateOrder::day_first) == "2024-05-03");
  CHECK(date("13/5/2024") == "2024-05-13");
  CHECK(date("5/13/2024") == "2024-05-13");
  CHECK(date("2024-03") == "2024-03");
  CHECK(date("2024年3月") == "2024-03");
  CHECK(date("March 2024") == "2024-03");
  CHECK(date("2024年") == "2024");
  CHECK(date("2000-02-29") == "2000-02-29");
  CHECK(date("2024-03-05T10:30:00Z") == "2024-03-05T10:30:00Z");
  CHECK(date("2024-03-05 9:05") == "2024-03-05T09:05:00");
  CHECK(date("2024-03-05 10:30:00.250 +08:00") == "2024-03-05T10:30:00.25+08:00");
  for (const char* text : {"1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "31.04.2024", "2024-3-5x",
                           "24-03-05", "0000-01-01", "2024-03-05 25:00", "2024.12", "5 Foo 2024", "20240305",
                           "2024年3月32日", "3/5/24", "2024-03-05T10:61:00"}) {
    CAPTURE(text);
    CHECK(date(text).empty());
  }
}

TEST_CASE("several values in one field") {
  LoadOptions options;
  options.table.split = {{"langs", "/"}, {"years", ";"}};
  const Table t = read("name,langs,years\na,French / German,1999; 2001\nb,German,\nc,Dutch/French,2005\n",
                       "things.csv", options);
  CHECK(t.says("thing:a", "p:langs", e + "lang:French>"));
  CHECK(t.says("thing:a", "p:langs", e + "lang:German>"));
  CHECK(t.says("thing:a", "p:years", typed("2001", "gYear")));
  CHECK(read("name,g\na,x;y\nb,y;z\nc,q\n").notices("seems to hold lists"));
  options.table.split = {{"lang", "/"}};
  CHECK(refused("name,langs\na,b\n", "things.csv", options).find("no column \"lang\" for --split") !=
        std::string::npos);
  // Aliases are parted at signs that stand in no name; at a slash where most have one.
  const Table aliases = read("name,aliases\nA,AC/DC\nB,x; y、z\n");
  CHECK(aliases.has(e + "thing:A>", kAlias, "\"AC/DC\"@en"));
  for (const char* alias : {"x", "y", "z"})
    CHECK(aliases.has(e + "thing:B>", kAlias, "\"" + std::string(alias) + "\"@en"));
  const Table slashes = read("name,aliases\nA,x/y\nB,z/q\n");
  CHECK(slashes.has(e + "thing:A>", kAlias, "\"y\"@en"));
  options.table.split.clear();
  options.alias_predicates = {"nick", "http://x/p"};
  CHECK(read("name,nick\nA,Al\n", "things.csv", options).has(e + "thing:A>", kAlias, "\"Al\"@en"));
}

TEST_CASE("values that name rows of the table, or of another table of the load") {
  const Table t =
      read("name,manager,city\nAnn,Cid,Oslo\nBob,Cid,Rome\nCid,Dan,Bonn\nDan,,Kyiv\n", "people.csv");
  CHECK(t.says("person:Ann", "p:manager", e + "person:Cid>"));
  CHECK_FALSE(t.has(e + "manager:Cid>", kLabel, "\"Cid\"@en"));
  CHECK(t.says("person:Ann", "p:city", "\"Oslo\"@en"));
  // A second column of the rows' own names is none.
  CHECK(read("name,full\nAnn,Ann\nBob,Bob\n").says("thing:Ann", "p:full", "\"Ann\"@en"));

  Table people, cities;
  people.source = source_of("name,home\nAnn,Oslo\nBob,Rome\nCid,Bonn\n", "people.csv");
  cities.source = source_of("name,size\nOslo,1\nRome,2\nRome,3\nBonn,4\n", "towns.csv");
  people.plan = plan_table(people.source, {}).value();
  cities.plan = plan_table(cities.source, {}).value();
  REQUIRE(link_values({{&people.source, &people.plan}, {&cities.source, &cities.plan}}, nullptr, {}));
  REQUIRE(write_table(people.source, people.plan, people.sink, {}));
  CHECK(people.says("person:Ann", "p:home", e + "town:Oslo>"));
  CHECK(people.says("person:Bob", "p:home", e + "home:Rome>"));  // two towns are called so
}

TEST_CASE("columns and tables of one name share their entities") {
  const Table countries = read("name,x\nFrance,1\nPeru,2\n", "countries.csv");
  const Table cities = read("name,Country\nLyon,France\nParis,France\nLima,Peru\nCusco,Peru\n", "cities.csv");
  CHECK(countries.has(e + "country:France>", kLabel, "\"France\"@en"));
  CHECK(cities.says("city:Lyon", "p:Country", e + "country:France>"));
}

TEST_CASE("facts in three columns") {
  const Table t = read(
      "主语,谓语,宾语\n姚明,身高,2.26\n姚明,出生地,上海\n上海,国家,中国\n姚明,出生日期,1980年9月12日\n"
      "姚明,主页,http://x/yao\n姚明,简介," +
          std::string(100, 'a') + "\n",
      "a.csv");
  CHECK(t.plan.layout == TableLayout::triples);
  CHECK(t.says("entity:姚明", "p:出生地", e + "entity:上海>"));
  CHECK(t.says("entity:姚明", "p:身高", typed("2.26", "decimal")));
  CHECK(t.says("entity:姚明", "p:出生日期", typed("1980-09-12", "date")));
  CHECK(t.says("entity:姚明", "p:主页", "<http://x/yao>"));
  CHECK(t.says("entity:姚明", "p:简介", "\"" + std::string(100, 'a') + "\"@en"));
  CHECK(t.has(e + "entity:中国>", kLabel, "\"中国\"@zh"));
  CHECK(t.has(e + "p:出生地>", kLabel, "\"出生地\"@zh"));

  const Table other_order = read("tail,head,relation\nParis,France,capital\n", "a.csv");
  CHECK(other_order.says("entity:France", "p:capital", e + "entity:Paris>"));
}

TEST_CASE("facts without a header") {
  const Table t = read(
      "$\tdirected_by\tRichard Brooks\n$\trelease_year\t1971\nHeat\tdirected_by\tMichael Mann\n"
      "<Heat>\trelease_year\t\"1995\"\nBig\tdirected_by\t\"Penny\" Marshall\n1971\tkind\tyear\n"
      "iso:FR\tcapital\tParis\n",
      "kb.tsv");
  CHECK(t.plan.layout == TableLayout::triples);
  CHECK(t.says("entity:$", "p:directed_by", e + "entity:Richard%20Brooks>"));
  CHECK(t.says("entity:$", "p:release_year", e + "entity:1971>"));  // 1971 is a subject, too
  CHECK(t.says("entity:Heat", "p:release_year", "\"1995\""));
  CHECK(t.says("entity:Big", "p:directed_by", e + "entity:%22Penny%22%20Marshall>"));
  CHECK(t.has("<iso:FR>", "<urn:askbase:p:capital>", e + "entity:Paris>"));
  const Table with_gap = read("a\tp\tb\n\tp\tc\nd\tp\te\nf\tp\tg\n", "kb.tsv");
  REQUIRE(with_gap.sink.bads.size() == 1);
  CHECK(with_gap.sink.bads[0].line == 2);
  CHECK(with_gap.sink.bads[0].reason == "the subject is empty");
  const Table unknown = read("a\tp\tb\na\tp\t\nc\tp\td\n", "kb.tsv");
  CHECK(unknown.sink.bads.empty());
  CHECK(unknown.notices("kb.tsv:2: 1 row has no object"));
  CHECK(unknown.sink.facts.size() == 7);
  // A long text that stands there twice is a thing.
  const std::string text(80, 'x');
  CHECK(read("a\tp\t" + text + "\nb\tp\t" + text + "\nc\tp\td\n", "kb.tsv")
            .says("entity:a", "p:p", e + "entity:" + text + ">"));
  // Three columns with a header are a table.
  CHECK(read("name\tcountry\tsize\nLyon\tFrance\t1\nParis\tFrance\t2\nLille\tFrance\t3\n", "c.tsv")
            .plan.layout == TableLayout::rows);
}

TEST_CASE("labels in four columns") {
  const Table t = read(
      "Q1\ten\tUniverse\tlabel\nQ1\tzh\t宇宙\tlabel\nQ1\ten\tcosmos\talias\nQ1\ten\tall there "
      "is\tdescription\n"
      "Q1\t-\tQ999\twikidata\nwd:Q2\tmul\tEarth\tlabel\n",
      "x.labels.tsv");
  CHECK(t.plan.layout == TableLayout::labels);
  CHECK(t.has(e + "entity:Q1>", kLabel, "\"宇宙\"@zh"));
  CHECK(t.has(e + "entity:Q1>", kAlias, "\"cosmos\"@en"));
  CHECK(t.has("<wd:Q2>", kLabel, "\"Earth\""));
  CHECK(t.sink.facts.size() == 5);
}

TEST_CASE("a layout that is asked for has the columns that it needs") {
  LoadOptions options;
  options.table.layout = TableLayout::labels;
  const Table labels = read("id\ten\tx\t\nQ1\tzh\ty\tlabel\n", "x.tsv", options);
  CHECK(labels.plan.columns.size() == 4);
  CHECK(labels.has(e + "entity:Q1>", kLabel, "\"y\"@zh"));
  CHECK(refused("a\tb\n", "x.tsv", options).find("2 columns where this kind of table has 4") !=
        std::string::npos);
  options.table.layout = TableLayout::triples;
  CHECK(read("a,b,\nc,d,e\n", "x.csv", options).says("entity:c", "p:d", e + "entity:e>"));
  CHECK(refused("a\n", "x.csv", options).find("1 column where this kind of table has 3") !=
        std::string::npos);
}

TEST_CASE("headers: missing, doubled, empty, none at all") {
  const Table doubled = read("name,a,a,\nx,1,2,3\n");
  CHECK(doubled.says("thing:x", "p:a", typed("1", "integer")));
  CHECK(doubled.says("thing:x", "p:a%20(2)", typed("2", "integer")));
  CHECK(doubled.says("thing:x", "p:column%204", typed("3", "integer")));
  CHECK(doubled.notices("more than one column is called \"a\""));
  CHECK(doubled.notices("column 4 has no name"));
  const Table none = read("Ann,34,Oslo\nBob,51,Rome\nCid,28,Bonn\n");
  CHECK_FALSE(none.plan.has_header);
  CHECK(none.says("thing:Ann", "p:column%202", typed("34", "integer")));
  CHECK(none.notices("the first row looks like data"));
  CHECK(none.plan.rows == 3);
  CHECK(read("Ann,Oslo\nBob,Rome\nCid,Oslo\nAnn,Oslo\n").plan.has_header == false);
  CHECK(read("place,2019,2020\nOslo,5,6\nRome,7,8\n").plan.has_header);
  CHECK(read("who,age\nAnn,34\n").plan.has_header);
  CHECK(read("\"first\nname\",n\nx,1\n").plan.columns[0].header == "first name");
  CHECK(read("a;b;\n1;2;\n3;4;\n").plan.columns.size() == 2);
}

TEST_CASE("rows that are too short or too long") {
  const Table shorter = read("name,a,b\nx,1,2\ny,3\nz\n");
  CHECK(shorter.says("thing:y", "p:a", typed("3", "integer")));
  CHECK(shorter.notices("things.csv:3: this and other rows (2 in all) have fewer fields"));
  CHECK(refused("name,a\nx,1\ny,2,3\n").starts_with("things.csv:3: 3 fields where the table has 2 columns"));
  CHECK(read("name,a\nx,1,,\n").says("thing:x", "p:a", typed("1", "integer")));
  LoadOptions options;
  options.skip_bad = true;
  const Table skipped = read("name,a\nx,1\ny,2,3\nz,4\n", "things.csv", options);
  CHECK(skipped.plan.rows == 2);
  REQUIRE(skipped.sink.bads.size() == 1);
  CHECK(skipped.sink.bads[0].line == 3);
  CHECK(skipped.says("thing:z", "p:a", typed("4", "integer")));
  for (const Fact& fact : skipped.sink.facts) {
    if (fact.subject.value == "urn:askbase:thing:z") CHECK(fact.row == 3);
  }
  CHECK(refused("name,a\nx,\"1\ny,2\n") == "things.csv:2: a quotation mark that is not closed");
  CHECK(refused(std::string("name,a\nx,\0\n", 11)) == "things.csv:2: a NUL byte");
}

TEST_CASE("empty tables") {
  CHECK(read("").notices("an empty table"));
  CHECK(read("\n\n").notices("an empty table"));
  const Table header = read("name,capital\n");
  CHECK(header.plan.rows == 0);
  CHECK(header.plan.has_header);
}

TEST_CASE("what headers mean") {
  CHECK(read_header("Name", "").role == HeaderRole::label);
  CHECK(read_header("标题", "").role == HeaderRole::label);
  CHECK(read_header("name_zh-Hant", "").lang == "zh-hant");
  CHECK(read_header("中文名称", "").lang == "zh");
  CHECK(read_header("English name", "").lang == "en");
  CHECK(read_header("Also known as", "").role == HeaderRole::alias);
  CHECK(read_header("又名", "").role == HeaderRole::alias);
  CHECK(read_header("编号", "").role == HeaderRole::id);
  CHECK(read_header("city_id", "city").role == HeaderRole::id);
  CHECK(read_header("name_id", "").role == HeaderRole::none);
  CHECK(read_header("username", "").role == HeaderRole::none);
  CHECK(split_unit("Area [km²]").unit == "km²");
  CHECK(split_unit("价格(元)").label == "价格");
  CHECK(split_unit("Population (2020)").unit.empty());
  CHECK(split_unit("(km)").unit.empty());
  CHECK(split_unit("Rate (%)").unit == "%");
  CHECK(table_name("data/world_cities.csv.gz") == "world city");
  CHECK(table_name("people") == "person");
  CHECK(table_name("BookTitles.tsv") == "book title");
  CHECK(table_name("城市.csv") == "城市");
  for (const auto& [many, one] :
       std::vector<std::pair<std::string, std::string>>{{"countries", "country"},
                                                        {"boxes", "box"},
                                                        {"classes", "class"},
                                                        {"status", "status"},
                                                        {"gas", "gas"},
                                                        {"films", "film"},
                                                        {"analysis", "analysis"},
                                                        {"world cities", "world city"},
                                                        {"news", "news"}}) {
    CHECK(singular(many) == one);
  }
}

TEST_CASE("lexical forms of XML Schema") {
  const std::string xsd(iri::xsd);
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, std::string>>{{"-5", "integer"},
                                                        {"1.", "decimal"},
                                                        {"INF", "double"},
                                                        {"1E5", "double"},
                                                        {"true", "boolean"},
                                                        {"-0044", "gYear"},
                                                        {"2024-02-29", "date"},
                                                        {"12024-02-29", "date"},
                                                        {"2024-02-29T10:00:00", "dateTime"},
                                                        {"2024-02", "gYearMonth"},
                                                        {"x", "anyURI"}}) {
    CAPTURE(text);
    CHECK(valid_lexical(text, xsd + type));
  }
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, std::string>>{{"5.0", "integer"},
                                                        {"", "integer"},
                                                        {".", "decimal"},
                                                        {"1E5", "decimal"},
                                                        {"inf", "double"},
                                                        {"yes", "boolean"},
                                                        {"44", "gYear"},
                                                        {"2023-02-29", "date"},
                                                        {"2024-2-9", "date"},
                                                        {"2024-02-29T10:00", "dateTime"},
                                                        {"2024-13", "gYearMonth"},
                                                        {"2024-02-29 ", "date"}}) {
    CAPTURE(text);
    CHECK_FALSE(valid_lexical(text, xsd + type));
  }
}

}  // namespace
}  // namespace askbase::kb
