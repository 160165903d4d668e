#include "qa/path_matcher.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "base/tokenize.h"
#include "nn/model_folder.h"
#include "qa/path_matcher_config.h"
#include "qa/path_matcher_network.h"

namespace askbase::qa {

namespace {

using nn::Index;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

class Matcher : public PathMatcher {
 public:
  Matcher(const PathMatcherConfig& config, PathVocabulary words, PathVocabulary units)
      : words_(std::move(words)),
        units_(std::move(units)),
        network_(p_, config, words_.size(), units_.size()) {}

  nn::Parameters<float>& parameters() { return p_; }

  const std::string& language() const override { return network_.config().language; }
  std::size_t steps() const override { return at(network_.config().steps); }

  bool knows(const MatchPath& path) const override {
    return std::any_of(path.texts.begin(), path.texts.end(), [&](const PathText& text) {
      return std::all_of(text.units.begin(), text.units.end(), [&](const std::string& unit) {
        return units_.row(unit) != PathVocabulary::unknown;
      });
    });
  }

  EncodedPaths encode(std::span<const MatchPath> paths, nn::Team& team) const override {
    constexpr std::size_t kBatch = 256;
    EncodedPaths out;
    std::unordered_map<std::string, std::uint32_t> place_of;  // of a word among out.words
    std::vector<float> vectors, words;
    std::vector<std::vector<float>> aspects(at(network_.config().aspects));
    nn::Context context;
    context.team = &team;
    for (std::size_t begin = 0; begin < paths.size(); begin += kBatch) {
      const auto some = paths.subspan(begin, std::min(kBatch, paths.size() - begin));
      PathBatch batch;
      PathMatcherNetwork<float>::Cache cache;
      std::vector<const std::string*> spelling;  // of the batch's words
      const auto number = [&](const std::string& word) {
        const Index i = batch.add_word(word, words_, network_.config().buckets);
        if (at(i) == spelling.size()) spelling.push_back(&word);
        return i;
      };
      for (const MatchPath& path : some) {
        const std::size_t rows = std::max<std::size_t>(1, path.texts.size());
        for (const PathText& text : path.texts) add_path(text, number, batch);
        if (path.texts.empty()) add_path({}, number, batch);
        out.first.push_back(out.first.back() + static_cast<std::uint32_t>(rows));
        add_aspects(path, rows, number, batch);
      }
      network_.encode(p_, batch, cache, context);
      vectors.insert(vectors.end(), cache.paths.data(), cache.paths.data() + cache.paths.size());
      for (std::size_t k = 0; k < aspects.size(); ++k) {
        const nn::Matrix<float>& rows = cache.aspects[k];
        aspects[k].insert(aspects[k].end(), rows.data(), rows.data() + rows.size());
      }
      // The batch's words as those of all batches.
      std::vector<std::uint32_t> places(spelling.size());
      for (std::size_t i = 0; i < spelling.size(); ++i) {
        const auto [found, fresh] =
            place_of.try_emplace(*spelling[i], static_cast<std::uint32_t>(place_of.size()));
        places[i] = found->second;
        if (fresh) {
          const float* x = cache.unit_length.row(static_cast<Index>(i));
          words.insert(words.end(), x, x + cache.unit_length.cols());
        }
      }
      const auto before = static_cast<std::uint32_t>(out.word.size());
      for (const std::uint32_t word : cache.word) out.word.push_back(places[word]);
      out.weight.insert(out.weight.end(), cache.weight.begin(), cache.weight.end());
      for (std::size_t i = 1; i < cache.word_first.size(); ++i) {
        out.word_first.push_back(before + cache.word_first[i]);
      }
    }
    for (std::size_t i = 0; i < paths.size(); ++i) out.silent.push_back(paths[i].texts.empty());
    const auto matrix = [](const std::vector<float>& values, Index cols) {
      nn::Matrix<float> m(static_cast<Index>(values.size()) / cols, cols);
      std::copy(values.begin(), values.end(), m.data());
      return m;
    };
    out.vectors = matrix(vectors, network_.config().width());
    out.words = matrix(words, network_.config().dimensions);
    for (const auto& aspect : aspects) out.aspects.push_back(matrix(aspect, network_.config().width()));
    return out;
  }

  MatchQuestion prepare(std::string_view question, std::span<const MentionRange> mentions) const override {
    MatchQuestion out;
    PathBatch batch;
    for (MatchWord& word : match_words(question, mentions, network_.config().mention_tail)) {
      batch.question_words.push_back(batch.add_word(word.key, words_, network_.config().buckets));
      out.text.push_back(std::move(word.text));
    }
    batch.questions.add(static_cast<Index>(batch.question_words.size()));
    PathMatcherNetwork<float>::Cache cache;
    network_.encode(p_, batch, cache, {});
    const QuestionView<float> view = cache.question(0, batch);
    (void)view;
    out.words = std::move(cache.question_words);
    out.states = std::move(cache.states);
    out.pooled = std::move(cache.pooled);
    return out;
  }

  void score(const MatchQuestion& question, const EncodedPaths& encoded, std::span<const std::uint32_t> which,
             std::span<float> scores, Scratch& scratch) const override {
    const std::size_t count = which.empty() ? encoded.size() : which.size();
    if (scores.size() != count) throw std::logic_error("qa::PathMatcher: as many scores as paths");
    if (count == 0) return;
    std::vector<std::uint32_t>& rows = scratch.rows;
    rows.clear();
    if (!which.empty()) {
      for (const std::uint32_t path : which) {
        for (std::uint32_t r = encoded.first[path]; r < encoded.first[path + 1]; ++r) rows.push_back(r);
      }
    }
    scratch.row_scores.resize(which.empty() ? at(encoded.vectors.rows()) : rows.size());
    if (!scratch.cache) scratch.cache = std::make_shared<PathMatcherNetwork<float>::ScoreCache>();
    auto& cache = *static_cast<PathMatcherNetwork<float>::ScoreCache*>(scratch.cache.get());
    network_.score(p_, view(question), view(encoded), rows, scratch.row_scores, cache, {});
    const float* row = scratch.row_scores.data();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t path = which.empty() ? i : which[i];
      const std::uint32_t ways = encoded.first[path + 1] - encoded.first[path];
      scores[i] = encoded.silent[path] != 0 ? no_text_score : *std::max_element(row, row + ways);
      row += ways;
    }
  }

  std::vector<std::pair<std::string, double>> attention(const MatchQuestion& question,
                                                        const EncodedPaths& encoded,
                                                        std::uint32_t path) const override {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t r = encoded.first[path]; r < encoded.first[path + 1]; ++r) rows.push_back(r);
    std::vector<float> scores(rows.size());
    PathMatcherNetwork<float>::ScoreCache cache;
    network_.score(p_, view(question), view(encoded), rows, scores, cache, {});
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    const std::vector<float> weights = network_.weights(cache, best, question.states.rows());
    std::vector<std::pair<std::string, double>> out;
    for (std::size_t i = 0; i < question.text.size(); ++i) {
      out.emplace_back(question.text[i], static_cast<double>(weights[i]));
    }
    return out;
  }

 private:
  template <typename Number>
  void add_path(const PathText& text, const Number& number, PathBatch& batch) const {
    for (const std::string& word : text.words) batch.path_word_ids.push_back(number(word));
    for (const std::string& unit : text.units) batch.path_unit_rows.push_back(units_.row(unit));
    batch.path_words.add(static_cast<Index>(text.words.size()));
    batch.path_units.add(static_cast<Index>(text.units.size()));
  }

  template <typename Number>
  void add_aspects(const MatchPath& path, std::size_t rows, const Number& number, PathBatch& batch) const {
    const std::vector<std::string>* const texts[] = {&path.answer_type, &path.answer_context};
    for (Index k = 0; k < network_.config().aspects; ++k) {
      PathBatch::Aspect& aspect = batch.aspects[at(k)];
      for (std::size_t r = 0; r < rows; ++r) {
        for (const std::string& word : *texts[k]) aspect.words.push_back(number(word));
        aspect.segments.add(static_cast<Index>(texts[k]->size()));
      }
    }
  }

  static QuestionView<float> view(const MatchQuestion& question) {
    return {
        .states = question.states.view(), .pooled = question.pooled.view(), .words = question.words.view()};
  }
  static PathsView<float> view(const EncodedPaths& encoded) {
    PathsView<float> out{.vectors = encoded.vectors.view(),
                         .aspects = {},
                         .words = encoded.words.view(),
                         .word_first = encoded.word_first,
                         .word = encoded.word,
                         .weight = encoded.weight};
    for (std::size_t k = 0; k < encoded.aspects.size(); ++k) out.aspects[k] = encoded.aspects[k].view();
    return out;
  }

  nn::Parameters<float> p_;
  PathVocabulary words_, units_;
  PathMatcherNetwork<float> network_;
};

}  // namespace

std::vector<MatchWord> match_words(std::string_view question, std::span<const MentionRange> mentions,
                                   Index tail) {
  std::vector<MatchWord> words;
  const base::OffsetMap map(question);
  std::vector<MentionRange> sorted(mentions.begin(), mentions.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const MentionRange& a, const MentionRange& b) { return a.begin < b.begin; });
  std::size_t next = 0;  // the first mention that is not behind
  const auto add_mention = [&](const MentionRange& mention) {
    const std::size_t begin = map.byte(std::min(mention.begin, map.code_points())),
                      end = map.byte(std::min(mention.end, map.code_points()));
    words.push_back({std::string(mention_word), std::string(question.substr(begin, end - begin))});
    std::vector<std::string> more = path_words(mention.type);
    if (mention.type.empty() && tail > 0) {
      more = path_words(question.substr(begin, end - begin));
      if (more.size() > at(tail)) more.erase(more.begin(), more.end() - tail);
    }
    for (std::string& word : more) words.push_back({word, word});
  };
  std::size_t covered = 0;  // code points before this one belong to a mention
  for (base::Token& token : base::tokenize_characters(question)) {
    while (next < sorted.size() && sorted[next].begin < token.end) {
      const MentionRange& mention = sorted[next++];
      if (mention.begin < covered || mention.begin >= mention.end || mention.end <= token.begin) continue;
      add_mention(mention);
      covered = mention.end;
    }
    if (token.begin < covered || token.kind == base::TokenKind::punctuation || token.key.empty()) continue;
    words.push_back({std::move(token.key), std::move(token.text)});
  }
  if (words.size() > PathMatcher::max_words) words.resize(PathMatcher::max_words);
  return words;
}

std::shared_ptr<const PathMatcher> path_matcher_of(const PathMatcherConfig& config,
                                                   const PathVocabulary& words, const PathVocabulary& units,
                                                   const nn::Parameters<float>& p) {
  auto matcher = std::make_shared<Matcher>(config, words, units);
  nn::Parameters<float>& own = matcher->parameters();
  for (nn::ParameterId id = 0; id < own.count(); ++id) {
    const nn::View<const float> from = p[p.find(own.name(id))];
    std::copy_n(from.data, from.size(), own.mutable_view(id).data);
  }
  return matcher;
}

base::Result<std::shared_ptr<const PathMatcher>> PathMatcher::load(const std::filesystem::path& path) {
  ASKBASE_ASSIGN(const nn::ModelFolder folder, nn::ModelFolder::open(path, kPathMatcherKind));
  ASKBASE_ASSIGN(const PathMatcherConfig config, parse_path_matcher_config(folder.config()));
  ASKBASE_ASSIGN(const std::string word_text, folder.read("words.txt"));
  ASKBASE_ASSIGN(PathVocabulary words, PathVocabulary::parse(word_text, "words.txt"));
  ASKBASE_ASSIGN(const std::string unit_text, folder.read("units.txt"));
  ASKBASE_ASSIGN(PathVocabulary units, PathVocabulary::parse(unit_text, "units.txt"));
  auto matcher = std::make_shared<Matcher>(config, std::move(words), std::move(units));
  ASKBASE_TRY(folder.fill(matcher->parameters()));
  return matcher;
}

}  // namespace askbase::qa
