#include "qa/fact_memory_training.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "nn/model_folder.h"
#include "nn/random.h"
#include "nn/trainer.h"
#include "qa/memory_network.h"
#include "qa/memory_text.h"
#include "qa/path_text.h"

namespace askbase::qa {

namespace {

using nn::Index;
using Network = MemoryNetwork<float>;

constexpr float margin = 2;
constexpr std::size_t hardest = 4;      // wrong slots that an example learns from, at most
constexpr std::size_t most_paths = 40;  // of one candidate in training
constexpr float bucket_share = 0.5F;    // of the length that rows of words begin with

std::string mention_text(const MemoryExample& example) {
  const base::OffsetMap places(example.question);
  const std::size_t end = std::min<std::size_t>(example.mention.end, places.code_points()),
                    begin = std::min<std::size_t>(example.mention.begin, end);
  return example.question.substr(places.byte(begin), places.byte(end) - places.byte(begin));
}

// Predicates that read the same cannot be told apart: the first of them stands for all. By path.
std::vector<std::uint32_t> groups_of(const std::vector<MemoryPredicate>& predicates) {
  std::vector<std::uint32_t> groups;
  std::map<std::vector<std::string>, std::uint32_t> first;
  for (std::uint32_t p = 0; p < predicates.size(); ++p) {
    std::vector<std::string> words = path_words(predicates[p].name);
    words.emplace_back();
    for (std::string& word : path_words(predicates[p].context)) words.push_back(std::move(word));
    const std::uint32_t group = first.emplace(std::move(words), p).first->second;
    groups.push_back(2 * group);
    groups.push_back(2 * group + 1);
  }
  return groups;
}

// Of each path its knowledge base.
std::vector<std::uint32_t> sources_of(const MemoryData& data) {
  std::vector<std::uint32_t> sources;
  for (std::uint32_t p = 0; p < data.predicates.size(); ++p) {
    const auto& first = data.first_predicates;
    const auto source =
        static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), p) - first.begin());
    sources.push_back(source);
    sources.push_back(source);
  }
  return sources;
}

// Whether two paths may compete: of one knowledge base, and read differently.
class Rivals {
 public:
  explicit Rivals(const MemoryData& data) : groups_(groups_of(data.predicates)), sources_(sources_of(data)) {}
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return sources_[a] == sources_[b] && groups_[a] != groups_[b];
  }

 private:
  std::vector<std::uint32_t> groups_, sources_;
};

// An example as rows.
struct Prepared {
  MemoryBag question, mention;
  std::vector<MemoryBag> subjects;
  struct Slot {
    std::uint32_t path = 0, subject = 0;
    MemoryFeatures features{};
  };
  std::vector<Slot> slots;         // the right one first
  std::vector<std::uint32_t> own;  // paths of the right candidate, sorted
};

base::Result<std::vector<Prepared>> prepare(const std::vector<MemoryExample>& examples,
                                            const MemoryVocabulary& vocabulary) {
  std::vector<Prepared> out;
  out.reserve(examples.size());
  for (const MemoryExample& example : examples) {
    Prepared prepared;
    prepared.question =
        vocabulary.question(words_around(example.question, example.mention.begin, example.mention.end));
    const std::string mention = mention_text(example);
    prepared.mention = vocabulary.name(mention);
    for (std::size_t c = 0; c < example.candidates.size(); ++c) {
      const MemoryCandidate& candidate = example.candidates[c];
      const MemoryFeatures features = memory_features_of(mention, candidate.name, candidate.facts);
      prepared.subjects.push_back(vocabulary.name(candidate.name));
      const auto subject = static_cast<std::uint32_t>(c);
      std::vector<std::uint32_t> paths = candidate.paths;
      std::sort(paths.begin(), paths.end());
      if (c == 0) {
        const auto right = std::find(paths.begin(), paths.end(), example.path);
        if (right == paths.end()) {
          return base::fail(base::ErrorCode::invalid_argument,
                            "the path of \"" + example.question + "\" is none of its first candidate");
        }
        std::rotate(paths.begin(), right, right + 1);
        prepared.own = candidate.paths;
        std::sort(prepared.own.begin(), prepared.own.end());
      }
      paths.resize(std::min(paths.size(), most_paths));
      for (const std::uint32_t path : paths) prepared.slots.push_back({path, subject, features});
    }
    if (prepared.slots.empty()) {
      return base::fail(base::ErrorCode::invalid_argument, "\"" + example.question + "\" has no candidates");
    }
    out.push_back(std::move(prepared));
  }
  return out;
}

// Sum of the hinges of the hardest wrong slots; slot 0 is right.
double hinge(const std::vector<float>& scores, std::vector<float>& d_scores) {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (margin - scores[0] + scores[i] > 0) order.push_back(i);
  }
  const std::size_t kept = std::min(order.size(), hardest);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  d_scores.assign(scores.size(), 0);
  double loss = 0;
  constexpr float share = 1.0F / hardest;
  for (std::size_t k = 0; k < kept; ++k) {
    loss += static_cast<double>((margin - scores[0] + scores[order[k]]) * share);
    d_scores[order[k]] += share;
    d_scores[0] -= share;
  }
  return loss;
}

struct Verdicts {
  bool both = false, relation = false, own = false;
};

class Task : public nn::TrainingTask<float> {
 public:
  Task(const Network& network, const std::vector<MemoryPredicateBags>& predicates,
       std::vector<std::uint32_t> relations, Rivals rivals, std::vector<Prepared> train,
       std::vector<Prepared> valid, std::string fingerprint, std::size_t negatives)
      : network_(network),
        predicates_(predicates),
        relations_(std::move(relations)),
        rivals_(std::move(rivals)),
        train_(std::move(train)),
        valid_(std::move(valid)),
        fingerprint_(std::move(fingerprint)),
        negatives_(negatives) {}

  Index example_count() const override { return static_cast<Index>(train_.size()); }
  std::string fingerprint() const override { return fingerprint_; }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    Network::Keys keys;
    std::unordered_map<std::uint32_t, Index> place;
    const auto key_of = [&](std::uint32_t path) {
      const auto [found, added] = place.emplace(path, static_cast<Index>(keys.predicates.size()));
      if (added) {
        keys.predicates.push_back(&predicates_[path / 2]);
        keys.inverse.push_back(static_cast<char>(path % 2));
      }
      return found->second;
    };
    // The same wrong relations for all examples of the shard, so that each is encoded once: those that the
    // others ask for, which are as frequent as questions have them, and some of the knowledge base.
    nn::Random random(context.dropout_key);
    std::vector<std::uint32_t> wrong;
    for (const Index i : shard.examples) wrong.push_back(train_[static_cast<std::size_t>(i)].slots[0].path);
    for (std::size_t i = 0; i < negatives_ && !relations_.empty(); ++i) {
      wrong.push_back(relations_[random.below(relations_.size())]);
    }
    std::sort(wrong.begin(), wrong.end());
    wrong.erase(std::unique(wrong.begin(), wrong.end()), wrong.end());
    std::vector<Network::Reading> readings(shard.examples.size());
    for (std::size_t e = 0; e < readings.size(); ++e) {
      const Prepared& example = train_[static_cast<std::size_t>(shard.examples[e])];
      fill(example, readings[e], key_of);
      for (const std::uint32_t path : wrong) {
        if (std::binary_search(example.own.begin(), example.own.end(), path) ||
            !rivals_(path, example.slots[0].path))
          continue;
        readings[e].slots.push_back({key_of(path), 0, example.slots[0].features});
      }
    }
    network_.encode(p, keys, context);
    keys.d_key.resize(keys.key.rows(), keys.key.cols());
    keys.d_value.resize(keys.key.rows(), keys.key.cols());
    keys.d_key.fill(0);
    keys.d_value.fill(0);
    std::vector<const float*> key, value;
    point(keys, key, value);
    double loss = 0;
    std::vector<float> d_scores;
    for (Network::Reading& reading : readings) {
      network_.read(p, reading, key, value, context);
      const double own = hinge(reading.scores, d_scores);
      loss += own;
      if (own > 0) network_.read_backward(p, reading, keys, d_scores, keys.d_key, keys.d_value, g, context);
    }
    network_.encode_backward(p, keys, g, context);
    return {loss, static_cast<double>(readings.size())};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p,
                                                       nn::Team& team) override {
    if (valid_.empty()) return std::nullopt;
    Network::Keys keys;
    for (std::size_t path = 0; path < 2 * predicates_.size(); ++path) {
      keys.predicates.push_back(&predicates_[path / 2]);
      keys.inverse.push_back(static_cast<char>(path % 2));
    }
    network_.encode(p, keys, {});
    std::vector<const float*> key, value;
    point(keys, key, value);
    std::vector<Verdicts> verdicts(valid_.size());
    team.parallel_for(static_cast<Index>(valid_.size()), 1, [&](Index begin, Index end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        verdicts[i] = judge(p, valid_[i], key, value);
      }
    });
    double both = 0, relation = 0, own = 0;
    for (const Verdicts& verdict : verdicts) {
      both += verdict.both ? 1 : 0;
      relation += verdict.relation ? 1 : 0;
      own += verdict.own ? 1 : 0;
    }
    const auto n = static_cast<double>(verdicts.size());
    return nn::Evaluation{(both + relation) / (2 * n),
                          {{"both", both / n}, {"relation", relation / n}, {"own", own / n}}};
  }

 private:
  template <typename KeyOf>
  static void fill(const Prepared& example, Network::Reading& reading, KeyOf&& key_of) {
    reading.question = example.question;
    reading.mention = example.mention;
    reading.subjects = example.subjects;
    for (const Prepared::Slot& slot : example.slots) {
      reading.slots.push_back({key_of(slot.path), static_cast<Index>(slot.subject), slot.features});
    }
  }
  static void point(const Network::Keys& keys, std::vector<const float*>& key,
                    std::vector<const float*>& value) {
    for (Index i = 0; i < keys.key.rows(); ++i) {
      key.push_back(keys.key.row(i));
      value.push_back(keys.value.row(i));
    }
  }
  // Slot 0 is right; equal scores of others count against it.
  static bool leads(const std::vector<float>& scores, std::size_t slots) {
    for (std::size_t i = 1; i < slots; ++i) {
      if (scores[i] >= scores[0]) return false;
    }
    return true;
  }
  Verdicts judge(const nn::Parameters<float>& p, const Prepared& example,
                 const std::vector<const float*>& key, const std::vector<const float*>& value) const {
    Verdicts verdicts;
    const auto same = [](std::uint32_t path) { return static_cast<Index>(path); };
    Network::Reading reading;
    fill(example, reading, same);
    network_.read(p, reading, key, value, {});
    verdicts.both = leads(reading.scores, reading.scores.size());
    std::size_t own = 0;
    while (own < example.slots.size() && example.slots[own].subject == 0) ++own;
    verdicts.own = leads(reading.scores, own);
    Network::Reading all;
    fill(example, all, same);
    all.slots.resize(1);
    for (const std::uint32_t path : relations_) {
      if (!rivals_(path, example.slots[0].path)) continue;
      all.slots.push_back({same(path), 0, example.slots[0].features});
    }
    network_.read(p, all, key, value, {});
    verdicts.relation = leads(all.scores, all.scores.size());
    return verdicts;
  }

  const Network& network_;
  const std::vector<MemoryPredicateBags>& predicates_;
  std::vector<std::uint32_t> relations_;
  Rivals rivals_;
  std::vector<Prepared> train_, valid_;
  std::string fingerprint_;
  std::size_t negatives_;
};

std::string fingerprint_of(const MemoryData& data, const std::string& config, const std::string& vocabulary) {
  std::string all = config + '\0' + vocabulary;
  for (const MemoryPredicate& predicate : data.predicates)
    all += '\0' + predicate.context + '\t' + predicate.name;
  for (const auto* part : {&data.train, &data.valid}) {
    for (const MemoryExample& example : *part) {
      all += '\0' + example.question + '\t' + std::to_string(example.path) + '\t' +
             std::to_string(example.candidates.size());
    }
  }
  return base::sha256(all);
}

}  // namespace

base::Result<TrainedMemory> train_memory(const MemoryData& data, const MemoryWords& words,
                                         const MemoryTraining& options, nn::Team& team) {
  MemoryConfig config;
  config.dimensions = words.dimensions;
  config.hops = options.hops;
  config.episodic = options.episodic;
  config.buckets = options.buckets;
  TrainedMemory model;
  model.config = base::dump_json({{"language", options.language},
                                  {"dimensions", config.dimensions},
                                  {"hops", config.hops},
                                  {"episodic", config.episodic},
                                  {"buckets", config.buckets}});
  const MemoryVocabulary vocabulary(words.words, config.buckets);
  model.vocabulary = vocabulary.text();
  const Network network(model.parameters, config, vocabulary.size());
  network.initialise(model.parameters, options.seed);
  const nn::View<float> table = model.parameters.mutable_view(network.table());
  const Index first_bucket = table.rows - config.buckets;
  for (Index r = first_bucket; r < table.rows; ++r) {
    for (Index c = 0; c < table.cols; ++c) table(r, c) *= bucket_share;
  }
  for (std::size_t w = 0; w < words.words.size(); ++w) {
    const float* vector = words.vectors.data() + w * static_cast<std::size_t>(config.dimensions);
    float norm = 0;
    for (Index c = 0; c < config.dimensions; ++c) norm += vector[c] * vector[c];
    if (norm == 0) continue;
    float* row = table.row(MemoryVocabulary::special + static_cast<Index>(w));
    for (Index c = 0; c < config.dimensions; ++c) row[c] = vector[c] / std::sqrt(norm);
  }

  std::vector<MemoryPredicateBags> predicates;
  for (const MemoryPredicate& predicate : data.predicates)
    predicates.push_back(vocabulary.predicate(predicate));
  ASKBASE_ASSIGN(std::vector<Prepared> train, prepare(data.train, vocabulary));
  ASKBASE_ASSIGN(std::vector<Prepared> valid, prepare(data.valid, vocabulary));
  Task task(network, predicates, relations_of(data), Rivals(data), std::move(train), std::move(valid),
            fingerprint_of(data, model.config, model.vocabulary), options.negatives);
  nn::TrainerConfig trainer;
  trainer.name = "fact-memory";
  trainer.seed = options.seed;
  trainer.optimizer = {.kind = nn::OptimizerKind::adamw, .weight_decay = 0.01};
  trainer.schedule = {.kind = nn::ScheduleKind::cosine, .rate = options.rate, .warmup_share = 0.03};
  trainer.batching = {.max_examples = 64};
  trainer.clip_norm = 5.0;
  trainer.epochs = options.epochs;
  trainer.minutes = options.minutes;
  trainer.checkpoint = options.checkpoint;
  trainer.curves = options.curves;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  ASKBASE_ASSIGN(const nn::TrainingResult result, nn::train(task, model.parameters, trainer, team));
  model.epochs = result.epochs;
  model.seconds = result.seconds;
  for (const auto& [name, value] : result.best.values) {
    if (name == "both") model.valid.both = value;
    if (name == "relation") model.valid.relation = value;
    if (name == "own") model.valid.own = value;
  }
  return model;
}

std::vector<std::uint32_t> relations_of(const MemoryData& data) {
  std::vector<char> seen(2 * data.predicates.size(), 0);
  for (std::size_t p = 0; p < data.predicates.size(); ++p) seen[2 * p] = 1;
  for (const MemoryExample& example : data.train) seen[example.path] = 1;
  std::vector<std::uint32_t> out;
  for (std::uint32_t path = 0; path < seen.size(); ++path) {
    if (seen[path] != 0) out.push_back(path);
  }
  return out;
}

base::Status save_memory(const std::filesystem::path& folder, const TrainedMemory& model, std::string card) {
  nn::ModelToSave save;
  save.kind = "fact-memory";
  save.config = model.config;
  save.files = {{.name = "vocab.txt", .content = model.vocabulary, .vocabulary = true},
                {.name = "README.md", .content = std::move(card), .vocabulary = false}};
  save.storage = nn::Storage::fp16;
  save.storage_of = [](const std::string& name) {
    return name == "words.weight" ? nn::Storage::int8 : nn::Storage::fp16;
  };
  return nn::save_model(folder, save, model.parameters);
}

MemoryVerdicts judge_memory(const FactMemory& memory, const MemoryData& data,
                            const std::vector<MemoryExample>& examples, nn::Team& team) {
  std::vector<MemoryKey> keys;
  for (const MemoryPredicate& predicate : data.predicates) {
    for (const bool inverse : {false, true}) {
      const MemoryStep step{.predicate = &predicate, .inverse = inverse};
      keys.push_back(memory.encode({&step, 1}));
    }
  }
  const std::vector<std::uint32_t> relations = relations_of(data);
  const Rivals rivals(data);
  MemoryVerdicts out;
  out.both.assign(examples.size(), 0);
  out.relation = out.own = out.both;
  const auto judge_one = [&](Index at) {
    const auto i = static_cast<std::size_t>(at);
    const MemoryExample& example = examples[i];
    // Whether the right slot, which comes first, has the best score of the
    // first n.
    const auto leads = [](const MemoryReading& reading, std::size_t n) {
      for (std::size_t s = 1; s < n; ++s) {
        if (reading.scores[s] >= reading.scores[0]) return 0.0;
      }
      return 1.0;
    };
    std::vector<MemorySlot> slots, all;
    const auto add = [&](std::vector<MemorySlot>& to, const MemoryCandidate& candidate, std::uint32_t path) {
      to.push_back({.key = &keys[path], .subject = candidate.name, .facts = candidate.facts, .mention = 0});
    };
    const MemoryCandidate& right = example.candidates[0];
    add(slots, right, example.path);
    add(all, right, example.path);
    std::size_t own = 0;
    for (const MemoryCandidate& candidate : example.candidates) {
      for (const std::uint32_t path : candidate.paths) {
        if (&candidate != &right || path != example.path) add(slots, candidate, path);
      }
      if (&candidate == &right) own = slots.size();
    }
    for (const std::uint32_t path : relations) {
      if (rivals(path, example.path)) add(all, right, path);
    }
    const MemoryReading reading = memory.read(example.question, {&example.mention, 1}, slots);
    out.both[i] = leads(reading, slots.size());
    out.own[i] = leads(reading, own);
    out.relation[i] = leads(memory.read(example.question, {&example.mention, 1}, all), all.size());
  };
  team.parallel_for(static_cast<Index>(examples.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) judge_one(i);
  });
  return out;
}

}  // namespace askbase::qa
