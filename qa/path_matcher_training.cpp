#include "qa/path_matcher_training.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/sha256.h"
#include "nn/model_folder.h"
#include "nn/random.h"
#include "nn/softmax.h"
#include "nn/trainer.h"
#include "qa/path_matcher_config.h"
#include "qa/path_matcher_network.h"

namespace askbase::qa {

namespace {

using nn::Index;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The rivals that are hard to tell from each path: those that one entity has together with it, by the
// examples' own rivals; and those that share words with it, rare words and those of its names before others.
std::vector<std::vector<std::uint32_t>> alike_paths(const MatchData& data) {
  constexpr std::size_t kMost = 32, kCommon = 400;
  const std::vector<TrainingPath>& paths = data.paths;
  std::vector<std::map<std::uint32_t, double>> likeness(paths.size());
  for (const MatchExample& example : data.train) {
    // A pool is no entity's own list, and every member of it is seen often enough.
    if (example.rivals.size() > 30) continue;
    std::vector<std::uint32_t> together = example.rivals;
    together.push_back(example.gold.front());
    for (const std::uint32_t path : together) {
      for (const std::uint32_t other : together) {
        if (other != path) likeness[path][other] += 1;
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> alike(paths.size());
  const auto take = [&](std::uint32_t path, std::size_t most) {
    std::vector<std::pair<double, std::uint32_t>> order;
    for (const auto& [other, value] : likeness[path]) order.emplace_back(-value, other);
    std::sort(order.begin(), order.end());
    for (const auto& [value, other] : order) {
      if (most == 0) break;
      if (std::find(alike[path].begin(), alike[path].end(), other) != alike[path].end()) continue;
      alike[path].push_back(other);
      --most;
    }
    likeness[path].clear();
  };
  for (std::uint32_t i = 0; i < paths.size(); ++i) take(i, kMost / 2);

  // "people.person" is a word here as "birth" is, and of those that many have only the rarer count.
  std::vector<std::set<std::string>> words(paths.size());
  std::unordered_map<std::string, std::vector<std::uint32_t>> with;
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    if (paths[i].texts.empty()) continue;
    const PathText& text = paths[i].texts.front();
    words[i].insert(text.words.begin(), text.words.end());
    words[i].insert(text.units.begin(), text.units.end());
    for (const std::string& word : words[i]) with[word].push_back(i);
  }
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    for (const std::string& word : words[i]) {
      const auto& others = with[word];
      // A word of very many paths tells nothing, and would cost the square of their number.
      if (others.size() > kCommon) continue;
      for (const std::uint32_t other : others) {
        if (other != i && paths[other].schema == paths[i].schema) {
          likeness[i][other] += 1 / std::log(2.0 + static_cast<double>(others.size()));
        }
      }
    }
    take(i, kMost / 2);
  }
  return alike;
}

// A path's text as rows of the tables.
struct Encoded {
  std::vector<std::string> words;
  std::vector<std::int32_t> units;
  std::string key;  // equal for texts that read the same
};

class Task : public nn::TrainingTask<float> {
 public:
  Task(const PathMatcherNetwork<float>& network, const PathVocabulary& words, const PathVocabulary& units,
       const MatchData& data, const PathMatcherTraining& options, std::string fingerprint, int workers)
      : network_(network),
        words_(words),
        units_(units),
        data_(data),
        options_(options),
        fingerprint_(std::move(fingerprint)),
        alike_(alike_paths(data)),
        workers_(static_cast<std::size_t>(workers)) {
    for (std::uint32_t i = 0; i < data.paths.size(); ++i) {
      const TrainingPath& path = data.paths[i];
      texts_.emplace_back();
      for (const PathText& text : path.texts) {
        Encoded encoded{text.words, {}, {}};
        for (const std::string& unit : text.units) encoded.units.push_back(units.row(unit));
        for (const std::string& word : text.words) encoded.key += word + ' ';
        texts_.back().push_back(std::move(encoded));
      }
      if (path.texts.empty()) continue;
      if (schemas_.size() <= path.schema) schemas_.resize(path.schema + 1);
      schemas_[path.schema].push_back(i);
    }
    // How often a path is in a batch because another question there asks for it, or by chance.
    std::vector<double> asked(data.paths.size());
    for (const MatchExample& example : data.train) {
      for (const std::uint32_t gold : example.gold)
        asked[gold] += 1.0 / static_cast<double>(example.gold.size());
    }
    const double batch = static_cast<double>(options.batch) / workers;
    for (const double times : asked) {
      const double share = times / static_cast<double>(std::max<std::size_t>(1, data.train.size()));
      const double present = 1 - std::pow(1 - std::min(share, 1.0), batch);
      rarity_.push_back(static_cast<float>(-std::log(std::clamp(present, kLeastPresent, 1.0))));
    }
    for (const MatchExample& example : data.train) {
      questions_.emplace_back();
      for (MatchWord& word : match_words(example.question, example.mentions, options.mention_tail)) {
        questions_.back().push_back(std::move(word.key));
      }
    }
  }

  Index example_count() const override { return static_cast<Index>(questions_.size()); }
  Index length(Index i) const override { return static_cast<Index>(questions_[at(i)].size()); }
  std::string fingerprint() const override { return fingerprint_; }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    Worker& w = workers_[static_cast<std::size_t>(shard.worker)];
    nn::Random random(context.dropout_key, kStream);
    w.start();
    std::vector<std::uint32_t> golds;
    std::vector<std::vector<std::uint32_t>> own;
    for (const Index i : shard.examples) {
      const MatchExample& example = data_.train[at(i)];
      for (const std::string& word : questions_[at(i)]) {
        w.batch.question_words.push_back(add_word(word, w.batch, random));
      }
      w.batch.questions.add(static_cast<Index>(questions_[at(i)].size()));
      const std::uint32_t gold = example.gold[random.below(example.gold.size())];
      golds.push_back(add_path(gold, w, random));
      own.emplace_back();
      for (const std::uint32_t rival : rivals_of(example, gold, random)) {
        own.back().push_back(add_path(rival, w, random));
      }
    }
    network_.encode(p, w.batch, w.cache, context);
    network_.start_backward(w.cache);
    double loss = 0;
    for (std::size_t k = 0; k < shard.examples.size(); ++k) {
      const MatchExample& example = data_.train[at(shard.examples[k])];
      std::size_t always = 0;
      const std::vector<std::uint32_t> which = candidates(example, golds[k], own[k], w, random, always);
      w.scores.resize(which.size());
      w.d_scores.resize(which.size());
      const auto i = static_cast<Index>(k);
      network_.score(p, w.cache.question(i, w.batch), w.cache.all_paths(), which, w.scores, w.scored,
                     context);
      // Paths that are rarely in a batch stand for the others that are not: each counts as often as it is
      // rare (sampled softmax, Bengio and Senecal 2008). The question's own are always there.
      for (std::size_t c = always; c < which.size(); ++c) {
        if (options_.margin <= 0) w.scores[c] += rarity_[w.places[which[c]].path];
      }
      loss += loss_of(w);
      network_.score_backward(p, w.batch, i, w.cache, which, w.d_scores, w.scored, g, context);
    }
    network_.backward(p, w.batch, w.cache, g, context);
    return {loss, static_cast<double>(shard.examples.size())};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p,
                                                       nn::Team& team) override {
    if (data_.valid.empty()) return std::nullopt;
    const auto matcher = path_matcher_of(network_.config(), words_, units_, p);
    std::vector<char> hits;
    path_accuracy(*matcher, data_.paths, data_.valid, data_.valid_among_all, team, &hits);
    nn::Evaluation out;
    for (std::size_t group = 0; group < data_.groups.size(); ++group) {
      double right = 0, all = 0;
      for (std::size_t i = 0; i < hits.size(); ++i) {
        if (data_.valid[i].group != group) continue;
        all += 1;
        right += hits[i];
      }
      const double accuracy = all > 0 ? right / all : 0;
      out.values.emplace_back(data_.groups[group], accuracy);
      out.metric += accuracy / static_cast<double>(data_.groups.size());
    }
    return out;
  }

 private:
  static constexpr std::uint64_t kStream = 0x70617468;  // apart from the layers' dropout

  struct Worker {
    PathBatch batch;
    PathMatcherNetwork<float>::Cache cache;
    PathMatcherNetwork<float>::ScoreCache scored;
    std::vector<float> scores, d_scores;
    struct Place {
      std::uint32_t path;
      const std::string* key;
    };
    std::vector<Place> places;  // of the batch's paths
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> place_of;
    void start() {
      batch.clear();
      places.clear();
      place_of.clear();
    }
  };

  Index add_word(const std::string& word, PathBatch& batch, nn::Random& random) const {
    return batch.add_word(word, words_, network_.config().buckets, random.uniform() < kSpelled);
  }

  std::uint32_t add_path(std::uint32_t path, Worker& w, nn::Random& random) const {
    const std::vector<Encoded>& texts = texts_[path];
    const std::size_t way =
        texts.size() > 1 && random.uniform() < options_.plain_share ? 1 + random.below(texts.size() - 1) : 0;
    const auto [found, fresh] =
        w.place_of.try_emplace({path, way}, static_cast<std::uint32_t>(w.places.size()));
    if (!fresh) return found->second;
    const Encoded& text = texts[way];
    const bool drop = random.uniform() < options_.unit_drop;
    for (const std::string& word : text.words)
      w.batch.path_word_ids.push_back(add_word(word, w.batch, random));
    for (const std::int32_t unit : text.units) {
      const bool named = unit >= PathVocabulary::special;
      w.batch.path_unit_rows.push_back(drop && named ? PathVocabulary::unknown : unit);
    }
    w.batch.path_words.add(static_cast<Index>(text.words.size()));
    w.batch.path_units.add(static_cast<Index>(text.units.size()));
    const std::vector<std::string>* const aspects[] = {&data_.paths[path].answer_type,
                                                       &data_.paths[path].answer_context};
    for (Index k = 0; k < network_.config().aspects; ++k) {
      PathBatch::Aspect& aspect = w.batch.aspects[at(k)];
      for (const std::string& word : *aspects[k]) aspect.words.push_back(add_word(word, w.batch, random));
      aspect.segments.add(static_cast<Index>(aspects[k]->size()));
    }
    w.places.push_back({path, &text.key});
    return found->second;
  }

  static bool is_gold(const MatchExample& example, std::uint32_t path) {
    return std::find(example.gold.begin(), example.gold.end(), path) != example.gold.end();
  }

  // Half of the question's own rivals, half paths that share words with the gold one; others where there are
  // not enough of these.
  std::vector<std::uint32_t> rivals_of(const MatchExample& example, std::uint32_t gold,
                                       nn::Random& random) const {
    std::vector<std::uint32_t> out;
    const auto& schema = schemas_[data_.paths[gold].schema];
    for (Index k = 0; k < options_.hard; ++k) {
      const std::vector<std::uint32_t>* from = k % 2 == 0 ? &example.rivals : &alike_[gold];
      if (from->empty()) from = k % 4 == 0 ? &alike_[gold] : &schema;
      if (from->empty()) continue;
      const std::uint32_t rival = (*from)[random.below(from->size())];
      if (!is_gold(example, rival) && !data_.paths[rival].texts.empty()) out.push_back(rival);
    }
    return out;
  }

  // The gold path first, then its rivals (the first `always` in all), then others of the batch.
  std::vector<std::uint32_t> candidates(const MatchExample& example, std::uint32_t gold,
                                        const std::vector<std::uint32_t>& own, const Worker& w,
                                        nn::Random& random, std::size_t& always) const {
    std::vector<std::uint32_t> which = {gold}, others;
    std::vector<char> taken(w.places.size());
    taken[gold] = 1;
    const std::uint32_t schema = data_.paths[w.places[gold].path].schema;
    const auto fits = [&](std::uint32_t place) {
      const Worker::Place& path = w.places[place];
      return taken[place] == 0 && data_.paths[path.path].schema == schema && !is_gold(example, path.path) &&
             *path.key != *w.places[gold].key;
    };
    for (const std::uint32_t place : own) {
      if (!fits(place)) continue;
      taken[place] = 1;
      which.push_back(place);
    }
    always = which.size();
    for (std::uint32_t place = 0; place < w.places.size(); ++place) {
      if (fits(place)) others.push_back(place);
    }
    for (std::size_t k = 0; k < others.size() && static_cast<Index>(which.size()) < options_.compete; ++k) {
      std::swap(others[k], others[k + random.below(others.size() - k)]);
      which.push_back(others[k]);
    }
    return which;
  }

  // Of w.scores, whose first is the gold path's, with its gradient in w.d_scores.
  double loss_of(Worker& w) const {
    const auto n = static_cast<Index>(w.scores.size());
    if (options_.margin <= 0) {
      const Index target = 0;
      return nn::cross_entropy<float>(nn::View<const float>(w.scores.data(), 1, n), {&target, 1},
                                      nn::View<float>(w.d_scores.data(), 1, n));
    }
    double loss = 0;
    std::fill(w.d_scores.begin(), w.d_scores.end(), 0.0F);
    for (std::size_t c = 1; c < w.scores.size(); ++c) {
      const double short_of =
          options_.margin - static_cast<double>(w.scores[0]) + static_cast<double>(w.scores[c]);
      if (short_of <= 0) continue;
      loss += short_of;
      w.d_scores[0] -= 1;
      w.d_scores[c] += 1;
    }
    return loss;
  }

  // How often a word is read by its letters although the table has it.
  static constexpr double kSpelled = 0.03;
  // Below this a path that is there by chance would outweigh the rest.
  static constexpr double kLeastPresent = 0.05;

  const PathMatcherNetwork<float>& network_;
  const PathVocabulary &words_, &units_;
  const MatchData& data_;
  const PathMatcherTraining& options_;
  std::string fingerprint_;
  std::vector<std::vector<std::uint32_t>> alike_, schemas_;
  std::vector<float> rarity_;  // -log of how often a path is in a batch
  std::vector<std::vector<Encoded>> texts_;
  std::vector<std::vector<std::string>> questions_;
  std::vector<Worker> workers_;
};

// Everything that a resumed run must share with the one before.
std::string fingerprint_of(const MatchData& data, const std::string& config, const std::string& words,
                           const std::string& units) {
  std::string all = config + '\0' + words + '\0' + units;
  for (const auto* part : {&data.train, &data.valid}) {
    for (const MatchExample& example : *part) {
      all += '\0' + example.question;
      for (const std::uint32_t gold : example.gold) all += '\t' + std::to_string(gold);
    }
  }
  return base::sha256(all);
}

// Words that questions and paths use at least twice, after those with vectors; units of the training paths.
struct Vocabularies {
  std::vector<std::string> words, units;
};
Vocabularies vocabularies_of(const MatchData& data, const std::vector<std::string>& with_vectors,
                             const PathMatcherTraining& options) {
  Vocabularies out;
  out.words = with_vectors;
  const std::unordered_set<std::string> have(with_vectors.begin(), with_vectors.end());
  std::map<std::string, std::size_t> words, units;
  for (const MatchExample& example : data.train) {
    for (const MatchWord& word : match_words(example.question, example.mentions, options.mention_tail))
      ++words[word.key];
  }
  std::unordered_set<std::uint32_t> used;
  for (const MatchExample& example : data.train) used.insert(example.gold.begin(), example.gold.end());
  for (std::uint32_t i = 0; i < data.paths.size(); ++i) {
    for (const auto* aspect : {&data.paths[i].answer_type, &data.paths[i].answer_context}) {
      for (const std::string& word : *aspect) words[word] += options.aspects > 0 ? 1 : 0;
    }
    for (const PathText& text : data.paths[i].texts) {
      for (const std::string& word : text.words) ++words[word];
      // A unit that no question asks for has nothing to learn from.
      if (!used.contains(i)) continue;
      for (const std::string& unit : text.units) ++units[unit];
    }
  }
  const PathVocabulary none({});
  for (const auto& [word, count] : words) {
    if (count >= 2 && !have.contains(word) && none.row(word) == PathVocabulary::unknown &&
        word.find('\n') == std::string::npos)
      out.words.push_back(word);
  }
  for (const auto& [unit, count] : units) {
    if (none.row(unit) == PathVocabulary::unknown && unit.find('\n') == std::string::npos)
      out.units.push_back(unit);
  }
  return out;
}

// Vectors of n-grams such that their mean is near each word's vector, by least squares (stochastic gradient):
// what lets a word outside the table stand near those that are spelled like it.
void fit_ngrams(const MatchVectors& vectors, nn::View<float> ngrams, std::uint64_t seed) {
  constexpr int kRounds = 6;
  constexpr float kRate = 0.4F;
  const Index d = vectors.dimensions;
  std::vector<std::size_t> order(vectors.words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  nn::Random random(seed, 0x6e67);
  std::vector<float> error(at(d));
  for (Index i = 0; i < ngrams.rows; ++i) std::fill_n(ngrams.row(i), d, 0.0F);
  for (int round = 0; round < kRounds; ++round) {
    random.shuffle(order);
    for (const std::size_t word : order) {
      const std::vector<std::int32_t> places = character_ngrams(vectors.words[word], ngrams.rows);
      if (places.empty()) continue;
      const auto count = static_cast<float>(places.size());
      const float* x = vectors.values.data() + word * at(d);
      std::copy_n(x, d, error.begin());
      for (const std::int32_t place : places) {
        for (Index k = 0; k < d; ++k) error[at(k)] -= ngrams(place, k) / count;
      }
      for (const std::int32_t place : places) {
        for (Index k = 0; k < d; ++k) ngrams(place, k) += kRate * error[at(k)];
      }
    }
  }
}

}  // namespace

base::Result<TrainedPathMatcher> train_path_matcher(const MatchData& data, MatchVectors vectors,
                                                    const PathMatcherTraining& options, nn::Team& team) {
  if (data.train.empty()) {
    return base::fail(base::ErrorCode::bad_input, "no question with a path of relations to learn from");
  }
  PathMatcherConfig config;
  config.language = options.language;
  config.dimensions = vectors.words.empty() ? options.dimensions : vectors.dimensions;
  config.hidden = options.hidden;
  config.buckets = options.buckets;
  config.attention = options.attention;
  config.alignment = options.alignment;
  config.mention_tail = options.mention_tail;
  config.aspects = options.aspects;
  for (const MatchExample& example : data.train) {
    for (const std::uint32_t gold : example.gold)
      config.steps = std::max(config.steps, static_cast<Index>(data.paths[gold].steps));
  }
  config.word_dropout = options.word_dropout;
  config.state_dropout = options.state_dropout;
  ASKBASE_TRY(path_attention(config));

  Vocabularies lists = vocabularies_of(data, vectors.words, options);
  const PathVocabulary words(std::move(lists.words)), units(std::move(lists.units));
  TrainedPathMatcher model;
  model.config = path_matcher_config_text(config);
  model.words = words.text();
  model.units = units.text();
  nn::Parameters<float>& p = model.parameters;
  const PathMatcherNetwork<float> network(p, config, words.size(), units.size());
  p.initialise(options.seed);
  network.set_initial(p);
  if (!vectors.words.empty()) {
    const auto given = static_cast<Index>(vectors.words.size());
    std::copy(vectors.values.begin(), vectors.values.end(),
              p.mutable_view(network.word_table()).rows_from(PathVocabulary::special, given).data);
    fit_ngrams(vectors, p.mutable_view(network.ngram_table()), options.seed);
  }

  Task task(network, words, units, data, options,
            fingerprint_of(data, model.config, model.words, model.units), team.size());
  nn::TrainerConfig trainer;
  trainer.name = "matcher";
  trainer.seed = options.seed;
  trainer.optimizer = {.kind = nn::OptimizerKind::adamw, .weight_decay = 0.01};
  if (!vectors.words.empty()) {
    trainer.optimizer.rate_factors = {{"words", options.word_rate}, {"ngrams", options.word_rate}};
  }
  trainer.optimizer.rate_factors.push_back({"score", 10.0});
  trainer.schedule = {
      .kind = nn::ScheduleKind::linear, .rate = options.rate, .warmup_share = 0.05, .final_share = 0.02};
  trainer.batching = {.max_examples = options.batch};
  trainer.clip_norm = 2.0;
  trainer.epochs = options.epochs;
  trainer.minutes = options.minutes;
  trainer.patience = options.patience;
  trainer.evaluate_every = options.evaluate_every;
  trainer.averaging = nn::Averaging::ema;
  trainer.ema_decay = 0.998;
  trainer.checkpoint = options.checkpoint;
  trainer.checkpoint_minutes = 2;
  trainer.curves = options.curves;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  ASKBASE_ASSIGN(const nn::TrainingResult result, nn::train(task, p, trainer, team));
  model.epochs = result.epochs;
  model.steps = result.steps;
  model.seconds = result.seconds;
  model.valid = result.best.values;
  return model;
}

base::Status save_path_matcher(const std::filesystem::path& folder, const TrainedPathMatcher& model,
                               std::string card) {
  nn::ModelToSave save;
  save.kind = kPathMatcherKind;
  save.config = model.config;
  save.files = {{.name = "words.txt", .content = model.words, .vocabulary = true},
                {.name = "units.txt", .content = model.units, .vocabulary = true},
                {.name = "README.md", .content = std::move(card), .vocabulary = false}};
  save.storage = nn::Storage::fp16;
  save.small = nn::Storage::fp16;
  save.storage_of = [](const std::string& name) {
    return name == "words.weight" || name == "ngrams.weight" || name == "units.weight" ? nn::Storage::int8
                                                                                       : nn::Storage::fp16;
  };
  return nn::save_model(folder, save, model.parameters);
}

double path_accuracy(const PathMatcher& matcher, const std::vector<TrainingPath>& paths,
                     const std::vector<MatchExample>& questions, bool among_all, nn::Team& team,
                     std::vector<char>* hits) {
  std::vector<MatchPath> list(paths.size());
  std::vector<char> needed(paths.size(), among_all ? 1 : 0);
  for (const MatchExample& question : questions) {
    for (const std::uint32_t path : question.gold) needed[path] = 1;
    for (const std::uint32_t path : question.rivals) needed[path] = 1;
  }
  // Paths that are not needed stay without text, and cost nothing.
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (needed[i] != 0 && !paths[i].texts.empty())
      list[i] = {{paths[i].texts.front()}, paths[i].answer_type, paths[i].answer_context};
  }
  const EncodedPaths encoded = matcher.encode(list, team);
  std::vector<char> right(questions.size());
  team.parallel_for(static_cast<Index>(questions.size()), 16, [&](Index begin, Index end) {
    PathMatcher::Scratch scratch;
    std::vector<std::uint32_t> which;
    std::vector<float> scores;
    for (Index q = begin; q < end; ++q) {
      const MatchExample& question = questions[at(q)];
      which.clear();
      if (!among_all) {
        which = question.rivals;
        which.insert(which.end(), question.gold.begin(), question.gold.end());
      }
      scores.resize(among_all ? paths.size() : which.size());
      matcher.score(matcher.prepare(question.question, question.mentions), encoded, which, scores, scratch);
      float best = -std::numeric_limits<float>::infinity(), best_other = best;
      for (std::size_t c = 0; c < scores.size(); ++c) {
        const auto path = among_all ? static_cast<std::uint32_t>(c) : which[c];
        // Two paths that read the same are one choice.
        const bool gold =
            std::any_of(question.gold.begin(), question.gold.end(), [&](std::uint32_t right_path) {
              return right_path == path || (among_all && list[right_path].texts == list[path].texts);
            });
        float& most = gold ? best : best_other;
        most = std::max(most, scores[c]);
      }
      right[at(q)] = best > best_other;
    }
  });
  const auto sum = static_cast<double>(std::count(right.begin(), right.end(), 1));
  if (hits != nullptr) *hits = std::move(right);
  return questions.empty() ? 0 : sum / static_cast<double>(questions.size());
}

}  // namespace askbase::qa
