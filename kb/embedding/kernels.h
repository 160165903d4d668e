// The arithmetic of the models, inlined into the loops of training (see model.h for the formulas). Each
// kernel has
//   query(missing, anchor, relation, q)                      where the missing entity should be
//   add_query_gradient(missing, anchor, relation, q, dq, d_anchor, d_relation)
//   project(relation, candidate, p), add_project_gradient(relation, candidate, dp, d_candidate, d_relation)
//   compare(q, p), add_compare_gradient(q, p, score, weight, dq, dp)
// Row pointers are padded to groups; gradients are added to. For internal use.
#pragma once

#include <cmath>
#include <stdexcept>
#include <utility>

#include "kb/embedding/lanes.h"
#include "kb/embedding/model.h"

namespace askbase::kb::embedding {

template <typename T>
struct DotCompare {
  static constexpr Comparison comparison = Comparison::dot;
  static T compare(const T* q, const T* p, Index n) { return dot(q, p, n); }
  static void add_gradient(const T* q, const T* p, T, T weight, T* dq, T* dp, Index n) {
    for (Index i = 0; i < n; i += kGroup) {
      store(dq + i, load(dq + i) + weight * load(p + i));
      store(dp + i, load(dp + i) + weight * load(q + i));
    }
  }
};

template <typename T>
struct L1Compare {
  static constexpr Comparison comparison = Comparison::l1;
  static T compare(const T* q, const T* p, Index n) {
    return -sum_groups<T>(n, [&](Index i) { return absolute<T>(load(q + i) - load(p + i)); });
  }
  static void add_gradient(const T* q, const T* p, T, T weight, T* dq, T* dp, Index n) {
    for (Index i = 0; i < n; i += kGroup) {
      const Vector<T> g = weight * sign_of<T>(load(q + i) - load(p + i));
      store<T>(dq + i, load(dq + i) - g);
      store<T>(dp + i, load(dp + i) + g);
    }
  }
};

template <typename T>
struct L2Compare {
  static constexpr Comparison comparison = Comparison::l2;
  static T compare(const T* q, const T* p, Index n) {
    return -std::sqrt(sum_groups<T>(n, [&](Index i) {
      const Vector<T> e = load(q + i) - load(p + i);
      return e * e;
    }));
  }
  static void add_gradient(const T* q, const T* p, T score, T weight, T* dq, T* dp, Index n) {
    if (score == T(0)) return;
    const T scale = weight / -score;
    for (Index i = 0; i < n; i += kGroup) {
      const Vector<T> g = scale * (load(q + i) - load(p + i));
      store<T>(dq + i, load(dq + i) - g);
      store<T>(dp + i, load(dp + i) + g);
    }
  }
};

template <typename T>
inline Vector<T> square_root(const Vector<T>& v) {
  Vector<T> root{};
  for (Index k = 0; k < kGroup; ++k) root[k] = std::sqrt(v[k]);
  return root;
}

template <typename T>
struct ModuliCompare {
  static constexpr Comparison comparison = Comparison::moduli;
  static T compare(const T* q, const T* p, Index n) {
    const Index half = n / 2;
    return -sum_groups<T>(half, [&](Index i) {
      const Vector<T> re = load(q + i) - load(p + i), im = load(q + half + i) - load(p + half + i);
      return square_root<T>(re * re + im * im);
    });
  }
  static void add_gradient(const T* q, const T* p, T, T weight, T* dq, T* dp, Index n) {
    const Index half = n / 2;
    for (Index i = 0; i < half; i += kGroup) {
      const Vector<T> re = load(q + i) - load(p + i), im = load(q + half + i) - load(p + half + i);
      const Vector<T> modulus = square_root<T>(re * re + im * im);
      const Vector<T> zero{};
      const Vector<T> scale = modulus > 0 ? weight / modulus : zero;
      store<T>(dq + i, load(dq + i) - scale * re);
      store<T>(dp + i, load(dp + i) + scale * re);
      store<T>(dq + half + i, load(dq + half + i) - scale * im);
      store<T>(dp + half + i, load(dp + half + i) + scale * im);
    }
  }
};

// Sizes and comparison, and candidates that are taken as they are.
template <typename T, typename Compare>
struct PlainKernel {
  static constexpr bool projects = false;
  static constexpr Comparison comparison = Compare::comparison;
  Index width = 0;  // of a padded row of entities
  Index query_width() const { return width; }
  void constrain_relation(T*) const {}
  T compare(const T* q, const T* p) const { return Compare::compare(q, p, width); }
  void add_compare_gradient(const T* q, const T* p, T score, T weight, T* dq, T* dp) const {
    Compare::add_gradient(q, p, score, weight, dq, dp, width);
  }
};

template <typename T, typename Compare>
struct TransEKernel : PlainKernel<T, Compare> {
  using PlainKernel<T, Compare>::width;
  explicit TransEKernel(const ModelConfig& config) { width = round_up(config.dim, kGroup); }
  Index relation_width() const { return width; }
  void query(Side missing, const T* anchor, const T* r, T* q) const {
    const T sign = missing == Side::tail ? T(1) : T(-1);
    for (Index i = 0; i < width; i += kGroup) store<T>(q + i, load(anchor + i) + sign * load(r + i));
  }
  void add_query_gradient(Side missing, const T*, const T*, const T*, const T* dq, T* da, T* dr) const {
    add_scaled(da, T(1), dq, width);
    add_scaled(dr, missing == Side::tail ? T(1) : T(-1), dq, width);
  }
};

template <typename T>
struct DistMultKernel : PlainKernel<T, DotCompare<T>> {
  using PlainKernel<T, DotCompare<T>>::width;
  explicit DistMultKernel(const ModelConfig& config) { width = round_up(config.dim, kGroup); }
  Index relation_width() const { return width; }
  void query(Side, const T* anchor, const T* r, T* q) const {
    for (Index i = 0; i < width; i += kGroup) store<T>(q + i, load(anchor + i) * load(r + i));
  }
  void add_query_gradient(Side, const T* anchor, const T* r, const T*, const T* dq, T* da, T* dr) const {
    for (Index i = 0; i < width; i += kGroup) {
      store<T>(da + i, load(da + i) + load(dq + i) * load(r + i));
      store<T>(dr + i, load(dr + i) + load(dq + i) * load(anchor + i));
    }
  }
};

template <typename T>
struct ComplExKernel : PlainKernel<T, DotCompare<T>> {
  using PlainKernel<T, DotCompare<T>>::width;
  explicit ComplExKernel(const ModelConfig& config) { width = 2 * round_up(config.dim / 2, kGroup); }
  Index relation_width() const { return width; }
  // As a sum over the missing end: tail a r, head conj(r) a (conjugated scores have the same real part).
  void query(Side missing, const T* a, const T* r, T* q) const {
    const Index half = width / 2;
    const T s = missing == Side::tail ? T(1) : T(-1);
    for (Index i = 0; i < half; i += kGroup) {
      const Vector<T> ar = load(a + i), ai = load(a + half + i), rr = load(r + i),
                      ri = s * load(r + half + i);
      store<T>(q + i, ar * rr - ai * ri);
      store<T>(q + half + i, ar * ri + ai * rr);
    }
  }
  void add_query_gradient(Side missing, const T* a, const T* r, const T*, const T* dq, T* da, T* dr) const {
    const Index half = width / 2;
    const T s = missing == Side::tail ? T(1) : T(-1);
    for (Index i = 0; i < half; i += kGroup) {
      const Vector<T> ar = load(a + i), ai = load(a + half + i), rr = load(r + i),
                      ri = s * load(r + half + i);
      const Vector<T> gr = load(dq + i), gi = load(dq + half + i);
      store<T>(da + i, load(da + i) + gr * rr + gi * ri);
      store<T>(da + half + i, load(da + half + i) + gi * rr - gr * ri);
      store<T>(dr + i, load(dr + i) + gr * ar + gi * ai);
      store<T>(dr + half + i, load(dr + half + i) + s * (gi * ar - gr * ai));
    }
  }
};

template <typename T, typename Compare>
struct RotatEKernel : PlainKernel<T, Compare> {
  using PlainKernel<T, Compare>::width;
  explicit RotatEKernel(const ModelConfig& config) { width = 2 * round_up(config.dim / 2, kGroup); }
  Index relation_width() const { return width / 2; }
  void query(Side missing, const T* a, const T* r, T* q) const {
    const Index half = width / 2;
    const T s = missing == Side::tail ? T(1) : T(-1);
    for (Index i = 0; i < half; ++i) {
      const T c = std::cos(r[i]), n = s * std::sin(r[i]);
      q[i] = a[i] * c - a[half + i] * n;
      q[half + i] = a[i] * n + a[half + i] * c;
    }
  }
  void add_query_gradient(Side missing, const T*, const T* r, const T* q, const T* dq, T* da, T* dr) const {
    const Index half = width / 2;
    const T s = missing == Side::tail ? T(1) : T(-1);
    for (Index i = 0; i < half; ++i) {
      const T c = std::cos(r[i]), n = s * std::sin(r[i]), gr = dq[i], gi = dq[half + i];
      da[i] += gr * c + gi * n;
      da[half + i] += gi * c - gr * n;
      dr[i] += s * (gi * q[i] - gr * q[half + i]);
    }
  }
};

// Relation row: d, then w.
template <typename T, typename Compare>
struct TransHKernel {
  static constexpr bool projects = true;
  static constexpr Comparison comparison = Compare::comparison;
  Index width = 0;
  explicit TransHKernel(const ModelConfig& config) : width(round_up(config.dim, kGroup)) {}
  Index query_width() const { return width; }
  Index relation_width() const { return 2 * width; }
  void constrain_relation(T* r) const {
    T* w = r + width;
    const T length = std::sqrt(squares(w, width));
    if (std::abs(length - T(1)) < T(1e-6)) return;  // as near as float gets
    if (length > T(0)) {
      for (Index i = 0; i < width; ++i) w[i] /= length;
    } else {
      w[0] = T(1);
    }
  }
  T compare(const T* q, const T* p) const { return Compare::compare(q, p, width); }
  void add_compare_gradient(const T* q, const T* p, T score, T weight, T* dq, T* dp) const {
    Compare::add_gradient(q, p, score, weight, dq, dp, width);
  }
  void project(const T* r, const T* c, T* p) const {
    const T* w = r + width;
    const T along = dot(w, c, width);
    for (Index i = 0; i < width; i += kGroup) store<T>(p + i, load(c + i) - along * load(w + i));
  }
  void add_project_gradient(const T* r, const T* c, const T* dp, T* dc, T* dr) const {
    const T* w = r + width;
    T* dw = dr + width;
    const T along = dot(w, c, width), across = dot(w, dp, width);
    for (Index i = 0; i < width; i += kGroup) {
      store<T>(dc + i, load(dc + i) + load(dp + i) - across * load(w + i));
      store<T>(dw + i, load(dw + i) - along * load(dp + i) - across * load(c + i));
    }
  }
  void query(Side missing, const T* anchor, const T* r, T* q) const {
    project(r, anchor, q);
    add_scaled(q, missing == Side::tail ? T(1) : T(-1), r, width);
  }
  void add_query_gradient(Side missing, const T* anchor, const T* r, const T*, const T* dq, T* da,
                          T* dr) const {
    add_project_gradient(r, anchor, dq, da, dr);
    add_scaled(dr, missing == Side::tail ? T(1) : T(-1), dq, width);
  }
};

// Relation row: r, then M by rows, each as wide as an entity.
template <typename T, typename Compare>
struct TransRKernel {
  static constexpr bool projects = true;
  static constexpr Comparison comparison = Compare::comparison;
  Index width = 0, space = 0;  // padded
  explicit TransRKernel(const ModelConfig& config)
      : width(round_up(config.dim, kGroup)),
        space(round_up(config.relation_dim > 0 ? config.relation_dim : config.dim, kGroup)) {}
  Index query_width() const { return space; }
  Index relation_width() const { return space + space * width; }
  void constrain_relation(T*) const {}
  T compare(const T* q, const T* p) const { return Compare::compare(q, p, space); }
  void add_compare_gradient(const T* q, const T* p, T score, T weight, T* dq, T* dp) const {
    Compare::add_gradient(q, p, score, weight, dq, dp, space);
  }
  void project(const T* r, const T* c, T* p) const {
    for (Index k = 0; k < space; ++k) p[k] = dot(r + space + k * width, c, width);
  }
  void add_project_gradient(const T* r, const T* c, const T* dp, T* dc, T* dr) const {
    for (Index k = 0; k < space; ++k) {
      if (dp[k] == T(0)) continue;
      add_scaled(dc, dp[k], r + space + k * width, width);
      add_scaled(dr + space + k * width, dp[k], c, width);
    }
  }
  void query(Side missing, const T* anchor, const T* r, T* q) const {
    project(r, anchor, q);
    add_scaled(q, missing == Side::tail ? T(1) : T(-1), r, space);
  }
  void add_query_gradient(Side missing, const T* anchor, const T* r, const T*, const T* dq, T* da,
                          T* dr) const {
    add_project_gradient(r, anchor, dq, da, dr);
    add_scaled(dr, missing == Side::tail ? T(1) : T(-1), dq, space);
  }
};

// Calls use(kernel) with the kernel of the configuration.
template <typename T, typename Use>
auto with_kernel(const ModelConfig& config, Use&& use) {
  const bool l1 = config.norm == Norm::l1;
  switch (config.kind) {
    case ModelKind::transe:
      return l1 ? use(TransEKernel<T, L1Compare<T>>(config)) : use(TransEKernel<T, L2Compare<T>>(config));
    case ModelKind::transh:
      return l1 ? use(TransHKernel<T, L1Compare<T>>(config)) : use(TransHKernel<T, L2Compare<T>>(config));
    case ModelKind::transr:
      return l1 ? use(TransRKernel<T, L1Compare<T>>(config)) : use(TransRKernel<T, L2Compare<T>>(config));
    case ModelKind::rotate:
      return l1 ? use(RotatEKernel<T, ModuliCompare<T>>(config)) : use(RotatEKernel<T, L2Compare<T>>(config));
    case ModelKind::distmult:
      return use(DistMultKernel<T>(config));
    case ModelKind::complex:
      return use(ComplExKernel<T>(config));
  }
  throw std::logic_error("kb::embedding: no such model");
}

}  // namespace askbase::kb::embedding
