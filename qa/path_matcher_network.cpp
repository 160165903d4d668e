#include "qa/path_matcher_network.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "nn/gemm.h"
#include "nn/model_folder.h"
#include "nn/pooling.h"

namespace askbase::qa {

namespace {

using nn::Index;

constexpr Index kMaxAspects = 2;

template <typename T>
std::size_t at(T i) {
  return static_cast<std::size_t>(i);
}

// In several sums at once, which compilers turn into vector code without being allowed to change the order.
template <typename T>
T dot(const T* a, const T* b, Index n) {
  constexpr Index kLanes = 16;
  T sums[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (Index k = 0; k < kLanes; ++k) sums[k] += a[i + k] * b[i + k];
  }
  T sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (const T part : sums) sum += part;
  return sum;
}

template <typename T>
void add_scaled(T factor, const T* x, T* y, Index n) {
  for (Index i = 0; i < n; ++i) y[i] += factor * x[i];
}

nn::EmbeddingOptions table(Index rows, Index dimensions) {
  nn::EmbeddingOptions options;
  options.rows = rows;
  options.dim = dimensions;
  return options;
}

nn::RecurrentOptions encoder(Index input, Index hidden) {
  nn::RecurrentOptions options;
  options.input = input;
  options.hidden = hidden;
  options.bidirectional = true;
  return options;
}

}  // namespace

base::Result<std::optional<nn::AttentionConfig>> path_attention(const PathMatcherConfig& config) {
  if (config.attention == "none") return std::nullopt;
  ASKBASE_ASSIGN(nn::AttentionConfig attention, nn::parse_attention(config.attention));
  attention.query = attention.key = config.width();
  ASKBASE_TRY(nn::validate(attention));
  // The context is added to the question's largest values, so it must be as wide.
  if (attention.projected != 0 && attention.projected != config.width()) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "attention: \"projected\" must be " + std::to_string(config.width()));
  }
  return attention;
}

PathVocabulary::PathVocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  for (const std::string& word : words_) {
    rows_.emplace(word, special + static_cast<std::int32_t>(rows_.size()));
  }
}

base::Result<PathVocabulary> PathVocabulary::parse(std::string_view text, const std::string& name) {
  ASKBASE_ASSIGN(std::vector<std::string> words, nn::parse_word_list(text, name));
  return PathVocabulary(std::move(words));
}

std::string PathVocabulary::text() const { return nn::word_list_text(words_); }

std::int32_t PathVocabulary::row(std::string_view word) const {
  if (word == mention_word) return 1;
  if (word == inverse_word) return 2;
  if (word == step_word) return 3;
  const auto found = rows_.find(std::string(word));
  return found != rows_.end() ? found->second : unknown;
}

std::vector<std::int32_t> character_ngrams(std::string_view word, Index buckets) {
  std::vector<std::string> characters = {"<"};
  for (const char32_t c : base::to_code_points(word)) {
    characters.emplace_back();
    base::append_utf8(characters.back(), c);
  }
  characters.emplace_back(">");
  std::vector<std::int32_t> places;
  for (std::size_t begin = 0; begin < characters.size(); ++begin) {
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (std::size_t n = 1; n <= 5 && begin + n <= characters.size(); ++n) {
      for (const char c : characters[begin + n - 1]) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
      }
      if (n >= 3) places.push_back(static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(buckets)));
    }
  }
  return places;
}

Index PathBatch::add_word(const std::string& word, const PathVocabulary& table, Index buckets,
                          bool as_unknown) {
  const auto [found, fresh] = places_.try_emplace(word, static_cast<Index>(rows.size()));
  if (!fresh) return found->second;
  std::int32_t row = table.row(word);
  if (as_unknown && row >= PathVocabulary::special) row = PathVocabulary::unknown;
  rows.push_back(row);
  if (row == PathVocabulary::unknown) {
    const std::vector<std::int32_t> places = character_ngrams(word, buckets);
    ngrams.insert(ngrams.end(), places.begin(), places.end());
  }
  ngram_first.push_back(static_cast<Index>(ngrams.size()));
  return found->second;
}

void PathBatch::clear() { *this = PathBatch(); }

template <typename T>
PathMatcherNetwork<T>::PathMatcherNetwork(nn::Parameters<T>& p, const PathMatcherConfig& config, Index words,
                                          Index units)
    : config_(config),
      words_(p, "words", table(words, config.dimensions)),
      ngrams_(p, "ngrams", table(config.buckets, config.dimensions)),
      units_(p, "units", table(units, config.dimensions)),
      first_(p, "first", encoder(config.dimensions, config.hidden)),
      second_(p, "second", encoder(config.width(), config.hidden)),
      word_dropout_(config.word_dropout, 1),
      state_dropout_(config.state_dropout, 2) {
  const auto attention = path_attention(config);
  if (!attention || config.aspects < 0 || config.aspects > kMaxAspects) {
    throw std::logic_error("qa::PathMatcherNetwork: a configuration that does not fit");
  }
  if (*attention) {
    const char* const names[] = {"attention", "attention.type", "attention.context"};
    for (Index i = 0; i < parts(); ++i) attention_.emplace_back(p, names[i], **attention);
  }
  if (config.alignment) {
    word_weight_ = p.add("alignment.weight", {1, config.dimensions}, {.initial = nn::Initial::zeros});
  }
  prior_ = p.add("prior.weight", {1, config.width()}, {.initial = nn::Initial::zeros});
  score_ = p.add("score.weight", {1, 2 + config.aspects}, {.initial = nn::Initial::zeros, .decay = false});
}

template <typename T>
void PathMatcherNetwork<T>::set_initial(nn::Parameters<T>& p) const {
  const nn::View<T> weights = p.mutable_view(score_);
  // Cosines tell little apart as they are: 20 is where softmax can be sure.
  weights(0, 0) = T(20);
  weights(0, 1) = config_.alignment ? T(8) : T(0);
  for (Index k = 0; k < config_.aspects; ++k) weights(0, 2 + k) = T(2);
}

template <typename T>
QuestionView<T> PathMatcherNetwork<T>::Cache::question(Index i, const PathBatch& batch) {
  const Index begin = batch.questions.begin(i), n = batch.questions.length(i);
  question_words.resize(n, unit_length.cols());
  for (Index t = 0; t < n; ++t) {
    std::copy_n(unit_length.row(batch.question_words[at(begin + t)]), unit_length.cols(),
                question_words.row(t));
  }
  return {.states = std::as_const(states).view().rows_from(begin, n),
          .pooled = std::as_const(pooled).view().rows_from(i, 1),
          .words = std::as_const(question_words).view()};
}

template <typename T>
PathsView<T> PathMatcherNetwork<T>::Cache::all_paths() const {
  return {.vectors = paths.view(),
          .aspects = {aspects[0].view(), aspects[1].view()},
          .words = unit_length.view(),
          .word_first = word_first,
          .word = word,
          .weight = weight};
}

template <typename T>
void PathMatcherNetwork<T>::encode_words(const nn::Parameters<T>& p, const PathBatch& batch, Cache& cache,
                                         const nn::Context& context) const {
  const Index n = static_cast<Index>(batch.rows.size()), d = config_.dimensions;
  cache.vectors.resize(n, d);
  words_.forward(p, batch.rows, cache.vectors, context);
  const nn::View<const T> grams = p[ngrams_.weight()];
  for (Index i = 0; i < n; ++i) {
    const Index begin = batch.ngram_first[at(i)], end = batch.ngram_first[at(i) + 1];
    for (Index k = begin; k < end; ++k) {
      add_scaled(T(1) / static_cast<T>(end - begin), grams.row(batch.ngrams[at(k)]), cache.vectors.row(i), d);
    }
  }
  cache.unit_length.resize(n, d);
  cache.lengths.resize(at(n));
  for (Index i = 0; i < n; ++i) {
    const T* x = cache.vectors.row(i);
    const T length = std::sqrt(dot(x, x, d));
    cache.lengths[at(i)] = length;
    for (Index k = 0; k < d; ++k) cache.unit_length(i, k) = length > T(0) ? x[k] / length : T(0);
  }
  cache.unit_vectors.resize(static_cast<Index>(batch.path_unit_rows.size()), d);
  units_.forward(p, batch.path_unit_rows, cache.unit_vectors, context);
}

template <typename T>
void PathMatcherNetwork<T>::weigh_words(const nn::Parameters<T>& p, const PathBatch& batch,
                                        Cache& cache) const {
  cache.word_first.assign(1, 0);
  cache.word.clear();
  cache.weight.clear();
  for (Index i = 0; i < batch.path_words.count(); ++i) {
    if (config_.alignment) {
      const T* u = p[word_weight_].data;
      const std::size_t begin = cache.word.size();
      for (Index t = batch.path_words.begin(i); t < batch.path_words.end(i); ++t) {
        const Index w = batch.path_word_ids[at(t)];
        const std::int32_t row = batch.rows[at(w)];
        if (row > PathVocabulary::unknown && row < PathVocabulary::special) continue;
        cache.word.push_back(static_cast<std::uint32_t>(w));
        cache.weight.push_back(dot(u, std::as_const(cache.vectors).row(w), config_.dimensions));
      }
      if (begin < cache.word.size()) {
        const T most =
            *std::max_element(cache.weight.begin() + static_cast<Index>(begin), cache.weight.end());
        T sum = 0;
        for (std::size_t k = begin; k < cache.weight.size(); ++k) {
          sum += cache.weight[k] = std::exp(cache.weight[k] - most);
        }
        for (std::size_t k = begin; k < cache.weight.size(); ++k) cache.weight[k] /= sum;
      }
    }
    cache.word_first.push_back(static_cast<std::uint32_t>(cache.word.size()));
  }
}

template <typename T>
void PathMatcherNetwork<T>::encode(const nn::Parameters<T>& p, const PathBatch& batch, Cache& cache,
                                   const nn::Context& context) const {
  encode_words(p, batch, cache, context);
  weigh_words(p, batch, cache);
  const Index paths = batch.path_words.count(), questions = batch.questions.total(), width = config_.width();
  // Questions, then each path's words and units, then the aspects.
  cache.segments = batch.questions;
  cache.pooled_segments.clear();
  for (Index i = 0; i < paths; ++i) {
    cache.segments.add(batch.path_words.length(i));
    cache.segments.add(batch.path_units.length(i));
    cache.pooled_segments.add(batch.path_words.length(i) + batch.path_units.length(i));
  }
  const Index path_rows = cache.pooled_segments.total();
  for (Index k = 0; k < config_.aspects; ++k) {
    const nn::Segments& segments = batch.aspects[at(k)].segments;
    for (Index i = 0; i < segments.count(); ++i) {
      cache.segments.add(segments.length(i));
      cache.pooled_segments.add(segments.length(i));
    }
  }
  cache.x.resize(cache.segments.total(), config_.dimensions);
  Index row = 0;
  const auto put = [&](const nn::Matrix<T>& from, Index place) {
    std::copy_n(from.row(place), config_.dimensions, cache.x.row(row++));
  };
  for (const Index word : batch.question_words) put(cache.vectors, word);
  for (Index i = 0; i < paths; ++i) {
    for (Index t = batch.path_words.begin(i); t < batch.path_words.end(i); ++t) {
      put(cache.vectors, batch.path_word_ids[at(t)]);
    }
    for (Index t = batch.path_units.begin(i); t < batch.path_units.end(i); ++t) put(cache.unit_vectors, t);
  }
  for (Index k = 0; k < config_.aspects; ++k) {
    for (const Index word : batch.aspects[at(k)].words) put(cache.vectors, word);
  }
  word_dropout_.apply(cache.x, cache.x, context);
  cache.h.resize(cache.segments.total(), width);
  if (cache.segments.total() > 0) first_.forward(p, cache.x, cache.segments, cache.h, cache.first, context);

  cache.states.resize(questions, width);
  cache.between.resize(questions, width);
  const nn::View<const T> h = std::as_const(cache.h).view().rows_from(0, questions);
  if (questions > 0) {
    state_dropout_.apply(h, cache.between, context);
    second_.forward(p, cache.between, batch.questions, cache.states, cache.second, context);
    for (Index i = 0; i < cache.states.size(); ++i) cache.states.data()[i] += h.data[i];
  }
  cache.pooled.resize(batch.questions.count(), width);
  nn::pool<T>(nn::Pooling::max, cache.states, batch.questions, cache.pooled, &cache.question_chosen);

  nn::Matrix<T>& pooled = cache.paths;
  const Index groups = 1 + config_.aspects;
  nn::Matrix<T> all(cache.pooled_segments.count(), width);
  nn::pool<T>(nn::Pooling::max,
              std::as_const(cache.h).view().rows_from(questions, cache.h.rows() - questions),
              cache.pooled_segments, all, &cache.path_chosen);
  (void)path_rows;
  for (Index k = 0; k < groups; ++k) {
    nn::Matrix<T>& to = k == 0 ? pooled : cache.aspects[at(k - 1)];
    to.resize(paths, width);
    if (paths > 0) std::copy_n(all.row(k * paths), paths * width, to.data());
  }
}

template <typename T>
void PathMatcherNetwork<T>::align(const QuestionView<T>& question, const PathsView<T>& paths,
                                  std::span<const std::uint32_t> which, ScoreCache& cache) const {
  // The words that the paths need, each once.
  const std::size_t count = which.empty() ? paths.word_first.size() - 1 : which.size();
  cache.place.assign(at(paths.words.rows), -1);
  cache.needed_words.clear();
  const auto row_of = [&](std::size_t c) { return which.empty() ? c : which[c]; };
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t r = row_of(c);
    for (std::uint32_t k = paths.word_first[r]; k < paths.word_first[r + 1]; ++k) {
      std::int32_t& place = cache.place[paths.word[k]];
      if (place >= 0) continue;
      place = static_cast<std::int32_t>(cache.needed_words.size());
      cache.needed_words.push_back(paths.word[k]);
    }
  }
  const Index needed = static_cast<Index>(cache.needed_words.size()), words = question.words.rows;
  cache.needed.resize(needed, paths.words.cols);
  for (Index i = 0; i < needed; ++i) {
    std::copy_n(paths.words.row(cache.needed_words[at(i)]), paths.words.cols, cache.needed.row(i));
  }
  cache.similarity.resize(needed, words);
  if (needed > 0) {
    nn::gemm<T>(nn::Op::none, nn::Op::transpose, T(1), cache.needed, question.words, T(0), cache.similarity);
  }
  cache.best.resize(at(needed));
  cache.best_at.resize(at(needed));
  for (Index i = 0; i < needed; ++i) {
    const T* row = cache.similarity.row(i);
    cache.best_at[at(i)] = std::max_element(row, row + words) - row;
    cache.best[at(i)] = row[cache.best_at[at(i)]];
  }
  cache.align.resize(count);
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t r = row_of(c);
    T sum = 0;
    for (std::uint32_t k = paths.word_first[r]; k < paths.word_first[r + 1]; ++k) {
      sum += paths.weight[k] * cache.best[at(cache.place[paths.word[k]])];
    }
    cache.align[c] = sum;
  }
}

template <typename T>
void PathMatcherNetwork<T>::score(const nn::Parameters<T>& p, const QuestionView<T>& question,
                                  const PathsView<T>& paths, std::span<const std::uint32_t> which,
                                  std::span<T> scores, ScoreCache& cache, const nn::Context& context) const {
  std::fill(scores.begin(), scores.end(), T(0));
  const Index words = question.states.rows, width = config_.width();
  const Index count = static_cast<Index>(scores.size());
  if (words == 0 || count == 0) return;
  const T* weights = p[score_].data;
  const auto queries = nn::Segments::one(count), keys = nn::Segments::one(words);
  for (Index k = 0; k < parts(); ++k) {
    const nn::View<const T> all = k == 0 ? paths.vectors : paths.aspects[at(k - 1)];
    nn::View<const T> vectors = all;
    nn::Matrix<T>& sums = cache.sums[at(k)];
    if (!which.empty()) {
      cache.vectors.resize(count, width);
      for (Index c = 0; c < count; ++c) std::copy_n(all.row(which[at(c)]), width, cache.vectors.row(c));
      vectors = cache.vectors;
    }
    sums.resize(count, width);
    if (attention_.empty()) {
      sums.fill(T(0));
    } else {
      attention_[at(k)].forward(p, vectors, queries, question.states, question.states, keys, sums,
                                cache.attention[at(k)], context);
    }
    cache.cosines[at(k)].resize(at(count));
    cache.sum_lengths[at(k)].resize(at(count));
    cache.lengths[at(k)].resize(at(count));
    for (Index c = 0; c < count; ++c) {
      T* v = sums.row(c);
      add_scaled(T(1), question.pooled.data, v, width);
      const T* r = vectors.row(c);
      const T sum_length = std::sqrt(dot<T>(v, v, width)), length = std::sqrt(dot(r, r, width));
      cache.sum_lengths[at(k)][at(c)] = sum_length;
      cache.lengths[at(k)][at(c)] = length;
      const T lengths = sum_length * length;
      const T cosine = lengths > T(0) ? dot<T>(v, r, width) / lengths : T(0);
      cache.cosines[at(k)][at(c)] = cosine;
      scores[at(c)] += weights[k == 0 ? 0 : 1 + k] * cosine;
      if (k == 0) scores[at(c)] += dot(p[prior_].data, r, width);
    }
  }
  if (config_.alignment) {
    align(question, paths, which, cache);
    for (Index c = 0; c < count; ++c) scores[at(c)] += weights[1] * cache.align[at(c)];
  }
}

template <typename T>
void PathMatcherNetwork<T>::start_backward(Cache& cache) const {
  const auto zeros = [](nn::Matrix<T>& d, const nn::Matrix<T>& like) {
    d.resize(like.rows(), like.cols());
    d.fill(T(0));
  };
  zeros(cache.d_states, cache.states);
  zeros(cache.d_pooled, cache.pooled);
  zeros(cache.d_paths, cache.paths);
  zeros(cache.d_unit_length, cache.unit_length);
  for (Index k = 0; k < config_.aspects; ++k) zeros(cache.d_aspects[at(k)], cache.aspects[at(k)]);
  cache.d_weight.assign(cache.weight.size(), T(0));
}

template <typename T>
void PathMatcherNetwork<T>::score_backward(const nn::Parameters<T>& p, const PathBatch& batch, Index i,
                                           Cache& cache, std::span<const std::uint32_t> which,
                                           std::span<const T> d_scores, ScoreCache& scored,
                                           nn::Gradients<T>& g, const nn::Context& context) const {
  const QuestionView<T> question = cache.question(i, batch);
  const Index words = question.states.rows, width = config_.width();
  const Index count = static_cast<Index>(d_scores.size());
  if (words == 0 || count == 0) return;
  const T* weights = p[score_].data;
  T* d_weights = g[score_].data;
  const auto row_of = [&](Index c) { return which.empty() ? c : static_cast<Index>(which[at(c)]); };
  const Index begin = batch.questions.begin(i);
  for (Index k = 0; k < parts(); ++k) {
    const nn::Matrix<T>& all = k == 0 ? cache.paths : cache.aspects[at(k - 1)];
    nn::Matrix<T>& d_all = k == 0 ? cache.d_paths : cache.d_aspects[at(k - 1)];
    const nn::Matrix<T>& sums = scored.sums[at(k)];
    const Index weight = k == 0 ? 0 : 1 + k;
    scored.vectors.resize(count, width);
    scored.d_context.resize(count, width);
    for (Index c = 0; c < count; ++c) {
      const T* r = all.row(row_of(c));
      const T* v = sums.row(c);
      T* d_r = d_all.row(row_of(c));
      T* d_v = scored.d_context.row(c);
      std::copy_n(r, width, scored.vectors.row(c));
      if (k == 0) {
        add_scaled(d_scores[at(c)], r, g[prior_].data, width);
        add_scaled(d_scores[at(c)], p[prior_].data, d_r, width);
      }
      const T cosine = scored.cosines[at(k)][at(c)];
      d_weights[weight] += d_scores[at(c)] * cosine;
      const T sum_length = scored.sum_lengths[at(k)][at(c)], length = scored.lengths[at(k)][at(c)];
      if (!(sum_length * length > T(0))) {
        std::fill_n(d_v, width, T(0));
        continue;
      }
      const T d = d_scores[at(c)] * weights[weight];
      const T across = d / (sum_length * length), along_v = -d * cosine / (sum_length * sum_length),
              along_r = -d * cosine / (length * length);
      for (Index j = 0; j < width; ++j) {
        d_v[j] = across * r[j] + along_v * v[j];
        d_r[j] += across * v[j] + along_r * r[j];
      }
      add_scaled(T(1), std::as_const(scored.d_context).row(c), cache.d_pooled.row(i), width);
    }
    if (attention_.empty()) continue;
    scored.d_vectors.resize(count, width);
    scored.d_states.resize(words, width);
    attention_[at(k)].backward(p, scored.vectors, question.states, question.states, scored.attention[at(k)],
                               scored.d_context, scored.d_vectors, scored.d_states, scored.d_states, g,
                               context);
    for (Index c = 0; c < count; ++c) {
      add_scaled(T(1), std::as_const(scored.d_vectors).row(c), d_all.row(row_of(c)), width);
    }
    for (Index t = 0; t < words; ++t) {
      add_scaled(T(1), std::as_const(scored.d_states).row(t), cache.d_states.row(begin + t), width);
    }
  }
  if (!config_.alignment) return;
  scored.d_best.assign(scored.best.size(), T(0));
  for (Index c = 0; c < count; ++c) {
    d_weights[1] += d_scores[at(c)] * scored.align[at(c)];
    const T d = d_scores[at(c)] * weights[1];
    const auto r = at(row_of(c));
    for (std::uint32_t j = cache.word_first[r]; j < cache.word_first[r + 1]; ++j) {
      const std::size_t place = at(scored.place[cache.word[j]]);
      scored.d_best[place] += d * cache.weight[j];
      cache.d_weight[j] += d * scored.best[place];
    }
  }
  for (std::size_t w = 0; w < scored.d_best.size(); ++w) {
    const Index word = static_cast<Index>(scored.needed_words[w]);
    const Index other = batch.question_words[at(begin + scored.best_at[w])];
    const nn::Matrix<T>& x = cache.unit_length;
    add_scaled(scored.d_best[w], x.row(other), cache.d_unit_length.row(word), x.cols());
    add_scaled(scored.d_best[w], x.row(word), cache.d_unit_length.row(other), x.cols());
  }
}

template <typename T>
void PathMatcherNetwork<T>::backward(const nn::Parameters<T>& p, const PathBatch& batch, Cache& cache,
                                     nn::Gradients<T>& g, const nn::Context& context) const {
  const Index paths = batch.path_words.count(), questions = batch.questions.total(), width = config_.width();
  const Index d = config_.dimensions;
  nn::Matrix<T> d_h(cache.segments.total(), width), d_x(cache.segments.total(), d);
  if (questions > 0) {
    nn::Matrix<T> d_max(questions, width);
    nn::pool_backward<T>(nn::Pooling::max, batch.questions, cache.question_chosen, cache.d_pooled, d_max);
    add_scaled(T(1), std::as_const(cache.d_states).data(), d_max.data(), d_max.size());
    const nn::View<T> d_first = d_h.view().rows_from(0, questions);
    second_.backward(p, cache.second, d_max, d_first, g, context);
    state_dropout_.apply(d_first, d_first, context);
    add_scaled(T(1), std::as_const(d_max).data(), d_first.data, d_max.size());
  }
  nn::Matrix<T> d_pooled(cache.pooled_segments.count(), width);
  if (paths > 0) {
    for (Index k = 0; k < parts(); ++k) {
      const nn::Matrix<T>& from = k == 0 ? cache.d_paths : cache.d_aspects[at(k - 1)];
      std::copy_n(from.data(), paths * width, d_pooled.row(k * paths));
    }
    nn::pool_backward<T>(nn::Pooling::max, cache.pooled_segments, cache.path_chosen, d_pooled,
                         d_h.view().rows_from(questions, d_h.rows() - questions));
  }
  if (cache.segments.total() > 0) first_.backward(p, cache.first, d_h, d_x, g, context);
  word_dropout_.apply(d_x, d_x, context);

  // Rows of x back to words and units, in the order of encode().
  nn::Matrix<T> d_vectors(cache.vectors.rows(), d), d_units(cache.unit_vectors.rows(), d);
  Index row = 0;
  const auto take = [&](nn::Matrix<T>& to, Index place) {
    add_scaled(T(1), std::as_const(d_x).row(row++), to.row(place), d);
  };
  for (const Index word : batch.question_words) take(d_vectors, word);
  for (Index i = 0; i < paths; ++i) {
    for (Index t = batch.path_words.begin(i); t < batch.path_words.end(i); ++t) {
      take(d_vectors, batch.path_word_ids[at(t)]);
    }
    for (Index t = batch.path_units.begin(i); t < batch.path_units.end(i); ++t) take(d_units, t);
  }
  for (Index k = 0; k < config_.aspects; ++k) {
    for (const Index word : batch.aspects[at(k)].words) take(d_vectors, word);
  }
  if (config_.alignment) {
    const T* u = p[word_weight_].data;
    T* d_u = g[word_weight_].data;
    for (Index i = 0; i < paths; ++i) {
      T mean = 0;
      for (std::uint32_t k = cache.word_first[at(i)]; k < cache.word_first[at(i) + 1]; ++k) {
        mean += cache.weight[k] * cache.d_weight[k];
      }
      for (std::uint32_t k = cache.word_first[at(i)]; k < cache.word_first[at(i) + 1]; ++k) {
        const T logit = cache.weight[k] * (cache.d_weight[k] - mean);
        add_scaled(logit, std::as_const(cache.vectors).row(cache.word[k]), d_u, d);
        add_scaled(logit, u, d_vectors.row(cache.word[k]), d);
      }
    }
    for (Index i = 0; i < d_vectors.rows(); ++i) {
      const T length = cache.lengths[at(i)];
      if (!(length > T(0))) continue;
      const T* x = std::as_const(cache.unit_length).row(i);
      const T* from = std::as_const(cache.d_unit_length).row(i);
      const T along = dot(x, from, d);
      for (Index k = 0; k < d; ++k) d_vectors(i, k) += (from[k] - along * x[k]) / length;
    }
  }
  words_.backward(batch.rows, d_vectors, g);
  nn::Matrix<T> d_ngrams(static_cast<Index>(batch.ngrams.size()), d);
  for (Index i = 0; i < d_vectors.rows(); ++i) {
    const Index begin = batch.ngram_first[at(i)], end = batch.ngram_first[at(i) + 1];
    for (Index k = begin; k < end; ++k) {
      add_scaled(T(1) / static_cast<T>(end - begin), std::as_const(d_vectors).row(i), d_ngrams.row(k), d);
    }
  }
  ngrams_.backward(batch.ngrams, d_ngrams, g);
  units_.backward(batch.path_unit_rows, d_units, g);
}

template <typename T>
std::vector<T> PathMatcherNetwork<T>::weights(const ScoreCache& cache, Index c, Index words) const {
  std::vector<T> weights(at(words), T(1) / static_cast<T>(std::max<Index>(1, words)));
  if (attention_.empty() || words == 0) return weights;
  const nn::View<const T> all = attention_[0].weights(cache.attention[0], 0);
  if (c < all.rows && all.cols == words) std::copy_n(all.row(c), words, weights.begin());
  return weights;
}

template class PathMatcherNetwork<float>;
template class PathMatcherNetwork<double>;

}  // namespace askbase::qa
