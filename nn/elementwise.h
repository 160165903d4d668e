// Activation functions over whole views, with their derivatives. Vector code; in float within 2e-6 of the
// exact value relative to max(1, |y|).
#pragma once

#include <optional>
#include <string_view>

#include "nn/context.h"
#include "nn/matrix.h"

namespace askbase::nn {

enum class Activation { identity, relu, tanh, sigmoid, gelu };

// "relu", "gelu", ... as a configuration names it.
std::optional<Activation> activation_by_name(std::string_view name);
std::string_view activation_name(Activation kind);

// y = f(x); x and y have one shape and may be the same memory. gelu: x * Phi(x), the erf form
// (Hendrycks and Gimpel 2016).
template <typename T>
void activate(Activation kind, View<const std::type_identity_t<T>> x, View<T> y, Team& team = one_thread());

// dx = dy * f'(x), from x and y = f(x) of the forward pass (gelu and relu look at x only, tanh and sigmoid at
// y only: the other may be empty). dx may be dy's memory.
template <typename T>
void activate_backward(Activation kind, View<const std::type_identity_t<T>> x,
                       View<const std::type_identity_t<T>> y, View<const std::type_identity_t<T>> dy,
                       View<T> dx, Team& team = one_thread());

// The same over n numbers in a row: what recurrent cells use.
template <typename T>
void sigmoid(const T* x, T* y, Index n);
template <typename T>
void tanh(const T* x, T* y, Index n);
template <typename T>
void exp(const T* x, T* y, Index n);

}  // namespace askbase::nn
