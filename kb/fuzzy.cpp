// Words are found by their grams. A letter put in, left out or replaced touches at most three trigrams of a
// word (of a Chinese word's bigrams, two), so of 3k + 1 of them at least one is also a gram of every word
// within k such edits: the rarest are asked, each for words of nearly the same length, and what comes is
// measured. A swap of neighbours would touch one gram more; asking for so many would bring in the most
// frequent ones. So each swap is made, and the swapped word, whose new grams are mostly unheard of, is asked
// with k - 1 edits.
#include "kb/fuzzy.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "kb/encoding.h"
#include "kb/names.h"
#include "kb/records.h"

namespace askbase::kb {
namespace {

// Seeks that one search for keys may do; only hostile vocabularies come near (every word within two edits of
// every other).
constexpr std::size_t max_seeks = 50'000;

std::uint64_t letter_mask(std::u32string_view word) {
  std::uint64_t mask = 0;
  for (const char32_t c : word) mask |= std::uint64_t{1} << (c & 63U);
  return mask;
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

// A typing error in a number is another number.
bool same_digits(std::u32string_view a, std::u32string_view b) {
  std::size_t i = 0, j = 0;
  while (true) {
    while (i < a.size() && !is_digit(a[i])) ++i;
    while (j < b.size() && !is_digit(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

base::Result<std::uint64_t> gram_count(const Snapshot& snapshot, std::uint64_t gram) {
  std::string key, value;
  append_gram(key, gram);
  key += '\0';
  ASKBASE_ASSIGN(const bool found, snapshot.get(Table::grams, key, value));
  std::uint64_t count = 0;
  std::string_view rest = value;
  if (found && !read_varint(rest, count))
    return tl::unexpected(damaged(Table::grams, "a count cannot be read"));
  return count;
}

// Looks for the words near one word.
class WordSearch {
 public:
  WordSearch(const Snapshot& snapshot, std::u32string word)
      : snapshot_(snapshot),
        word_(std::move(word)),
        limit_(max_word_edits(word_)),
        mask_(letter_mask(word_)) {}

  base::Result<std::vector<WordCandidate>> run() {
    if (word_.empty()) return std::move(found_);
    if (limit_ == 0) {
      ASKBASE_TRY(look_up(word_));
      return std::move(found_);
    }
    cursor_ = snapshot_.cursor(Table::grams, {});
    const std::size_t touched = base::is_han(word_[0]) ? 2 : 3;
    const auto edits = static_cast<std::size_t>(limit_);
    ASKBASE_TRY(scan_rarest(word_, touched * edits + 1, edits));
    for (std::size_t i = 0; i + 1 < word_.size(); ++i) {
      if (word_[i] == word_[i + 1] || (is_digit(word_[i]) && is_digit(word_[i + 1]))) continue;
      std::u32string swapped = word_;
      std::swap(swapped[i], swapped[i + 1]);
      if (limit_ == 1) {
        ASKBASE_TRY(look_up(swapped));
      } else {
        ASKBASE_TRY(scan_rarest(swapped, (touched + 1) * (edits - 1) + 1, edits - 1));
      }
    }
    ASKBASE_TRY(cursor_->status());
    std::sort(found_.begin(), found_.end(),
              [](const WordCandidate& a, const WordCandidate& b) { return a.word < b.word; });
    found_.erase(std::unique(found_.begin(), found_.end(),
                             [](const WordCandidate& a, const WordCandidate& b) { return a.word == b.word; }),
                 found_.end());
    return std::move(found_);
  }

 private:
  // Keeps the word when the vocabulary has it.
  base::Status look_up(std::u32string_view other) {
    const std::string bytes = base::to_utf8(other);
    std::string value;
    ASKBASE_ASSIGN(const bool known, snapshot_.get(Table::vocabulary, bytes, value));
    if (known) found_.push_back({bytes, base::edit_distance(word_, other, limit_)});
    return {};
  }

  // Measures the words that share one of the rarest grams with this one and differ by at most so much in
  // length.
  base::Status scan_rarest(std::u32string_view like, std::size_t wanted, std::size_t edits) {
    std::vector<std::uint64_t> grams;
    std::size_t length = 0;
    word_grams(base::to_utf8(like), grams, length);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> counted;  // how many words, gram
    for (const std::uint64_t gram : grams) {
      const auto [at, added] = counts_.try_emplace(gram, 0);
      if (added) {
        ASKBASE_ASSIGN(at->second, gram_count(snapshot_, gram));
      }
      counted.emplace_back(at->second, gram);
    }
    std::sort(counted.begin(), counted.end());
    if (counted.size() > wanted) counted.resize(wanted);
    for (const auto& [count, gram] : counted) {
      // What is scanned first is scanned for the most lengths.
      if (count > 0 && scanned_.insert(gram).second) {
        scan(gram, length > edits ? length - edits : 1, std::min(length + edits, max_gram_length));
      }
    }
    return {};
  }

  void scan(std::uint64_t gram, std::size_t shortest, std::size_t longest) {
    prefix_.clear();
    append_gram(prefix_, gram);
    const std::size_t gram_size = prefix_.size();
    prefix_ += static_cast<char>(shortest);
    cursor_->seek(prefix_);
    prefix_.resize(gram_size);
    for (; cursor_->valid(); cursor_->next()) {
      const std::string_view key = cursor_->key();
      if (!key.starts_with(prefix_) || key.size() != gram_size + 1) return;
      if (static_cast<unsigned char>(key[gram_size]) > longest) return;
      std::string_view word;
      for (std::string_view row = cursor_->value(); take_word(row, word);) measure(word);
    }
  }

  void measure(std::string_view other) {
    candidate_.clear();
    std::uint64_t mask = 0;
    for (std::size_t at = 0; at < other.size();) {
      const char32_t c = next_code_point(other, at);
      candidate_ += c;
      mask |= std::uint64_t{1} << (c & 63U);
    }
    // One edit takes away one letter at most and brings one at most.
    if (std::popcount(mask_ & ~mask) > limit_ || std::popcount(mask & ~mask_) > limit_) return;
    if (!same_digits(word_, candidate_)) return;
    const int distance = base::edit_distance(word_, candidate_, limit_);
    if (distance <= limit_) found_.push_back({std::string(other), distance});
  }

  const Snapshot& snapshot_;
  const std::u32string word_;
  const int limit_;
  const std::uint64_t mask_;
  std::unique_ptr<Cursor> cursor_;
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;  // of words, by gram
  std::unordered_set<std::uint64_t> scanned_;                // grams
  std::vector<WordCandidate> found_;
  std::string prefix_;
  std::u32string candidate_;
};

}  // namespace

int max_word_edits(std::u32string_view word) {
  if (word.empty() || word.size() > max_gram_length) return 0;
  if (base::is_han(word[0])) return word.size() >= 3 ? 1 : 0;
  const auto digits = static_cast<std::size_t>(std::count_if(word.begin(), word.end(), is_digit));
  if (word.size() <= 2 || digits == word.size() || digits > max_gram_digits) return 0;
  return word.size() <= 5 ? 1 : 2;
}

base::Result<std::vector<WordCandidate>> similar_vocabulary(const Snapshot& snapshot, std::string_view word) {
  return WordSearch(snapshot, base::to_code_points(word)).run();
}

namespace {

// Searches the keys of the names table through one cursor.
class KeySearch {
 public:
  explicit KeySearch(const Snapshot& snapshot)
      : snapshot_(snapshot), cursor_(snapshot.cursor(Table::names, {})) {}

  base::Status by_words(std::string_view key) {
    std::vector<std::string_view> words;
    split_words(key, words);
    if (words.empty() || words.size() > max_corrected_words) return {};
    for (std::size_t i = 0; i < words.size(); ++i) {
      ASKBASE_ASSIGN(std::vector<WordCandidate> some, similar_vocabulary(snapshot_, words[i]));
      if (some.empty()) return {};
      candidates_.push_back(std::move(some));
      // Between two words there is a space unless one of them is Han.
      separator_.push_back(i > 0 && key[static_cast<std::size_t>(words[i].data() - key.data()) - 1] == ' ');
    }
    prefix_.clear();
    extend(0, max_key_edits);
    return cursor_->status();
  }

  base::Status by_spaces(std::string_view key) {
    points_.clear();
    joint_.clear();
    bool space = false, joinable = false;
    for (std::size_t at = 0; at < key.size();) {
      const char32_t c = next_code_point(key, at);
      if (c == U' ') {
        space = true;
        continue;
      }
      const bool han = base::is_han(c);
      joint_.push_back(han || !joinable ? Joint::fixed : space ? Joint::space : Joint::tight);
      points_ += c;
      space = false;
      joinable = !han;
    }
    if (points_.size() > max_gram_length) return {};
    if (std::count(joint_.begin(), joint_.end(), Joint::fixed) ==
        static_cast<std::ptrdiff_t>(joint_.size())) {
      return {};
    }
    prefix_.clear();
    respace(0, max_space_edits);
    return cursor_->status();
  }

  std::vector<KeyCandidate> take(std::string_view except) {
    found_.erase(std::string(except));
    std::vector<KeyCandidate> out;
    for (const auto& [key, edits] : found_) out.push_back({key, edits});
    std::stable_sort(out.begin(), out.end(),
                     [](const KeyCandidate& a, const KeyCandidate& b) { return a.edits < b.edits; });
    return out;
  }

 private:
  enum class Joint : std::uint8_t { fixed, tight, space };  // what stands before a character; fixed: nothing

  // Moves to the first key that is not before prefix_; false when it does not start with it.
  bool seek_prefix() {
    if (seeks_ == max_seeks) return false;
    ++seeks_;
    cursor_->seek(prefix_);
    return cursor_->valid() && cursor_->key().starts_with(prefix_);
  }
  // True when prefix_ as it stands is a key.
  bool is_key() {
    prefix_ += '\0';
    const bool found = seek_prefix();
    prefix_.pop_back();
    return found;
  }
  void keep(int edits) {
    const auto [at, added] = found_.emplace(prefix_, edits);
    if (!added) at->second = std::min(at->second, edits);
  }

  // Puts each candidate for the word of this number behind prefix_. The candidates are sorted as the keys
  // are, so the key at which a seek ends tells which candidates to pass over.
  void extend(std::size_t number, int edits_left) {
    const std::size_t size = prefix_.size();
    if (separator_[number]) prefix_ += ' ';
    const std::size_t word_begin = prefix_.size();
    const std::vector<WordCandidate>& candidates = candidates_[number];
    for (std::size_t i = 0; i < candidates.size() && seeks_ < max_seeks;) {
      prefix_.resize(word_begin);
      prefix_ += candidates[i].word;
      const int left = edits_left - candidates[i].edits;
      if (left >= 0 && seek_prefix()) {
        if (number + 1 < candidates_.size()) {
          extend(number + 1, left);
        } else if (is_key()) {
          keep(max_key_edits - left);
        }
        ++i;
        continue;
      }
      ++i;
      if (left < 0) continue;
      if (!cursor_->valid()) break;
      const std::string_view at = cursor_->key();
      for (; i < candidates.size(); ++i) {
        prefix_.resize(word_begin);
        prefix_ += candidates[i].word;
        if (std::string_view(prefix_) >= at || at.starts_with(prefix_)) break;
      }
    }
    prefix_.resize(size);
  }

  // Goes on from the character of this number as the key is written, and at each place also the other way.
  void respace(std::size_t number, int edits_left) {
    const std::size_t size = prefix_.size();
    for (std::size_t i = number; i < points_.size(); ++i) {
      const std::size_t before = prefix_.size();
      if (edits_left > 0 && joint_[i] != Joint::fixed) {
        if (joint_[i] == Joint::tight) prefix_ += ' ';
        base::append_utf8(prefix_, points_[i]);
        if (seek_prefix()) respace(i + 1, edits_left - 1);
        prefix_.resize(before);
      }
      if (joint_[i] == Joint::space) prefix_ += ' ';
      base::append_utf8(prefix_, points_[i]);
      if (!seek_prefix()) {
        prefix_.resize(size);
        return;
      }
    }
    if (edits_left < max_space_edits && is_key()) keep(max_space_edits - edits_left);
    prefix_.resize(size);
  }

  const Snapshot& snapshot_;
  std::unique_ptr<Cursor> cursor_;
  std::size_t seeks_ = 0;
  std::string prefix_;
  std::map<std::string, int> found_;
  std::vector<std::vector<WordCandidate>> candidates_;  // by_words: of each word
  std::vector<bool> separator_;                         // a space before each word
  std::u32string points_;                               // by_spaces: the key without its spaces
  std::vector<Joint> joint_;
};

}  // namespace

base::Result<std::vector<KeyCandidate>> similar_keys(const Snapshot& snapshot, std::string_view key) {
  KeySearch search(snapshot);
  ASKBASE_TRY(search.by_words(key));
  ASKBASE_TRY(search.by_spaces(key));
  return search.take(key);
}

base::Result<std::vector<std::string>> words_with_part(const Snapshot& snapshot, std::string_view part,
                                                       std::size_t max_scanned) {
  std::vector<std::string> found;
  std::vector<std::uint64_t> grams;
  std::size_t length = 0;
  word_grams(part, grams, length);
  if (length < 2 || length > max_gram_length) return found;
  // Padded grams say how a word begins or ends; the part may stand in its middle.
  std::erase_if(grams, [&](std::uint64_t gram) {
    std::string bytes;
    append_gram(bytes, gram);
    return part.find(bytes) == std::string_view::npos;
  });
  std::uint64_t rarest = 0, rarest_count = UINT64_MAX;
  for (const std::uint64_t gram : grams) {
    ASKBASE_ASSIGN(const std::uint64_t count, gram_count(snapshot, gram));
    if (count == 0) return found;
    if (count >= rarest_count) continue;
    rarest = gram;
    rarest_count = count;
  }
  std::string prefix;
  append_gram(prefix, rarest);
  const std::unique_ptr<Cursor> cursor = snapshot.cursor(Table::grams, prefix);
  cursor->seek(prefix + static_cast<char>(length));
  for (std::size_t scanned = 0; scanned < max_scanned && cursor->valid(); cursor->next()) {
    if (cursor->key().size() != prefix.size() + 1) break;
    std::string_view word;
    for (std::string_view row = cursor->value(); scanned < max_scanned && take_word(row, word); ++scanned) {
      if (word.find(part) != std::string_view::npos) found.emplace_back(word);
    }
  }
  ASKBASE_TRY(cursor->status());
  return found;
}

}  // namespace askbase::kb
