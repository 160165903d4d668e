// What the recurrent cells (nn/lstm.h, nn/gru.h) share: the memory of one direction of one layer.
//
// A cell runs over a packed batch (nn/packing.h) in one direction. Users want nn/recurrent.h, which packs,
// stacks layers and joins directions.
#pragma once

#include "nn/matrix.h"
#include "nn/packing.h"

namespace askbase::nn {

// N packed rows, B sequences in the packing's order, H hidden units, G gates. Filled by forward, used up by
// backward.
template <typename T>
struct CellCache {
  // In: the states before the first elements, which the caller fills in; out of forward: those after the last
  // ones. c is the LSTM's alone.
  Matrix<T> h, c;  // (B, H)
  // In: gradients of the loss with respect to the states after the last elements, which the caller fills in;
  // out of backward: before the first ones.
  Matrix<T> dh, dc;  // (B, H)

  Matrix<T> gates;               // (N, G*H): values of the gates; out of backward: gradients before the gates
  Matrix<T> recurrent;           // (N, 3*H), GRU: the part from the state before; then its gradients
  Matrix<T> h_before, c_before;  // (N, H): the states that each step starts from
  Matrix<T> c_tanh;              // (N, H)
  Matrix<T> weight_hh_t;         // (H, G*H)
  Matrix<T> bias;                // (1, G*H)
};

// The columns of a layer's output that one direction writes (or whose gradients it reads): packed row r is
// row rows[r], or r where rows is empty. An empty view: nothing is written, gradients are zeros.
template <typename T>
struct CellOutput {
  View<T> view;
  std::span<const Index> rows;

  T* row(Index packed) const {
    return view.row(rows.empty() ? packed : rows[static_cast<std::size_t>(packed)]);
  }
};

}  // namespace askbase::nn
