// The classifier of question types: its network, its training, its folder, and what the analysis makes of it.
#include <fstream>

#include "base/file.h"
#include "datasets/question_types.h"
#include "nn/softmax.h"
#include "qa/analysis.h"
#include "qa/question_type.h"
#include "qa/question_type_network.h"
#include "qa/question_type_training.h"
#include "tests/nn_support.h"

namespace askbase::qa {

namespace {

using nn::Index;

QuestionTypeConfig small_config() {
  QuestionTypeConfig config;
  config.dimensions = 3;
  config.hidden = 2;
  config.attention = 3;
  config.labels = {"HUM:gr", "HUM:ind", "LOC:city", "NUM:date"};
  return config;
}

// Four kinds of question, told by their words in ways that need more than one of them.
std::vector<TypedText> small_questions(std::size_t count, std::uint64_t seed) {
  const std::vector<std::string> people{"writer", "king", "painter", "singer"},
      places{"city", "river", "country"};
  nn::Random random(seed);
  const auto one_of = [&](const std::vector<std::string>& list) { return list[random.below(list.size())]; };
  std::vector<TypedText> texts;
  for (std::size_t i = 0; i < count; ++i) {
    switch (random.below(4)) {
      case 0:
        texts.push_back({"What " + one_of(people) + " lived in the " + one_of(places) + " ?", "HUM:ind"});
        break;
      case 1:
        texts.push_back({"What " + one_of(places) + " did the " + one_of(people) + " like ?", "LOC:city"});
        break;
      case 2:
        texts.push_back({"When did the " + one_of(people) + " see the " + one_of(places) + " ?", "NUM:date"});
        break;
      default:
        texts.push_back({"Which band of " + one_of(people) + "s played in 1980 ?", "HUM:gr"});
        break;
    }
  }
  return texts;
}

QuestionWords small_words() {
  QuestionWords words;
  words.words = {"what", "when", "which", "writer", "king", "painter", "singer", "city", "river",  "country",
                 "the",  "in",   "lived", "did",    "like", "see",     "band",   "of",   "played", "?"};
  words.dimensions = 8;
  const nn::Matrix<float> vectors =
      nn::test::random_matrix<float>(static_cast<Index>(words.words.size()), 8, 3);
  words.vectors.assign(vectors.data(), vectors.data() + vectors.size());
  return words;
}

QuestionTypeTraining small_training() {
  QuestionTypeTraining training;
  training.epochs = 6;
  training.hidden = 8;
  training.rate = 1e-2;
  training.progress = false;
  return training;
}

std::string bytes_of(const nn::Parameters<float>& p) {
  std::string bytes;
  for (nn::ParameterId id = 0; id < p.count(); ++id) {
    bytes.append(reinterpret_cast<const char*>(p[id].data),
                 static_cast<std::size_t>(p[id].size()) * sizeof(float));
  }
  return bytes;
}

}  // namespace

TEST_CASE("words find their rows: folded, and numbers by their shape") {
  const QuestionVocabulary vocabulary({"who", "café", "'s"});
  CHECK(vocabulary.size() == QuestionVocabulary::special + 3);
  CHECK(vocabulary.row("who") == 8);
  const QuestionVocabulary::Words words =
      vocabulary.words_of("WHO's CAFÉ in 7 77 777 1945 12,500,000 B52 北京?");
  CHECK(words.text.front() == "WHO");
  const std::vector<std::int32_t> start(words.rows.begin(), words.rows.begin() + 10);
  CHECK(start == std::vector<std::int32_t>{8, 10, 9, 0, 1, 2, 3, 4, 5, 6});
  CHECK(vocabulary.words_of("").rows.empty());
  std::string long_text;
  for (int i = 0; i < 1000; ++i) long_text += "who ";
  CHECK(vocabulary.words_of(long_text).rows.size() == QuestionVocabulary::max_words);

  CHECK(QuestionVocabulary::parse(vocabulary.text()).value().words() == vocabulary.words());
  CHECK(!QuestionVocabulary::parse("a\na\n"));
  CHECK(!QuestionVocabulary::parse("a\n\nb\n"));
  CHECK(!QuestionVocabulary::parse("\xff\n"));
}

TEST_CASE("the network's gradients, with dropout on, are the differences of its values") {
  nn::Parameters<double> p;
  const QuestionTypeConfig config = small_config();
  const QuestionTypeNetwork<double> network(p, config, QuestionVocabulary::special + 4);
  p.initialise(3);
  QuestionTypeNetwork<double>::Cache cache;
  const nn::Context context{.training = true, .dropout_key = 5};
  const std::vector<Index> coarse{0, 2, 1}, fine{1, 3, -1};
  nn::Matrix<double> d_coarse(3, 3), d_fine(3, 4);
  const auto loss = [&] {
    cache.segments.clear();
    for (const Index length : {4, 1, 3}) cache.segments.add(length);
    cache.rows = {8, 9, 0, 10, 4, 11, 0, 8};
    network.forward(p, cache, context);
    return nn::cross_entropy<double>(cache.coarse, coarse, d_coarse) +
           nn::cross_entropy<double>(cache.fine, fine, d_fine);
  };
  loss();
  nn::Gradients<double> g(p);
  network.backward(p, cache, d_coarse, d_fine, g, context);
  // Rows with vectors of their own keep them.
  const nn::SparseRows<double>& rows = g.sparse(network.table());
  for (Index i = 0; i < rows.count(); ++i) CHECK(rows.table_row(i) < QuestionVocabulary::special);
  // Differences, for all but the frozen rows.
  for (nn::ParameterId id = 0; id < p.count(); ++id) {
    nn::View<double> value = p.mutable_view(id);
    const Index learned = id == network.table() ? QuestionVocabulary::special * 3 : value.size();
    for (Index i = 0; i < learned; ++i) {
      const double kept = value.data[i];
      value.data[i] = kept + 1e-5;
      const double above = loss();
      value.data[i] = kept - 1e-5;
      const double below = loss();
      value.data[i] = kept;
      double gradient = 0;
      if (g.is_sparse(id)) {
        for (Index r = 0; r < rows.count(); ++r) {
          if (rows.table_row(r) == i / 3) gradient = rows.values(r)[i % 3];
        }
      } else {
        gradient = g[id].data[i];
      }
      CHECK_MESSAGE(std::abs(gradient - (above - below) / 2e-5) < 1e-6, p.name(id));
    }
  }
}

TEST_CASE("training learns, gives the same model twice, and what is saved is what is loaded") {
  const std::vector<TypedText> train = small_questions(400, 1), valid = small_questions(60, 2);
  nn::Team team(2);
  const auto train_once = [&] {
    return train_question_type(train, valid, small_words(), small_training(), team).value();
  };
  const TrainedQuestionType model = train_once();
  CHECK(model.valid_accuracy > 0.95);
  CHECK(bytes_of(model.parameters) == bytes_of(train_once().parameters));

  const askbase::test::ScratchFolder scratch;
  const auto folder = scratch / "model";
  REQUIRE(save_question_type(folder, model, "# card\n"));
  const auto classifier = QuestionTypeClassifier::load(folder).value();
  std::size_t right = 0;
  for (const TypedText& text : small_questions(100, 9)) {
    const QuestionType type = classifier->classify(text.question);
    right += type.coarse == text.coarse() && type.fine == text.fine;
    double sum = 0;
    for (const auto& [word, weight] : type.words) sum += weight;
    CHECK(sum == doctest::Approx(1.0).epsilon(1e-4));
    CHECK(type.coarse_probability > 1.0 / 3);
  }
  CHECK(right > 90);
  // Nothing to read is answered, too.
  CHECK(classifier->classify("").words.empty());
  CHECK(!classifier->classify("").coarse.empty());
  CHECK(!classifier->classify("\xF0\x9F\xA6\x86 \xE4\xB8\xAD").coarse.empty());

  // The linear model takes the same data.
  std::vector<std::string> questions;
  for (const TypedText& text : valid) questions.push_back(text.question);
  const std::vector<std::string> answers = linear_bag_of_words(train, valid, questions, 1, team).value();
  REQUIRE(answers.size() == valid.size());
  std::size_t linear_right = 0;
  for (std::size_t i = 0; i < valid.size(); ++i) linear_right += answers[i] == valid[i].coarse();
  CHECK(linear_right > valid.size() * 8 / 10);
}

TEST_CASE("an interrupted training goes on to the same model") {
  const std::vector<TypedText> train = small_questions(150, 1), valid = small_questions(30, 2);
  nn::Team team(2);
  QuestionTypeTraining training = small_training();
  training.epochs = 4;
  const std::string whole =
      bytes_of(train_question_type(train, valid, small_words(), training, team).value().parameters);
  const askbase::test::ScratchFolder scratch;
  training.checkpoint = scratch / "checkpoint";
  CHECK(bytes_of(train_question_type(train, valid, small_words(), training, team).value().parameters) ==
        whole);
  training.resume = true;  // from the end: nothing is left to do, and nothing changes
  CHECK(bytes_of(train_question_type(train, valid, small_words(), training, team).value().parameters) ==
        whole);
  // Other questions are another training.
  const auto other = train_question_type(small_questions(150, 7), valid, small_words(), training, team);
  REQUIRE(!other);
  CHECK(other.error().code == base::ErrorCode::invalid_argument);
}

TEST_CASE("a type of a validation question that was not learned, and broken folders, are errors with words") {
  nn::Team team(1);
  const auto unknown = train_question_type({{"Who ?", "HUM:ind"}}, {{"Where ?", "LOC:city"}}, small_words(),
                                           small_training(), team);
  REQUIRE(!unknown);
  CHECK(unknown.error().message.find("LOC") != std::string::npos);

  const askbase::test::ScratchFolder scratch;
  QuestionTypeTraining training = small_training();
  training.epochs = 1;
  const TrainedQuestionType model =
      train_question_type(small_questions(30, 1), small_questions(5, 2), small_words(), training, team)
          .value();
  const auto folder = scratch / "model";
  REQUIRE(save_question_type(folder, model, "# card\n"));
  const auto broken = [&](const char* file, const std::string& content) {
    const std::string before = base::read_file(folder / file).value();
    std::ofstream(folder / file) << content;
    const auto loaded = QuestionTypeClassifier::load(folder);
    std::ofstream(folder / file) << before;
    return !loaded && !loaded.error().message.empty();
  };
  CHECK(broken("vocab.txt", "what\n"));
  CHECK(broken("config.json", "{"));
  CHECK(broken("config.json", R"({"format": 1, "kind": "reader"})"));
  CHECK(broken("config.json",
               R"({"format": 1, "kind": "question-type", "dimensions": 8, "hidden": 1000000000})"));
  CHECK(broken(
      "config.json",
      R"({"format": 1, "kind": "question-type", "dimensions": 8, "hidden": 4, "attention": 64, "labels": ["A"]})"));
  CHECK(broken("model.safetensors", "12345678"));
  CHECK(QuestionTypeClassifier::load(folder).has_value());
  CHECK(!QuestionTypeClassifier::load(scratch / "nothing"));
}

TEST_CASE("types become expectations only where the model is sure") {
  const auto type = [](const char* coarse, const char* fine, double sure) {
    return QuestionType{
        .coarse = coarse, .fine = fine, .coarse_probability = sure, .fine_probability = sure, .words = {}};
  };
  CHECK(expected_by(type("HUM", "HUM:ind", 0.95)) == Expect::person);
  CHECK(expected_by(type("HUM", "HUM:gr", 0.95)) == Expect::any);
  CHECK(expected_by(type("LOC", "LOC:city", 0.95)) == Expect::place);
  CHECK(expected_by(type("NUM", "NUM:date", 0.95)) == Expect::time);
  CHECK(expected_by(type("NUM", "NUM:count", 0.95)) == Expect::number);
  CHECK(expected_by(type("ENTY", "ENTY:animal", 0.99)) == Expect::any);
  CHECK(expected_by(type("LOC", "LOC:city", 0.5)) == Expect::any);
  // By the question word first, then by the type.
  Question question = analyse("Who is the mayor of Paris?");
  question.type = type("LOC", "LOC:city", 1.0);
  const Mask none(question.units.size(), 0);
  CHECK(frame_of(question, none).expect == Expect::person);
  question = analyse("What country has Paris as its capital?");
  CHECK(frame_of(question, Mask(question.units.size(), 0)).expect == Expect::any);
  question.type = type("LOC", "LOC:country", 1.0);
  CHECK(frame_of(question, Mask(question.units.size(), 0)).expect == Expect::place);
}

TEST_CASE("the model that ships tells what plain questions want") {
  const auto classifier =
      QuestionTypeClassifier::load(askbase::test::source_folder() / "models/question-type");
  REQUIRE(classifier.has_value());
  const std::vector<std::pair<std::string, std::string>> questions{
      {"Who composed the music of this ballet?", "HUM"},
      {"What city lies on the Spree?", "LOC"},
      {"How many legs does a spider have?", "NUM"},
      {"In what year did the bridge open?", "NUM"},
      {"What does ICU stand for?", "ABBR"},
      {"Why is the sky blue?", "DESC"},
      {"What is the name of the queen's husband?", "HUM"},
      {"Which country borders Portugal?", "LOC"},
      {"What animal is on the flag of Uganda?", "ENTY"}};
  std::size_t right = 0;
  for (const auto& [question, coarse] : questions)
    right += (*classifier)->classify(question).coarse == coarse;
  CHECK(right >= questions.size() - 1);
}

TEST_CASE("the model that ships has the accuracy that its card states") {
  const auto data = askbase::test::data_folder();
  if (!data) {
    MESSAGE("skipped: no benchmark data");
    return;
  }
  const auto classifier =
      QuestionTypeClassifier::load(askbase::test::source_folder() / "models/question-type").value();
  const auto questions =
      datasets::read_typed_questions(*data / "matching/trec-question-type-test.tsv.gz").value();
  REQUIRE(questions.size() == 500);
  std::size_t right = 0;
  for (const auto& question : questions)
    right += classifier->classify(question.question).coarse == question.coarse();
  CHECK(right >= 460);
}

}  // namespace askbase::qa
