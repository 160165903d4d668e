// A mention tagger with its tables and weights: what training makes and inference loads. Internal to qa/; the
// public side is qa/mention_tagger.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/model_folder.h"
#include "nn/parameters.h"
#include "qa/mention_network.h"
#include "qa/mention_text.h"
#include "qa/question_type_network.h"

namespace askbase::qa {

inline constexpr const char* kMentionTaggerKind = "mention-tagger";

// A question made ready once: rows of tables, and what its casing may change.
struct MentionText {
  std::vector<std::int32_t> words;
  std::vector<std::string> keys;        // of the pairs
  std::vector<std::u32string> letters;  // as written, at most most_letters of a token
  std::vector<base::TokenKind> kinds;
  std::vector<std::uint8_t> quoted;
  std::vector<std::uint8_t> joined;  // nothing stands between the token and the one before
  static constexpr std::size_t most_letters = 24;
  std::size_t size() const { return words.size(); }
};

// Safe to share between threads as long as nobody changes the parameters.
class MentionModel {
 public:
  using Cache = MentionNetwork<float>::Cache;

  // Sizes that follow from the tables are filled in.
  MentionModel(QuestionVocabulary vocabulary, LetterTable letters, MentionConfig config);
  MentionModel(const MentionModel&) = delete;
  MentionModel& operator=(const MentionModel&) = delete;

  // Errors: those of nn/model_folder.h; corrupt for sizes out of range.
  static base::Result<std::unique_ptr<MentionModel>> load(const std::filesystem::path& folder);
  // Tables of vectors as int8, everything else as half floats; card: README.md.
  base::Status save(const std::filesystem::path& folder, std::string card) const;
  std::string config_json() const;

  MentionText text_of(const std::vector<base::Token>& tokens) const;

  // How one question is to be read in training: another casing, words left out.
  struct Reading {
    Casing casing = Casing::as_written;
    TokenSpan mention;                                  // for Casing::title_mention
    std::vector<std::uint8_t> hidden;                   // of each token: its word is not known; empty: none
    std::size_t tokens = static_cast<std::size_t>(-1);  // the first so many
  };
  // Empties the cache; adds a question to it.
  void clear(Cache& cache) const;
  void add(const MentionText& text, const Reading& reading, Cache& cache) const;

  const MentionNetwork<float>& network() const { return network_; }
  const nn::Parameters<float>& parameters() const { return parameters_; }
  nn::Parameters<float>& parameters() { return parameters_; }
  const QuestionVocabulary& vocabulary() const { return vocabulary_; }

 private:
  QuestionVocabulary vocabulary_;
  LetterTable letters_;
  nn::Parameters<float> parameters_;
  MentionNetwork<float> network_;
};

}  // namespace askbase::qa
