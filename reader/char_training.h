// Trains the character reader (reader/char_model.h) on questions with one right span each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "nn/team.h"
#include "nn/trainer.h"
#include "reader/char_model.h"
#include "reader/span.h"
#include "reader/span_training.h"

namespace askbase::reader {

struct CharTraining {
  std::uint64_t seed = 1;
  std::int64_t epochs = 10;
  std::int64_t schedule_epochs =
      0;                    // over which the rate falls to 0; 0: epochs. More: the run ends before it
  double minutes = 0;       // of this call; 0: no limit. With a checkpoint the next call goes on
  nn::Index batch = 16384;  // characters of contexts, each counted once a question
  double rate = 2e-3;       // the highest
  double weight_decay = 0.01;
  double ema_decay = 0.999;
  std::int64_t evaluate_every = 0;  // steps; 0: after every epoch
  int patience = 0;                 // evaluations without a better one before the end; 0: none
  nn::Precision precision = nn::Precision::f32;
  std::filesystem::path checkpoint = {}, curves = {};  // files; empty: none
  bool resume = false;
  bool progress = true;
};

struct CharTrainingResult {
  nn::TrainingResult run;
  std::size_t questions = 0, left_out = 0;  // left out: no answer, or an empty text
};

// Trains model in place; at the end it holds the best average weights by measure(...).metric over `valid`
// (which may be empty). Errors: those of nn/trainer.h; bad_input where nothing is left to train on.
base::Result<CharTrainingResult> train_char_reader(CharModel& model, const ReadingSet& train,
                                                   const ReadingSet& valid, const ReadingMeasure& measure,
                                                   const CharTraining& options, nn::Team& team);

}  // namespace askbase::reader
