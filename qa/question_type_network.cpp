#include "qa/question_type_network.h"

#include <algorithm>

#include "base/text.h"
#include "base/tokenize.h"
#include "nn/model_folder.h"
#include "nn/pooling.h"

namespace askbase::qa {

namespace {

using nn::Index;

// Rows of words that have no vector of their own: numbers by their digits, since "1945" asks for other things
// than "7" does.
enum SpecialRow : std::int32_t {
  other_word,
  one_digit,
  two_digits,
  three_digits,
  four_digits,
  long_number,
  mixed
};

std::int32_t special_row(std::string_view word) {
  std::size_t digits = 0, others = 0;
  for (const char c : word) {
    if (c >= '0' && c <= '9') {
      ++digits;
    } else if (c != ',' && c != '.') {
      ++others;
    }
  }
  if (digits == 0) return other_word;
  if (others > 0) return mixed;
  return digits > 4 ? long_number : static_cast<std::int32_t>(digits);
}

nn::AttentionConfig attention_config(const QuestionTypeConfig& config) {
  nn::AttentionConfig attention;
  attention.score = nn::Score::additive;
  attention.key = 2 * config.hidden;
  attention.hidden = config.attention;
  return attention;
}

nn::EmbeddingOptions table_options(const QuestionTypeConfig& config, Index vocabulary) {
  nn::EmbeddingOptions options;
  options.rows = vocabulary;
  options.dim = config.dimensions;
  options.frozen_begin = QuestionVocabulary::special;
  options.frozen_end = vocabulary;
  return options;
}

nn::RecurrentOptions encoder_options(const QuestionTypeConfig& config) {
  nn::RecurrentOptions options;
  options.input = config.dimensions;
  options.hidden = config.hidden;
  options.bidirectional = true;
  return options;
}

}  // namespace

QuestionVocabulary::QuestionVocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  for (const std::string& word : words_) {
    rows_.emplace(word, special + static_cast<std::int32_t>(rows_.size()));
  }
}

base::Result<QuestionVocabulary> QuestionVocabulary::parse(std::string_view text) {
  ASKBASE_ASSIGN(std::vector<std::string> words, nn::parse_word_list(text, "vocab.txt"));
  return QuestionVocabulary(std::move(words));
}

std::string QuestionVocabulary::text() const { return nn::word_list_text(words_); }

std::int32_t QuestionVocabulary::row(const std::string& word) const {
  const auto found = rows_.find(word);
  return found != rows_.end() ? found->second : special_row(word);
}

QuestionVocabulary::Words QuestionVocabulary::words_of(std::string_view question) const {
  Words words;
  for (const base::Token& token : base::tokenize(question)) {
    if (words.rows.size() == max_words) break;
    words.rows.push_back(row(base::fold_case(token.text)));
    words.text.push_back(token.text);
  }
  return words;
}

std::vector<std::string> QuestionTypeConfig::coarse_labels() const {
  std::vector<std::string> coarse;
  for (const std::string& label : labels) coarse.push_back(label.substr(0, label.find(':')));
  std::sort(coarse.begin(), coarse.end());
  coarse.erase(std::unique(coarse.begin(), coarse.end()), coarse.end());
  return coarse;
}

std::vector<Index> QuestionTypeConfig::coarse_of_fine() const {
  const std::vector<std::string> coarse = coarse_labels();
  std::vector<Index> places;
  for (const std::string& label : labels) {
    const std::string name = label.substr(0, label.find(':'));
    places.push_back(std::find(coarse.begin(), coarse.end(), name) - coarse.begin());
  }
  return places;
}

template <typename T>
QuestionTypeNetwork<T>::QuestionTypeNetwork(nn::Parameters<T>& p, const QuestionTypeConfig& config,
                                            Index vocabulary)
    : width_(2 * config.hidden),
      words_(p, "words", table_options(config, vocabulary)),
      encoder_(p, "encoder", encoder_options(config)),
      attention_(p, "attention", attention_config(config)),
      word_dropout_(config.word_dropout, 1),
      output_dropout_(config.output_dropout, 2),
      coarse_(p, "coarse", 2 * width_, static_cast<Index>(config.coarse_labels().size())),
      fine_(p, "fine", 2 * width_, static_cast<Index>(config.labels.size())) {}

template <typename T>
void QuestionTypeNetwork<T>::forward(const nn::Parameters<T>& p, Cache& cache,
                                     const nn::Context& context) const {
  const Index words = cache.segments.total(), n = cache.segments.count();
  cache.x.resize(words, words_.dim());
  words_.forward(p, cache.rows, cache.x, context);
  word_dropout_.apply(cache.x, cache.x, context);
  cache.h.resize(words, width_);
  encoder_.forward(p, cache.x, cache.segments, cache.h, cache.recurrent, context);
  cache.features.resize(n, 2 * width_);
  cache.pooled.resize(n, width_);
  attention_.pool(p, cache.h, cache.h, cache.segments, cache.pooled, cache.attention, context);
  const nn::View<T> features = cache.features;
  for (Index i = 0; i < n; ++i) std::copy_n(cache.pooled.row(i), width_, features.row(i));
  nn::pool<T>(nn::Pooling::max, cache.h, cache.segments, cache.pooled, &cache.chosen);
  for (Index i = 0; i < n; ++i) std::copy_n(cache.pooled.row(i), width_, features.row(i) + width_);
  output_dropout_.apply(features, features, context);
  cache.coarse.resize(n, coarse_.out());
  cache.fine.resize(n, fine_.out());
  coarse_.forward(p, features, cache.coarse, context);
  fine_.forward(p, features, cache.fine, context);
}

template <typename T>
void QuestionTypeNetwork<T>::backward(const nn::Parameters<T>& p, Cache& cache, nn::View<const T> d_coarse,
                                      nn::View<const T> d_fine, nn::Gradients<T>& g,
                                      const nn::Context& context) const {
  const Index words = cache.segments.total(), n = cache.segments.count();
  cache.d_features.resize(n, 2 * width_);
  nn::Matrix<T>& d = cache.d_features;
  nn::Matrix<T> d_other(n, 2 * width_);
  coarse_.backward(p, cache.features, d_coarse, d, g, context);
  fine_.backward(p, cache.features, d_fine, d_other, g, context);
  for (Index i = 0; i < d.size(); ++i) d.data()[i] += d_other.data()[i];
  output_dropout_.apply(d, d, context);
  cache.d_h.resize(words, width_);
  nn::Matrix<T> d_max(words, width_);
  nn::pool_backward<T>(nn::Pooling::max, cache.segments, cache.chosen, d.view().cols_from(width_, width_),
                       d_max);
  attention_.pool_backward(p, cache.h, cache.h, cache.attention, d.view().cols_from(0, width_), cache.d_h,
                           cache.d_h, g, context);
  for (Index i = 0; i < d_max.size(); ++i) cache.d_h.data()[i] += d_max.data()[i];
  cache.d_x.resize(words, words_.dim());
  encoder_.backward(p, cache.recurrent, cache.d_h, cache.d_x, g, context);
  word_dropout_.apply(cache.d_x, cache.d_x, context);
  words_.backward(cache.rows, cache.d_x, g);
}

template <typename T>
std::vector<T> QuestionTypeNetwork<T>::weights(const Cache& cache, Index i) const {
  const nn::View<const T> w = attention_.weights(cache.attention, i);
  return w.empty() ? std::vector<T>() : std::vector<T>(w.row(0), w.row(0) + w.cols);
}

template class QuestionTypeNetwork<float>;
template class QuestionTypeNetwork<double>;

}  // namespace askbase::qa
