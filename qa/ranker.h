// From a reading's features to the probability that it is right: a logistic function with a weight for each
// feature, which can be looked at. Without a model the weights are those that were chosen by hand for the
// features of the words alone; a model's weigh the learned parts, too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/language.h"
#include "base/result.h"

namespace askbase::qa {

// What a reading is judged by. Each lies about in [-1, 1].
enum class Feature : std::uint8_t {
  coverage,      // share of the question's words that the reading explains
  unexplained,   // how many words it does not explain, up to 2, halved
  text_cover,    // share of the predicate's text that the question says
  relation,      // 1: some word of the question names the predicate; 0: it was inferred
  inferred,      // 1: the only predicate that joins this class and this entity
  link,          // how well the names fit, 1 for exact ones
  expected,      // 1: values are of the expected kind (who: people); -1: they are not
  head_class,    // 1: values are of the class asked for; -1: they are not
  name_class,    // 1: the name is of the class said beside it
  direction,     // 1: the order of words agrees with the direction, -1: it does not
  weak_name,     // 1: the name is a common word
  partial_name,  // 1: an unexplained word stands beside the name, as if it were longer
  prominence,    // how much is known of the entity
  missing,       // 1: the KB has no such fact
  plurality,     // 1: several are asked for and found; -1: several asked for, one found, or the reverse
  head_noun,     // 1: the noun whose value is asked for ("anthem" of "the national anthem of X") is not
                 // explained
  exact_text,    // 1: the question says a whole text of the predicate in its own words
  unused_name,   // 1: the question has another name that the reading leaves out
  echo,          // 1: the answer is what the question says already
  bare_shape,    // 1: members, kinds and definitions, which have no predicate to be judged by
  // By learned parts; 0 where there is none, or where it does not look at such a reading.
  matched,        // log-probability of the predicate among all of the KB: 1 + log p / 6, at least -1
  fits,           // score of question and predicate by themselves, a tenth of the logit
  remembered,     // by the memory network among all readings: 1 + log p / 6, at least -1
  recalled,       // its score for the reading by itself
  tagged,         // probability that the name is what the question is about, as the tagger sees it
  untagged,       // 1: the tagger found a mention, and nearly surely not this one
  guessed,        // 1: only the matcher names the predicate, no word does
  guess_matched,  // of such a predicate `matched`, and 0 of others
  guess_fits,     // and `fits`
  chain,          // relations of a path beyond the first, halved
  count_
};
inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::count_);
std::string_view feature_name(Feature feature);
using Features = std::array<float, feature_count>;
// A logarithm of a probability, and a logit, as features have them.
inline float of_log_share(float log_share) { return std::max(-1.0F, 1 + log_share / 6); }
inline float of_logit(float logit) { return logit / 10; }

struct RankWeights {
  double bias = 0;
  std::array<double, feature_count> of = {};
  // The confidence of the best reading once its rivals are known, 1 / (1 + exp(-(scale * score + shift))) *
  // (1 - rival * exp(-2 * gap)): gap is how far the best other answer lies behind.
  double scale = 1, shift = 0, rival = 0.5;
  // Less confidence than this is no answer, unless a request has its own. 0.35 goes with the lexical weights
  // and was chosen with them.
  double threshold = 0.35;

  double score(const Features& features) const;
  double confidence(double score) const;
  double confidence(double score, double rival_score) const;
};
// Chosen on the dev half of datasets/atlas/questions.jsonl; the learned features weigh nothing.
const RankWeights& lexical_weights();

// Immutable, thread-safe.
class Ranker {
 public:
  struct Weights {
    RankWeights any;       // for a KB that is told by its words
    RankWeights familiar;  // for one whose predicates the models learned (RelationCodes::familiar)
  };
  Ranker(const Weights& english, const Weights& chinese) : english_(english), chinese_(chinese) {}
  Ranker(const RankWeights& english, const RankWeights& chinese)
      : Ranker(Weights{english, english}, Weights{chinese, chinese}) {}
  // A folder with config.json: {"format": 1, "kind": "kb-ranker", "en": {"bias": -3.2, "coverage": 3.4, ...,
  // "scale": 1, "shift": 0, "rival": 0.5}, "zh": {...}}, and "en_familiar" and "zh_familiar" where familiar
  // KBs have other weights. A feature that is not named weighs nothing. Errors: not_found, io, corrupt (no
  // such feature, no number), unsupported (another kind, a newer format).
  static base::Result<std::shared_ptr<const Ranker>> load(const std::filesystem::path& folder);
  // The text of config.json.
  std::string config() const;
  // Writes such a folder, with the card as README.md. Errors: those of nn::save_model.
  base::Status save(const std::filesystem::path& folder, std::string card) const;

  const RankWeights& weights(base::Language language, bool familiar) const {
    const Weights& both = language == base::Language::chinese ? chinese_ : english_;
    return familiar ? both.familiar : both.any;
  }

 private:
  Weights english_, chinese_;
};

}  // namespace askbase::qa
