#include "nn/lstm.h"

#include "nn/cell_math.h"
#include "nn/linear.h"

namespace askbase::nn {

using cell::load;
using cell::Pack;
using cell::store;

namespace {

// One sequence in one step. Every pointer is to H numbers, z and bias to G*H.
template <typename T>
struct Row {
  Index hidden = 0;
  T* z = nullptr;
  const T* bias = nullptr;
  const T *peephole_i = nullptr, *peephole_f = nullptr, *peephole_o = nullptr;
  const T* c_before = nullptr;
  T *c = nullptr, *c_tanh = nullptr;
  T *h = nullptr, *y = nullptr;    // forward; y may be null
  const T* dy = nullptr;           // backward; may be null
  T *dh = nullptr, *dc = nullptr;  // backward
};

template <bool peepholes, bool coupled, typename T>
void forward_row(const Row<T>& row) {
  const Index hidden = row.hidden, f_at = coupled ? 0 : hidden, g_at = f_at + hidden, o_at = g_at + hidden;
  cell::pieces(hidden, [&](Index at, auto n) {
    const auto before_gate = [&](Index gate) -> Pack<T> {
      return load(row.z + gate + at, n) + load(row.bias + gate + at, n);
    };
    const Pack<T> c_before = load(row.c_before + at, n);
    Pack<T> f = before_gate(f_at);
    if constexpr (peepholes) f += load(row.peephole_f + at, n) * c_before;
    f = cell::sigmoid<T>(f);
    store<T>(f, row.z + f_at + at, n);
    Pack<T> i;
    if constexpr (coupled) {
      i = T(1) - f;
    } else {
      i = before_gate(0);
      if constexpr (peepholes) i += load(row.peephole_i + at, n) * c_before;
      i = cell::sigmoid<T>(i);
      store<T>(i, row.z + at, n);
    }
    const Pack<T> g = cell::tanh<T>(before_gate(g_at));
    store<T>(g, row.z + g_at + at, n);
    const Pack<T> c = f * c_before + i * g;
    store<T>(c, row.c + at, n);
    Pack<T> o = before_gate(o_at);
    if constexpr (peepholes) o += load(row.peephole_o + at, n) * c;
    o = cell::sigmoid<T>(o);
    store<T>(o, row.z + o_at + at, n);
    const Pack<T> c_tanh = cell::tanh<T>(c);
    store<T>(c_tanh, row.c_tanh + at, n);
    const Pack<T> h = o * c_tanh;
    store<T>(h, row.h + at, n);
    if (row.y != nullptr) store<T>(h, row.y + at, n);
  });
}

template <bool peepholes, bool coupled, typename T>
void backward_row(const Row<T>& row) {
  const Index hidden = row.hidden, f_at = coupled ? 0 : hidden, g_at = f_at + hidden, o_at = g_at + hidden;
  cell::pieces(hidden, [&](Index at, auto n) {
    const Pack<T> f = load(row.z + f_at + at, n), g = load(row.z + g_at + at, n),
                  o = load(row.z + o_at + at, n), c_tanh = load(row.c_tanh + at, n),
                  c_before = load(row.c_before + at, n);
    Pack<T> dh = load(row.dh + at, n);
    if (row.dy != nullptr) dh += load(row.dy + at, n);
    const Pack<T> dz_o = dh * c_tanh * o * (T(1) - o);
    Pack<T> dc = load(row.dc + at, n) + dh * o * (T(1) - c_tanh * c_tanh);
    if constexpr (peepholes) dc += dz_o * load(row.peephole_o + at, n);
    Pack<T> dc_before = dc * f;
    Pack<T> i, df;
    if constexpr (coupled) {
      i = T(1) - f;
      df = dc * (c_before - g);
    } else {
      i = load(row.z + at, n);
      df = dc * c_before;
      const Pack<T> dz_i = dc * g * i * (T(1) - i);
      if constexpr (peepholes) dc_before += dz_i * load(row.peephole_i + at, n);
      store<T>(dz_i, row.z + at, n);
    }
    const Pack<T> dz_f = df * f * (T(1) - f), dz_g = dc * i * (T(1) - g * g);
    if constexpr (peepholes) dc_before += dz_f * load(row.peephole_f + at, n);
    store<T>(dz_f, row.z + f_at + at, n);
    store<T>(dz_g, row.z + g_at + at, n);
    store<T>(dz_o, row.z + o_at + at, n);
    store<T>(dc_before, row.dc + at, n);
  });
}

template <typename T>
using RowFunction = void (*)(const Row<T>&);

template <typename T>
RowFunction<T> choose(const LstmOptions& options, bool backward) {
  const auto pick = [&](RowFunction<T> forward_one, RowFunction<T> backward_one) {
    return backward ? backward_one : forward_one;
  };
  if (options.peepholes && options.coupled)
    return pick(forward_row<true, true, T>, backward_row<true, true, T>);
  if (options.peepholes) return pick(forward_row<true, false, T>, backward_row<true, false, T>);
  if (options.coupled) return pick(forward_row<false, true, T>, backward_row<false, true, T>);
  return pick(forward_row<false, false, T>, backward_row<false, false, T>);
}

// sum(0, :) += sum over the rows of a * b, columns [from, from + H) of a.
template <typename T>
void add_products(View<const T> a, Index from, const CellCache<T>& cache, const PackedStep& step, bool after,
                  View<T> sum) {
  for (Index b = 0; b < step.rows; ++b) {
    const T* c = !after               ? cache.c_before.row(step.begin + b)
                 : b < step.next_rows ? cache.c_before.row(step.next_begin + b)
                                      : cache.c.row(b);
    array(sum) += array(a.rows_from(b, 1).cols_from(from, sum.cols)) * array(View<const T>(c, 1, sum.cols));
  }
}

}  // namespace

template <typename T>
Lstm<T>::Lstm(Parameters<T>& p, const std::string& prefix, const std::string& suffix, Index in, Index hidden,
              LstmOptions options)
    : in_(in), hidden_(hidden), options_(options) {
  // PyTorch's first values: all of them U(-1/sqrt(H), 1/sqrt(H)).
  const ParameterOptions weight{.fan_in = hidden}, vector{.fan_in = hidden, .decay = false};
  const Index all = gates() * hidden;
  weight_ih_ = p.add(prefix + "weight_ih" + suffix, {all, in}, weight);
  weight_hh_ = p.add(prefix + "weight_hh" + suffix, {all, hidden}, weight);
  bias_ih_ = p.add(prefix + "bias_ih" + suffix, {all}, vector);
  bias_hh_ = p.add(prefix + "bias_hh" + suffix, {all}, vector);
  if (!options.peepholes) return;
  if (!options.coupled) peephole_i_ = p.add(prefix + "peephole_i" + suffix, {hidden}, vector);
  peephole_f_ = p.add(prefix + "peephole_f" + suffix, {hidden}, vector);
  peephole_o_ = p.add(prefix + "peephole_o" + suffix, {hidden}, vector);
}

template <typename T>
void Lstm<T>::set_forget_bias(Parameters<T>& p, T value) const {
  const Index at = options_.coupled ? 0 : hidden_;
  array(p.mutable_view(bias_ih_).cols_from(at, hidden_)).setConstant(value);
  array(p.mutable_view(bias_hh_).cols_from(at, hidden_)).setZero();
}

template <typename T>
void Lstm<T>::size_cache(const Packing& packing, CellCache<T>& cache) const {
  const Index rows = packing.rows(), all = gates() * hidden_;
  for (Matrix<T>* states : {&cache.h, &cache.c, &cache.dh, &cache.dc})
    states->resize(packing.sequences(), hidden_);
  for (Matrix<T>* states : {&cache.h_before, &cache.c_before, &cache.c_tanh}) states->resize(rows, hidden_);
  cache.gates.resize(rows, all);
  cache.bias.resize(1, all);
  cell::RecurrentWeight<T>::size(rows, all, hidden_, cache.weight_hh_t);
}

template <typename T>
void Lstm<T>::forward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction,
                      CellOutput<T> y, CellCache<T>& cache, const Context& context) const {
  array(cache.bias.view()) = array(p[bias_ih_]) + array(p[bias_hh_]);
  cell::place_first(cache.h, direction, cache.h_before);
  cell::place_first(cache.c, direction, cache.c_before);
  gemm<T>(Op::none, Op::transpose, T(1), x, p[weight_ih_], T(0), cache.gates, *context.team);
  const cell::RecurrentWeight<T> weight_hh(p[weight_hh_], cache.weight_hh_t);
  const RowFunction<T> row_function = choose<T>(options_, false);
  for (const PackedStep& step : direction.steps) {
    weight_hh.multiply(cache.h_before.view().rows_from(step.begin, step.rows), T(1),
                       cache.gates.view().rows_from(step.begin, step.rows), *context.team);
    context.team->parallel_for(step.rows, cell::kRowGrain, [&](Index begin, Index end) {
      Row<T> row{.hidden = hidden_, .bias = cache.bias.data()};
      if (options_.peepholes) {
        row.peephole_i = options_.coupled ? nullptr : p[peephole_i_].data;
        row.peephole_f = p[peephole_f_].data;
        row.peephole_o = p[peephole_o_].data;
      }
      for (Index b = begin; b < end; ++b) {
        const Index r = step.begin + b;
        row.z = cache.gates.row(r);
        row.c_before = cache.c_before.row(r);
        row.c_tanh = cache.c_tanh.row(r);
        row.c = cell::state_after(step, b, cache.c_before, cache.c);
        row.h = cell::state_after(step, b, cache.h_before, cache.h);
        row.y = y.view.empty() ? nullptr : y.row(r);
        row_function(row);
      }
    });
  }
}

template <typename T>
void Lstm<T>::backward(const Parameters<T>& p, View<const T> x, const PackedDirection& direction,
                       CellOutput<const T> dy, CellCache<T>& cache, Gradients<T>& g,
                       const Context& context) const {
  cache.bias.fill(T(0));
  const RowFunction<T> row_function = choose<T>(options_, true);
  for (std::size_t s = direction.steps.size(); s-- > 0;) {
    const PackedStep& step = direction.steps[s];
    context.team->parallel_for(step.rows, cell::kRowGrain, [&](Index begin, Index end) {
      Row<T> row{.hidden = hidden_};
      if (options_.peepholes) {
        row.peephole_i = options_.coupled ? nullptr : p[peephole_i_].data;
        row.peephole_f = p[peephole_f_].data;
        row.peephole_o = p[peephole_o_].data;
      }
      for (Index b = begin; b < end; ++b) {
        const Index r = step.begin + b;
        row.z = cache.gates.row(r);
        row.c_before = cache.c_before.row(r);
        row.c_tanh = cache.c_tanh.row(r);
        row.dy = dy.view.empty() ? nullptr : dy.row(r);
        row.dh = cache.dh.row(b);
        row.dc = cache.dc.row(b);
        row_function(row);
      }
    });
    // While the step's gradients are in the cache; serial, so that sums do not depend on the team.
    const View<const T> dz = cache.gates.view().rows_from(step.begin, step.rows);
    add_row_sums<T>(dz, cache.bias);
    if (options_.peepholes) {
      if (!options_.coupled && g.wants(peephole_i_))
        add_products<T>(dz, 0, cache, step, false, g[peephole_i_]);
      if (g.wants(peephole_f_))
        add_products<T>(dz, options_.coupled ? 0 : hidden_, cache, step, false, g[peephole_f_]);
      if (g.wants(peephole_o_))
        add_products<T>(dz, (gates() - 1) * hidden_, cache, step, true, g[peephole_o_]);
    }
    gemm<T>(Op::none, Op::none, T(1), dz, p[weight_hh_], T(0), cache.dh.view().rows_from(0, step.rows),
            *context.team);
  }
  for (const ParameterId bias : {bias_ih_, bias_hh_}) {
    if (g.wants(bias)) array(g[bias]) += array(View<const T>(cache.bias));
  }
  if (g.wants(weight_hh_)) {
    gemm<T>(Op::transpose, Op::none, T(1), cache.gates, cache.h_before, T(1), g[weight_hh_], *context.team);
  }
  if (g.wants(weight_ih_)) {
    gemm<T>(Op::transpose, Op::none, T(1), cache.gates, x, T(1), g[weight_ih_], *context.team);
  }
}

template <typename T>
void Lstm<T>::input_gradient(const Parameters<T>& p, const CellCache<T>& cache, T beta, View<T> dx,
                             const Context& context) const {
  gemm<T>(Op::none, Op::none, T(1), cache.gates, p[weight_ih_], beta, dx, *context.team);
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace askbase::nn
