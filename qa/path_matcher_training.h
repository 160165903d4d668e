// Trains the matcher of qa/path_matcher.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/parameters.h"
#include "nn/team.h"
#include "qa/path_matcher.h"

namespace askbase::qa {

// A path as questions may ask for it.
struct TrainingPath {
  std::vector<PathText> texts;  // the first is used most often; another now and then
  // Paths compete with those of their own schema: two that mean the same in two schemas are no rivals.
  std::uint32_t schema = 0;
  std::uint32_t steps = 1;                                         // relations
  std::vector<std::string> answer_type = {}, answer_context = {};  // words, for models with these aspects
};

struct MatchExample {
  std::string question;
  std::vector<MentionRange> mentions;
  std::vector<std::uint32_t> gold;    // indices into MatchData::paths: at least one
  std::vector<std::uint32_t> rivals;  // the others to choose from: of the same entity, or of a given pool
  std::uint32_t group = 0;            // of validation questions: figures are by group
};

struct MatchData {
  std::vector<TrainingPath> paths;
  std::vector<MatchExample> train, valid;
  std::vector<std::string> groups;  // names of the groups of valid
  bool valid_among_all = false;  // validation questions choose among all paths of the schema, not the rivals
};

// Word vectors to begin with: a row each. Words are keys (path_words()).
struct MatchVectors {
  std::vector<std::string> words;
  nn::Index dimensions = 0;
  std::vector<float> values;
};

struct PathMatcherTraining {
  std::string language = "en";
  std::uint64_t seed = 1;
  std::int64_t epochs = 8;
  int patience = 0;                     // evaluations without a better figure before it ends; 0: none
  double rate = 2e-3, word_rate = 0.2;  // word_rate: of the words' vectors, as a share of rate
  nn::Index dimensions = 100;           // where there are no word vectors to begin with
  nn::Index hidden = 100;               // of the LSTMs, each direction
  nn::Index buckets = 16384;            // of character n-grams
  nn::Index batch = 96;
  std::string attention = "score=scaled_dot";
  bool alignment = true;
  nn::Index aspects = 0;       // 1: the answer's type is read, too; 2: and what surrounds the answer
  nn::Index mention_tail = 0;  // words of a mention's name that are read, the last ones
  nn::Index hard = 4;      // rivals of each question in a batch, half of its entity, half alike in other ways
  nn::Index compete = 96;  // paths of the batch that a question chooses from
  double unit_drop = 0.5;  // how often the units of a path are unknown
  double plain_share = 0.3;  // how often a path is said in another way than its first
  double margin = 0;         // above 0: margin loss on scores instead of softmax
  double word_dropout = 0.3, state_dropout = 0.2;
  std::int64_t evaluate_every = 0;                     // steps; 0: each epoch
  double minutes = 0;                                  // of this call; 0: no limit
  std::filesystem::path checkpoint = {}, curves = {};  // files; empty: none
  bool resume = false;
  bool progress = true;
};

struct TrainedPathMatcher {
  nn::Parameters<float> parameters;
  std::string config, words, units;  // files of the model folder
  std::int64_t epochs = 0, steps = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> valid;  // accuracy by group, of the weights kept
};

// Softmax over a question's path, its rivals and other paths of the batch (or a margin to each of them). The
// weights kept are those with the best mean of the groups' accuracies on data.valid. The same input, options,
// CPU type and team size give the same model. Errors: those of nn/trainer.h; invalid_argument (the
// attention); bad_input where no question can be used.
base::Result<TrainedPathMatcher> train_path_matcher(const MatchData& data, MatchVectors vectors,
                                                    const PathMatcherTraining& options, nn::Team& team);

// A model folder with this text as its card: tables of words, n-grams and units as int8, the rest as half
// floats.
base::Status save_path_matcher(const std::filesystem::path& folder, const TrainedPathMatcher& model,
                               std::string card);

// Share of questions whose best path is a gold one, with no other path as good: among its rivals and gold
// paths, or, when `among_all`, all paths, where those that read the same are one. hits: of each question,
// whether. Paths are said by their first text.
double path_accuracy(const PathMatcher& matcher, const std::vector<TrainingPath>& paths,
                     const std::vector<MatchExample>& questions, bool among_all, nn::Team& team,
                     std::vector<char>* hits = nullptr);

}  // namespace askbase::qa
