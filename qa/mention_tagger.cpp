#include "qa/mention_tagger.h"

#include <algorithm>

#include "qa/mention_model.h"
#include "qa/mention_spans.h"

namespace askbase::qa {

namespace {

class Tagger : public MentionTagger {
 public:
  explicit Tagger(std::unique_ptr<const MentionModel> model) : model_(std::move(model)) {}

  const std::string& language() const override { return model_->network().config().language; }

  MentionTags tag(std::string_view question, const TagOptions& options) const override {
    std::vector<base::Token> tokens = mention_tokens(question);
    MentionTags out;
    for (const base::Token& token : tokens) {
      out.tokens.push_back({.begin = token.begin,
                            .end = token.end,
                            .begin_byte = token.begin_byte,
                            .end_byte = token.end_byte});
    }
    if (tokens.size() > max_tokens) tokens.resize(max_tokens);
    if (tokens.empty()) return out;

    const MentionNetwork<float>& network = model_->network();
    const nn::Parameters<float>& p = model_->parameters();
    MentionModel::Cache cache;
    read(tokens, cache);
    const nn::Crf<float>& crf = network.crf();
    std::vector<nn::Index> tags(tokens.size());
    crf.viterbi(p, cache.scores, cache.sentences, tags, {}, cache.crf, {});
    const SpanSums sums = span_sums(cache.scores, p[crf.transitions()], p[crf.start()], p[crf.end()],
                                    max_mention_tokens, least_considered);
    for (std::size_t i = 0; i < tokens.size(); ++i) out.tokens[i].inside = static_cast<float>(sums.inside[i]);
    for (const ScoredSpan& span : sums.spans) {
      if (out.spans.size() == options.max_spans ||
          span.probability < static_cast<double>(options.least_probability))
        break;
      out.spans.push_back(placed(tokens, span.span, span.probability));
    }
    for (std::size_t i = 0; i < tags.size();) {
      if (tags[i] != tag_begin) {
        ++i;
        continue;
      }
      TokenSpan best{i, i + 1};
      while (best.last < tags.size() && tags[best.last] == tag_inside) ++best.last;
      const auto known = std::find_if(sums.spans.begin(), sums.spans.end(),
                                      [&](const ScoredSpan& span) { return span.span == best; });
      if (known != sums.spans.end()) out.best.push_back(placed(tokens, best, known->probability));
      i = best.last;
    }
    return out;
  }

 private:
  // The scores of the tokens to cache.scores. A text with capitals is read as written and in small letters,
  // and the two readings' scores are averaged: people write capitals in questions as they like.
  void read(const std::vector<base::Token>& tokens, MentionModel::Cache& cache) const {
    const MentionText text = model_->text_of(tokens);
    model_->clear(cache);
    model_->add(text, {}, cache);
    const std::size_t n = tokens.size();
    const bool capitals = std::any_of(cache.shapes.begin(), cache.shapes.end(), [](std::uint32_t shape) {
      return (shape & (shape_capital | shape_inner_capital)) != 0;
    });
    if (capitals) {
      MentionModel::Reading lower;
      lower.casing = Casing::lower;
      model_->add(text, lower, cache);
    }
    model_->network().forward(model_->parameters(), cache, {});
    if (!capitals) return;
    const auto rows = static_cast<nn::Index>(n);
    nn::Matrix<float> mean(rows, mention_tags);
    for (nn::Index i = 0; i < mean.size(); ++i) {
      mean.data()[i] = (cache.scores.data()[i] + cache.scores.data()[mean.size() + i]) / 2;
    }
    cache.scores = std::move(mean);
    cache.sentences = nn::Segments::one(rows);
  }

  // Low, since the spans of the best tagging want their probabilities, too.
  static constexpr double least_considered = 1e-6;

  static TaggedSpan placed(const std::vector<base::Token>& tokens, const TokenSpan& span,
                           double probability) {
    const base::Token &first = tokens[span.first], &last = tokens[span.last - 1];
    return {.begin = first.begin,
            .end = last.end,
            .begin_byte = first.begin_byte,
            .end_byte = last.end_byte,
            .first = static_cast<std::uint32_t>(span.first),
            .last = static_cast<std::uint32_t>(span.last),
            .probability = static_cast<float>(probability)};
  }

  std::unique_ptr<const MentionModel> model_;
};

}  // namespace

base::Result<std::shared_ptr<const MentionTagger>> MentionTagger::load(const std::filesystem::path& folder) {
  ASKBASE_ASSIGN(std::unique_ptr<MentionModel> model, MentionModel::load(folder));
  return std::make_shared<Tagger>(std::move(model));
}

}  // namespace askbase::qa
