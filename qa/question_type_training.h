// Trains the classifier of qa/question_type.h, and the linear bag-of-words model that it is compared with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/parameters.h"
#include "nn/team.h"

namespace askbase::qa {

struct TypedText {
  std::string question, fine;  // "HUM:ind"
  std::string coarse() const { return fine.substr(0, fine.find(':')); }
};

// The words that a model is to know and their vectors, a row each. Words are folded (base::fold_case).
struct QuestionWords {
  std::vector<std::string> words;
  nn::Index dimensions = 0;
  std::vector<float> vectors;
};

struct QuestionTypeTraining {
  std::uint64_t seed = 1;
  std::int64_t epochs = 30;
  int patience = 8;  // epochs without a better accuracy on the validation questions
  double rate = 2e-3;
  nn::Index hidden = 128;
  std::filesystem::path checkpoint = {}, curves = {};  // files; empty: none
  bool resume = false;
  bool progress = true;
};

struct TrainedQuestionType {
  nn::Parameters<float> parameters;
  std::string config, vocabulary;  // of the model folder
  std::int64_t epochs = 0;
  double valid_accuracy = 0, seconds = 0;
};

// Learns from `train`; the best epoch is the one with the best coarse accuracy on `valid`, and the best fine
// one among equals. The same input, options, CPU type and team size give the same model. Errors: those of
// nn/trainer.h; bad_input where `valid` has a coarse type that `train` has not.
base::Result<TrainedQuestionType> train_question_type(const std::vector<TypedText>& train,
                                                      const std::vector<TypedText>& valid,
                                                      QuestionWords words,
                                                      const QuestionTypeTraining& options, nn::Team& team);

// A model folder with this text as its card. The table of word vectors as int8, everything else as half
// floats.
base::Status save_question_type(const std::filesystem::path& folder, const TrainedQuestionType& model,
                                std::string card);

// Multinomial logistic regression over the words and the pairs of neighbouring words of a question (present
// or not), with L2 decay: the coarse types that it gives to `test`. Trained with the same trainer, its epoch
// chosen on `valid`.
base::Result<std::vector<std::string>> linear_bag_of_words(const std::vector<TypedText>& train,
                                                           const std::vector<TypedText>& valid,
                                                           const std::vector<std::string>& test,
                                                           std::uint64_t seed, nn::Team& team);

}  // namespace askbase::qa
