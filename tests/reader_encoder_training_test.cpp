// Pre-training an encoder: how pairs and masks are drawn, the losses against PyTorch, and a toy language.
#include <algorithm>
#include <set>

#include "reader/encoder_training.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

using nlohmann::json;
using nn::Index;

// The names go with the places: a masked word can be told from the rest of its sentence.
constexpr const char* kVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n[unused1]\nanna\nben\ncarl\ndora\nrome\nparis\nbonn\noslo\nlives\nin"
    "\nsings\nplay\n##ing\n##s\n.\n";

Vocabulary toy_vocabulary(const std::string& text = kVocabulary) {
  auto vocabulary = Vocabulary::parse(text, "v");
  REQUIRE(vocabulary);
  return std::move(*vocabulary);
}

std::unique_ptr<BertModel> toy_model(std::uint64_t seed, const std::string& text = kVocabulary) {
  Vocabulary vocabulary = toy_vocabulary(text);
  BertConfig config;
  config.vocabulary = static_cast<Index>(vocabulary.size());
  config.hidden = 32;
  config.layers = 2;
  config.heads = 4;
  config.feed_forward = 64;
  config.positions = 40;
  config.dropout = config.attention_dropout = 0.02;
  auto model = std::make_unique<BertModel>(config, WordPiece(std::move(vocabulary)), false);
  model->parameters().initialise(seed);
  return model;
}

// A document speaks of one person and her town: so what follows can be told, and a masked word.
std::vector<std::string> toy_texts(std::uint64_t seed, std::size_t count) {
  const char* const people[] = {"Anna", "Ben", "Carl", "Dora"};
  const char* const places[] = {"Rome", "Paris", "Bonn", "Oslo"};
  nn::Random random(seed);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = random.below(4);
    std::string text;
    for (int s = 0; s < 8; ++s) {
      text +=
          std::string(people[k]) + (random.below(2) == 0 ? " lives in " : " sings in ") + places[k] + ". ";
    }
    texts.push_back(text);
  }
  return texts;
}

EncoderTraining toy_training() {
  EncoderTraining training;
  training.epochs = 6;
  training.batch = 16;
  training.max_length = 24;
  training.rate = 4e-3;
  training.warmup_share = 0.1;
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

double figure(const nn::Evaluation& evaluation, const std::string& name) {
  for (const auto& [key, value] : evaluation.values) {
    if (key == name) return value;
  }
  FAIL(name);
  return 0;
}

// Documents of `sentences` sentences of the sizes 1 to `longest`; no piece id comes twice in all of them, so
// that a run tells where it is from.
std::vector<PieceDocument> numbered_documents(std::size_t count, std::size_t sentences, std::size_t longest) {
  nn::Random random(5);
  std::vector<PieceDocument> documents(count);
  std::int32_t id = 0;
  for (PieceDocument& document : documents) {
    for (std::size_t s = 0; s < sentences; ++s) {
      for (std::size_t size = 1 + random.below(longest); size > 0; --size) document.ids.push_back(id++);
      document.ends.push_back(document.ids.size());
    }
  }
  return documents;
}

}  // namespace

TEST_SUITE("reader_encoder_training") {
  TEST_CASE("texts are divided at blank lines, documents into sentences; what holds nothing is left out") {
    const std::vector<std::string> texts =
        texts_between_blank_lines("\n a\nb. \n \t\r\n\n\xE3\x80\x80\nc\n\nd");
    CHECK(texts == std::vector<std::string>{" a\nb. \n", "c\n", "d"});
    CHECK(texts_between_blank_lines("").empty());
    CHECK(texts_between_blank_lines(" \n\n").empty());
    const WordPiece tokenizer(toy_vocabulary());
    const std::vector<std::string> two = {"Anna plays. Ben lives in Rome.", "\xE2\x80\x8B", "罗。Oslo"};
    nn::Team team(2);
    const std::vector<PieceDocument> documents = piece_documents(tokenizer, two, team);
    REQUIRE(documents.size() == 2);
    CHECK(documents[0].ends == std::vector<std::size_t>{4, 9});
    CHECK(documents[0].ids == tokenizer.tokenize(two[0]).ids);
    CHECK(documents[1].ends == std::vector<std::size_t>{2, 3});
    CHECK(piece_documents(tokenizer, {}, team).empty());
  }

  TEST_CASE("half of the pairs follow each other; the others come from another document") {
    const std::vector<PieceDocument> documents = numbered_documents(120, 40, 9);
    const std::vector<SentencePair> pairs = sentence_pairs(documents, 32, 7);
    REQUIRE(pairs.size() > 1000);
    std::size_t next = 0, full = 0, at_sentence = 0;
    std::set<std::pair<std::size_t, std::size_t>> read;
    for (const SentencePair& pair : pairs) {
      CHECK(pair.a.size() > 0);
      CHECK(pair.b.size() > 0);
      CHECK(pair.length() <= 32);
      for (const PieceRun& run : {pair.a, pair.b}) CHECK(run.end <= documents[run.document].ids.size());
      CHECK(pair.next == (pair.a.document == pair.b.document));
      if (pair.next) CHECK(pair.a.end <= pair.b.begin);
      next += pair.next;
      full += pair.length() >= 24;
      at_sentence += pair.next && pair.a.end == pair.b.begin;
      for (std::size_t i = pair.a.begin; i < pair.a.end; ++i) read.insert({pair.a.document, i});
    }
    const double share = static_cast<double>(next) / static_cast<double>(pairs.size());
    CHECK(share > 0.42);  // runs of one sentence never have a next
    CHECK(share < 0.52);
    CHECK(full > pairs.size() * 8 / 10);
    CHECK(at_sentence > next / 3);  // not cut
    CHECK(sentence_pairs(documents, 32, 7) == pairs);
    CHECK(sentence_pairs(documents, 32, 8) != pairs);
  }

  TEST_CASE("documents of one sentence, and sentences longer than a pair") {
    const std::vector<PieceDocument> single = numbered_documents(5, 1, 3);
    const std::vector<SentencePair> pairs = sentence_pairs(single, 16, 1);
    REQUIRE(pairs.size() == 5);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      CHECK(!pairs[i].next);
      CHECK(pairs[i].a.document == i);
      CHECK(pairs[i].b.document != i);
    }
    for (const SentencePair& pair : sentence_pairs(numbered_documents(4, 3, 200), 16, 2)) {
      CHECK(pair.length() <= 16);
      CHECK(pair.a.size() > 0);
      CHECK(pair.b.size() > 0);
    }
    CHECK_THROWS_AS(sentence_pairs(numbered_documents(1, 5, 3), 16, 1), std::logic_error);
    CHECK_THROWS_AS(sentence_pairs(single, 4, 1), std::logic_error);
  }

  TEST_CASE("15 % of the pieces are masked: 80 % [MASK], 10 % others, 10 % kept; never a special one") {
    const Vocabulary vocabulary = toy_vocabulary();
    PieceDocument document;
    nn::Random random(3);
    for (int i = 0; i < 400; ++i) {
      document.ids.push_back(i % 10 == 0 ? vocabulary.unknown()
                                         : static_cast<std::int32_t>(6 + random.below(15)));
    }
    document.ends = {400};
    const std::vector<PieceDocument> documents = {document, document};
    const SentencePair pair{{0, 0, 200}, {1, 200, 400}, false};
    const Masker masker(vocabulary, {.most = 1000});
    double masked = 0, same = 0, other = 0, seen = 0;
    std::set<std::int32_t> put_in;
    std::vector<int> times(403, 0);
    for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
      const MaskedInput one = masker.mask(documents, pair, nn::Random(1, epoch));
      REQUIRE(one.places.size() == 54);  // of 360 known pieces
      REQUIRE(one.targets.size() == 54);
      CHECK(std::adjacent_find(one.places.begin(), one.places.end(), std::greater_equal<>()) ==
            one.places.end());
      std::vector<std::int32_t> restored = one.input.ids;
      for (std::size_t k = 0; k < one.places.size(); ++k) {
        const std::int32_t put = one.input.ids[one.places[k]], target = one.targets[k];
        CHECK(target >= 6);
        restored[one.places[k]] = target;
        ++times[one.places[k]];
        ++seen;
        masked += put == vocabulary.mask();
        same += put == target;
        other += put != target && put != vocabulary.mask();
        if (put != vocabulary.mask()) put_in.insert(put);
      }
      // All other ids are as they were.
      Pieces a, b;
      a.ids.assign(document.ids.begin(), document.ids.begin() + 200);
      b.ids.assign(document.ids.begin() + 200, document.ids.end());
      const EncoderInput plain = encode_pair(vocabulary, a, b, 403);
      CHECK(restored == plain.ids);
      CHECK(one.input.types == plain.types);
    }
    CHECK(masked / seen == doctest::Approx(0.8).epsilon(0.02));
    CHECK(same / seen == doctest::Approx(0.1 + 0.1 / 15).epsilon(0.08));
    CHECK(other / seen == doctest::Approx(0.1 * 14 / 15).epsilon(0.08));
    CHECK(put_in.size() == 15);  // every ordinary piece
    CHECK(*put_in.begin() == 6);
    // Everywhere alike: 30 times on average.
    for (std::size_t i = 1; i < 403; ++i) {
      const bool special = i == 201 || i == 402 || (i < 201 ? i - 1 : i - 2) % 10 == 0;
      CHECK(special == (times[i] == 0));
      CHECK(times[i] < 65);
    }
    // The same draw gives the same; another draw, another.
    CHECK(masker.mask(documents, pair, nn::Random(1, 4)).places ==
          masker.mask(documents, pair, nn::Random(1, 4)).places);
    CHECK(masker.mask(documents, pair, nn::Random(1, 4)).places !=
          masker.mask(documents, pair, nn::Random(2, 4)).places);
    CHECK(Masker(vocabulary, {.most = 7}).mask(documents, pair, nn::Random(1)).places.size() == 7);
  }

  TEST_CASE("whole words are masked together; a pair of unknown words has nothing to guess") {
    const Vocabulary vocabulary = toy_vocabulary();
    const WordPiece tokenizer(vocabulary);
    const std::vector<std::string> texts = {"anna playing plays in playings rome playing ben",
                                            "\xF0\x9F\x98\x80 xyz"};
    nn::Team team(1);
    const std::vector<PieceDocument> documents = piece_documents(tokenizer, texts, team);
    const std::size_t size = documents[0].ids.size();
    REQUIRE(size == 13);
    const SentencePair pair{{0, 0, size}, {0, 0, size}, true};
    const Masker masker(vocabulary, {.share = 0.3, .whole_words = true});
    std::size_t together = 0;
    for (std::uint64_t draw = 0; draw < 100; ++draw) {
      const MaskedInput one = masker.mask(documents, pair, nn::Random(9, draw));
      CHECK(one.places.size() <= 8);
      CHECK(one.places.size() >= 6);
      const std::set<std::size_t> places(one.places.begin(), one.places.end());
      std::vector<std::int32_t> ids = one.input.ids;
      for (std::size_t k = 0; k < one.places.size(); ++k) ids[one.places[k]] = one.targets[k];
      for (std::size_t i = 2; i < ids.size(); ++i) {
        if (!vocabulary.continues(ids[i])) continue;
        CHECK(places.contains(i) == places.contains(i - 1));
        together += places.contains(i);
      }
    }
    CHECK(together > 100);
    const SentencePair unknown{{1, 0, 2}, {1, 0, 2}, true};
    CHECK(masker.mask(documents, unknown, nn::Random(1)).places.empty());
    std::string without(kVocabulary);
    without.erase(without.find("[MASK]\n"), 7);
    const Vocabulary bare = toy_vocabulary(without);
    CHECK_THROWS_AS(Masker(bare, {}), std::logic_error);
  }

  TEST_CASE_TEMPLATE("both losses and all gradients are PyTorch's, the tied embeddings' too", T, float,
                     double) {
    std::ifstream in(askbase::test::source_folder() / "tests/golden/reader/pretraining.json");
    REQUIRE(in.good());
    const json expected = json::parse(in);
    const auto config = BertConfig::parse(expected.at("config").dump(), "config.json");
    REQUIRE(config);
    nn::Parameters<T> p;
    const PretrainingNetwork<T> network(p, *config);
    CHECK(static_cast<std::size_t>(p.count()) == expected.at("parameters").size());
    nn::test::set_parameters(p, expected.at("parameters"));
    std::vector<MaskedInput> inputs;
    for (const json& one : expected.at("cases")) {
      MaskedInput input;
      one.at("ids").get_to(input.input.ids);
      one.at("types").get_to(input.input.types);
      one.at("places").get_to(input.places);
      one.at("targets").get_to(input.targets);
      input.next = one.at("next").get<bool>();
      inputs.push_back(input);
    }
    const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-8;
    typename PretrainingNetwork<T>::Scratch scratch;
    nn::Team two(2);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const json& one = expected.at("cases")[i];
      const auto sums = network.loss(p, std::span(inputs).subspan(i, 1), scratch, nullptr, {});
      CHECK(sums.masked_loss == doctest::Approx(one.at("masked_loss").get<double>()).epsilon(tolerance));
      CHECK(sums.next_loss == doctest::Approx(one.at("next_loss").get<double>()).epsilon(tolerance));
      CHECK(sums.masked == inputs[i].places.size());
      CHECK(sums.sequences == 1);
    }
    for (nn::Team* team : {&nn::one_thread(), &two}) {
      nn::Gradients<T> g(p);
      const auto sums = network.loss(p, inputs, scratch, &g, {.team = team, .training = true});
      CHECK(sums.loss == doctest::Approx(expected.at("loss").get<double>()).epsilon(tolerance));
      nn::test::check_gradients(p, g, expected.at("gradients"), tolerance * 10);
    }
  }

  TEST_CASE("gradients by differences, the decoder's and the lookup's share of the words added up") {
    const Vocabulary vocabulary = toy_vocabulary();
    BertConfig config;
    config.vocabulary = static_cast<Index>(vocabulary.size());
    config.hidden = 4;
    config.layers = 1;
    config.heads = 2;
    config.feed_forward = 6;
    config.positions = 12;
    config.dropout = config.attention_dropout = 0;
    nn::Parameters<double> p;
    const PretrainingNetwork<double> network(p, config);
    p.initialise(4);
    for (nn::ParameterId id = 0; id < p.count(); ++id) {  // far from the flat start
      const nn::Matrix<double> noise =
          nn::test::random_matrix<double>(p[id].rows, p[id].cols, static_cast<std::uint64_t>(id) + 1, 0.4);
      for (Index i = 0; i < noise.size(); ++i) p.mutable_view(id).data[i] += noise.data()[i];
    }
    const std::vector<PieceDocument> documents = {{{6, 14, 15, 10, 20}, {5}}, {{7, 16, 15, 6}, {4}}};
    const Masker masker(vocabulary, {.share = 0.4});
    const std::vector<MaskedInput> inputs = {
        masker.mask(documents, {{0, 0, 5}, {1, 0, 4}, false}, nn::Random(1)),
        masker.mask(documents, {{0, 0, 2}, {0, 2, 5}, true}, nn::Random(2))};
    const nn::Context context{.training = true};
    PretrainingNetwork<double>::Scratch scratch;
    nn::Gradients<double> g(p);
    network.loss(p, inputs, scratch, &g, context);
    CHECK(!g.is_sparse(p.find("bert.embeddings.word_embeddings.weight")));
    PretrainingNetwork<double>::Scratch other;
    nn::test::check_by_differences(p, g, nullptr, nullptr,
                                   [&] { return network.loss(p, inputs, other, nullptr, context).loss; });
  }

  TEST_CASE("a toy language is learned") {
    const auto model = toy_model(3);
    const std::vector<std::string> train = toy_texts(1, 100), valid = toy_texts(2, 16);
    EncoderTraining training = toy_training();
    const test::ScratchFolder folder;
    nn::Team team(2);
    const std::vector<float> before = weights_of(*model);
    training.epochs = 1;
    training.rate = 1e-9;
    const auto start = train_encoder(*model, train, valid, training, team);
    REQUIRE_MESSAGE(start, start.error().message);
    CHECK(figure(start->run.best, "masked_loss") == doctest::Approx(std::log(21.0)).epsilon(0.1));
    training = toy_training();
    training.epochs = 20;
    training.rate = 8e-3;
    training.max_length = 36;
    const auto result = train_encoder(*model, train, valid, training, team);
    REQUIRE_MESSAGE(result, result.error().message);
    CHECK(result->documents == 100);
    CHECK(result->valid_documents == 16);
    CHECK(result->pairs > 100);
    CHECK(result->valid_pairs > 20);
    // A masked verb is a coin; the most frequent piece would be right one time in five.
    CHECK(figure(result->run.best, "masked_accuracy") > 0.55);
    CHECK(figure(result->run.best, "masked_loss") < 0.9);
    CHECK(figure(result->run.best, "next_accuracy") > 0.65);
    CHECK(weights_of(*model) != before);
    REQUIRE(model->save(folder / "m", nn::Storage::fp32, "# card\n"));
    const auto read = BertModel::load(folder / "m");
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(weights_of(**read) == weights_of(*model));
  }

  TEST_CASE("a training that is interrupted and resumed ends in the same weights") {
    const std::vector<std::string> train = toy_texts(1, 12), valid = toy_texts(2, 4);
    const test::ScratchFolder folder;
    EncoderTraining training = toy_training();
    training.epochs = 3;
    nn::Team team(1);
    const auto whole = toy_model(3);
    const auto at_once = train_encoder(*whole, train, valid, training, team);
    REQUIRE(at_once);
    // In calls that are each given twice the time of the one before, so that some end in the middle.
    training.checkpoint = folder / "c";
    std::size_t inside = 0, whole_steps = 0;
    for (training.minutes = 1e-6;; training.minutes *= 2) {
      const auto parts = toy_model(3);
      const auto result = train_encoder(*parts, train, valid, training, team);
      REQUIRE_MESSAGE(result, result.error().message);
      training.resume = true;
      if (result->run.stop == nn::StopReason::time) {
        inside += result->run.steps > 0;
        continue;
      }
      whole_steps = static_cast<std::size_t>(result->run.steps);
      CHECK(weights_of(*parts) == weights_of(*whole));
      break;
    }
    CHECK(inside > 0);
    CHECK(whole_steps == static_cast<std::size_t>(at_once->run.steps));
    training.minutes = 0;
    // Other texts and other masks are another training.
    auto refused = train_encoder(*toy_model(3), toy_texts(9, 12), valid, training, team);
    REQUIRE(!refused);
    CHECK(refused.error().code == base::ErrorCode::invalid_argument);
    training.masking.whole_words = true;
    refused = train_encoder(*toy_model(3), train, valid, training, team);
    REQUIRE(!refused);
    CHECK(refused.error().code == base::ErrorCode::invalid_argument);
  }

  TEST_CASE("what cannot be trained on is said, and the model stays as it was") {
    nn::Team team(1);
    const auto model = toy_model(3);
    const std::vector<float> before = weights_of(*model);
    const EncoderTraining training = toy_training();
    const auto refused = [&](BertModel& one, std::vector<std::string> train, std::vector<std::string> valid,
                             const EncoderTraining& options, base::ErrorCode code, const std::string& words) {
      const auto result = train_encoder(one, train, valid, options, team);
      REQUIRE(!result);
      CHECK(result.error().code == code);
      CHECK_MESSAGE(result.error().message.find(words) != std::string::npos, result.error().message);
    };
    const std::vector<std::string> good = toy_texts(1, 4);
    constexpr auto kBad = base::ErrorCode::bad_input, kInvalid = base::ErrorCode::invalid_argument;
    refused(*model, {}, {}, training, kBad, "training: 0 documents");
    refused(*model, {"Anna lives."}, {}, training, kBad, "training: 1 documents");
    refused(*model, {"Anna lives.", " \n"}, {}, training, kBad, "training: 1 documents");
    refused(*model, good, {"Anna lives."}, training, kBad, "validation: 1 documents");
    EncoderTraining longer = training;
    longer.max_length = 41;
    refused(*model, good, {}, longer, kInvalid, "41");
    longer.max_length = 15;
    refused(*model, good, {}, longer, kInvalid, "15");
    CHECK(weights_of(*model) == before);
    std::string without(kVocabulary);
    without.erase(without.find("[MASK]\n"), 7);
    refused(*toy_model(3, without), good, {}, training, kBad, "[MASK]");
    // Two documents of one sentence, and nothing but unknown words, are little, but no mistake.
    REQUIRE(train_encoder(*model, std::vector<std::string>{"Anna lives.", "\xF0\x9F\x98\x80"}, {}, training,
                          team));
    REQUIRE(train_encoder(*model, std::vector<std::string>{"xyz", "uvw"}, {}, training, team));
    for (const float weight : weights_of(*model)) CHECK_MESSAGE(std::isfinite(weight), weight);
  }
}

}  // namespace askbase::reader
