// The memory of facts: its text, its network against PyTorch, its training, its folder.
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "nn/model_folder.h"
#include "qa/fact_memory.h"
#include "qa/fact_memory_training.h"
#include "qa/memory_network.h"
#include "qa/memory_text.h"
#include "tests/nn_support.h"

namespace askbase::qa {

namespace {

using nn::Index;

nlohmann::json golden_cases() {
  std::ifstream in(askbase::test::source_folder() / "tests/golden/qa/fact_memory.json");
  REQUIRE(in.good());
  return nlohmann::json::parse(in).at("cases");
}

MemoryBag bag_of(const nlohmann::json& tokens) {
  MemoryBag bag;
  for (const auto& token : tokens) {
    for (const auto& row : token) {
      bag.rows.push_back(row[0].get<std::int32_t>());
      bag.weights.push_back(row[1].get<float>());
    }
    bag.ends.push_back(static_cast<std::int32_t>(bag.rows.size()));
  }
  return bag;
}

struct Loaded {
  std::vector<MemoryPredicateBags> predicates;
  MemoryNetwork<double>::Keys keys;
  MemoryNetwork<double>::Reading reading;
  std::vector<double> d_scores;
};

void load_case(const nlohmann::json& c, Loaded& out) {
  for (const auto& parts : c.at("predicates")) {
    out.predicates.push_back(
        {bag_of(parts[0]), bag_of(parts[1]), bag_of(parts[2]), bag_of(parts[3]), bag_of(parts[4])});
  }
  for (std::size_t i = 0; i < out.predicates.size(); ++i) {
    out.keys.predicates.push_back(&out.predicates[i]);
    out.keys.inverse.push_back(c.at("inverse")[i].get<bool>() ? 1 : 0);
  }
  out.reading.question = bag_of(c.at("question"));
  out.reading.mention = bag_of(c.at("mention"));
  for (const auto& subject : c.at("subjects")) out.reading.subjects.push_back(bag_of(subject));
  for (const auto& slot : c.at("slots")) {
    MemoryNetwork<double>::Slot s;
    s.key = slot.at("key").get<Index>();
    s.subject = slot.at("subject").get<Index>();
    for (std::size_t f = 0; f < s.features.size(); ++f) s.features[f] = slot.at("features")[f].get<float>();
    out.reading.slots.push_back(s);
  }
  out.d_scores = c.at("d_scores").at("data").get<std::vector<double>>();
}

void run(const MemoryNetwork<double>& network, const nn::Parameters<double>& p, Loaded& loaded) {
  network.encode(p, loaded.keys, {});
  std::vector<const double*> key, value;
  for (Index i = 0; i < loaded.keys.key.rows(); ++i) {
    key.push_back(loaded.keys.key.row(i));
    value.push_back(loaded.keys.value.row(i));
  }
  network.read(p, loaded.reading, key, value, {});
}

MemoryConfig config_of(const nlohmann::json& c) {
  MemoryConfig config;
  config.dimensions = 3;
  config.hops = c.at("hops").get<Index>();
  config.episodic = c.at("episodic").get<bool>();
  config.buckets = 1;
  return config;
}

// "who wrote X", "where was X born" and so on, over four predicates and people with the same names.
MemoryData small_data(std::size_t count, std::uint64_t seed) {
  MemoryData data;
  for (const char* name : {"author", "place of birth", "spouse", "date of death"}) {
    data.predicates.push_back(memory_predicate({}, std::vector<std::string>{name}, ""));
  }
  const std::vector<std::pair<std::string, std::uint32_t>> patterns = {{"who wrote @", 0},
                                                                       {"what did @ write", 1},
                                                                       {"where was @ born", 2},
                                                                       {"who is @ married to", 4},
                                                                       {"when did @ die", 6}};
  nn::Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [pattern, path] = patterns[random.below(patterns.size())];
    const std::string name = "name" + std::to_string(random.below(50));
    MemoryExample example;
    const std::size_t at = pattern.find('@');
    example.question = pattern.substr(0, at) + name + pattern.substr(at + 1);
    example.mention = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + name.size())};
    example.path = path;
    example.candidates = {{name, 9, {0, 1, 2, 4, 6}}, {name, 1, {2, 4}}};
    (i % 5 == 0 ? data.valid : data.train).push_back(std::move(example));
  }
  return data;
}

MemoryWords small_words() {
  MemoryWords words;
  words.words = {"author", "birth",  "born", "date", "death", "did",  "die",   "is",  "married", "of",
                 "place",  "spouse", "to",   "was",  "what",  "when", "where", "who", "write",   "wrote"};
  words.dimensions = 8;
  words.vectors.assign(words.words.size() * 8, 0);
  return words;
}

MemoryTraining small_training() {
  MemoryTraining training;
  training.epochs = 40;
  training.buckets = 64;
  training.rate = 2e-2;
  training.negatives = 3;
  training.progress = false;
  return training;
}

}  // namespace

TEST_CASE("the network computes what PyTorch computes, forwards and backwards") {
  for (const auto& c : golden_cases()) {
    CAPTURE(c.at("name").get<std::string>());
    nn::Parameters<double> p;
    const MemoryNetwork<double> network(p, config_of(c), 9);
    REQUIRE(p.count() == static_cast<int>(c.at("parameters").size()));
    nn::test::set_parameters(p, c.at("parameters"));
    Loaded loaded;
    load_case(c, loaded);
    run(network, p, loaded);
    const auto expected = c.at("scores").at("data").get<std::vector<double>>();
    REQUIRE(loaded.reading.scores.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(loaded.reading.scores[i] == doctest::Approx(expected[i]).epsilon(1e-9));
    }
    for (std::size_t h = 0; h < c.at("attention").size(); ++h) {
      const auto shares = c.at("attention")[h].at("data").get<std::vector<double>>();
      for (std::size_t i = 0; i < shares.size(); ++i) {
        CHECK(loaded.reading.hops[h][i] == doctest::Approx(shares[i]).epsilon(1e-9));
      }
    }
    nn::Gradients<double> g(p);
    loaded.keys.d_key.resize(4, 3);
    loaded.keys.d_value.resize(4, 3);
    loaded.keys.d_key.fill(0);
    loaded.keys.d_value.fill(0);
    network.read_backward(p, loaded.reading, loaded.keys, loaded.d_scores, loaded.keys.d_key,
                          loaded.keys.d_value, g, {});
    network.encode_backward(p, loaded.keys, g, {});
    for (nn::ParameterId id = 0; id < p.count(); ++id) {
      CAPTURE(p.name(id));
      const nn::Matrix<double> gold = nn::test::matrix_of(c.at("gradients").at(p.name(id)));
      nn::Matrix<double> mine(gold.rows(), gold.cols());
      if (g.is_sparse(id)) {
        for (Index r = 0; r < g.sparse(id).count(); ++r) {
          std::copy_n(g.sparse(id).values(r), gold.cols(), mine.row(g.sparse(id).table_row(r)));
        }
      } else {
        std::copy_n(g[id].data, gold.size(), mine.data());
      }
      CHECK(nn::test::difference(mine, gold) < 1e-8);
    }
  }
}

TEST_CASE("gradients agree with differences") {
  for (const auto& c : golden_cases()) {
    CAPTURE(c.at("name").get<std::string>());
    nn::Parameters<double> p;
    const MemoryNetwork<double> network(p, config_of(c), 9);
    network.initialise(p, 5);
    Loaded loaded;
    load_case(c, loaded);
    const auto loss = [&] {
      run(network, p, loaded);
      double sum = 0;
      for (std::size_t i = 0; i < loaded.d_scores.size(); ++i)
        sum += loaded.d_scores[i] * loaded.reading.scores[i];
      return sum;
    };
    loss();
    nn::Gradients<double> g(p);
    loaded.keys.d_key = nn::Matrix<double>(4, 3);
    loaded.keys.d_value = nn::Matrix<double>(4, 3);
    network.read_backward(p, loaded.reading, loaded.keys, loaded.d_scores, loaded.keys.d_key,
                          loaded.keys.d_value, g, {});
    network.encode_backward(p, loaded.keys, g, {});
    nn::test::check_by_differences(p, g, nullptr, nullptr, loss);
  }
}

TEST_CASE("words are rows, unknown ones are pieces, neighbours are pairs") {
  const MemoryVocabulary vocabulary({"who", "wrote", "北"}, 32);
  CHECK(vocabulary.size() == 1 + 3 + 32);
  CHECK(vocabulary.row("wrote") == 2);
  CHECK(vocabulary.row("hamlet") == -1);
  const auto words = words_around("Who wrote 'Hamlet' first?", 11, 17);
  CHECK(words == std::vector<std::string>{"who", "wrote", "<e>", "first"});
  const MemoryBag bag = vocabulary.question(words);
  REQUIRE(bag.size() == 4 + 3);
  CHECK(bag.rows[0] == 1);
  CHECK(bag.rows[1] == 2);
  CHECK(bag.rows[2] == MemoryVocabulary::mention);
  // "<first>": five runs of three characters and four of four.
  CHECK(bag.ends[3] - bag.ends[2] == 5 + 4);
  CHECK(bag.weights[3] == doctest::Approx(1.0 / 3));
  for (const std::int32_t row : bag.rows) CHECK((row >= 0 && row < vocabulary.size()));
  CHECK(vocabulary.name("").size() == 0);
  CHECK(vocabulary.name("北京").size() == 3);
  // Without the mention in the question its word stands last.
  CHECK(words_around("北京", 2, 2) == std::vector<std::string>{"北", "京", "<e>"});
  CHECK(words_around("", 0, 0) == std::vector<std::string>{"<e>"});
  const auto back = MemoryVocabulary::parse(vocabulary.text(), 32);
  REQUIRE(back);
  CHECK(back->words() == vocabulary.words());
  CHECK_FALSE(MemoryVocabulary::parse("a\n\nb\n", 4));
  CHECK_FALSE(MemoryVocabulary::parse("a\na\n", 4));
  CHECK_FALSE(MemoryVocabulary::parse("\xFF\n", 4));
}

TEST_CASE("a predicate is told by its names and by what its IRI says") {
  const std::vector<std::string> names = {"place of birth", "person place of birth", "born in"};
  MemoryPredicate predicate =
      memory_predicate("http://rdf.freebase.com/ns/people.person.place_of_birth", names);
  CHECK(predicate.name == "place of birth");
  CHECK(predicate.context == "people person");
  CHECK(predicate.other == std::vector<std::string>{"born in"});
  predicate = memory_predicate("people.person.spouse_s", {});
  CHECK(predicate.name == "spouse");
  predicate = memory_predicate("http://www.wikidata.org/prop/direct/P19", {});
  CHECK(predicate.name == "P19");
  predicate =
      memory_predicate("http://www.wikidata.org/prop/direct/P19", std::vector<std::string>{"birthplace"});
  CHECK(predicate.name == "birthplace");
  CHECK(predicate.other.empty());
  predicate = memory_predicate("urn:x:placeOfBirth", std::vector<std::string>{"出生地"}, "city");
  CHECK(predicate.name == "出生地");
  CHECK(predicate.other == std::vector<std::string>{"place of birth"});
  CHECK(predicate.object == "city");
  CHECK(memory_predicate({}, {}).name.empty());
}

TEST_CASE("candidates are told apart by name and fame") {
  const MemoryFeatures same = memory_features_of("New York", "new-york", 64);
  CHECK(same[0] == 1);
  CHECK(same[1] == 1);
  CHECK(same[2] > memory_features_of("New York", "new-york", 2)[2]);
  const MemoryFeatures part = memory_features_of("york", "New York", 0);
  CHECK(part[0] == 0);
  CHECK(part[1] == doctest::Approx(0.5));
  CHECK(part[2] == 0);
  CHECK(memory_features_of("", "", UINT32_MAX)[2] <= 1.5F);
}

TEST_CASE("a small memory learns, the same each time, and reads the same from its folder") {
  const MemoryData data = small_data(300, 1);
  nn::Team team(2);
  for (const bool episodic : {false, true}) {
    CAPTURE(episodic);
    MemoryTraining training = small_training();
    training.episodic = episodic;
    const auto model = train_memory(data, small_words(), training, team);
    REQUIRE_MESSAGE(model, model.error().message);
    CHECK(model->valid.both > 0.95);
    CHECK(model->valid.relation > 0.95);
    const auto again = train_memory(data, small_words(), training, team);
    REQUIRE(again);
    for (nn::ParameterId id = 0; id < model->parameters.count(); ++id) {
      CHECK(nn::test::difference(model->parameters[id], again->parameters[id]) == 0);
    }
    const askbase::test::ScratchFolder folder;
    REQUIRE(save_memory(folder / "memory", *model, "# card\n"));
    const auto memory = FactMemory::load(folder / "memory");
    REQUIRE_MESSAGE(memory, memory.error().message);
    CHECK((*memory)->language() == "en");
    const MemoryVerdicts verdicts = judge_memory(**memory, data, data.valid, team);
    double both = 0;
    for (const double right : verdicts.both) both += right;
    CHECK(both / static_cast<double>(verdicts.both.size()) ==
          doctest::Approx(model->valid.both).epsilon(0.05));
  }
}

TEST_CASE("reading: attention over all mentions, words, bounds") {
  nn::Team team(1);
  const MemoryData data = small_data(120, 2);
  const auto model = train_memory(data, small_words(), small_training(), team);
  REQUIRE(model);
  const askbase::test::ScratchFolder folder;
  REQUIRE(save_memory(folder / "memory", *model, "# card\n"));
  const auto loaded = FactMemory::load(folder / "memory");
  REQUIRE(loaded);
  const FactMemory& memory = **loaded;
  std::vector<MemoryKey> keys;
  for (const MemoryPredicate& predicate : data.predicates) {
    const MemoryStep step{.predicate = &predicate, .inverse = false};
    keys.push_back(memory.encode({&step, 1}));
  }
  const std::string question = "where was name1 born near name2";
  const std::vector<MemoryMention> mentions = {{10, 15}, {26, 31}};
  std::vector<MemorySlot> slots;
  for (std::uint32_t m = 0; m < 2; ++m) {
    for (const MemoryKey& key : keys) slots.push_back({&key, m == 0 ? "name1" : "name2", 3, m});
  }
  const MemoryReading reading = memory.read(question, mentions, slots);
  REQUIRE(reading.scores.size() == slots.size());
  double sum = 0, words = 0;
  for (const float share : reading.attention) sum += static_cast<double>(share);
  for (const auto& [word, share] : reading.words) words += static_cast<double>(share);
  CHECK(sum == doctest::Approx(1));
  CHECK(words == doctest::Approx(1));
  CHECK(reading.words[2].first == "<e>");
  REQUIRE(reading.hops.size() == 2);
  double first = 0;
  for (std::size_t i = 0; i < 4; ++i) first += static_cast<double>(reading.hops[0][i]);
  CHECK(first == doctest::Approx(1));  // in each mention's slots
  const auto best =
      std::max_element(reading.scores.begin(), reading.scores.begin() + 4) - reading.scores.begin();
  CHECK(best == 1);  // place of birth

  const MemoryReading nothing = memory.read(question, mentions, {});
  CHECK(nothing.scores.empty());
  CHECK(nothing.attention.empty());
  CHECK_FALSE(nothing.words.empty());
  CHECK(memory.read("", {}, {}).words.empty());
  // Long questions are cut.
  std::string longest;
  for (int i = 0; i < 2000; ++i) longest += "word ";
  const MemoryMention whole{0, 4};
  CHECK(memory.read(longest, {&whole, 1}, {}).words.size() == MemoryVocabulary::max_words / 2 + 1);

  const MemoryMention outside{0, 99};
  CHECK_THROWS_AS(memory.read(question, {&outside, 1}, {}), std::logic_error);
  slots[0].mention = 7;
  CHECK_THROWS_AS(memory.read(question, mentions, slots), std::logic_error);
  slots[0].mention = 0;
  slots[0].key = nullptr;
  CHECK_THROWS_AS(memory.read(question, mentions, slots), std::logic_error);
  CHECK_THROWS_AS(memory.encode({}), std::logic_error);
  // A path of several steps is between its steps.
  const std::vector<MemoryStep> path = {{&data.predicates[0], false}, {&data.predicates[1], true}};
  CHECK_NOTHROW(memory.encode(path));
}

TEST_CASE("folders that are no memory are refused") {
  nn::Team team(1);
  const auto model = train_memory(small_data(40, 3), small_words(), small_training(), team);
  REQUIRE(model);
  const askbase::test::ScratchFolder folder;
  const auto missing = FactMemory::load(folder / "none");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == base::ErrorCode::not_found);
  const auto with = [&](const std::string& from, const std::string& to) {
    TrainedMemory changed;
    changed.parameters = model->parameters;
    changed.config = model->config;
    changed.vocabulary = model->vocabulary;
    const std::size_t at = changed.config.find(from);
    REQUIRE(at != std::string::npos);
    changed.config.replace(at, from.size(), to);
    REQUIRE(save_memory(folder / "changed", changed, "# card\n"));
    const auto loaded = FactMemory::load(folder / "changed");
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == base::ErrorCode::corrupt);
  };
  with("\"hops\":2", "\"hops\":4");
  with("\"hops\":2", "\"hops\":3");  // weights of the third are missing
  with("\"dimensions\":8", "\"dimensions\":0");
  with("\"dimensions\":8", "\"dimensions\":9");
  with("\"dimensions\":8", "\"dimensions\":\"8\"");
  with("\"buckets\":64", "\"buckets\":65");
  with("\"buckets\":64", "\"buckets\":-1");
  with("\"episodic\":false", "\"episodic\":1");
  with("\"episodic\":false", "\"episodic\":true");
  with("\"language\":\"en\"", "\"language\":7");
}

TEST_CASE("training refuses examples without their fact") {
  nn::Team team(1);
  MemoryData data = small_data(20, 4);
  data.train[3].path = 7;
  auto model = train_memory(data, small_words(), small_training(), team);
  REQUIRE_FALSE(model);
  CHECK(model.error().code == base::ErrorCode::invalid_argument);
  data.train.clear();
  data.valid.clear();
  model = train_memory(data, small_words(), small_training(), team);
  REQUIRE_FALSE(model);
  // Predicates of another knowledge base, and those that read the same, do not compete.
  data = small_data(20, 5);
  CHECK(relations_of(data).size() >= data.predicates.size());
}

}  // namespace askbase::qa
