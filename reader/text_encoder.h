// An encoder with its tokenizer, as programs use it: read from a model folder, for inference.
//
// Two kinds of folder are read:
//   "bert-encoder"  whole (bert_model.h writes it)
//   "span-reader"   an encoder with a head for answers that uses the word embeddings and the vocabulary of
//                   another model, frozen in training. Its config.json names that one:
//                     "shares_embeddings": {"model": "en-sentence", "sha256": "9f86...",
//                                           "vocabulary_sha256": "2c26..."}
//                   The model stands in the folder beside; the hashes are those of its model.safetensors and
//                   vocab.txt. model.safetensors here holds no word embeddings, and there is no vocab.txt.
//                   Both models share one table and one tokenizer in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "nn/model_folder.h"
#include "reader/bert_model.h"
#include "reader/inference_encoder.h"
#include "reader/wordpiece.h"

namespace askbase::reader {

inline constexpr const char* kSpanReaderKind = "span-reader";

struct EmbedOptions {
  std::size_t longest = 256;  // pieces of a text that are read, [CLS] and [SEP] included
  std::size_t batch = 2048;   // pieces in a pass, about: memory against the cost of a pass
};

// Immutable; any number of threads may use one, each with its own workspace.
class TextEncoder {
 public:
  using Stop = InferenceEncoder::Stop;

  // lender: the model whose word embeddings a span-reader shares; null: it is loaded from its folder, with
  // the same options. Errors: those of nn/model_folder.h; not_found (the model to share with), corrupt (it is
  // not the one that this was trained with; weights that do not fit config.json).
  static base::Result<std::shared_ptr<const TextEncoder>> load(
      const std::filesystem::path& folder, const InferenceOptions& options = {},
      std::shared_ptr<const TextEncoder> lender = nullptr);

  const WordPiece& tokenizer() const { return *tokenizer_; }
  const InferenceEncoder& encoder() const { return encoder_; }
  // The text of the folder's config.json.
  const std::string& config_text() const { return config_text_; }
  // SHA-256 of the folder's model.safetensors in hexadecimal: vectors of another model are not comparable.
  const std::string& sha256() const { return sha256_; }
  const std::string& vocabulary_sha256() const { return vocabulary_sha256_; }

  // Scores of start and end of an answer: x (n, hidden) -> scores (n, 2). Without a head a programmer error
  // (std::logic_error).
  bool has_span_head() const { return span_head_.has_value(); }
  void span_scores(nn::View<const float> x, nn::View<float> scores) const;

  // Sentence vectors (sentence_vectors() in bert_encoder.h): one row of length 1 a text, (texts, hidden).
  // What is no UTF-8 is read as the tokenizer reads it; an empty text is [CLS] [SEP]. Error timeout: stop
  // said so.
  base::Result<nn::Matrix<float>> embed(std::span<const std::string_view> texts,
                                        nn::Team& team = nn::one_thread(), const Stop& stop = {},
                                        const EmbedOptions& options = {}) const;

 private:
  TextEncoder(std::shared_ptr<const WordPiece> tokenizer, InferenceEncoder encoder)
      : tokenizer_(std::move(tokenizer)), encoder_(std::move(encoder)) {}

  std::shared_ptr<const WordPiece> tokenizer_;
  InferenceEncoder encoder_;
  std::optional<nn::PackedLinear> span_head_;
  std::string config_text_, sha256_, vocabulary_sha256_;
};

struct SpanReaderToSave {
  std::string lender_name = {};  // of the lender's folder, which must stand beside: "en-sentence"
  std::string settings = "{}";   // a JSON object whose members go into config.json
  std::string card = {};
  nn::Storage storage = nn::Storage::int8;
};

// Writes a folder of kind "span-reader". The model must have a span head, and the lender its vocabulary
// (std::logic_error). Errors: invalid_argument (the model's word embeddings, rounded to int8, are not the
// lender's: they were not frozen), those of nn::save_model.
base::Status save_span_reader(const std::filesystem::path& folder, const BertModel& model,
                              const TextEncoder& lender, const SpanReaderToSave& options);

// Such a folder as a model in floats that training can go on from; the lender must stand beside it. Errors:
// those of TextEncoder::load.
base::Result<std::unique_ptr<BertModel>> load_span_reader(const std::filesystem::path& folder);

}  // namespace askbase::reader
