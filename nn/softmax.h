// Softmax over the columns of each row, with masks; cross-entropy.
#pragma once

#include <span>

#include "nn/context.h"
#include "nn/matrix.h"

namespace askbase::nn {

// mask: empty, or one byte a number of x in its shape without gaps (rows * cols), 0 where it does not count.
// A row with nothing that counts gives zeros (log_softmax: minus infinity everywhere).
using Mask = std::span<const unsigned char>;

// y(r, :) = exp(x(r, :)) / sum; y may be x. Rows are sums over the unmasked columns; masked ones give 0.
template <typename T>
void softmax(View<const std::type_identity_t<T>> x, View<T> y, Mask mask = {}, Team& team = one_thread());
// dx = y * (dy - sum(y * dy)); dx may be dy.
template <typename T>
void softmax_backward(View<const std::type_identity_t<T>> y, View<const std::type_identity_t<T>> dy,
                      View<T> dx, Team& team = one_thread());

// y(r, :) = x(r, :) - log sum exp x(r, :); masked columns give minus infinity.
template <typename T>
void log_softmax(View<const std::type_identity_t<T>> x, View<T> y, Mask mask = {}, Team& team = one_thread());
// dx = dy - exp(y) * sum(dy), 0 where y is minus infinity; dx may be dy.
template <typename T>
void log_softmax_backward(View<const std::type_identity_t<T>> y, View<const std::type_identity_t<T>> dy,
                          View<T> dx, Team& team = one_thread());

// Sum over the rows of weight * -log softmax(x)(r, target[r]); rows with target -1 are left out. dx, when not
// empty, receives the gradient of `scale` times that sum (0 in rows left out). A target outside [0, cols) or
// on a masked column is a programmer error (std::logic_error).
template <typename T>
double cross_entropy(View<const std::type_identity_t<T>> x, std::span<const Index> targets, View<T> dx,
                     T scale = T(1), Mask mask = {});

// Sum over i of max(0, margin - positive[i] + negative[i]) (Bordes 2013; Weston and Watkins 1999). The
// gradients, when not null, receive `scale` times the derivatives. Returns the sum; *active (when given) how
// many pairs are inside the margin.
template <typename T>
double margin_ranking(std::span<const T> positive, std::span<const T> negative, T margin, T* d_positive,
                      T* d_negative, T scale = T(1), Index* active = nullptr);

}  // namespace askbase::nn
