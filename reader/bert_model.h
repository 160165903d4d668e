// A BERT encoder with its tokenizer and weights: read from a model folder of askbase (kind "bert-encoder"),
// or taken over from a folder of Hugging Face.
//
// The folder holds config.json (Hugging Face's words for the sizes, and "lower_case", "strip_accents",
// "span_head"), vocab.txt and model.safetensors; docs/reader.md tells more.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/linear.h"
#include "nn/model_folder.h"
#include "reader/bert_encoder.h"
#include "reader/wordpiece.h"

namespace askbase::reader {

inline constexpr const char* kEncoderKind = "bert-encoder";

struct ImportOptions {
  // Whether the vocabulary is an uncased one, where the folder does not say.
  std::optional<bool> lower_case = {};
};

// The content of a model's vocab.txt; `name` stands for the file in messages. Errors: those of
// Vocabulary::parse, corrupt (its size is not the configuration's).
base::Result<Vocabulary> read_vocabulary(const std::string& text, const std::string& name,
                                         const BertConfig& config);

// Safe to share between threads as long as nobody changes the parameters.
class BertModel {
 public:
  // All weights are zeros; parameters().initialise(seed) draws them as BERT's were. A vocabulary of another
  // size than the configuration's is a programmer error (std::logic_error).
  BertModel(const BertConfig& config, WordPiece tokenizer, bool span_head);
  BertModel(const BertModel&) = delete;
  BertModel& operator=(const BertModel&) = delete;

  // A model folder of this kind. Errors: those of nn/model_folder.h, corrupt (vocabulary and configuration do
  // not fit).
  static base::Result<std::unique_ptr<BertModel>> load(const std::filesystem::path& folder);

  // A folder of Hugging Face: config.json, vocab.txt, model.safetensors (or the only .safetensors there), and
  // the casing from tokenizer_config.json or tokenizer.json. "bert." before the names, gamma and beta are
  // understood; a qa_outputs head is kept; the pooler and the heads of pre-training are left out. Errors:
  // not_found, bad_input, unsupported (pytorch_model.bin, weights in several files), corrupt (weights and
  // vocabulary do not fit the configuration), invalid_argument (casing not known).
  static base::Result<std::unique_ptr<BertModel>> import(const std::filesystem::path& folder,
                                                         const ImportOptions& options = {});

  // Writes a model folder. card: README.md. Errors: those of nn::save_model.
  base::Status save(const std::filesystem::path& folder, nn::Storage storage, const std::string& card) const;

  const BertConfig& config() const { return encoder_.config(); }
  const WordPiece& tokenizer() const { return tokenizer_; }
  const BertEncoder<float>& encoder() const { return encoder_; }
  // "qa_outputs.weight" (2, hidden) and ".bias": the scores of start and end of an answer; null: none.
  const nn::Linear<float>* span_head() const { return span_head_ ? &*span_head_ : nullptr; }
  const nn::Parameters<float>& parameters() const { return parameters_; }
  nn::Parameters<float>& parameters() { return parameters_; }
  // Names in the imported file that are no part of the model.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  nn::Parameters<float> parameters_;
  WordPiece tokenizer_;
  BertEncoder<float> encoder_;
  std::optional<nn::Linear<float>> span_head_;
  std::vector<std::string> left_out_;
};

}  // namespace askbase::reader
