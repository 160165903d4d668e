#include "reader/span.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace askbase::reader {

namespace {

bool better(const PieceSpan& a, const PieceSpan& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
}

}  // namespace

PieceEdges piece_edges(const Vocabulary& vocabulary, const Pieces& context) {
  const std::size_t n = context.size();
  PieceEdges edges{std::vector<std::uint8_t>(n, 1), std::vector<std::uint8_t>(n, 1)};
  for (std::size_t i = 1; i < n; ++i) {
    if (vocabulary.piece(context.ids[i]).starts_with("##")) edges.starts[i] = edges.ends[i - 1] = 0;
  }
  return edges;
}

void SpanSearch::reset(const PieceEdges& edges, std::span<const Window> windows) {
  edges_ = &edges;
  windows_.assign(windows.begin(), windows.end());
  owner_.assign(edges.starts.size(), 0);
  std::vector<std::size_t> most(edges.starts.size(), 0);
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    const Window& window = windows_[w];
    if (window.end > owner_.size() || window.begin > window.end) {
      throw std::logic_error("reader::SpanSearch: a window outside of the context");
    }
    for (std::size_t i = window.begin; i < window.end; ++i) {
      const std::size_t context = 1 + std::min(i - window.begin, window.end - 1 - i);
      if (context > most[i]) {
        most[i] = context;
        owner_[i] = static_cast<std::uint32_t>(w);
      }
    }
  }
  found_.clear();
  sorted_ = true;
  any_ = false;
  null_ = 0;
  worst_ = -std::numeric_limits<float>::infinity();
  largest_ = -std::numeric_limits<double>::infinity();
  total_ = 0;
}

void SpanSearch::add(std::size_t index, std::span<const float> start, std::span<const float> end,
                     float null) {
  const Window& window = windows_.at(index);
  const std::size_t n = window.end - window.begin;
  if (start.size() != n || end.size() != n) {
    throw std::logic_error("reader::SpanSearch: scores do not fit the window");
  }
  null_ = any_ ? std::min(null_, null) : null;
  any_ = true;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = window.begin + i;
    if (owner_[from] != index || edges_->starts[from] == 0) continue;
    for (std::size_t j = i; j < std::min(n, i + options_.longest); ++j) {
      if (edges_->ends[window.begin + j] == 0) continue;
      const float score = start[i] + end[j];
      if (!std::isfinite(score)) continue;
      if (score > largest_) {
        total_ *= std::exp(largest_ - score);
        largest_ = score;
      }
      total_ += std::exp(static_cast<double>(score) - largest_);
      if (score < worst_) continue;
      found_.push_back({from, window.begin + j + 1, score});
      sorted_ = false;
      if (found_.size() >= 4 * options_.kept + 64) spans();  // bounds the list
    }
  }
}

const std::vector<PieceSpan>& SpanSearch::spans() {
  if (!sorted_) {
    std::sort(found_.begin(), found_.end(), better);
    if (found_.size() > options_.kept) found_.resize(options_.kept);
    if (found_.size() == options_.kept && !found_.empty()) worst_ = found_.back().score;
    sorted_ = true;
  }
  return found_;
}

double SpanSearch::log_total() const { return largest_ + std::log(total_); }

}  // namespace askbase::reader
