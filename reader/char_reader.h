// The reader for Chinese: reader/text_reader.h by the network of reader/char_model.h. Simplified and
// Traditional characters are read alike; offsets are those of the text as it was given.
//
//   ASKBASE_ASSIGN(const auto reader, CharReader::load("models/zh-reader"));
//   const auto workspace = reader->workspace();
//   reader->read("乐队成立于哪一年？", {{text}}, {}, *workspace, nn::one_thread());
//
// A long text is read in windows of kCharWindow characters that overlap by half; of more than
// kMostCharWindows only those that share most with the question, so that the time of a reading is bounded. It
// has learned from texts that do answer: null_odds only say how poor the best span is.
#pragma once

#include <filesystem>
#include <memory>

#include "reader/char_model.h"
#include "reader/text_reader.h"

namespace askbase::reader {

inline constexpr std::size_t kCharWindow = 1024, kMostCharWindows = 16, kLongestCharQuestion = 256;
class CharReader : public TextReader {
 public:
  // A model folder of kind "char-reader". Errors: those of CharModel::load.
  static base::Result<std::shared_ptr<const CharReader>> load(const std::filesystem::path& folder);
  explicit CharReader(std::unique_ptr<const CharModel> model) : model_(std::move(model)) {}

  std::unique_ptr<Workspace> workspace() const override;
  base::Result<std::vector<Reading>> read(std::string_view question, std::span<const std::string_view> texts,
                                          const ReadOptions& options, Workspace& workspace, nn::Team& team,
                                          const Stop& stop = {}) const override;
  const ReadCalibration& calibration() const override { return model_->calibration(); }

 private:
  class Scratch;
  base::Result<Reading> read_one(std::u32string_view question, std::string_view text,
                                 const ReadOptions& options, Scratch& scratch, nn::Team& team,
                                 const Stop& stop) const;
  std::unique_ptr<const CharModel> model_;
};

}  // namespace askbase::reader
