// Questions, names and predicates as the memory network (qa/memory_network.h) sees them: bags of tokens, each
// made of rows of a table of vectors. Internal to qa/.
//
// Words are those of qa/path_text.h, Han characters each alone. Words of the vocabulary have a row of their
// own; others are the sum of the rows of their pieces, runs of three and four characters, hashed into buckets
// (Bojanowski et al. 2017). Two neighbouring words are one more token, hashed, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/matrix.h"

namespace askbase::qa {

struct MemoryPredicate;

// Token t has the rows [ends[t - 1], ends[t]), each with a weight.
struct MemoryBag {
  std::vector<std::int32_t> rows;
  std::vector<float> weights;
  std::vector<std::int32_t> ends;
  std::size_t size() const { return ends.size(); }
};

// What is told of a predicate, part by part.
struct MemoryPredicateBags {
  static constexpr nn::Index parts = 5;
  MemoryBag name, whole, other, context, object;
  const MemoryBag& part(nn::Index i) const {
    return i == 0 ? name : i == 1 ? whole : i == 2 ? other : i == 3 ? context : object;
  }
};

class MemoryVocabulary {
 public:
  // Rows: the mention's place, then the words, then the buckets.
  static constexpr std::int32_t mention = 0, special = 1;
  static constexpr std::size_t max_words = 80;  // of a question; the first ones

  MemoryVocabulary(std::vector<std::string> words, std::int32_t buckets);
  // Lines of vocab.txt. Error corrupt: not UTF-8, an empty line, a word twice.
  static base::Result<MemoryVocabulary> parse(std::string_view text, std::int32_t buckets);
  std::string text() const;

  nn::Index size() const { return special + static_cast<nn::Index>(words_.size()) + buckets_; }
  std::int32_t buckets() const { return buckets_; }
  const std::vector<std::string>& words() const { return words_; }
  // Where a word has a row of its own; -1: nowhere.
  std::int32_t row(const std::string& word) const;

  // words: the question's, with <e> where the mention stands. Neighbours are joined after the words.
  MemoryBag question(const std::vector<std::string>& words) const;
  MemoryBag name(std::string_view text) const;
  MemoryPredicateBags predicate(const MemoryPredicate& predicate) const;

 private:
  void add_word(const std::string& word, MemoryBag& bag) const;
  void add_pair(const std::string& a, const std::string& b, MemoryBag& bag) const;
  void add_hashed(std::string_view text, MemoryBag& bag) const;
  std::int32_t bucket(std::string_view text) const;
  MemoryBag bag_of(const std::vector<std::string>& words) const;

  std::vector<std::string> words_;
  std::int32_t buckets_;
  std::unordered_map<std::string, std::int32_t> rows_;
};

// The words of a question around a mention, given by code points; the mention is the word <e>, and stands
// last where there is none in the question.
std::vector<std::string> words_around(std::string_view question, std::uint32_t begin, std::uint32_t end);

}  // namespace askbase::qa
