#include "nn/embedding.h"

#include <algorithm>
#include <stdexcept>

namespace askbase::nn {

template <typename T>
Embedding<T>::Embedding(Parameters<T>& p, const std::string& name, const EmbeddingOptions& options)
    : options_(options) {
  const bool range = options.frozen_begin != 0 || options.frozen_end != 0;
  if (options.rows < 0 || options.dim < 1 || options.frozen_begin < 0 ||
      options.frozen_begin > options.frozen_end || options.frozen_end > options.rows)
    throw std::logic_error("nn::Embedding: sizes or frozen rows that cannot be");
  // A decay would move rows that have no gradient.
  weight_ = p.add(
      name + ".weight", {options.rows, options.dim},
      {.initial = options.initial, .decay = !range, .sparse = options.sparse, .frozen = options.frozen});
}

template <typename T>
template <typename Id>
void Embedding<T>::check(std::span<const Id> ids, Index rows, Index cols) const {
  if (rows != static_cast<Index>(ids.size()) || cols != options_.dim)
    throw std::logic_error("nn::Embedding: a view that is not (ids, dim)");
  for (const Id id : ids) {
    if (id < 0 || static_cast<Index>(id) >= options_.rows)
      throw std::logic_error("nn::Embedding: the id " + std::to_string(id) + " is outside the table of " +
                             std::to_string(options_.rows) + " rows");
  }
}

template <typename T>
template <typename Id>
void Embedding<T>::look_up(const Parameters<T>& p, std::span<const Id> ids, View<T> y,
                           const Context& context) const {
  check(ids, y.rows, y.cols);
  const View<const T> table = p[weight_];
  context.team->parallel_for(y.rows, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      std::copy_n(table.row(static_cast<Index>(ids[static_cast<std::size_t>(i)])), y.cols, y.row(i));
  });
}

template <typename T>
template <typename Id>
void Embedding<T>::add_gradient(std::span<const Id> ids, View<const T> dy, Gradients<T>& g) const {
  check(ids, dy.rows, dy.cols);
  if (!g.wants(weight_)) return;
  const bool sparse = g.is_sparse(weight_);
  for (Index i = 0; i < dy.rows; ++i) {
    const auto row = static_cast<Index>(ids[static_cast<std::size_t>(i)]);
    if (!row_learns(row)) continue;
    T* sum = sparse ? g.sparse(weight_).row(row) : g[weight_].row(row);
    const T* from = dy.row(i);
    for (Index c = 0; c < dy.cols; ++c) sum[c] += from[c];
  }
}

template <typename T>
void Embedding<T>::forward(const Parameters<T>& p, std::span<const std::int32_t> ids, View<T> y,
                           const Context& context) const {
  look_up(p, ids, y, context);
}
template <typename T>
void Embedding<T>::forward(const Parameters<T>& p, std::span<const Index> ids, View<T> y,
                           const Context& context) const {
  look_up(p, ids, y, context);
}
template <typename T>
void Embedding<T>::backward(std::span<const std::int32_t> ids, View<const T> dy, Gradients<T>& g) const {
  add_gradient(ids, dy, g);
}
template <typename T>
void Embedding<T>::backward(std::span<const Index> ids, View<const T> dy, Gradients<T>& g) const {
  add_gradient(ids, dy, g);
}

template class Embedding<float>;
template class Embedding<double>;

}  // namespace askbase::nn
