// Folders of Hugging Face taken over, and model folders of kind "bert-encoder".
#include "base/file.h"
#include "nn/safetensors.h"
#include "reader/bert_model.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

using nlohmann::json;
using nn::test::difference;

constexpr const char* kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##c\n";

json tiny_config() {
  return {{"architectures", {"BertForQuestionAnswering"}},
          {"model_type", "bert"},
          {"vocab_size", 8},
          {"hidden_size", 4},
          {"num_hidden_layers", 1},
          {"num_attention_heads", 2},
          {"intermediate_size", 6},
          {"max_position_embeddings", 10},
          {"type_vocab_size", 2},
          {"hidden_act", "gelu"}};
}

void write(const std::filesystem::path& file, std::string_view text) {
  REQUIRE(base::write_file_atomic(file, text));
}

// What a folder of Hugging Face may look like.
struct Folder {
  std::string prefix = "bert.";
  bool old_norms = true, head = true, pooler = true;
  nn::Dtype dtype = nn::Dtype::f32;
  std::string weights = "model.safetensors";
  std::string without;  // a parameter that is missing
  std::string extra;    // a tensor that nobody knows

  // Returns the weights by our names.
  std::unique_ptr<BertModel> make(const std::filesystem::path& folder) const {
    write(folder / "config.json", tiny_config().dump());
    write(folder / "vocab.txt", kVocabulary);
    auto vocabulary = Vocabulary::parse(kVocabulary, "v");
    REQUIRE(vocabulary);
    const auto config = BertConfig::parse(tiny_config().dump(), "c");
    REQUIRE(config);
    auto model = std::make_unique<BertModel>(*config, WordPiece(std::move(*vocabulary)), head);
    model->parameters().initialise(5);
    nn::Parameters<float>& p = model->parameters();
    const std::vector<float> other(16, 0.5F);
    std::vector<nn::TensorSource> tensors;
    for (nn::ParameterId id = 0; id < p.count(); ++id) {
      const nn::View<float> value = p.mutable_view(id);
      for (nn::Index i = 0; i < value.size(); ++i) {  // numbers that all three kinds hold
        value.data[i] = static_cast<float>((id * 7 + static_cast<int>(i) * 3) % 64 - 32) / 64.0F;
      }
      std::string name = p.name(id);
      if (name == without) continue;
      if (const auto at = name.find("LayerNorm."); old_norms && at != std::string::npos) {
        name = name.substr(0, at + 10) + (name.ends_with("weight") ? "gamma" : "beta");
      }
      if (!name.starts_with("qa_outputs.")) name = prefix + name;
      tensors.push_back(nn::tensor_of(name, p.shape(id), value.data, dtype));
    }
    if (pooler) {
      tensors.push_back(nn::tensor_of(prefix + "pooler.dense.weight", {4, 4}, other.data(), dtype));
      tensors.push_back(nn::tensor_of("cls.predictions.bias", {8}, other.data(), dtype));
    }
    if (!extra.empty()) tensors.push_back(nn::tensor_of(extra, {2}, other.data(), dtype));
    REQUIRE(nn::write_safetensors(folder / weights, std::move(tensors)));
    return model;
  }
};

void check_equal(const BertModel& a, const BertModel& b, double tolerance = 0) {
  REQUIRE(a.parameters().count() == b.parameters().count());
  for (nn::ParameterId id = 0; id < a.parameters().count(); ++id) {
    CHECK(a.parameters().name(id) == b.parameters().name(id));
    CHECK(difference(a.parameters()[id], b.parameters()[id]) <= tolerance);
  }
}

std::string problem(const std::filesystem::path& folder,
                    const ImportOptions& options = {.lower_case = true}) {
  const auto model = BertModel::import(folder, options);
  return model ? std::string("imported") : model.error().message + " | " + model.error().hint;
}

bool says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_SUITE("reader_model") {
  TEST_CASE("folders of Hugging Face: prefixes, gamma and beta, fp32, fp16, bf16, with a head or without") {
    for (const nn::Dtype dtype : {nn::Dtype::f32, nn::Dtype::f16, nn::Dtype::bf16}) {
      for (const bool plain : {false, true}) {
        const askbase::test::ScratchFolder folder;
        Folder form;
        form.dtype = dtype;
        if (plain) {
          form.prefix = "";
          form.old_norms = form.head = form.pooler = false;
          form.weights = "model.fp16.safetensors";
        }
        const auto expected = form.make(folder.path());
        const auto model = BertModel::import(folder.path(), {.lower_case = true});
        REQUIRE_MESSAGE(model, model.error().message);
        check_equal(**model, *expected);
        CHECK(((*model)->span_head() != nullptr) == !plain);
        CHECK((*model)->left_out().size() == (plain ? 0 : 2));
      }
    }
  }

  TEST_CASE("a saved model is the model") {
    const askbase::test::ScratchFolder folder, out;
    const auto made = Folder().make(folder.path());
    write(folder / "tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": null})");
    const auto model = BertModel::import(folder.path());
    REQUIRE_MESSAGE(model, model.error().message);
    CHECK(!(*model)->tokenizer().options().lower_case);
    CHECK(!(*model)->tokenizer().options().strip_accents);
    for (const nn::Storage storage : {nn::Storage::fp32, nn::Storage::fp16, nn::Storage::int8}) {
      REQUIRE((*model)->save(out / "m", storage, "# card\n"));
      const auto again = BertModel::load(out / "m");
      REQUIRE_MESSAGE(again, again.error().message);
      check_equal(**again, *made, storage == nn::Storage::int8 ? 3e-3 : 0.0);
      CHECK((*again)->config().json() == (*model)->config().json());
      CHECK(!(*again)->tokenizer().options().lower_case);
      CHECK((*again)->span_head() != nullptr);
    }
    // A vocabulary from elsewhere.
    write(out.path() / "m" / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##d\n");
    const auto broken = BertModel::load(out / "m");
    REQUIRE(!broken);
    CHECK(says(broken.error().message, "not the vocabulary that the model was trained with"));
  }

  TEST_CASE("casing: from the folder, or asked for, never guessed") {
    const askbase::test::ScratchFolder folder;
    Folder().make(folder.path());
    CHECK(says(problem(folder.path(), {}), "cased or uncased | give --casing"));
    write(folder / "tokenizer.json", R"({"normalizer": {"type": "BertNormalizer", "lowercase": true}})");
    const auto model = BertModel::import(folder.path());
    REQUIRE(model);
    CHECK((*model)->tokenizer().options().lower_case);
    CHECK((*model)->tokenizer().options().strip_accents);
    CHECK(says(problem(folder.path(), {.lower_case = false}), "its tokenizer is uncased"));
    write(folder / "tokenizer_config.json", "[");
    CHECK(says(problem(folder.path()), "tokenizer_config.json"));
  }

  TEST_CASE("folders that are refused") {
    const askbase::test::ScratchFolder folder;
    CHECK(says(problem(folder / "nothing"), "no such folder"));
    CHECK(says(problem(folder.path()), "config.json"));
    write(folder / "config.json", tiny_config().dump());
    CHECK(says(problem(folder.path()), "no model.safetensors"));
    write(folder / "pytorch_model.bin", "x");
    CHECK(says(problem(folder.path()), "pytorch_model.bin is not read"));
    CHECK(says(problem(folder.path()), "safe_serialization=True"));
    write(folder / "model.safetensors.index.json", "{}");
    CHECK(says(problem(folder.path()), "several files"));
    std::filesystem::remove(folder / "model.safetensors.index.json");

    Folder form;
    form.without = "encoder.layer.0.output.dense.bias";
    form.make(folder.path());
    CHECK(says(problem(folder.path()), "missing: encoder.layer.0.output.dense.bias"));
    form.without = "";
    form.extra = "bert.encoder.layer.1.strange";
    form.make(folder.path());
    CHECK(says(problem(folder.path()), "not part of the model: bert.encoder.layer.1.strange"));
    form.extra = "";
    form.make(folder.path());
    CHECK(problem(folder.path()) == "imported");
    write(folder / "vocab.txt", std::string(kVocabulary) + "more\n");
    CHECK(says(problem(folder.path()), "9 pieces where config.json says 8"));
    write(folder / "vocab.txt", std::string(kVocabulary) + "a\n");
    CHECK(says(problem(folder.path()), "stands in line 6 already"));
    json config = tiny_config();
    config["hidden_size"] = 6;
    write(folder / "config.json", config.dump());
    write(folder / "vocab.txt", kVocabulary);
    CHECK(says(problem(folder.path()), "has the shape"));
    write(folder / "config.json", tiny_config().dump());
    write(folder / "model.safetensors", "no weights");
    CHECK(says(problem(folder.path()), "model.safetensors"));
  }

  TEST_CASE("MiniLM is taken over, stored as fp16 without loss, and loaded again") {
    const auto data = askbase::test::data_folder();
    if (!data) {
      MESSAGE("skipped: ASKBASE_DATA is not there");
      return;
    }
    const auto model = BertModel::import(*data / "models" / "minilm-l6-h384");
    REQUIRE_MESSAGE(model, model.error().message);
    CHECK((*model)->tokenizer().options().lower_case);
    CHECK((*model)->left_out() == std::vector<std::string>{"pooler.dense.bias", "pooler.dense.weight"});
    const askbase::test::ScratchFolder out;
    REQUIRE((*model)->save(out / "m", nn::Storage::fp16, "card"));
    const auto again = BertModel::load(out / "m");
    REQUIRE_MESSAGE(again, again.error().message);
    check_equal(**again, **model);
  }
}

}  // namespace
}  // namespace askbase::reader
