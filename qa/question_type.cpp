#include "qa/question_type.h"

#include <algorithm>

#include "base/json.h"
#include "nn/model_folder.h"
#include "nn/softmax.h"
#include "qa/question_type_network.h"

namespace askbase::qa {

namespace {

using nn::Index;

base::Result<QuestionTypeConfig> read_config(const base::Json& json) {
  QuestionTypeConfig config;
  ASKBASE_ASSIGN(config.dimensions, base::whole_number(json, "dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.hidden, base::whole_number(json, "hidden", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.attention, base::whole_number(json, "attention", 1, 1024, "config.json"));
  const auto labels = json.find("labels");
  if (labels != json.end() && labels->is_array() && labels->size() <= 1000) {
    for (const base::Json& label : *labels) {
      if (label.is_string()) config.labels.push_back(label.get<std::string>());
    }
  }
  if (config.labels.empty() || config.labels.size() != labels->size()) {
    return base::fail(base::ErrorCode::corrupt, "config.json: \"labels\" is no list of names");
  }
  return config;
}

class Classifier : public QuestionTypeClassifier {
 public:
  Classifier(const QuestionTypeConfig& config, QuestionVocabulary vocabulary)
      : labels_(config.labels),
        coarse_labels_(config.coarse_labels()),
        vocabulary_(std::move(vocabulary)),
        network_(p_, config, vocabulary_.size()) {}

  nn::Parameters<float>& parameters() { return p_; }

  QuestionType classify(std::string_view question) const override {
    const QuestionVocabulary::Words words = vocabulary_.words_of(question);
    QuestionTypeNetwork<float>::Cache cache;
    cache.segments = nn::Segments::one(static_cast<Index>(words.rows.size()));
    cache.rows = words.rows;
    network_.forward(p_, cache, {});
    nn::softmax<float>(cache.coarse, cache.coarse.view());
    nn::softmax<float>(cache.fine, cache.fine.view());
    const auto best = [](const nn::Matrix<float>& m) {
      return std::max_element(m.data(), m.data() + m.cols()) - m.data();
    };
    const Index coarse = best(cache.coarse), fine = best(cache.fine);
    QuestionType type;
    type.coarse = coarse_labels_[static_cast<std::size_t>(coarse)];
    type.coarse_probability = static_cast<double>(cache.coarse(0, coarse));
    type.fine = labels_[static_cast<std::size_t>(fine)];
    type.fine_probability = static_cast<double>(cache.fine(0, fine));
    const std::vector<float> weights = network_.weights(cache, 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      type.words.emplace_back(words.text[i], static_cast<double>(weights[i]));
    }
    return type;
  }

 private:
  std::vector<std::string> labels_, coarse_labels_;
  QuestionVocabulary vocabulary_;
  nn::Parameters<float> p_;
  QuestionTypeNetwork<float> network_;
};

}  // namespace

base::Result<std::shared_ptr<const QuestionTypeClassifier>> QuestionTypeClassifier::load(
    const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, "question-type"));
  ASKBASE_ASSIGN(const base::Json json, base::parse_json(folder.config()));
  ASKBASE_ASSIGN(const QuestionTypeConfig config, read_config(json));
  ASKBASE_ASSIGN(const std::string words, folder.read("vocab.txt"));
  ASKBASE_ASSIGN(QuestionVocabulary vocabulary, QuestionVocabulary::parse(words));
  auto classifier = std::make_shared<Classifier>(config, std::move(vocabulary));
  ASKBASE_TRY(folder.fill(classifier->parameters()));
  return classifier;
}

}  // namespace askbase::qa
