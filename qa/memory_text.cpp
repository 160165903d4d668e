#include "qa/memory_text.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "nn/model_folder.h"
#include "qa/fact_memory.h"
#include "qa/path_text.h"

namespace askbase::qa {

namespace {

constexpr std::size_t shortest_piece = 3, longest_piece = 4;
// Marks that no word holds keep hashed pairs, pieces and whole texts apart.
constexpr char pair_mark = '\x01', whole_mark = '\x02';

// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash ^ (hash >> 32);
}

void end_token(MemoryBag& bag) { bag.ends.push_back(static_cast<std::int32_t>(bag.rows.size())); }

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

MemoryVocabulary::MemoryVocabulary(std::vector<std::string> words, std::int32_t buckets)
    : words_(std::move(words)), buckets_(buckets) {
  for (const std::string& word : words_) {
    rows_.emplace(word, special + static_cast<std::int32_t>(rows_.size()));
  }
}

base::Result<MemoryVocabulary> MemoryVocabulary::parse(std::string_view text, std::int32_t buckets) {
  ASKBASE_ASSIGN(std::vector<std::string> words, nn::parse_word_list(text, "vocab.txt"));
  return MemoryVocabulary(std::move(words), buckets);
}

std::string MemoryVocabulary::text() const { return nn::word_list_text(words_); }

std::int32_t MemoryVocabulary::row(const std::string& word) const {
  const auto found = rows_.find(word);
  return found == rows_.end() ? -1 : found->second;
}

std::int32_t MemoryVocabulary::bucket(std::string_view text) const {
  return special + static_cast<std::int32_t>(words_.size()) +
         static_cast<std::int32_t>(hash_of(text) % static_cast<std::uint64_t>(buckets_));
}

void MemoryVocabulary::add_hashed(std::string_view text, MemoryBag& bag) const {
  bag.rows.push_back(bucket(text));
  bag.weights.push_back(1);
  end_token(bag);
}

void MemoryVocabulary::add_word(const std::string& word, MemoryBag& bag) const {
  if (word == mention_word) {
    bag.rows.push_back(mention);
    bag.weights.push_back(1);
  } else if (const std::int32_t known = row(word); known >= 0) {
    bag.rows.push_back(known);
    bag.weights.push_back(1);
  } else {
    const std::u32string edged = U"<" + base::to_code_points(word) + U">";
    const std::size_t before = bag.rows.size();
    for (std::size_t length = shortest_piece; length <= longest_piece; ++length) {
      for (std::size_t at = 0; at + length <= edged.size(); ++at) {
        bag.rows.push_back(bucket(base::to_utf8(std::u32string_view(edged).substr(at, length))));
      }
    }
    // Vectors of random directions: the sum of n of them is as long as one when
    // divided by sqrt(n).
    const auto pieces = static_cast<float>(bag.rows.size() - before);
    bag.weights.resize(bag.rows.size(), 1 / std::sqrt(pieces));
  }
  end_token(bag);
}

void MemoryVocabulary::add_pair(const std::string& a, const std::string& b, MemoryBag& bag) const {
  add_hashed(a + pair_mark + b, bag);
}

MemoryBag MemoryVocabulary::bag_of(const std::vector<std::string>& words) const {
  MemoryBag bag;
  for (const std::string& word : words) add_word(word, bag);
  for (std::size_t i = 1; i < words.size(); ++i) add_pair(words[i - 1], words[i], bag);
  return bag;
}

MemoryBag MemoryVocabulary::question(const std::vector<std::string>& words) const { return bag_of(words); }
MemoryBag MemoryVocabulary::name(std::string_view text) const { return bag_of(path_words(text)); }

MemoryPredicateBags MemoryVocabulary::predicate(const MemoryPredicate& predicate) const {
  MemoryPredicateBags bags;
  const std::vector<std::string> name = path_words(predicate.name), context = path_words(predicate.context);
  bags.name = bag_of(name);
  const std::string whole = whole_mark + joined(name);
  add_hashed(whole, bags.whole);
  if (!context.empty()) add_hashed(whole + whole_mark + joined(context), bags.whole);
  for (const std::string& other : predicate.other) {
    for (const std::string& word : path_words(other)) add_word(word, bags.other);
  }
  for (const std::string& word : context) add_word(word, bags.context);
  for (const std::string& word : path_words(predicate.object)) add_word(word, bags.object);
  return bags;
}

std::vector<std::string> words_around(std::string_view question, std::uint32_t begin, std::uint32_t end) {
  const base::OffsetMap places(question);
  const std::size_t from = places.byte(std::min<std::size_t>(begin, places.code_points())),
                    to = places.byte(std::min<std::size_t>(end, places.code_points()));
  std::vector<std::string> words = path_words(question.substr(0, from));
  words.emplace_back(mention_word);
  for (std::string& word : path_words(question.substr(to))) words.push_back(std::move(word));
  words.resize(std::min(words.size(), MemoryVocabulary::max_words));
  return words;
}

}  // namespace askbase::qa
