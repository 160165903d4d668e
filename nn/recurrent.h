// Recurrent layers over ragged batches: LSTM or GRU cells, stacked, in one direction or both.
//
//   Recurrent<float> encoder(p, "encoder", {.input = 300, .hidden = 150, .bidirectional = true});
//   RecurrentCache<float> cache;                                       // kept from batch to batch
//   encoder.forward(p, x, segments, y, cache, context);                // x (total, 300) -> y (total, 300)
//   encoder.backward(p, cache, dy, dx, g, context);
//
// Parameters have the names, shapes and gate orders of PyTorch's nn.LSTM and nn.GRU ("encoder.weight_ih_l0",
// "encoder.weight_hh_l0_reverse", ...), so that their files load as they are; what PyTorch does not have
// (peepholes, coupled gates) is described in nn/lstm.h. The two directions of a layer run on two threads of
// the context's team.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nn/context.h"
#include "nn/dropout.h"
#include "nn/gru.h"
#include "nn/lstm.h"
#include "nn/packing.h"
#include "nn/parameters.h"
#include "nn/recurrent_cell.h"

namespace askbase::nn {

enum class RecurrentKind { lstm, gru };

// "lstm", "gru": as a configuration names it.
std::optional<RecurrentKind> recurrent_by_name(std::string_view name);
std::string_view recurrent_name(RecurrentKind kind);

struct RecurrentOptions {
  Index input = 0;
  Index hidden = 0;
  Index layers = 1;
  bool bidirectional = false;
  RecurrentKind kind = RecurrentKind::lstm;
  LstmOptions lstm = {};
  // Between the layers (as PyTorch's `dropout`); layer i uses the stream dropout_stream + i of nn/dropout.h.
  double dropout = 0.0;
  std::uint64_t dropout_stream = 0;
};

// States of all layers and directions (PyTorch's h_0, c_0, h_n, c_n), a row for each sequence of the batch in
// its order: (sequences, layers * directions * hidden), layer 0 forward first, then layer 0 reverse, layer 1
// forward, ... So the last `directions * hidden` columns are the top layer's. c is empty for GRU.
template <typename T>
struct RecurrentStates {
  View<T> h, c;
};

// Scratch of one caller.
template <typename T>
class RecurrentCache {
 public:
  // After the last elements, by the last forward; for a sequence of length 0 its initial states.
  RecurrentStates<const T> last() const { return {h_.view(), c_.view()}; }

 private:
  template <typename>
  friend class Recurrent;
  Packing packing_;
  Matrix<T> x_;                     // packed; then its gradient
  std::vector<Matrix<T>> between_;  // outputs of all layers but the last, packed; then their gradients
  std::vector<CellCache<T>> cells_;
  Matrix<T> h_, c_;
  bool ready_ = false;
};

// Immutable after construction; any number of threads may call it, each with its own cache and gradients.
template <typename T>
class Recurrent {
 public:
  Recurrent() = default;
  Recurrent(Parameters<T>& p, const std::string& name, const RecurrentOptions& options);

  // x (total, input) -> y (total, outputs()): forward's columns first, then reverse's. y may be empty when
  // only the last states are wanted. Views of `initial` that are empty stand for zeros.
  void forward(const Parameters<T>& p, View<const T> x, const Segments& segments, View<T> y,
               RecurrentCache<T>& cache, const Context& context, RecurrentStates<const T> initial = {}) const;

  // Adds the parameters' gradients to g; dx (total, input), when not empty, receives that of x. dy may be
  // empty (zeros); `d_last`, where given, are gradients of cache.last(); `d_initial`, where not empty,
  // receive those of the initial states. Uses up the cache: once for each forward (else std::logic_error).
  // The context has the training and dropout_key of that forward.
  void backward(const Parameters<T>& p, RecurrentCache<T>& cache, View<const T> dy, View<T> dx,
                Gradients<T>& g, const Context& context, RecurrentStates<const T> d_last = {},
                RecurrentStates<T> d_initial = {}) const;

  // LSTM: see Lstm::set_forget_bias. Nothing to do for GRU.
  void set_forget_bias(Parameters<T>& p, T value) const;

  const RecurrentOptions& options() const { return options_; }
  Index directions() const { return options_.bidirectional ? 2 : 1; }
  Index outputs() const { return directions() * options_.hidden; }
  Index states() const { return options_.layers * outputs(); }

 private:
  using Cell = std::variant<Lstm<T>, Gru<T>>;
  void check_states(View<const T> h, View<const T> c, Index sequences) const;
  RecurrentOptions options_;
  std::vector<Cell> cells_;           // layer by layer, forward then reverse
  std::vector<Dropout<T>> dropouts_;  // after each layer but the last
};

extern template class Recurrent<float>;
extern template class Recurrent<double>;

}  // namespace askbase::nn
