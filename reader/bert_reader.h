// The reader for languages of a BERT model: reader/text_reader.h by an encoder and a span head (Devlin 2019).
//
//   ASKBASE_ASSIGN(const auto reader, BertReader::load("models/en-reader"));
//   const auto workspace = reader->workspace();
//   reader->read("Who wrote Hamlet?", {{text}}, {}, *workspace, nn::one_thread());
//
// A long text is read in windows that overlap; of more than kMostBertWindows only those that share most with
// the question, so that the time of a reading is bounded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "reader/bert_model.h"
#include "reader/inference_encoder.h"
#include "reader/text_reader.h"

namespace askbase::reader {

inline constexpr std::size_t kMostBertWindows = 64;

// What a reader needs to know besides its weights.
struct BertReaderConfig {
  WindowOptions windows = {};
  SpanSearchOptions spans = {};
  ReadCalibration calibration = {};
};

class BertReader : public TextReader {
 public:
  // head: "qa_outputs" of the model, (2, hidden) and (2).
  BertReader(WordPiece tokenizer, InferenceEncoder encoder, nn::View<const float> head_weight,
             std::span<const float> head_bias, const BertReaderConfig& config);

  std::unique_ptr<Workspace> workspace() const override;
  base::Result<std::vector<Reading>> read(std::string_view question, std::span<const std::string_view> texts,
                                          const ReadOptions& options, Workspace& workspace, nn::Team& team,
                                          const Stop& stop = {}) const override;
  const ReadCalibration& calibration() const override { return config_.calibration; }
  const BertReaderConfig& config() const { return config_; }
  const InferenceEncoder& encoder() const { return encoder_; }

 private:
  class Scratch;
  // The score of a row of the encoder's output as start (0) or end (1).
  float dot(const float* x, nn::Index side) const;

  WordPiece tokenizer_;
  InferenceEncoder encoder_;
  nn::Matrix<float> head_;  // (2, hidden)
  float head_bias_[2];
  BertReaderConfig config_;
};

// A reader of a model that was trained or imported, with the numbers of its products as asked for. A model
// without a span head is a programmer error (std::logic_error).
std::shared_ptr<const BertReader> make_bert_reader(const BertModel& model, const BertReaderConfig& config,
                                                   const InferenceOptions& options = {});

// Windows of a context that are worth reading: all of them, or the `most` that hold most of the question's
// pieces, where a piece that stands in few windows counts more (ties: the earlier). In the text's order.
std::vector<Window> chosen_windows(const Pieces& question, const Pieces& context, std::vector<Window> windows,
                                   std::size_t most);

}  // namespace askbase::reader
