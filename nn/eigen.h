// Views as Eigen maps. Internal to nn/: only .cpp files include it, since Eigen takes seconds to compile.
#pragma once

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>
#include <type_traits>

#include "nn/matrix.h"

namespace askbase::nn {

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using RowMajorArray = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
auto matrix(View<T> v) {
  using Plain = RowMajor<std::remove_const_t<T>>;
  using Target = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Eigen::Map<Target, 0, Eigen::OuterStride<>>(v.data, v.rows, v.cols, Eigen::OuterStride<>(v.stride));
}

template <typename T>
auto array(View<T> v) {
  using Plain = RowMajorArray<std::remove_const_t<T>>;
  using Target = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Eigen::Map<Target, 0, Eigen::OuterStride<>>(v.data, v.rows, v.cols, Eigen::OuterStride<>(v.stride));
}

// n numbers one after the other, for element-wise arithmetic.
template <typename T>
auto row_array(T* x, Index n) {
  using Plain = Eigen::Array<std::remove_const_t<T>, Eigen::Dynamic, 1>;
  using Target = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Eigen::Map<Target>(x, n);
}

// Rows of so many columns that are worth a thread.
inline Index row_grain(Index cols) { return std::max<Index>(1, 16384 / std::max<Index>(1, cols)); }

}  // namespace askbase::nn
