#include "reader/passages.h"

#include "base/sentences.h"
#include "base/text.h"

namespace askbase::reader {
namespace {

struct Piece {
  ByteRange place;
  std::size_t size = 0;  // in half tokens
};

bool is_space(unsigned char c) { return c <= ' '; }
bool is_word(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

// Moves over one token, white space before it included; its size in half tokens goes to `size`. Three-byte
// characters from U+2E80 on are those of East Asia, each a half token by itself; other characters beyond
// ASCII are taken for letters.
std::size_t next_token(std::string_view text, std::size_t at, std::size_t& size) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  while (at < text.size() && is_space(byte(at))) ++at;
  size = 0;
  if (at == text.size()) return at;
  constexpr std::size_t longest_word = 256;  // bytes: longer ones are cut
  const auto east_asian = [&](std::size_t i) {
    return (byte(i) >= 0xE3 && byte(i) <= 0xED) || byte(i) == 0xF0 ||
           (byte(i) == 0xE2 && i + 1 < text.size() && byte(i + 1) >= 0xBA);
  };
  if (east_asian(at)) {
    size = 1;
    const std::size_t length = byte(at) == 0xF0 ? 4 : 3;
    return std::min(text.size(), at + length);
  }
  size = 2;
  if (!is_word(byte(at))) return at + 1;
  const std::size_t begin = at;
  while (at < text.size() && is_word(byte(at)) && !east_asian(at) && at - begin < longest_word) ++at;
  while (at < text.size() && (byte(at) & 0xC0U) == 0x80U) ++at;
  return at;
}

// The sentences, those too long for a passage cut.
std::vector<Piece> pieces_of(std::string_view text, std::size_t most) {
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  for (const std::uint32_t end : base::sentence_ends(text)) {
    Piece piece{{static_cast<std::uint32_t>(begin), end}, 0};
    const std::string_view sentence = text.substr(0, end);
    for (std::size_t at = begin; at < end;) {
      std::size_t size = 0;
      const std::size_t next = next_token(sentence, at, size);
      if (piece.size + size > most) {
        piece.place.end = static_cast<std::uint32_t>(at);
        pieces.push_back(piece);
        piece = {{static_cast<std::uint32_t>(at), end}, 0};
      }
      piece.size += size;
      at = next;
    }
    if (piece.size > 0) pieces.push_back(piece);
    begin = end;
  }
  return pieces;
}

ByteRange trimmed(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view whole = text.substr(begin, end - begin), inner = base::trim(whole);
  const auto from = static_cast<std::size_t>(inner.data() - text.data());
  return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(from + inner.size())};
}

}  // namespace

std::vector<ByteRange> split_passages(std::string_view text, const PassageOptions& options) {
  std::vector<ByteRange> passages;
  if (base::trim(text).empty()) return passages;
  if (options.whole) return {trimmed(text, 0, text.size())};
  const std::size_t most = 2 * std::max<std::size_t>(8, options.tokens);
  const std::size_t overlap = std::min(2 * options.overlap, most / 2);
  const std::vector<Piece> pieces = pieces_of(text, most);
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t last = first, size = 0;
    while (last < pieces.size() && (last == first || size + pieces[last].size <= most))
      size += pieces[last++].size;
    passages.push_back(trimmed(text, pieces[first].place.begin, pieces[last - 1].place.end));
    if (last == pieces.size()) break;
    // Back over the sentences that the next one shares, as long as a new one still fits beside them.
    std::size_t next = last, shared = 0;
    while (next > first + 1 && shared + pieces[next - 1].size <= overlap &&
           shared + pieces[next - 1].size + pieces[last].size <= most)
      shared += pieces[--next].size;
    first = next;
  }
  return passages;
}

}  // namespace askbase::reader
