// The encoder for inference against the one that trains; model folders, those that share word embeddings, and
// sentence vectors.
#include <array>

#include "base/file.h"
#include "nn/quantize.h"
#include "reader/inference_encoder.h"
#include "reader/text_encoder.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

using nlohmann::json;
using nn::Index;
using nn::Loops;
using nn::Matrix;
using nn::Numbers;
using nn::View;
using nn::test::difference;

constexpr std::array<Loops, 2> kLoops{Loops::best, Loops::plain};

BertConfig small_config() {
  BertConfig config;
  config.vocabulary = 60;
  config.hidden = 40;
  config.layers = 3;
  config.heads = 4;
  config.feed_forward = 72;
  config.positions = 150;
  return config;
}

// Weights like a trained model's: large enough that attention and activations matter.
void draw(nn::Parameters<float>& p) {
  p.initialise(3);
  for (nn::ParameterId id = 0; id < p.count(); ++id) {
    const View<float> value = p.mutable_view(id);
    nn::Random random(static_cast<std::uint64_t>(id));
    const bool norm = p.name(id).ends_with("LayerNorm.weight");
    for (Index i = 0; i < value.size(); ++i) {
      value.data[i] = static_cast<float>((norm ? 1.0 : 0.0) + (norm ? 0.1 : 0.15) * random.normal());
    }
  }
}

EncoderBatch batch_of(const std::vector<Index>& lengths) {
  nn::Random random(11);
  EncoderBatch batch;
  for (const Index length : lengths) {
    EncoderInput input;
    for (Index i = 0; i < length; ++i) {
      input.ids.push_back(static_cast<std::int32_t>(random.below(60)));
      input.types.push_back(i < length / 2 ? 0 : 1);
    }
    batch.add(input);
  }
  return batch;
}

struct Fixture {
  nn::Parameters<float> p;
  BertEncoder<float> encoder{p, small_config()};
  EncoderBatch batch = batch_of({5, 0, 33, 1, 130, 12});
  Fixture() { draw(p); }
};

// Mean of |a - b| over the mean of |b|.
double relative(View<const float> a, View<const float> b) {
  double off = 0, size = 0;
  for (Index r = 0; r < a.rows; ++r) {
    for (Index c = 0; c < a.cols; ++c) {
      off += std::abs(static_cast<double>(a(r, c)) - static_cast<double>(b(r, c)));
      size += std::abs(static_cast<double>(b(r, c)));
    }
  }
  return off / size;
}

bool says(const base::Error& error, std::string_view part) {
  INFO(error.message);
  return error.message.find(part) != std::string::npos;
}

TEST_SUITE("reader_inference") {
  TEST_CASE(
      "float is the encoder that trains; bfloat16 and int8 are close; threads and neighbours change "
      "nothing") {
    const Fixture f;
    BertEncoder<float>::Cache cache;
    REQUIRE(f.encoder.forward(f.p, f.batch, cache, {}));
    nn::Team three(3);
    for (const Loops loops : kLoops) {
      for (const auto& [numbers, bound] :
           {std::pair(Numbers::f32, 2e-6), std::pair(Numbers::bf16, 0.02), std::pair(Numbers::int8, 0.05)}) {
        const InferenceEncoder encoder(small_config(), f.p, {.numbers = numbers, .loops = loops});
        InferenceEncoder::Workspace workspace, other;
        REQUIRE(encoder.forward(f.batch, workspace));
        CHECK(relative(workspace.output(), cache.output()) < bound);
        if (numbers == Numbers::f32) CHECK(difference(workspace.output(), cache.output()) < 1e-5);
        REQUIRE(encoder.forward(f.batch, other, three));
        // Eigen's and oneDNN's sums may depend on the number of rows.
        const double same = loops == Loops::best && nn::has_inference_kernels() ? 0.0 : bound;
        CHECK(difference(other.output(), workspace.output()) <= same);
        for (Index s = 0; s < f.batch.segments.count(); ++s) {
          const auto begin = f.batch.segments.begin(s), length = f.batch.segments.length(s);
          EncoderBatch alone;
          alone.ids.assign(f.batch.ids.begin() + begin, f.batch.ids.begin() + begin + length);
          alone.types.assign(f.batch.types.begin() + begin, f.batch.types.begin() + begin + length);
          alone.segments.add(length);
          REQUIRE(encoder.forward(alone, other, three));
          CHECK(difference(other.output(), workspace.output().rows_from(begin, length)) <= same);
        }
      }
    }
  }

  TEST_CASE("other activations, one head, one layer") {
    BertConfig config = small_config();
    config.activation = nn::Activation::tanh;
    config.heads = config.layers = 1;
    nn::Parameters<float> p;
    const BertEncoder<float> trained(p, config);
    draw(p);
    const EncoderBatch batch = batch_of({7, 30});
    BertEncoder<float>::Cache cache;
    cache.blocks.resize(1);
    cache.blocks[0].attention.keep_weights = true;
    REQUIRE(trained.forward(p, batch, cache, {}));
    const InferenceEncoder encoder(config, p, {.numbers = Numbers::f32});
    InferenceEncoder::Workspace workspace;
    CHECK_THROWS_AS(workspace.attention(0, 0), std::logic_error);
    workspace.attention_layer = 0;
    REQUIRE(encoder.forward(batch, workspace));
    CHECK(difference(workspace.output(), cache.output()) < 1e-5);
    // Attention on request.
    const nn::MultiHeadAttention<float> attention(config.hidden, 1);
    for (Index s = 0; s < 2; ++s) {
      const Matrix<float> expected =
          attention.weights(cache.blocks[0].attention, batch.segments, batch.segments, s, 0);
      CHECK(difference(workspace.attention(s, 0), expected.view()) < 1e-6);
    }
    CHECK_THROWS_AS(workspace.attention(2, 0), std::logic_error);
    CHECK_THROWS_AS(workspace.attention(0, 1), std::logic_error);
    workspace.attention_layer = 1;
    REQUIRE(encoder.forward(batch, workspace));
    CHECK_THROWS_AS(workspace.attention(0, 0), std::logic_error);
  }

  TEST_CASE("attention of a layer in the middle, kept from several heads and threads") {
    const Fixture f;
    nn::Team three(3);
    const InferenceEncoder encoder(small_config(), f.p, {.numbers = Numbers::int8});
    InferenceEncoder::Workspace with, without;
    with.attention_layer = 1;
    REQUIRE(encoder.forward(f.batch, with, three));
    REQUIRE(encoder.forward(f.batch, without));
    CHECK(difference(with.output(), without.output()) <= (nn::has_inference_kernels() ? 0.0 : 0.05));
    for (const Index s : {0, 2, 3}) {
      for (Index head = 0; head < 4; ++head) {
        const View<const float> weights = with.attention(s, head);
        CHECK(weights.rows == f.batch.segments.length(s));
        for (Index r = 0; r < weights.rows; ++r) {
          double sum = 0;
          for (const float w : weights.row_span(r)) {
            CHECK(w >= 0);
            sum += static_cast<double>(w);
          }
          CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
        }
      }
    }
    CHECK(with.attention(1, 0).rows == 0);  // the empty sequence
    CHECK(difference(with.attention(0, 0), with.attention(0, 1)) > 1e-3);
  }

  TEST_CASE("a pass stops between layers, and the workspace serves the next one") {
    const Fixture f;
    const InferenceEncoder encoder(small_config(), f.p);
    InferenceEncoder::Workspace workspace, fresh;
    for (int most = 0; most <= 4; ++most) {
      int asked = 0;
      CHECK(encoder.forward(f.batch, workspace, nn::one_thread(), [&] { return asked++ == most; }) ==
            (most == 4));
      CHECK(asked == std::min(most + 1, 4));
    }
    REQUIRE(encoder.forward(f.batch, fresh));
    CHECK(difference(fresh.output(), workspace.output()) == 0.0);
    EncoderBatch none;
    CHECK(encoder.forward(none, workspace));
    CHECK(workspace.output().rows == 0);
    none.segments.add(0);
    CHECK(encoder.forward(none, workspace));
    CHECK(workspace.output().rows == 0);
    REQUIRE(encoder.forward(f.batch, workspace));
    CHECK(difference(fresh.output(), workspace.output()) == 0.0);
  }

  TEST_CASE("what does not fit is a programmer error") {
    const Fixture f;
    const InferenceEncoder encoder(small_config(), f.p);
    InferenceEncoder::Workspace workspace;
    const auto run = [&](std::vector<std::int32_t> ids, std::vector<std::int32_t> types) {
      EncoderBatch batch;
      batch.add({.ids = std::move(ids), .types = std::move(types)});
      encoder.forward(batch, workspace);
    };
    CHECK_THROWS_AS(run({60}, {0}), std::logic_error);
    CHECK_THROWS_AS(run({-1}, {0}), std::logic_error);
    CHECK_THROWS_AS(run({1}, {2}), std::logic_error);
    CHECK_THROWS_AS(run({1, 2}, {0}), std::logic_error);
    CHECK_THROWS_AS(run(std::vector<std::int32_t>(151, 1), std::vector<std::int32_t>(151, 0)),
                    std::logic_error);
    BertConfig other = small_config();
    other.feed_forward = 80;
    CHECK_THROWS_AS(InferenceEncoder(other, f.p), std::logic_error);
    const auto words = std::make_shared<const WordTable>(nn::test::random_matrix<float>(59, 40, 1));
    CHECK_THROWS_AS(InferenceEncoder(small_config(), f.p, {}, words), std::logic_error);
  }

  TEST_CASE("word tables: floats as they are, int8 within half a step, and what rounds to them") {
    const Matrix<float> words = nn::test::random_matrix<float>(6, 9, 1);
    const WordTable plain(words), small = WordTable::rounded(words);
    Matrix<float> read(6, 9), close(6, 9);
    for (Index r = 0; r < 6; ++r) {
      plain.read(r, read.row(r));
      small.read(r, close.row(r));
    }
    CHECK(difference(read, words) == 0.0);
    CHECK(difference(close, words) < 0.5 * 4 / 127);
    CHECK(plain.rounds_from(words));
    CHECK(!plain.rounds_from(close));
    CHECK(small.rounds_from(words));
    CHECK(small.rounds_from(close));
    close(5, 8) += 0.1F;
    CHECK(!small.rounds_from(close));
    CHECK(!small.rounds_from(words.view().rows_from(0, 5)));
    CHECK(WordTable::rounded(Matrix<float>(2, 3)).rounds_from(Matrix<float>(2, 3)));
    nn::Int8Rows broken;
    broken.values.resize(2, 3);
    CHECK_THROWS_AS(WordTable(std::move(broken)), std::logic_error);
  }
}

// 60 pieces.
std::string vocabulary_text() {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char c = 'a'; c <= 'z'; ++c) text += std::string(1, c) + "\n##" + c + "\n";
  return text + "the\n.\n?\n";
}

std::unique_ptr<BertModel> small_model(bool head) {
  auto vocabulary = Vocabulary::parse(vocabulary_text(), "v");
  REQUIRE(vocabulary);
  auto model = std::make_unique<BertModel>(small_config(), WordPiece(std::move(*vocabulary)), head);
  draw(model->parameters());
  return model;
}

Matrix<float> encoded(const InferenceEncoder& encoder, const EncoderBatch& batch) {
  InferenceEncoder::Workspace workspace;
  REQUIRE(encoder.forward(batch, workspace));
  Matrix<float> copy(workspace.output().rows, workspace.output().cols);
  std::copy_n(workspace.output().data, copy.size(), copy.data());
  return copy;
}

// A lender and a reader fine-tuned from it with frozen word embeddings.
struct Pair {
  askbase::test::ScratchFolder folder;
  std::unique_ptr<BertModel> base = small_model(false), tuned = small_model(true);
  std::filesystem::path lender = folder / "en-sentence", reader = folder / "en-reader";
  Pair() {
    nn::Parameters<float>& p = tuned->parameters();
    const View<float> words = p.mutable_view(tuned->encoder().word_embeddings());
    std::copy_n(base->parameters()[base->encoder().word_embeddings()].data, words.size(), words.data);
    REQUIRE(base->save(lender, nn::Storage::int8, "# card\n"));
  }
  base::Status save(const std::string& settings = "{}") const {
    const auto loaded = TextEncoder::load(lender);
    REQUIRE_MESSAGE(loaded, loaded.error().message);
    return save_span_reader(reader, *tuned, **loaded,
                            {.lender_name = "en-sentence", .settings = settings, .card = "# reader\n"});
  }
  base::Error problem() const {
    const auto loaded = TextEncoder::load(reader);
    REQUIRE(!loaded);
    return loaded.error();
  }
  void change_config(const std::function<void(json&)>& change) const {
    const auto text = base::read_file(reader / "config.json");
    REQUIRE(text);
    json config = json::parse(*text);
    change(config);
    REQUIRE(base::write_file_atomic(reader / "config.json", config.dump()));
  }
};

TEST_SUITE("reader_text_encoder") {
  TEST_CASE("a folder gives what its weights give, however they are stored and multiplied") {
    const auto model = small_model(true);
    const EncoderBatch batch = batch_of({9, 40});
    const askbase::test::ScratchFolder folder;
    for (const nn::Storage storage : {nn::Storage::fp32, nn::Storage::fp16, nn::Storage::int8}) {
      REQUIRE(model->save(folder / "m", storage, "# card\n"));
      const auto stored = BertModel::load(folder / "m");
      REQUIRE(stored);
      for (const Numbers numbers : {Numbers::f32, Numbers::bf16, Numbers::int8}) {
        const InferenceOptions options{.numbers = numbers};
        const auto loaded = TextEncoder::load(folder / "m", options);
        REQUIRE_MESSAGE(loaded, loaded.error().message);
        const InferenceEncoder same((*stored)->config(), (*stored)->parameters(), options);
        // int8 folders keep their own scales, which are fp16: rounding once more moves some numbers by a
        // step.
        const double bound = storage == nn::Storage::int8 && numbers == Numbers::int8 ? 0.02 : 0.0;
        CHECK(relative(encoded((*loaded)->encoder(), batch), encoded(same, batch)) <= bound);
        REQUIRE((*loaded)->has_span_head());
        const Matrix<float> x = encoded((*loaded)->encoder(), batch);
        Matrix<float> scores(x.rows(), 2), expected(x.rows(), 2);
        (*loaded)->span_scores(x, scores);
        (*stored)->span_head()->forward((*stored)->parameters(), x, expected, {});
        CHECK(difference(scores, expected) < 1e-5);
      }
    }
    CHECK(!TextEncoder::load(folder / "nothing"));
  }

  TEST_CASE("int8 folders: half floats beside the bytes, and words within half a step") {
    const auto model = small_model(false);
    const askbase::test::ScratchFolder folder;
    REQUIRE(model->save(folder / "m", nn::Storage::int8, "# card\n"));
    const auto file = nn::SafetensorsFile::open(folder / "m" / "model.safetensors");
    REQUIRE(file);
    for (const nn::TensorInfo& tensor : file->tensors()) {
      CHECK(tensor.dtype == (tensor.shape.size() == 2 ? nn::Dtype::i8 : nn::Dtype::f16));
    }
    const auto loaded = TextEncoder::load(folder / "m");
    REQUIRE(loaded);
    CHECK((*loaded)->encoder().words()->rounds_from(model->parameters()[model->encoder().word_embeddings()]));
    CHECK(!(*loaded)->has_span_head());
    Matrix<float> x(1, 40), scores(1, 2);
    CHECK_THROWS_AS((*loaded)->span_scores(x, scores), std::logic_error);
  }

  TEST_CASE("a reader shares the word embeddings of the model beside it") {
    const Pair pair;
    REQUIRE(pair.save(R"({"null_threshold": 1.5})"));
    const auto lender = TextEncoder::load(pair.lender);
    REQUIRE(lender);
    const auto shared = TextEncoder::load(pair.reader, {}, *lender);
    REQUIRE_MESSAGE(shared, shared.error().message);
    CHECK((*shared)->encoder().words() == (*lender)->encoder().words());
    CHECK(&(*shared)->tokenizer() == &(*lender)->tokenizer());
    CHECK((*shared)->sha256() != (*lender)->sha256());
    CHECK(json::parse((*shared)->config_text()).at("null_threshold") == 1.5);
    CHECK(!std::filesystem::exists(pair.reader / "vocab.txt"));
    const auto file = nn::SafetensorsFile::open(pair.reader / "model.safetensors");
    REQUIRE(file);
    CHECK(file->find("embeddings.word_embeddings.weight") == nullptr);
    CHECK(file->find("embeddings.word_embeddings.weight.scale") == nullptr);
    // The lender is found by itself, and the reader is the model that was trained.
    const auto alone = TextEncoder::load(pair.reader.string() + "/");
    REQUIRE_MESSAGE(alone, alone.error().message);
    const EncoderBatch batch = batch_of({20, 3});
    const Matrix<float> x = encoded((*shared)->encoder(), batch);
    CHECK(difference(encoded((*alone)->encoder(), batch), x) == 0.0);
    BertEncoder<float>::Cache cache;
    REQUIRE(pair.tuned->encoder().forward(pair.tuned->parameters(), batch, cache, {}));
    CHECK(relative(x, cache.output()) < 0.05);
    // In float the only rounding is that of the stored weights.
    const auto in_float = TextEncoder::load(pair.reader, {.numbers = Numbers::f32}, *lender);
    REQUIRE(in_float);
    CHECK(relative(encoded((*in_float)->encoder(), batch), cache.output()) < 0.05);
  }

  TEST_CASE("a reader refuses embeddings that are not those it was trained with") {
    const Pair pair;
    REQUIRE(pair.save());
    // Other weights in the lender.
    nn::Parameters<float>& p = pair.base->parameters();
    p.mutable_view(p.find("embeddings.LayerNorm.bias")).data[0] += 1;
    REQUIRE(pair.base->save(pair.lender, nn::Storage::int8, "# card\n"));
    CHECK(pair.problem().code == base::ErrorCode::corrupt);
    CHECK(says(pair.problem(),
               "trained with the word embeddings of another version of the model en-sentence (weights"));
    std::filesystem::remove_all(pair.lender);
    CHECK(pair.problem().code == base::ErrorCode::not_found);
    CHECK(says(pair.problem(), "uses the word embeddings of the model en-sentence, which is not at "));
    for (const char* key : {"model", "sha256", "vocabulary_sha256"}) {
      pair.change_config([&](json& config) { config["shares_embeddings"][key] = 3; });
      CHECK(says(pair.problem(), "\"shares_embeddings\" must have"));
    }
    pair.change_config([&](json& config) {
      config["shares_embeddings"] = {{"model", "../x"}, {"sha256", "a"}, {"vocabulary_sha256", "b"}};
    });
    CHECK(says(pair.problem(), "\"shares_embeddings\" must have"));
    pair.change_config([&](json& config) { config["kind"] = "other"; });
    CHECK(pair.problem().code == base::ErrorCode::unsupported);
  }

  TEST_CASE("a vocabulary or sizes of another model are refused, and so are weights that are missing") {
    const Pair pair;
    REQUIRE(pair.save());
    pair.change_config([&](json& config) { config["shares_embeddings"]["vocabulary_sha256"] = "other"; });
    CHECK(says(pair.problem(), "(vocabulary differ)"));
    REQUIRE(pair.save());
    pair.change_config([&](json& config) { config["vocab_size"] = 61; });
    CHECK(says(pair.problem(), "(sizes differ)"));
    REQUIRE(pair.save());
    pair.change_config([&](json& config) { config["num_hidden_layers"] = 4; });
    CHECK(says(pair.problem(), "there is no tensor encoder.layer.3.attention.self.query.weight of 40 x 40"));
    REQUIRE(pair.save());
    pair.change_config([&](json& config) { config["intermediate_size"] = 70; });
    CHECK(says(pair.problem(), "another shape than encoder.layer.0.intermediate.dense.weight of 70 x 40"));
  }

  TEST_CASE("training goes on from a reader as it ships: its weights in floats, with the lender's words") {
    const Pair pair;
    REQUIRE(pair.save());
    const auto model = load_span_reader(pair.reader);
    REQUIRE_MESSAGE(model, model.error().message);
    const auto near = [](View<const float> a, View<const float> b) {
      REQUIRE(a.size() == b.size());
      float most = 0, largest = 0;
      for (nn::Index i = 0; i < a.size(); ++i) {
        most = std::max(most, std::abs(a.data[i] - b.data[i]));
        largest = std::max(largest, std::abs(b.data[i]));
      }
      return largest > 0 && most <= largest / 127;
    };
    const nn::Parameters<float>&now = (*model)->parameters(), &then = pair.tuned->parameters();
    CHECK(near(now[(*model)->encoder().word_embeddings()], then[pair.tuned->encoder().word_embeddings()]));
    REQUIRE((*model)->span_head() != nullptr);
    CHECK(near(now[(*model)->span_head()->weight()], then[pair.tuned->span_head()->weight()]));
    // What goes on without a step can be saved again, sharing the same words.
    const auto lender = TextEncoder::load(pair.lender);
    REQUIRE(lender);
    CHECK(save_span_reader(pair.folder / "again", **model, **lender, {.lender_name = "en-sentence"}));
  }

  TEST_CASE("training does not go on from a reader whose lender is missing or another") {
    const Pair pair;
    REQUIRE(pair.save());
    pair.change_config([&](json& config) { config["shares_embeddings"]["sha256"] = "other"; });
    const auto other = load_span_reader(pair.reader);
    REQUIRE(!other);
    CHECK(says(other.error(), "(weights differ)"));
    REQUIRE(pair.save());
    std::filesystem::remove_all(pair.lender);
    const auto missing = load_span_reader(pair.reader);
    REQUIRE(!missing);
    CHECK(missing.error().code == base::ErrorCode::not_found);
  }

  TEST_CASE("a reader is not saved with word embeddings that were trained on, or as what it is not") {
    const Pair pair;
    nn::Parameters<float>& p = pair.tuned->parameters();
    p.mutable_view(pair.tuned->encoder().word_embeddings()).data[7] += 0.1F;
    const auto saved = pair.save();
    REQUIRE(!saved);
    CHECK(saved.error().code == base::ErrorCode::invalid_argument);
    CHECK(says(saved.error(), "word embeddings are not those of en-sentence"));
    CHECK(!std::filesystem::exists(pair.reader));
    const auto lender = TextEncoder::load(pair.lender);
    REQUIRE(lender);
    CHECK_THROWS_AS((void)save_span_reader(pair.reader, *pair.base, **lender, {.lender_name = "en-sentence"}),
                    std::logic_error);
  }

  TEST_CASE("sentence vectors: length 1, the same alone and in any batch, cut at the longest") {
    const auto model = small_model(false);
    const askbase::test::ScratchFolder folder;
    REQUIRE(model->save(folder / "m", nn::Storage::int8, "# card\n"));
    const auto loaded = TextEncoder::load(folder / "m");
    REQUIRE(loaded);
    const TextEncoder& encoder = **loaded;
    std::string long_text;
    for (int i = 0; i < 5000; ++i) long_text += "the quick ";
    const std::vector<std::string> texts{"the fox", "", "a \xff b", long_text, "Zz?", "the fox"};
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    nn::Team two(2);
    const auto all = encoder.embed(views, two);
    REQUIRE(all);
    CHECK(all->rows() == 6);
    for (Index r = 0; r < 6; ++r) {
      double squares = 0;
      for (const float v : all->view().row_span(r))
        squares += static_cast<double>(v) * static_cast<double>(v);
      CHECK(squares == doctest::Approx(1.0).epsilon(1e-5));
      const auto alone = encoder.embed({&views[static_cast<std::size_t>(r)], 1});
      REQUIRE(alone);
      const double same = nn::has_inference_kernels() ? 0.0 : 0.05;
      CHECK(difference(alone->view(), all->view().rows_from(r, 1)) <= same);
    }
    CHECK(difference(all->view().rows_from(0, 1), all->view().rows_from(5, 1)) <= 1e-6);
    const auto small = encoder.embed(views, two, {}, {.batch = 1});
    REQUIRE(small);
    CHECK(difference(*small, *all) <= (nn::has_inference_kernels() ? 0.0 : 0.05));
    // What lies behind the longest does not count.
    const std::vector<std::string_view> cut{"a b", "a"};
    const auto ends = encoder.embed(cut, two, {}, {.longest = 5});
    REQUIRE(ends);
    CHECK(difference(ends->view().rows_from(0, 1), ends->view().rows_from(1, 1)) > 1e-4);
    const auto same = encoder.embed(cut, two, {}, {.longest = 3});
    REQUIRE(same);
    CHECK(difference(same->view().rows_from(0, 1), same->view().rows_from(1, 1)) == 0.0);
    const auto none = encoder.embed({});
    REQUIRE(none);
    CHECK(none->rows() == 0);
    int asked = 0;
    const auto late = encoder.embed(views, two, [&] { return ++asked > 2; });
    REQUIRE(!late);
    CHECK(late.error().code == base::ErrorCode::timeout);
  }

  TEST_CASE("MiniLM: float is the encoder that trains, and the shipped model is made of it") {
    const auto data = askbase::test::data_folder();
    if (!data) {
      MESSAGE("skipped: ASKBASE_DATA is not there");
      return;
    }
    const auto model = BertModel::import(*data / "models" / "minilm-l6-h384", {.lower_case = true});
    REQUIRE_MESSAGE(model, model.error().message);
    EncoderBatch batch;
    for (const char* text :
         {"That is a happy person", "That is a very happy person", "Today is a sunny day"}) {
      batch.add(encode_one((*model)->tokenizer().vocabulary(), (*model)->tokenizer().tokenize(text), 256));
    }
    BertEncoder<float>::Cache cache;
    REQUIRE((*model)->encoder().forward((*model)->parameters(), batch, cache, {}));
    const InferenceEncoder in_float((*model)->config(), (*model)->parameters(), {.numbers = Numbers::f32});
    CHECK(difference(encoded(in_float, batch).view(), cache.output()) < 1e-5);
    // The shipped model is made of these weights.
    const auto shipped = TextEncoder::load(askbase::test::source_folder() / "models" / "en-sentence");
    REQUIRE(shipped);
    CHECK((*shipped)->encoder().words()->rounds_from(
        (*model)->parameters()[(*model)->encoder().word_embeddings()]));
    CHECK(relative(encoded((*shipped)->encoder(), batch), cache.output()) < 0.08);
  }

  TEST_CASE("the shipped en-sentence: its size, and the published similarities") {
    const std::filesystem::path folder = askbase::test::source_folder() / "models" / "en-sentence";
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
    CHECK(bytes <= 23'000'000);
    for (const Numbers numbers : {Numbers::f32, Numbers::int8}) {
      const auto loaded = TextEncoder::load(folder, {.numbers = numbers});
      REQUIRE_MESSAGE(loaded, loaded.error().message);
      const std::vector<std::string_view> texts{"That is a happy person", "That is a very happy person",
                                                "Today is a sunny day"};
      const auto vectors = (*loaded)->embed(texts);
      REQUIRE(vectors);
      const auto cosine = [&](Index a, Index b) {
        double sum = 0;
        for (Index c = 0; c < vectors->cols(); ++c) {
          sum += static_cast<double>((*vectors)(a, c)) * static_cast<double>((*vectors)(b, c));
        }
        return sum;
      };
      CHECK(std::abs(cosine(0, 1) - 0.943) < 0.01);
      CHECK(std::abs(cosine(0, 2) - 0.257) < 0.02);
    }
  }
}

}  // namespace
}  // namespace askbase::reader
