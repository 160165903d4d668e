// Row-major matrices and views of them: the one way numbers travel in nn/.
//
// A View does not own its numbers; rows may lie `stride` elements apart, so that a range of columns (one
// attention head, one direction of a BiLSTM) is a view too. Shapes in comments are written (rows, columns).
// Sequences of different lengths lie one below the other without padding; Segments says where each begins.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace askbase::nn {

using Index = std::ptrdiff_t;

template <typename T>
struct View {
  T* data = nullptr;
  Index rows = 0, cols = 0, stride = 0;

  View() = default;
  View(T* d, Index r, Index c) : View(d, r, c, c) {}
  View(T* d, Index r, Index c, Index s) : data(d), rows(r), cols(c), stride(s) {}
  // A view to read through, from one to write through.
  template <typename U>
  requires(std::is_same_v<const U, T>) View(const View<U>& other)  // NOLINT(google-explicit-constructor)
      : data(other.data), rows(other.rows), cols(other.cols), stride(other.stride) {}

  bool empty() const { return rows == 0 || cols == 0; }
  bool contiguous() const { return stride == cols || rows <= 1; }
  Index size() const { return rows * cols; }
  T* row(Index r) const { return data + r * stride; }
  T& operator()(Index r, Index c) const { return data[r * stride + c]; }
  std::span<T> row_span(Index r) const { return {row(r), static_cast<std::size_t>(cols)}; }
  View rows_from(Index begin, Index count) const { return {data + begin * stride, count, cols, stride}; }
  View cols_from(Index begin, Index count) const { return {data + begin, rows, count, stride}; }
};

// Owns its numbers, rows without gaps, 64-byte aligned: vector code begins at a border of 32 bytes, so the
// order of a sum, and with it the last digit, depends on the address. Numbers in other memory would not give
// the same weights twice. resize() keeps the memory when it is large enough:
// caches are used again from batch to batch.
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index rows, Index cols) {
    resize(rows, cols);
    fill(T(0));
  }
  Matrix(const Matrix& other) { *this = other; }
  Matrix(Matrix&&) noexcept = default;
  Matrix& operator=(Matrix&&) noexcept = default;
  Matrix& operator=(const Matrix& other) {
    if (this != &other) {
      resize(other.rows_, other.cols_);
      if (other.size() > 0) std::memcpy(data(), other.data(), static_cast<std::size_t>(size()) * sizeof(T));
    }
    return *this;
  }
  ~Matrix() = default;

  // The values are unspecified afterwards.
  void resize(Index rows, Index cols) {
    if (rows < 0 || cols < 0) throw std::logic_error("nn::Matrix: a negative size");
    if (rows * cols > capacity_) {
      data_.reset();  // first: the old and the new need not lie in memory together
      data_.reset(static_cast<T*>(
          ::operator new (static_cast<std::size_t>(rows * cols) * sizeof(T), std::align_val_t{64})));
      capacity_ = rows * cols;
    }
    rows_ = rows;
    cols_ = cols;
  }
  void fill(T value) {
    for (Index i = 0; i < size(); ++i) data_.get()[i] = value;
  }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return rows_ * cols_; }
  bool empty() const { return size() == 0; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T* row(Index r) { return data() + r * cols_; }
  const T* row(Index r) const { return data() + r * cols_; }
  T& operator()(Index r, Index c) { return data()[r * cols_ + c]; }
  const T& operator()(Index r, Index c) const { return data()[r * cols_ + c]; }
  View<T> view() { return {data(), rows_, cols_}; }
  View<const T> view() const { return {data(), rows_, cols_}; }
  operator View<T>() { return view(); }              // NOLINT(google-explicit-constructor)
  operator View<const T>() const { return view(); }  // NOLINT(google-explicit-constructor)

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<T[], Free> data_;
  Index rows_ = 0, cols_ = 0, capacity_ = 0;
};

// A batch of sequences, one below the other: sequence i is rows [begin(i), end(i)). Length 0 is allowed.
class Segments {
 public:
  Segments() : offsets_{0} {}
  // One sequence of all the rows.
  static Segments one(Index length) { return equal(1, length); }
  static Segments equal(Index count, Index length) {
    Segments s;
    for (Index i = 0; i < count; ++i) s.add(length);
    return s;
  }
  void add(Index length) {
    if (length < 0) throw std::logic_error("nn::Segments: a negative length");
    offsets_.push_back(offsets_.back() + length);
    if (length > longest_) longest_ = length;
  }
  void clear() {
    offsets_.assign(1, 0);
    longest_ = 0;
  }

  Index count() const { return static_cast<Index>(offsets_.size()) - 1; }
  Index total() const { return offsets_.back(); }
  Index longest() const { return longest_; }
  Index begin(Index i) const { return offsets_[static_cast<std::size_t>(i)]; }
  Index end(Index i) const { return offsets_[static_cast<std::size_t>(i) + 1]; }
  Index length(Index i) const { return end(i) - begin(i); }
  bool operator==(const Segments&) const = default;

 private:
  std::vector<Index> offsets_;
  Index longest_ = 0;
};

}  // namespace askbase::nn
