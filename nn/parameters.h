// The numbers that a model learns, apart from the layers that use them.
//
// A layer is a small description: sizes, and the ids of its parameters. Parameters holds the values of a
// whole model; Gradients holds the sums of one backward pass. So one model serves many threads (each with its
// own Gradients, or none at all), and averaging, saving, counting and updating are loops over named tensors.
//
//   Parameters<float> p;
//   Linear<float> layer(p, "classifier", 300, 6);   // adds "classifier.weight" (6, 300), "classifier.bias"
//   (6) p.initialise(seed); layer.forward(p, x, y, context); Gradients<float> g(p); layer.backward(p, x, dy,
//   dx, g, context);
//
// Names and shapes are those of PyTorch and Hugging Face, so their files load as they are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "nn/matrix.h"

namespace askbase::nn {

using ParameterId = int;
using Shape = std::vector<Index>;

enum class Initial {
  zeros,
  ones,
  xavier_uniform,  // Glorot and Bengio 2010: U(-a, a), a = sqrt(6 / (fan_in + fan_out))
  fan_in_uniform,  // PyTorch's default for linear, convolution and recurrent layers: a = 1 / sqrt(fan_in)
  normal_002,      // N(0, 0.02), as BERT (Devlin 2019)
};

struct ParameterOptions {
  Initial initial = Initial::fan_in_uniform;
  Index fan_in = 0;     // 0: the product of all dimensions but the first
  bool decay = true;    // weight decay applies (not to biases and layer norms)
  bool sparse = false;  // gradients by row (embeddings)
  bool frozen = false;  // no gradient, no update
};

template <typename T>
class Parameters {
 public:
  // A new tensor of zeros; of two dimensions (rows, columns), of one as (1, n), of more as (first, the rest).
  // A name used twice is a programmer error (std::logic_error).
  ParameterId add(std::string name, Shape shape, ParameterOptions options = {});
  // First values: a function of seed and name, so that adding a layer does not change the others.
  void initialise(std::uint64_t seed);

  int count() const { return static_cast<int>(tensors_.size()); }
  Index total() const;                      // numbers in all tensors
  int find(const std::string& name) const;  // -1: none
  const std::string& name(ParameterId id) const { return at(id).name; }
  const Shape& shape(ParameterId id) const { return at(id).shape; }
  const ParameterOptions& options(ParameterId id) const { return at(id).options; }
  void set_frozen(ParameterId id, bool frozen) { at(id).options.frozen = frozen; }

  View<const T> operator[](ParameterId id) const { return at(id).value.view(); }
  View<T> mutable_view(ParameterId id) { return at(id).value.view(); }

  // False when some number is not finite; the name goes to *where when given.
  bool finite(std::string* where = nullptr) const;

 private:
  struct Tensor {
    std::string name;
    Shape shape;
    ParameterOptions options;
    Matrix<T> value;
  };
  const Tensor& at(ParameterId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  Tensor& at(ParameterId id) { return tensors_[static_cast<std::size_t>(id)]; }
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string, ParameterId> by_name_;
};

// Gradients of some rows of a table: rows()[i] has the sum in values row i. Order is that of first touch
// until sort().
template <typename T>
class SparseRows {
 public:
  explicit SparseRows(Index cols = 0) : cols_(cols) {}
  // The place to add to for this row of the table; zeros at first touch. The pointer holds until the next
  // call.
  T* row(Index table_row);
  void clear();
  void sort();  // by table row

  Index count() const { return static_cast<Index>(rows_.size()); }
  Index cols() const { return cols_; }
  Index table_row(Index i) const { return rows_[static_cast<std::size_t>(i)]; }
  T* values(Index i) { return values_.data() + i * cols_; }
  const T* values(Index i) const { return values_.data() + i * cols_; }

 private:
  Index cols_;
  std::vector<Index> rows_;
  std::vector<T> values_;
  std::unordered_map<Index, Index> slots_;
};

// Sums of gradients, one tensor for each parameter that is not frozen. Belongs to one thread.
template <typename T>
class Gradients {
 public:
  explicit Gradients(const Parameters<T>& parameters);

  // False for a frozen parameter: a layer skips the work.
  bool wants(ParameterId id) const { return wanted_[static_cast<std::size_t>(id)]; }
  bool is_sparse(ParameterId id) const { return sparse_index_[static_cast<std::size_t>(id)] >= 0; }
  // Add to it. Dense ones only.
  View<T> operator[](ParameterId id) { return dense_[static_cast<std::size_t>(id)].view(); }
  View<const T> operator[](ParameterId id) const { return dense_[static_cast<std::size_t>(id)].view(); }
  SparseRows<T>& sparse(ParameterId id) {
    return sparse_[static_cast<std::size_t>(sparse_index_[static_cast<std::size_t>(id)])];
  }
  const SparseRows<T>& sparse(ParameterId id) const {
    return sparse_[static_cast<std::size_t>(sparse_index_[static_cast<std::size_t>(id)])];
  }

  void clear();
  // this += other, in the order of parameters and rows: adding workers' gradients in the workers' order gives
  // the same sums every time.
  void add(const Gradients& other);
  void scale(T factor);
  double squared_norm() const;

  int count() const { return static_cast<int>(wanted_.size()); }

 private:
  std::vector<char> wanted_;
  std::vector<int> sparse_index_;
  std::vector<Matrix<T>> dense_;
  std::vector<SparseRows<T>> sparse_;
};

extern template class Parameters<float>;
extern template class Parameters<double>;
extern template class SparseRows<float>;
extern template class SparseRows<double>;
extern template class Gradients<float>;
extern template class Gradients<double>;

}  // namespace askbase::nn
