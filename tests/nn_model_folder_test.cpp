// Model folders: saved and opened in every storage, refused in words, names of other writers.
#include <csignal>
#include <sys/resource.h>

#include "base/file.h"
#include "base/sha256.h"
#include "nn/model_folder.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using askbase::test::ScratchFolder;
using base::ErrorCode;

namespace {

Parameters<float> small_model(std::uint64_t seed) {
  Parameters<float> p;
  p.add("embedding.weight", {7, 5});
  p.add("conv.weight", {4, 3, 2});
  p.add("LayerNorm.weight", {5}, {.initial = Initial::ones});
  p.add("LayerNorm.bias", {5});
  p.initialise(seed);
  return p;
}

double largest_difference(const Parameters<float>& a, const Parameters<float>& b) {
  double worst = 0;
  for (ParameterId id = 0; id < a.count(); ++id) worst = std::max(worst, test::difference(a[id], b[id]));
  return worst;
}

TEST_CASE("model folder: lists of words, and back") {
  const auto words = parse_word_list("ada\n北京\nlovelace", "vocab.txt");
  REQUIRE(words);
  CHECK(*words == std::vector<std::string>{"ada", "北京", "lovelace"});
  CHECK(word_list_text(*words) == "ada\n北京\nlovelace\n");
  CHECK(parse_word_list("", "vocab.txt")->empty());
  CHECK(parse_word_list("a\n\nb\n", "vocab.txt").error().message == "vocab.txt: line 2 is no word");
  CHECK(parse_word_list("a\n\xff\n", "vocab.txt").error().message == "vocab.txt: line 2 is no word");
  CHECK(parse_word_list("a\nb\na\n", "units.txt").error().message == "units.txt: a word comes twice");
}

}  // namespace

TEST_CASE("a model folder: saved, opened and filled in every storage") {
  const ScratchFolder folder;
  const Parameters<float> p = small_model(1);
  for (const auto& [storage, tolerance] : {std::pair(Storage::fp32, 0.0), std::pair(Storage::fp16, 5e-4),
                                           std::pair(Storage::bf16, 4e-3), std::pair(Storage::int8, 4e-3)}) {
    CAPTURE(std::string(storage_name(storage)));
    CHECK(storage_by_name(storage_name(storage)) == storage);
    ModelToSave model{.kind = "question-type",
                      .config = R"({"hidden": 150, "kind": "ignored", "classes": ["人", "place"]})",
                      .files = {{"vocab.txt", "the\n首都\n", true}, {"README.md", "# card\n"}},
                      .storage = storage};
    const auto saved = save_model(folder / "m", model, p);
    REQUIRE_MESSAGE(saved.has_value(), saved.error().message);
    const auto opened = ModelFolder::open(folder / "m", "question-type");
    REQUIRE_MESSAGE(opened.has_value(), opened.error().message);
    CHECK(opened->kind() == "question-type");
    const auto config = nlohmann::json::parse(opened->config());
    CHECK(config["format"] == 1);
    CHECK(config["hidden"] == 150);
    CHECK(config["kind"] == "question-type");
    CHECK(config["vocabulary_sha256"]["vocab.txt"] == base::sha256("the\n首都\n"));
    CHECK(config["vocabulary_sha256"].size() == 1);
    CHECK(*opened->read("vocab.txt") == "the\n首都\n");
    CHECK(*opened->read("README.md") == "# card\n");
    CHECK(opened->read("none").error().code == ErrorCode::not_found);
    Parameters<float> q = small_model(2);
    const auto filled = opened->fill(q);
    REQUIRE_MESSAGE(filled.has_value(), filled.error().message);
    CHECK(largest_difference(p, q) <= tolerance);
    // The old folder is gone, and so is everything that was written beside it.
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  }
  // int8: matrices with scales, vectors as they are; rows for a product in int8.
  const auto opened = ModelFolder::open(folder / "m", "");
  REQUIRE(opened.has_value());
  CHECK(opened->weights().find("conv.weight")->dtype == Dtype::i8);
  CHECK(opened->weights().find("conv.weight")->shape == Shape{4, 3, 2});
  CHECK(opened->weights().find("conv.weight.scale")->shape == Shape{4});
  CHECK(opened->weights().find("LayerNorm.weight")->dtype == Dtype::f32);
  const auto rows = read_int8(opened->weights(), "embedding.weight");
  REQUIRE(rows.has_value());
  CHECK(rows->values.rows() == 7);
  CHECK(static_cast<float>(rows->values(3, 2)) * rows->scales[3] ==
        doctest::Approx(p[0](3, 2)).epsilon(0.02));
  CHECK(read_int8(opened->weights(), "LayerNorm.weight").error().code == ErrorCode::corrupt);
  CHECK(read_int8(opened->weights(), "none").error().code == ErrorCode::not_found);
  // By tensor.
  ModelToSave mixed{.kind = "x", .storage_of = [](const std::string& name) {
                      return name == "embedding.weight" ? Storage::int8 : Storage::fp32;
                    }};
  REQUIRE(save_model(folder / "m", mixed, p));
  Parameters<float> q = small_model(2);
  REQUIRE(ModelFolder::open(folder / "m", "x")->fill(q));
  CHECK(test::difference(p[1], q[1]) == 0.0);
  CHECK(test::difference(p[0], q[0]) > 0.0);
}

TEST_CASE("a model folder is refused where it does not fit, in words") {
  const ScratchFolder folder;
  const Parameters<float> p = small_model(1);
  const ModelToSave model{.kind = "tagger", .files = {{"vocab.txt", "a\n", true}}};
  const std::filesystem::path m = folder / "m";
  REQUIRE(save_model(m, model, p));
  const std::string config = *base::read_file(m / "config.json");
  const auto refused = [&](const std::string& words, ErrorCode code, const std::string& kind = "tagger") {
    const auto opened = ModelFolder::open(m, kind);
    REQUIRE_MESSAGE(!opened.has_value(), words);
    CHECK_MESSAGE(opened.error().code == code, opened.error().message);
    CHECK_MESSAGE(opened.error().message.find(words) != std::string::npos, opened.error().message);
  };
  refused("a model of kind \"tagger\" where one of kind \"reader\" is needed", ErrorCode::unsupported,
          "reader");
  REQUIRE(base::write_file_atomic(m / "vocab.txt", "b\n"));
  refused("not the vocabulary that the model was trained with", ErrorCode::corrupt);
  std::filesystem::remove(m / "vocab.txt");
  refused("vocab.txt", ErrorCode::not_found);
  const auto with_config = [&](const std::string& text) {
    REQUIRE(base::write_file_atomic(m / "config.json", text));
  };
  with_config(R"({"format": 2, "kind": "tagger"})");
  refused("a model of format 2; this program reads format 1", ErrorCode::unsupported);
  with_config(R"({"format": "1", "kind": "tagger"})");
  refused("not a model of askbase", ErrorCode::corrupt);
  with_config(R"({"hidden_size": 384})");
  refused("not a model of askbase", ErrorCode::corrupt);
  with_config("[1]");
  refused("not a model of askbase", ErrorCode::corrupt);
  with_config("{");
  refused("config.json: JSON at line 1", ErrorCode::corrupt);
  with_config(R"({"format": 1, "kind": "tagger", "vocabulary_sha256": {"../m/vocab.txt": "00"}})");
  refused("vocabulary_sha256", ErrorCode::corrupt);
  with_config(R"({"format": 1, "kind": "tagger", "vocabulary_sha256": ["vocab.txt"]})");
  refused("vocabulary_sha256", ErrorCode::corrupt);
  with_config(config);
  REQUIRE(base::write_file_atomic(m / "vocab.txt", "a\n"));
  REQUIRE(ModelFolder::open(m, "tagger").has_value());
  std::filesystem::resize_file(m / "model.safetensors", 100);
  refused("model.safetensors", ErrorCode::corrupt);
  std::filesystem::remove(m / "model.safetensors");
  refused("model.safetensors", ErrorCode::not_found);
  CHECK(ModelFolder::open(folder / "none", "").error().code == ErrorCode::not_found);
}

TEST_CASE("weights that do not fit are listed: missing, extra, of another shape, integers, without scales") {
  const ScratchFolder folder;
  const std::vector<float> values(64, 1.0F);
  const std::vector<std::int64_t> ids(5);
  const std::vector<std::int8_t> bytes(24);
  REQUIRE(write_safetensors(
      folder / "x",
      {tensor_of("embedding.weight", {5, 7}, values.data()), tensor_of("LayerNorm.bias", {5}, ids.data()),
       tensor_of("conv.weight", {4, 3, 2}, bytes.data()), tensor_of("pooler.weight", {2}, values.data())}));
  const auto file = SafetensorsFile::open(folder / "x");
  Parameters<float> p = small_model(1);
  const Parameters<float> before = p;
  const auto filled = fill_parameters(*file, p);
  REQUIRE(!filled.has_value());
  CHECK(filled.error().code == ErrorCode::corrupt);
  for (const char* words :
       {"missing: LayerNorm.weight (5)", "not part of the model: pooler.weight",
        "embedding.weight has the shape (5, 7) where the model has (7, 5)",
        "LayerNorm.bias holds I64, not weights", "conv.weight is int8, but conv.weight.scale is missing"}) {
    CHECK_MESSAGE(filled.error().message.find(words) != std::string::npos, filled.error().message);
  }
  CHECK(largest_difference(p, before) == 0.0);
  // A scale below zero.
  const std::vector<float> scales{1, 1, -1, 1};
  REQUIRE(write_safetensors(folder / "y", {tensor_of("conv.weight", {4, 3, 2}, bytes.data()),
                                           tensor_of("conv.weight.scale", {4}, scales.data())}));
  FillOptions options;
  options.optional = {"embedding.", "LayerNorm."};
  const auto negative = fill_parameters(*SafetensorsFile::open(folder / "y"), p, options);
  REQUIRE(!negative.has_value());
  CHECK(negative.error().message.find("a scale is negative") != std::string::npos);
  // Many: the list is cut.
  Parameters<float> many;
  for (int i = 0; i < 30; ++i) many.add("p" + std::to_string(i), {1});
  CHECK(fill_parameters(*file, many).error().message.find("and 18 more") != std::string::npos);
}

TEST_CASE("names as Hugging Face writes them") {
  const ScratchFolder folder;
  const Parameters<float> source = small_model(3);
  REQUIRE(write_safetensors(folder / "x", {tensor_of("bert.embedding.weight", {7, 5}, source[0].data),
                                           tensor_of("bert.conv.weight", {4, 3, 2}, source[1].data),
                                           tensor_of("bert.LayerNorm.gamma", {5}, source[2].data),
                                           tensor_of("LayerNorm.beta", {5}, source[3].data),
                                           tensor_of("cls.seq_relationship.weight", {2}, source[0].data)}));
  const auto file = SafetensorsFile::open(folder / "x");
  Parameters<float> p = small_model(4);
  FillOptions options{.prefixes = {"bert."}, .gamma_beta = true};
  CHECK(fill_parameters(*file, p, options).error().message.find("cls.seq_relationship.weight") !=
        std::string::npos);
  options.ignore_extra = true;
  REQUIRE(fill_parameters(*file, p, options).has_value());
  CHECK(largest_difference(p, source) == 0.0);
  options.ignore_extra = false;
  options.rename = [](const std::string& name) { return name.starts_with("cls.") ? std::string() : name; };
  CHECK(fill_parameters(*file, p, options).has_value());
  // With a head of its own that the file lacks; and a name that two tensors claim.
  Parameters<float> with_head = small_model(4);
  with_head.add("qa_outputs.weight", {2, 5});
  CHECK(!fill_parameters(*file, with_head, options).has_value());
  options.optional = {"qa_outputs."};
  CHECK(fill_parameters(*file, with_head, options).has_value());
  options.rename = [](const std::string& name) {
    return name.starts_with("cls.") ? std::string("LayerNorm.bias") : name;
  };
  CHECK(fill_parameters(*file, p, options).error().message.find("are both LayerNorm.bias") !=
        std::string::npos);
}

TEST_CASE("saving a model: what is there stays until the new one is whole") {
  const ScratchFolder folder;
  Parameters<float> p = small_model(1);
  const std::filesystem::path m = folder / "deep" / "m";
  const ModelToSave model{.kind = "x", .files = {{"vocab.txt", "a\n", true}}};
  REQUIRE(save_model(m, model, p));
  const std::string before = *base::read_file(m / "model.safetensors");

  const auto refused = [&](const std::string& words, ErrorCode code, const ModelToSave& other) {
    const auto saved = save_model(m, other, p);
    REQUIRE(!saved.has_value());
    CHECK(saved.error().code == code);
    CHECK_MESSAGE(saved.error().message.find(words) != std::string::npos, saved.error().message);
    CHECK(*base::read_file(m / "model.safetensors") == before);
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "deep"), {}) == 1);
  };
  p.mutable_view(0)(0, 0) = 70000.0F;
  ModelToSave half = model;
  half.storage = Storage::fp16;
  refused("embedding.weight has a weight too large for fp16", ErrorCode::invalid_argument, half);
  p.mutable_view(0)(0, 0) = INFINITY;
  refused("embedding.weight has a weight that is not a number", ErrorCode::invalid_argument, model);
  p.mutable_view(0)(0, 0) = 0.0F;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const rlimit small{static_cast<rlim_t>(before.size() / 2), old.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  refused("model.safetensors", ErrorCode::io, model);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  std::signal(SIGXFSZ, SIG_DFL);

  // Through a link, and with a slash at the end.
  std::filesystem::create_directory_symlink(m, folder / "link");
  REQUIRE(save_model(folder / "link", model, p));
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(*base::read_file(m / "model.safetensors") != before);
  REQUIRE(save_model(m.string() + "/", model, p));

  // A folder with anything else in it is not replaced.
  std::filesystem::create_directory(folder / "home");
  REQUIRE(save_model(folder / "home", model, p));  // empty: fine
  std::filesystem::remove_all(folder / "home");
  std::filesystem::create_directory(folder / "home");
  REQUIRE(base::write_file_atomic(folder / "home" / "letter.txt", "dear"));
  const auto not_replaced = save_model(folder / "home", model, p);
  REQUIRE(!not_replaced.has_value());
  CHECK(not_replaced.error().code == ErrorCode::invalid_argument);
  CHECK(*base::read_file(folder / "home" / "letter.txt") == "dear");
  CHECK(save_model(folder / "home" / "letter.txt", model, p).error().message.find("letter.txt") !=
        std::string::npos);
  CHECK_THROWS_AS((void)save_model(m, {.kind = "x", .files = {{"../x", ""}}}, p), std::logic_error);
  CHECK_THROWS_AS((void)save_model(m, {.kind = "x", .config = "[]"}, p), std::logic_error);
}

TEST_CASE("the MiniLM weights load") {
  const auto data = askbase::test::data_folder();
  if (!data || !std::filesystem::exists(*data / "models/minilm-l6-h384")) {
    MESSAGE("skipped: no benchmark data (ASKBASE_DATA)");
    return;
  }
  const auto file = SafetensorsFile::open(*data / "models/minilm-l6-h384/model.fp16.safetensors");
  REQUIRE_MESSAGE(file.has_value(), file.error().message);
  CHECK(file->tensors().size() == 104);
  CHECK(file->metadata("format") == "pt");
  std::uint64_t numbers = 0;
  Parameters<float> p;
  for (const TensorInfo& info : file->tensors()) {
    if (info.dtype != Dtype::f16) continue;
    numbers += info.count();
    p.add(info.name, info.shape);
  }
  CHECK(numbers == 22713216);
  FillOptions options;
  options.ignore_extra = true;  // embeddings.position_ids
  const auto filled = fill_parameters(*file, p, options);
  REQUIRE_MESSAGE(filled.has_value(), filled.error().message);
  const View<const float> norm = p[p.find("embeddings.LayerNorm.weight")];
  double sum = 0;
  for (Index i = 0; i < norm.cols; ++i) sum += norm(0, i);
  CHECK(sum / 384 > 0.3);
  CHECK(sum / 384 < 3.0);
}

}  // namespace askbase::nn
