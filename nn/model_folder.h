// A trained model on disk: a folder with
//
//   config.json         {"format": 1, "kind": "question-type", hyper-parameters ...,
//                        "vocabulary_sha256": {"vocab.txt": "9f86..."}}
//   model.safetensors   the weights by their names in Parameters; an int8 tensor has the scales of its rows
//   beside
//                       it as "<name>.scale", fp32 or fp16
//   vocab.txt, ...      what the words are; the hashes in config.json say that they are the model's own
//   README.md           its card
//
// docs/model-files.md tells the rules.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/parameters.h"
#include "nn/safetensors.h"

namespace askbase::nn {

enum class Storage { fp32, fp16, bf16, int8 };

std::optional<Storage> storage_by_name(std::string_view name);
std::string_view storage_name(Storage storage);

struct ModelFile {
  std::string name;  // without folders
  std::string content;
  bool vocabulary = false;  // its hash goes into config.json
};

struct ModelToSave {
  std::string kind;
  // A JSON object of the hyper-parameters, as text. "format", "kind" and "vocabulary_sha256" are added.
  std::string config = "{}";
  std::vector<ModelFile> files = {};
  Storage storage = Storage::fp32;
  // The storage of single tensors instead, when set. int8 is for tensors of two or more dimensions: others
  // are written as `small` then.
  std::function<Storage(const std::string& name)> storage_of = {};
  // Beside int8 (fp32 or fp16): of tensors of one dimension, and of the scales. Rows are rounded with their
  // scales as stored.
  Storage small = Storage::fp32;
  // Tensors that are not written: those that the model shares with another.
  std::function<bool(const std::string& name)> left_out = {};
};

// Whether save_model() may write here: to be asked before a long training. Error invalid_argument for a
// folder with other things in it, io for a file.
base::Status check_model_place(const std::filesystem::path& path);

// Writes the folder beside its place, syncs it and exchanges the two: what stands at `path` is the old model
// or the new one, whole. A model that was there is replaced with all of its files. Errors: invalid_argument
// (a folder with other things in it, a weight that is not finite or too large for fp16), io (the old model
// stays).
base::Status save_model(const std::filesystem::path& path, const ModelToSave& model,
                        const Parameters<float>& p);

// How the names in a file become those of parameters.
struct FillOptions {
  // Where a name begins with one of these and is no parameter as it is, the rest is tried: "bert.".
  std::vector<std::string> prefixes = {};
  // "LayerNorm.gamma" and "LayerNorm.beta", as TensorFlow's names are, stand for weight and bias.
  bool gamma_beta = false;
  // Before all that: another name, or an empty one to leave the tensor out.
  std::function<std::string(const std::string& name)> rename = {};
  bool ignore_extra = false;  // tensors that the model does not know
  std::vector<std::string> optional =
      {};                   // prefixes of parameters that may be missing; those keep their values
  bool any_number = false;  // NaN and infinities, too
};

// Reads every parameter of p, the frozen ones included, from the file; fp16, bf16, int8 with scales and f64
// become float. Error corrupt lists all tensors that are missing, extra, or of another shape (nothing is read
// then), or names the tensor with a number that is not finite.
base::Status fill_parameters(const SafetensorsFile& file, Parameters<float>& p,
                             const FillOptions& options = {});

// The lines of a vocabulary file, each a word, and back. Errors: corrupt with the file's name (a line that is
// empty or not UTF-8, a word that comes twice).
base::Result<std::vector<std::string>> parse_word_list(std::string_view text, const std::string& name);
std::string word_list_text(const std::vector<std::string>& words);

// The rows of an int8 tensor as they are, for QuantizedLinear. Errors: not_found (no such tensor), corrupt
// (not int8, or without fitting scales).
struct Int8Rows {
  Matrix<std::int8_t> values;
  std::vector<float> scales;  // one a row
};
base::Result<Int8Rows> read_int8(const SafetensorsFile& file, const std::string& name);

// An opened folder. Immutable; safe to share between threads.
class ModelFolder {
 public:
  // kind: what the caller can use; empty: any. Errors: not_found, io, corrupt (config.json or the weights'
  // header are broken; a vocabulary is not the one that the model was trained with), unsupported (a newer
  // format, another kind).
  static base::Result<ModelFolder> open(const std::filesystem::path& path, std::string_view kind);

  const std::string& kind() const { return kind_; }
  const std::string& config() const { return config_; }  // the text of config.json, known to be an object
  const SafetensorsFile& weights() const { return weights_; }
  base::Status fill(Parameters<float>& p, const FillOptions& options = {}) const {
    return fill_parameters(weights_, p, options);
  }
  // A file of the folder, a vocabulary checked against its hash.
  base::Result<std::string> read(const std::string& name) const;

 private:
  ModelFolder(std::filesystem::path path, SafetensorsFile weights)
      : path_(std::move(path)), weights_(std::move(weights)) {}
  std::filesystem::path path_;
  SafetensorsFile weights_;
  std::string kind_, config_;
  std::vector<std::pair<std::string, std::string>> hashes_;
};

}  // namespace askbase::nn
