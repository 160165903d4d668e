#include "nn/parameters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "nn/random.h"

namespace askbase::nn {

namespace {

// FNV-1a: the stream of a tensor's first values.
std::uint64_t hash_name(const std::string& name) {
  std::uint64_t h = 1469598103934665603ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

Index product(const Shape& shape, std::size_t from) {
  Index n = 1;
  for (std::size_t i = from; i < shape.size(); ++i) n *= shape[i];
  return n;
}

}  // namespace

template <typename T>
ParameterId Parameters<T>::add(std::string name, Shape shape, ParameterOptions options) {
  if (by_name_.contains(name)) throw std::logic_error("nn: the parameter " + name + " is added twice");
  Tensor tensor;
  tensor.value = shape.size() == 1 ? Matrix<T>(1, shape[0]) : Matrix<T>(shape.at(0), product(shape, 1));
  tensor.name = name;
  tensor.shape = std::move(shape);
  tensor.options = options;
  const ParameterId id = count();
  tensors_.push_back(std::move(tensor));
  by_name_.emplace(std::move(name), id);
  return id;
}

template <typename T>
void Parameters<T>::initialise(std::uint64_t seed) {
  for (Tensor& tensor : tensors_) {
    const Index inner = tensor.shape.size() == 1 ? tensor.shape[0] : product(tensor.shape, 1);
    const double fan_in = static_cast<double>(tensor.options.fan_in > 0 ? tensor.options.fan_in : inner);
    const double fan_out = static_cast<double>(tensor.shape.size() == 1 ? 1 : tensor.shape[0]);
    Random random(seed, hash_name(tensor.name));
    T* values = tensor.value.data();
    const Index n = tensor.value.size();
    switch (tensor.options.initial) {
      case Initial::zeros:
      case Initial::ones:
        std::fill_n(values, n, tensor.options.initial == Initial::ones ? T(1) : T(0));
        break;
      case Initial::xavier_uniform:
      case Initial::fan_in_uniform: {
        const double a = tensor.options.initial == Initial::xavier_uniform
                             ? std::sqrt(6.0 / (fan_in + fan_out))
                             : 1.0 / std::sqrt(std::max(1.0, fan_in));
        for (Index i = 0; i < n; ++i) values[i] = static_cast<T>(random.uniform(-a, a));
        break;
      }
      case Initial::normal_002:
        for (Index i = 0; i < n; ++i) values[i] = static_cast<T>(0.02 * random.normal());
        break;
    }
  }
}

template <typename T>
Index Parameters<T>::total() const {
  Index n = 0;
  for (const Tensor& tensor : tensors_) n += tensor.value.size();
  return n;
}

template <typename T>
int Parameters<T>::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

template <typename T>
bool Parameters<T>::finite(std::string* where) const {
  for (const Tensor& tensor : tensors_) {
    for (Index i = 0; i < tensor.value.size(); ++i) {
      if (std::isfinite(tensor.value.data()[i])) continue;
      if (where != nullptr) *where = tensor.name;
      return false;
    }
  }
  return true;
}

template <typename T>
T* SparseRows<T>::row(Index table_row) {
  const auto [found, added] = slots_.try_emplace(table_row, count());
  if (added) {
    rows_.push_back(table_row);
    values_.resize(values_.size() + static_cast<std::size_t>(cols_), T(0));
  }
  return values(found->second);
}

template <typename T>
void SparseRows<T>::clear() {
  rows_.clear();
  values_.clear();
  slots_.clear();
}

template <typename T>
void SparseRows<T>::sort() {
  std::vector<Index> order(rows_.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [this](Index a, Index b) { return table_row(a) < table_row(b); });
  std::vector<Index> rows;
  std::vector<T> sorted;
  rows.reserve(rows_.size());
  sorted.reserve(values_.size());
  for (const Index i : order) {
    slots_[table_row(i)] = static_cast<Index>(rows.size());
    rows.push_back(table_row(i));
    sorted.insert(sorted.end(), values(i), values(i) + cols_);
  }
  rows_.swap(rows);
  values_.swap(sorted);
}

template <typename T>
Gradients<T>::Gradients(const Parameters<T>& parameters) {
  const auto n = static_cast<std::size_t>(parameters.count());
  wanted_.resize(n);
  sparse_index_.assign(n, -1);
  dense_.resize(n);
  for (ParameterId id = 0; id < parameters.count(); ++id) {
    const auto i = static_cast<std::size_t>(id);
    wanted_[i] = parameters.options(id).frozen ? 0 : 1;
    if (!wanted_[i]) continue;
    const View<const T> value = parameters[id];
    if (parameters.options(id).sparse) {
      sparse_index_[i] = static_cast<int>(sparse_.size());
      sparse_.emplace_back(value.cols);
    } else {
      dense_[i] = Matrix<T>(value.rows, value.cols);
    }
  }
}

template <typename T>
void Gradients<T>::clear() {
  for (Matrix<T>& m : dense_) m.fill(T(0));
  for (SparseRows<T>& s : sparse_) s.clear();
}

template <typename T>
void Gradients<T>::add(const Gradients& other) {
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    T* to = dense_[i].data();
    const T* from = other.dense_[i].data();
    for (Index k = 0; k < dense_[i].size(); ++k) to[k] += from[k];
  }
  for (std::size_t i = 0; i < sparse_.size(); ++i) {
    const SparseRows<T>& from = other.sparse_[i];
    for (Index r = 0; r < from.count(); ++r) {
      T* to = sparse_[i].row(from.table_row(r));
      for (Index c = 0; c < from.cols(); ++c) to[c] += from.values(r)[c];
    }
  }
}

template <typename T>
void Gradients<T>::scale(T factor) {
  for (Matrix<T>& m : dense_) {
    for (Index k = 0; k < m.size(); ++k) m.data()[k] *= factor;
  }
  for (SparseRows<T>& s : sparse_) {
    for (Index r = 0; r < s.count(); ++r) {
      for (Index c = 0; c < s.cols(); ++c) s.values(r)[c] *= factor;
    }
  }
}

template <typename T>
double Gradients<T>::squared_norm() const {
  double sum = 0;
  // Eight partial sums: the compiler may use vectors, and the order stays fixed.
  const auto add_square = [&sum](const T* x, Index n) {
    double part[8] = {};
    Index k = 0;
    for (; k + 8 <= n; k += 8) {
      for (int j = 0; j < 8; ++j) part[j] += static_cast<double>(x[k + j]) * static_cast<double>(x[k + j]);
    }
    for (; k < n; ++k) part[0] += static_cast<double>(x[k]) * static_cast<double>(x[k]);
    for (const double p : part) sum += p;
  };
  for (const Matrix<T>& m : dense_) add_square(m.data(), m.size());
  for (const SparseRows<T>& s : sparse_) {
    for (Index r = 0; r < s.count(); ++r) add_square(s.values(r), s.cols());
  }
  return sum;
}

template class Parameters<float>;
template class Parameters<double>;
template class SparseRows<float>;
template class SparseRows<double>;
template class Gradients<float>;
template class Gradients<double>;

}  // namespace askbase::nn
