// The BERT encoder against a second implementation over PyTorch, and its gradients against differences.
#include "base/file.h"
#include "nn/model_folder.h"
#include "nn/safetensors.h"
#include "reader/bert_encoder.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

using nlohmann::json;
using nn::Index;
using nn::Matrix;
using nn::test::difference;
using nn::test::matrix_of;

json golden(const char* part) {
  std::ifstream in(askbase::test::source_folder() / "tests/golden/reader/encoder.json");
  REQUIRE(in.good());
  return json::parse(in).at(part);
}

BertConfig config_of(const json& object) {
  auto config = BertConfig::parse(object.dump(), "config.json");
  REQUIRE(config);
  config->dropout = config->attention_dropout = 0;
  return *config;
}

using Numbers = std::vector<std::vector<std::int32_t>>;

EncoderBatch batch_of(const Numbers& ids, const Numbers& types) {
  EncoderBatch batch;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EncoderInput input;
    input.ids = ids[i];
    input.types = types[i];
    batch.add(input);
  }
  return batch;
}

json tiny_config() {
  return {{"vocab_size", 9},          {"hidden_size", 8},        {"num_hidden_layers", 2},
          {"num_attention_heads", 2}, {"intermediate_size", 12}, {"max_position_embeddings", 6},
          {"type_vocab_size", 2}};
}

TEST_SUITE("reader_encoder") {
  TEST_CASE_TEMPLATE("a small encoder and its gradients are PyTorch's, over a ragged batch", T, float,
                     double) {
    const json expected = golden("tiny");
    nn::Parameters<T> p;
    const BertEncoder<T> encoder(p, config_of(expected.at("config")));
    CHECK(static_cast<std::size_t>(p.count()) == expected.at("parameters").size());
    nn::test::set_parameters(p, expected.at("parameters"));
    const auto ids = expected.at("ids").get<Numbers>(), types = expected.at("types").get<Numbers>();
    const EncoderBatch batch = batch_of(ids, types);
    const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-8;
    typename BertEncoder<T>::Cache cache;
    nn::Team three(3);
    for (nn::Team* team : {&nn::one_thread(), &three}) {
      REQUIRE(encoder.forward(p, batch, cache, {.team = team, .training = true}));
      for (std::size_t i = 0; i < cache.outputs.size(); ++i) {
        CHECK(difference(cache.outputs[i], matrix_of<T>(expected.at("layers")[i])) < tolerance);
      }
      nn::Gradients<T> g(p);
      encoder.backward(p, batch, cache, matrix_of<T>(expected.at("dy")), g, {.team = team, .training = true});
      json dense = expected.at("gradients");
      const Matrix<T> words = matrix_of<T>(dense.at("embeddings.word_embeddings.weight"));
      dense.erase("embeddings.word_embeddings.weight");
      nn::test::check_gradients(p, g, dense, tolerance * 10);
      Matrix<T> sparse(words.rows(), words.cols());
      const nn::SparseRows<T>& rows = g.sparse(encoder.word_embeddings());
      for (Index r = 0; r < rows.count(); ++r) {
        std::copy_n(rows.values(r), words.cols(), sparse.row(rows.table_row(r)));
      }
      CHECK(difference(sparse, words) < tolerance * 10);
    }
    // Inference goes through two buffers and gives the same.
    typename BertEncoder<T>::Cache plain;
    REQUIRE(encoder.forward(p, batch, plain, {}));
    CHECK(plain.outputs.size() == 2);
    CHECK(difference(plain.output(), cache.output()) < tolerance);
    // A sequence alone is what it is in the batch.
    const EncoderBatch alone = batch_of({ids[2]}, {types[2]});
    REQUIRE(encoder.forward(p, alone, plain, {}));
    CHECK(difference(plain.output(), cache.output().rows_from(5, 6)) < tolerance);
  }

  TEST_CASE("gradients, dropout on, are the differences of the values") {
    BertConfig config = config_of(tiny_config());
    config.dropout = 0.3;
    config.attention_dropout = 0.2;
    nn::Parameters<double> p;
    const BertEncoder<double> encoder(p, config, "x.", 7);
    p.initialise(3);
    for (nn::ParameterId id = 0; id < p.count(); ++id) {  // weights of 0.02 leave gradients too small to see
      nn::View<double> value = p.mutable_view(id);
      nn::Random random(static_cast<std::uint64_t>(id));
      for (Index i = 0; i < value.size(); ++i) value.data[i] = 0.5 * random.normal();
    }
    const EncoderBatch batch = batch_of({{1, 2, 3}, {4, 1}}, {{0, 1, 1}, {0, 0}});
    const Matrix<double> dy = nn::test::random_matrix<double>(5, 8, 4);
    const nn::Context context{.training = true, .dropout_key = 12};
    BertEncoder<double>::Cache cache;
    const auto loss = [&] {
      encoder.forward(p, batch, cache, context);
      return nn::test::weighted_sum(cache.output(), dy.view());
    };
    nn::Gradients<double> g(p);
    loss();
    encoder.backward(p, batch, cache, dy, g, context);
    nn::test::check_by_differences(p, g, nullptr, nullptr, loss, 2e-6);

    p.set_frozen(encoder.word_embeddings(), true);
    nn::Gradients<double> without(p);
    loss();
    encoder.backward(p, batch, cache, dy, without, context);
    CHECK(!without.wants(encoder.word_embeddings()));
    const nn::ParameterId position = p.find("x.embeddings.position_embeddings.weight");
    CHECK(difference(without[position], g[position]) == 0.0);
  }

  TEST_CASE("a pass stops between layers, and the cache serves the next one") {
    nn::Parameters<float> p;
    const BertEncoder<float> encoder(p, config_of(tiny_config()));
    p.initialise(1);
    const EncoderBatch batch = batch_of({{1, 2, 3}}, {{0, 0, 0}});
    BertEncoder<float>::Cache cache, fresh;
    for (int most = 0; most <= 3; ++most) {
      int asked = 0;
      const bool done = encoder.forward(p, batch, cache, {}, [&] { return asked++ == most; });
      CHECK(done == (most == 3));
      CHECK(asked == std::min(most + 1, 3));
    }
    REQUIRE(encoder.forward(p, batch, fresh, {}));
    CHECK(difference(fresh.output(), cache.output()) == 0.0);
    cache.keep_layers = true;
    REQUIRE(encoder.forward(p, batch, cache, {}));
    CHECK(cache.outputs.size() == 3);
    CHECK(difference(fresh.output(), cache.output()) == 0.0);
    // Nothing to do, and sequences without pieces.
    EncoderBatch none;
    CHECK(encoder.forward(p, none, cache, {}));
    CHECK(cache.output().rows == 0);
    none.segments.add(0);
    none.add({.ids = {1}, .types = {0}});
    CHECK(encoder.forward(p, none, cache, {}));
    Matrix<float> vectors(2, 8);
    sentence_vectors<float>(cache.output(), none.segments, vectors);
    CHECK(vectors(0, 0) == 0.0F);
    double squares = 0;
    for (Index c = 0; c < 8; ++c)
      squares += static_cast<double>(vectors(1, c)) * static_cast<double>(vectors(1, c));
    CHECK(squares == doctest::Approx(1.0));
  }

  TEST_CASE("what does not fit the tables is a programmer error") {
    nn::Parameters<float> p;
    const BertEncoder<float> encoder(p, config_of(tiny_config()));
    BertEncoder<float>::Cache cache;
    const auto run = [&](const Numbers& ids, const Numbers& types) {
      encoder.forward(p, batch_of(ids, types), cache, {});
    };
    CHECK_THROWS_AS(run({{9}}, {{0}}), std::logic_error);
    CHECK_THROWS_AS(run({{-1}}, {{0}}), std::logic_error);
    CHECK_THROWS_AS(run({{1}}, {{2}}), std::logic_error);
    CHECK_THROWS_AS(run({{1, 2}}, {{0}}), std::logic_error);
    CHECK_THROWS_AS(run({{1, 1, 1, 1, 1, 1, 1}}, {{0, 0, 0, 0, 0, 0, 0}}), std::logic_error);
    nn::Gradients<float> g(p);
    const EncoderBatch batch = batch_of({{1}}, {{0}});
    REQUIRE(encoder.forward(p, batch, cache, {}));
    const Matrix<float> dy(1, 8);
    CHECK_THROWS_AS(encoder.backward(p, batch, cache, dy, g, {}), std::logic_error);  // was no training pass
  }

  TEST_CASE("configurations: read, written, refused") {
    const auto message = [](const char* key, const json& value) {
      json config = tiny_config();
      if (value.is_null()) {
        config.erase(key);
      } else {
        config[key] = value;
      }
      const auto read = BertConfig::parse(config.dump(), "c.json");
      return read ? std::string("accepted") : read.error().message;
    };
    json full = tiny_config();
    full["hidden_act"] = "relu";
    full["layer_norm_eps"] = 1e-5;
    full["hidden_dropout_prob"] = 0.25;
    full["attention_probs_dropout_prob"] = 0.0;
    const auto config = BertConfig::parse(full.dump(), "c.json");
    REQUIRE(config);
    CHECK(config->activation == nn::Activation::relu);
    CHECK(config->dropout == 0.25);
    CHECK(config->feed_forward == 12);
    const auto again = BertConfig::parse(config->json(), "c.json");
    REQUIRE(again);
    CHECK(again->json() == config->json());
    CHECK(again->layer_norm_epsilon == 1e-5);

    CHECK(message("vocab_size", nullptr) == "c.json: \"vocab_size\" is missing");
    CHECK(message("hidden_size", 9) == "c.json: hidden_size 9 is no multiple of num_attention_heads 2");
    CHECK(message("num_hidden_layers", 0).find("not a whole number from 1 to 200") != std::string::npos);
    CHECK(message("num_hidden_layers", 2.5).find("not a whole number") != std::string::npos);
    CHECK(message("intermediate_size", -4).find("not a whole number") != std::string::npos);
    CHECK(message("hidden_dropout_prob", 1.0) == "c.json: \"hidden_dropout_prob\" is 1.0, which cannot be");
    CHECK(message("position_embedding_type", "relative_key").find("\"absolute\" only") != std::string::npos);
    CHECK(message("position_embedding_type", "absolute") == "accepted");
    CHECK(message("model_type", "roberta").find("\"bert\" only") != std::string::npos);
    CHECK(message("is_decoder", true).find("false only") != std::string::npos);
    CHECK(message("embedding_size", 4).find("8 only") != std::string::npos);
    CHECK(message("hidden_act", "gelu_new") == "c.json: the activation \"gelu_new\" is not known");
    CHECK(message("hidden_act", 3) == "c.json: the activation 3 is not known");
    CHECK(!BertConfig::parse("[1]", "c.json"));
    CHECK(!BertConfig::parse("{", "c.json"));
    json large = tiny_config();
    large["hidden_size"] = 16384;
    large["intermediate_size"] = 65536;
    large["num_hidden_layers"] = 200;
    const auto refused = BertConfig::parse(large.dump(), "c.json");
    REQUIRE(!refused);
    CHECK(refused.error().code == base::ErrorCode::too_large);
  }

  TEST_CASE("MiniLM: every layer is PyTorch's, and the published similarities come out") {
    const auto data = askbase::test::data_folder();
    if (!data) {
      MESSAGE("skipped: ASKBASE_DATA is not there");
      return;
    }
    const std::filesystem::path folder = *data / "models" / "minilm-l6-h384";
    const auto text = base::read_file(folder / "config.json");
    REQUIRE(text);
    const auto config = BertConfig::parse(*text, "config.json");
    REQUIRE(config);
    const auto words = base::read_file(folder / "vocab.txt");
    REQUIRE(words);
    auto vocabulary = Vocabulary::parse(*words, "vocab.txt");
    REQUIRE(vocabulary);
    const WordPiece tokenizer(std::move(*vocabulary));
    nn::Parameters<float> p;
    const BertEncoder<float> encoder(p, *config);
    const auto file = nn::SafetensorsFile::open(folder / "model.fp16.safetensors");
    REQUIRE(file);
    nn::FillOptions options;
    options.rename = [](const std::string& name) {
      return name.starts_with("pooler.") || name == "embeddings.position_ids" ? std::string() : name;
    };
    const auto filled = nn::fill_parameters(*file, p, options);
    REQUIRE_MESSAGE(filled, filled.error().message);

    const json expected = golden("minilm");
    EncoderBatch batch;
    for (const json& item : expected.at("cases")) {
      const auto texts = item.at("texts").get<std::vector<std::string>>();
      const Pieces first = tokenizer.tokenize(texts[0]);
      const EncoderInput input =
          texts.size() == 1 ? encode_one(tokenizer.vocabulary(), first, 512)
                            : encode_pair(tokenizer.vocabulary(), first, tokenizer.tokenize(texts[1]), 512);
      CHECK(input.ids == item.at("ids").get<std::vector<std::int32_t>>());
      CHECK(input.types == item.at("types").get<std::vector<std::int32_t>>());
      batch.add(input);
    }
    nn::Team team(2);
    BertEncoder<float>::Cache cache;
    cache.keep_layers = true;
    REQUIRE(encoder.forward(p, batch, cache, {.team = &team}));
    double worst = 0, worst_sum = 0;
    for (std::size_t s = 0; s < expected.at("cases").size(); ++s) {
      const json& item = expected.at("cases")[s];
      const auto at = static_cast<Index>(s);
      for (std::size_t layer = 0; layer < cache.outputs.size(); ++layer) {
        const auto rows = std::as_const(cache.outputs[layer])
                              .view()
                              .rows_from(batch.segments.begin(at), batch.segments.length(at));
        worst = std::max(worst, difference(rows.rows_from(0, 1).cols_from(0, 6),
                                           matrix_of<double>(item.at("first")[layer]).view()));
        worst = std::max(worst, difference(rows.rows_from(rows.rows - 1, 1).cols_from(378, 6),
                                           matrix_of<double>(item.at("last")[layer]).view()));
        const auto waves = matrix_of<double>(item.at("waves")[layer]);
        REQUIRE(waves.cols() == rows.rows);
        for (Index r = 0; r < rows.rows; ++r) {
          double sum = 0;
          for (Index c = 0; c < 384; ++c) {
            sum += static_cast<double>(rows(r, c)) * std::cos(static_cast<double>(c + 1));
          }
          worst_sum = std::max(worst_sum, std::abs(sum - waves(0, r)));
        }
      }
    }
    MESSAGE("largest difference of a number ", worst, ", of a sum over a row ", worst_sum);
    CHECK(worst < 1e-4);
    CHECK(worst_sum < 1e-4);
    Matrix<float> vectors(batch.segments.count(), 384);
    sentence_vectors<float>(cache.output(), batch.segments, vectors);
    const auto cosine = [&](Index a, Index b) {
      double sum = 0;
      for (Index c = 0; c < 384; ++c)
        sum += static_cast<double>(vectors(a, c)) * static_cast<double>(vectors(b, c));
      return sum;
    };
    CHECK(cosine(0, 1) == doctest::Approx(expected.at("cosines")[0].get<double>()).epsilon(1e-5));
    CHECK(cosine(0, 2) == doctest::Approx(expected.at("cosines")[1].get<double>()).epsilon(1e-5));
    CHECK(cosine(0, 1) == doctest::Approx(0.943).epsilon(1e-3));
    CHECK(cosine(0, 2) == doctest::Approx(0.257).epsilon(2e-3));
  }
}

}  // namespace
}  // namespace askbase::reader
