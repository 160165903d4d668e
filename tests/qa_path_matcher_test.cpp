// The matcher of questions and paths of relations: texts of paths, the network against PyTorch and
// differences, training, model folders.
#include <algorithm>

#include "base/file.h"
#include "nn/model_folder.h"
#include "qa/path_matcher_config.h"
#include "qa/path_matcher_network.h"
#include "qa/path_matcher_training.h"
#include "tests/nn_support.h"

namespace askbase::qa {

namespace {

using nn::Index;
using Words = std::vector<std::string>;

std::vector<PathText> texts_of(const std::string& identifier, const Words& texts = {}, bool inverse = false) {
  const RelationStep step{identifier, texts, inverse};
  return path_texts({&step, 1});
}

nlohmann::json golden_cases() {
  std::ifstream in(test::source_folder() / "tests/golden/qa/path_matcher.json");
  REQUIRE(in.good());
  return nlohmann::json::parse(in);
}

PathMatcherConfig small_config(Index aspects = 0) {
  PathMatcherConfig config;
  config.dimensions = 3;
  config.hidden = 2;
  config.buckets = 8;
  config.aspects = aspects;
  return config;
}

// The batch of a golden case, whose words are given by their rows.
PathBatch batch_of(const nlohmann::json& item) {
  PathBatch batch;
  batch.rows = item.at("rows").get<std::vector<std::int32_t>>();
  for (const std::int32_t row : batch.rows) {
    if (row == PathVocabulary::unknown) batch.ngrams = item.at("ngrams").get<std::vector<std::int32_t>>();
    batch.ngram_first.push_back(static_cast<Index>(batch.ngrams.size()));
  }
  const auto add = [](const nlohmann::json& list, nn::Segments& segments, auto& to) {
    for (const auto& part : list) {
      segments.add(static_cast<Index>(part.size()));
      for (const auto& word : part) to.push_back(word.get<std::int32_t>());
    }
  };
  add(item.at("questions"), batch.questions, batch.question_words);
  add(item.at("path_words"), batch.path_words, batch.path_word_ids);
  add(item.at("path_units"), batch.path_units, batch.path_unit_rows);
  for (std::size_t k = 0; k < item.at("aspects").size(); ++k) {
    add(item.at("aspects")[k], batch.aspects[k].segments, batch.aspects[k].words);
  }
  return batch;
}

// Scores of all questions for all paths; with d_scores their gradients, too.
struct Pass {
  PathMatcherNetwork<double>::Cache cache;
  nn::Matrix<double> scores;
};
void run(const PathMatcherNetwork<double>& network, const nn::Parameters<double>& p, const PathBatch& batch,
         const nn::Matrix<double>* d_scores, nn::Gradients<double>* g, Pass& pass,
         const nn::Context& context = {}) {
  network.encode(p, batch, pass.cache, context);
  const Index paths = batch.path_words.count();
  pass.scores.resize(batch.questions.count(), paths);
  if (g != nullptr) network.start_backward(pass.cache);
  // In another order than they stand in, and through a list, as training does.
  std::vector<std::uint32_t> which;
  for (Index c = paths; c-- > 0;) which.push_back(static_cast<std::uint32_t>(c));
  std::vector<double> scores(which.size()), d(which.size());
  PathMatcherNetwork<double>::ScoreCache scored;
  for (Index i = 0; i < batch.questions.count(); ++i) {
    network.score(p, pass.cache.question(i, batch), pass.cache.all_paths(), which, scores, scored, context);
    for (std::size_t c = 0; c < which.size(); ++c) {
      pass.scores(i, which[c]) = scores[c];
      if (d_scores != nullptr) d[c] = (*d_scores)(i, which[c]);
    }
    if (g != nullptr) network.score_backward(p, batch, i, pass.cache, which, d, scored, *g, context);
  }
  if (g != nullptr) network.backward(p, batch, pass.cache, *g, context);
}

// Relations that questions name by other words than their own, and one that they name by its own.
struct Small {
  MatchData data;
  MatchVectors vectors;
};
Small small_data(std::size_t count) {
  Small small;
  const std::vector<std::pair<std::string, std::string>> relations = {
      {"people.person.place_of_birth", "where was X born"},
      {"people.person.date_of_birth", "when was X born"},
      {"book.written_work.author", "who wrote X"},
      {"film.film.director", "who filmed X"},
      {"location.country.capital", "what is the capital of X"},
      {"location.country.currency", "what do they pay with in X"}};
  for (const auto& [name, question] : relations) small.data.paths.push_back({texts_of(name), 0});
  nn::Random random(5);
  const Words names = {"Rome", "Mary Shelley", "Ulm", "Alien"};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t relation = i % relations.size();
    MatchExample example;
    example.question = relations[relation].second;
    const std::size_t at = example.question.find('X');
    const std::string& name = names[random.below(names.size())];
    example.question.replace(at, 1, name);
    example.mentions = {{at, at + name.size(), {}}};
    example.gold = {static_cast<std::uint32_t>(relation)};
    for (std::uint32_t rival = 0; rival < relations.size(); ++rival) {
      if (rival != relation) example.rivals.push_back(rival);
    }
    (i % 5 == 0 ? small.data.valid : small.data.train).push_back(std::move(example));
  }
  small.data.groups = {"accuracy"};
  return small;
}

PathMatcherTraining small_training() {
  PathMatcherTraining training;
  training.dimensions = 12;
  training.hidden = 8;
  training.buckets = 64;
  training.batch = 16;
  training.epochs = 12;
  training.rate = 0.01;
  training.progress = false;
  return training;
}

}  // namespace

TEST_CASE("paths as text") {
  SUBCASE("a Freebase name in both spellings") {
    const auto texts = texts_of("people.person.place_of_birth");
    REQUIRE(texts.size() == 1);
    CHECK(texts[0].words == Words{"people", "person", "place", "of", "birth"});
    CHECK(texts[0].units == Words{"people", "people.person", "place of birth"});
    CHECK(texts_of("/people/person/place_of_birth") == texts);
    CHECK(is_freebase_name("/a/b/c"));
    for (const char* other : {"", "a.b", "/a/b", "a.b.", ".a.b.c", "a.b.c...d.e.f", "a.b.c..d.e", "A.b.c",
                              "a/b/c", "a.b.c d", "http://x.org/a.b.c", "www.example.com/"}) {
      CHECK_MESSAGE(!is_freebase_name(other), other);
    }
  }
  SUBCASE("two names in one, and four parts") {
    const auto texts = texts_of("film.film.starring..film.performance.actor");
    REQUIRE(texts.size() == 1);
    CHECK(texts[0].words == Words{"film", "film", "starring", "<then>", "film", "performance", "actor"});
    CHECK(texts[0].units ==
          Words{"film", "film.film", "starring", "<then>", "film", "film.performance", "actor"});
    CHECK(texts_of("base.x.y.z")[0].units == Words{"base", "base.x", "base.x.y", "z"});
  }
  SUBCASE("labels come after the Freebase name and instead of the end of an IRI") {
    const auto both = texts_of("a.b.c_d", {"Born in", "born  in!", "C D"});
    REQUIRE(both.size() == 3);
    CHECK(both[1].words == Words{"born", "in"});
    CHECK(both[1].units == Words{"born in"});
    CHECK(both[2].words == Words{"c", "d"});
    CHECK(texts_of("http://x.org/p#placeOfBirth")[0].words == Words{"place", "of", "birth"});
    CHECK(texts_of("http://x.org/p/official_language/")[0].words == Words{"official", "language"});
    CHECK(texts_of("http://x.org/p#q", {"seat"}) == texts_of("", {"seat"}));
  }
  SUBCASE("Chinese, both scripts") {
    const auto texts = texts_of("http://x.org/%E5%87%BA%E7%94%9F%E5%9C%B0");
    REQUIRE(texts.size() == 1);
    CHECK(texts[0].words == Words{"出", "生", "地"});
    CHECK(texts[0].units == Words{"出生地"});
    CHECK(texts_of("國籍") == texts_of("国籍"));
    CHECK(texts_of("ＩＳＢＮ码")[0].words == Words{"isbn", "码"});
  }
  SUBCASE("inverse and several steps") {
    CHECK(texts_of("", {"part of"}, true)[0].words == Words{"<inverse>", "part", "of"});
    CHECK(texts_of("", {"part of"}, true)[0].units == Words{"<inverse>", "part of"});
    const std::vector<RelationStep> steps = {
        {"", {"spouse", "married to"}, false}, {"", {"child"}, true}, {"", {"place of birth"}, false}};
    const auto texts = path_texts(steps);
    REQUIRE(texts.size() == 2);
    CHECK(texts[0].words ==
          Words{"spouse", "<then>", "<inverse>", "child", "<then>", "place", "of", "birth"});
    CHECK(texts[1].words[0] == "married");
    CHECK(texts[1].units == Words{"married to", "<then>", "<inverse>", "child", "<then>", "place of birth"});
    CHECK(path_texts(steps, 1).size() == 1);
  }
  SUBCASE("nothing to read") {
    CHECK(path_texts({}).empty());
    CHECK(texts_of("").empty());
    CHECK(texts_of("", {"", "?!"}).empty());
    const std::vector<RelationStep> steps = {{"", {"spouse"}, false}, {"", {}, false}};
    CHECK(path_texts(steps).empty());
  }
  SUBCASE("brackets in a label are no signs, and long ones are cut") {
    CHECK(texts_of("", {"<inverse> of"})[0].words == Words{"inverse", "of"});
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "word ";
    CHECK(texts_of("", {text})[0].words.size() == max_path_words);
  }
}

TEST_CASE("words of a question") {
  const auto keys = [](std::string_view question, const std::vector<MentionRange>& mentions, Index tail = 0) {
    Words words;
    for (const MatchWord& word : match_words(question, mentions, tail)) words.push_back(word.key);
    return words;
  };
  CHECK(keys("Where was Ada Lovelace born?", {{10, 22, {}}}) == Words{"where", "was", "<e>", "born"});
  const std::vector<MentionRange> ada = {{10, 22, {}}};
  CHECK(match_words("Where was Ada Lovelace born?", ada, 0)[2].text == "Ada Lovelace");
  CHECK(keys("Where was Ada born?", {{10, 13, "Person"}}) == Words{"where", "was", "<e>", "person", "born"});
  CHECK(keys("臺北車站在哪裡", {{0, 4, {}}}, 2) == Words{"<e>", "车", "站", "在", "哪", "里"});
  // Overlapping, empty, backwards, behind the end.
  CHECK(keys("a b c d", {{2, 5, {}}, {4, 7, {}}}) == Words{"a", "<e>", "d"});
  CHECK(keys("a b", {{1, 1, {}}, {3, 2, {}}, {70, 90, {}}}) == Words{"a", "b"});
  CHECK(keys("a b", {{2, 900, {}}}) == Words{"a", "<e>"});
  CHECK(keys("", {}).empty());
  CHECK(keys("?!", {}).empty());
  std::string longest;
  for (int i = 0; i < 2000; ++i) longest += "word ";
  CHECK(keys(longest, {}).size() == PathMatcher::max_words);
}

TEST_CASE("character n-grams") {
  CHECK(character_ngrams("a", 1000).size() == 1);   // "<a>"
  CHECK(character_ngrams("ab", 1000).size() == 3);  // "<ab", "ab>", "<ab>"
  CHECK(character_ngrams("", 1000).empty());
  CHECK(character_ngrams("国", 1000).size() == 1);
  for (const std::int32_t place : character_ngrams("international", 7)) CHECK((place >= 0 && place < 7));
  // Words of one stem have some in common.
  const auto a = character_ngrams("discoverer", 1 << 20), b = character_ngrams("discovered", 1 << 20);
  CHECK(std::count_if(a.begin(), a.end(),
                      [&](std::int32_t x) { return std::find(b.begin(), b.end(), x) != b.end(); }) > 15);
}

TEST_CASE("the network of the matcher against PyTorch") {
  const nlohmann::json cases = golden_cases();
  for (const auto& [name, item] : cases.items()) {
    CAPTURE(name);
    nn::Parameters<double> p;
    const PathMatcherNetwork<double> network(p, small_config(static_cast<Index>(item.at("aspects").size())),
                                             9, 7);
    nn::test::set_parameters(p, item.at("parameters"));
    const PathBatch batch = batch_of(item);
    const auto d_scores = nn::test::matrix_of(item.at("d_scores"));
    nn::Gradients<double> g(p);
    Pass pass;
    run(network, p, batch, &d_scores, &g, pass);
    CHECK(nn::test::difference(pass.scores, nn::test::matrix_of(item.at("scores"))) < 1e-8);
    for (const auto& [parameter, tensor] : item.at("gradients").items()) {
      const nn::ParameterId id = p.find(parameter);
      REQUIRE(id >= 0);
      nn::Matrix<double> actual(p[id].rows, p[id].cols);
      if (g.is_sparse(id)) {
        const auto& rows = g.sparse(id);
        for (Index r = 0; r < rows.count(); ++r) {
          std::copy_n(rows.values(r), rows.cols(), actual.row(rows.table_row(r)));
        }
      } else {
        std::copy_n(g[id].data, actual.size(), actual.data());
      }
      const auto expected = nn::test::matrix_of(tensor);
      CHECK_MESSAGE(
          nn::test::difference(nn::View<const double>(actual.data(), expected.rows(), expected.cols()),
                               expected.view()) < 1e-7,
          parameter);
    }
  }
}

TEST_CASE("gradients of the matcher by differences, with dropout and every kind of attention") {
  const nlohmann::json item = golden_cases().at("with aspects");
  const PathBatch batch = batch_of(item);
  const auto d_scores = nn::test::matrix_of(item.at("d_scores"));
  nn::Context context;
  context.training = true;
  context.dropout_key = 3;
  for (const char* attention : {"none", "score=dot", "score=cosine", "score=general",
                                "score=additive hidden=3", "score=scaled_dot projected=4 heads=2"}) {
    CAPTURE(attention);
    PathMatcherConfig config = small_config(1);
    config.attention = attention;
    config.word_dropout = 0.2;
    config.alignment = std::string_view(attention) != "score=dot";
    nn::Parameters<double> p;
    const PathMatcherNetwork<double> network(p, config, 9, 7);
    p.initialise(11);
    network.set_initial(p);
    nn::Gradients<double> g(p);
    Pass pass;
    run(network, p, batch, &d_scores, &g, pass, context);
    const auto loss = [&] {
      Pass other;
      run(network, p, batch, nullptr, nullptr, other, context);
      return nn::test::weighted_sum(other.scores.view(), d_scores.view());
    };
    nn::test::check_by_differences(p, g, nullptr, nullptr, loss, 2e-5, 1e-6);
  }
}

TEST_CASE("a matcher learns, ships and scores what it has never seen") {
  const test::ScratchFolder folder;
  const Small small = small_data(240);
  nn::Team team(2);
  const auto model = train_path_matcher(small.data, small.vectors, small_training(), team);
  REQUIRE(model);
  REQUIRE(model->valid.size() == 1);
  CHECK(model->valid[0].second == 1.0);
  REQUIRE(save_path_matcher(folder.path() / "m", *model, "card"));
  const auto loaded = PathMatcher::load(folder.path() / "m");
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  const PathMatcher& matcher = **loaded;
  CHECK(matcher.language() == "en");
  CHECK(path_accuracy(matcher, small.data.paths, small.data.valid, false, team) == 1.0);
  CHECK(path_accuracy(matcher, small.data.paths, small.data.valid, true, team) == 1.0);

  std::vector<MatchPath> paths;
  for (const TrainingPath& path : small.data.paths) paths.push_back({.texts = path.texts});
  paths.push_back({.texts = texts_of("", {"wingspan"})});                   // never seen
  paths.push_back({});                                                      // without text
  paths.push_back({.texts = texts_of("", {"span of wings", "wingspan"})});  // the best of two
  const EncodedPaths encoded = matcher.encode(paths);
  REQUIRE(encoded.size() == 9);
  PathMatcher::Scratch scratch;
  std::vector<float> scores(9);
  const std::vector<MentionRange> mention = {{24, 28, {}}};
  const MatchQuestion question = matcher.prepare("what is the wingspan of Rome", mention);
  matcher.score(question, encoded, {}, scores, scratch);
  // The word that a question and a path share brings them nearer than another word does.
  std::vector<float> others(9);
  matcher.score(matcher.prepare("what is the beak of Rome", std::vector<MentionRange>{{20, 24, {}}}), encoded,
                {}, others, scratch);
  CHECK(scores[6] - scores[4] > others[6] - others[4] + 1);
  CHECK(scores[7] == PathMatcher::no_text_score);
  CHECK(scores[8] >= scores[6]);

  SUBCASE("some paths are scored as they are among all") {
    const std::vector<std::uint32_t> which = {8, 2, 7, 6};
    std::vector<float> some(4);
    matcher.score(question, encoded, which, some, scratch);
    for (std::size_t i = 0; i < which.size(); ++i)
      CHECK(some[i] == doctest::Approx(scores[which[i]]).epsilon(1e-5));
    CHECK_THROWS_AS(matcher.score(question, encoded, which, scores, scratch), std::logic_error);
  }
  SUBCASE("one path encoded alone is the same path") {
    const EncodedPaths alone = matcher.encode({&paths[6], 1});
    std::vector<float> score(1);
    matcher.score(question, alone, {}, score, scratch);
    CHECK(score[0] == doctest::Approx(scores[6]).epsilon(1e-5));
  }
  SUBCASE("attention of a path over the words") {
    const auto weights = matcher.attention(question, encoded, 4);
    REQUIRE(weights.size() == 6);
    CHECK(weights[5].first == "Rome");
    double sum = 0;
    for (const auto& [word, weight] : weights) sum += weight;
    CHECK(sum == doctest::Approx(1.0));
  }
  SUBCASE("a question without words") {
    matcher.score(matcher.prepare("?", {}), encoded, {}, scores, scratch);
    CHECK(scores[0] == 0.0F);
    CHECK(matcher.attention(matcher.prepare("", {}), encoded, 0).empty());
  }
  SUBCASE("no paths") {
    const EncodedPaths none = matcher.encode({});
    CHECK(none.size() == 0);
    matcher.score(question, none, {}, {}, scratch);
  }
  SUBCASE("folders that do not fit are refused") {
    const auto broken = [&](const std::string& from, const std::string& to) {
      auto config = base::read_file(folder.path() / "m/config.json");
      REQUIRE(config);
      const std::size_t at = config->find(from);
      REQUIRE(at != std::string::npos);
      config->replace(at, from.size(), to);
      REQUIRE(base::write_file_atomic(folder.path() / "m/config.json", *config));
      const auto again = PathMatcher::load(folder.path() / "m");
      REQUIRE(!again);
      return again.error();
    };
    SUBCASE("a size of none") {
      CHECK(broken("\"hidden\": 8", "\"hidden\": 0").code == base::ErrorCode::corrupt);
    }
    SUBCASE("a size that the weights do not have") {
      CHECK(broken("\"hidden\": 8", "\"hidden\": 16").code == base::ErrorCode::corrupt);
    }
    SUBCASE("more aspects than weights") {
      CHECK(broken("\"aspects\": 0", "\"aspects\": 2").code == base::ErrorCode::corrupt);
    }
    SUBCASE("a language that is none") {
      CHECK(broken("\"language\": \"en\"", "\"language\": \"xx\"").message.find("language") !=
            std::string::npos);
    }
    SUBCASE("an attention that is none") {
      CHECK(broken("score=scaled_dot", "score=telepathy").message.find("config.json") != std::string::npos);
    }
    SUBCASE("another kind of model") {
      CHECK(broken("path-matcher", "question-type").code == base::ErrorCode::unsupported);
    }
    SUBCASE("a vocabulary of another model") {
      REQUIRE(base::write_file_atomic(folder.path() / "m/words.txt", "other\n"));
      const auto again = PathMatcher::load(folder.path() / "m");
      REQUIRE(!again);
      CHECK(again.error().code == base::ErrorCode::corrupt);
    }
  }
}

TEST_CASE("the type of the answer tells paths apart whose own words say nothing") {
  MatchData data;
  const Words types = {"city", "person", "river"};
  const Words names = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    TrainingPath path{texts_of("", {"link " + names[i]}), 0};
    path.answer_type = {types[i % 3]};
    data.paths.push_back(path);
  }
  // Of each type the last path is never asked for.
  for (std::size_t i = 0; i < 180; ++i) {
    const auto path = static_cast<std::uint32_t>(i % 6);
    MatchExample example{"which " + types[path % 3] + " is linked to X", {}, {path}, {}, 0};
    for (std::uint32_t rival = 0; rival < 6; ++rival) {
      if (rival % 3 != path % 3) example.rivals.push_back(rival);
    }
    data.train.push_back(example);
  }
  PathMatcherTraining training = small_training();
  training.aspects = 1;
  training.alignment = false;
  training.compete = 3;
  nn::Team team(1);
  const auto model = train_path_matcher(data, {}, training, team);
  REQUIRE(model);
  const test::ScratchFolder folder;
  REQUIRE(save_path_matcher(folder.path() / "m", *model, "card"));
  const auto matcher = PathMatcher::load(folder.path() / "m");
  REQUIRE(matcher);
  for (std::uint32_t type = 0; type < 3; ++type) {
    const MatchExample example{"which " + types[type] + " is linked to X", {}, {6 + type}, {6, 7, 8}, 0};
    MatchExample asked = example;
    std::erase(asked.rivals, 6 + type);
    CHECK_MESSAGE(path_accuracy(**matcher, data.paths, {asked}, false, team) == 1.0, types[type]);
  }
}

TEST_CASE("training of the matcher: the same twice, by margin, and what it refuses") {
  const Small small = small_data(60);
  PathMatcherTraining training = small_training();
  training.epochs = 2;
  nn::Team team(1);
  const auto a = train_path_matcher(small.data, small.vectors, training, team),
             b = train_path_matcher(small.data, small.vectors, training, team);
  REQUIRE(a);
  REQUIRE(b);
  for (nn::ParameterId id = 0; id < a->parameters.count(); ++id) {
    const auto x = a->parameters[id], y = b->parameters[id];
    CHECK_MESSAGE(std::equal(x.data, x.data + x.size(), y.data), a->parameters.name(id));
  }
  training.margin = 2;
  training.epochs = 30;
  const auto margin = train_path_matcher(small.data, small.vectors, training, team);
  REQUIRE(margin);
  CHECK(margin->valid[0].second >= 0.8);
  training.attention = "score=nothing";
  CHECK(!train_path_matcher(small.data, small.vectors, training, team));
  CHECK(train_path_matcher({}, {}, small_training(), team).error().code == base::ErrorCode::bad_input);
}

TEST_CASE("vocabularies of the matcher") {
  const auto vocabulary = PathVocabulary::parse("born\nplace of birth\n", "units.txt");
  REQUIRE(vocabulary);
  CHECK(vocabulary->size() == 6);
  CHECK(vocabulary->row("place of birth") == 5);
  CHECK(vocabulary->row("place") == PathVocabulary::unknown);
  CHECK(vocabulary->row("<e>") == 1);
  CHECK(vocabulary->text() == "born\nplace of birth\n");
  for (const char* bad : {"a\na\n", "a\n\nb\n", "\xff\n"}) {
    const auto refused = PathVocabulary::parse(bad, "units.txt");
    REQUIRE(!refused);
    CHECK(refused.error().message.find("units.txt") == 0);
  }
}

}  // namespace askbase::qa
