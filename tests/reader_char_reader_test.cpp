// The character reader as a whole: folding and features, LAC's files, a toy set learned, the model folder,
// long texts and bad input.
#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "reader/char_reader.h"
#include "reader/char_training.h"
#include "reader/overlap_baseline.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

using nn::Index;

const char* const kLines =
    "甲\n乙\n丙\n丁\n在\n北\n京\n上\n海\n广\n州\n哪\n里\n？\n。\n，\n年\n生\n于\n东\nOOV_NUM\nOOV_ALPHA\nOOV_"
    "HANZ\nOOV\n";

std::unique_ptr<CharModel> toy_model(std::uint64_t seed = 1) {
  auto vocabulary = CharVocabulary::parse(kLines);
  REQUIRE(vocabulary);
  const LexicalSizes sizes{.vocabulary = vocabulary->size(), .dimensions = 8, .hidden = 6, .tags = 3};
  auto model = std::make_unique<CharModel>(*vocabulary, sizes, std::vector<std::uint8_t>{1, 0, 1},
                                           CharNetworkConfig{.width = 16, .hidden = 12, .dropout = 0.1});
  model->network().initialise(model->parameters(), seed);
  return model;
}

CharText text_of(std::string_view text) {
  return char_text(*CharVocabulary::parse(kLines), base::to_code_points(text));
}

std::string text_at(std::string_view text, const ReadSpan& span) {
  const base::OffsetMap offsets(text);
  return std::string(
      text.substr(offsets.byte(span.begin), offsets.byte(span.end) - offsets.byte(span.begin)));
}

// "甲在北京。乙在上海。": who is where.
ReadingSet toy_set(std::uint64_t seed, std::size_t count) {
  const std::vector<std::string> people = {"甲", "乙", "丙", "丁"}, places = {"北京", "上海", "广州", "东海"};
  nn::Random random(seed);
  ReadingSet set;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> who = people, where = places;
    random.shuffle(who);
    random.shuffle(where);
    std::string context;
    for (std::size_t k = 0; k < 3; ++k) context += who[k] + "在" + where[k] + "。";
    for (std::size_t k = 0; k < 3; ++k) {
      set.questions.push_back({who[k] + "在哪里？", i, 5 * k + 2, 5 * k + 4});
    }
    set.contexts.push_back(context);
  }
  return set;
}

double share_right(const TextReader& reader, const ReadingSet& set) {
  const auto workspace = reader.workspace();
  double right = 0;
  for (const ReadingQuestion& question : set.questions) {
    const std::string_view text = set.contexts[question.context];
    const auto readings = reader.read(question.question, {&text, 1}, {}, *workspace, nn::one_thread());
    REQUIRE(readings);
    REQUIRE(readings->size() == 1);
    REQUIRE(!readings->front().spans.empty());
    const ReadSpan& span = readings->front().spans.front();
    right += span.begin == question.begin && span.end == question.end ? 1 : 0;
  }
  return right / static_cast<double>(set.questions.size());
}

// The learned model is made once: several cases look at it.
const std::shared_ptr<const CharReader>& toy_reader() {
  static const std::shared_ptr<const CharReader> reader = [] {
    auto model = toy_model();
    CharTraining training;
    training.epochs = 40;
    training.rate = 0.01;
    training.batch = 400;
    training.ema_decay = 0.9;
    training.progress = false;
    const ReadingSet train = toy_set(3, 60), valid = toy_set(4, 10);
    double measured = 0;
    const auto result = train_char_reader(
        *model, train, valid,
        [&](const std::vector<ReadingGuess>& guesses) {
          double right = 0;
          for (std::size_t i = 0; i < guesses.size(); ++i) {
            const ReadingQuestion& q = valid.questions[i];
            const base::OffsetMap offsets(valid.contexts[q.context]);
            right +=
                guesses[i].answer == valid.contexts[q.context].substr(
                                         offsets.byte(q.begin), offsets.byte(q.end) - offsets.byte(q.begin))
                    ? 1
                    : 0;
          }
          measured = right / static_cast<double>(guesses.size());
          return nn::Evaluation{measured, {{"right", measured}}};
        },
        training, nn::one_thread());
    REQUIRE(result);
    CHECK(result->questions == train.questions.size());
    CHECK(result->run.best.metric > 0.95);
    return std::make_shared<const CharReader>(std::move(model));
  }();
  return reader;
}

// A tensor as PaddlePaddle 1.x writes it.
std::string paddle(const std::vector<std::uint8_t>& shape, const std::vector<float>& values) {
  std::string description = "\x08\x05";
  for (const std::uint8_t n : shape) (description += '\x10') += static_cast<char>(n);  // below 128
  std::string bytes(16, '\0');
  bytes += static_cast<char>(description.size());
  bytes += std::string(3, '\0') + description;
  bytes.append(reinterpret_cast<const char*>(values.data()), 4 * values.size());
  return bytes;
}

TEST_SUITE("reader_char_reader") {
  TEST_CASE("a vocabulary has rows for what it does not list, and is refused when broken") {
    const auto vocabulary = CharVocabulary::parse(kLines);
    REQUIRE(vocabulary);
    CHECK(vocabulary->text() == kLines);
    CHECK(vocabulary->row(U'甲') == 0);
    CHECK(vocabulary->row(U'7') == 20);
    CHECK(vocabulary->row(U'x') == 21);
    CHECK(vocabulary->row(U'龍') == 22);
    CHECK(vocabulary->row(U' ') == 23);
    CHECK(vocabulary->row(0xD800) == 23);
    CHECK(CharVocabulary::parse("a\n").error().code == base::ErrorCode::corrupt);
    CHECK(CharVocabulary::parse("a\na\nOOV\n").error().code == base::ErrorCode::corrupt);
    CHECK(CharVocabulary::parse("a\n\nOOV\n").error().code == base::ErrorCode::corrupt);
    CHECK(CharVocabulary::parse("\xff\nOOV\n").error().code == base::ErrorCode::corrupt);
  }

  TEST_CASE("Simplified and Traditional, widths and cases fold alike, character for character") {
    const CharText a = text_of("臺灣的學校ＡＢＣ１２３"), b = text_of("台湾的学校abc123");
    CHECK(a.folded == b.folded);
    CHECK(a.kinds == b.kinds);
    // Random texts keep their length; sentences cover them and are short.
    nn::Random random(8);
    const std::u32string alphabet = U"網网球a1 ，。！\n\U0001F600\u0301計畫畫乾干「」";
    for (int round = 0; round < 200; ++round) {
      std::u32string text;
      for (std::size_t n = random.below(700); n > 0; --n) text += alphabet[random.below(alphabet.size())];
      if (round % 7 == 0) text.erase(std::remove(text.begin(), text.end(), U'。'), text.end());
      const CharText folded = char_text(*CharVocabulary::parse(kLines), text);
      REQUIRE(folded.size() == text.size());
      REQUIRE(folded.rows.size() == text.size());
      CHECK(folded.sentences.total() == static_cast<Index>(text.size()));
      CHECK(folded.sentences.longest() <= static_cast<Index>(CharText::kLongestSentence));
      for (Index s = 0; s < folded.sentences.count(); ++s) CHECK(folded.sentences.length(s) > 0);
    }
  }

  TEST_CASE("pair features say what a plain search finds") {
    const std::vector<float> rarity(24, 0.5F);
    const std::vector<std::uint8_t> begins = {1, 0};
    nn::Random random(5);
    const std::u32string alphabet = U"甲乙丙丁北京，。";
    for (int round = 0; round < 60; ++round) {
      std::u32string asked, read;
      for (std::size_t n = random.below(8); n > 0; --n) asked += alphabet[random.below(alphabet.size())];
      for (std::size_t n = random.below(40); n > 0; --n) read += alphabet[random.below(alphabet.size())];
      const auto vocabulary = CharVocabulary::parse(kLines);
      CharText question = char_text(*vocabulary, asked), context = char_text(*vocabulary, read);
      context.tags.assign(context.size(), 0);
      nn::Matrix<float> y(static_cast<Index>(read.size()), kPairFeatures);
      pair_features(question, context, {rarity, begins}, y);
      const auto shared = [&](std::size_t begin, std::size_t end) {
        const std::u32string run = context.folded.substr(begin, end - begin);
        return run.find_first_of(U",。") == run.npos && question.folded.find(run) != question.folded.npos;
      };
      for (std::size_t i = 0; i < read.size(); ++i) {
        const float* f = y.row(static_cast<Index>(i));
        for (Index c = 0; c < kPairFeatures; ++c) CHECK((f[c] >= 0 && f[c] <= 1.0001F));
        CHECK(f[0] == (shared(i, i + 1) ? 1.0F : 0.0F));
        CHECK(f[3] == (i + 1 < read.size() && shared(i, i + 2) ? 1.0F : 0.0F));
        CHECK(f[2] == (i > 0 && shared(i - 1, i + 1) ? 1.0F : 0.0F));
        CHECK(f[9] == 1.0F);  // every tag begins a word
        CHECK(f[8] == f[0]);
      }
    }
    nn::Matrix<float> wrong(1, kPairFeatures);
    CharText context = text_of("甲乙");
    context.tags.assign(2, 0);
    CHECK_THROWS_AS(pair_features(text_of("甲"), context, {rarity, begins}, wrong), std::logic_error);
  }

  TEST_CASE("LAC's files are read as they are, and refused when they are not") {
    const askbase::test::ScratchFolder folder;
    const std::filesystem::path weights = folder.path() / "model_baseline";
    std::filesystem::create_directories(weights);
    const auto put = [](const std::filesystem::path& path, const std::string& content) {
      REQUIRE(base::write_file_atomic(path, content));
    };
    CHECK(open_lac(folder.path()).error().code == base::ErrorCode::not_found);
    put(folder.path() / "word.dic", "0\t甲\n1\t乙\n3\tOOV\n");
    put(folder.path() / "tag.dic", "0\tn-B\n1\tn-I\n2\tO\n");
    const auto source = open_lac(folder.path());
    REQUIRE(source);
    CHECK(source->sizes.vocabulary == 4);
    CHECK(source->sizes.tags == 3);
    CHECK(source->word_begins == std::vector<std::uint8_t>{1, 0, 1});
    LexicalSizes sizes = source->sizes;
    sizes.dimensions = 2;
    sizes.hidden = 1;
    nn::Parameters<float> p;
    const LexicalEncoder encoder(p, sizes);
    CHECK(fill_lac(*source, p).error().code == base::ErrorCode::not_found);
    const auto numbers = [](std::size_t n, float first) {
      std::vector<float> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = first + static_cast<float>(i);
      return values;
    };
    put(weights / "word_emb", paddle({4, 2}, numbers(8, 0)));
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t in = 2;
      const std::string n = std::to_string(i);
      const auto first = static_cast<float>(100 * i);
      put(weights / ("fc_" + n + ".w_0"), paddle({in, 3}, numbers(6, first)));
      put(weights / ("fc_" + n + ".b_0"), paddle({3}, numbers(3, first)));
      put(weights / ("gru_" + n + ".b_0"), paddle({1, 3}, numbers(3, 1000)));
      put(weights / ("gru_" + n + ".w_0"), paddle({1, 3}, numbers(3, first + 10)));
    }
    put(weights / "fc_4.w_0", paddle({2, 3}, numbers(6, 0)));
    put(weights / "fc_4.b_0", paddle({3}, numbers(3, 0)));
    put(weights / "crfw", paddle({5, 3}, numbers(15, 0)));
    REQUIRE(fill_lac(*source, p));
    const auto value = [&](const std::string& name, Index r, Index c) {
      return p[p.find("lexical." + name)](r, c);
    };
    CHECK(value("characters.weight", 3, 1) == 7);
    CHECK(value("l0r.input.weight", 2, 1) == 105);  // column 2 of row 1
    CHECK(value("l0r.input.weight", 1, 0) == 101);
    CHECK(value("l1f.input.bias", 0, 2) == 202 + 1002);
    CHECK(value("l1r.gates.weight", 1, 0) == 311);
    CHECK(value("l1r.candidate.weight", 0, 0) == 312);
    CHECK(value("emission.weight", 2, 1) == 5);
    CHECK(value("crf.start_transitions", 0, 1) == 1);
    CHECK(value("crf.end_transitions", 0, 0) == 3);
    CHECK(value("crf.transitions", 1, 2) == 11);
    for (const std::string& broken : {std::string("x"), paddle({3}, numbers(2, 0)),
                                      paddle({2}, numbers(2, 0)), std::string(64, '\x7f')}) {
      put(weights / "fc_4.b_0", broken);
      CHECK(fill_lac(*source, p).error().code == base::ErrorCode::corrupt);
    }
    put(folder.path() / "tag.dic", "1 n\n");
    CHECK(open_lac(folder.path()).error().code == base::ErrorCode::corrupt);
  }

  TEST_CASE("a toy set is learned, and the folder reads as the model did") {
    const auto& reader = toy_reader();
    CHECK(share_right(*reader, toy_set(99, 20)) > 0.95);
    auto model = toy_model(5);
    model->set_calibration({.offset = 0.25, .by_null = 0, .by_rivals = 0.5, .null_threshold = 7});
    const askbase::test::ScratchFolder folder;
    REQUIRE(model->save(folder.path() / "m", "# card\n"));
    const auto loaded = CharReader::load(folder.path() / "m");
    REQUIRE(loaded);
    CHECK((*loaded)->calibration().offset == 0.25);
    CHECK((*loaded)->calibration().null_threshold == 7);
    // What is written is rounded; written again it is the same.
    auto once = CharModel::load(folder.path() / "m");
    REQUIRE(once);
    REQUIRE((*once)->save(folder.path() / "n", "# card\n"));
    CHECK(*base::read_file(folder.path() / "m/model.safetensors") ==
          *base::read_file(folder.path() / "n/model.safetensors"));
    const CharReader direct(std::move(*once));
    const std::string_view text = "甲在北京。乙在上海。";
    const auto a = (*loaded)->workspace(), b = direct.workspace();
    const auto x = (*loaded)->read("乙在哪里？", {&text, 1}, {.top = 5}, *a, nn::one_thread());
    const auto y = direct.read("乙在哪里？", {&text, 1}, {.top = 5}, *b, nn::one_thread());
    REQUIRE(x);
    REQUIRE(y);
    REQUIRE(x->front().spans.size() == y->front().spans.size());
    for (std::size_t i = 0; i < x->front().spans.size(); ++i) {
      CHECK(x->front().spans[i].begin == y->front().spans[i].begin);
      CHECK(x->front().spans[i].score == y->front().spans[i].score);
      CHECK(x->front().spans[i].confidence > 0);
      CHECK(x->front().spans[i].confidence < 1);
    }
    const std::string config = *base::read_file(folder.path() / "m/config.json");
    for (const auto& [from, to] :
         {std::pair("\"hidden\": 12", "\"hidden\": 0"),
          std::pair("\"word_begins\": \"101\"", "\"word_begins\": \"\""),
          std::pair("\"hidden\": 12", "\"hidden\": 13"),
          std::pair("\"calibration_offset\": 0.25", "\"calibration_offset\": \"x\"")}) {
      std::string broken = config;
      REQUIRE(broken.find(from) != broken.npos);
      broken.replace(broken.find(from), std::string(from).size(), to);
      REQUIRE(base::write_file_atomic(folder.path() / "m/config.json", broken));
      CHECK(CharReader::load(folder.path() / "m").error().code == base::ErrorCode::corrupt);
    }
  }

  TEST_CASE("the same seed gives the same weights, and nothing to train on is an error") {
    CharTraining training;
    training.epochs = 2;
    training.batch = 200;
    training.progress = false;
    const ReadingSet set = toy_set(1, 6);
    std::string bytes[2];
    for (std::string& to : bytes) {
      auto model = toy_model();
      REQUIRE(train_char_reader(*model, set, {}, {}, training, nn::one_thread()));
      const nn::View<const float> w = model->parameters()[model->parameters().find("join.weight")];
      to.assign(reinterpret_cast<const char*>(w.data), static_cast<std::size_t>(w.size()) * sizeof(float));
    }
    CHECK(bytes[0] == bytes[1]);
    ReadingSet none = set;
    for (ReadingQuestion& question : none.questions) question.end = question.begin;
    auto model = toy_model();
    CHECK(train_char_reader(*model, none, {}, {}, training, nn::one_thread()).error().code ==
          base::ErrorCode::bad_input);
  }

  TEST_CASE("long texts: the answer is found wherever it stands, in bounded time") {
    const auto& reader = toy_reader();
    const auto workspace = reader->workspace();
    const std::string sentence = "乙在上海。";
    std::string filler;
    for (int i = 0; i < 1500; ++i) filler += i % 3 == 0 ? "东生于年，" : "年年于东。";
    for (const int before : {0, 1, 3, 12}) {  // 7,500 characters each: from 12 on windows are chosen
      std::string text;
      for (int i = 0; i < before; ++i) text += filler;
      const std::size_t place = base::count_code_points(text);
      text += sentence;
      for (int i = before; i < 12; ++i) text += filler;
      const std::string_view view = text;
      const auto readings = reader->read("乙在哪里？", {&view, 1}, {.top = 3}, *workspace, nn::one_thread());
      REQUIRE(readings);
      const std::vector<ReadSpan>& spans = readings->front().spans;
      REQUIRE(!spans.empty());
      CHECK(spans.front().begin == place + 2);
      CHECK(text_at(text, spans.front()) == "上海");
      for (std::size_t i = 1; i < spans.size(); ++i) {
        CHECK((spans[i].begin >= spans[0].end || spans[i].end <= spans[0].begin));
      }
    }
  }

  TEST_CASE("bad input: never an offset outside of the text") {
    const auto& reader = toy_reader();
    const auto workspace = reader->workspace();
    std::string large;
    while (large.size() < 10'000'000) large += "東京生于年、\U0001F600 ";
    std::string endless(3000, 'x'), question(5000, '?');
    for (int i = 0; i < 2000; ++i) question += "哪";
    const std::string nul("甲\0在北京", 12);
    const std::vector<std::string> texts = {"",
                                            " ",
                                            "\n\n\n",
                                            "。",
                                            "\U0001F600\U0001F600\U0001F468\u200D\U0001F469",
                                            "\xff\xfe\x80甲\xe5\x8c",
                                            "שלום עולם مرحبا",
                                            "<p>甲</p><script>",
                                            nul,
                                            endless,
                                            large};
    for (const std::string& text : texts) {
      const std::size_t length = base::count_code_points(text);
      for (const std::string& asked :
           {std::string("甲在哪里？"), std::string(), question, std::string("\xff\x80")}) {
        if (&text == &texts.back() && asked != "甲在哪里？") continue;
        const std::string_view view = text;
        const auto readings = reader->read(asked, {&view, 1}, {.top = 4}, *workspace, nn::one_thread());
        REQUIRE(readings);
        const Reading& reading = readings->front();
        for (const ReadSpan& span : reading.spans) {
          CHECK(span.begin < span.end);
          CHECK(span.end <= length);
          CHECK(std::isfinite(span.score));
        }
        if (base::trim(text).empty()) CHECK(reading.spans.empty());
      }
    }
    const std::string_view several[] = {"甲在北京。", "", "甲在上海。"};
    const auto readings = reader->read("甲在哪里？", several, {}, *workspace, nn::one_thread());
    REQUIRE(readings);
    REQUIRE(readings->size() == 3);
    CHECK((*readings)[1].spans.empty());
    CHECK(std::isinf((*readings)[1].null_odds));
    CHECK(text_at(several[2], (*readings)[2].spans.front()) == "上海");
    const auto stopped =
        reader->read("甲在哪里？", several, {}, *workspace, nn::one_thread(), [] { return true; });
    CHECK(stopped.error().code == base::ErrorCode::timeout);
  }

  TEST_CASE("the shipped zh-reader: its size, and answers in both scripts") {
    const std::filesystem::path folder = askbase::test::source_folder() / "models" / "zh-reader";
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
    CHECK(bytes <= 8'000'000);
    const auto reader = CharReader::load(folder);
    REQUIRE_MESSAGE(reader, reader.error().message);
    const auto workspace = (*reader)->workspace();
    // A made-up town, so that nothing of it was in the training.
    const std::string simplified =
        "石泉镇位于青河北岸，面积约为四十二平方公里。该镇由王志明于1873年建立，最初以出产茶叶闻名。"
        "1921年，石泉大桥建成通车，往来省城的时间由此缩短到三个小时。";
    const std::string traditional = base::to_traditional(simplified);
    for (const auto& [question, part] :
         {std::pair("石泉镇是哪一年建立的？", "1873"), std::pair("石泉镇是由谁建立的？", "王志明"),
          std::pair("石泉大桥什么时候建成通车？", "1921")}) {
      for (const std::string& text : {simplified, traditional}) {
        for (const std::string& asked : {std::string(question), base::to_traditional(question)}) {
          const std::string_view view = text;
          const auto readings = (*reader)->read(asked, {&view, 1}, {.top = 3}, *workspace, nn::one_thread());
          REQUIRE(readings);
          REQUIRE(!readings->front().spans.empty());
          const ReadSpan& best = readings->front().spans.front();
          const std::string answer = base::to_simplified(text_at(text, best));
          CHECK_MESSAGE(answer.find(part) != answer.npos, asked << " " << answer);
          CHECK(best.end - best.begin < 20);
          CHECK(best.confidence > 0.2);
          CHECK(best.confidence < 1);
        }
      }
    }
  }

  TEST_CASE("baselines by overlap alone") {
    const std::string text = "甲生于东海。乙在北京上学，后来去了广州。";
    CHECK(best_sentence("乙在哪里上学？", text) == "乙在北京上学，后来去了广州。");
    CHECK(best_sentence("甲生于哪里？", text) == "甲生于东海。");
    CHECK(nearest_clause("乙后来去了哪里？", "甲生于东海。丁在北京上学。丙在上海上学。后来乙去了，广州。") ==
          "广州。");
    for (const std::string_view odd : {"", " ", "。。。", "\xff", "甲"}) {
      CHECK(best_sentence(odd, text).size() <= text.size());
      CHECK(best_sentence("甲", odd).size() <= odd.size());
      CHECK(nearest_clause(odd, text).size() <= text.size());
      CHECK(nearest_clause("甲", odd).size() <= odd.size());
    }
  }
}

}  // namespace
}  // namespace askbase::reader
