// A block of an attention-based convolutional network over pairs of texts (Yin et al. 2016, "ABCNN"), from
// input to pooled output. Stack blocks by giving one's output to the next.
//
//   attention_before  attention_after
//   false             false             BCNN (section 3)
//   true              false             ABCNN-1: attention feature maps are a second channel of the input
//   false             true              ABCNN-2: attention weighs the convolution's output while pooling
//   true              true              ABCNN-3
//
// Attention between row x of one text and row y of the other is 1 / (1 + |x - y|) (section 4.1).
#pragma once

#include <array>
#include <string>

#include "nn/alignment.h"
#include "nn/conv1d.h"

namespace askbase::nn {

struct AbcnnConfig {
  Index in = 0, out = 0;  // widths
  Index kernel = 4;       // words a convolution sees; also the pooling window ("w")
  bool attention_before = false, attention_after = false;
  // attention_before: the most words of a text that attention feature maps read ("s"); further ones count as
  // if their columns of W were zeros.
  Index longest = 64;
};

// Element 0 belongs to the first text of every pair, element 1 to the second.
template <typename V>
using Both = std::array<V, 2>;

// Immutable after construction; any number of threads, each with its own cache.
template <typename T>
class AbcnnBlock {
 public:
  struct Cache {
    Pairs before, after;                  // who meets in the two attention matrices
    Matrix<T> match_before, match_after;  // one after the other: A(i, j)
    Both<Segments> wide;                  // of the convolution's output
    Both<Matrix<T>> channels, features,
        weights;  // input of the convolution, tanh of its output, row sums of A
    Both<typename Conv1d<T>::Cache> conv;
    Matrix<T> d_match;
    Both<Matrix<T>> d_channels, d_features, d_weights, scratch;
  };

  // Adds "<name>.conv.weight" (out, in or 2 in, kernel) with bias, shared by both texts, and with
  // attention_before "<name>.attention.0" and ".1" (longest, in): W of section 4.1, transposed. A size below
  // 1 is a programmer error (std::logic_error).
  AbcnnBlock(Parameters<T>& p, const std::string& name, const AbcnnConfig& config);

  // x[t] (segments[t].total(), in) -> y[t] (segments[t].total(), out), pooled over windows ("w-ap"), and
  // summary[t] (segments[t].count(), out), the mean over the convolution's output ("all-ap"), zeros for a
  // text of length 0. Either may be empty.
  void forward(const Parameters<T>& p, const Both<View<const T>>& x, const Both<Segments>& segments,
               const Both<View<T>>& y, const Both<View<T>>& summary, Cache& cache,
               const Context& context) const;
  // From the gradients of what was not empty. Adds to g; writes dx where not empty.
  void backward(const Parameters<T>& p, const Both<View<const T>>& x, Cache& cache,
                const Both<View<const T>>& dy, const Both<View<const T>>& d_summary, const Both<View<T>>& dx,
                Gradients<T>& g, const Context& context) const;

  // A of pair i, (rows of text 0, rows of text 1): over words with attention_before, over the convolution's
  // output with attention_after; for display.
  View<const T> attention_before(const Cache& cache, Index i) const {
    return cache.before.block(cache.match_before.data(), i);
  }
  View<const T> attention_after(const Cache& cache, Index i) const {
    return cache.after.block(cache.match_after.data(), i);
  }

 private:
  // Rows of W that a text of n words uses.
  Index readable(Index n) const { return n < config_.longest ? n : config_.longest; }

  AbcnnConfig config_;
  Both<ParameterId> maps_{-1, -1};
  Conv1d<T> conv_;
};

extern template class AbcnnBlock<float>;
extern template class AbcnnBlock<double>;

}  // namespace askbase::nn
