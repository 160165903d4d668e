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
#include <string>

#include "reader/text_encoder.h"
#include "reader/text_reader.h"

namespace askbase::reader {

inline constexpr std::size_t kMostBertWindows = 64;

// What a reader needs to know besides its weights: the member "reader" of a model folder's config.json.
struct BertReaderConfig {
  WindowOptions windows = {};
  std::size_t longest_answer = 30;  // pieces
  ReadCalibration calibration = {};

  // From the text of config.json; what is not said keeps its default. Error corrupt: a number that cannot be.
  static base::Result<BertReaderConfig> parse(const std::string& config, const std::string& name);
  // {"reader": {...}}
  std::string json() const;
};

class BertReader : public TextReader {
 public:
  // A model folder that TextEncoder::load knows, with a span head. lender: as there. Errors: those of
  // TextEncoder::load; unsupported without a span head; corrupt.
  static base::Result<std::shared_ptr<const BertReader>> load(
      const std::filesystem::path& folder, const InferenceOptions& options = {},
      std::shared_ptr<const TextEncoder> lender = nullptr);
  // A model without a span head, or with fewer positions than the windows have ids, is a programmer error
  // (std::logic_error).
  BertReader(std::shared_ptr<const TextEncoder> model, const BertReaderConfig& config);

  std::unique_ptr<Workspace> workspace() const override;
  base::Result<std::vector<Reading>> read(std::string_view question, std::span<const std::string_view> texts,
                                          const ReadOptions& options, Workspace& workspace, nn::Team& team,
                                          const Stop& stop = {}) const override;
  const ReadCalibration& calibration() const override { return config_.calibration; }
  const BertReaderConfig& config() const { return config_; }

 private:
  class Scratch;
  std::shared_ptr<const TextEncoder> model_;
  BertReaderConfig config_;
};

// Windows of a context that are worth reading: all of them, or the `most` that hold most of the question's
// pieces, where a piece that stands in few windows counts more (ties: the earlier). In the text's order.
std::vector<Window> chosen_windows(const Pieces& question, const Pieces& context, std::vector<Window> windows,
                                   std::size_t most);

}  // namespace askbase::reader
