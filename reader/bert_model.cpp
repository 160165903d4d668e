#include "reader/bert_model.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/json.h"

namespace askbase::reader {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostConfig = 1 << 20, kMostVocabulary = 64 << 20;
// Of pre-training or of other tasks.
constexpr std::array<std::string_view, 3> kOther = {"pooler.", "cls.", "classifier."};
// The numbers 0, 1, 2, ...
constexpr std::string_view kPositions = "embeddings.position_ids";

std::string_view without_prefix(std::string_view name) {
  if (name.starts_with("bert.")) name.remove_prefix(5);
  return name;
}

bool is_other(std::string_view name) {
  return std::any_of(kOther.begin(), kOther.end(),
                     [&](std::string_view other) { return without_prefix(name).starts_with(other); });
}

Result<fs::path> weights_of(const fs::path& folder) {
  std::error_code problem;
  const fs::path usual = folder / "model.safetensors";
  if (fs::exists(usual, problem)) return usual;
  std::vector<fs::path> found;
  bool torch = false, parts = false;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem)) {
    const std::string name = it->path().filename().string();
    if (it->path().extension() == ".safetensors") found.push_back(it->path());
    parts |= name == "model.safetensors.index.json";
    torch |= name == "pytorch_model.bin" || name == "pytorch_model.bin.index.json";
  }
  if (problem) return tl::unexpected(base::io_error(problem.value(), "read", folder));
  if (parts) {
    return fail(ErrorCode::unsupported, folder.string() + ": the weights lie in several files",
                "save the model again in one: save_pretrained(DIR, max_shard_size=\"100GB\")");
  }
  if (found.size() == 1) return found.front();
  if (torch && found.empty()) {
    return fail(
        ErrorCode::unsupported, folder.string() + ": pytorch_model.bin is not read, for it can run any code",
        "convert it: python3 -c 'from transformers import AutoModel; AutoModel.from_pretrained(\"" +
            folder.string() + "\").save_pretrained(\"" + folder.string() + "\", safe_serialization=True)'");
  }
  return fail(ErrorCode::not_found,
              folder.string() + ": no model.safetensors" +
                  (found.empty() ? "" : ", and several other .safetensors files"),
              "a folder of Hugging Face has config.json, vocab.txt and model.safetensors");
}

// A file that may be missing.
Result<Json> object_in(const fs::path& file, std::uint64_t most) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return Json::object();
  ASKBASE_ASSIGN(const std::string text, base::read_file(file, most));
  Result<Json> json = base::parse_json(text);
  if (!json) return fail(ErrorCode::bad_input, file.string() + ": " + json.error().message);
  if (!json->is_object()) return fail(ErrorCode::bad_input, file.string() + ": not a JSON object");
  return json;
}

std::optional<bool> truth(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

Result<WordPieceOptions> casing_of(const fs::path& folder, const ImportOptions& options) {
  ASKBASE_ASSIGN(const Json config, object_in(folder / "tokenizer_config.json", kMostConfig));
  std::optional<bool> lower = truth(config, "do_lower_case"), strip = truth(config, "strip_accents");
  if (!lower) {
    ASKBASE_ASSIGN(const Json whole, object_in(folder / "tokenizer.json", kMostVocabulary));
    if (const auto normalizer = whole.find("normalizer");
        normalizer != whole.end() && normalizer->is_object() &&
        normalizer->value("type", Json()) == "BertNormalizer") {
      lower = truth(*normalizer, "lowercase");
      strip = truth(*normalizer, "strip_accents");
    }
  }
  if (!lower) lower = options.lower_case;
  if (!lower) {
    return fail(ErrorCode::invalid_argument,
                folder.string() + ": nothing says whether the vocabulary is cased or uncased",
                "give --casing uncased or --casing cased");
  }
  if (options.lower_case && *options.lower_case != *lower) {
    return fail(
        ErrorCode::invalid_argument,
        folder.string() + ": its tokenizer is " + (*lower ? "uncased" : "cased") + ", other than asked for",
        "leave out --casing");
  }
  WordPieceOptions result;
  result.lower_case = *lower;
  result.strip_accents = strip.value_or(*lower);
  return result;
}

}  // namespace

Result<Vocabulary> read_vocabulary(const std::string& text, const std::string& name,
                                   const BertConfig& config) {
  ASKBASE_ASSIGN(Vocabulary vocabulary, Vocabulary::parse(text, name));
  if (static_cast<nn::Index>(vocabulary.size()) != config.vocabulary) {
    return fail(ErrorCode::corrupt,
                name + ": " + std::to_string(vocabulary.size()) + " pieces where config.json says " +
                    std::to_string(config.vocabulary),
                "vocabulary and weights must come from the same model");
  }
  return vocabulary;
}

BertModel::BertModel(const BertConfig& config, WordPiece tokenizer, bool span_head)
    : tokenizer_(std::move(tokenizer)), encoder_(parameters_, config) {
  if (static_cast<nn::Index>(tokenizer_.vocabulary().size()) != config.vocabulary) {
    throw std::logic_error("reader::BertModel: vocabulary and configuration do not fit");
  }
  if (span_head) {
    span_head_.emplace(parameters_, "qa_outputs", config.hidden, 2, true, nn::Initial::normal_002);
  }
}

Result<std::unique_ptr<BertModel>> BertModel::load(const fs::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, kEncoderKind));
  const std::string name = (path / "config.json").string();
  ASKBASE_ASSIGN(const BertConfig config, BertConfig::parse(folder.config(), name));
  ASKBASE_ASSIGN(const Json json, base::parse_json(folder.config()));
  const std::optional<bool> lower = truth(json, "lower_case"), strip = truth(json, "strip_accents"),
                            head = truth(json, "span_head");
  if (!lower || !strip || !head) {
    return fail(ErrorCode::corrupt,
                name + ": \"lower_case\", \"strip_accents\" and \"span_head\" must be true or false");
  }
  ASKBASE_ASSIGN(const std::string words, folder.read("vocab.txt"));
  ASKBASE_ASSIGN(Vocabulary vocabulary, read_vocabulary(words, (path / "vocab.txt").string(), config));
  WordPieceOptions options;
  options.lower_case = *lower;
  options.strip_accents = *strip;
  auto model = std::make_unique<BertModel>(config, WordPiece(std::move(vocabulary), options), *head);
  ASKBASE_TRY(folder.fill(model->parameters_));
  return model;
}

Result<std::unique_ptr<BertModel>> BertModel::import(const fs::path& folder, const ImportOptions& options) {
  std::error_code problem;
  if (!fs::is_directory(folder, problem)) {
    return fail(ErrorCode::not_found, folder.string() + ": no such folder");
  }
  ASKBASE_ASSIGN(const std::string text, base::read_file(folder / "config.json", kMostConfig));
  ASKBASE_ASSIGN(const BertConfig config, BertConfig::parse(text, (folder / "config.json").string()));
  ASKBASE_ASSIGN(const fs::path weights, weights_of(folder));
  ASKBASE_ASSIGN(const std::string words, base::read_file(folder / "vocab.txt", kMostVocabulary));
  ASKBASE_ASSIGN(Vocabulary vocabulary, read_vocabulary(words, (folder / "vocab.txt").string(), config));
  ASKBASE_ASSIGN(const WordPieceOptions casing, casing_of(folder, options));
  ASKBASE_ASSIGN(const nn::SafetensorsFile file, nn::SafetensorsFile::open(weights));
  const bool head = file.find("qa_outputs.weight") != nullptr;
  auto model = std::make_unique<BertModel>(config, WordPiece(std::move(vocabulary), casing), head);
  for (const nn::TensorInfo& tensor : file.tensors()) {
    if (is_other(tensor.name)) model->left_out_.push_back(tensor.name);
  }
  nn::FillOptions fill;
  fill.prefixes = {"bert."};
  fill.gamma_beta = true;
  fill.rename = [](const std::string& name) {
    return is_other(name) || without_prefix(name) == kPositions ? std::string() : name;
  };
  ASKBASE_TRY(nn::fill_parameters(file, model->parameters_, fill));
  std::sort(model->left_out_.begin(), model->left_out_.end());
  return model;
}

base::Status BertModel::save(const fs::path& folder, nn::Storage storage, const std::string& card) const {
  Result<Json> json = base::parse_json(config().json());
  if (!json) throw std::logic_error("reader::BertModel: a configuration that is no JSON");
  (*json)["lower_case"] = tokenizer_.options().lower_case;
  (*json)["strip_accents"] = tokenizer_.options().strip_accents;
  (*json)["span_head"] = span_head_.has_value();
  std::string words;
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    words += vocabulary.piece(static_cast<std::int32_t>(i));
    words += '\n';
  }
  nn::ModelToSave model{.kind = kEncoderKind, .config = base::dump_json(*json), .storage = storage};
  model.small = storage == nn::Storage::int8 ? nn::Storage::fp16 : storage;
  model.files.push_back({"vocab.txt", std::move(words), true});
  model.files.push_back({"README.md", card, false});
  return nn::save_model(folder, model, parameters_);
}

}  // namespace askbase::reader
