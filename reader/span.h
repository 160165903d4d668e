// From scores of start and end to the answers that they name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reader/wordpiece.h"

namespace askbase::reader {

// Pieces of a context that an answer can begin or end with: an answer is made of whole words.
struct PieceEdges {
  std::vector<std::uint8_t> starts, ends;  // one a piece
};
PieceEdges piece_edges(const Vocabulary& vocabulary, const Pieces& context);

// Half-open, in pieces of the context.
struct PieceSpan {
  std::size_t begin = 0, end = 0;
  float score = 0;  // S.Ti + E.Tj (Devlin 2019, section 4.2)
};

struct SpanSearchOptions {
  std::size_t longest = 30;  // pieces of an answer
  std::size_t kept = 20;     // candidates that are kept of all
};

// Collects the best spans over the windows of one context. A piece that lies in several windows can begin an
// answer only in that one where it has the most context on its shorter side (Devlin's run_squad.py), so no
// span comes twice. Belongs to one thread; reset() makes it ready for another context.
class SpanSearch {
 public:
  explicit SpanSearch(SpanSearchOptions options = {}) : options_(options) {}

  // edges: of the context, must live as long as windows are added.
  void reset(const PieceEdges& edges, std::span<const Window> windows);
  // start, end: scores of the window's pieces, [window.end - window.begin]; null: the score of [CLS] as start
  // and as end together, for "no answer here". The windows may come in any order.
  void add(std::size_t window, std::span<const float> start, std::span<const float> end, float null);

  // The best first, at most `kept`; equal scores in the text's order.
  const std::vector<PieceSpan>& spans();
  // The least null score of the windows: the context as a whole has no answer when none of its windows has. 0
  // before any.
  float null_score() const { return null_; }
  // log of the sum over all spans of exp(score), those not kept included; minus infinity when there is none.
  double log_total() const;

 private:
  SpanSearchOptions options_;
  const PieceEdges* edges_ = nullptr;
  std::vector<Window> windows_;
  std::vector<std::uint32_t> owner_;  // of each piece: the window with most context around it
  std::vector<PieceSpan> found_;
  bool sorted_ = true, any_ = false;
  float null_ = 0;
  float worst_ = 0;                 // what a candidate must reach, once `kept` others do
  double largest_ = 0, total_ = 0;  // sum of exp(score - largest)
};

}  // namespace askbase::reader
