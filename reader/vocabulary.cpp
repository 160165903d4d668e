#include "reader/vocabulary.h"

#include <stdexcept>

#include "base/text.h"
#include "base/utf8.h"

namespace askbase::reader {

using base::ErrorCode;
using base::fail;

namespace {

std::string at_line(const std::string& name, std::size_t line) { return name + ":" + std::to_string(line); }

}  // namespace

base::Status Vocabulary::split(std::string_view text, const std::string& name) {
  if (text.size() > kMostPieces * kLongestPiece) {
    return fail(ErrorCode::too_large, name + ": not a vocabulary: " + std::to_string(text.size()) + " bytes");
  }
  for (std::size_t begin = 0, line = 1; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view piece = text.substr(begin, end - begin);
    begin = end + 1;
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    if (piece.empty()) {
      return fail(ErrorCode::bad_input, at_line(name, line) + ": an empty line in a vocabulary",
                  "each line of vocab.txt is one piece, and its number is the piece's id");
    }
    if (piece.size() > kLongestPiece) {
      return fail(ErrorCode::too_large, at_line(name, line) + ": a piece of " + std::to_string(piece.size()) +
                                            " bytes; at most " + std::to_string(kLongestPiece) +
                                            " are read: is this a vocab.txt?");
    }
    if (!base::valid_utf8(piece)) {
      return fail(ErrorCode::bad_input, at_line(name, line) + ": not UTF-8");
    }
    if (size() == kMostPieces) {
      return fail(ErrorCode::too_large,
                  name + ": more than " + std::to_string(kMostPieces) + " pieces in a vocabulary");
    }
    text_ += piece;
    starts_.push_back(static_cast<std::uint32_t>(text_.size()));
  }
  return {};
}

void Vocabulary::grow() {
  std::vector<Edge> old = std::move(edges_);
  edges_.assign(old.empty() ? 1024 : 2 * old.size(), Edge{});
  shift_ = 64;
  for (std::size_t n = edges_.size(); n > 1; n /= 2) --shift_;
  for (const Edge& edge : old) {
    if (edge.key == kFree) continue;
    std::size_t i = place(edge.key);
    while (edges_[i].key != kFree) i = (i + 1) & (edges_.size() - 1);
    edges_[i] = edge;
  }
}

Vocabulary::Node Vocabulary::child_or_new(Node node, char32_t c) {
  if (const Node there = child(node, c); there != kNone) return there;
  if (2 * pieces_.size() >= edges_.size()) grow();
  const std::uint64_t key = std::uint64_t{node} << 21 | c;
  std::size_t i = place(key);
  while (edges_[i].key != kFree) i = (i + 1) & (edges_.size() - 1);
  edges_[i] = {key, static_cast<Node>(pieces_.size())};
  pieces_.push_back(-1);
  return edges_[i].child;
}

base::Status Vocabulary::build(const std::string& name) {
  grow();
  pieces_.assign(1, -1);
  for (std::size_t i = 0; i < size(); ++i) {
    const std::string_view text = piece(static_cast<std::int32_t>(i));
    Node node = word_root();
    for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
      node = child_or_new(node, base::decode_utf8(text, at, length));
    }
    if (pieces_[node] >= 0) {
      return fail(ErrorCode::bad_input,
                  at_line(name, i + 1) + ": the piece \"" + std::string(text) + "\" stands in line " +
                      std::to_string(pieces_[node] + 1) + " already",
                  "each piece of a vocabulary has one id; take the file that belongs to the model as it is");
    }
    pieces_[node] = static_cast<std::int32_t>(i);
  }
  continuation_ = child(word_root(), U'#');
  if (continuation_ != kNone) continuation_ = child(continuation_, U'#');
  return {};
}

base::Result<Vocabulary> Vocabulary::parse(std::string_view text, const std::string& name) {
  Vocabulary v;
  ASKBASE_TRY(v.split(text, name));
  ASKBASE_TRY(v.build(name));
  struct Special {
    const char* piece;
    std::int32_t& id;
  };
  for (const Special& special : {Special{"[UNK]", v.unknown_}, Special{"[CLS]", v.start_},
                                 Special{"[SEP]", v.separator_}, Special{"[PAD]", v.padding_}}) {
    special.id = v.id(special.piece);
    if (special.id < 0) {
      return fail(ErrorCode::bad_input,
                  name + ": the piece " + special.piece + " is missing from the vocabulary",
                  "a BERT vocabulary has [PAD], [UNK], [CLS] and [SEP], one a line");
    }
  }
  v.mask_ = v.id("[MASK]");
  return v;
}

std::string_view Vocabulary::piece(std::int32_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= size()) {
    throw std::logic_error("reader::Vocabulary: no piece has the id " + std::to_string(id));
  }
  const auto i = static_cast<std::size_t>(id);
  return std::string_view(text_).substr(starts_[i], starts_[i + 1] - starts_[i]);
}

std::int32_t Vocabulary::id(std::string_view piece) const {
  Node node = word_root();
  for (std::size_t at = 0, length = 0; at < piece.size(); at += length) {
    node = child(node, base::decode_utf8(piece, at, length));
    if (node == kNone) return -1;
  }
  return pieces_[node];
}

}  // namespace askbase::reader
