#include "qa/fact_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <unordered_set>

#include "base/json.h"
#include "base/text.h"
#include "nn/model_folder.h"
#include "qa/memory_network.h"
#include "qa/memory_text.h"
#include "qa/path_text.h"

namespace askbase::qa {

namespace {

using nn::Index;

struct ModelConfig {
  MemoryConfig network;
  std::string language;
};

base::Result<ModelConfig> read_config(const base::Json& json) {
  ModelConfig config;
  ASKBASE_ASSIGN(config.network.dimensions, base::whole_number(json, "dimensions", 1, 1024, "config.json"));
  ASKBASE_ASSIGN(config.network.hops, base::whole_number(json, "hops", 1, 3, "config.json"));
  ASKBASE_ASSIGN(const Index buckets, base::whole_number(json, "buckets", 1, 1 << 20, "config.json"));
  config.network.buckets = static_cast<std::int32_t>(buckets);
  const auto episodic = json.find("episodic"), language = json.find("language");
  if (episodic == json.end() || !episodic->is_boolean()) {
    return base::fail(base::ErrorCode::corrupt, "config.json: \"episodic\" is neither true nor false");
  }
  if (language == json.end() || !language->is_string()) {
    return base::fail(base::ErrorCode::corrupt, "config.json: \"language\" is no text");
  }
  config.network.episodic = episodic->get<bool>();
  config.language = language->get<std::string>();
  return config;
}

// The last part of an IRI: after '#', '/' or ':'.
std::string_view end_of(std::string_view iri) {
  while (!iri.empty() && (iri.back() == '/' || iri.back() == '#')) iri.remove_suffix(1);
  const std::size_t at = iri.find_last_of("#/:");
  return at == std::string_view::npos ? iri : iri.substr(at + 1);
}

bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

}  // namespace

MemoryPredicate memory_predicate(std::string_view iri, std::span<const std::string> names,
                                 std::string_view object) {
  MemoryPredicate out;
  out.object = object;
  const std::string_view end = end_of(iri);
  std::string said(base::trim(base::readable_name(end)));
  if (is_freebase_name(end)) {
    const std::size_t last = end.rfind('.');
    std::string context(end.substr(0, last));
    std::replace(context.begin(), context.end(), '.', ' ');
    std::replace(context.begin(), context.end(), '_', ' ');
    out.context = std::move(context);
    said = end.substr(last + 1);
    std::replace(said.begin(), said.end(), '_', ' ');
    // "spouse_s": one or more.
    if (said.size() > 2 && said.ends_with(" s")) said.resize(said.size() - 2);
  } else if (!names.empty() && has_digit(said)) {
    said.clear();  // "P19" says nothing
  }
  std::unordered_set<std::string> known;
  const auto learn = [&](std::string_view text) {
    bool anything = false;
    for (std::string& word : path_words(text)) anything = known.insert(std::move(word)).second || anything;
    return anything;
  };
  learn(out.context);
  for (const std::string& name : names) {
    if (out.name.empty()) {
      out.name = name;
      learn(name);
    } else if (learn(name)) {
      out.other.push_back(name);
    }
  }
  if (out.name.empty()) {
    out.name = said;
  } else if (learn(said)) {
    out.other.push_back(said);
  }
  return out;
}

// Not in an anonymous namespace: MemoryKey names it as its friend.
class FactMemoryModel : public FactMemory {
 public:
  FactMemoryModel(const ModelConfig& config, MemoryVocabulary vocabulary)
      : language_(config.language),
        vocabulary_(std::move(vocabulary)),
        network_(p_, config.network, vocabulary_.size()) {}

  nn::Parameters<float>& parameters() { return p_; }
  const std::string& language() const override { return language_; }

  MemoryKey encode(std::span<const MemoryStep> path) const override {
    if (path.empty() || path.size() > 3) throw std::logic_error("FactMemory::encode: not 1 to 3 steps");
    std::vector<MemoryPredicateBags> bags;
    MemoryNetwork<float>::Keys keys;
    bags.reserve(path.size());
    for (const MemoryStep& step : path) {
      bags.push_back(vocabulary_.predicate(*step.predicate));
      keys.predicates.push_back(&bags.back());
      keys.inverse.push_back(step.inverse ? 1 : 0);
    }
    network_.encode(p_, keys, {});
    MemoryKey out;
    // A path is between its steps.
    const auto mean = [&](const nn::Matrix<float>& rows) {
      std::vector<float> sum(static_cast<std::size_t>(rows.cols()), 0);
      for (Index r = 0; r < rows.rows(); ++r) {
        for (Index c = 0; c < rows.cols(); ++c) {
          sum[static_cast<std::size_t>(c)] += rows(r, c) / static_cast<float>(rows.rows());
        }
      }
      return sum;
    };
    out.key_ = mean(keys.key);
    out.value_ = mean(keys.value);
    return out;
  }

  MemoryReading read(std::string_view question, std::span<const MemoryMention> mentions,
                     std::span<const MemorySlot> slots) const override {
    MemoryReading out;
    const base::OffsetMap places(question);
    for (const MemoryMention& mention : mentions) {
      if (mention.begin > mention.end || mention.end > places.code_points()) {
        throw std::logic_error("FactMemory::read: a mention outside the question");
      }
    }
    std::vector<std::vector<std::size_t>> of_mention(mentions.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].mention >= mentions.size() || slots[i].key == nullptr ||
          slots[i].key->key_.size() != static_cast<std::size_t>(network_.dimensions())) {
        throw std::logic_error(
            "FactMemory::read: a slot without a key of this "
            "model, or a mention");
      }
      of_mention[slots[i].mention].push_back(i);
    }
    out.scores.assign(slots.size(), 0);
    for (std::size_t m = 0; m < mentions.size(); ++m) {
      read_one(question, places, mentions[m], slots, of_mention[m], m == 0, out);
    }
    float most = slots.empty() ? 0 : *std::max_element(out.scores.begin(), out.scores.end()), sum = 0;
    for (const float score : out.scores) {
      out.attention.push_back(std::exp(score - most));
      sum += out.attention.back();
    }
    for (float& share : out.attention) share /= sum;
    return out;
  }

 private:
  void read_one(std::string_view question, const base::OffsetMap& places, const MemoryMention& mention,
                std::span<const MemorySlot> slots, const std::vector<std::size_t>& chosen, bool first,
                MemoryReading& out) const {
    const std::string_view text =
        question.substr(places.byte(mention.begin), places.byte(mention.end) - places.byte(mention.begin));
    const std::vector<std::string> words = words_around(question, mention.begin, mention.end);
    MemoryNetwork<float>::Reading reading;
    reading.question = vocabulary_.question(words);
    reading.mention = vocabulary_.name(text);
    std::vector<const float*> keys, values;
    std::map<std::pair<std::string_view, std::uint32_t>, std::pair<Index, MemoryFeatures>> subjects;
    for (const std::size_t i : chosen) {
      const MemorySlot& slot = slots[i];
      auto subject = subjects.find({slot.subject, slot.facts});
      if (subject == subjects.end()) {
        const auto place = static_cast<Index>(reading.subjects.size());
        reading.subjects.push_back(vocabulary_.name(slot.subject));
        subject = subjects
                      .emplace(std::pair{slot.subject, slot.facts},
                               std::pair{place, memory_features_of(text, slot.subject, slot.facts)})
                      .first;
      }
      reading.slots.push_back(
          {static_cast<Index>(keys.size()), subject->second.first, subject->second.second});
      keys.push_back(slot.key->key_.data());
      values.push_back(slot.key->value_.data());
    }
    network_.read(p_, reading, keys, values, {});
    if (!chosen.empty()) out.hops.resize(reading.hops.size(), std::vector<float>(slots.size(), 0));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      out.scores[chosen[i]] = reading.scores[i];
      for (std::size_t h = 0; h < reading.hops.size(); ++h) out.hops[h][chosen[i]] = reading.hops[h][i];
    }
    if (first) out.words = shares_of(words, reading.question_bag.shares);
  }

  // Of each word its own share and half of those of its two pairs.
  static std::vector<std::pair<std::string, float>> shares_of(const std::vector<std::string>& words,
                                                              const std::vector<float>& shares) {
    std::vector<std::pair<std::string, float>> out;
    for (std::size_t i = 0; i < words.size(); ++i) out.emplace_back(words[i], shares[i]);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const float half = shares[words.size() + i - 1] / 2;
      out[i - 1].second += half;
      out[i].second += half;
    }
    return out;
  }

  std::string language_;
  MemoryVocabulary vocabulary_;
  nn::Parameters<float> p_;
  MemoryNetwork<float> network_;
};

base::Result<std::shared_ptr<const FactMemory>> FactMemory::load(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, "fact-memory"));
  ASKBASE_ASSIGN(const base::Json json, base::parse_json(folder.config()));
  ASKBASE_ASSIGN(const ModelConfig config, read_config(json));
  ASKBASE_ASSIGN(const std::string words, folder.read("vocab.txt"));
  ASKBASE_ASSIGN(MemoryVocabulary vocabulary, MemoryVocabulary::parse(words, config.network.buckets));
  auto model = std::make_shared<FactMemoryModel>(config, std::move(vocabulary));
  ASKBASE_TRY(folder.fill(model->parameters()));
  return model;
}

}  // namespace askbase::qa
