#include "qa/ranker.h"

#include <cmath>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "nn/model_folder.h"

namespace askbase::qa {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;

constexpr std::string_view names[feature_count] = {
    "coverage",   "unexplained", "text_cover", "relation",      "inferred",   "link",
    "expected",   "head_class",  "name_class", "direction",     "weak_name",  "partial_name",
    "prominence", "missing",     "plurality",  "head_noun",     "exact_text", "unused_name",
    "echo",       "bare_shape",  "matched",    "fits",          "remembered", "recalled",
    "tagged",     "untagged",    "guessed",    "guess_matched", "guess_fits", "chain"};

// The weights by name, and what else there is.
struct Entry {
  std::string_view name;
  double* value;
};
std::array<Entry, feature_count + 5> entries_of(RankWeights& weights) {
  std::array<Entry, feature_count + 5> out;
  for (std::size_t i = 0; i < feature_count; ++i) out[i] = {names[i], &weights.of[i]};
  out[feature_count] = {"bias", &weights.bias};
  out[feature_count + 1] = {"scale", &weights.scale};
  out[feature_count + 2] = {"shift", &weights.shift};
  out[feature_count + 3] = {"rival", &weights.rival};
  out[feature_count + 4] = {"threshold", &weights.threshold};
  return out;
}

base::Result<RankWeights> read_weights(const Json& config, const std::string& language) {
  const auto found = config.find(language);
  const auto bad = [&](const std::string& what) {
    return fail(ErrorCode::corrupt, "config.json: \"" + language + "\": " + what);
  };
  if (found == config.end() || !found->is_object()) return bad("no object with weights");
  RankWeights weights;
  const auto entries = entries_of(weights);
  for (const auto& [name, value] : found->items()) {
    double* place = nullptr;
    for (const Entry& entry : entries) {
      if (entry.name == name) place = entry.value;
    }
    if (place == nullptr) return bad("no feature is called \"" + name + "\"");
    if (!value.is_number() || !std::isfinite(value.get<double>()) || std::abs(value.get<double>()) > 1e4)
      return bad("\"" + name + "\" is no number of a weight's size");
    *place = value.get<double>();
  }
  const auto share = [](double value) { return value >= 0 && value <= 1; };
  if (weights.scale <= 0 || !share(weights.rival) || !share(weights.threshold))
    return bad("\"scale\" has to be above 0, \"rival\" and \"threshold\" from 0 to 1");
  return weights;
}

constexpr const char* familiar_suffix = "_familiar";

base::Result<Ranker::Weights> read_both(const Json& config, const std::string& language) {
  Ranker::Weights out;
  ASKBASE_ASSIGN(out.any, read_weights(config, language));
  out.familiar = out.any;
  if (config.contains(language + familiar_suffix)) {
    ASKBASE_ASSIGN(out.familiar, read_weights(config, language + familiar_suffix));
  }
  return out;
}

Json weights_json(RankWeights weights) {
  Json out = Json::object();
  RankWeights left_out;
  const auto defaults = entries_of(left_out);
  const auto entries = entries_of(weights);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (*entries[i].value == *defaults[i].value) continue;
    out[std::string(entries[i].name)] = base::json_number(*entries[i].value, 4);
  }
  return out;
}

RankWeights make_lexical_weights() {
  RankWeights weights;
  weights.bias = -3.2;
  const auto set = [&](Feature feature, double weight) {
    weights.of[static_cast<std::size_t>(feature)] = weight;
  };
  set(Feature::coverage, 3.4);
  set(Feature::unexplained, -4.6);
  set(Feature::text_cover, 1.8);
  set(Feature::relation, 0.4);
  set(Feature::inferred, 1.8);
  set(Feature::link, 3.0);
  set(Feature::expected, 1.2);
  set(Feature::head_class, 1.3);
  set(Feature::name_class, 0.5);
  set(Feature::direction, 1.0);
  set(Feature::weak_name, -1.5);
  set(Feature::partial_name, -5.0);
  set(Feature::prominence, 0.4);
  set(Feature::missing, -0.6);
  set(Feature::plurality, 0.7);
  set(Feature::head_noun, -2.0);
  set(Feature::exact_text, 0.6);
  set(Feature::unused_name, -1.5);
  set(Feature::echo, -2.5);
  set(Feature::bare_shape, 0.6);
  return weights;
}

}  // namespace

std::string_view feature_name(Feature feature) { return names[static_cast<std::size_t>(feature)]; }

double RankWeights::score(const Features& features) const {
  double sum = bias;
  for (std::size_t i = 0; i < feature_count; ++i) sum += of[i] * static_cast<double>(features[i]);
  return sum;
}

double RankWeights::confidence(double score) const { return 1 / (1 + std::exp(-(scale * score + shift))); }

double RankWeights::confidence(double score, double rival_score) const {
  const double gap = std::max(0.0, score - rival_score);
  return confidence(score) * (1 - rival * std::exp(-2 * gap));
}

const RankWeights& lexical_weights() {
  static const RankWeights weights = make_lexical_weights();
  return weights;
}

base::Result<std::shared_ptr<const Ranker>> Ranker::load(const std::filesystem::path& folder) {
  ASKBASE_ASSIGN(const std::string text, base::read_file(folder / "config.json"));
  auto config = base::parse_json(text);
  const auto named = [&](base::Error error) {
    error.message = folder.string() + ": " + error.message;
    return tl::unexpected(std::move(error));
  };
  if (!config || !config->is_object()) {
    return named(
        {ErrorCode::corrupt, "config.json is no JSON object", "put the model's folder back as it was"});
  }
  const auto kind = config->find("kind"), format = config->find("format");
  if (kind == config->end() || *kind != "kb-ranker") {
    return named({ErrorCode::unsupported, "config.json is not that of a kb-ranker", {}});
  }
  if (format == config->end() || *format != 1) {
    return named({ErrorCode::unsupported, "config.json has another format than 1", "update this program"});
  }
  auto english = read_both(*config, "en"), chinese = read_both(*config, "zh");
  if (!english) return named(english.error());
  if (!chinese) return named(chinese.error());
  return std::make_shared<const Ranker>(*english, *chinese);
}

std::string Ranker::config() const {
  const Json config = {{"format", 1},
                       {"kind", "kb-ranker"},
                       {"en", weights_json(english_.any)},
                       {std::string("en") + familiar_suffix, weights_json(english_.familiar)},
                       {"zh", weights_json(chinese_.any)},
                       {std::string("zh") + familiar_suffix, weights_json(chinese_.familiar)}};
  return base::dump_json(config, 2) + "\n";
}

base::Status Ranker::save(const std::filesystem::path& folder, std::string card) const {
  nn::ModelToSave model{.kind = "kb-ranker", .config = config()};
  model.files.push_back({.name = "README.md", .content = std::move(card)});
  return nn::save_model(folder, model, nn::Parameters<float>());
}

}  // namespace askbase::qa
