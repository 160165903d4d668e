#include "nn/recurrent.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace askbase::nn {

namespace {

constexpr std::array<std::pair<std::string_view, RecurrentKind>, 2> kNames{
    {{"lstm", RecurrentKind::lstm}, {"gru", RecurrentKind::gru}}};

// Rows that one thread copies at least.
constexpr Index kCopyGrain = 64;

// to(i, :) = from(rows[i], :)
template <typename T>
void gather(View<const T> from, std::span<const Index> rows, View<T> to, Team& team) {
  team.parallel_for(to.rows, kCopyGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      std::copy_n(from.row(rows[static_cast<std::size_t>(i)]), to.cols, to.row(i));
  });
}

// to(rows[i], :) = from(i, :)
template <typename T>
void scatter(View<const T> from, std::span<const Index> rows, View<T> to, Team& team) {
  team.parallel_for(from.rows, kCopyGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      std::copy_n(from.row(i), to.cols, to.row(rows[static_cast<std::size_t>(i)]));
  });
}

// One cell's columns of all states, in the packing's order; zeros where there are none.
template <typename T>
void states_of_cell(View<const T> states, Index cell, const Packing& packing, Matrix<T>& out) {
  if (states.empty()) {
    out.fill(T(0));
  } else {
    gather(states.cols_from(cell * out.cols(), out.cols()), packing.order(), out.view(), one_thread());
  }
}

bool fits(Index rows, Index cols, Index want_rows, Index want_cols) {
  return rows == want_rows && cols == want_cols;
}

}  // namespace

std::optional<RecurrentKind> recurrent_by_name(std::string_view name) {
  for (const auto& [text, kind] : kNames) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

std::string_view recurrent_name(RecurrentKind kind) {
  for (const auto& [text, other] : kNames) {
    if (other == kind) return text;
  }
  return "?";
}

template <typename T>
Recurrent<T>::Recurrent(Parameters<T>& p, const std::string& name, const RecurrentOptions& options)
    : options_(options) {
  if (options.input < 1 || options.hidden < 1 || options.layers < 1)
    throw std::logic_error("nn::Recurrent: input, hidden and layers must be at least 1");
  for (Index layer = 0; layer < options.layers; ++layer) {
    for (Index d = 0; d < directions(); ++d) {
      const std::string suffix = "_l" + std::to_string(layer) + (d == 1 ? "_reverse" : "");
      const Index in = layer == 0 ? options.input : outputs();
      if (options.kind == RecurrentKind::lstm) {
        cells_.push_back(Lstm<T>(p, name + ".", suffix, in, options.hidden, options.lstm));
      } else {
        cells_.push_back(Gru<T>(p, name + ".", suffix, in, options.hidden));
      }
    }
    if (layer + 1 < options.layers) {
      dropouts_.emplace_back(options.dropout, options.dropout_stream + static_cast<std::uint64_t>(layer));
    }
  }
}

template <typename T>
void Recurrent<T>::set_forget_bias(Parameters<T>& p, T value) const {
  for (const Cell& cell : cells_) {
    if (const auto* lstm = std::get_if<Lstm<T>>(&cell)) lstm->set_forget_bias(p, value);
  }
}

template <typename T>
void Recurrent<T>::check_states(View<const T> h, View<const T> c, Index sequences) const {
  for (const View<const T>& view : {h, c}) {
    if (!view.empty() && !fits(view.rows, view.cols, sequences, states()))
      throw std::logic_error("nn::Recurrent: states are not (sequences, layers * directions * hidden)");
  }
  if (options_.kind == RecurrentKind::gru && !c.empty())
    throw std::logic_error("nn::Recurrent: GRU has no cell states");
}

template <typename T>
void Recurrent<T>::forward(const Parameters<T>& p, View<const T> x, const Segments& segments, View<T> y,
                           RecurrentCache<T>& cache, const Context& context,
                           RecurrentStates<const T> initial) const {
  if (!fits(x.rows, x.cols, segments.total(), options_.input))
    throw std::logic_error("nn::Recurrent: x is not (rows of the segments, input)");
  if (!y.empty() && !fits(y.rows, y.cols, x.rows, outputs()))
    throw std::logic_error("nn::Recurrent: y is not (rows of x, directions * hidden)");
  check_states(initial.h, initial.c, segments.count());
  const bool lstm = options_.kind == RecurrentKind::lstm;
  const Index hidden = options_.hidden;
  Team& team = *context.team;
  cache.packing_.set(segments);
  const Packing& packing = cache.packing_;
  cache.x_.resize(x.rows, x.cols);
  gather(x, packing.source(), cache.x_.view(), team);
  cache.cells_.resize(cells_.size());
  cache.between_.resize(static_cast<std::size_t>(options_.layers - 1));
  cache.h_.resize(packing.sequences(), states());
  cache.c_.resize(lstm ? packing.sequences() : 0, states());
  for (std::size_t i = 0; i < cells_.size(); ++i)
    std::visit([&](const auto& cell) { cell.size_cache(packing, cache.cells_[i]); }, cells_[i]);
  for (Matrix<T>& between : cache.between_) between.resize(x.rows, outputs());
  const std::array ways{packing.forward(), packing.reverse()};
  for (Index layer = 0; layer < options_.layers; ++layer) {
    const bool top = layer + 1 == options_.layers;
    const View<const T> in = layer == 0 ? View<const T>(cache.x_) : cache.between_[layer - 1].view();
    const View<T> out = top ? y : cache.between_[layer].view();
    team.parallel_for(directions(), 1, [&](Index begin, Index end) {
      for (Index d = begin; d < end; ++d) {
        const Index index = layer * directions() + d;
        CellCache<T>& memory = cache.cells_[index];
        states_of_cell(initial.h, index, packing, memory.h);
        if (lstm) states_of_cell(initial.c, index, packing, memory.c);
        CellOutput<T> to;
        if (!out.empty()) to.view = out.cols_from(d * hidden, hidden);
        if (top) to.rows = packing.source();
        std::visit([&](const auto& cell) { cell.forward(p, in, ways[d], to, memory, context); },
                   cells_[index]);
        scatter<T>(memory.h, packing.order(), cache.h_.view().cols_from(index * hidden, hidden),
                   one_thread());
        if (lstm) {
          scatter<T>(memory.c, packing.order(), cache.c_.view().cols_from(index * hidden, hidden),
                     one_thread());
        }
      }
    });
    if (!top && dropouts_[layer].active(context)) dropouts_[layer].apply(out, out, context);
  }
  cache.ready_ = true;
}

template <typename T>
void Recurrent<T>::backward(const Parameters<T>& p, RecurrentCache<T>& cache, View<const T> dy, View<T> dx,
                            Gradients<T>& g, const Context& context, RecurrentStates<const T> d_last,
                            RecurrentStates<T> d_initial) const {
  if (!std::exchange(cache.ready_, false))
    throw std::logic_error("nn::Recurrent: backward without a forward before it");
  const Packing& packing = cache.packing_;
  if (!dy.empty() && !fits(dy.rows, dy.cols, packing.rows(), outputs()))
    throw std::logic_error("nn::Recurrent: dy is not (rows of x, directions * hidden)");
  if (!dx.empty() && !fits(dx.rows, dx.cols, packing.rows(), options_.input))
    throw std::logic_error("nn::Recurrent: dx is not (rows of x, input)");
  check_states(d_last.h, d_last.c, packing.sequences());
  check_states(d_initial.h, d_initial.c, packing.sequences());
  const bool lstm = options_.kind == RecurrentKind::lstm;
  const Index hidden = options_.hidden;
  Team& team = *context.team;
  const std::array ways{packing.forward(), packing.reverse()};
  for (Index layer = options_.layers; layer-- > 0;) {
    const bool top = layer + 1 == options_.layers;
    const View<const T> in = layer == 0 ? View<const T>(cache.x_) : cache.between_[layer - 1].view();
    const View<const T> d_out = top ? dy : View<const T>(cache.between_[layer]);
    team.parallel_for(directions(), 1, [&](Index begin, Index end) {
      for (Index d = begin; d < end; ++d) {
        const Index index = layer * directions() + d;
        CellCache<T>& memory = cache.cells_[index];
        states_of_cell(d_last.h, index, packing, memory.dh);
        if (lstm) states_of_cell(d_last.c, index, packing, memory.dc);
        CellOutput<const T> from;
        if (!d_out.empty()) from.view = d_out.cols_from(d * hidden, hidden);
        if (top) from.rows = packing.source();
        std::visit([&](const auto& cell) { cell.backward(p, in, ways[d], from, memory, g, context); },
                   cells_[index]);
        if (!d_initial.h.empty()) {
          scatter<T>(memory.dh, packing.order(), d_initial.h.cols_from(index * hidden, hidden), one_thread());
        }
        if (!d_initial.c.empty()) {
          scatter<T>(memory.dc, packing.order(), d_initial.c.cols_from(index * hidden, hidden), one_thread());
        }
      }
    });
    if (layer == 0 && dx.empty()) break;
    // The layer's input is no longer needed: its gradient takes its place.
    const View<T> d_in = layer == 0 ? cache.x_.view() : cache.between_[layer - 1].view();
    for (Index d = 0; d < directions(); ++d) {
      const Index index = layer * directions() + d;
      std::visit(
          [&](const auto& cell) {
            cell.input_gradient(p, cache.cells_[index], d == 0 ? T(0) : T(1), d_in, context);
          },
          cells_[index]);
    }
    if (layer == 0) {
      scatter<T>(d_in, packing.source(), dx, team);
    } else if (dropouts_[layer - 1].active(context)) {
      dropouts_[layer - 1].apply(d_in, d_in, context);
    }
  }
}

template class Recurrent<float>;
template class Recurrent<double>;

}  // namespace askbase::nn
