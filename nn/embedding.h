// A table of vectors, looked up by id.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "nn/context.h"
#include "nn/parameters.h"

namespace askbase::nn {

struct EmbeddingOptions {
  Index rows = 0;  // ids are [0, rows)
  Index dim = 0;
  Initial initial = Initial::fan_in_uniform;  // U(-1/sqrt(dim), 1/sqrt(dim)); PyTorch draws from N(0, 1)
  bool sparse = true;   // gradients of the rows seen alone; dense: a gradient as large as the table
  bool frozen = false;  // the whole table
  // Rows [frozen_begin, frozen_end) keep their values while the others learn (the vector of the padding, or
  // word vectors from elsewhere beside those of new words). A table with such rows has no weight decay.
  Index frozen_begin = 0, frozen_end = 0;
};

// The caller validates ids that come from outside, and gives padding and unknown words their rows: an id
// outside the table is a programmer error (std::logic_error). Immutable after construction; any number of
// threads may call it.
template <typename T>
class Embedding {
 public:
  Embedding() = default;
  // Adds "<name>.weight" (rows, dim), as PyTorch's nn.Embedding.
  Embedding(Parameters<T>& p, const std::string& name, const EmbeddingOptions& options);

  // y(i, :) = table(ids[i], :); y (ids, dim).
  void forward(const Parameters<T>& p, std::span<const std::int32_t> ids, View<T> y,
               const Context& context) const;
  void forward(const Parameters<T>& p, std::span<const Index> ids, View<T> y, const Context& context) const;
  // Adds dy(i, :) to the gradient of row ids[i], in the order of i, for rows that learn.
  void backward(std::span<const std::int32_t> ids, View<const T> dy, Gradients<T>& g) const;
  void backward(std::span<const Index> ids, View<const T> dy, Gradients<T>& g) const;

  bool row_learns(Index row) const { return row < options_.frozen_begin || row >= options_.frozen_end; }
  Index rows() const { return options_.rows; }
  Index dim() const { return options_.dim; }
  ParameterId weight() const { return weight_; }

 private:
  template <typename Id>
  void look_up(const Parameters<T>& p, std::span<const Id> ids, View<T> y, const Context& context) const;
  template <typename Id>
  void add_gradient(std::span<const Id> ids, View<const T> dy, Gradients<T>& g) const;
  template <typename Id>
  void check(std::span<const Id> ids, Index rows, Index cols) const;

  EmbeddingOptions options_;
  ParameterId weight_ = -1;
};

extern template class Embedding<float>;
extern template class Embedding<double>;

}  // namespace askbase::nn
