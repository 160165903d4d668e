#include "qa/question_type_training.h"

#include <algorithm>
#include <unordered_map>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "nn/model_folder.h"
#include "nn/quantize.h"
#include "nn/softmax.h"
#include "nn/trainer.h"
#include "qa/question_type_network.h"

namespace askbase::qa {

namespace {

using nn::Index;

// Places of names in a sorted list; -1: not in it.
Index place(const std::vector<std::string>& sorted, const std::string& name) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), name);
  return found != sorted.end() && *found == name ? found - sorted.begin() : -1;
}

template <typename Get>
std::vector<std::string> sorted_labels(const std::vector<TypedText>& texts, Get&& get) {
  std::vector<std::string> labels;
  for (const TypedText& text : texts) labels.push_back(get(text));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

base::Status check_types(const std::vector<std::string>& coarse, const std::vector<TypedText>& valid) {
  for (const TypedText& text : valid) {
    if (place(coarse, text.coarse()) < 0) {
      return base::fail(
          base::ErrorCode::bad_input,
          "the type " + text.coarse() + " of a validation question is not among those trained on");
    }
  }
  return {};
}

struct Example {
  std::vector<std::int32_t> rows;
  Index coarse = -1, fine = -1;
};

class Task : public nn::TrainingTask<float> {
 public:
  Task(const QuestionTypeNetwork<float>& network, std::vector<Example> train, std::vector<Example> valid,
       std::string fingerprint, int workers)
      : network_(network),
        train_(std::move(train)),
        valid_(std::move(valid)),
        fingerprint_(std::move(fingerprint)),
        caches_(static_cast<std::size_t>(workers)) {}

  Index example_count() const override { return static_cast<Index>(train_.size()); }
  Index length(Index i) const override {
    return static_cast<Index>(train_[static_cast<std::size_t>(i)].rows.size());
  }
  std::string fingerprint() const override { return fingerprint_; }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    auto& cache = caches_[static_cast<std::size_t>(shard.worker)];
    std::vector<Index> coarse, fine;
    cache.segments.clear();
    cache.rows.clear();
    for (const Index i : shard.examples) add(train_[static_cast<std::size_t>(i)], cache, coarse, fine);
    network_.forward(p, cache, context);
    nn::Matrix<float> d_coarse(cache.coarse.rows(), cache.coarse.cols()),
        d_fine(cache.fine.rows(), cache.fine.cols());
    double loss = nn::cross_entropy<float>(cache.coarse, coarse, d_coarse);
    loss += nn::cross_entropy<float>(cache.fine, fine, d_fine, kFineShare) * kFineShare;
    network_.backward(p, cache, d_coarse, d_fine, g, context);
    return {loss, static_cast<double>(shard.examples.size())};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p, nn::Team&) override {
    if (valid_.empty()) return std::nullopt;
    constexpr std::size_t kBatch = 128;
    Index right = 0, right_fine = 0;
    double loss = 0;
    for (std::size_t begin = 0; begin < valid_.size(); begin += kBatch) {
      std::vector<Index> coarse, fine;
      auto& cache = caches_[0];
      cache.segments.clear();
      cache.rows.clear();
      for (std::size_t i = begin; i < std::min(valid_.size(), begin + kBatch); ++i)
        add(valid_[i], cache, coarse, fine);
      network_.forward(p, cache, {});
      loss += nn::cross_entropy<float>(cache.coarse, coarse, {});
      for (Index r = 0; r < cache.coarse.rows(); ++r) {
        const auto best = [r](const nn::Matrix<float>& m) {
          return std::max_element(m.row(r), m.row(r) + m.cols()) - m.row(r);
        };
        right += best(cache.coarse) == coarse[static_cast<std::size_t>(r)];
        right_fine += best(cache.fine) == fine[static_cast<std::size_t>(r)];
      }
    }
    const auto n = static_cast<double>(valid_.size());
    const double accuracy = static_cast<double>(right) / n,
                 fine_accuracy = static_cast<double>(right_fine) / n;
    // Coarse types decide, fine ones between equals.
    return nn::Evaluation{
        accuracy + 0.01 * fine_accuracy,
        {{"accuracy", accuracy}, {"fine_accuracy", fine_accuracy}, {"valid_loss", loss / n}}};
  }

 private:
  // The fine types teach the encoder what the coarse ones have in common.
  static constexpr float kFineShare = 0.5F;

  static void add(const Example& example, QuestionTypeNetwork<float>::Cache& cache,
                  std::vector<Index>& coarse, std::vector<Index>& fine) {
    cache.segments.add(static_cast<Index>(example.rows.size()));
    cache.rows.insert(cache.rows.end(), example.rows.begin(), example.rows.end());
    coarse.push_back(example.coarse);
    fine.push_back(example.fine);
  }

  const QuestionTypeNetwork<float>& network_;
  std::vector<Example> train_, valid_;
  std::string fingerprint_;
  std::vector<QuestionTypeNetwork<float>::Cache> caches_;
};

// Of everything that a resumed run must share with the one before.
std::string fingerprint_of(const std::vector<TypedText>& train, const std::vector<TypedText>& valid,
                           const std::string& config, const std::string& vocabulary) {
  std::string all = config + '\0' + vocabulary;
  for (const auto* part : {&train, &valid}) {
    for (const TypedText& text : *part) all += '\0' + text.fine + '\t' + text.question;
  }
  return base::sha256(all);
}

// --- The linear model -------------------------------------------------------------------------------------

class LinearTask : public nn::TrainingTask<float> {
 public:
  LinearTask(nn::Parameters<float>& p, Index features, std::vector<std::string> labels,
             std::vector<std::vector<Index>> train, std::vector<Index> targets,
             std::vector<std::vector<Index>> valid, std::vector<Index> valid_targets)
      : weights_(p, "bag", table(features, static_cast<Index>(labels.size()))),
        train_(std::move(train)),
        targets_(std::move(targets)),
        valid_(std::move(valid)),
        valid_targets_(std::move(valid_targets)),
        labels_(static_cast<Index>(labels.size())) {}

  Index example_count() const override { return static_cast<Index>(train_.size()); }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    double loss = 0;
    for (const Index i : shard.examples) {
      const auto& features = train_[static_cast<std::size_t>(i)];
      const nn::Matrix<float> logits = score(p, features, context);
      nn::Matrix<float> d(1, labels_), rows(static_cast<Index>(features.size()), labels_);
      const Index target = targets_[static_cast<std::size_t>(i)];
      loss += nn::cross_entropy<float>(logits, {&target, 1}, d);
      for (Index r = 0; r < rows.rows(); ++r) std::copy_n(d.data(), labels_, rows.row(r));
      weights_.backward(features, rows, g);
    }
    return {loss, static_cast<double>(shard.examples.size())};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p, nn::Team&) override {
    Index right = 0;
    for (std::size_t i = 0; i < valid_.size(); ++i) right += best(p, valid_[i]) == valid_targets_[i];
    const double accuracy =
        static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(1, valid_.size()));
    return nn::Evaluation{accuracy, {{"accuracy", accuracy}}};
  }

  Index best(const nn::Parameters<float>& p, const std::vector<Index>& features) const {
    const nn::Matrix<float> logits = score(p, features, {});
    return std::max_element(logits.data(), logits.data() + labels_) - logits.data();
  }

 private:
  static nn::EmbeddingOptions table(Index features, Index labels) {
    nn::EmbeddingOptions options;
    options.rows = features;
    options.dim = labels;
    options.initial = nn::Initial::zeros;
    options.sparse = false;  // decay reaches every weight
    return options;
  }
  nn::Matrix<float> score(const nn::Parameters<float>& p, const std::vector<Index>& features,
                          const nn::Context& context) const {
    nn::Matrix<float> rows(static_cast<Index>(features.size()), labels_), sum(1, labels_);
    weights_.forward(p, features, rows, context);
    for (Index r = 0; r < rows.rows(); ++r) {
      for (Index c = 0; c < labels_; ++c) sum(0, c) += rows(r, c);
    }
    return sum;
  }

  nn::Embedding<float> weights_;
  std::vector<std::vector<Index>> train_;
  std::vector<Index> targets_;
  std::vector<std::vector<Index>> valid_;
  std::vector<Index> valid_targets_;
  Index labels_;
};

// Words and pairs of neighbours, each once.
std::vector<std::string> bag(const QuestionVocabulary& tokens, std::string_view question) {
  std::vector<std::string> words = tokens.words_of(question).text, features;
  for (std::string& word : words) word = base::fold_case(word);
  for (std::size_t i = 0; i < words.size(); ++i) {
    features.push_back(words[i]);
    features.push_back((i == 0 ? std::string() : words[i - 1]) + ' ' + words[i]);
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

}  // namespace

base::Result<TrainedQuestionType> train_question_type(const std::vector<TypedText>& train,
                                                      const std::vector<TypedText>& valid,
                                                      QuestionWords words,
                                                      const QuestionTypeTraining& options, nn::Team& team) {
  QuestionTypeConfig config;
  config.dimensions = words.dimensions;
  config.hidden = options.hidden;
  config.labels = sorted_labels(train, [](const TypedText& text) { return text.fine; });
  const std::vector<std::string> coarse = config.coarse_labels();
  ASKBASE_TRY(check_types(coarse, valid));

  TrainedQuestionType model;
  model.config = base::dump_json({{"dimensions", config.dimensions},
                                  {"hidden", config.hidden},
                                  {"attention", config.attention},
                                  {"word_dropout", config.word_dropout},
                                  {"output_dropout", config.output_dropout},
                                  {"labels", config.labels}});
  const QuestionVocabulary vocabulary(std::move(words.words));
  model.vocabulary = vocabulary.text();
  const QuestionTypeNetwork<float> network(model.parameters, config, vocabulary.size());
  model.parameters.initialise(options.seed);
  // Rounded to what the file will hold, so that the network learns with the vectors that ship.
  const nn::View<const float> given(words.vectors.data(), vocabulary.size() - QuestionVocabulary::special,
                                    config.dimensions);
  std::vector<std::int8_t> rounded(static_cast<std::size_t>(given.size()));
  std::vector<float> scales(static_cast<std::size_t>(given.rows));
  nn::quantize_rows(given, rounded.data(), scales.data());
  nn::dequantize_rows(
      rounded.data(), scales.data(),
      model.parameters.mutable_view(network.table()).rows_from(QuestionVocabulary::special, given.rows));

  const auto examples = [&](const std::vector<TypedText>& texts) {
    std::vector<Example> list;
    for (const TypedText& text : texts) {
      list.push_back({vocabulary.words_of(text.question).rows, place(coarse, text.coarse()),
                      place(config.labels, text.fine)});
    }
    return list;
  };
  Task task(network, examples(train), examples(valid),
            fingerprint_of(train, valid, model.config, model.vocabulary), team.size());
  nn::TrainerConfig trainer;
  trainer.name = "question-type";
  trainer.seed = options.seed;
  trainer.optimizer = {.kind = nn::OptimizerKind::adamw, .weight_decay = 0.01};
  trainer.schedule = {.kind = nn::ScheduleKind::cosine, .rate = options.rate, .warmup_share = 0.05};
  trainer.batching = {.max_examples = 32};
  trainer.clip_norm = 1.0;
  trainer.epochs = options.epochs;
  trainer.patience = options.patience;
  trainer.averaging = nn::Averaging::ema;
  trainer.ema_decay = 0.998;
  trainer.checkpoint = options.checkpoint;
  trainer.curves = options.curves;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  ASKBASE_ASSIGN(const nn::TrainingResult result, nn::train(task, model.parameters, trainer, team));
  model.epochs = result.epochs;
  model.seconds = result.seconds;
  if (!result.best.values.empty()) model.valid_accuracy = result.best.values.front().second;
  return model;
}

base::Status save_question_type(const std::filesystem::path& folder, const TrainedQuestionType& model,
                                std::string card) {
  nn::ModelToSave save;
  save.kind = "question-type";
  save.config = model.config;
  save.files = {{.name = "vocab.txt", .content = model.vocabulary, .vocabulary = true},
                {.name = "README.md", .content = std::move(card), .vocabulary = false}};
  save.storage = nn::Storage::fp16;
  save.storage_of = [](const std::string& name) {
    return name == "words.weight" ? nn::Storage::int8 : nn::Storage::fp16;
  };
  return nn::save_model(folder, save, model.parameters);
}

base::Result<std::vector<std::string>> linear_bag_of_words(const std::vector<TypedText>& train,
                                                           const std::vector<TypedText>& valid,
                                                           const std::vector<std::string>& test,
                                                           std::uint64_t seed, nn::Team& team) {
  const std::vector<std::string> labels =
      sorted_labels(train, [](const TypedText& text) { return text.coarse(); });
  ASKBASE_TRY(check_types(labels, valid));
  const QuestionVocabulary tokens({});
  std::unordered_map<std::string, Index> feature_ids;
  const auto features = [&](const std::string& question, bool learn) {
    std::vector<Index> ids;
    for (const std::string& feature : bag(tokens, question)) {
      if (learn) feature_ids.try_emplace(feature, static_cast<Index>(feature_ids.size()));
      const auto found = feature_ids.find(feature);
      if (found != feature_ids.end()) ids.push_back(found->second);
    }
    return ids;
  };
  const auto all = [&](const std::vector<TypedText>& texts, bool learn) {
    std::pair<std::vector<std::vector<Index>>, std::vector<Index>> out;
    for (const TypedText& text : texts) {
      out.first.push_back(features(text.question, learn));
      out.second.push_back(place(labels, text.coarse()));
    }
    return out;
  };
  auto [train_features, targets] = all(train, true);
  auto [valid_features, valid_targets] = all(valid, false);
  nn::Parameters<float> p;
  LinearTask task(p, static_cast<Index>(feature_ids.size()), labels, std::move(train_features),
                  std::move(targets), std::move(valid_features), std::move(valid_targets));
  nn::TrainerConfig trainer;
  trainer.name = "linear baseline";
  trainer.seed = seed;
  trainer.optimizer = {.kind = nn::OptimizerKind::adamw, .weight_decay = 0.01};
  trainer.schedule = {.kind = nn::ScheduleKind::linear, .rate = 0.02};
  trainer.batching = {.max_examples = 64};
  trainer.epochs = 15;
  trainer.progress = false;
  ASKBASE_TRY(nn::train(task, p, trainer, team));
  std::vector<std::string> answers;
  for (const std::string& question : test) {
    answers.push_back(labels[static_cast<std::size_t>(task.best(p, features(question, false)))]);
  }
  return answers;
}

}  // namespace askbase::qa
