// Training a BERT reader: a toy language is learned, whatever interrupts it; what it writes reads the same.
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/text.h"
#include "reader/bert_reader.h"
#include "reader/span_training.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

constexpr const char* kVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]"
    "\nanna\nben\ncarl\ndora\nlives\nin\nrome\nparis\nbonn\noslo\nwho\nwhere\ndoes\nlive\n?\n.\n##s\n";

std::unique_ptr<BertModel> toy_model(std::uint64_t seed, bool head = true) {
  auto vocabulary = Vocabulary::parse(kVocabulary, "v");
  REQUIRE(vocabulary);
  BertConfig config;
  config.vocabulary = static_cast<nn::Index>(vocabulary->size());
  config.hidden = 32;
  config.layers = 2;
  config.heads = 4;
  config.feed_forward = 64;
  config.positions = 160;
  config.dropout = config.attention_dropout = 0.05;
  auto model = std::make_unique<BertModel>(config, WordPiece(std::move(*vocabulary)), head);
  model->parameters().initialise(seed);
  return model;
}

// "anna lives in rome ." asked for the person and the place; "anna lives ." says nothing about a place.
ReadingSet toy_set(std::uint64_t seed, std::size_t count) {
  nn::Random random(seed);
  ReadingSet set;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const people[] = {"anna", "ben", "carl", "dora"};
    const char* const places[] = {"rome", "paris", "bonn", "oslo"};
    const std::string who = people[random.below(4)], where = places[random.below(4)];
    const bool placed = random.below(3) != 0;
    const std::string context = ". " + who + " lives " + (placed ? "in " + where + " ." : ".");
    set.questions.push_back({"who lives ?", i, 2, 2 + who.size()});
    const std::size_t at = context.find(where);
    set.questions.push_back(
        {"where does " + who + " live ?", i, placed ? at : 0, placed ? at + where.size() : 0});
    set.contexts.push_back(context);
  }
  return set;
}

// The share of answers that are right, abstaining where "no answer" scored better.
ReadingMeasure measure_of(const ReadingSet& set) {
  return [&set](const std::vector<ReadingGuess>& guesses) {
    double right = 0;
    for (std::size_t i = 0; i < guesses.size(); ++i) {
      const ReadingQuestion& question = set.questions[i];
      const std::string answer =
          set.contexts[question.context].substr(question.begin, question.end - question.begin);
      right += (guesses[i].null_odds > 0 ? std::string() : guesses[i].answer) == answer;
    }
    return nn::Evaluation{right / static_cast<double>(guesses.size()), {}};
  };
}

SpanTraining toy_training() {
  SpanTraining training;
  training.epochs = 8;
  training.batch = 16;
  training.max_length = 128;
  training.rate = 4e-3;
  training.ema_decay = 0.9;
  training.freeze_words = false;
  training.precision = nn::Precision::f32;
  training.progress = false;
  return training;
}

std::vector<float> weights_of(const BertModel& model) {
  std::vector<float> all;
  for (nn::ParameterId id = 0; id < model.parameters().count(); ++id) {
    const nn::View<const float> value = model.parameters()[id];
    all.insert(all.end(), value.data, value.data + value.size());
  }
  return all;
}

}  // namespace

TEST_SUITE("reader_training") {
  TEST_CASE("who lives where is learned, and what a text does not say; the written model reads the same") {
    const auto model = toy_model(3);
    const ReadingSet train = toy_set(1, 120), valid = toy_set(2, 20);
    nn::Team team(2);
    const auto result = train_span_reader(*model, train, valid, measure_of(valid), toy_training(), team);
    REQUIRE_MESSAGE(result, result.error().message);
    CHECK(result->questions == 240);
    CHECK(result->left_out == 0);
    CHECK(result->run.best.metric > 0.95);  // "always who" gives about two thirds

    const test::ScratchFolder folder;
    REQUIRE(model->save(folder / "m", nn::Storage::fp32, "# card\n"));
    const auto reader = BertReader::load(folder / "m", {.numbers = nn::Numbers::f32});
    REQUIRE_MESSAGE(reader, reader.error().message);
    const auto workspace = (*reader)->workspace();
    const std::string_view texts[] = {"anna lives in oslo . ben lives in rome .", "",
                                      "dora lives in paris ."};
    const auto readings = (*reader)->read("where does Ben live?", texts, {}, *workspace, team);
    REQUIRE(readings);
    REQUIRE((*readings)[0].spans.size() == 1);
    CHECK((*readings)[0].answered);
    CHECK(texts[0].substr((*readings)[0].spans[0].begin, 4) == "rome");
    CHECK((*readings)[0].spans[0].end == (*readings)[0].spans[0].begin + 4);
    CHECK((*readings)[1].spans.empty());
    CHECK(!(*readings)[2].answered);
    // Beside others or alone, on one thread or two: the same.
    const auto alone =
        (*reader)->read("where does Ben live?", std::span(texts).first(1), {}, *workspace, nn::one_thread());
    CHECK((*alone)[0].null_odds == doctest::Approx((*readings)[0].null_odds));
    // Time over.
    const auto late = (*reader)->read("where?", texts, {}, *workspace, team, [] { return true; });
    REQUIRE(!late);
    CHECK(late.error().code == base::ErrorCode::timeout);
  }

  TEST_CASE("odd texts and questions give offsets inside the text") {
    const auto model = toy_model(4);
    const test::ScratchFolder folder;
    REQUIRE(model->save(folder / "m", nn::Storage::int8, "# card\n"));
    const auto reader = BertReader::load(folder / "m");
    REQUIRE(reader);
    const auto workspace = (*reader)->workspace();
    std::string long_text, words;
    for (int i = 0; i < 3000; ++i) long_text += "anna lives in rome. ";
    for (int i = 0; i < 400; ++i) words += "where ";
    const std::vector<std::string> texts = {"",
                                            " ",
                                            "😀😀",
                                            "שלום עולם anna",
                                            "\xff\xfe anna \x80",
                                            "rome",
                                            long_text,
                                            std::string(300, 'x'),
                                            "罗马 rome 巴黎"};
    for (const std::string& question :
         {std::string(), std::string("where does anna live?"), words, std::string("\xff😀")}) {
      for (const std::string& text : texts) {
        const std::string_view one[] = {text};
        const auto readings = (*reader)->read(question, one, {.top = 4}, *workspace, nn::one_thread());
        REQUIRE(readings);
        const std::size_t size = base::OffsetMap(text).code_points();
        for (const ReadSpan& span : (*readings)[0].spans) {
          CHECK(span.begin < span.end);
          CHECK(span.end <= size);
          CHECK(span.confidence >= 0);
          CHECK(span.confidence <= 1);
        }
      }
    }
  }

  TEST_CASE("a training that is interrupted and resumed ends in the same weights") {
    const ReadingSet train = toy_set(1, 12), valid = toy_set(2, 4);
    const test::ScratchFolder folder;
    SpanTraining training = toy_training();
    training.epochs = 12;
    nn::Team team(1);
    const auto whole = toy_model(3);
    REQUIRE(train_span_reader(*whole, train, valid, measure_of(valid), training, team));
    training.checkpoint = folder / "c";
    std::int64_t steps = 0;
    // Longer and longer, until it ends after some of the steps; each call goes on where the last one ended.
    for (training.minutes = 1e-5; steps == 0; training.minutes *= 2) {
      const auto part = train_span_reader(*toy_model(3), train, valid, measure_of(valid), training, team);
      REQUIRE_MESSAGE(part, part.error().message);
      steps = part->run.steps;
      training.resume = true;
    }
    const auto again = toy_model(3);
    training.minutes = 0;
    training.resume = true;
    const auto second = train_span_reader(*again, train, valid, measure_of(valid), training, team);
    REQUIRE_MESSAGE(second, second.error().message);
    CHECK(weights_of(*again) == weights_of(*whole));
    // Other questions are another training.
    const ReadingSet other = toy_set(9, 12);
    const auto refused = train_span_reader(*toy_model(3), other, valid, measure_of(valid), training, team);
    REQUIRE(!refused);
    CHECK(refused.error().code == base::ErrorCode::invalid_argument);
  }

  TEST_CASE("answers at both ends, in windows of long texts, and those that no piece holds") {
    ReadingSet set;
    std::string text = "rome ";
    for (int i = 0; i < 300; ++i) text += "anna ";
    text += "oslo";
    set.contexts = {text, "\xE2\x80\x8B rome"};  // a character that the tokenizer drops
    set.questions = {{"where ?", 0, 0, 4},
                     {"where ?", 0, text.size() - 4, text.size()},
                     {"where ?", 0, 0, 0},
                     {"where ?", 1, 0, 1},
                     {"where ?", 0, 0, text.size()}};
    const auto model = toy_model(3);
    SpanTraining training = toy_training();
    training.epochs = 1;
    nn::Team team(1);
    const auto result = train_span_reader(*model, set, {}, {}, training, team);
    REQUIRE_MESSAGE(result, result.error().message);
    CHECK(result->questions == 3);
    CHECK(result->left_out == 2);
    set.questions = {{"where ?", 1, 0, 1}};
    CHECK(!train_span_reader(*model, set, {}, {}, training, team));
    training.max_length = 161;  // the model has 160 positions
    const auto longer = train_span_reader(*model, toy_set(1, 1), {}, {}, training, team);
    REQUIRE(!longer);
    CHECK(longer.error().message.find("161") != std::string::npos);
  }

  TEST_CASE("frozen words stay as an int8 file holds them; a span head is added where there is none") {
    auto bare = toy_model(6, false);
    const std::vector<float> before = weights_of(*bare);
    const auto model = with_span_head(std::move(bare), 1);
    REQUIRE(model->span_head() != nullptr);
    const std::vector<float> after = weights_of(*model);
    CHECK(std::equal(before.begin(), before.end(), after.begin()));
    SpanTraining training = toy_training();
    training.epochs = 1;
    training.freeze_words = true;
    nn::Team team(1);
    REQUIRE(train_span_reader(*model, toy_set(1, 8), {}, {}, training, team));
    const nn::View<const float> words = model->parameters()[model->encoder().word_embeddings()];
    const WordTable table = WordTable::rounded(nn::View<const float>(before.data(), words.rows, words.cols));
    CHECK(table.rounds_from(words));
    std::vector<float> row(static_cast<std::size_t>(words.cols));
    double moved = 0;
    for (nn::Index r = 0; r < words.rows; ++r) {
      table.read(r, row.data());
      for (nn::Index c = 0; c < words.cols; ++c)
        moved = std::max(moved, double(std::abs(words(r, c) - row[c])));
    }
    CHECK(moved < 1e-6);
  }
}

}  // namespace askbase::reader
