// Paths of several relations: the beam over real facts, and the readings made of what it finds.
#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "qa/chain_search.h"
#include "qa/findings.h"
#include "qa/ranker.h"
#include "tests/qa_fixture.h"

using namespace askbase;
using qa::Chain;
using qa::ChainLimits;

namespace {

// A knowledge base of facts between numbered things.
class Graph {
 public:
  struct Edge {
    int from, relation, to;
    auto operator<=>(const Edge&) const = default;
  };
  explicit Graph(const std::vector<Edge>& edges)
      : store_(kb::Store::open(folder_.path() / "kb", kb::OpenMode::create).value()) {
    auto update = store_->begin_update().value();
    const kb::SourceId source = update->source({.id = 0, .name = "graph", .kind = "file"}, false).value();
    std::uint64_t row = 0;
    for (const Edge& edge : edges) {
      REQUIRE(
          update->add(source, thing(edge.from), relation(edge.relation), thing(edge.to), ++row).has_value());
    }
    REQUIRE(update->commit().has_value());
    view_ = store_->view().value();
    lexicon_ = qa::Lexicon::build(*view_).value();
  }
  const kb::View& view() const { return *view_; }
  const qa::Lexicon& lexicon() const { return *lexicon_; }
  kb::TermId id(int n) const { return view_->find(thing(n)).value().value(); }
  std::size_t predicate(int n) const {
    return lexicon_->predicate_index(view_->find(relation(n)).value().value()).value();
  }
  static kb::Term thing(int n) { return kb::Term::iri("urn:g:thing" + std::to_string(n)); }
  static kb::Term relation(int n) { return kb::Term::iri("urn:g:p:rel" + std::to_string(n)); }

 private:
  test::ScratchFolder folder_;
  std::unique_ptr<kb::Store> store_;
  std::shared_ptr<const kb::View> view_;
  std::shared_ptr<const qa::Lexicon> lexicon_;
};

// Any function of the whole path that is not monotone in its beginnings.
float made_up_score(const Chain& chain) {
  std::uint32_t hash = 17;
  for (const qa::ChainStep& step : chain)
    hash = hash * 2654435761U + static_cast<std::uint32_t>(2 * step.predicate + (step.inverse ? 1 : 0)) + 1;
  return static_cast<float>(hash % 100003) / 1000;
}
void made_up_scores(std::span<const Chain> chains, std::span<float> scores) {
  for (std::size_t i = 0; i < chains.size(); ++i) scores[i] = made_up_score(chains[i]);
}

// What the whole of the graph has, without any bound.
void every_chain(const std::vector<Graph::Edge>& edges, const Graph& graph, const std::set<int>& from,
                 const Chain& chain, std::size_t steps, std::map<Chain, std::set<int>>& out) {
  if (steps == 0) return;
  std::map<qa::ChainStep, std::set<int>> next;
  for (const Graph::Edge& edge : edges) {
    if (from.contains(edge.from)) next[{graph.predicate(edge.relation), false}].insert(edge.to);
    if (from.contains(edge.to)) next[{graph.predicate(edge.relation), true}].insert(edge.from);
  }
  for (const auto& [step, ends] : next) {
    Chain longer = chain;
    longer.push_back(step);
    out[longer] = ends;
    every_chain(edges, graph, ends, longer, steps - 1, out);
  }
}

// Tells paths by a function of their first text's words.
class ToldMatcher : public qa::PathMatcher {
 public:
  using Tell = std::function<float(const std::vector<std::string>& words)>;
  ToldMatcher(std::string language, std::size_t steps, Tell tell)
      : language_(std::move(language)), steps_(steps), tell_(std::move(tell)) {}
  const std::string& language() const override { return language_; }
  std::size_t steps() const override { return steps_; }
  bool knows(const qa::MatchPath&) const override { return false; }
  qa::EncodedPaths encode(std::span<const qa::MatchPath> paths, nn::Team&) const override {
    qa::EncodedPaths out;
    out.vectors = nn::Matrix<float>(static_cast<nn::Index>(paths.size()), 1);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      out.first.push_back(static_cast<std::uint32_t>(i + 1));
      out.vectors.row(static_cast<nn::Index>(i))[0] =
          paths[i].texts.empty() ? -9 : tell_(paths[i].texts[0].words);
    }
    return out;
  }
  qa::MatchQuestion prepare(std::string_view, std::span<const qa::MentionRange>) const override { return {}; }
  void score(const qa::MatchQuestion&, const qa::EncodedPaths& encoded, std::span<const std::uint32_t> which,
             std::span<float> scores, Scratch&) const override {
    for (std::size_t i = 0; i < scores.size(); ++i)
      scores[i] = encoded.vectors.row(static_cast<nn::Index>(which.empty() ? i : which[i]))[0];
  }
  std::vector<std::pair<std::string, double>> attention(const qa::MatchQuestion&, const qa::EncodedPaths&,
                                                        std::uint32_t) const override {
    return {};
  }

 private:
  std::string language_;
  std::size_t steps_;
  Tell tell_;
};

std::unique_ptr<qa::Engine> engine_with(test::InventedKb& kb, std::size_t steps,
                                        const ToldMatcher::Tell& tell, double fits) {
  qa::RankWeights weights = qa::lexical_weights();
  weights.of[static_cast<std::size_t>(qa::Feature::fits)] = fits;
  auto models = std::make_shared<qa::LearnedModels>();
  models->english.matcher = std::make_shared<ToldMatcher>("en", steps, tell);
  models->chinese.matcher = std::make_shared<ToldMatcher>("zh", steps, tell);
  models->ranker = std::make_shared<const qa::Ranker>(weights, weights);
  qa::EngineOptions options;
  options.learned = models;
  return qa::Engine::open(kb.store(), options).value();
}

qa::Response ask(const qa::Engine& engine, const std::string& question) {
  qa::Request request;
  request.question = question;
  request.explain = true;
  request.findings = true;
  return engine.ask(request).value();
}

qa::Deadline in_time() { return qa::Deadline(std::chrono::seconds(60)); }

float indifferent(const std::vector<std::string>&) { return 0; }

}  // namespace

TEST_CASE("chains: a wide beam finds every path of a graph, with its ends, as trying them all does") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
    std::set<Graph::Edge> unique;
    // Loops and cycles come by themselves among so few things.
    for (int i = 0; i < 22; ++i) unique.insert({below(9), below(3), below(9)});
    const std::vector<Graph::Edge> edges(unique.begin(), unique.end());
    const Graph graph(edges);
    const int start = edges.front().from;
    std::map<Chain, std::set<int>> all;
    every_chain(edges, graph, {start}, {}, 3, all);
    const ChainLimits wide{.steps = 3, .beam = 1000, .paths = 10000};
    const auto found = qa::search_chains(graph.view(), graph.lexicon(), graph.id(start), {}, wide,
                                         made_up_scores, in_time());
    REQUIRE(found);
    CHECK(found->size() == all.size());
    for (std::size_t i = 0; i < found->size(); ++i) {
      const qa::FoundChain& chain = (*found)[i];
      CHECK(chain.score == made_up_score(chain.chain));
      if (i > 0) CHECK(chain.score <= (*found)[i - 1].score);
      const auto known = all.find(chain.chain);
      REQUIRE(known != all.end());
      std::set<kb::TermId> ends;
      for (const int end : known->second) ends.insert(graph.id(end));
      CHECK(std::set<kb::TermId>(chain.ends.begin(), chain.ends.end()) == ends);
      const auto followed = qa::follow_chain(graph.view(), graph.lexicon(), graph.id(start), chain.chain,
                                             1000, 1000, in_time());
      REQUIRE(followed);
      CHECK(std::set<kb::TermId>(followed->answers.begin(), followed->answers.end()) == ends);
      CHECK(followed->answers.size() == ends.size());
    }
  }
}

TEST_CASE("chains: a narrow beam scores no more paths than it may, and keeps the best") {
  std::vector<Graph::Edge> edges;
  for (int r = 0; r < 12; ++r) {
    for (int n = 0; n < 4; ++n) edges.push_back({n, r, n + 1});
  }
  const Graph graph(edges);
  const ChainLimits narrow{.steps = 3, .beam = 2, .paths = 7};
  std::vector<std::size_t> scored;
  const qa::ChainScorer scorer = [&](std::span<const Chain> chains, std::span<float> scores) {
    scored.push_back(chains.size());
    for (std::size_t i = 0; i < chains.size(); ++i) {
      scores[i] = 0;
      for (const qa::ChainStep& step : chains[i])
        scores[i] += step.inverse ? 0.0F : 1.0F + 0.1F * static_cast<float>(step.predicate);
    }
  };
  std::vector<float> alone(graph.lexicon().predicates().size() * 2);
  for (std::size_t i = 0; i < alone.size(); ++i) alone[i] = i % 2 == 0 ? static_cast<float>(i) : -1.0F;
  const auto found =
      qa::search_chains(graph.view(), graph.lexicon(), graph.id(0), alone, narrow, scorer, in_time());
  REQUIRE(found);
  CHECK(scored == std::vector<std::size_t>{7, 7, 7});
  const std::size_t last = graph.lexicon().predicates().size() - 1;
  CHECK(found->front().chain == Chain(3, {last, false}));
}

TEST_CASE("chains: a hub hides none of the relations that are likely, and its facts are not all read") {
  std::vector<Graph::Edge> edges;
  for (int n = 0; n < 9000; ++n) edges.push_back({1000 + n, 0, 1});  // of which thing 1 is the object
  edges.push_back({2, 1, 1});
  edges.push_back({20000, 2, 2});
  const Graph graph(edges);
  // The facts of relation 0 may be all that is read of it.
  const ChainLimits limits{.facts = 100, .likely = 2};
  const qa::ChainStep rare{graph.predicate(1), true};
  std::vector<float> alone(6, 0.0F);
  alone[2 * rare.predicate + 1] = 1;
  const auto found =
      qa::search_chains(graph.view(), graph.lexicon(), graph.id(1), alone, limits, made_up_scores, in_time());
  REQUIRE(found);
  const auto of = [&](const Chain& chain) {
    return std::find_if(found->begin(), found->end(), [&](const auto& one) { return one.chain == chain; });
  };
  REQUIRE(of({rare}) != found->end());
  CHECK(of({rare})->ends == std::vector<kb::TermId>{graph.id(2)});
  CHECK(of({rare, {graph.predicate(2), true}}) != found->end());
  REQUIRE(of({{graph.predicate(0), true}}) != found->end());
  CHECK(of({{graph.predicate(0), true}})->ends.size() == limits.entities);
  // To the end, but never further than it may.
  const auto followed = qa::follow_chain(graph.view(), graph.lexicon(), graph.id(1),
                                         {{graph.predicate(0), true}}, 500, 20, in_time());
  REQUIRE(followed);
  CHECK(followed->answers.size() == 500);
  CHECK(followed->cut);
  CHECK(followed->facts.size() == 20);
}

TEST_CASE("chains: what leads back to the start comes last, and evidence is a walk to an answer") {
  // 5 and 1 both have 2; 1 leads back to itself.
  const Graph graph({{1, 0, 2}, {5, 0, 2}, {6, 0, 7}, {1, 0, 9}});
  const Chain back{{graph.predicate(0), false}, {graph.predicate(0), true}};
  const auto followed =
      qa::follow_chain(graph.view(), graph.lexicon(), graph.id(1), back, 100, 20, in_time());
  REQUIRE(followed);
  CHECK(followed->answers == std::vector<kb::TermId>{graph.id(5), graph.id(1)});
  REQUIRE(followed->facts.size() >= 2);
  CHECK(followed->facts[0] ==
        kb::Triple{graph.id(1), graph.lexicon().predicates()[back[0].predicate].id, graph.id(2)});
  CHECK(followed->facts[1] ==
        kb::Triple{graph.id(5), graph.lexicon().predicates()[back[0].predicate].id, graph.id(2)});
  CHECK(followed->fact_count == 5);
  CHECK_FALSE(followed->cut);
  // A path that goes no further than its first step.
  const Chain nowhere{{graph.predicate(0), false}, {graph.predicate(0), false}};
  const auto none = qa::follow_chain(graph.view(), graph.lexicon(), graph.id(1), nowhere, 100, 20, in_time());
  REQUIRE(none);
  CHECK(none->answers.empty());
  CHECK(none->facts.empty());
  CHECK(none->fact_count == 0);
}

TEST_CASE("chains: words that say each step lead to an answer, in both languages") {
  test::InventedKb kb;
  const auto engine = engine_with(kb, 1, indifferent, 1);
  struct Asked {
    std::string question, answer, sentence;
  };
  for (const Asked& asked :
       {Asked{"What is the date of birth of the spouse of Mira Solberg?", "30 November 1969",
              "The date of birth of the spouse of Mira Solberg is 30 November 1969."},
        Asked{"What is Mira Solberg's spouse's date of birth?", "30 November 1969",
              "The date of birth of the spouse of Mira Solberg is 30 November 1969."},
        Asked{"米拉·索尔贝格的配偶的出生日期是什么？", "1969年11月30日",
              "米拉·索尔贝格的配偶的出生日期是1969年11月30日。"}}) {
    CAPTURE(asked.question);
    const qa::Response response = ask(*engine, asked.question);
    REQUIRE(!response.answers.empty());
    CHECK(response.answers[0].text == asked.answer);
    CHECK(response.answers[0].sentence == asked.sentence);
    REQUIRE(response.answers[0].evidence.size() == 2);
    CHECK(response.answers[0].evidence[0].object.value == "urn:t:anton");
    CHECK(response.answers[0].evidence[1].subject.value == "urn:t:anton");
    REQUIRE(response.findings);
    const qa::FoundReading& best = response.findings->readings[0];
    CHECK(best.shape == "chain");
    CHECK(best.subject == "urn:t:mira");
    CHECK(best.path == std::vector<qa::FoundStep>{{"urn:t:p:spouse", false}, {"urn:t:p:birthDate", false}});
    CHECK(response.trace.find("\"path\"") != std::string::npos);
  }
}

TEST_CASE("chains: several answers are said as such") {
  test::InventedKb kb;
  const std::vector<std::string> wanted{"country", "<then>", "borders"},
      counted{"headquarters", "<then>", "population"};
  const auto tell = [&](const std::vector<std::string>& words) {
    return words == wanted || words == counted ? 9.0F : -9.0F;
  };
  const auto engine = engine_with(kb, 2, tell, 12);
  CHECK(ask(*engine, "Whom does Tolvek's homeland touch?").answers.at(0).sentence ==
        "What the country of Tolvek borders: Norvenia and Estalia.");
  // A recorded number is said, not counted.
  const qa::Response people = ask(*engine, "How many souls live where Glimmer Works sits?");
  REQUIRE(!people.answers.empty());
  CHECK(people.answers[0].text == "610,000");
}

TEST_CASE("chains: questions about one fact are answered as without them") {
  test::InventedKb kb;
  const auto engine = engine_with(kb, 1, indifferent, 0);
  for (const std::string question :
       {"What is the capital of Avaria?", "Who founded Glimmer Works?", "Which countries border Avaria?",
        "阿瓦里亚的首都是哪里？", "Is Tolvek the capital of Avaria?",
        "How many products does Haiwan Technology have?"}) {
    CAPTURE(question);
    const qa::Response plain = kb.ask(question), learned = ask(*engine, question);
    REQUIRE(!plain.answers.empty());
    REQUIRE(!learned.answers.empty());
    CHECK(learned.answers[0].text == plain.answers[0].text);
    CHECK(learned.answers[0].sentence == plain.answers[0].sentence);
    CHECK(learned.findings->readings[0].shape != "chain");
  }
}

TEST_CASE("chains: a matcher that learned paths names one that no word says, with an inverse step") {
  test::InventedKb kb;
  const std::vector<std::string> wanted{"headquarters", "<then>", "<inverse>", "capital"};
  const auto tell = [&](const std::vector<std::string>& words) { return words == wanted ? 9.0F : -9.0F; };
  const std::string question = "Whose seat of power hosts Glimmer Works?";
  CHECK(ask(*engine_with(kb, 1, tell, 12), question).findings->readings.size() ==
        ask(*engine_with(kb, 1, indifferent, 12), question).findings->readings.size());
  const qa::Response response = ask(*engine_with(kb, 2, tell, 12), question);
  REQUIRE(!response.answers.empty());
  CHECK(response.answers[0].text == "Avaria");
  CHECK(response.answers[0].sentence == "What has the headquarters of Glimmer Works as its capital: Avaria.");
  CHECK(response.answers[0].id == "urn:t:avaria");
}

TEST_CASE("chains: there are none without models") {
  test::InventedKb kb;
  const auto engine = engine_with(kb, 1, indifferent, 1);
  qa::Request request;
  request.question = "What is the date of birth of the spouse of Mira Solberg?";
  request.findings = true;
  const auto chains = [&](const qa::Response& response) {
    return std::count_if(response.findings->readings.begin(), response.findings->readings.end(),
                         [](const qa::FoundReading& reading) { return reading.shape == "chain"; });
  };
  CHECK(chains(engine->ask(request).value()) > 0);
  CHECK(chains(kb.ask(request)) == 0);
}
