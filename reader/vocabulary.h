// A WordPiece vocabulary: pieces of words with their ids, as BERT's vocab.txt lists them.
//
// One piece a line, in UTF-8; the id is the number of the line, counted from 0. Pieces that continue a word
// begin with "##". Immutable, so safe to share between threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace askbase::reader {

class Vocabulary {
 public:
  static constexpr std::size_t kMostPieces = 1'000'000;
  static constexpr std::size_t kLongestPiece = 1'000;  // bytes

  // The content of a vocab.txt; `name` stands for the file in messages. [UNK], [CLS], [SEP] and [PAD] must be
  // there. Line ends may be CR LF; the last line may end without. Error bad_input, with the line: not UTF-8,
  // an empty line, a piece that stands there twice, a special piece missing; too_large: over the limits
  // above.
  static base::Result<Vocabulary> parse(std::string_view text, const std::string& name);

  std::size_t size() const { return starts_.size() - 1; }
  bool operator==(const Vocabulary& other) const { return text_ == other.text_ && starts_ == other.starts_; }
  std::string_view piece(std::int32_t id) const;
  std::int32_t id(std::string_view piece) const;  // -1: not in it
  // Whether the piece begins with "##", that is, stands inside a word.
  bool continues(std::int32_t id) const { return piece(id).starts_with("##"); }

  std::int32_t unknown() const { return unknown_; }
  std::int32_t start() const { return start_; }          // [CLS]
  std::int32_t separator() const { return separator_; }  // [SEP]
  std::int32_t padding() const { return padding_; }
  std::int32_t mask() const { return mask_; }  // -1: the vocabulary has none

  // Greedy longest match: the trie of all pieces, code point by code point.
  using Node = std::uint32_t;
  static constexpr Node kNone = 0xFFFFFFFF;
  Node word_root() const { return 0; }
  Node continuation_root() const { return continuation_; }  // where "##" leads; kNone without such pieces
  Node child(Node node, char32_t c) const {
    const std::uint64_t key = std::uint64_t{node} << 21 | c;
    for (std::size_t i = place(key);; i = (i + 1) & (edges_.size() - 1)) {
      if (edges_[i].key == key) return edges_[i].child;
      if (edges_[i].key == kFree) return kNone;
    }
  }
  std::int32_t piece_at(Node node) const { return pieces_[node]; }  // -1: no piece ends here

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Edge {
    std::uint64_t key = kFree;  // node << 21 | code point
    Node child = kNone;
  };
  std::size_t place(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15ULL >> shift_);
  }
  base::Status split(std::string_view text, const std::string& name);
  base::Status build(const std::string& name);
  void grow();
  Node child_or_new(Node node, char32_t c);

  std::string text_;                         // all pieces, one after the other
  std::vector<std::uint32_t> starts_ = {0};  // [size + 1] places in text_
  std::vector<Edge> edges_;                  // open addressing, a power of two, at most half full
  int shift_ = 0;                            // 64 - log2(edges)
  std::vector<std::int32_t> pieces_;         // [nodes]
  Node continuation_ = kNone;
  std::int32_t unknown_ = -1, start_ = -1, separator_ = -1, padding_ = -1, mask_ = -1;
};

}  // namespace askbase::reader
