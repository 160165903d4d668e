#include "nn/model_folder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <unistd.h>
#include <unordered_set>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "nn/quantize.h"

namespace askbase::nn {

namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using base::Status;

constexpr int kFormat = 1;
constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.safetensors";
constexpr std::uint64_t kMostConfig = 16ULL << 20, kMostFile = 1ULL << 30;
constexpr std::size_t kMostListed = 12;
constexpr float kLeastBeyondHalf = 65520.0F;  // rounds to infinity in fp16

constexpr std::array<std::pair<Storage, std::string_view>, 4> kStorages{
    {{Storage::fp32, "fp32"}, {Storage::fp16, "fp16"}, {Storage::bf16, "bf16"}, {Storage::int8, "int8"}}};

// config.json is somebody's input: its file names must not lead out of the folder.
bool plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

std::string shape_text(const Shape& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return out + ")";
}

// Text of a list that may be long.
class Listing {
 public:
  void add(const std::string& what) {
    if (++count_ <= kMostListed) text_ += (text_.empty() ? "" : "; ") + what;
  }
  bool empty() const { return count_ == 0; }
  std::string text() const {
    return count_ <= kMostListed ? text_ : text_ + "; and " + std::to_string(count_ - kMostListed) + " more";
  }

 private:
  std::size_t count_ = 0;
  std::string text_;
};

std::string parameter_name(const std::string& in_file, const Parameters<float>& p,
                           const FillOptions& options) {
  std::string name = options.rename ? options.rename(in_file) : in_file;
  const auto modern = [&options](std::string old) {
    if (!options.gamma_beta) return old;
    for (const auto& [from, to] : {std::pair(".gamma", ".weight"), std::pair(".beta", ".bias")}) {
      if (old.ends_with(from)) return old.substr(0, old.size() - std::string_view(from).size()) + to;
    }
    return old;
  };
  if (p.find(name) >= 0) return name;
  if (p.find(modern(name)) >= 0) return modern(name);
  for (const std::string& prefix : options.prefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string rest = name.substr(prefix.size());
    if (p.find(rest) >= 0) return rest;
    if (p.find(modern(rest)) >= 0) return modern(rest);
  }
  return name;
}

std::string scale_name(const std::string& tensor) { return tensor + ".scale"; }

// What is wrong with an int8 tensor and its scales; empty: nothing.
std::string int8_problem(const SafetensorsFile& file, const TensorInfo& tensor) {
  const TensorInfo* scale = file.find(scale_name(tensor.name));
  if (tensor.shape.empty()) return tensor.name + " is int8 without rows";
  if (scale == nullptr) return tensor.name + " is int8, but " + scale_name(tensor.name) + " is missing";
  if ((scale->dtype != Dtype::f32 && scale->dtype != Dtype::f16) || scale->shape != Shape{tensor.shape[0]}) {
    return scale->name + " should be F32 or F16 of shape (" + std::to_string(tensor.shape[0]) + ")";
  }
  return {};
}

Result<Int8Rows> read_rows(const SafetensorsFile& file, const TensorInfo& tensor) {
  Int8Rows rows;
  const Index n = tensor.shape[0];
  rows.values.resize(n, n == 0 ? 0 : static_cast<Index>(tensor.count()) / n);
  rows.scales.resize(static_cast<std::size_t>(n));
  const TensorInfo& scale = *file.find(scale_name(tensor.name));
  ASKBASE_TRY(file.read(scale, rows.scales.data()));
  for (const float s : rows.scales) {
    if (s >= 0) continue;
    return fail(ErrorCode::corrupt, file.name() + ": " + scale.name + ": a scale is negative");
  }
  ASKBASE_TRY(file.read_bytes(tensor, {reinterpret_cast<std::byte*>(rows.values.data()),
                                       static_cast<std::size_t>(rows.values.size())}));
  return rows;
}

struct StoredTensor {
  std::vector<std::int8_t> rows;
  std::vector<float> scales;
};

Status add_tensor(const std::string& name, const Shape& shape, View<const float> values, Storage storage,
                  Storage small, std::vector<TensorSource>& sources,
                  std::vector<std::unique_ptr<StoredTensor>>& kept) {
  const bool rows = storage == Storage::int8 && shape.size() >= 2;
  if (storage == Storage::int8 && !rows) storage = small;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isfinite(values.data[i]) &&
        (storage != Storage::fp16 || std::abs(values.data[i]) < kLeastBeyondHalf)) {
      continue;
    }
    return fail(ErrorCode::invalid_argument,
                "the model is not saved: " + name + " has a weight " +
                    (std::isfinite(values.data[i]) ? "too large for fp16" : "that is not a number"),
                std::isfinite(values.data[i]) ? "save it as bf16 or fp32" : "");
  }
  if (rows) {
    kept.push_back(std::make_unique<StoredTensor>());
    StoredTensor& tensor = *kept.back();
    tensor.rows.resize(static_cast<std::size_t>(values.size()));
    tensor.scales.resize(static_cast<std::size_t>(values.rows));
    const bool half = small == Storage::fp16;
    quantize_rows(values, tensor.rows.data(), tensor.scales.data(), half);
    for (const float scale : tensor.scales) {
      if (std::isfinite(scale)) continue;
      return fail(ErrorCode::invalid_argument,
                  "the model is not saved: " + name + " has a weight too large for scales in fp16",
                  "save it as bf16 or fp32");
    }
    sources.push_back(tensor_of(name, shape, tensor.rows.data()));
    sources.push_back(
        tensor_of(scale_name(name), {values.rows}, tensor.scales.data(), half ? Dtype::f16 : Dtype::f32));
    return {};
  }
  const Dtype dtype = storage == Storage::fp16   ? Dtype::f16
                      : storage == Storage::bf16 ? Dtype::bf16
                                                 : Dtype::f32;
  sources.push_back(tensor_of(name, shape, values.data, dtype));
  return {};
}

Status write_folder(const std::filesystem::path& folder, const ModelToSave& model,
                    const Parameters<float>& p) {
  Result<Json> config = base::parse_json(model.config);
  if (!config || !config->is_object())
    throw std::logic_error("nn::save_model: the configuration is not an object");
  Json json = {{"format", kFormat}, {"kind", model.kind}};
  for (const auto& [key, value] : config->items()) {
    if (key != "format" && key != "kind" && key != "vocabulary_sha256") json[key] = value;
  }
  for (const ModelFile& file : model.files) {
    if (!plain_name(file.name) || file.name == kConfig || file.name == kWeights) {
      throw std::logic_error("nn::save_model: not a name for a file of a model: " + file.name);
    }
    if (file.vocabulary) json["vocabulary_sha256"][file.name] = base::sha256(file.content);
    ASKBASE_TRY(base::write_file_atomic(folder / file.name, file.content));
  }
  std::vector<TensorSource> sources;
  std::vector<std::unique_ptr<StoredTensor>> kept;
  for (ParameterId id = 0; id < p.count(); ++id) {
    if (model.left_out && model.left_out(p.name(id))) continue;
    const Storage storage = model.storage_of ? model.storage_of(p.name(id)) : model.storage;
    ASKBASE_TRY(add_tensor(p.name(id), p.shape(id), p[id], storage, model.small, sources, kept));
  }
  ASKBASE_TRY(write_safetensors(folder / kWeights, std::move(sources), {{"format", "pt"}}));
  return base::write_file_atomic(folder / kConfig, base::dump_json(json, 2) + "\n");
}

std::optional<Json> own_config(const std::filesystem::path& folder) {
  const auto text = base::read_file(folder / kConfig, kMostConfig);
  if (!text) return std::nullopt;
  Result<Json> json = base::parse_json(*text);
  if (!json || !json->is_object() || !json->contains("format") || !json->contains("kind"))
    return std::nullopt;
  return std::move(*json);
}

// Puts the new folder in the place of the old one, if there is one; afterwards the old one stands at `made`.
Status exchange(const std::filesystem::path& made, const std::filesystem::path& target) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return {};
  const bool unknown = errno == EINVAL || errno == ENOSYS;  // a file system that cannot
  if (errno != ENOENT && !unknown) return tl::unexpected(base::io_error(errno, "replace", target));
  std::filesystem::path aside = made;
  aside += "-old";
  const bool there = ::rename(target.c_str(), aside.c_str()) == 0;
  if (::rename(made.c_str(), target.c_str()) != 0) {
    const int problem = errno;
    if (there) ::rename(aside.c_str(), target.c_str());
    return tl::unexpected(base::io_error(problem, "replace", target));
  }
  if (there && ::rename(aside.c_str(), made.c_str()) != 0) {
    return tl::unexpected(base::io_error(errno, "remove", aside));
  }
  return {};
}

}  // namespace

std::optional<Storage> storage_by_name(std::string_view name) {
  for (const auto& [storage, known] : kStorages) {
    if (known == name) return storage;
  }
  return std::nullopt;
}

std::string_view storage_name(Storage storage) { return kStorages[static_cast<std::size_t>(storage)].second; }

namespace {

// The folder itself, where `path` is "models/x/" or a link; an error where something else stands there.
base::Result<std::filesystem::path> model_place(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::path target = std::filesystem::weakly_canonical(std::filesystem::absolute(path), problem);
  if (problem) return tl::unexpected(base::io_error(problem.value(), "write", path));
  if (!target.has_filename()) target = target.parent_path();
  const std::filesystem::file_status there = std::filesystem::status(target, problem);
  if (std::filesystem::exists(there)) {
    if (!std::filesystem::is_directory(there)) return tl::unexpected(base::io_error(ENOTDIR, "write", path));
    if (!std::filesystem::is_empty(target, problem) && !own_config(target)) {
      return fail(ErrorCode::invalid_argument,
                  path.string() + ": a folder that is not a model of askbase; it is not replaced",
                  "name a new folder");
    }
  }
  return target;
}

}  // namespace

Status check_model_place(const std::filesystem::path& path) {
  ASKBASE_TRY(model_place(path));
  return {};
}

Status save_model(const std::filesystem::path& path, const ModelToSave& model, const Parameters<float>& p) {
  ASKBASE_ASSIGN(const std::filesystem::path target, model_place(path));
  ASKBASE_TRY(base::make_directories(target.parent_path()));
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path made =
      target.parent_path() /
      (".askbase-tmp-model-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1)));
  ASKBASE_TRY(base::make_directories(made));
  Status done = write_folder(made, model, p);
  if (done) done = base::sync_folder(made);
  if (done) done = exchange(made, target);
  std::error_code ignored;
  std::filesystem::remove_all(made, ignored);  // the half-written one, or the old one
  ASKBASE_TRY(done);
  return base::sync_folder(target.parent_path());
}

Status fill_parameters(const SafetensorsFile& file, Parameters<float>& p, const FillOptions& options) {
  std::vector<const TensorInfo*> source(static_cast<std::size_t>(p.count()), nullptr);
  std::unordered_set<std::string> scales;
  for (const TensorInfo& tensor : file.tensors()) {
    if (tensor.dtype == Dtype::i8) scales.insert(scale_name(tensor.name));
  }
  Listing missing, extra, wrong;
  for (const TensorInfo& tensor : file.tensors()) {
    const std::string name = parameter_name(tensor.name, p, options);
    const ParameterId id = p.find(name);
    if (id < 0) {
      if (!name.empty() && !options.ignore_extra && !scales.contains(tensor.name)) extra.add(tensor.name);
      continue;
    }
    const TensorInfo*& place = source[static_cast<std::size_t>(id)];
    if (place != nullptr) {
      wrong.add(tensor.name + " and " + place->name + " are both " + name);
    } else if (tensor.shape != p.shape(id)) {
      wrong.add(tensor.name + " has the shape " + shape_text(tensor.shape) + " where the model has " +
                shape_text(p.shape(id)));
    } else if (tensor.dtype == Dtype::i8) {
      const std::string problem = int8_problem(file, tensor);
      if (!problem.empty()) wrong.add(problem);
    } else if (tensor.dtype != Dtype::f32 && tensor.dtype != Dtype::f16 && tensor.dtype != Dtype::bf16 &&
               tensor.dtype != Dtype::f64) {
      wrong.add(tensor.name + " holds " + std::string(dtype_name(tensor.dtype)) + ", not weights");
    }
    place = &tensor;
  }
  for (ParameterId id = 0; id < p.count(); ++id) {
    if (source[static_cast<std::size_t>(id)] != nullptr) continue;
    const bool optional =
        std::any_of(options.optional.begin(), options.optional.end(),
                    [&](const std::string& prefix) { return p.name(id).starts_with(prefix); });
    if (!optional) missing.add(p.name(id) + " " + shape_text(p.shape(id)));
  }
  if (!missing.empty() || !extra.empty() || !wrong.empty()) {
    std::string what = file.name() + ": the weights do not fit the model";
    if (!missing.empty()) what += "; missing: " + missing.text();
    if (!extra.empty()) what += "; not part of the model: " + extra.text();
    if (!wrong.empty()) what += "; different: " + wrong.text();
    return fail(ErrorCode::corrupt, what, "check that the weights belong to this configuration");
  }
  for (ParameterId id = 0; id < p.count(); ++id) {
    const TensorInfo* tensor = source[static_cast<std::size_t>(id)];
    if (tensor == nullptr) continue;
    if (tensor->dtype == Dtype::i8) {
      ASKBASE_ASSIGN(const Int8Rows rows, read_rows(file, *tensor));
      dequantize_rows(rows.values.data(), rows.scales.data(), p.mutable_view(id));
    } else {
      ASKBASE_TRY(file.read(*tensor, p.mutable_view(id).data, options.any_number));
    }
  }
  return {};
}

Result<Int8Rows> read_int8(const SafetensorsFile& file, const std::string& name) {
  const TensorInfo* tensor = file.find(name);
  if (tensor == nullptr) return fail(ErrorCode::not_found, file.name() + ": there is no tensor " + name);
  if (tensor->dtype != Dtype::i8) {
    return fail(ErrorCode::corrupt,
                file.name() + ": " + name + " is " + std::string(dtype_name(tensor->dtype)) + ", not int8");
  }
  if (const std::string problem = int8_problem(file, *tensor); !problem.empty()) {
    return fail(ErrorCode::corrupt, file.name() + ": " + problem);
  }
  return read_rows(file, *tensor);
}

Result<ModelFolder> ModelFolder::open(const std::filesystem::path& path, std::string_view kind) {
  ASKBASE_ASSIGN(std::string config, base::read_file(path / kConfig, kMostConfig));
  const std::string name = (path / kConfig).string();
  const Result<Json> json = base::parse_json(config);
  if (!json) return fail(ErrorCode::corrupt, name + ": " + json.error().message);
  const auto field = [&](const char* key) { return json->is_object() ? json->value(key, Json()) : Json(); };
  const Json format = field("format"), own_kind = field("kind"), hashes = field("vocabulary_sha256");
  if (!format.is_number_integer() || !own_kind.is_string()) {
    return fail(ErrorCode::corrupt, name + ": not a model of askbase: \"format\" and \"kind\" are missing",
                "a Hugging Face folder is taken over by askbase model import");
  }
  if (format != kFormat) {
    return fail(ErrorCode::unsupported,
                name + ": a model of format " + base::dump_json(format) + "; this program reads format " +
                    std::to_string(kFormat),
                "use a newer askbase, or a model made for this one");
  }
  if (!kind.empty() && own_kind.get<std::string>() != kind) {
    return fail(ErrorCode::unsupported, name + ": a model of kind \"" + own_kind.get<std::string>() +
                                            "\" where one of kind \"" + std::string(kind) + "\" is needed");
  }
  ASKBASE_ASSIGN(SafetensorsFile weights, SafetensorsFile::open(path / kWeights));
  ModelFolder folder(path, std::move(weights));
  folder.kind_ = own_kind.get<std::string>();
  folder.config_ = std::move(config);
  if (!hashes.is_null()) {
    if (!hashes.is_object()) return fail(ErrorCode::corrupt, name + ": vocabulary_sha256 is not an object");
    for (const auto& [file, hash] : hashes.items()) {
      if (!hash.is_string() || !plain_name(file)) {
        return fail(ErrorCode::corrupt,
                    name + ": vocabulary_sha256 is not a list of files with their hashes");
      }
      folder.hashes_.emplace_back(file, hash.get<std::string>());
    }
  }
  for (const auto& [file, hash] : folder.hashes_) ASKBASE_TRY(folder.read(file));
  return folder;
}

Result<std::string> ModelFolder::read(const std::string& name) const {
  if (!plain_name(name)) throw std::logic_error("nn::ModelFolder: not a name of a file: " + name);
  ASKBASE_ASSIGN(std::string content, base::read_file(path_ / name, kMostFile));
  for (const auto& [file, hash] : hashes_) {
    if (file != name || base::sha256(content) == hash) continue;
    return fail(ErrorCode::corrupt,
                (path_ / name).string() +
                    ": not the vocabulary that the model was trained with (its SHA-256 differs "
                    "from the one in config.json)",
                "copy the model's folder again, with all of its files");
  }
  return content;
}

base::Result<std::vector<std::string>> parse_word_list(std::string_view text, const std::string& name) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.back().empty() || !base::valid_utf8(words.back())) {
      return base::fail(base::ErrorCode::corrupt,
                        name + ": line " + std::to_string(words.size()) + " is no word");
    }
  }
  if (std::unordered_set<std::string_view>(words.begin(), words.end()).size() != words.size()) {
    return base::fail(base::ErrorCode::corrupt, name + ": a word comes twice");
  }
  return words;
}

std::string word_list_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

}  // namespace askbase::nn
