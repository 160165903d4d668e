// Pooling over the rows of a sequence: one vector a sequence, or one a window of its rows. Attention pooling
// is Attention<T>::pool (nn/attention.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nn/context.h"
#include "nn/matrix.h"

namespace askbase::nn {

enum class Pooling { max, mean, first, last };
std::optional<Pooling> pooling_by_name(std::string_view name);
std::string_view pooling_name(Pooling kind);

// x (segments.total(), n) -> y (segments.count(), n); a sequence of length 0 gives zeros. chosen, read by
// pool_backward for max, receives the row of x that each number of y came from (-1: none; the first of
// equals), in y's shape; null: not wanted.
template <typename T>
void pool(Pooling kind, View<const std::type_identity_t<T>> x, const Segments& segments, View<T> y,
          std::vector<Index>* chosen = nullptr);
// Writes dx (segments.total(), n).
template <typename T>
void pool_backward(Pooling kind, const Segments& segments, const std::vector<Index>& chosen,
                   View<const std::type_identity_t<T>> dy, View<T> dx);

// Windows of `width` rows, one step apart: a sequence of n rows gives max(0, n - width + 1).
Segments window_output(const Segments& segments, Index width);
// y(r, :) = factor * sum over the window that begins at row r of weight(s) x(s, :); weights: one number a row
// of x, or empty for 1. Average pooling: factor 1 / width. ABCNN's w-ap and its attention-based form (Yin
// 2016, section 3.2; figure 4).
template <typename T>
void window_sum(View<const std::type_identity_t<T>> x, std::span<const std::type_identity_t<T>> weights,
                const Segments& segments, Index width, T factor, View<T> y);
// Writes dx, and d_weights where not empty.
template <typename T>
void window_sum_backward(View<const std::type_identity_t<T>> x,
                         std::span<const std::type_identity_t<T>> weights, const Segments& segments,
                         Index width, T factor, View<const std::type_identity_t<T>> dy, View<T> dx,
                         std::span<std::type_identity_t<T>> d_weights);
// The largest of each window; chosen as in pool().
template <typename T>
void window_max(View<const std::type_identity_t<T>> x, const Segments& segments, Index width, View<T> y,
                std::vector<Index>* chosen = nullptr);
template <typename T>
void window_max_backward(const std::vector<Index>& chosen, View<const std::type_identity_t<T>> dy,
                         View<T> dx);

}  // namespace askbase::nn
