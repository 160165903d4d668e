// Trains a BERT encoder and a span head to answer questions from texts, or to see that a text has no answer
// (Devlin 2019, sections 4.2 and 4.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/team.h"
#include "nn/trainer.h"
#include "reader/bert_model.h"

namespace askbase::reader {

struct ReadingQuestion {
  std::string question;
  std::size_t context = 0;         // index into ReadingSet::contexts
  std::size_t begin = 0, end = 0;  // the answer, half-open, in code points of the context; equal: it has none
  bool answerable() const { return begin < end; }
};

struct ReadingSet {
  std::vector<std::string> contexts;
  std::vector<ReadingQuestion> questions;
};

// The best span of a validation question, which may be empty where the context is, and how much better "no
// answer" scored than it.
struct ReadingGuess {
  std::string answer;
  double null_odds = 0;
};
// Measures guesses, one a validation question.
using ReadingMeasure = std::function<nn::Evaluation(const std::vector<ReadingGuess>&)>;

struct SpanTraining {
  std::uint64_t seed = 1;
  std::int64_t epochs = 1;
  double minutes = 0;          // of this call; 0: no limit. With a checkpoint the next call goes on
  nn::Index batch = 32;        // questions
  int accumulate = 1;          // batches a step
  nn::Index max_length = 320;  // ids of a question with its window of the context
  double rate = 2e-4;          // the highest
  double warmup_share = 0.06;
  double weight_decay = 0.01;
  double clip_norm = 1.0;
  double ema_decay = 0.999;         // of the average of the weights that is kept; 0: the weights themselves
  std::int64_t evaluate_every = 0;  // steps; 0: after every epoch
  // The word embeddings stay as they are, rounded as an int8 file will hold them.
  bool freeze_words = true;
  nn::Precision precision = nn::Precision::bf16;       // of the large products, where the CPU has it
  std::filesystem::path checkpoint = {}, curves = {};  // files; empty: none
  bool resume = false;
  bool progress = true;
};

struct SpanTrainingResult {
  nn::TrainingResult run;
  std::size_t questions = 0;  // trained on
  std::size_t left_out = 0;   // whose answer lies in no piece, or does not fit a window
};

// Rounds every row of the word embeddings to 255 steps, as nn/quantize.h stores it as int8.
void round_word_embeddings(BertModel& model);

// The same model with a fresh span head, where it has none.
std::unique_ptr<BertModel> with_span_head(std::unique_ptr<BertModel> model, std::uint64_t seed);

// Trains model, which has a span head, in place; at the end it holds the best average weights by
// measure(...).metric over `valid` (which may be empty). A context that is longer than a window is read in
// one that holds the answer, drawn by the seed. Errors: those of nn/trainer.h; bad_input where nothing is
// left to train on.
base::Result<SpanTrainingResult> train_span_reader(BertModel& model, const ReadingSet& train,
                                                   const ReadingSet& valid, const ReadingMeasure& measure,
                                                   const SpanTraining& options, nn::Team& team);

}  // namespace askbase::reader
