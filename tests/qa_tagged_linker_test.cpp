// Linking with a tagger: what it adds to the names that the lexical linker finds.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "qa/lexicon.h"
#include "qa/tagged_linker.h"
#include "tests/qa_fixture.h"

namespace askbase::qa {

namespace {

// Takes the given texts for mentions, wherever they stand first.
class Told : public MentionTagger {
 public:
  explicit Told(std::vector<std::pair<std::string, float>> mentions) : mentions_(std::move(mentions)) {}
  const std::string& language() const override { return language_; }
  MentionTags tag(std::string_view question, const TagOptions&) const override {
    MentionTags tags;
    for (const auto& [text, probability] : mentions_) {
      const std::size_t at = question.find(text);
      if (at == std::string_view::npos) continue;
      TaggedSpan span;
      span.begin_byte = static_cast<std::uint32_t>(at);
      span.end_byte = static_cast<std::uint32_t>(at + text.size());
      span.begin = static_cast<std::uint32_t>(base::count_code_points(question.substr(0, at)));
      span.end = span.begin + static_cast<std::uint32_t>(base::count_code_points(text));
      span.probability = probability;
      tags.spans.push_back(span);
    }
    return tags;
  }

 private:
  std::vector<std::pair<std::string, float>> mentions_;
  std::string language_ = "en";
};

class Linked {
 public:
  Linked(const kb::Store& store, const EntityLinker& linker, const std::string& text)
      : view_(store.view().value()), lexicon_(Lexicon::build(*view_).value()), question_(analyse(text)) {
    const Deadline deadline(std::chrono::seconds(20));
    links_ = linker.link(question_, *view_, *lexicon_, {}, deadline).value();
  }
  const Links& links() const { return links_; }
  const Mention* find(const std::string& text) const {
    for (const Mention& mention : links_.mentions) {
      if (mention.text == text) return &mention;
    }
    return nullptr;
  }
  std::string name(const std::string& text) const {
    const Mention* mention = find(text);
    return mention == nullptr || mention->candidates.empty() ? "-" : mention->candidates.front().name;
  }
  bool unknown(const std::string& text) const {
    return std::any_of(links_.unknown.begin(), links_.unknown.end(),
                       [&](const auto& span) { return question_.span(span.first, span.second) == text; });
  }

 private:
  std::shared_ptr<const kb::View> view_;
  std::shared_ptr<const Lexicon> lexicon_;
  Question question_;
  Links links_;
};

std::unique_ptr<EntityLinker> told(std::vector<std::pair<std::string, float>> mentions,
                                   const LinkOptions& options = {}) {
  const auto tagger = std::make_shared<Told>(std::move(mentions));
  return make_tagged_linker(tagger, tagger, options);
}

class MoreNames : public test::InventedKb {
 public:
  MoreNames() {
    begin();
    label(entity("it"), "It", "en");
    fact(entity("it"), p("founder"), entity("mira"));
    label(entity("python"), "Python", "en");
    fact(entity("python"), p("founder"), entity("anton"));
    label(entity("saga"), "The Saga of the Blue Lamp, Volume One", "en");
    fact(entity("saga"), p("founder"), entity("anton"));
    for (int i = 0; i < 60; ++i) {
      const std::string id = "twin" + std::to_string(i);
      label(entity(id), "Twin Hill", "en");
      fact(entity(id), p("country"), entity("avaria"));
    }
    commit();
  }
};

}  // namespace

TEST_CASE("without taggers linking is the lexical one; with them every mention has its probability") {
  MoreNames kb;
  const std::string text = "What is the capital of Avaria?";
  const Linked lexical(kb.store(), *make_lexical_linker(), text),
      none(kb.store(), *make_tagged_linker(nullptr, nullptr), text),
      tagged(kb.store(), *told({{"Avaria", 0.9F}, {"capital of Avaria", 0.05F}}), text);
  CHECK(!lexical.links().tagged);
  CHECK(!none.links().tagged);
  CHECK(tagged.links().tagged);
  for (const Linked* linked : {&lexical, &none, &tagged}) {
    CHECK(linked->links().mentions.size() == lexical.links().mentions.size());
    CHECK(linked->name("Avaria") == "Avaria");
  }
  CHECK(none.find("Avaria")->tagged == 0);
  CHECK(tagged.find("Avaria")->tagged == doctest::Approx(0.9F));
}

TEST_CASE("common words, slips and languages mixed are names where the tagger says so") {
  MoreNames kb;
  const Linked lexical(kb.store(), *make_lexical_linker(), "who founded it");
  CHECK((lexical.find("it") == nullptr || lexical.find("it")->weak));
  const Linked it(kb.store(), *told({{"it", 0.95F}}), "who founded it");
  REQUIRE(it.find("it") != nullptr);
  CHECK(it.name("it") == "It");
  CHECK(!it.find("it")->weak);
  // Not where it says that hardly.
  const Linked hardly(kb.store(), *told({{"it", 0.2F}}), "who founded it");
  CHECK((hardly.find("it") == nullptr || hardly.find("it")->weak));

  const Linked slip(kb.store(), *told({{"glimer works", 0.9F}}), "who founded glimer works");
  CHECK(slip.name("glimer works") == "Glimmer Works");
  CHECK(!slip.find("glimer works")->exact);

  const Linked mixed(kb.store(), *told({{"Python", 0.8F}}), "Python语言是谁发明的");
  CHECK(mixed.name("Python") == "Python");
  CHECK(mixed.find("Python")->tagged == doctest::Approx(0.8F));
  const Linked chinese(kb.store(), *told({{"阿瓦里亞", 0.9F}}), "阿瓦里亞的首都是哪裡？");
  CHECK(chinese.name("阿瓦里亞") == "阿瓦里亚");
}

TEST_CASE("what the tagger takes for a name and the KB has not is an unknown name, whole") {
  MoreNames kb;
  const Linked english(kb.store(), *told({{"zorbek of drumhall", 0.9F}}), "who founded zorbek of drumhall");
  CHECK(english.unknown("zorbek of drumhall"));
  const Linked chinese(kb.store(), *told({{"维尔萨克镇", 0.9F}}), "维尔萨克镇的面积是多少？");
  CHECK(chinese.unknown("维尔萨克镇"));
  const Linked hardly(kb.store(), *told({{"维尔萨克镇", 0.3F}}), "维尔萨克镇的面积是多少？");
  CHECK(!hardly.unknown("维尔萨克镇"));
  const Linked known(kb.store(), *told({{"Avaria", 0.9F}}), "What is the capital of Avaria?");
  CHECK(!known.unknown("Avaria"));
}

TEST_CASE("many namesakes, parts of names, and ten names in one question") {
  MoreNames kb;
  const std::string text = "where is Twin Hill";
  CHECK(Linked(kb.store(), *told({{"Twin Hill", 0.9F}}), text).find("Twin Hill")->candidates.size() == 10);
  const LinkOptions wide{.max_candidates = 50, .parts_of_names = true};
  const Linked many(kb.store(), *told({{"Twin Hill", 0.9F}}, wide), text);
  CHECK(many.find("Twin Hill")->candidates.size() == 50);
  CHECK(ranked_entities(many.links(), 50).size() == 50);
  CHECK(ranked_entities(many.links(), 7).size() == 7);

  const std::string part = "who founded saga of the blue lamp";
  CHECK(Linked(kb.store(), *told({{"saga of the blue lamp", 0.9F}}), part).name("saga of the blue lamp") ==
        "-");
  const Linked parts(kb.store(), *told({{"saga of the blue lamp", 0.9F}}, wide), part);
  CHECK(parts.name("saga of the blue lamp") == "The Saga of the Blue Lamp, Volume One");
  const std::vector<RankedEntity> ranked = ranked_entities(parts.links(), 5);
  REQUIRE(!ranked.empty());
  CHECK(ranked.front().candidate->name == "The Saga of the Blue Lamp, Volume One");

  const std::vector<std::string> names{"Avaria",   "Norvenia",         "Estalia",      "Tolvek",
                                       "Marisund", "Brevik",           "Mira Solberg", "Glimmer Works",
                                       "Python",   "Haiwan Technology"};
  std::string ten = "What do";
  std::vector<std::pair<std::string, float>> mentions;
  for (const std::string& name : names) {
    ten += " " + name + ",";
    mentions.emplace_back(name, 0.6F);
  }
  const Linked all(kb.store(), *told(mentions), ten + " have in common?");
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(all.name(name) == name);
    CHECK(all.find(name)->tagged > 0.5F);
  }
  CHECK(ranked_entities(all.links(), 50).size() >= names.size());
  CHECK(ranked_entities(Links(), 5).empty());
}

}  // namespace askbase::qa
