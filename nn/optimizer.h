// Optimisers: how gradients change the weights. SGD, Adagrad, Adam and AdamW by PyTorch's update equations.
//
//   Optimizer<float> optimizer(p, {.kind = OptimizerKind::adamw, .weight_decay = 0.01});
//   const double norm = clip_gradients(g, 1.0, team);
//   optimizer.step(p, g, learning_rate, 1.0, team);
//
// Belongs to one thread, which lends it a team. Elements are independent of each other, so the number of
// threads does not change a result.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/parameters.h"
#include "nn/team.h"

namespace askbase::nn {

enum class OptimizerKind {
  sgd,      // with momentum as PyTorch's SGD: b = momentum b + g, w -= rate b
  adagrad,  // Duchi 2011: s += g^2, w -= rate g / (sqrt(s) + epsilon)
  adam,     // Kingma and Ba 2015, algorithm 1; weight decay is added to the gradient
  adamw,    // Loshchilov and Hutter 2019, algorithm 2: w -= rate weight_decay w, apart from the gradient
};

// "sgd", "adagrad", ...: as a configuration names it.
std::optional<OptimizerKind> optimizer_by_name(std::string_view name);
std::string_view optimizer_name(OptimizerKind kind);

struct RateFactor {
  std::string prefix;   // of the parameter's name, "embeddings."
  double factor = 1.0;  // of the learning rate; 0: as good as frozen
};

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adamw;
  double momentum = 0.0;                      // sgd
  double beta1 = 0.9, beta2 = 0.999;          // adam, adamw
  double epsilon = 1e-8;                      // adagrad, adam, adamw
  double weight_decay = 0.0;                  // not for parameters with decay = false (biases, layer norms)
  std::vector<RateFactor> rate_factors = {};  // of several prefixes that fit the longest counts
};

// Some tensor of a model or of its optimiser, by name.
template <typename T>
struct NamedView {
  std::string name;
  View<T> values;
};

template <typename T>
class Optimizer {
 public:
  // State of zeros for every parameter that is not frozen. A number outside its range (a beta of 1, a
  // negative decay) is a programmer error (std::logic_error).
  Optimizer(const Parameters<T>& p, OptimizerConfig config);

  // One update with the gradients scale * g. Sparse gradients are lazy: rows that they lack keep their
  // weights and their state, decay included, and the bias correction of Adam counts all steps. For SGD
  // without momentum and Adagrad, both without decay, that equals the dense update.
  void step(Parameters<T>& p, const Gradients<T>& g, double learning_rate, double scale = 1.0,
            Team& team = one_thread());

  // All of the state beside the weights: the number of updates, and tensors to read or to write through,
  // "<parameter>.exp_avg" and so on with PyTorch's names.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  std::vector<NamedView<T>> state(const Parameters<T>& p);

  const OptimizerConfig& config() const { return config_; }

 private:
  struct Update;
  OptimizerConfig config_;
  std::vector<double> factors_;            // of the rate, by parameter
  std::vector<Matrix<T>> first_, second_;  // moments, by parameter; empty where there are none
  std::int64_t steps_ = 0;
};

// Adds the gradients of workers 1, 2, ... to those of worker 0, in this order, sparse rows sorted; returns
// the square of the sum's Euclidean norm over all parameters. The same every time for the same numbers,
// whatever the team.
template <typename T>
double sum_gradients(std::span<Gradients<T>> workers, Team& team = one_thread());

// The norm over all parameters.
template <typename T>
double gradient_norm(const Gradients<T>& g, Team& team = one_thread());

// What to multiply gradients of this norm with to bring it down to max_norm: min(1, max_norm / (norm +
// 1e-6)), PyTorch's clip_grad_norm_ (Pascanu 2013). max_norm 0: 1.
double clip_factor(double norm, double max_norm);

// Scales g in place by that; returns the norm before. A norm that is not finite leaves g as it is.
template <typename T>
double clip_gradients(Gradients<T>& g, double max_norm, Team& team = one_thread());

// The name of the first parameter with a gradient that is not finite; empty when there is none.
template <typename T>
std::string first_non_finite(const Parameters<T>& p, const Gradients<T>& g);

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace askbase::nn
