// Attention over attention: words then sentences, and several representations of one word.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/attention.h"

namespace askbase::nn {

// Pools level by level (Yang 2016): words to a vector a sentence, sentences to a vector a document. A model
// with an encoder between the levels calls two Attention objects itself.
// Immutable after construction; any number of threads, each with its own cache.
template <typename T>
class MultiLevelAttention {
 public:
  struct Cache {
    std::vector<AttentionCache<T>> levels;
    std::vector<Matrix<T>> outputs, d_outputs;  // of each level but the last
  };

  // Parameters "<name>.levels.<l>...". Every level pools (query 0, rows 1), and its keys and values are as
  // wide as the level below gives them: otherwise std::logic_error.
  MultiLevelAttention(Parameters<T>& p, const std::string& name, std::span<const AttentionConfig> levels);

  // segments[l]: the items of level l by group, as many groups as level l + 1 has items. x (items of level 0,
  // key) -> y (groups of the last level, out()).
  void forward(const Parameters<T>& p, View<const T> x, std::span<const Segments> segments, View<T> y,
               Cache& cache, const Context& context) const;
  // Adds to g; writes dx where not empty.
  void backward(const Parameters<T>& p, View<const T> x, Cache& cache, View<const T> dy, View<T> dx,
                Gradients<T>& g, const Context& context) const;

  // (1, items of the group): how much each counts in its group.
  View<const T> weights(const Cache& cache, Index level, Index group) const {
    const std::size_t l = static_cast<std::size_t>(level);
    return levels_.at(l).weights(cache.levels.at(l), group);
  }
  Index out() const { return levels_.back().out(); }

 private:
  std::vector<Attention<T>> levels_;
};

// Weighs several representations of one input, such as word vectors of different makers (dynamic
// meta-embeddings, Kiela 2018, equations 1 to 3; Maharjan 2018): each is projected to one width, then
// attention pools over them. Immutable after construction; any number of threads, each with its own cache.
template <typename T>
class RepresentationAttention {
 public:
  struct Cache {
    AttentionCache<T> attention;
    Matrix<T> stacked, d_stacked;  // (n * representations, width): those of a row together
  };

  // Adds "<name>.projections.<i>" (linear, widths[i] -> pooling.key) and "<name>.attention...". pooling:
  // query 0, rows 1; score location is Kiela's.
  RepresentationAttention(Parameters<T>& p, const std::string& name, std::span<const Index> widths,
                          const AttentionConfig& pooling);

  // x[i] (n, widths[i]) -> y (n, out())
  void forward(const Parameters<T>& p, std::span<const View<const T>> x, View<T> y, Cache& cache,
               const Context& context) const;
  // Adds to g; writes each of dx that is not empty (dx itself may be empty).
  void backward(const Parameters<T>& p, std::span<const View<const T>> x, Cache& cache, View<const T> dy,
                std::span<const View<T>> dx, Gradients<T>& g, const Context& context) const;

  // (1, representations): how much each counts in row `row`.
  View<const T> weights(const Cache& cache, Index row) const {
    return attention_.weights(cache.attention, row);
  }
  Index out() const { return attention_.out(); }

 private:
  // Rows i, i + n, ... of the stack, as a view.
  View<T> part(Matrix<T>& stacked, std::size_t i) const;

  std::vector<Linear<T>> projections_;
  Attention<T> attention_;
};

extern template class MultiLevelAttention<float>;
extern template class MultiLevelAttention<double>;
extern template class RepresentationAttention<float>;
extern template class RepresentationAttention<double>;

}  // namespace askbase::nn
