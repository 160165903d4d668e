#include "reader/overlap_baseline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text.h"
#include "base/unicode.h"
#include "reader/char_text.h"

namespace askbase::reader {

namespace {

struct Part {
  std::size_t begin = 0, end = 0;
};

bool ends_sentence(char32_t c) {
  return c == U'。' || c == U'!' || c == U'?' || c == U'；' || c == U';' || c == U'\n';
}
bool ends_clause(char32_t c) {
  return ends_sentence(c) || c == U',' || c == U'、' || c == U':' || c == U'(' || c == U')';
}

template <typename Ends>
std::vector<Part> parts_of(std::u32string_view text, Ends&& ends) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!ends(text[i]) && i + 1 < text.size()) continue;
    if (i + 1 > begin) parts.push_back({begin, i + 1});
    begin = i + 1;
  }
  return parts;
}

std::u32string folded(std::string_view text) {
  std::u32string points = base::to_code_points(text);
  for (char32_t& c : points) c = fold_character(c);
  return points;
}

bool counts(char32_t c) { return base::character_class(c) == base::CharacterClass::other; }

std::uint64_t pair_key(char32_t a, char32_t b) { return std::uint64_t{a} << 32 | b; }

std::string cut(std::string_view text, const Part& part) {
  const base::OffsetMap offsets(text);
  return std::string(
      base::trim(text.substr(offsets.byte(part.begin), offsets.byte(part.end) - offsets.byte(part.begin))));
}

}  // namespace

std::string best_sentence(std::string_view question, std::string_view text) {
  const std::u32string asked = folded(question), read = folded(text);
  std::unordered_set<std::uint64_t> sought;
  for (std::size_t i = 1; i < asked.size(); ++i) sought.insert(pair_key(asked[i - 1], asked[i]));
  const std::vector<Part> sentences = parts_of(read, ends_sentence);
  std::vector<std::unordered_set<std::uint64_t>> found(sentences.size());
  std::unordered_map<std::uint64_t, std::size_t> holders;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    for (std::size_t i = sentences[s].begin + 1; i < sentences[s].end; ++i) {
      const std::uint64_t pair = pair_key(read[i - 1], read[i]);
      if (sought.contains(pair) && found[s].insert(pair).second) ++holders[pair];
    }
  }
  double best = -1;
  Part chosen;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    double score = 0;
    for (const std::uint64_t pair : found[s]) {
      score += std::log(1 + static_cast<double>(sentences.size()) / static_cast<double>(holders[pair]));
    }
    if (score > best) {
      best = score;
      chosen = sentences[s];
    }
  }
  return cut(text, chosen);
}

std::string nearest_clause(std::string_view question, std::string_view text) {
  constexpr double kPlace = 0.9, kSentence = 1.0 / 3;
  const std::u32string asked = folded(question), read = folded(text);
  const std::size_t n = read.size();
  std::unordered_map<char32_t, std::size_t> number;
  for (const char32_t c : read) ++number[c];
  const std::unordered_set<char32_t> sought(asked.begin(), asked.end());
  const auto weight = [&](std::size_t i) {
    const bool shared = counts(read[i]) && sought.contains(read[i]);
    return shared ? std::log(1 + 1 / static_cast<double>(number[read[i]])) : 0.0;
  };
  // What lies before a place and behind it, by nearness; and the plain sums.
  std::vector<double> before(n + 1, 0), behind(n + 1, 0), sums(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    sums[i + 1] = sums[i] + weight(i);
    before[i + 1] = (before[i] * kPlace + weight(i)) * (ends_sentence(read[i]) ? kSentence : 1);
  }
  for (std::size_t i = n; i-- > 0;) {
    const double beyond = ends_sentence(read[i]) ? kSentence : 1;
    behind[i] = behind[i + 1] * kPlace * beyond + weight(i);
  }
  double best = -1e300;
  Part chosen;
  for (const Part& clause : parts_of(read, ends_clause)) {
    const double over = ends_sentence(read[clause.end - 1]) ? kSentence : 1;
    const double score =
        before[clause.begin] + behind[clause.end] * over - 2 * (sums[clause.end] - sums[clause.begin]);
    if (score > best && clause.end - clause.begin > 1) {
      best = score;
      chosen = clause;
    }
  }
  return cut(text, chosen);
}

}  // namespace askbase::reader
