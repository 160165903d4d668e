#include "nn/multi_head_attention.h"

#include <cmath>
#include <stdexcept>

#include "nn/eigen.h"
#include "nn/gemm.h"

namespace askbase::nn {

namespace {

// Scratch matrices a thread: scores, and their gradient.
constexpr std::size_t kScratch = 2;

template <typename T>
void check(View<const T> q, View<const T> k, View<const T> v, const Segments& queries, const Segments& keys,
           Index d) {
  if (q.cols != d || k.cols != d || v.cols != d || q.rows != queries.total() || k.rows != keys.total() ||
      v.rows != keys.total() || queries.count() != keys.count()) {
    throw std::logic_error("nn::MultiHeadAttention: sizes do not fit");
  }
}

}  // namespace

template <typename T>
MultiHeadAttention<T>::MultiHeadAttention(Index d, Index heads, Dropout<T> dropout)
    : d_(d), heads_(heads), dropout_(dropout) {
  if (heads <= 0 || d % heads != 0)
    throw std::logic_error("nn::MultiHeadAttention: d is no multiple of heads");
}

template <typename T>
void MultiHeadAttention<T>::forward(View<const T> q, View<const T> k, View<const T> v,
                                    const Segments& queries, const Segments& keys, View<T> out, Cache& cache,
                                    const Context& context) const {
  check(q, k, v, queries, keys, d_);
  if (out.rows != q.rows || out.cols != d_)
    throw std::logic_error("nn::MultiHeadAttention: sizes do not fit");
  const Index count = queries.count(), width = d_ / heads_;
  cache.offsets.assign(1, 0);
  for (Index s = 0; s < count; ++s) {
    cache.offsets.push_back(cache.offsets.back() + heads_ * queries.length(s) * keys.length(s));
  }
  if (cache.keep_weights) cache.weights.resize(1, cache.offsets.back());
  cache.scratch.resize(
      std::max(cache.scratch.size(), kScratch * static_cast<std::size_t>(context.team->size())));
  const T scale = T(1) / std::sqrt(static_cast<T>(width));
  const bool drops = dropout_.active(context);
  const Index tasks = count * heads_, parts = std::min<Index>(context.team->size(), tasks);
  context.team->parallel_for(parts, 1, [&](Index first, Index last) {
    for (Index part = first; part < last; ++part) {
      Matrix<T>* scratch = &cache.scratch[kScratch * static_cast<std::size_t>(part)];
      for (Index task = tasks * part / parts; task < tasks * (part + 1) / parts; ++task) {
        const Index s = task / heads_, h = task % heads_, lq = queries.length(s), lk = keys.length(s);
        const View<T> y = out.rows_from(queries.begin(s), lq).cols_from(h * width, width);
        if (lq == 0) continue;
        if (lk == 0) {
          matrix(y).setZero();
          continue;
        }
        View<T> w;
        if (cache.keep_weights) {
          w = View<T>(cache.weights.data() + cache.offsets[static_cast<std::size_t>(s)] + h * lq * lk, lq,
                      lk);
        } else {
          scratch[0].resize(lq, lk);
          w = scratch[0];
        }
        const auto part_of = [&](View<const T> x, const Segments& segments) {
          return x.rows_from(segments.begin(s), segments.length(s)).cols_from(h * width, width);
        };
        gemm<T>(Op::none, Op::transpose, scale, part_of(q, queries), part_of(k, keys), T(0), w);
        View<T> kept = w;
        if (drops) {
          scratch[1].resize(lq, lk);
          kept = scratch[1];
        }
        for (Index r = 0; r < lq; ++r) {
          auto row = row_array<T>(w.row(r), lk);
          row = (row - row.maxCoeff()).exp();
          const T inverse = T(1) / row.sum();
          if (!drops) {
            row *= inverse;
            continue;
          }
          T* mask = kept.row(r);
          dropout_.mask_row((queries.begin(s) + r) * heads_ + h, mask, lk, context);
          for (Index c = 0; c < lk; ++c) {
            const T weight = w(r, c) * inverse, factor = mask[c];
            mask[c] = weight * factor;
            w(r, c) = factor > T(0) ? weight : -weight;
          }
        }
        gemm<T>(Op::none, Op::none, T(1), kept, part_of(v, keys), T(0), y);
      }
    }
  });
}

template <typename T>
void MultiHeadAttention<T>::backward(View<const T> q, View<const T> k, View<const T> v,
                                     const Segments& queries, const Segments& keys, Cache& cache,
                                     View<const T> d_out, View<T> dq, View<T> dk, View<T> dv,
                                     const Context& context) const {
  check(q, k, v, queries, keys, d_);
  if (!cache.keep_weights || static_cast<Index>(cache.offsets.size()) != queries.count() + 1) {
    throw std::logic_error("nn::MultiHeadAttention: backward without the weights of forward");
  }
  const Index count = queries.count(), width = d_ / heads_;
  const T scale = T(1) / std::sqrt(static_cast<T>(width));
  const T factor = dropout_.active(context) ? dropout_.factor() : T(1);
  const Index tasks = count * heads_, parts = std::min<Index>(context.team->size(), tasks);
  cache.scratch.resize(
      std::max(cache.scratch.size(), kScratch * static_cast<std::size_t>(context.team->size())));
  context.team->parallel_for(parts, 1, [&](Index first, Index last) {
    for (Index part = first; part < last; ++part) {
      Matrix<T>* scratch = &cache.scratch[kScratch * static_cast<std::size_t>(part)];
      for (Index task = tasks * part / parts; task < tasks * (part + 1) / parts; ++task) {
        const Index s = task / heads_, h = task % heads_, lq = queries.length(s), lk = keys.length(s);
        const auto q_part = [&](auto x) {
          return x.rows_from(queries.begin(s), lq).cols_from(h * width, width);
        };
        const auto k_part = [&](auto x) {
          return x.rows_from(keys.begin(s), lk).cols_from(h * width, width);
        };
        if (lq == 0 || lk == 0) {
          if (lq > 0) matrix(q_part(dq)).setZero();
          if (lk > 0) {
            matrix(k_part(dk)).setZero();
            matrix(k_part(dv)).setZero();
          }
          continue;
        }
        const View<const T> w(cache.weights.data() + cache.offsets[static_cast<std::size_t>(s)] + h * lq * lk,
                              lq, lk);
        scratch[0].resize(lq, lk);
        scratch[1].resize(lq, lk);
        // What multiplied v in forward.
        View<T> kept = scratch[0], ds = scratch[1];
        row_array<T>(kept.data, lq * lk) = row_array<const T>(w.data, lq * lk).max(T(0)) * factor;
        gemm<T>(Op::transpose, Op::none, T(1), kept, q_part(d_out), T(0), k_part(dv));
        gemm<T>(Op::none, Op::transpose, T(1), q_part(d_out), k_part(v), T(0), ds);
        for (Index r = 0; r < lq; ++r) {
          // With weight p, mask m, and d = d kept: dp = d m, ds = p (dp - sum p dp); p dp = kept d.
          const T* weight = w.row(r);
          const T* used = kept.row(r);
          T* d = ds.row(r);
          const T dot = (row_array<const T>(used, lk) * row_array<const T>(d, lk)).sum();
          for (Index c = 0; c < lk; ++c) d[c] = used[c] * d[c] - std::abs(weight[c]) * dot;
        }
        gemm<T>(Op::none, Op::none, scale, ds, k_part(k), T(0), q_part(dq));
        gemm<T>(Op::transpose, Op::none, scale, ds, q_part(q), T(0), k_part(dk));
      }
    }
  });
}

template <typename T>
Matrix<T> MultiHeadAttention<T>::weights(const Cache& cache, const Segments& queries, const Segments& keys,
                                         Index segment, Index head) const {
  if (!cache.keep_weights || segment < 0 || segment >= queries.count() || head < 0 || head >= heads_) {
    throw std::logic_error("nn::MultiHeadAttention: no such weights");
  }
  Matrix<T> w(queries.length(segment), keys.length(segment));
  const T* from = cache.weights.data() + cache.offsets[static_cast<std::size_t>(segment)] + head * w.size();
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = std::abs(from[i]);
  return w;
}

template class MultiHeadAttention<float>;
template class MultiHeadAttention<double>;

}  // namespace askbase::nn
