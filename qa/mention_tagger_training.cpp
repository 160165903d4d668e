#include "qa/mention_tagger_training.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/sha256.h"
#include "base/text.h"
#include "nn/quantize.h"
#include "nn/random.h"
#include "nn/trainer.h"
#include "qa/mention_spans.h"
#include "qa/mention_tagger.h"

namespace askbase::qa {

namespace {

using nn::Index;

constexpr std::uint64_t casing_stream = 101, hiding_stream = 102;
constexpr Index learned_dimensions = 64;

struct Example {
  MentionText text;
  TokenSpan mention;
};

class Task : public nn::TrainingTask<float> {
 public:
  Task(const MentionModel& model, const MentionTraining& options, std::vector<Example> train,
       std::vector<Example> valid, std::string fingerprint, int workers)
      : model_(model),
        options_(options),
        train_(std::move(train)),
        valid_(std::move(valid)),
        fingerprint_(std::move(fingerprint)),
        caches_(static_cast<std::size_t>(workers)) {}

  Index example_count() const override { return static_cast<Index>(train_.size()); }
  Index length(Index i) const override {
    return static_cast<Index>(train_[static_cast<std::size_t>(i)].text.size());
  }
  std::string fingerprint() const override { return fingerprint_; }

  nn::LossSum loss(const nn::Parameters<float>& p, const nn::Shard& shard, nn::Gradients<float>& g,
                   const nn::Context& context) override {
    auto& cache = caches_[static_cast<std::size_t>(shard.worker)];
    model_.clear(cache);
    std::vector<Index> tags;
    nn::Random random(context.dropout_key, casing_stream);
    for (const Index i : shard.examples) {
      const Example& example = train_[static_cast<std::size_t>(i)];
      const MentionModel::Reading reading = reading_of(example, random);
      model_.add(example.text, reading, cache);
      for (std::size_t t = 0; t < std::min(reading.tokens, example.text.size()); ++t) {
        const TokenSpan& mention = example.mention;
        tags.push_back(t == mention.first                      ? tag_begin
                       : t > mention.first && t < mention.last ? tag_inside
                                                               : tag_outside);
      }
    }
    model_.network().forward(p, cache, context);
    const double loss = model_.network().loss(p, cache, tags, g, context);
    return {loss, static_cast<double>(shard.examples.size())};
  }

  base::Result<std::optional<nn::Evaluation>> evaluate(const nn::Parameters<float>& p,
                                                       nn::Team& team) override {
    if (valid_.empty()) return std::nullopt;
    const double exact = exact_share(p, Casing::as_written, team),
                 lower = exact_share(p, Casing::lower, team),
                 title = exact_share(p, Casing::title_mention, team);
    return nn::Evaluation{exact, {{"exact", exact}, {"exact_lower", lower}, {"exact_title", title}}};
  }

 private:
  MentionModel::Reading reading_of(const Example& example, nn::Random& random) const {
    MentionModel::Reading reading;
    reading.mention = example.mention;
    if (random.uniform() < options_.recased) {
      const double way = random.uniform();
      reading.casing = way < 0.4    ? Casing::title_mention
                       : way < 0.75 ? Casing::lower
                       : way < 0.9  ? Casing::title
                                    : Casing::upper;
    }
    reading.hidden.resize(example.text.size());
    for (std::size_t t = 0; t < example.text.size(); ++t) {
      const bool inside = t >= example.mention.first && t < example.mention.last;
      reading.hidden[t] =
          random.uniform() < (inside ? options_.mention_dropout : options_.word_dropout) ? 1 : 0;
    }
    // With and without the sign at its end.
    const std::size_t n = example.text.size();
    if (n > 1 && example.mention.last < n && example.text.kinds[n - 1] == base::TokenKind::punctuation &&
        random.uniform() < 0.3) {
      reading.tokens = n - 1;
    }
    return reading;
  }

  double exact_share(const nn::Parameters<float>& p, Casing casing, nn::Team& team) {
    constexpr std::size_t together = 256;
    std::size_t right = 0;
    auto& cache = caches_[0];
    for (std::size_t begin = 0; begin < valid_.size(); begin += together) {
      const std::size_t end = std::min(valid_.size(), begin + together);
      model_.clear(cache);
      for (std::size_t i = begin; i < end; ++i) {
        MentionModel::Reading reading;
        reading.casing = casing;
        reading.mention = valid_[i].mention;
        model_.add(valid_[i].text, reading, cache);
      }
      model_.network().forward(p, cache, {.team = &team});
      const nn::Crf<float>& crf = model_.network().crf();
      for (std::size_t i = begin; i < end; ++i) {
        const auto s = static_cast<Index>(i - begin);
        const SpanSums sums = span_sums(
            cache.scores.view().rows_from(cache.sentences.begin(s), cache.sentences.length(s)),
            p[crf.transitions()], p[crf.start()], p[crf.end()], MentionTagger::max_mention_tokens, 0.01);
        right += !sums.spans.empty() && sums.spans.front().span == valid_[i].mention ? 1 : 0;
      }
    }
    return static_cast<double>(right) / static_cast<double>(valid_.size());
  }

  const MentionModel& model_;
  const MentionTraining& options_;
  std::vector<Example> train_, valid_;
  std::string fingerprint_;
  std::vector<MentionModel::Cache> caches_;
};

// How often each word and each letter comes, the most frequent first; of equals in byte order.
template <typename Key>
std::vector<std::pair<Key, std::size_t>> by_count(const std::map<Key, std::size_t>& counts) {
  std::vector<std::pair<Key, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

// The folded form that MentionModel looks up.
std::string folded(const base::Token& token) {
  return token.kind == base::TokenKind::han ? token.key : base::fold_case(token.text);
}

struct Counts {
  std::map<std::string, std::size_t> words;
  std::map<char32_t, std::size_t> letters;
};

Counts count(const std::vector<TaggedQuestion>& train) {
  Counts counts;
  for (const TaggedQuestion& question : train) {
    for (const base::Token& token : mention_tokens(question.question)) {
      ++counts.words[folded(token)];
      for (const char32_t letter : base::to_code_points(token.text)) {
        if (!base::is_han(letter)) ++counts.letters[letter];
      }
    }
  }
  // Questions are read in capitals, too.
  for (char32_t c = U'a'; c <= U'z'; ++c) {
    const std::size_t both = counts.letters[c] + counts.letters[c - 32];
    if (both > 0) counts.letters[c] = counts.letters[c - 32] = both;
  }
  return counts;
}

void put_rounded(nn::View<const float> given, nn::View<float> to) {
  std::vector<std::int8_t> rounded(static_cast<std::size_t>(given.size()));
  std::vector<float> scales(static_cast<std::size_t>(given.rows));
  nn::quantize_rows(given, rounded.data(), scales.data(), true);
  nn::dequantize_rows(rounded.data(), scales.data(), to);
}

}  // namespace

base::Result<TrainedTagger> train_mention_tagger(const std::vector<TaggedQuestion>& train,
                                                 const std::vector<TaggedQuestion>& valid, MentionWords words,
                                                 const MentionTraining& options, nn::Team& team) {
  const Counts counts = count(train);
  MentionConfig config;
  config.language = options.language;
  config.hidden = options.hidden;
  config.layers = options.layers;
  config.pair_rows = options.pair_rows;
  // Marks around titles are the rule in Chinese; in English they stand for many things.
  if (options.language == "zh") config.shapes = shape_count;
  std::vector<std::string> vocabulary;
  nn::Matrix<float> vectors;
  if (words.dimensions > 0) {
    // Frequent words of the questions first, so that those with vectors of their own are the first rows.
    config.dimensions = words.dimensions;
    std::unordered_map<std::string, std::size_t> given;
    for (std::size_t i = 0; i < words.words.size(); ++i) given.emplace(words.words[i], i);
    std::vector<std::size_t> order;
    std::vector<std::uint8_t> taken(words.words.size(), 0);
    for (const auto& [word, times] : by_count(counts.words)) {
      const auto found = given.find(word);
      if (found == given.end() || taken[found->second] != 0) continue;
      taken[found->second] = 1;
      order.push_back(found->second);
    }
    for (std::size_t i = 0; i < words.words.size(); ++i) {
      if (taken[i] == 0 && given.at(words.words[i]) == i) order.push_back(i);
    }
    vectors.resize(static_cast<Index>(order.size()), config.dimensions);
    for (std::size_t i = 0; i < order.size(); ++i) {
      vocabulary.push_back(words.words[order[i]]);
      std::copy_n(words.vectors.begin() + static_cast<std::ptrdiff_t>(order[i]) * config.dimensions,
                  config.dimensions, vectors.row(static_cast<Index>(i)));
    }
    config.own_words =
        std::min<Index>(options.own_words > 0 ? options.own_words + QuestionVocabulary::special : 0,
                        static_cast<Index>(order.size()) + QuestionVocabulary::special);
  } else {
    config.learn_words = true;
    config.dimensions = learned_dimensions;
    for (const auto& [word, times] : by_count(counts.words)) {
      if (times >= options.least_words && !word.empty()) vocabulary.push_back(word);
    }
  }
  std::u32string letters;
  for (const auto& [letter, times] : by_count(counts.letters)) {
    if (times >= options.least_letters) letters += letter;
  }
  TrainedTagger trained;
  trained.model = std::make_unique<MentionModel>(QuestionVocabulary(std::move(vocabulary)),
                                                 LetterTable(std::move(letters)), config);
  MentionModel& model = *trained.model;
  model.network().initialise(model.parameters(), options.seed);
  if (vectors.rows() > 0) {
    // Rounded to what the file will hold, so that the network learns with the vectors that ship.
    put_rounded(vectors, model.parameters()
                             .mutable_view(model.network().table())
                             .rows_from(QuestionVocabulary::special, vectors.rows()));
  }

  base::Sha256 hash;
  hash.append_text(model.config_json());
  hash.append_text(model.vocabulary().text());
  for (const double number : {options.word_dropout, options.mention_dropout, options.recased}) {
    hash.append_text(std::to_string(number));
  }
  std::vector<Example> examples[2];
  for (int part = 0; part < 2; ++part) {
    for (const TaggedQuestion& question : part == 0 ? train : valid) {
      const std::vector<base::Token> tokens = mention_tokens(question.question);
      const TokenSpan& mention = question.mention;
      if (mention.first >= mention.last || mention.last > tokens.size()) {
        return base::fail(base::ErrorCode::bad_input,
                          "the mention lies outside of the question \"" + question.question + "\"");
      }
      hash.append_text(question.question);
      hash.append_text(std::to_string(mention.first) + ' ' + std::to_string(mention.last));
      examples[part].push_back({model.text_of(tokens), mention});
    }
  }
  Task task(model, options, std::move(examples[0]), std::move(examples[1]), hash.hex(), team.size());
  nn::TrainerConfig trainer;
  trainer.name = options.language + "-tagger";
  trainer.seed = options.seed;
  trainer.optimizer = {.kind = nn::OptimizerKind::adamw, .weight_decay = 0.01};
  trainer.schedule = {.kind = nn::ScheduleKind::cosine, .rate = options.rate, .warmup_share = 0.05};
  trainer.batching = {.max_examples = options.batch};
  trainer.clip_norm = 5.0;
  trainer.epochs = options.epochs;
  trainer.minutes = options.minutes;
  trainer.patience = options.patience;
  trainer.averaging = nn::Averaging::ema;
  trainer.ema_decay = 0.999;
  trainer.checkpoint = options.checkpoint;
  trainer.curves = options.curves;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  ASKBASE_ASSIGN(const nn::TrainingResult result, nn::train(task, model.parameters(), trainer, team));
  trained.epochs = result.epochs;
  trained.seconds = result.seconds;
  if (!result.best.values.empty()) trained.valid_exact = result.best.values.front().second;
  return trained;
}

}  // namespace askbase::qa
