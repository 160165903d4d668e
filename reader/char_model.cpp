#include "reader/char_model.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "nn/model_folder.h"
#include "nn/quantize.h"

namespace askbase::reader {

namespace {

using nn::Index;

constexpr const char* kCharacters = "lexical.characters.weight";

CharNetworkConfig with_sizes(CharNetworkConfig config, const LexicalSizes& sizes) {
  config.input = sizes.dimensions + 2 * sizes.hidden + sizes.tags;
  config.pair = kPairFeatures;
  return config;
}

nn::ParameterId add_rarity(nn::Parameters<float>& p, Index vocabulary) {
  return p.add("rarity", {vocabulary}, {.initial = nn::Initial::zeros, .decay = false, .frozen = true});
}

// As the file will hold them.
void round_frozen(nn::Parameters<float>& p) {
  for (nn::ParameterId id = 0; id < p.count(); ++id) {
    if (!p.options(id).frozen) continue;
    const nn::View<float> w = p.mutable_view(id);
    if (p.name(id) == kCharacters) {
      std::vector<std::int8_t> rounded(static_cast<std::size_t>(w.size()));
      std::vector<float> scales(static_cast<std::size_t>(w.rows));
      nn::quantize_rows(w, rounded.data(), scales.data());
      nn::dequantize_rows(rounded.data(), scales.data(), w);
    } else {
      std::vector<std::uint16_t> rounded(static_cast<std::size_t>(w.size()));
      nn::float_to_half(w.data, rounded.data(), w.size());
      nn::half_to_float(rounded.data(), w.data, w.size());
    }
  }
}

}  // namespace

CharModel::CharModel(CharVocabulary vocabulary, const LexicalSizes& sizes,
                     std::vector<std::uint8_t> word_begins, CharNetworkConfig config)
    : vocabulary_(std::move(vocabulary)),
      sizes_(sizes),
      word_begins_(std::move(word_begins)),
      lexical_(parameters_, sizes),
      rarity_(add_rarity(parameters_, sizes.vocabulary)),
      network_(parameters_, with_sizes(config, sizes)) {}

base::Result<std::unique_ptr<CharModel>> CharModel::from_lac(const std::filesystem::path& folder,
                                                             const CharNetworkConfig& config,
                                                             std::uint64_t seed) {
  ASKBASE_ASSIGN(const LexicalSource source, open_lac(folder));
  auto model = std::make_unique<CharModel>(source.vocabulary, source.sizes, source.word_begins, config);
  model->network_.initialise(model->parameters_, seed);
  ASKBASE_TRY(fill_lac(source, model->parameters_));
  round_frozen(model->parameters_);
  return model;
}

base::Result<std::unique_ptr<CharModel>> CharModel::load(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, kCharReaderKind));
  ASKBASE_ASSIGN(const base::Json json, base::parse_json(folder.config()));
  ASKBASE_ASSIGN(const std::string characters, folder.read("characters.txt"));
  ASKBASE_ASSIGN(CharVocabulary vocabulary, CharVocabulary::parse(characters));
  LexicalSizes sizes;
  sizes.vocabulary = vocabulary.size();
  ASKBASE_ASSIGN(sizes.dimensions, base::whole_number(json, "lexical_dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(sizes.hidden, base::whole_number(json, "lexical_hidden", 1, 1024, "config.json"));
  CharNetworkConfig config;
  ASKBASE_ASSIGN(config.width, base::whole_number(json, "width", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.hidden, base::whole_number(json, "hidden", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.layers, base::whole_number(json, "layers", 1, 8, "config.json"));
  ASKBASE_ASSIGN(config.input_dropout, base::number_between(json, "input_dropout", 0, 0.95, "config.json"));
  ASKBASE_ASSIGN(config.dropout, base::number_between(json, "dropout", 0, 0.95, "config.json"));
  std::vector<std::uint8_t> word_begins;
  const auto begins = json.find("word_begins");
  if (begins != json.end() && begins->is_string()) {
    for (const char c : begins->get<std::string>()) word_begins.push_back(c == '1' ? 1 : 0);
  }
  if (word_begins.empty() || word_begins.size() > 255) {
    return base::fail(base::ErrorCode::corrupt, "config.json: \"word_begins\" is no list of 0 and 1");
  }
  sizes.tags = static_cast<Index>(word_begins.size());
  auto model = std::make_unique<CharModel>(std::move(vocabulary), sizes, std::move(word_begins), config);
  ASKBASE_TRY(folder.fill(model->parameters_));
  ReadCalibration& calibration = model->calibration_;
  for (const auto& [name, value] : {std::pair("calibration_offset", &calibration.offset),
                                    std::pair("calibration_by_null", &calibration.by_null),
                                    std::pair("calibration_by_rivals", &calibration.by_rivals),
                                    std::pair("null_threshold", &calibration.null_threshold)}) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_number() || !std::isfinite(found->get<double>())) {
      return base::fail(base::ErrorCode::corrupt, "config.json: \"" + std::string(name) + "\" is no number");
    }
    *value = found->get<double>();
  }
  return model;
}

std::string CharModel::sizes() const {
  std::string begins;
  for (const std::uint8_t b : word_begins_) begins += b != 0 ? '1' : '0';
  const CharNetworkConfig& config = network_.config();
  return base::dump_json({{"lexical_dimensions", sizes_.dimensions},
                          {"lexical_hidden", sizes_.hidden},
                          {"word_begins", begins},
                          {"width", config.width},
                          {"hidden", config.hidden},
                          {"layers", config.layers},
                          {"input_dropout", config.input_dropout},
                          {"dropout", config.dropout}});
}

std::string CharModel::config() const {
  base::Json config = base::parse_json(sizes()).value();
  config["calibration_offset"] = calibration_.offset;
  config["calibration_by_null"] = calibration_.by_null;
  config["calibration_by_rivals"] = calibration_.by_rivals;
  config["null_threshold"] = calibration_.null_threshold;
  return base::dump_json(config);
}

base::Status CharModel::save(const std::filesystem::path& folder, const std::string& card) const {
  nn::ModelToSave save;
  save.kind = kCharReaderKind;
  save.config = config();
  save.files = {{.name = "characters.txt", .content = vocabulary_.text(), .vocabulary = true},
                {.name = "README.md", .content = card, .vocabulary = false}};
  save.storage = nn::Storage::fp16;
  save.storage_of = [](const std::string& name) {
    return name == kCharacters ? nn::Storage::int8 : nn::Storage::fp16;
  };
  return nn::save_model(folder, save, parameters_);
}

void CharModel::count_rarity(const std::vector<AnalysedText>& texts) {
  const auto rows = static_cast<std::size_t>(sizes_.vocabulary);
  std::vector<std::size_t> seen(rows, 0), last(rows, 0);
  for (std::size_t t = 0; t < texts.size(); ++t) {
    for (const std::int32_t row : texts[t].text.rows) {
      const auto r = static_cast<std::size_t>(row);
      if (last[r] == t + 1) continue;
      last[r] = t + 1;
      ++seen[r];
    }
  }
  const double n = static_cast<double>(texts.size()) + 1;
  const nn::View<float> rarity = parameters_.mutable_view(rarity_);
  for (std::size_t r = 0; r < rows; ++r) {
    rarity.data[r] =
        n <= 1 ? 1.0F : static_cast<float>(std::log(n / (static_cast<double>(seen[r]) + 1)) / std::log(n));
  }
  round_frozen(parameters_);
}

CharStatistics CharModel::statistics() const {
  const nn::View<const float> rarity = parameters_[rarity_];
  return {{rarity.data, static_cast<std::size_t>(rarity.cols)}, word_begins_};
}

std::vector<AnalysedText> CharModel::analyse(const std::vector<std::u32string_view>& texts, Scratch& scratch,
                                             const nn::Context& context) const {
  std::vector<AnalysedText> analysed(texts.size());
  std::vector<std::int32_t> rows;
  nn::Segments sentences;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    CharText& text = analysed[t].text;
    text = char_text(vocabulary_, texts[t]);
    rows.insert(rows.end(), text.rows.begin(), text.rows.end());
    for (Index s = 0; s < text.sentences.count(); ++s) sentences.add(text.sentences.length(s));
  }
  const Index width = lexical_.states();
  scratch.states.resize(sentences.total(), width);
  std::vector<std::uint8_t> tags(rows.size());
  lexical_.forward(parameters_, rows, sentences, scratch.states, tags, scratch.lexical, context);
  std::size_t at = 0;
  for (AnalysedText& text : analysed) {
    const std::size_t n = text.text.size();
    text.text.tags.assign(tags.begin() + static_cast<std::ptrdiff_t>(at),
                          tags.begin() + static_cast<std::ptrdiff_t>(at + n));
    text.states.resize(n * static_cast<std::size_t>(width));
    if (n > 0) {
      nn::float_to_half(scratch.states.row(static_cast<Index>(at)), text.states.data(),
                        static_cast<Index>(n) * width);
    }
    at += n;
  }
  return analysed;
}

void CharModel::put_input(const AnalysedText& text, nn::View<float> x) const {
  const nn::View<const float> table = parameters_[lexical_.characters().weight()];
  const Index dim = sizes_.dimensions, width = lexical_.states();
  for (Index r = 0; r < x.rows; ++r) {
    const auto i = static_cast<std::size_t>(r);
    std::copy_n(table.row(text.text.rows[i]), dim, x.row(r));
    nn::half_to_float(text.states.data() + r * width, x.row(r) + dim, width);
    float* tags = x.row(r) + dim + width;
    std::fill_n(tags, sizes_.tags, 0.0F);
    tags[text.text.tags[i]] = 1;
  }
}

}  // namespace askbase::reader
