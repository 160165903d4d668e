// Vectors while they are trained, with what the optimiser remembers of each row. For internal use.
#pragma once

#include <cmath>

#include "kb/embedding/lanes.h"
#include "kb/embedding/options.h"
#include "kb/embedding/table.h"

namespace askbase::kb::embedding {

template <typename T>
struct TrainState {
  Tables<T> values;
  Tables<T> squares;        // Adagrad: sums of squares; Adam: their running means; empty for SGD
  Tables<T> means;          // Adam: running means; else empty
  std::uint64_t epoch = 0;  // finished ones
  std::uint64_t batch = 0;  // finished ones of the epoch begun
  std::uint64_t step = 0;   // updates so far, for Adam
};

// The update of one row, without its regularisation. Rates are those of the present step.
template <typename T>
class RowUpdate {
 public:
  RowUpdate(const TrainOptions& options, double rate, std::uint64_t step) : kind_(options.optimiser) {
    rate_ = static_cast<T>(rate);
    if (kind_ == OptimiserKind::adam) {
      const auto steps = static_cast<double>(step);
      rate_ = static_cast<T>(rate * std::sqrt(1 - std::pow(0.999, steps)) / (1 - std::pow(0.9, steps)));
    }
  }
  // gradient of the loss: the row moves against it. squares and means may be null where unused.
  void apply(T* row, const T* gradient, T* squares, T* means, Index n) const {
    switch (kind_) {
      case OptimiserKind::sgd:
        for (Index i = 0; i < n; ++i) row[i] -= rate_ * gradient[i];
        return;
      case OptimiserKind::adagrad:  // Duchi et al. 2011
        for (Index i = 0; i < n; ++i) {
          const T sum = squares[i] + gradient[i] * gradient[i];
          squares[i] = sum;
          row[i] -= rate_ * gradient[i] / (std::sqrt(sum) + T(1e-10));
        }
        return;
      case OptimiserKind::adam:  // Kingma & Ba 2015; a row's means stand still while it has no gradient
        for (Index i = 0; i < n; ++i) {
          means[i] = T(0.9) * means[i] + T(0.1) * gradient[i];
          squares[i] = T(0.999) * squares[i] + T(0.001) * gradient[i] * gradient[i];
          row[i] -= rate_ * means[i] / (std::sqrt(squares[i]) + T(1e-8));
        }
        return;
    }
  }

 private:
  OptimiserKind kind_;
  T rate_;
};

template <typename T>
TrainState<T> first_state(const Model<T>& model, const TrainOptions& options, std::size_t entities,
                          std::size_t relations) {
  TrainState<T> state;
  model.initialise(state.values, entities, relations * (options.reciprocal ? 2 : 1), options.seed,
                   options.initial);
  const auto like = [](const Tables<T>& t) {
    return Tables<T>{make_table<T>(t.entities.rows(), t.entities.cols()),
                     make_table<T>(t.relations.rows(), t.relations.cols())};
  };
  if (options.optimiser != OptimiserKind::sgd) state.squares = like(state.values);
  if (options.optimiser == OptimiserKind::adam) state.means = like(state.values);
  return state;
}

}  // namespace askbase::kb::embedding
