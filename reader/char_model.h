// The character reader with its weights: LAC's network, how rare characters are, and the reading network.
// A model folder of kind "char-reader": config.json (the sizes, and by tag whether it begins a word),
// characters.txt, model.safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/parameters.h"
#include "reader/char_network.h"
#include "reader/char_text.h"
#include "reader/lexical_encoder.h"
#include "reader/text_reader.h"

namespace askbase::reader {

inline constexpr const char* kCharReaderKind = "char-reader";

// A text with what LAC says of it.
struct AnalysedText {
  CharText text;
  std::vector<std::uint16_t> states;  // (text.size(), states of the lexical encoder) as half floats
};

// Safe to share between threads as long as nobody changes the parameters.
class CharModel {
 public:
  struct Scratch {
    LexicalEncoder::Cache lexical;
    nn::Matrix<float> states;
  };

  CharModel(CharVocabulary vocabulary, const LexicalSizes& sizes, std::vector<std::uint8_t> word_begins,
            CharNetworkConfig config);
  CharModel(const CharModel&) = delete;
  CharModel& operator=(const CharModel&) = delete;

  // LAC's weights from jieba's folder, rounded as a model folder will hold them, and a fresh reading network.
  // The sizes that follow from LAC are filled in. Errors: those of open_lac and fill_lac.
  static base::Result<std::unique_ptr<CharModel>> from_lac(const std::filesystem::path& folder,
                                                           const CharNetworkConfig& config,
                                                           std::uint64_t seed);
  // A model folder. Errors: those of nn/model_folder.h.
  static base::Result<std::unique_ptr<CharModel>> load(const std::filesystem::path& folder);
  // card: README.md. Errors: those of nn::save_model.
  base::Status save(const std::filesystem::path& folder, const std::string& card) const;

  // Learns how rare each character is: in how few of the texts it stands, 0 .. 1.
  void count_rarity(const std::vector<AnalysedText>& texts);

  // Folds, and cuts into sentences, `texts` of valid code points, then runs LAC over them all at once.
  std::vector<AnalysedText> analyse(const std::vector<std::u32string_view>& texts, Scratch& scratch,
                                    const nn::Context& context) const;
  // The network's input, x (text.size(), config().input).
  void put_input(const AnalysedText& text, nn::View<float> x) const;
  CharStatistics statistics() const;

  const CharNetwork<float>& network() const { return network_; }
  const nn::Parameters<float>& parameters() const { return parameters_; }
  nn::Parameters<float>& parameters() { return parameters_; }
  std::string config() const;  // of the model folder
  std::string sizes() const;   // the part of it that the weights depend on

  // From scores to probabilities; before it is fitted, confidence is p / (1 + p) of p, the softmax over all
  // spans.
  const ReadCalibration& calibration() const { return calibration_; }
  void set_calibration(const ReadCalibration& calibration) { calibration_ = calibration; }

 private:
  CharVocabulary vocabulary_;
  LexicalSizes sizes_;
  std::vector<std::uint8_t> word_begins_;
  nn::Parameters<float> parameters_;
  LexicalEncoder lexical_;
  nn::ParameterId rarity_;
  CharNetwork<float> network_;
  ReadCalibration calibration_{.offset = 0, .by_null = 0, .by_rivals = 1, .null_threshold = 1e9};
};

}  // namespace askbase::reader
