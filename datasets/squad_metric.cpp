#include "datasets/squad_metric.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "base/unicode.h"

namespace askbase::datasets {

namespace {

using Tokens = std::vector<std::u32string>;

std::u32string lower(std::string_view text) {
  std::u32string points = base::to_code_points(text);
  for (char32_t& c : points) c = base::simple_lower_case(c);
  return points;
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_article(std::u32string_view word) { return word == U"a" || word == U"an" || word == U"the"; }

// --- SQuAD -------------------------------------------------------------------------------------------------

Tokens squad_tokens(std::string_view text) {
  std::u32string points = lower(text);
  std::erase_if(points, is_ascii_punctuation);
  // Articles are whole words between characters that are no letters, digits: "the–" has one.
  std::u32string kept;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    while (end < points.size() && base::is_alphanumeric(points[end])) ++end;
    const std::u32string_view word(points.data() + i, end - i);
    if (is_article(word)) {
      kept += U' ';
    } else {
      kept += word;
    }
    if (end < points.size()) kept += points[end++];
    i = end;
  }
  Tokens tokens(1);
  for (const char32_t c : kept) {
    if (!base::is_white_space(c)) {
      tokens.back() += c;
    } else if (!tokens.back().empty()) {
      tokens.emplace_back();
    }
  }
  if (tokens.back().empty()) tokens.pop_back();
  return tokens;
}

double bag_f1(Tokens a, Tokens b) {
  if (a.empty() || b.empty()) return 0.0;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  Tokens common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return 2.0 * static_cast<double>(common.size()) / static_cast<double>(a.size() + b.size());
}

// --- CMRC 2018 ---------------------------------------------------------------------------------------------

// The script's list.
bool is_cmrc_punctuation(char32_t c) {
  static constexpr std::u32string_view kAll = U"-:_*^/\\~`+=，。：？！“”；’《》…·、「」（）－～『』";
  return kAll.find(c) != std::u32string_view::npos;
}

std::u32string without_punctuation(std::string_view text) {
  std::u32string points = lower(text);
  const auto is_space = [](char32_t c) { return base::is_white_space(c); };
  points.erase(points.begin(), std::find_if_not(points.begin(), points.end(), is_space));
  points.erase(std::find_if_not(points.rbegin(), points.rend(), is_space).base(), points.end());
  std::erase_if(points, is_cmrc_punctuation);
  return points;
}

// Where the script asks NLTK for the words of what is not Chinese: cut at white space and at punctuation,
// which stands alone, but for full stops, commas and apostrophes between letters or digits.
Tokens cmrc_tokens(std::string_view text) {
  const std::u32string points = without_punctuation(text);
  Tokens tokens;
  bool open = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const char32_t c = points[i];
    const bool inside = i > 0 && i + 1 < points.size() && base::is_alphanumeric(points[i - 1]) &&
                        base::is_alphanumeric(points[i + 1]) && (c == '.' || c == ',' || c == '\'');
    if (base::is_white_space(c)) {
      open = false;
    } else if ((c >= 0x4E00 && c <= 0x9FA5) || (is_ascii_punctuation(c) && !inside)) {
      tokens.emplace_back(1, c);
      open = false;
    } else {
      if (!open) tokens.emplace_back();
      tokens.back() += c;
      open = true;
    }
  }
  return tokens;
}

double longest_run_f1(const Tokens& a, const Tokens& b) {
  std::size_t longest = 0;
  std::vector<std::size_t> above(b.size() + 1, 0), row(b.size() + 1, 0);
  for (const std::u32string& token : a) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = token == b[j] ? above[j] + 1 : 0;
      longest = std::max(longest, row[j + 1]);
    }
    std::swap(above, row);
  }
  if (longest == 0) return 0.0;
  return 2.0 * static_cast<double>(longest) / static_cast<double>(a.size() + b.size());
}

Figure percent(std::vector<double> values, const BootstrapOptions& bootstrap) {
  for (double& value : values) value *= 100.0;
  return mean_figure(values, bootstrap);
}

double mean_percent(double sum, std::size_t count) {
  return count == 0 ? 0.0 : 100.0 * sum / static_cast<double>(count);
}

}  // namespace

std::string normalized_squad_answer(std::string_view text) {
  std::u32string joined;
  for (const std::u32string& token : squad_tokens(text)) {
    if (!joined.empty()) joined += U' ';
    joined += token;
  }
  return base::to_utf8(joined);
}

AnswerScore answer_score(AnswerForm form, std::string_view answer, const std::vector<SquadAnswer>& right) {
  const bool words = form == AnswerForm::squad;
  const auto tokens_of = [words](std::string_view text) {
    return words ? squad_tokens(text) : cmrc_tokens(text);
  };
  const auto same = [words](std::string_view a, std::string_view b) {
    return words ? squad_tokens(a) == squad_tokens(b) : without_punctuation(a) == without_punctuation(b);
  };
  const Tokens given = tokens_of(answer);
  AnswerScore best;
  bool answerable = false;
  for (const SquadAnswer& one : right) {
    const Tokens tokens = tokens_of(one.text);
    if (tokens.empty()) continue;
    answerable = true;
    best.exact = std::max(best.exact, same(answer, one.text) ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, words ? bag_f1(given, tokens) : longest_run_f1(given, tokens));
  }
  if (!answerable) best.exact = best.f1 = given.empty() ? 1.0 : 0.0;
  return best;
}

SquadFigures squad_figures(AnswerForm form, const SquadSet& set, const std::vector<std::string>& answers,
                           const BootstrapOptions& bootstrap) {
  std::vector<double> exact, f1;
  for (std::size_t i = 0; i < set.questions.size(); ++i) {
    const AnswerScore score =
        i < answers.size() ? answer_score(form, answers[i], set.questions[i].answers) : AnswerScore{};
    exact.push_back(score.exact);
    f1.push_back(score.f1);
  }
  return {exact.size(), percent(std::move(exact), bootstrap), percent(std::move(f1), bootstrap)};
}

Squad2Figures squad2_figures(AnswerForm form, const SquadSet& set, const std::vector<ReadAnswer>& answers,
                             double threshold, const BootstrapOptions& bootstrap) {
  const std::size_t n = set.questions.size();
  Squad2Figures figures;
  figures.questions = n;
  std::vector<double> exact, f1, has_exact, has_f1, no_exact, no_f1;
  std::vector<AnswerScore> answered(n), abstained(n);
  std::vector<double> odds(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<SquadAnswer>& right = set.questions[i].answers;
    if (i < answers.size()) {
      answered[i] = answer_score(form, answers[i].text, right);
      odds[i] = answers[i].null_odds;
    }
    abstained[i] = answer_score(form, "", right);
    const AnswerScore score = i < answers.size() && odds[i] > threshold ? abstained[i] : answered[i];
    exact.push_back(score.exact);
    f1.push_back(score.f1);
    (right.empty() ? no_exact : has_exact).push_back(score.exact);
    (right.empty() ? no_f1 : has_f1).push_back(score.f1);
  }
  figures.has_answer = has_f1.size();
  figures.no_answer = no_f1.size();
  figures.exact_match = percent(std::move(exact), bootstrap);
  figures.f1 = percent(std::move(f1), bootstrap);
  figures.has_exact = percent(std::move(has_exact), bootstrap);
  figures.has_f1 = percent(std::move(has_f1), bootstrap);
  figures.no_exact = percent(std::move(no_exact), bootstrap);
  figures.no_f1 = percent(std::move(no_f1), bootstrap);

  // From "always abstain" on, questions are answered one by one, those with the lowest odds first.
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return odds[a] < odds[b]; });
  double sum_exact = 0, sum_f1 = 0;
  for (const AnswerScore& score : abstained) {
    sum_exact += score.exact;
    sum_f1 += score.f1;
  }
  figures.always_abstain_f1 = mean_percent(sum_f1, n);
  const double below = n == 0 ? 0.0 : odds[order[0]] - 1.0;
  double best_exact = sum_exact, best_f1 = sum_f1;
  figures.best_exact_threshold = figures.best_f1_threshold = figures.balanced_threshold = below;
  const auto share_of = [&](std::size_t q) {
    return 0.5 /
           static_cast<double>(set.questions[q].answers.empty() ? figures.no_answer : figures.has_answer);
  };
  double balanced = 0;
  for (std::size_t q = 0; q < n; ++q) balanced += share_of(q) * abstained[q].f1;
  double best_balanced = balanced;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t q = order[i];
    sum_exact += answered[q].exact - abstained[q].exact;
    sum_f1 += answered[q].f1 - abstained[q].f1;
    balanced += share_of(q) * (answered[q].f1 - abstained[q].f1);
    if (i + 1 < n && odds[order[i + 1]] == odds[q]) continue;  // no threshold lies between the two
    if (sum_exact > best_exact) {
      best_exact = sum_exact;
      figures.best_exact_threshold = odds[q];
    }
    if (sum_f1 > best_f1) {
      best_f1 = sum_f1;
      figures.best_f1_threshold = odds[q];
    }
    if (balanced > best_balanced) {
      best_balanced = balanced;
      figures.balanced_threshold = odds[q];
    }
  }
  figures.best_balanced_f1 = 100 * best_balanced;
  figures.best_exact = mean_percent(best_exact, n);
  figures.best_f1 = mean_percent(best_f1, n);
  return figures;
}

}  // namespace askbase::datasets
