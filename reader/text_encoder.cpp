#include "reader/text_encoder.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "nn/linear.h"

namespace askbase::reader {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using nn::Index;
using nn::Matrix;

namespace {

namespace fs = std::filesystem;

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kVocabulary = "vocab.txt";
constexpr const char* kShares = "shares_embeddings";
constexpr const char* kWords = "embeddings.word_embeddings.weight";

Result<std::string> hash_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  base::Sha256 hash;
  std::string piece(1 << 20, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    hash.append(std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  if (!in.eof()) return fail(ErrorCode::io, file.string() + ": cannot be read");
  return hash.hex();
}

// What a span-reader says of the model that it shares with.
struct Shares {
  std::string model, sha256, vocabulary_sha256;
};

Result<Shares> shares_of(const Json& config, const std::string& name) {
  const Json found = config.value(kShares, Json());
  const auto text = [&](const char* key) {
    const Json value = found.is_object() ? found.value(key, Json()) : Json();
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  Shares shares{text("model"), text("sha256"), text("vocabulary_sha256")};
  // The name must not lead elsewhere.
  if (shares.model.empty() || shares.model.find('/') != std::string::npos || shares.model.front() == '.' ||
      shares.sha256.empty() || shares.vocabulary_sha256.empty()) {
    return fail(ErrorCode::corrupt,
                name + ": \"" + kShares + "\" must have \"model\", \"sha256\" and \"vocabulary_sha256\"",
                "copy the model's folder again, with all of its files");
  }
  return shares;
}

// The folder of the model `name` that the model at `path` shares with.
Result<fs::path> beside_model(const fs::path& path, const std::string& name) {
  const fs::path place = fs::absolute(path).lexically_normal();
  fs::path beside = (place.has_filename() ? place.parent_path() : place.parent_path().parent_path()) / name;
  std::error_code ignored;
  if (!fs::is_directory(beside, ignored)) {
    return fail(ErrorCode::not_found,
                path.string() + " uses the word embeddings of the model " + name + ", which is not at " +
                    beside.string(),
                "put the folder " + name + " beside it");
  }
  return beside;
}

tl::unexpected<base::Error> other_version(const fs::path& path, const std::string& model, const char* what) {
  return fail(ErrorCode::corrupt,
              path.string() + " was trained with the word embeddings of another version of the model " +
                  model + " (" + what + " differ)",
              "use the two folders of one release");
}

Result<bool> flag(const Json& config, const char* key, const std::string& name) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_boolean()) {
    return fail(ErrorCode::corrupt, name + ": \"" + key + "\" must be true or false");
  }
  return found->get<bool>();
}

Result<nn::PackedLinear> read_span_head(const nn::SafetensorsFile& file, Index hidden, nn::Loops loops) {
  nn::Parameters<float> p;
  const nn::Linear<float> layer(p, "qa_outputs", hidden, 2, true, nn::Initial::normal_002);
  ASKBASE_TRY(nn::fill_parameters(file, p, {.ignore_extra = true}));
  return nn::PackedLinear(p[layer.weight()], {p[layer.bias()].data, 2}, nn::Numbers::f32, loops);
}

}  // namespace

Result<std::shared_ptr<const TextEncoder>> TextEncoder::load(const fs::path& path,
                                                             const InferenceOptions& options,
                                                             std::shared_ptr<const TextEncoder> lender) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, ""));
  const std::string name = (path / "config.json").string();
  const bool shares = folder.kind() == kSpanReaderKind;
  if (!shares && folder.kind() != kEncoderKind) {
    return fail(ErrorCode::unsupported, name + ": a model of kind \"" + folder.kind() +
                                            "\" where one of kind \"" + kEncoderKind + "\" or \"" +
                                            kSpanReaderKind + "\" is needed");
  }
  ASKBASE_ASSIGN(const BertConfig config, BertConfig::parse(folder.config(), name));
  ASKBASE_ASSIGN(const Json json, base::parse_json(folder.config()));
  std::shared_ptr<const WordPiece> tokenizer;
  std::shared_ptr<const WordTable> words;
  std::string vocabulary_sha256;
  bool head = true;
  if (shares) {
    ASKBASE_ASSIGN(const Shares needs, shares_of(json, name));
    if (!lender) {
      ASKBASE_ASSIGN(const fs::path beside, beside_model(path, needs.model));
      ASKBASE_ASSIGN(lender, load(beside, options));
    }
    const char* other = lender->sha256_ != needs.sha256                         ? "weights"
                        : lender->vocabulary_sha256_ != needs.vocabulary_sha256 ? "vocabulary"
                                                                                : nullptr;
    if (other != nullptr || lender->encoder_.words()->rows() != config.vocabulary ||
        lender->encoder_.words()->cols() != config.hidden) {
      return other_version(path, needs.model, other != nullptr ? other : "sizes");
    }
    tokenizer = lender->tokenizer_;
    words = lender->encoder_.words();
    vocabulary_sha256 = lender->vocabulary_sha256_;
  } else {
    ASKBASE_ASSIGN(head, flag(json, "span_head", name));
    WordPieceOptions casing;
    ASKBASE_ASSIGN(casing.lower_case, flag(json, "lower_case", name));
    ASKBASE_ASSIGN(casing.strip_accents, flag(json, "strip_accents", name));
    ASKBASE_ASSIGN(const std::string text, folder.read(kVocabulary));
    ASKBASE_ASSIGN(Vocabulary vocabulary, read_vocabulary(text, (path / kVocabulary).string(), config));
    tokenizer = std::make_shared<const WordPiece>(std::move(vocabulary), casing);
    vocabulary_sha256 = base::sha256(text);
  }
  ASKBASE_ASSIGN(InferenceEncoder encoder,
                 InferenceEncoder::load(config, folder.weights(), options, std::move(words)));
  std::shared_ptr<TextEncoder> made(new TextEncoder(std::move(tokenizer), std::move(encoder)));
  if (head) {
    ASKBASE_ASSIGN(made->span_head_, read_span_head(folder.weights(), config.hidden, options.loops));
  }
  made->config_text_ = folder.config();
  made->vocabulary_sha256_ = std::move(vocabulary_sha256);
  ASKBASE_ASSIGN(made->sha256_, hash_of(path / kWeights));
  return std::shared_ptr<const TextEncoder>(std::move(made));
}

void TextEncoder::span_scores(nn::View<const float> x, nn::View<float> scores) const {
  if (!span_head_) throw std::logic_error("reader::TextEncoder: a model without a span head");
  nn::PackedLinear::Scratch unused;  // float products need none
  span_head_->forward(x, scores, nn::Activation::identity, unused);
}

Result<Matrix<float>> TextEncoder::embed(std::span<const std::string_view> texts, nn::Team& team,
                                         const Stop& stop, const EmbedOptions& options) const {
  Matrix<float> vectors(static_cast<Index>(texts.size()), encoder_.config().hidden);
  const std::size_t longest = std::clamp<std::size_t>(
      options.longest, 2, static_cast<std::size_t>(std::max<Index>(2, encoder_.config().positions)));
  InferenceEncoder::Workspace workspace;
  EncoderBatch batch;
  Pieces pieces;
  for (std::size_t first = 0, next = 0; next < texts.size(); first = next) {
    batch.clear();
    while (next < texts.size() && (next == first || batch.ids.size() < options.batch)) {
      tokenizer_->tokenize(texts[next++], pieces);
      batch.add(encode_one(tokenizer_->vocabulary(), pieces, longest));
    }
    if (!encoder_.forward(batch, workspace, team, stop)) {
      return fail(ErrorCode::timeout, "the time was over before all texts were encoded");
    }
    sentence_vectors<float>(
        workspace.output(), batch.segments,
        vectors.view().rows_from(static_cast<Index>(first), static_cast<Index>(next - first)));
  }
  return vectors;
}

base::Status save_span_reader(const fs::path& folder, const BertModel& model, const TextEncoder& lender,
                              const SpanReaderToSave& options) {
  const nn::Parameters<float>& p = model.parameters();
  if (model.span_head() == nullptr)
    throw std::logic_error("reader::save_span_reader: a model without a span head");
  if (!(model.tokenizer().vocabulary() == lender.tokenizer().vocabulary()) ||
      model.tokenizer().options() != lender.tokenizer().options()) {
    throw std::logic_error("reader::save_span_reader: another vocabulary than the lender's");
  }
  if (!lender.encoder().words()->rounds_from(p[model.encoder().word_embeddings()])) {
    return fail(
        ErrorCode::invalid_argument,
        "the model's word embeddings are not those of " + options.lender_name + ", so it cannot share them",
        "train with frozen word embeddings, from that model");
  }
  ASKBASE_ASSIGN(Json config, base::parse_json(model.config().json()));
  ASKBASE_ASSIGN(const Json settings, base::parse_json(options.settings));
  for (const auto& [key, value] : settings.items()) config[key] = value;
  config[kShares] = {{"model", options.lender_name},
                     {"sha256", lender.sha256()},
                     {"vocabulary_sha256", lender.vocabulary_sha256()}};
  nn::ModelToSave saved{
      .kind = kSpanReaderKind, .config = base::dump_json(config), .storage = options.storage};
  saved.small = nn::Storage::fp16;
  saved.left_out = [](const std::string& name) { return name == kWords; };
  saved.files.push_back({"README.md", options.card, false});
  return nn::save_model(folder, saved, p);
}

Result<std::unique_ptr<BertModel>> load_span_reader(const fs::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, kSpanReaderKind));
  const std::string name = (path / "config.json").string();
  ASKBASE_ASSIGN(const BertConfig config, BertConfig::parse(folder.config(), name));
  ASKBASE_ASSIGN(const Json json, base::parse_json(folder.config()));
  ASKBASE_ASSIGN(const Shares needs, shares_of(json, name));
  ASKBASE_ASSIGN(const fs::path beside, beside_model(path, needs.model));
  ASKBASE_ASSIGN(const std::string weights, hash_of(beside / kWeights));
  ASKBASE_ASSIGN(const std::string vocabulary, hash_of(beside / kVocabulary));
  if (weights != needs.sha256) return other_version(path, needs.model, "weights");
  if (vocabulary != needs.vocabulary_sha256) return other_version(path, needs.model, "vocabulary");
  ASKBASE_ASSIGN(const auto lender, BertModel::load(beside));
  if (lender->config().vocabulary != config.vocabulary || lender->config().hidden != config.hidden) {
    return other_version(path, needs.model, "sizes");
  }
  auto model = std::make_unique<BertModel>(config, lender->tokenizer(), true);
  ASKBASE_TRY(folder.fill(model->parameters(), {.optional = {kWords}}));
  const nn::View<const float> words = lender->parameters()[lender->encoder().word_embeddings()];
  std::copy_n(words.data, words.size(),
              model->parameters().mutable_view(model->encoder().word_embeddings()).data);
  return model;
}

}  // namespace askbase::reader
