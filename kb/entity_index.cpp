#include "kb/entity_index.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/text.h"
#include "kb/encoding.h"
#include "kb/fuzzy.h"
#include "kb/names.h"
#include "kb/records.h"

namespace askbase::kb {
namespace {

constexpr std::size_t max_names = 4096;    // looked at for one key
constexpr std::size_t max_scanned = 2000;  // entries of a range (a prefix, a word) in a search
constexpr std::size_t max_keys = 128;      // of the scanned keys, whose names are read
constexpr std::size_t max_counted = 64;    // entities whose facts are counted
constexpr std::uint64_t max_facts = 64;

// The band of scores that a kind of match has, and how the place in it comes about.
struct Band {
  double lowest, width;
};
constexpr Band band(MatchKind kind) {
  switch (kind) {
    case MatchKind::exact:
      return {0.8, 0.2};
    case MatchKind::prefix:
      return {0.6, 0.2};
    case MatchKind::word:
      return {0.4, 0.2};
    case MatchKind::fuzzy:
      break;
  }
  return {0.0, 0.4};
}
constexpr double kind_weight[] = {1.0, 0.85, 0.7};  // by NameKind
constexpr double as_written = 1.0, folded = 0.98, variant_weight = 0.9, other_language = 0.9;
constexpr double least_facts_weight = 0.6;  // of an entity of which nothing is known
constexpr double just_below = 1.0 - 1e-9;   // bands do not touch

bool suits(const EntityName& name, std::string_view lang) {
  if (lang.empty()) return true;
  const std::string_view primary = lang.substr(0, lang.find('-'));
  if (name.lang.empty()) return base::contains_han(name.text) == (primary == "zh");
  return std::string_view(name.lang).substr(0, name.lang.find('-')) == primary;
}

// A match on its way: closeness (how much of the name matched, in [0, 1]) holds what is known without facts.
struct Candidate {
  EntityMatch match;
  double closeness = 0;
};

double score_of(const Candidate& candidate, std::uint64_t facts) {
  const double known = std::log2(1.0 + static_cast<double>(facts)) / std::log2(1.0 + max_facts);
  const double place = candidate.closeness * (least_facts_weight + (1 - least_facts_weight) * known);
  const Band range = band(candidate.match.match);
  const bool top = candidate.match.match == MatchKind::exact;
  return range.lowest + range.width * (top ? place : place * just_below);
}

bool better(const Candidate& a, const Candidate& b) {
  if (a.match.match != b.match.match) return a.match.match < b.match.match;
  if (a.match.score != b.match.score) return a.match.score > b.match.score;
  if (a.match.entity != b.match.entity) return a.match.entity < b.match.entity;
  if (a.match.name.kind != b.match.name.kind) return a.match.name.kind < b.match.name.kind;
  if (a.match.name.lang != b.match.name.lang) return a.match.name.lang < b.match.name.lang;
  return a.match.name.text < b.match.name.text;
}

// Gathers the names of one search, keeps the best of each entity, and ranks them.
class Gathering {
 public:
  Gathering(const View& view, std::string_view text, std::string_view lang)
      : view_(view), text_(text), lang_(lang), cursor_(view.snapshot().cursor(Table::names, {})) {}

  // One entry of the names table. closeness: of its key to what was asked.
  void take(const NameEntry& entry, MatchKind match, int edits, double closeness) {
    Candidate candidate;
    candidate.match.entity = entry.entity;
    candidate.match.name = {entry.entity, std::string(entry.text), std::string(entry.lang), entry.kind};
    candidate.match.match = match;
    candidate.match.edits = edits;
    closeness *= kind_weight[static_cast<std::size_t>(entry.kind)];
    if (entry.variant) closeness *= variant_weight;
    if (!suits(candidate.match.name, lang_)) closeness *= other_language;
    if (match == MatchKind::exact) closeness *= entry.text == text_ ? as_written : folded;
    candidate.closeness = closeness;
    candidate.match.score = score_of(candidate, 0);
    const auto [at, added] = best_.try_emplace(entry.entity.bits, std::move(candidate));
    if (!added && better(candidate, at->second)) at->second = std::move(candidate);
  }

  // All names that have this key.
  base::Status take_key(std::string_view key, MatchKind match, int edits, double closeness) {
    std::string prefix(key);
    prefix += '\0';
    cursor_->seek(prefix);
    for (std::size_t seen = 0; seen < max_names && cursor_->valid(); ++seen, cursor_->next()) {
      if (!cursor_->key().starts_with(prefix)) break;
      NameEntry entry;
      if (!read_name_entry(cursor_->key(), entry)) return unreadable();
      take(entry, match, edits, closeness);
    }
    return cursor_->status();
  }

  base::Status take_prefix(std::string_view key) {
    const double length = static_cast<double>(base::count_code_points(key));
    cursor_->seek(key);
    for (std::size_t seen = 0; seen < max_scanned && cursor_->valid(); ++seen, cursor_->next()) {
      if (!cursor_->key().starts_with(key)) break;
      NameEntry entry;
      if (!read_name_entry(cursor_->key(), entry)) return unreadable();
      if (entry.key == key) continue;  // these are exact
      take(entry, MatchKind::prefix, 0, length / static_cast<double>(base::count_code_points(entry.key)));
    }
    return cursor_->status();
  }

  std::size_t size() const { return best_.size(); }

  // The best of them, at most `limit`.
  base::Result<std::vector<EntityMatch>> ranked(std::size_t limit) {
    std::vector<Candidate> order;
    order.reserve(best_.size());
    for (auto& [entity, candidate] : best_) order.push_back(std::move(candidate));
    best_.clear();
    const std::size_t counted = std::min(order.size(), max_counted);
    const auto counted_end = order.begin() + static_cast<std::ptrdiff_t>(counted);
    std::partial_sort(order.begin(), counted_end, order.end(), better);
    for (std::size_t i = 0; i < counted; ++i) {
      EntityMatch& match = order[i].match;
      ASKBASE_ASSIGN(std::uint64_t facts,
                     view_.count({.subject = match.entity, .predicate = {}, .object = {}}, max_facts));
      if (facts < max_facts) {
        ASKBASE_ASSIGN(
            const std::uint64_t more,
            view_.count({.subject = {}, .predicate = {}, .object = match.entity}, max_facts - facts));
        facts += more;
      }
      match.facts = static_cast<std::uint32_t>(facts);
      match.score = score_of(order[i], facts);
    }
    const std::size_t kept = std::min(limit, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), better);
    std::vector<EntityMatch> out;
    out.reserve(kept);
    for (std::size_t i = 0; i < kept; ++i) out.push_back(std::move(order[i].match));
    return out;
  }

 private:
  static tl::unexpected<base::Error> unreadable() {
    return tl::unexpected(damaged(Table::names, "a key cannot be read"));
  }

  const View& view_;
  std::string_view text_, lang_;
  std::unique_ptr<Cursor> cursor_;
  std::unordered_map<std::uint64_t, Candidate> best_;  // by entity
};

base::Status take_exact(Gathering& gathering, std::string_view key) {
  ASKBASE_TRY(gathering.take_key(key, MatchKind::exact, 0, 1.0));
  for (const std::string& variant : variant_keys(key)) {
    ASKBASE_TRY(gathering.take_key(variant, MatchKind::exact, 0, variant_weight));
  }
  return {};
}

double fuzzy_closeness(std::string_view key, int edits) {
  const auto length = static_cast<double>(base::count_code_points(key));
  return std::max(0.0, 1.0 - edits / length);
}

base::Status take_fuzzy(Gathering& gathering, const View& view, std::string_view key) {
  const std::vector<std::string> variants = variant_keys(key);
  const auto take = [&](std::string_view form, double weight) -> base::Status {
    ASKBASE_ASSIGN(const std::vector<KeyCandidate> similar, similar_keys(view.snapshot(), form));
    for (const KeyCandidate& one : similar) {
      if (one.key == key || std::find(variants.begin(), variants.end(), one.key) != variants.end()) continue;
      ASKBASE_TRY(gathering.take_key(one.key, MatchKind::fuzzy, one.edits,
                                     weight * fuzzy_closeness(form, one.edits)));
    }
    return {};
  };
  ASKBASE_TRY(take(key, 1.0));
  for (const std::string& variant : variants) ASKBASE_TRY(take(variant, variant_weight));
  return {};
}

// Keys that hold the words, with how much of them the words make up; at most max_scanned entries looked at.
class WordSearch {
 public:
  WordSearch(const View& view, std::string_view key) : view_(view), key_(key) { split_words(key, words_); }

  base::Status run() {
    if (words_.empty()) return {};
    ASKBASE_TRY(words_.size() == 1 ? by_unfinished_word(words_[0]) : by_rarest_word());
    const std::string_view whole = words_[0];
    std::size_t at = 0;
    if (words_.size() == 1 && base::is_han(next_code_point(whole, at))) ASKBASE_TRY(by_part(whole));
    return {};
  }

  // The most of the key first; each key once.
  std::vector<std::pair<double, std::string>> take() {
    const double asked = static_cast<double>(base::count_code_points(key_));
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    std::vector<std::pair<double, std::string>> out;
    out.reserve(found_.size());
    for (std::string& key : found_) {
      const double share = asked / static_cast<double>(base::count_code_points(key));
      out.emplace_back(std::min(share, 1.0), std::move(key));
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    return out;
  }

 private:
  // Entries of the table words that start with this, of keys that hold all the words.
  base::Status scan(std::string_view prefix, std::size_t most) {
    const std::unique_ptr<Cursor> cursor = view_.snapshot().cursor(Table::words, prefix);
    cursor->seek(prefix);
    for (std::size_t seen = 0; seen < most && cursor->valid(); ++seen, cursor->next()) {
      const std::string_view entry = cursor->key();
      const std::size_t word_end = entry.find('\0');
      if (!entry.starts_with(prefix) || word_end == std::string_view::npos) break;
      const std::string_view key = entry.substr(word_end + 1);
      if (words_.size() == 1 || holds_all(key)) found_.emplace_back(key);
    }
    return cursor->status();
  }

  bool holds_all(std::string_view key) {
    split_words(key, key_words_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const bool last = i + 1 == words_.size();
      const bool held = std::any_of(key_words_.begin(), key_words_.end(), [&](std::string_view word) {
        return last ? word.starts_with(words_[i]) : word == words_[i];
      });
      if (!held) return false;
    }
    return true;
  }

  base::Status by_unfinished_word(std::string_view word) { return scan(word, max_scanned); }

  base::Status by_rarest_word() {
    std::string rarest;
    std::uint64_t fewest = UINT64_MAX;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      std::string value;
      ASKBASE_ASSIGN(const bool known, view_.snapshot().get(Table::vocabulary, words_[i], value));
      if (!known) {
        if (i + 1 < words_.size()) return {};
        continue;  // the last word, which may be the beginning of one
      }
      std::string_view rest = value;
      std::uint64_t count = 0;
      if (i + 1 == words_.size() || !read_varint(rest, count) || count >= fewest) continue;
      fewest = count;
      rarest = words_[i];
    }
    rarest += '\0';
    return scan(rarest, max_scanned);
  }

  base::Status by_part(std::string_view part) {
    ASKBASE_ASSIGN(const std::vector<std::string> words,
                   words_with_part(view_.snapshot(), part, max_scanned));
    constexpr std::size_t most_a_word = 16;
    for (std::size_t i = 0; i < std::min(words.size(), max_keys); ++i) {
      if (words[i] == part) continue;  // found by the word itself
      found_.push_back(words[i]);
      ASKBASE_TRY(scan(words[i] + '\0', most_a_word));
    }
    return {};
  }

  const View& view_;
  std::string_view key_;
  std::vector<std::string_view> words_, key_words_;
  std::vector<std::string> found_;
};

}  // namespace

base::Result<std::vector<EntityMatch>> find_exact(const View& view, std::string_view text) {
  const std::string key = index_key(text);
  if (key.empty()) return std::vector<EntityMatch>{};
  Gathering gathering(view, text, {});
  ASKBASE_TRY(take_exact(gathering, key));
  return gathering.ranked(SIZE_MAX);
}

base::Result<bool> has_prefix(const View& view, std::string_view match_key) {
  const std::string_view prefix = cut_text(match_key, max_key_bytes);
  const std::unique_ptr<Cursor> cursor = view.snapshot().cursor(Table::names, {});
  const auto begins_name = [&](std::string_view key) {
    cursor->seek(key);
    return cursor->valid() && cursor->key().starts_with(key);
  };
  bool found = begins_name(prefix);
  if (!found) {
    const std::vector<std::string> variants = variant_keys(prefix);
    found = std::any_of(variants.begin(), variants.end(), begins_name);
  }
  ASKBASE_TRY(cursor->status());
  return found;
}

base::Result<std::vector<WordMatch>> similar_words(const View& view, std::string_view word,
                                                   std::size_t limit) {
  std::vector<WordMatch> out;
  const std::string key = index_key(word);
  std::vector<std::string_view> words;
  split_words(key, words);
  if (words.size() != 1 || limit == 0) return out;
  ASKBASE_ASSIGN(const std::vector<WordCandidate> similar, similar_vocabulary(view.snapshot(), key));
  std::string value;
  for (const WordCandidate& candidate : similar) {
    ASKBASE_ASSIGN(const bool known, view.snapshot().get(Table::vocabulary, candidate.word, value));
    std::string_view rest = value;
    std::uint64_t names = 0;
    if (!known || !read_varint(rest, names)) {
      return tl::unexpected(damaged(Table::vocabulary, "a word that the table grams has is missing"));
    }
    out.push_back({candidate.word, candidate.edits,
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(names, UINT32_MAX))});
  }
  std::stable_sort(out.begin(), out.end(), [](const WordMatch& a, const WordMatch& b) {
    return a.edits != b.edits ? a.edits < b.edits : a.names > b.names;
  });
  if (out.size() > limit) out.resize(limit);
  return out;
}

base::Result<std::vector<EntityMatch>> find_fuzzy(const View& view, std::string_view text,
                                                  std::size_t limit) {
  const std::string key = index_key(text);
  if (key.empty() || limit == 0) return std::vector<EntityMatch>{};
  Gathering gathering(view, text, {});
  ASKBASE_TRY(take_fuzzy(gathering, view, key));
  return gathering.ranked(limit);
}

base::Result<std::vector<EntityMatch>> search(const View& view, std::string_view text, std::string_view lang,
                                              std::size_t limit) {
  const std::string key = index_key(text);
  if (key.empty() || limit == 0) return std::vector<EntityMatch>{};
  Gathering gathering(view, text, lang);
  ASKBASE_TRY(take_exact(gathering, key));
  if (gathering.size() < limit) ASKBASE_TRY(gathering.take_prefix(key));
  if (gathering.size() < limit) {
    WordSearch words(view, key);
    ASKBASE_TRY(words.run());
    const std::vector<std::pair<double, std::string>> found = words.take();
    for (std::size_t i = 0; i < std::min(found.size(), max_keys); ++i) {
      ASKBASE_TRY(gathering.take_key(found[i].second, MatchKind::word, 0, found[i].first));
    }
  }
  if (gathering.size() < limit) ASKBASE_TRY(take_fuzzy(gathering, view, key));
  return gathering.ranked(limit);
}

std::vector<std::string> name_entries(const EntityName& name) {
  std::vector<std::string> entries;
  const std::string key = index_key(name.text);
  if (key.empty()) return entries;
  append_name_entry(entries.emplace_back(), key, false, name);
  for (const std::string& variant : variant_keys(key))
    append_name_entry(entries.emplace_back(), variant, true, name);
  if (const std::string bare = index_key(without_remark(name.text)); !bare.empty() && bare != key)
    append_name_entry(entries.emplace_back(), bare, true, name);
  return entries;
}

}  // namespace askbase::kb
