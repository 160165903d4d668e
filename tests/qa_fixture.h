// A small bilingual knowledge base of invented facts for the tests of qa/, built through kb::Update.
#pragma once

#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "kb/store.h"
#include "qa/engine.h"
#include "tests/test_support.h"

namespace askbase::test {

class InventedKb {
 public:
  InventedKb() : store_(kb::Store::open(folder_.path() / "kb", kb::OpenMode::create).value()) {
    update_ = store_->begin_update().value();
    source_ = update_->source({.id = 0, .name = "invented.ttl", .kind = "file"}, false).value();
    schema();
    places();
    people_and_companies();
    commit();
    engine_ = qa::Engine::open(*store_).value();
  }

  kb::Store& store() { return *store_; }
  qa::Engine& engine() { return *engine_; }

  qa::Response ask(const std::string& question) {
    qa::Request request;
    request.question = question;
    return ask(request);
  }
  qa::Response ask(const qa::Request& request) {
    auto response = engine_->ask(request);
    REQUIRE_MESSAGE(response.has_value(), (response ? "" : response.error().message));
    return *response;
  }

  // One more update on top of what is there.
  void begin() {
    update_ = store_->begin_update().value();
    source_ = update_->source({.id = 0, .name = "more.ttl", .kind = "file"}, false).value();
  }
  void commit() {
    REQUIRE(update_->commit().has_value());
    update_.reset();
  }
  static kb::Term entity(const std::string& name) { return kb::Term::iri("urn:t:" + name); }
  static kb::Term p(const std::string& name) { return kb::Term::iri("urn:t:p:" + name); }
  void fact(const kb::Term& subject, const kb::Term& predicate, const kb::Term& object) {
    REQUIRE(update_->add(source_, subject, predicate, object, ++row_).has_value());
  }
  void label(const kb::Term& subject, const std::string& text, const std::string& lang) {
    fact(subject, kb::Term::iri(std::string(kb::iri::rdfs_label)), kb::Term::text(text, lang));
  }
  void alias(const kb::Term& subject, const std::string& text, const std::string& lang) {
    fact(subject, kb::Term::iri(std::string(kb::iri::skos_alt_label)), kb::Term::text(text, lang));
  }
  void type(const kb::Term& subject, const std::string& name) {
    fact(subject, kb::Term::iri(std::string(kb::iri::rdf_type)), kb::Term::iri("urn:t:class:" + name));
  }
  static kb::Term date(const std::string& text) {
    return kb::Term::literal(text, std::string(kb::iri::xsd) + "date");
  }
  static kb::Term boolean(bool value) {
    return kb::Term::literal(value ? "true" : "false", std::string(kb::iri::xsd) + "boolean");
  }

 private:
  void predicate(const std::string& name, const std::string& en, const std::string& zh) {
    label(p(name), en, "en");
    label(p(name), zh, "zh");
  }
  void class_of(const std::string& name, const std::string& en, const std::string& zh) {
    label(kb::Term::iri("urn:t:class:" + name), en, "en");
    label(kb::Term::iri("urn:t:class:" + name), zh, "zh");
  }
  void thing(const std::string& id, const std::string& kind, const std::string& en, const std::string& zh) {
    type(entity(id), kind);
    label(entity(id), en, "en");
    if (!zh.empty()) label(entity(id), zh, "zh");
  }

  void schema() {
    predicate("capital", "capital", "首都");
    predicate("currency", "currency", "货币");
    predicate("border", "borders", "接壤国家");
    predicate("population", "population", "人口");
    predicate("area", "area", "面积");
    predicate("country", "country", "所属国家");
    predicate("landlocked", "landlocked", "是否内陆国");
    predicate("founder", "founder", "创始人");
    predicate("founded", "founding date", "成立时间");
    predicate("headquarters", "headquarters", "总部");
    predicate("employees", "number of employees", "员工人数");
    predicate("product", "product", "产品");
    predicate("birthDate", "date of birth", "出生日期");
    predicate("spouse", "spouse", "配偶");
    predicate("ticker", "ticker symbol", "股票代码");
    fact(p("area"), kb::Term::iri(std::string(kb::iri::unit)), kb::Term::text("km²", "en"));
    fact(p("area"), kb::Term::iri(std::string(kb::iri::unit)), kb::Term::text("平方公里", "zh"));
    fact(p("headquarters"), kb::Term::iri(std::string(kb::iri::wording)),
         kb::Term::text("hangs its hat in", "en"));
    class_of("Country", "country", "国家");
    class_of("City", "city", "城市");
    class_of("Person", "person", "人物");
    class_of("Company", "company", "公司");
    class_of("Currency", "currency", "货币");
  }

  void country(const std::string& id, const std::string& en, const std::string& zh,
               const std::string& capital, const std::string& currency, int population, int area,
               bool landlocked) {
    thing(id, "Country", en, zh);
    fact(entity(id), p("capital"), entity(capital));
    fact(entity(id), p("currency"), entity(currency));
    fact(entity(id), p("population"), kb::Term::integer(population));
    fact(entity(id), p("area"), kb::Term::integer(area));
    fact(entity(id), p("landlocked"), boolean(landlocked));
  }

  void places() {
    country("avaria", "Avaria", "阿瓦里亚", "tolvek", "crown", 4200000, 51000, true);
    country("norvenia", "Norvenia", "诺文尼亚", "marisund", "crown", 1250000, 30500, false);
    country("estalia", "Estalia", "埃斯塔利亚", "brevik", "dorin", 9800000, 220000, false);
    alias(entity("estalia"), "Republic of Estalia", "en");
    alias(entity("estalia"), "埃斯塔利亞", "zh-hant");
    thing("crown", "Currency", "Northern Crown", "北方克朗");
    thing("dorin", "Currency", "Estalian dorin", "埃国多林");
    thing("tolvek", "City", "Tolvek", "托尔韦克");
    thing("marisund", "City", "Marisund", "马里松德");
    thing("brevik", "City", "Brevik", "莱维克");
    for (const auto& [city, land] :
         {std::pair{"tolvek", "avaria"}, {"marisund", "norvenia"}, {"brevik", "estalia"}}) {
      fact(entity(city), p("country"), entity(land));
    }
    fact(entity("tolvek"), p("population"), kb::Term::integer(610000));
    // Three countries in a row: Norvenia, Avaria, Estalia.
    for (const auto& [a, b] : {std::pair{"avaria", "norvenia"}, {"avaria", "estalia"}}) {
      fact(entity(a), p("border"), entity(b));
      fact(entity(b), p("border"), entity(a));
    }
    // Two towns of one name, equally little known.
    for (const auto& [id, land, people] :
         {std::tuple{"kelbridge1", "avaria", 18000}, {"kelbridge2", "norvenia", 23000}}) {
      thing(id, "City", "Kelbridge", "凯尔桥");
      fact(entity(id), p("country"), entity(land));
      fact(entity(id), p("population"), kb::Term::integer(people));
    }
  }

  void people_and_companies() {
    thing("mira", "Person", "Mira Solberg", "米拉·索尔贝格");
    fact(entity("mira"), p("birthDate"), date("1971-03-09"));
    fact(entity("mira"), p("spouse"), entity("anton"));
    thing("anton", "Person", "Anton Grell", "安东·格雷尔");
    fact(entity("anton"), p("birthDate"), date("1969-11-30"));
    // Two people of one name; one is known far better.
    thing("liming1", "Person", "Li Ming", "李明");
    thing("liming2", "Person", "Li Ming", "李明");
    fact(entity("liming1"), p("birthDate"), date("1980-01-02"));
    fact(entity("liming2"), p("birthDate"), date("1990-05-06"));
    thing("glimmer", "Company", "Glimmer Works", "微光工坊");
    alias(entity("glimmer"), "GW", "en");
    fact(entity("glimmer"), p("founder"), entity("mira"));
    fact(entity("glimmer"), p("founder"), entity("anton"));
    fact(entity("glimmer"), p("founded"), date("1998-07-04"));
    fact(entity("glimmer"), p("headquarters"), entity("tolvek"));
    fact(entity("glimmer"), p("employees"), kb::Term::integer(1250));
    fact(entity("glimmer"), p("ticker"), kb::Term::literal("GLMR"));
    thing("haiwan", "Company", "Haiwan Technology", "海湾科技");
    alias(entity("haiwan"), "海灣科技", "zh-hant");
    fact(entity("haiwan"), p("founder"), entity("liming1"));
    fact(entity("haiwan"), p("headquarters"), entity("brevik"));
    fact(entity("haiwan"), p("employees"), kb::Term::integer(87));
    fact(entity("haiwan"), p("ticker"), kb::Term::literal("HWT"));
    for (const std::string product : {"lamp", "kettle", "radio"}) {
      thing(product, "Product", "Tolvek " + product, "");
      fact(entity("haiwan"), p("product"), entity(product));
    }
  }

  ScratchFolder folder_;
  std::unique_ptr<kb::Store> store_;
  std::unique_ptr<kb::Update> update_;
  kb::SourceId source_ = 0;
  std::uint64_t row_ = 0;
  std::unique_ptr<qa::Engine> engine_;
};

}  // namespace askbase::test
