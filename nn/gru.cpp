#include "nn/gru.h"

#include "nn/cell_math.h"
#include "nn/linear.h"

namespace askbase::nn {

using cell::load;
using cell::Pack;
using cell::store;

namespace {

// One sequence in one step. `input` and `recurrent` are the parts of the gates from x and from the state
// before, 3*H numbers each.
template <typename T>
struct Row {
  Index hidden = 0;
  T *input = nullptr, *recurrent = nullptr;
  const T* bias = nullptr;  // 4*H: r, z, n from x, n from the state
  const T* h_before = nullptr;
  T *h = nullptr, *y = nullptr;  // forward; y may be null
  const T* dy = nullptr;         // backward; may be null
  T* dh = nullptr;               // backward
};

template <typename T>
void forward_row(const Row<T>& row) {
  const Index hidden = row.hidden;
  cell::pieces(hidden, [&](Index at, auto n) {
    const auto before_gate = [&](Index gate) -> Pack<T> {
      return load(row.input + gate + at, n) + load(row.recurrent + gate + at, n) +
             load(row.bias + gate + at, n);
    };
    const Pack<T> reset = cell::sigmoid<T>(before_gate(0));
    const Pack<T> update = cell::sigmoid<T>(before_gate(hidden));
    const Pack<T> from_state = load(row.recurrent + 2 * hidden + at, n) + load(row.bias + 3 * hidden + at, n);
    const Pack<T> before_new =
        load(row.input + 2 * hidden + at, n) + load(row.bias + 2 * hidden + at, n) + reset * from_state;
    const Pack<T> fresh = cell::tanh<T>(before_new);
    const Pack<T> h = fresh + update * (load(row.h_before + at, n) - fresh);
    store<T>(reset, row.input + at, n);
    store<T>(update, row.input + hidden + at, n);
    store<T>(fresh, row.input + 2 * hidden + at, n);
    store<T>(from_state, row.recurrent + 2 * hidden + at, n);
    store<T>(h, row.h + at, n);
    if (row.y != nullptr) store<T>(h, row.y + at, n);
  });
}

template <typename T>
void backward_row(const Row<T>& row) {
  const Index hidden = row.hidden;
  cell::pieces(hidden, [&](Index at, auto n) {
    const Pack<T> reset = load(row.input + at, n), update = load(row.input + hidden + at, n),
                  fresh = load(row.input + 2 * hidden + at, n),
                  from_state = load(row.recurrent + 2 * hidden + at, n);
    Pack<T> dh = load(row.dh + at, n);
    if (row.dy != nullptr) dh += load(row.dy + at, n);
    const Pack<T> d_new = dh * (T(1) - update) * (T(1) - fresh * fresh);
    const Pack<T> d_update = dh * (load(row.h_before + at, n) - fresh) * update * (T(1) - update);
    const Pack<T> d_reset = d_new * from_state * reset * (T(1) - reset);
    for (T* part : {row.input, row.recurrent}) {
      store<T>(d_reset, part + at, n);
      store<T>(d_update, part + hidden + at, n);
    }
    store<T>(d_new, row.input + 2 * hidden + at, n);
    const Pack<T> d_from_state = d_new * reset, dh_before = dh * update;
    store<T>(d_from_state, row.recurrent + 2 * hidden + at, n);
    store<T>(dh_before, row.dh + at, n);
  });
}

}  // namespace

template <typename T>
Gru<T>::Gru(Parameters<T>& p, const std::string& prefix, const std::string& suffix, Index in, Index hidden)
    : hidden_(hidden) {
  // PyTorch's first values: all of them U(-1/sqrt(H), 1/sqrt(H)).
  const ParameterOptions weight{.fan_in = hidden}, vector{.fan_in = hidden, .decay = false};
  weight_ih_ = p.add(prefix + "weight_ih" + suffix, {3 * hidden, in}, weight);
  weight_hh_ = p.add(prefix + "weight_hh" + suffix, {3 * hidden, hidden}, weight);
  bias_ih_ = p.add(prefix + "bias_ih" + suffix, {3 * hidden}, vector);
  bias_hh_ = p.add(prefix + "bias_hh" + suffix, {3 * hidden}, vector);
}

template <typename T>
void Gru<T>::size_cache(const Packing& packing, CellCache<T>& cache) const {
  const Index rows = packing.rows();
  for (Matrix<T>* states : {&cache.h, &cache.dh}) states->resize(packing.sequences(), hidden_);
  cache.h_before.resize(rows, hidden_);
  cache.gates.resize(rows, 3 * hidden_);
  cache.recurrent.resize(rows, 3 * hidden_);
  cache.bias.resize(1, 4 * hidden_);
  cell::RecurrentWeight<T>::size(rows, 3 * hidden_, hidden_, cache.weight_hh_t);
}

template <typename T>
void Gru<T>::forward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction,
                     CellOutput<T> y, CellCache<T>& cache, const Context& context) const {
  auto bias = array(cache.bias.view());
  bias.leftCols(2 * hidden_) =
      array(p[bias_ih_]).leftCols(2 * hidden_) + array(p[bias_hh_]).leftCols(2 * hidden_);
  bias.middleCols(2 * hidden_, hidden_) = array(p[bias_ih_]).rightCols(hidden_);
  bias.rightCols(hidden_) = array(p[bias_hh_]).rightCols(hidden_);
  cell::place_first(cache.h, direction, cache.h_before);
  gemm<T>(Op::none, Op::transpose, T(1), x, p[weight_ih_], T(0), cache.gates, *context.team);
  const cell::RecurrentWeight<T> weight_hh(p[weight_hh_], cache.weight_hh_t);
  for (const PackedStep& step : direction.steps) {
    weight_hh.multiply(cache.h_before.view().rows_from(step.begin, step.rows), T(0),
                       cache.recurrent.view().rows_from(step.begin, step.rows), *context.team);
    context.team->parallel_for(step.rows, cell::kRowGrain, [&](Index begin, Index end) {
      Row<T> row{.hidden = hidden_, .bias = cache.bias.data()};
      for (Index b = begin; b < end; ++b) {
        const Index r = step.begin + b;
        row.input = cache.gates.row(r);
        row.recurrent = cache.recurrent.row(r);
        row.h_before = cache.h_before.row(r);
        row.h = cell::state_after(step, b, cache.h_before, cache.h);
        row.y = y.view.empty() ? nullptr : y.row(r);
        forward_row(row);
      }
    });
  }
}

template <typename T>
void Gru<T>::backward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction,
                      CellOutput<const T> dy, CellCache<T>& cache, Gradients<T>& g,
                      const Context& context) const {
  cache.bias.fill(T(0));
  for (std::size_t s = direction.steps.size(); s-- > 0;) {
    const PackedStep& step = direction.steps[s];
    context.team->parallel_for(step.rows, cell::kRowGrain, [&](Index begin, Index end) {
      Row<T> row{.hidden = hidden_};
      for (Index b = begin; b < end; ++b) {
        const Index r = step.begin + b;
        row.input = cache.gates.row(r);
        row.recurrent = cache.recurrent.row(r);
        row.h_before = cache.h_before.row(r);
        row.dy = dy.view.empty() ? nullptr : dy.row(r);
        row.dh = cache.dh.row(b);
        backward_row(row);
      }
    });
    // While the step's gradients are in the cache; serial, so that sums do not depend on the team.
    const View<T> d_input = cache.gates.view().rows_from(step.begin, step.rows);
    const View<T> d_recurrent = cache.recurrent.view().rows_from(step.begin, step.rows);
    add_row_sums<T>(d_input, cache.bias.view().cols_from(0, 3 * hidden_));
    add_row_sums<T>(d_recurrent.cols_from(2 * hidden_, hidden_),
                    cache.bias.view().cols_from(3 * hidden_, hidden_));
    gemm<T>(Op::none, Op::none, T(1), d_recurrent, p[weight_hh_], T(1),
            cache.dh.view().rows_from(0, step.rows), *context.team);
  }
  const auto sums = array(View<const T>(cache.bias));
  if (g.wants(bias_ih_)) array(g[bias_ih_]) += sums.leftCols(3 * hidden_);
  if (g.wants(bias_hh_)) {
    array(g[bias_hh_]).leftCols(2 * hidden_) += sums.leftCols(2 * hidden_);
    array(g[bias_hh_]).rightCols(hidden_) += sums.rightCols(hidden_);
  }
  if (g.wants(weight_hh_)) {
    gemm<T>(Op::transpose, Op::none, T(1), cache.recurrent, cache.h_before, T(1), g[weight_hh_],
            *context.team);
  }
  if (g.wants(weight_ih_)) {
    gemm<T>(Op::transpose, Op::none, T(1), cache.gates, x, T(1), g[weight_ih_], *context.team);
  }
}

template <typename T>
void Gru<T>::input_gradient(const Parameters<T>& p, const CellCache<T>& cache, T beta, View<T> dx,
                            const Context& context) const {
  gemm<T>(Op::none, Op::none, T(1), cache.gates, p[weight_ih_], beta, dx, *context.team);
}

template class Gru<float>;
template class Gru<double>;

}  // namespace askbase::nn
