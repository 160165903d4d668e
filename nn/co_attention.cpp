#include "nn/co_attention.h"

#include <stdexcept>

#include "nn/eigen.h"
#include "nn/gemm.h"

namespace askbase::nn {

template <typename T>
CoAttention<T>::CoAttention(Parameters<T>& p, const std::string& name, Index a, Index b, Index hidden,
                            Distribution distribution, double alpha)
    : affinity_(p.add(name + ".affinity.weight", {a, b}, {.initial = Initial::xavier_uniform})),
      a_(p, name + ".a", a, hidden, false),
      b_(p, name + ".b", b, hidden, false),
      a_out_(p, name + ".a.out", hidden, 1, false),
      b_out_(p, name + ".b.out", hidden, 1, false),
      distribution_(distribution),
      alpha_(alpha) {}

template <typename T>
void CoAttention<T>::weigh(const Parameters<T>& p, const Linear<T>& out, View<const T> x,
                           const Segments& segments, const Matrix<T>& hidden, Matrix<T>& scores,
                           Matrix<T>& weights, View<T> y, const Context& context) const {
  scores.resize(x.rows, 1);
  weights.resize(x.rows, 1);
  out.forward(p, hidden, scores, context);
  for (Index i = 0; i < segments.count(); ++i) {
    const Index begin = segments.begin(i), n = segments.length(i);
    distribute<T>(distribution_, alpha_, scores.data() + begin, weights.data() + begin, n);
    gemm<T>(Op::none, Op::none, T(1), View<const T>(weights.data() + begin, 1, n), x.rows_from(begin, n),
            T(0), y.rows_from(i, 1), *context.team);
  }
}

template <typename T>
void CoAttention<T>::weigh_backward(const Parameters<T>& p, const Linear<T>& out, View<const T> x,
                                    const Segments& segments, const Matrix<T>& hidden,
                                    const Matrix<T>& weights, View<const T> dy, View<T> dx,
                                    Matrix<T>& d_scores, Matrix<T>& d_hidden, Gradients<T>& g,
                                    const Context& context) const {
  d_scores.resize(x.rows, 1);
  for (Index i = 0; i < segments.count(); ++i) {
    const Index begin = segments.begin(i), n = segments.length(i);
    gemm<T>(Op::none, Op::transpose, T(1), x.rows_from(begin, n), dy.rows_from(i, 1), T(0),
            d_scores.view().rows_from(begin, n), *context.team);
    if (!dx.empty())
      gemm<T>(Op::none, Op::none, T(1), weights.view().rows_from(begin, n), dy.rows_from(i, 1), T(1),
              dx.rows_from(begin, n), *context.team);
    T* d = d_scores.data() + begin;
    distribute_backward<T>(distribution_, alpha_, weights.data() + begin, d, d, n);
  }
  d_hidden.resize(hidden.rows(), hidden.cols());
  out.backward(p, hidden, d_scores, d_hidden, g, context);
  activate_backward<T>(Activation::tanh, {}, hidden, d_hidden, d_hidden.view(), *context.team);
}

template <typename T>
void CoAttention<T>::forward(const Parameters<T>& p, View<const T> a, const Segments& a_segments,
                             View<const T> b, const Segments& b_segments, View<T> ya, View<T> yb,
                             Cache& cache, const Context& context) const {
  if (a.rows != a_segments.total() || b.rows != b_segments.total() || ya.rows != a_segments.count() ||
      yb.rows != b_segments.count() || ya.cols != a.cols || yb.cols != b.cols) {
    throw std::logic_error("nn::CoAttention: views of the wrong shape");
  }
  cache.pairs.set(a_segments, b_segments, 1);
  const Index hidden = a_.out();
  cache.mapped.resize(a.rows, b.cols);
  cache.projected_a.resize(a.rows, hidden);
  cache.projected_b.resize(b.rows, hidden);
  gemm<T>(Op::none, Op::none, T(1), a, p[affinity_], T(0), cache.mapped, *context.team);
  a_.forward(p, a, cache.projected_a, context);
  b_.forward(p, b, cache.projected_b, context);
  cache.affinity.resize(1, cache.pairs.total());
  for (Index i = 0; i < cache.pairs.count(); ++i) {
    gemm<T>(Op::none, Op::transpose, T(1),
            cache.mapped.view().rows_from(a_segments.begin(i), a_segments.length(i)),
            b.rows_from(b_segments.begin(i), b_segments.length(i)), T(0),
            cache.pairs.block(cache.affinity.data(), i), *context.team);
  }
  activate<T>(Activation::tanh, cache.affinity, cache.affinity.view(), *context.team);
  cache.hidden_a = cache.projected_a;
  cache.hidden_b = cache.projected_b;
  for (Index i = 0; i < cache.pairs.count(); ++i) {
    const Index ab = a_segments.begin(i), an = a_segments.length(i);
    const Index bb = b_segments.begin(i), bn = b_segments.length(i);
    const View<const T> c = cache.pairs.block(cache.affinity.data(), i);
    gemm<T>(Op::none, Op::none, T(1), c, cache.projected_b.view().rows_from(bb, bn), T(1),
            cache.hidden_a.view().rows_from(ab, an), *context.team);
    gemm<T>(Op::transpose, Op::none, T(1), c, cache.projected_a.view().rows_from(ab, an), T(1),
            cache.hidden_b.view().rows_from(bb, bn), *context.team);
  }
  activate<T>(Activation::tanh, cache.hidden_a, cache.hidden_a.view(), *context.team);
  activate<T>(Activation::tanh, cache.hidden_b, cache.hidden_b.view(), *context.team);
  weigh(p, a_out_, a, a_segments, cache.hidden_a, cache.scores_a, cache.weights_a, ya, context);
  weigh(p, b_out_, b, b_segments, cache.hidden_b, cache.scores_b, cache.weights_b, yb, context);
}

template <typename T>
void CoAttention<T>::backward(const Parameters<T>& p, View<const T> a, View<const T> b, Cache& cache,
                              View<const T> dya, View<const T> dyb, View<T> da, View<T> db, Gradients<T>& g,
                              const Context& context) const {
  const Segments &a_segments = cache.pairs.queries(), &b_segments = cache.pairs.keys();
  if (!da.empty()) array(da).setZero();
  if (!db.empty()) array(db).setZero();
  weigh_backward(p, a_out_, a, a_segments, cache.hidden_a, cache.weights_a, dya, da, cache.d_scores,
                 cache.d_hidden_a, g, context);
  weigh_backward(p, b_out_, b, b_segments, cache.hidden_b, cache.weights_b, dyb, db, cache.d_scores,
                 cache.d_hidden_b, g, context);
  cache.d_projected_a = cache.d_hidden_a;
  cache.d_projected_b = cache.d_hidden_b;
  cache.d_affinity.resize(1, cache.pairs.total());
  for (Index i = 0; i < cache.pairs.count(); ++i) {
    const Index ab = a_segments.begin(i), an = a_segments.length(i);
    const Index bb = b_segments.begin(i), bn = b_segments.length(i);
    const View<const T> c = cache.pairs.block(static_cast<const T*>(cache.affinity.data()), i);
    const View<const T> dha = cache.d_hidden_a.view().rows_from(ab, an);
    const View<const T> dhb = cache.d_hidden_b.view().rows_from(bb, bn);
    const View<T> dc = cache.pairs.block(cache.d_affinity.data(), i);
    gemm<T>(Op::none, Op::transpose, T(1), dha, cache.projected_b.view().rows_from(bb, bn), T(0), dc,
            *context.team);
    gemm<T>(Op::none, Op::transpose, T(1), cache.projected_a.view().rows_from(ab, an), dhb, T(1), dc,
            *context.team);
    gemm<T>(Op::transpose, Op::none, T(1), c, dha, T(1), cache.d_projected_b.view().rows_from(bb, bn),
            *context.team);
    gemm<T>(Op::none, Op::none, T(1), c, dhb, T(1), cache.d_projected_a.view().rows_from(ab, an),
            *context.team);
  }
  activate_backward<T>(Activation::tanh, {}, cache.affinity, cache.d_affinity, cache.d_affinity.view(),
                       *context.team);
  cache.d_mapped.resize(a.rows, b.cols);
  for (Index i = 0; i < cache.pairs.count(); ++i) {
    const Index ab = a_segments.begin(i), an = a_segments.length(i);
    const Index bb = b_segments.begin(i), bn = b_segments.length(i);
    const View<const T> dc = cache.pairs.block(static_cast<const T*>(cache.d_affinity.data()), i);
    gemm<T>(Op::none, Op::none, T(1), dc, b.rows_from(bb, bn), T(0), cache.d_mapped.view().rows_from(ab, an),
            *context.team);
    if (!db.empty())
      gemm<T>(Op::transpose, Op::none, T(1), dc, cache.mapped.view().rows_from(ab, an), T(1),
              db.rows_from(bb, bn), *context.team);
  }
  if (g.wants(affinity_))
    gemm<T>(Op::transpose, Op::none, T(1), a, cache.d_mapped, T(1), g[affinity_], *context.team);
  a_.backward(p, a, cache.d_projected_a, {}, g, context);
  b_.backward(p, b, cache.d_projected_b, {}, g, context);
  if (!da.empty()) {
    gemm<T>(Op::none, Op::transpose, T(1), cache.d_mapped, p[affinity_], T(1), da, *context.team);
    gemm<T>(Op::none, Op::none, T(1), cache.d_projected_a, p[a_.weight()], T(1), da, *context.team);
  }
  if (!db.empty())
    gemm<T>(Op::none, Op::none, T(1), cache.d_projected_b, p[b_.weight()], T(1), db, *context.team);
}

template class CoAttention<float>;
template class CoAttention<double>;

}  // namespace askbase::nn
