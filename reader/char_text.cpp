#include "reader/char_text.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "base/unicode.h"

namespace askbase::reader {

namespace {

using nn::Index;

bool is_stop(char32_t c) {
  return c == U'。' || c == U'！' || c == U'!' || c == U'？' || c == U'?' || c == U'；' || c == U'\n';
}

CharKind kind_of(char32_t c) {
  if (is_stop(c)) return CharKind::stop;
  if (c >= U'0' && c <= U'9') return CharKind::digit;
  if (base::is_han(c)) return CharKind::han;
  if (base::is_cased(c)) return CharKind::letter;
  return base::character_class(c) == base::CharacterClass::other ? CharKind::other : CharKind::mark;
}

bool is_word_like(CharKind kind) { return kind != CharKind::stop && kind != CharKind::mark; }

std::uint64_t pair_key(char32_t a, char32_t b) { return std::uint64_t{a} << 32 | b; }

// What of the question can be found again: its characters and the pairs of neighbours.
struct Sought {
  std::unordered_map<char32_t, float> characters;
  std::unordered_map<std::uint64_t, float> pairs;
  float character_mass = 0, pair_mass = 0;
};

Sought sought_of(const CharText& question, const CharStatistics& statistics) {
  Sought sought;
  const auto rarity = [&](std::size_t i) {
    return statistics.rarity[static_cast<std::size_t>(question.rows[i])];
  };
  for (std::size_t i = 0; i < question.size(); ++i) {
    if (!is_word_like(question.kinds[i])) continue;
    if (sought.characters.emplace(question.folded[i], rarity(i)).second) sought.character_mass += rarity(i);
    if (i + 1 == question.size() || !is_word_like(question.kinds[i + 1])) continue;
    const float both = rarity(i) + rarity(i + 1);
    if (sought.pairs.emplace(pair_key(question.folded[i], question.folded[i + 1]), both).second) {
      sought.pair_mass += both;
    }
  }
  return sought;
}

// Length of the longest run that begins at each place of the context and stands in the question.
std::vector<std::size_t> shared_runs(const CharText& question, const CharText& context) {
  // By the last character's places in the question: runs[j] is the run that ends at question place j.
  const std::size_t n = context.size(), m = question.size();
  std::vector<std::size_t> starts(n, 0), below(m + 1, 0), row(m + 1, 0);
  std::unordered_map<char32_t, std::vector<std::size_t>> places;
  for (std::size_t j = 0; j < m; ++j) {
    if (is_word_like(question.kinds[j])) places[question.folded[j]].push_back(j);
  }
  std::vector<std::size_t> touched, touched_below;
  for (std::size_t i = n; i-- > 0;) {  // below: the same for i + 1
    touched.clear();
    const auto found = places.find(context.folded[i]);
    if (found != places.end()) {
      for (const std::size_t j : found->second) {
        row[j] = 1 + below[j + 1];
        touched.push_back(j);
        starts[i] = std::max(starts[i], row[j]);
      }
    }
    for (const std::size_t j : touched_below) below[j] = 0;
    for (const std::size_t j : touched) {
      below[j] = row[j];
      row[j] = 0;
    }
    touched_below = touched;
  }
  return starts;
}

// How much of what is sought stands in [begin, end) of the context, 0 .. 1, by characters and by pairs.
struct Cover {
  float characters = 0, pairs = 0;
  float together() const { return 0.3F * characters + 0.7F * pairs; }
};

Cover cover(const Sought& sought, const CharText& context, std::size_t begin, std::size_t end) {
  Cover found;
  std::unordered_set<char32_t> characters;
  std::unordered_set<std::uint64_t> pairs;
  for (std::size_t i = begin; i < end; ++i) {
    const auto c = sought.characters.find(context.folded[i]);
    if (c == sought.characters.end()) continue;
    if (characters.insert(c->first).second) found.characters += c->second;
    if (i + 1 == end) continue;
    const auto p = sought.pairs.find(pair_key(context.folded[i], context.folded[i + 1]));
    if (p != sought.pairs.end() && pairs.insert(p->first).second) found.pairs += p->second;
  }
  if (sought.character_mass > 0) found.characters /= sought.character_mass;
  if (sought.pair_mass > 0) found.pairs /= sought.pair_mass;
  return found;
}

// Borders of the clauses: after commas and the like, and where sentences end.
std::vector<std::size_t> clause_ends(const CharText& context) {
  std::vector<std::size_t> ends;
  Index sentence = 0;
  for (std::size_t i = 0; i < context.size(); ++i) {
    const char32_t c = context.folded[i];
    const bool last = static_cast<Index>(i) + 1 == context.sentences.end(sentence);
    if (last) ++sentence;
    if (last || c == U',' || c == U':' || c == U'、' || c == U';') ends.push_back(i + 1);
  }
  return ends;
}

}  // namespace

char32_t fold_character(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) c -= 0xFEE0;  // full width
  if (c == 0x3000 || c == 0xA0) return U' ';
  return base::simple_lower_case(c);
}

CharText char_text(const CharVocabulary& vocabulary, std::u32string_view text) {
  CharText out;
  std::u32string simplified = base::to_code_points(base::to_simplified(base::to_utf8(text)));
  if (simplified.size() != text.size()) simplified = text;  // lone surrogates and the like
  out.folded.reserve(text.size());
  for (const char32_t c : simplified) {
    out.rows.push_back(vocabulary.row(c));
    out.folded.push_back(fold_character(c));
    out.kinds.push_back(kind_of(out.folded.back()));
  }
  std::size_t begin = 0, comma = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (out.folded[i] == U',' || out.folded[i] == U' ') comma = i + 1;
    if (!is_stop(simplified[i]) && i + 1 - begin < CharText::kLongestSentence && i + 1 < text.size())
      continue;
    // Too long: cut behind the last comma.
    const bool cut = !is_stop(simplified[i]) && i + 1 < text.size() && comma > begin;
    const std::size_t end = cut ? comma : i + 1;
    out.sentences.add(static_cast<Index>(end - begin));
    begin = end;
  }
  if (begin < text.size()) out.sentences.add(static_cast<Index>(text.size() - begin));
  return out;
}

PieceEdges char_edges(const CharText& context) {
  PieceEdges edges{std::vector<std::uint8_t>(context.size(), 1),
                   std::vector<std::uint8_t>(context.size(), 1)};
  for (std::size_t i = 0; i < context.size(); ++i) {
    const char32_t c = context.folded[i];
    if (c == U' ' || c == U'\n' || c == U'\t' || c == U'\r') edges.starts[i] = edges.ends[i] = 0;
    if (context.kinds[i] == CharKind::stop) edges.starts[i] = 0;
  }
  return edges;
}

void pair_features(const CharText& question, const CharText& context, const CharStatistics& statistics,
                   nn::View<float> y) {
  const std::size_t n = context.size();
  if (y.rows != static_cast<Index>(n) || y.cols != kPairFeatures || context.tags.size() != n) {
    throw std::logic_error("reader::pair_features: sizes do not fit");
  }
  const Sought sought = sought_of(question, statistics);
  const std::vector<std::size_t> starts = shared_runs(question, context);
  const auto rarity = [&](std::size_t i) {
    return statistics.rarity[static_cast<std::size_t>(context.rows[i])];
  };
  const auto row = [&](std::size_t i) { return y.row(static_cast<Index>(i)); };
  for (std::size_t i = 0; i < n; ++i) std::fill_n(row(i), kPairFeatures, 0.0F);

  // 0 - 8: what the character shares with the question.
  std::vector<float> strength(n, 0);  // of the run through each place
  for (std::size_t i = 0, reach = 0, run_begin = 0; i < n; ++i) {
    if (starts[i] > 0 && i + starts[i] > reach) {
      reach = i + starts[i];
      run_begin = i;
    }
    if (i >= reach) continue;
    const std::size_t length = reach - run_begin;
    float mass = 0;
    for (std::size_t k = run_begin; k < reach; ++k) mass += rarity(k);
    float* f = row(i);
    f[0] = 1;
    f[1] = rarity(i);
    f[2] = i > 0 && starts[i - 1] >= 2 ? 1.0F : 0.0F;
    f[3] = starts[i] >= 2 ? 1.0F : 0.0F;
    f[4] = length >= 3 ? 1.0F : 0.0F;
    f[5] = static_cast<float>(std::min<std::size_t>(length, 8)) / 8;
    f[6] = length >= 4 ? 1.0F : 0.0F;
    f[7] = sought.character_mass > 0 ? std::min(1.0F, mass / sought.character_mass) : 0;
    strength[i] = length >= 2 ? f[7] : 0;
  }
  // 8: the whole word stands in the question. 9: a word begins here.
  for (std::size_t i = 0; i < n;) {
    std::size_t end = i + 1;
    while (end < n && statistics.word_begins[context.tags[end]] == 0) ++end;
    row(i)[9] = 1;
    if (starts[i] >= end - i) {
      for (std::size_t k = i; k < end; ++k) row(k)[8] = 1;
    }
    i = end;
  }

  // 10 - 18: how much of the question the sentence holds, and its neighbours.
  const Index sentences = context.sentences.count();
  std::vector<Cover> covers;
  float best = 0;
  for (Index s = 0; s < sentences; ++s) {
    covers.push_back(cover(sought, context, static_cast<std::size_t>(context.sentences.begin(s)),
                           static_cast<std::size_t>(context.sentences.end(s))));
    best = std::max(best, covers.back().together());
  }
  const auto relative = [&](Index s) {
    return s < 0 || s >= sentences || best <= 0 ? 0.0F
                                                : covers[static_cast<std::size_t>(s)].together() / best;
  };
  for (Index s = 0; s < sentences; ++s) {
    const Cover& here = covers[static_cast<std::size_t>(s)];
    for (Index i = context.sentences.begin(s); i < context.sentences.end(s); ++i) {
      float* f = y.row(i);
      f[10] = here.characters;
      f[11] = here.pairs;
      f[12] = relative(s);
      f[13] = relative(s) >= 1 ? 1.0F : 0.0F;
      f[14] = relative(s - 1);
      f[15] = relative(s + 1);
      f[16] = s == 0 ? 1.0F : 0.0F;
    }
  }
  // 17, 18: the same for the clause.
  const std::vector<std::size_t> ends = clause_ends(context);
  std::vector<float> clauses;
  float best_clause = 0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    clauses.push_back(cover(sought, context, k == 0 ? 0 : ends[k - 1], ends[k]).together());
    best_clause = std::max(best_clause, clauses.back());
  }
  for (std::size_t k = 0; k < ends.size(); ++k) {
    for (std::size_t i = k == 0 ? 0 : ends[k - 1]; i < ends[k]; ++i) {
      row(i)[17] = clauses[k];
      row(i)[18] = best_clause > 0 ? clauses[k] / best_clause : 0;
    }
  }

  // 19 - 22: nearness of shared runs before and behind, over a clause and over a sentence.
  const auto spread = [&](std::size_t column, float decay, bool from_left) {
    float level = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = from_left ? k : n - 1 - k;
      level = std::max(level * decay, strength[i]);
      row(i)[column] = level;
    }
  };
  spread(19, 0.85F, true);
  spread(20, 0.85F, false);
  spread(21, 0.97F, true);
  spread(22, 0.97F, false);

  // 23 - 30: kind, place, inside of brackets or of quotes.
  int brackets = 0, quotes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    float* f = row(i);
    const char32_t c = context.folded[i];
    if (c == U'(' || c == U'《') ++brackets;
    if (c == U'“' || c == U'「' || c == U'『') ++quotes;
    f[23 + static_cast<int>(context.kinds[i])] = 1;
    f[29] = static_cast<float>(i) / static_cast<float>(n);
    f[30] = brackets > 0 ? 1.0F : 0.0F;
    f[31] = quotes > 0 ? 1.0F : 0.0F;
    if (c == U')' || c == U'》') brackets = std::max(0, brackets - 1);
    if (c == U'”' || c == U'」' || c == U'』') quotes = std::max(0, quotes - 1);
    if (context.kinds[i] == CharKind::stop && c == U'\n') brackets = quotes = 0;
  }
}

}  // namespace askbase::reader
