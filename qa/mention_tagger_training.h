// Trains the tagger of qa/mention_tagger.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/team.h"
#include "qa/mention_model.h"

namespace askbase::qa {

// A question and the place of its name. Tokens are those of mention_tokens().
struct TaggedQuestion {
  std::string question;
  TokenSpan mention;
};

// Words with vectors made by others, a row each; folded (base::fold_case).
struct MentionWords {
  std::vector<std::string> words;
  nn::Index dimensions = 0;
  std::vector<float> vectors;
};

struct MentionTraining {
  std::string language = "en";
  std::uint64_t seed = 1;
  std::int64_t epochs = 12;
  int patience = 4;    // epochs without a better accuracy on the validation questions
  double minutes = 0;  // of this call; 0: no limit
  double rate = 2e-3;
  nn::Index batch = 64;
  nn::Index hidden = 128, layers = 1;
  nn::Index own_words = 3000;   // the most frequent ones of the training questions get vectors of their own
  nn::Index pair_rows = 0;      // 0: no pairs
  std::size_t least_words = 2;  // a word without a vector of others is learned when it comes so often
  std::size_t least_letters = 10;  // a letter, likewise
  double word_dropout = 0.05;      // how often a word is hidden, and how often
  double mention_dropout = 0.2;    // one of a mention, so that names are found by what stands around them
  double recased = 0.5;            // how many of the questions are read in another casing
  std::filesystem::path checkpoint = {}, curves = {};  // files; empty: none
  bool resume = false;
  bool progress = true;
};

struct TrainedTagger {
  std::unique_ptr<MentionModel> model;
  std::int64_t epochs = 0;
  double valid_exact = 0, seconds = 0;
};

// Learns from `train`; the best epoch is that with the most validation questions whose most probable span is
// the mention. Without vectors of others (dimensions 0) words are learned, too: `dimensions` numbers each, 64
// by default. The same input, options, CPU type and team size give the same model. Errors: those of
// nn/trainer.h, bad_input where a mention lies outside of its question.
base::Result<TrainedTagger> train_mention_tagger(const std::vector<TaggedQuestion>& train,
                                                 const std::vector<TaggedQuestion>& valid, MentionWords words,
                                                 const MentionTraining& options, nn::Team& team);

}  // namespace askbase::qa
