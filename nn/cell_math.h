// Loops of the recurrent cells, in pieces that fit vector registers. Internal to nn/, for .cpp files only.
#pragma once

#include <algorithm>
#include <type_traits>

#include "nn/eigen.h"
#include "nn/gemm.h"
#include "nn/recurrent_cell.h"

namespace askbase::nn::cell {

inline constexpr Index kPack = 8;

template <typename T>
using Pack = Eigen::Array<T, kPack, 1>;

// Numbers of which only the first n are there; n is a constant but for the last piece of a row, whose n is
// below kPack.
template <typename T, typename N>
Pack<T> load(const T* from, N n) {
  if constexpr (std::is_same_v<N, Index>) {
    Pack<T> pack = Pack<T>::Zero();
    std::copy_n(from, n, pack.data());
    return pack;
  } else {
    return Eigen::Map<const Pack<T>>(from);
  }
}

template <typename T, typename N>
void store(const Pack<T>& pack, T* to, N n) {
  if constexpr (std::is_same_v<N, Index>) {
    std::copy_n(pack.data(), n, to);
  } else {
    Eigen::Map<Pack<T>> target(to);
    target = pack;
  }
}

// body(at, n) over [0, count).
template <typename Body>
void pieces(Index count, Body&& body) {
  Index at = 0;
  for (; at + kPack <= count; at += kPack) body(at, std::integral_constant<Index, kPack>{});
  if (at < count) body(at, count - at);
}

template <typename T>
Pack<T> sigmoid(const Pack<T>& x) {
  return x.logistic();
}
template <typename T>
Pack<T> tanh(const Pack<T>& x) {
  return x.tanh();
}

// Rows of a step worth a thread of their own.
inline constexpr Index kRowGrain = 16;

// The states before the first elements to where their steps look for them.
template <typename T>
void place_first(const Matrix<T>& initial, const PackedDirection& direction, Matrix<T>& before) {
  for (std::size_t b = 0; b < direction.first.size(); ++b) {
    std::copy_n(initial.row(static_cast<Index>(b)), initial.cols(), before.row(direction.first[b]));
  }
}

// Where a step puts the state of sequence b.
template <typename T>
T* state_after(const PackedStep& step, Index b, Matrix<T>& before, Matrix<T>& last) {
  return b < step.next_rows ? before.row(step.next_begin + b) : last.row(b);
}

// The weights by which every step multiplies, transposed once where there are enough rows to win the time
// back: products of few rows like them better that way.
template <typename T>
class RecurrentWeight {
 public:
  static void size(Index rows, Index gates, Index hidden, Matrix<T>& transposed) {
    const bool worth_it = rows >= 64;
    transposed.resize(worth_it ? hidden : 0, worth_it ? gates : 0);
  }
  RecurrentWeight(View<const T> weight, Matrix<T>& transposed)
      : weight_(weight), transposed_(transposed.view()) {
    if (!transposed.empty()) matrix(transposed.view()) = matrix(weight).transpose();
  }
  // z = beta * z + h W^T
  void multiply(View<const T> h, T beta, View<T> z, Team& team) const {
    if (transposed_.empty()) {
      gemm<T>(Op::none, Op::transpose, T(1), h, weight_, beta, z, team);
    } else {
      gemm<T>(Op::none, Op::none, T(1), h, transposed_, beta, z, team);
    }
  }

 private:
  View<const T> weight_, transposed_;
};

}  // namespace askbase::nn::cell
