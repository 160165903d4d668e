// The tagger of mentions: how names are found in questions, its network, its training, its folder.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "datasets/kb_questions.h"
#include "qa/mention_model.h"
#include "qa/mention_spans.h"
#include "qa/mention_tagger.h"
#include "qa/mention_tagger_training.h"
#include "tests/nn_support.h"

namespace askbase::qa {

namespace {

using nn::Index;

// The text that find_mention() finds; "-" where it finds none.
std::string found(const std::string& question, const std::string& name) {
  const std::vector<base::Token> tokens = mention_tokens(question);
  const std::optional<TokenSpan> span = find_mention(tokens, name);
  if (!span) return "-";
  const std::uint32_t begin = tokens[span->first].begin_byte;
  return question.substr(begin, tokens[span->last - 1].end_byte - begin);
}

const std::vector<std::string> english_names{"anna berg", "the long road",    "port of lind",
                                             "mono",      "harbour lights 2", "tom's garden",
                                             "e",         "saint kel"};
const std::vector<std::string> chinese_names{"安娜山", "长路", "林德港", "小城故事", "春", "圣凯尔大学"};

// Questions of a few patterns about names.
std::vector<TaggedQuestion> small_questions(const std::string& language, std::size_t count,
                                            std::uint64_t seed, const std::vector<std::string>& names) {
  const std::vector<std::string> english{"who wrote *", "what is the genre of * ?", "where was * born",
                                         "is * a film or a song?", "name the author of *"};
  const std::vector<std::string> chinese{"*的作者是谁？", "请问*在哪里", "谁知道*是什么时候建成的呀？",
                                         "*属于什么类型"};
  nn::Random random(seed);
  std::vector<TaggedQuestion> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::string>& patterns = language == "zh" ? chinese : english;
    std::string question = patterns[random.below(patterns.size())];
    const std::string& name = names[random.below(names.size())];
    question.replace(question.find('*'), 1, name);
    const std::optional<TokenSpan> span = find_mention(mention_tokens(question), name);
    REQUIRE(span.has_value());
    out.push_back({question, *span});
  }
  return out;
}

MentionWords small_words() {
  MentionWords words;
  words.words = {"who",   "wrote", "what", "is", "the", "genre", "of",
                 "where", "was",   "born", "a",  "or",  "name"};
  words.dimensions = 8;
  const nn::Matrix<float> vectors =
      nn::test::random_matrix<float>(static_cast<Index>(words.words.size()), 8, 3);
  words.vectors.assign(vectors.data(), vectors.data() + vectors.size());
  return words;
}

MentionTraining small_training(const std::string& language) {
  MentionTraining training;
  training.language = language;
  training.epochs = 8;
  training.patience = 0;
  training.rate = 1e-2;
  training.batch = 16;
  training.hidden = 12;
  training.mention_dropout = 0.5;
  training.own_words = 10;
  training.pair_rows = language == "zh" ? 200 : 0;
  training.least_letters = 1;
  training.progress = false;
  return training;
}

TrainedTagger train_small(const std::string& language, const MentionTraining& training, nn::Team& team) {
  const std::vector<std::string>& names = language == "zh" ? chinese_names : english_names;
  return train_mention_tagger(small_questions(language, 150, 1, names),
                              small_questions(language, 40, 2, names),
                              language == "zh" ? MentionWords() : small_words(), training, team)
      .value();
}

std::string bytes_of(const nn::Parameters<float>& p) {
  std::string bytes;
  for (nn::ParameterId id = 0; id < p.count(); ++id) {
    bytes.append(reinterpret_cast<const char*>(p[id].data),
                 static_cast<std::size_t>(p[id].size()) * sizeof(float));
  }
  return bytes;
}

std::string text_of(const std::string& question, const TaggedSpan& span) {
  return question.substr(span.begin_byte, span.end_byte - span.begin_byte);
}

std::string best_of(const MentionTagger& tagger, const std::string& question) {
  const MentionTags tags = tagger.tag(question);
  return tags.spans.empty() ? "-" : text_of(question, tags.spans.front());
}

MentionConfig small_config() {
  MentionConfig config;
  config.words = 12;
  config.learn_words = true;
  config.dimensions = 4;
  config.own_words = 5;
  config.own_dimensions = 2;
  config.letters = 9;
  config.letter_dimensions = 3;
  config.filters = 3;
  config.pair_rows = 7;
  config.pair_dimensions = 2;
  config.hidden = 3;
  return config;
}

}  // namespace

TEST_CASE("a name is found in a question whatever its case, spaces and punctuation") {
  CHECK(found("Which genre of album is harder.....faster?", "harder ... ..faster") == "harder.....faster");
  CHECK(found("Who wrote The Wind in the Willows?", "the wind in the willows") == "The Wind in the Willows");
  CHECK(found("what genre of album is magico: carta de amor?", "Magico : Carta De Amor") ==
        "magico: carta de amor");
  CHECK(found("what is the name for meccas canonical version", "mecca") == "meccas");
  CHECK(found("what is Beyoncé's genre", "beyonce") == "Beyoncé");
  CHECK(found("who is in u.s.a", "USA") == "u.s.a");
  // Inside of words only at their end, and never a single letter.
  CHECK(found("what is the book e about", "e") == "e");
  CHECK(found("what are the albums", "a") == "-");
  CHECK(found("what is hamburger", "hamburg") == "hamburger");
  CHECK(found("what is hamburgerland", "hamburg") == "-");
  CHECK(found("is newark in new jersey", "ark") == "-");
  // A whole word before a part of one; the first of several.
  CHECK(found("are berliners from berlin", "berlin") == "berlin");
  const std::optional<TokenSpan> first = find_mention(mention_tokens("lind or lind"), "lind");
  CHECK(first == TokenSpan{0, 1});
  // Remarks that only the name has.
  CHECK(found("who directed titanic", "Titanic (1997 film)") == "titanic");
  CHECK(found("谁是伏笔的原唱？", "伏笔（歌曲）") == "伏笔");
  CHECK(found("臺灣的首都是哪裡", "台湾") == "臺灣");
  CHECK(found("《机械设计基础》这本书的作者是谁？", "机械设计基础") == "机械设计基础");
  CHECK(found("Python语言是谁发明的", "python") == "Python");
  CHECK(found("who wrote it", "") == "-");
  CHECK(found("who wrote it", "?!") == "-");
  CHECK(found("", "it") == "-");
  CHECK(without_remark("A (b) (c)") == "A");
  CHECK(without_remark("(b)") == "(b)");
}

TEST_CASE("shapes and casings of words") {
  const auto shape = [](std::u32string_view letters, base::TokenKind kind = base::TokenKind::word) {
    return shape_of(letters, kind, false, false);
  };
  CHECK(shape(U"Paris") == shape_capital);
  CHECK(shape(U"paris") == 0);
  CHECK(shape(U"NASA") == (shape_capital | shape_capitals | shape_inner_capital));
  CHECK(shape(U"iPhone6") == (shape_inner_capital | shape_digit));
  CHECK(shape(U"1984", base::TokenKind::number) == (shape_digit | shape_number));
  CHECK(shape(U"?", base::TokenKind::punctuation) == shape_sign);
  CHECK(shape(U"京", base::TokenKind::han) == shape_han);
  CHECK(shape_of(U"I", base::TokenKind::word, true, true) ==
        (shape_capital | shape_first | shape_joined | shape_single));

  CHECK(cased(U"Wind", Casing::as_written, true, true) == U"Wind");
  CHECK(cased(U"Wind", Casing::lower, true, true) == U"wind");
  CHECK(cased(U"élan", Casing::upper, false, false) == U"ÉLAN");
  CHECK(cased(U"wind", Casing::title, false, false) == U"Wind");
  CHECK(cased(U"wind", Casing::title_mention, false, false) == U"wind");
  CHECK(cased(U"of", Casing::title_mention, true, false) == U"of");
  CHECK(cased(U"the", Casing::title_mention, true, true) == U"The");

  const LetterTable letters(U"aé?");
  CHECK(letters.size() == 5);
  CHECK(letters.row(U'é') == 3);
  CHECK(letters.row(U'京') == LetterTable::han);
  CHECK(letters.row(U'z') == LetterTable::unknown);
  CHECK(LetterTable::parse(letters.text()).value().text() == letters.text());
  CHECK(!LetterTable::parse("a\na\n"));
  CHECK(!LetterTable::parse("ab\n"));
  CHECK(!LetterTable::parse("\xff\n"));
  const auto quoted = [](const char* text) {
    std::string bits;
    for (const std::uint8_t bit : quoted_tokens(mention_tokens(text))) bits += bit != 0 ? '1' : '0';
    return bits;
  };
  CHECK(quoted("《春》的作者") == "010000");
  CHECK(quoted("who wrote \"Big Fish\" ?") == "0001100");
  CHECK(quoted("who wrote \"Big Fish") == "00000");
  CHECK(quoted("a » b 》 c") == "00000");
  CHECK(pair_row("a", "b", 1000) != pair_row("b", "a", 1000));
  CHECK(pair_row("ab", "", 1000) != pair_row("a", "b", 1000));
}

TEST_CASE("the network and the probabilities of spans are those of PyTorch and of all taggings one by one") {
  std::ifstream in(askbase::test::source_folder() / "tests/golden/qa/mention_tagger.json");
  REQUIRE(in.good());
  const nlohmann::json golden = nlohmann::json::parse(in).at("tagger");
  nn::Parameters<double> p;
  const MentionNetwork<double> network(p, small_config());
  nn::test::set_parameters(p, golden.at("parameters"));
  MentionNetwork<double>::Cache cache;
  const auto words = golden.at("words").get<std::vector<std::int32_t>>();
  const auto n = static_cast<Index>(words.size());
  cache.sentences = nn::Segments::one(n);
  cache.words = words;
  cache.own = golden.at("own").get<std::vector<std::int32_t>>();
  cache.pairs = golden.at("pairs").get<std::vector<std::int32_t>>();
  cache.shapes = golden.at("shapes").get<std::vector<std::uint32_t>>();
  for (const auto& spelling : golden.at("spellings")) {
    cache.spellings.push_back(cache.spelled.count());
    cache.spelled.add(static_cast<Index>(spelling.size()));
    for (const auto& letter : spelling) cache.letters.push_back(letter.get<std::int32_t>());
  }
  network.forward(p, cache, {});
  CHECK(nn::test::difference(cache.scores, nn::test::matrix_of(golden.at("scores"))) < 1e-8);
  nn::Gradients<double> g(p);
  const auto gold = golden.at("gold").get<std::vector<Index>>();
  CHECK(network.loss(p, cache, gold, g, {}) ==
        doctest::Approx(golden.at("loss").get<double>()).epsilon(1e-8));
  std::vector<Index> best(words.size());
  network.crf().viterbi(p, cache.scores, cache.sentences, best, {}, cache.crf, {});
  CHECK(best == golden.at("best").get<std::vector<Index>>());

  const auto single = [](nn::View<const double> from) {
    nn::Matrix<float> to(from.rows, from.cols);
    for (Index r = 0; r < from.rows; ++r) {
      for (Index c = 0; c < from.cols; ++c) to(r, c) = static_cast<float>(from(r, c));
    }
    return to;
  };
  const nn::Matrix<float> scores = single(cache.scores), transitions = single(p[network.crf().transitions()]),
                          start = single(p[network.crf().start()]), end = single(p[network.crf().end()]);
  const SpanSums sums = span_sums(scores, transitions, start, end, 40, 1e-9);
  REQUIRE(sums.spans.size() == golden.at("spans").size());
  for (const auto& span : golden.at("spans")) {
    const TokenSpan wanted{span[0].get<std::size_t>(), span[1].get<std::size_t>()};
    const auto at = std::find_if(sums.spans.begin(), sums.spans.end(),
                                 [&](const ScoredSpan& scored) { return scored.span == wanted; });
    REQUIRE(at != sums.spans.end());
    CHECK(at->probability == doctest::Approx(span[2].get<double>()).epsilon(1e-5));
  }
  CHECK(std::is_sorted(sums.spans.begin(), sums.spans.end(), [](const ScoredSpan& a, const ScoredSpan& b) {
    return a.probability > b.probability;
  }));
  for (std::size_t i = 0; i < words.size(); ++i) {
    CHECK(sums.inside[i] == doctest::Approx(golden.at("inside")[i].get<double>()).epsilon(1e-5));
  }
  // Limits leave out, and change nothing else.
  const SpanSums few = span_sums(scores, transitions, start, end, 2, 0.05);
  std::size_t expected = 0;
  for (const ScoredSpan& span : sums.spans) {
    expected += span.span.last - span.span.first <= 2 && span.probability >= 0.05 ? 1 : 0;
  }
  CHECK(few.spans.size() == expected);
  CHECK(span_sums({}, transitions, start, end, 2, 0.05).spans.empty());
}

TEST_CASE("the network's gradients, with dropout on, are the differences of its values") {
  nn::Parameters<double> p;
  MentionConfig config = small_config();
  config.layers = 2;
  config.hidden = 2;
  const MentionNetwork<double> network(p, config);
  network.initialise(p, 3);
  MentionNetwork<double>::Cache cache;
  cache.sentences.add(4);
  cache.sentences.add(1);
  cache.sentences.add(3);
  cache.words = {8, 9, 0, 10, 4, 11, 0, 8};
  cache.own = {0, 4, 0, 1, 4, 2, 0, 0};
  cache.pairs = {0, 1, 1, 2, 2, 3, 3, 6, 5, 5, 4, 1, 1, 0, 0, 2};
  cache.shapes = {1, 3, 1023, 0, 64, 8, 512, 5};
  cache.spellings = {0, 1, 2, 0, 3, 1, 2, 0};
  for (const Index length : {3, 1, 5, 2}) cache.spelled.add(length);
  cache.letters = {0, 1, 2, 8, 3, 4, 5, 6, 7, 2, 2};
  const nn::Context context{.training = true, .dropout_key = 5};
  const std::vector<Index> tags{0, 1, 2, 0, 1, 0, 1, 2};
  const auto loss = [&] {
    nn::Gradients<double> unused(p);
    network.forward(p, cache, context);
    return network.loss(p, cache, tags, unused, context);
  };
  nn::Gradients<double> g(p);
  network.forward(p, cache, context);
  network.loss(p, cache, tags, g, context);
  // A transition that is forbidden does not learn.
  CHECK(g[network.crf().transitions()](tag_outside, tag_inside) == 0);
  nn::test::check_by_differences(p, g, nullptr, nullptr, loss, 1e-5);
  cache.own.clear();
  CHECK_THROWS_AS(network.forward(p, cache, context), std::logic_error);
}

TEST_CASE(
    "training learns in both languages, gives the same model twice, and what is saved is what is loaded") {
  nn::Team team(2);
  const askbase::test::ScratchFolder scratch;
  for (const std::string language : {"en", "zh"}) {
    CAPTURE(language);
    const MentionTraining training = small_training(language);
    const TrainedTagger trained = train_small(language, training, team);
    CHECK(trained.valid_exact > 0.9);
    if (language == "zh") {
      CHECK(bytes_of(trained.model->parameters()) ==
            bytes_of(train_small(language, training, team).model->parameters()));
    }
    REQUIRE(trained.model->save(scratch / language, "# card\n"));
    const auto tagger = MentionTagger::load(scratch / language).value();
    CHECK(tagger->language() == language);
    // Names that were never seen, by what stands around them.
    const std::vector<std::string> unseen =
        language == "zh" ? std::vector<std::string>{"北风谷", "星海湾", "白石桥"}
                         : std::vector<std::string>{"karl vane", "silver moon", "norvik"};
    std::size_t right = 0;
    for (const TaggedQuestion& question : small_questions(language, 60, 9, unseen)) {
      const MentionTags tags = tagger->tag(question.question);
      REQUIRE(!tags.spans.empty());
      const TaggedSpan& best = tags.spans.front();
      right += TokenSpan{best.first, best.last} == question.mention ? 1 : 0;
      float of_first = 0;
      for (const TaggedSpan& span : tags.spans) of_first += span.first == best.first ? span.probability : 0;
      CHECK(of_first <= 1.0001F);
      CHECK(best.probability <= tags.tokens[best.first].inside + 1e-4F);
    }
    CHECK(right >= 30);
  }
}

TEST_CASE("an interrupted training goes on to the same model; bad mentions are refused") {
  nn::Team team(2);
  const std::vector<TaggedQuestion> train = small_questions("en", 80, 1, english_names),
                                    valid = small_questions("en", 20, 2, english_names);
  MentionTraining training = small_training("en");
  training.epochs = 2;
  const auto bytes = [&](const MentionTraining& options) {
    return bytes_of(
        train_mention_tagger(train, valid, small_words(), options, team).value().model->parameters());
  };
  const std::string whole = bytes(training);
  const askbase::test::ScratchFolder scratch;
  training.checkpoint = scratch / "checkpoint";
  CHECK(bytes(training) == whole);
  training.resume = true;
  CHECK(bytes(training) == whole);
  training.word_dropout = 0.3;  // another training
  const auto other = train_mention_tagger(train, valid, small_words(), training, team);
  REQUIRE(!other);
  CHECK(other.error().code == base::ErrorCode::invalid_argument);
  for (const TokenSpan& outside : {TokenSpan{0, 9}, TokenSpan{1, 1}}) {
    const auto refused =
        train_mention_tagger({{"who wrote it", outside}}, valid, small_words(), small_training("en"), team);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("who wrote it") != std::string::npos);
  }
}

TEST_CASE(
    "places are in code points and bytes; empty, odd and very long questions are read, by several threads") {
  nn::Team team(2);
  const askbase::test::ScratchFolder scratch;
  REQUIRE(train_small("en", small_training("en"), team).model->save(scratch / "en", "# card\n"));
  const auto tagger = MentionTagger::load(scratch / "en").value();
  const std::string question = "who wrote café “señor” lights?";
  const MentionTags tags = tagger->tag(question, {.least_probability = 0.0F, .max_spans = 1000});
  REQUIRE(!tags.spans.empty());
  for (const TaggedSpan& span : tags.spans) {
    CHECK(base::count_code_points(question.substr(0, span.begin_byte)) == span.begin);
    CHECK(base::count_code_points(text_of(question, span)) == span.end - span.begin);
    CHECK(span.begin == tags.tokens[span.first].begin);
    CHECK(span.end == tags.tokens[span.last - 1].end);
  }
  for (std::size_t i = 1; i < tags.best.size(); ++i) CHECK(tags.best[i - 1].last <= tags.best[i].first);
  CHECK(tagger->tag(question, {.least_probability = 0.0F, .max_spans = 3}).spans.size() == 3);
  CHECK(tagger->tag(question, {.least_probability = 1.5F}).spans.empty());

  CHECK(tagger->tag("").tokens.empty());
  CHECK(tagger->tag("   ").spans.empty());
  CHECK(tagger->tag("\xF0\x9F\xA6\x86").tokens.size() == 1);
  CHECK(tagger->tag("?").tokens.size() == 1);
  CHECK(tagger->tag("Кто написал 戦争と平和 и мир").tokens.size() > 5);
  // Two thousand words, and more than are looked at.
  std::string page;
  for (int i = 0; i < 2000; ++i) page += "who wrote mono ";
  const auto start = std::chrono::steady_clock::now();
  const MentionTags long_tags = tagger->tag(page);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
  CHECK(long_tags.tokens.size() == 6000);
  CHECK(long_tags.spans.size() <= TagOptions().max_spans);
  CHECK(long_tags.tokens[5999].inside == 0);
  CHECK(!tagger->tag(std::string(100000, 'x')).tokens.empty());

  const std::string expected = best_of(*tagger, "who wrote anna berg");
  std::vector<std::string> answers(8);
  std::vector<std::thread> threads;
  for (std::string& answer : answers) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) answer = best_of(*tagger, "who wrote anna berg");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& answer : answers) CHECK(answer == expected);
}

TEST_CASE("folders that do not fit are refused with words") {
  nn::Team team(1);
  const askbase::test::ScratchFolder scratch;
  MentionTraining training = small_training("en");
  training.epochs = 1;
  const auto folder = scratch / "en";
  REQUIRE(train_small("en", training, team).model->save(folder, "# card\n"));
  const std::string config = base::read_file(folder / "config.json").value();
  const auto broken = [&](const char* file, const std::string& content) {
    const std::string before = base::read_file(folder / file).value();
    std::ofstream(folder / file) << content;
    const auto loaded = MentionTagger::load(folder);
    std::ofstream(folder / file) << before;
    return !loaded && !loaded.error().message.empty();
  };
  const auto with = [&](const std::string& name, const std::string& value) {
    nlohmann::json json = nlohmann::json::parse(config);
    json[name] = nlohmann::json::parse(value);
    return json.dump();
  };
  CHECK(!broken("config.json", config));
  CHECK(broken("vocab.txt", "what\n"));
  CHECK(broken("letters.txt", "a\n"));
  CHECK(broken("config.json", "{"));
  CHECK(broken("config.json", R"({"format": 1, "kind": "question-type"})"));
  CHECK(broken("config.json", with("hidden", "13")));
  CHECK(broken("config.json", with("hidden", "1000000000")));
  CHECK(broken("config.json", with("hidden", "-1")));
  CHECK(broken("config.json", with("layers", "2")));
  CHECK(broken("config.json", with("pair_rows", "10")));
  CHECK(broken("config.json", with("own_words", "1000")));
  CHECK(broken("config.json", with("language", "\"fr\"")));
  CHECK(broken("config.json", with("learn_words", "1")));
  CHECK(broken("config.json", with("input_dropout", "1.5")));
  CHECK(broken("config.json", with("filters", "null")));
  CHECK(broken("config.json", with("shapes", "12")));
  CHECK(broken("model.safetensors", "12345678"));
  CHECK(MentionTagger::load(folder).has_value());
  CHECK(!MentionTagger::load(scratch / "nothing"));
}

TEST_CASE("the taggers that ship find names in either casing, known or not") {
  const auto models = askbase::test::source_folder() / "models";
  const auto english = MentionTagger::load(models / "en-tagger");
  REQUIRE(english.has_value());
  std::size_t right = 0;
  const std::vector<std::pair<std::string, std::string>> questions{
      {"who wrote the lost harbour of quillen", "the lost harbour of quillen"},
      {"Who wrote The Lost Harbour of Quillen?", "The Lost Harbour of Quillen"},
      {"where was zorbek tannhausen born?", "zorbek tannhausen"},
      {"Where was Zorbek Tannhausen born?", "Zorbek Tannhausen"},
      {"what is the genre of the album pale rivers", "pale rivers"},
      {"What is the profession of Mirela Dovga?", "Mirela Dovga"},
      {"WHAT IS THE PROFESSION OF MIRELA DOVGA?", "MIRELA DOVGA"},
      {"what language is spoken in estalia", "estalia"}};
  for (const auto& [question, name] : questions) right += best_of(**english, question) == name ? 1 : 0;
  CHECK(right >= questions.size() - 1);
  const auto chinese = MentionTagger::load(models / "zh-tagger");
  REQUIRE(chinese.has_value());
  CHECK(best_of(**chinese, "《北风谷的孩子》的作者是谁？") == "北风谷的孩子");
  CHECK(best_of(**chinese, "请问维尔萨克镇的面积有多大？") == "维尔萨克镇");
  CHECK(best_of(**chinese, "請問維爾薩克鎮的面積有多大？") == "維爾薩克鎮");
  CHECK(best_of(**chinese, "Python语言是谁发明的").starts_with("Python"));
}

TEST_CASE("the taggers that ship are as good on the validation questions as their cards say") {
  const auto data = askbase::test::data_folder();
  if (!data) {
    MESSAGE("skipped: no benchmark data");
    return;
  }
  const auto share = [&](const char* model, const char* file, std::size_t most) {
    const auto tagger = MentionTagger::load(askbase::test::source_folder() / "models" / model).value();
    auto questions = datasets::read_kb_questions({*data / "kbqa" / file}).value();
    questions.resize(std::min(questions.size(), most));
    std::size_t right = 0, all = 0;
    for (const datasets::KbQuestion& question : questions) {
      const std::string name = question.mention.empty() && !question.topic_names.empty()
                                   ? question.topic_names.front()
                                   : question.mention;
      const std::optional<TokenSpan> gold = find_mention(mention_tokens(question.question), name);
      if (!gold) continue;
      ++all;
      const MentionTags tags = tagger->tag(question.question);
      right += !tags.spans.empty() && TokenSpan{tags.spans[0].first, tags.spans[0].last} == *gold ? 1 : 0;
    }
    REQUIRE(all > most / 2);
    return static_cast<double>(right) / static_cast<double>(all);
  };
  CHECK(share("en-tagger", "simplequestions_fb.valid.jsonl.gz", 800) > 0.90);
  CHECK(share("zh-tagger", "kgclue.valid.jsonl.gz", 800) > 0.90);
}

}  // namespace askbase::qa
