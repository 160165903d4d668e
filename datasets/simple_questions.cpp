#include "datasets/simple_questions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "datasets/bootstrap.h"

namespace askbase::datasets {

namespace {

constexpr std::array stage_names = {"", "fact_missing", "mention", "linking", "relation"};
constexpr std::size_t ece_bins = 15, resamples = 200;
constexpr std::uint64_t seed = 20240229;

// Area under the ROC curve, ties counted half; nothing where all are right or all wrong.
std::optional<double> auroc_of(const std::vector<double>& confidence, const std::vector<double>& right) {
  std::vector<std::size_t> order(confidence.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return confidence[a] < confidence[b]; });
  double below = 0, pairs = 0, all_right = 0;  // wrong ones with less confidence
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double here_right = 0, here_wrong = 0;
    while (end < order.size() && confidence[order[end]] == confidence[order[begin]]) {
      (right[order[end]] > 0 ? here_right : here_wrong) += 1;
      ++end;
    }
    pairs += here_right * (below + here_wrong / 2);
    below += here_wrong;
    all_right += here_right;
    begin = end;
  }
  if (below == 0 || all_right == 0) return std::nullopt;
  return pairs / (below * all_right);
}

using Statistic =
    std::function<std::optional<double>(const std::vector<double>&, const std::vector<double>&)>;

Figure bootstrapped(const std::vector<double>& confidence, const std::vector<double>& right,
                    const Statistic& statistic) {
  Figure figure;
  if (confidence.empty()) return figure;
  figure.value = statistic(confidence, right);
  if (!figure.value) return figure;
  BootstrapRandom random(seed);
  std::vector<double> values, a(confidence.size()), b(confidence.size());
  for (std::size_t r = 0; r < resamples; ++r) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t at = random.below(a.size());
      a[i] = confidence[at];
      b[i] = right[at];
    }
    if (const auto value = statistic(a, b)) values.push_back(*value);
  }
  if (!values.empty()) figure.interval = interval_of(values);
  return figure;
}

SimpleStage stage_of(const KbQuestion& gold, const SimplePrediction& prediction,
                     const SimpleVerdict& verdict) {
  if (verdict.both) return SimpleStage::none;
  if (!prediction.fact_there) return SimpleStage::fact_missing;
  if (verdict.subject) return SimpleStage::relation;
  if (verdict.rank == 0) return prediction.topic_named ? SimpleStage::linking : SimpleStage::mention;
  // The topic was among the candidates: by other words of the question than those of the reading?
  const bool other_words = verdict.mention.has_value() && !*verdict.mention;
  if (other_words && !gold.mention.empty()) return SimpleStage::mention;
  return SimpleStage::linking;
}

}  // namespace

std::string_view simple_stage_name(SimpleStage stage) { return stage_names[static_cast<std::size_t>(stage)]; }

SimpleVerdict judge_simple(const KbQuestion& gold, const SimplePrediction& prediction) {
  SimpleVerdict verdict;
  const auto is_topic = [&](const std::string& id) {
    return std::find(gold.topics.begin(), gold.topics.end(), id) != gold.topics.end();
  };
  verdict.subject = is_topic(prediction.subject);
  verdict.relation = !gold.path.empty() && prediction.path == gold.path;
  verdict.both = verdict.subject && verdict.relation;
  verdict.object = prediction.object;
  verdict.answered = prediction.answered;
  verdict.confidence = prediction.confidence;
  const auto place = std::find_if(prediction.entities.begin(), prediction.entities.end(), is_topic);
  if (place != prediction.entities.end()) {
    verdict.rank = static_cast<std::uint32_t>(place - prediction.entities.begin()) + 1;
  }
  const std::string mention = base::match_key(gold.mention);
  if (!mention.empty() && base::match_key(gold.question).find(mention) != std::string::npos) {
    verdict.mention = base::match_key(prediction.mention) == mention;
  }
  verdict.stage = stage_of(gold, prediction, verdict);
  return verdict;
}

SimpleFigures simple_figures(const std::vector<SimpleVerdict>& verdicts) {
  SimpleFigures figures;
  figures.questions = verdicts.size();
  const auto share = [&](const std::function<bool(const SimpleVerdict&)>& of) {
    std::vector<double> values;
    for (const SimpleVerdict& verdict : verdicts) values.push_back(of(verdict) ? 1 : 0);
    return mean_figure(values);
  };
  figures.subject_relation = share([](const SimpleVerdict& v) { return v.both; });
  figures.object = share([](const SimpleVerdict& v) { return v.object; });
  figures.subject = share([](const SimpleVerdict& v) { return v.subject; });
  figures.answered = share([](const SimpleVerdict& v) { return v.answered; });
  const auto recall = [&](std::uint32_t at) {
    return share([at](const SimpleVerdict& v) { return v.rank > 0 && v.rank <= at; });
  };
  figures.recall_at_1 = recall(1);
  figures.recall_at_10 = recall(10);
  figures.recall_at_50 = recall(50);
  std::vector<double> mentions, confidence, right;
  std::array<std::uint64_t, stage_names.size()> lost{};
  for (const SimpleVerdict& verdict : verdicts) {
    if (verdict.mention) mentions.push_back(*verdict.mention ? 1 : 0);
    if (verdict.answered) {
      confidence.push_back(verdict.confidence);
      right.push_back(verdict.object ? 1 : 0);
    }
    ++lost[static_cast<std::size_t>(verdict.stage)];
  }
  figures.mention_exact = mean_figure(mentions);
  figures.ece = bootstrapped(confidence, right, [](const auto& c, const auto& r) {
    return std::optional(equal_mass_ece(c, r, ece_bins));
  });
  figures.auroc = bootstrapped(confidence, right, auroc_of);
  for (std::size_t stage = 1; stage < lost.size(); ++stage) {
    if (lost[stage] > 0) figures.errors.push_back({stage_names[stage], lost[stage]});
  }
  return figures;
}

double equal_mass_ece(const std::vector<double>& confidence, const std::vector<double>& right,
                      std::size_t bins) {
  std::vector<std::size_t> order(confidence.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return confidence[a] != confidence[b] ? confidence[a] < confidence[b] : a < b;
  });
  double sum = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::size_t begin = bin * order.size() / bins, end = (bin + 1) * order.size() / bins;
    double gap = 0;
    for (std::size_t i = begin; i < end; ++i) gap += confidence[order[i]] - right[order[i]];
    sum += std::abs(gap);
  }
  return order.empty() ? 0 : sum / static_cast<double>(order.size());
}

}  // namespace askbase::datasets
