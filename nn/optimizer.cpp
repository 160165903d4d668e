#include "nn/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace askbase::nn {

namespace {

constexpr Index kGrain = 1 << 15;  // elements worth another thread
constexpr Index kChunk = 1 << 14;  // elements of one partial sum: fixes the order of summation

constexpr std::array<std::pair<OptimizerKind, std::string_view>, 4> kNames{
    {{OptimizerKind::sgd, "sgd"},
     {OptimizerKind::adagrad, "adagrad"},
     {OptimizerKind::adam, "adam"},
     {OptimizerKind::adamw, "adamw"}}};

bool is_adam(OptimizerKind kind) { return kind == OptimizerKind::adam || kind == OptimizerKind::adamw; }

// Eight partial sums: the compiler may use vectors, and the order stays fixed.
template <typename T>
double sum_of_squares(const T* x, Index n) {
  double part[8] = {};
  Index k = 0;
  for (; k + 8 <= n; k += 8) {
    for (int j = 0; j < 8; ++j) part[j] += static_cast<double>(x[k + j]) * static_cast<double>(x[k + j]);
  }
  for (; k < n; ++k) part[0] += static_cast<double>(x[k]) * static_cast<double>(x[k]);
  double sum = 0;
  for (const double p : part) sum += p;
  return sum;
}

// visit(begin, count) -> double over fixed chunks of [0, n), shared between threads; the sum in chunk order.
template <typename Visit>
double sum_over_chunks(Index n, Team& team, Visit&& visit) {
  const Index chunks = (n + kChunk - 1) / kChunk;
  std::vector<double> partial(static_cast<std::size_t>(chunks));
  team.parallel_for(chunks, kGrain / kChunk, [&](Index begin, Index end) {
    for (Index c = begin; c < end; ++c) {
      partial[static_cast<std::size_t>(c)] = visit(c * kChunk, std::min(kChunk, n - c * kChunk));
    }
  });
  double sum = 0;
  for (const double value : partial) sum += value;
  return sum;
}

}  // namespace

std::optional<OptimizerKind> optimizer_by_name(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::string_view optimizer_name(OptimizerKind kind) { return kNames[static_cast<std::size_t>(kind)].second; }

// The numbers of one update of one parameter, and its loop over elements that lie one after the other.
template <typename T>
struct Optimizer<T>::Update {
  OptimizerKind kind;
  T rate, scale, decay;  // decay: added to the gradient as decay * w
  T keep;                // what AdamW leaves of a weight: 1 - rate * weight_decay
  T momentum, epsilon;
  T beta1, rest1, beta2, rest2;
  T step, root;  // rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t)

  void operator()(T* __restrict w, const T* __restrict g, T* __restrict first, T* __restrict second,
                  Index n) const {
    const Update u = *this;  // in registers: the compiler need not fear that w points here
    switch (u.kind) {
      case OptimizerKind::sgd:
        if (first == nullptr) {
          for (Index i = 0; i < n; ++i) w[i] -= u.rate * (u.scale * g[i] + u.decay * w[i]);
        } else {
          for (Index i = 0; i < n; ++i) {
            first[i] = u.momentum * first[i] + (u.scale * g[i] + u.decay * w[i]);
            w[i] -= u.rate * first[i];
          }
        }
        break;
      case OptimizerKind::adagrad:
        for (Index i = 0; i < n; ++i) {
          const T d = u.scale * g[i] + u.decay * w[i];
          second[i] += d * d;
          w[i] -= u.rate * d / (std::sqrt(second[i]) + u.epsilon);
        }
        break;
      case OptimizerKind::adam:
      case OptimizerKind::adamw:
        for (Index i = 0; i < n; ++i) {
          const T d = u.scale * g[i] + u.decay * w[i];
          first[i] = u.beta1 * first[i] + u.rest1 * d;
          second[i] = u.beta2 * second[i] + u.rest2 * d * d;
          w[i] = u.keep * w[i] - u.step * first[i] / (std::sqrt(second[i]) * u.root + u.epsilon);
        }
        break;
    }
  }
};

template <typename T>
Optimizer<T>::Optimizer(const Parameters<T>& p, OptimizerConfig config) : config_(std::move(config)) {
  const OptimizerConfig& c = config_;
  const auto is_share = [](double x) { return x >= 0 && x < 1; };
  if (!is_share(c.momentum) || !is_share(c.beta1) || !is_share(c.beta2) || !(c.epsilon >= 0) ||
      !(c.weight_decay >= 0)) {
    throw std::logic_error(
        "nn::Optimizer: a momentum or beta outside [0, 1), or a negative epsilon or decay");
  }
  const auto n = static_cast<std::size_t>(p.count());
  factors_.assign(n, 1.0);
  first_.resize(n);
  second_.resize(n);
  const bool has_first = is_adam(c.kind) || (c.kind == OptimizerKind::sgd && c.momentum > 0);
  const bool has_second = c.kind != OptimizerKind::sgd;
  for (ParameterId id = 0; id < p.count(); ++id) {
    const auto i = static_cast<std::size_t>(id);
    std::size_t longest = 0;
    for (const RateFactor& factor : c.rate_factors) {
      if (!p.name(id).starts_with(factor.prefix) || factor.prefix.size() < longest) continue;
      longest = factor.prefix.size();
      factors_[i] = factor.factor;
    }
    if (p.options(id).frozen) continue;
    if (has_first) first_[i] = Matrix<T>(p[id].rows, p[id].cols);
    if (has_second) second_[i] = Matrix<T>(p[id].rows, p[id].cols);
  }
}

template <typename T>
void Optimizer<T>::step(Parameters<T>& p, const Gradients<T>& g, double learning_rate, double scale,
                        Team& team) {
  if (static_cast<std::size_t>(p.count()) != factors_.size() || g.count() != p.count()) {
    throw std::logic_error("nn::Optimizer: parameters of another model");
  }
  ++steps_;
  const auto t = static_cast<double>(steps_);
  for (ParameterId id = 0; id < p.count(); ++id) {
    const auto i = static_cast<std::size_t>(id);
    if (p.options(id).frozen || !g.wants(id)) continue;
    const double rate = learning_rate * factors_[i];
    const double decay = p.options(id).decay ? config_.weight_decay : 0.0;
    const bool apart = config_.kind == OptimizerKind::adamw;
    const Update update{.kind = config_.kind,
                        .rate = static_cast<T>(rate),
                        .scale = static_cast<T>(scale),
                        .decay = static_cast<T>(apart ? 0.0 : decay),
                        .keep = static_cast<T>(apart ? 1.0 - rate * decay : 1.0),
                        .momentum = static_cast<T>(config_.momentum),
                        .epsilon = static_cast<T>(config_.epsilon),
                        .beta1 = static_cast<T>(config_.beta1),
                        .rest1 = static_cast<T>(1.0 - config_.beta1),
                        .beta2 = static_cast<T>(config_.beta2),
                        .rest2 = static_cast<T>(1.0 - config_.beta2),
                        .step = static_cast<T>(rate / (1.0 - std::pow(config_.beta1, t))),
                        .root = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(config_.beta2, t)))};
    T* w = p.mutable_view(id).data;
    T* first = first_[i].data();
    T* second = second_[i].data();
    const auto at = [](T* base, Index offset) { return base == nullptr ? nullptr : base + offset; };
    if (!g.is_sparse(id)) {
      const T* gradient = g[id].data;
      team.parallel_for(p[id].size(), kGrain, [&](Index begin, Index end) {
        update(w + begin, gradient + begin, at(first, begin), at(second, begin), end - begin);
      });
      continue;
    }
    const SparseRows<T>& rows = g.sparse(id);
    const Index cols = rows.cols();
    team.parallel_for(rows.count(), kGrain / std::max<Index>(1, cols) + 1, [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        const Index offset = rows.table_row(r) * cols;
        update(w + offset, rows.values(r), at(first, offset), at(second, offset), cols);
      }
    });
  }
}

template <typename T>
std::vector<NamedView<T>> Optimizer<T>::state(const Parameters<T>& p) {
  const bool sgd = config_.kind == OptimizerKind::sgd, adagrad = config_.kind == OptimizerKind::adagrad;
  std::vector<NamedView<T>> views;
  for (ParameterId id = 0; id < p.count(); ++id) {
    const auto i = static_cast<std::size_t>(id);
    if (first_[i].size() > 0) {
      views.push_back({p.name(id) + (sgd ? ".momentum_buffer" : ".exp_avg"), first_[i].view()});
    }
    if (second_[i].size() > 0) {
      views.push_back({p.name(id) + (adagrad ? ".sum" : ".exp_avg_sq"), second_[i].view()});
    }
  }
  return views;
}

template <typename T>
double sum_gradients(std::span<Gradients<T>> workers, Team& team) {
  if (workers.empty()) throw std::logic_error("nn::sum_gradients: no worker");
  Gradients<T>& total = workers[0];
  double sum = 0;
  for (ParameterId id = 0; id < total.count(); ++id) {
    if (!total.wants(id)) continue;
    if (!total.is_sparse(id)) {
      const View<T> to = total[id];
      sum += sum_over_chunks(to.size(), team, [&](Index begin, Index n) {
        T* __restrict out = to.data + begin;
        for (std::size_t k = 1; k < workers.size(); ++k) {
          const T* __restrict in = workers[k][id].data + begin;
          for (Index i = 0; i < n; ++i) out[i] += in[i];
        }
        return sum_of_squares(out, n);
      });
      continue;
    }
    SparseRows<T>& to = total.sparse(id);
    for (std::size_t k = 1; k < workers.size(); ++k) {
      const SparseRows<T>& from = workers[k].sparse(id);
      for (Index r = 0; r < from.count(); ++r) {
        T* out = to.row(from.table_row(r));
        for (Index c = 0; c < from.cols(); ++c) out[c] += from.values(r)[c];
      }
    }
    to.sort();
    for (Index r = 0; r < to.count(); ++r) sum += sum_of_squares(to.values(r), to.cols());
  }
  return sum;
}

template <typename T>
double gradient_norm(const Gradients<T>& g, Team& team) {
  double sum = 0;
  for (ParameterId id = 0; id < g.count(); ++id) {
    if (!g.wants(id)) continue;
    if (g.is_sparse(id)) {
      const SparseRows<T>& rows = g.sparse(id);
      for (Index r = 0; r < rows.count(); ++r) sum += sum_of_squares(rows.values(r), rows.cols());
    } else {
      const View<const T> values = g[id];
      sum += sum_over_chunks(values.size(), team,
                             [&](Index begin, Index n) { return sum_of_squares(values.data + begin, n); });
    }
  }
  return std::sqrt(sum);
}

double clip_factor(double norm, double max_norm) {
  return max_norm > 0 && std::isfinite(norm) ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
}

template <typename T>
double clip_gradients(Gradients<T>& g, double max_norm, Team& team) {
  const double norm = gradient_norm(g, team);
  const double factor = clip_factor(norm, max_norm);
  if (factor < 1.0) g.scale(static_cast<T>(factor));
  return norm;
}

template <typename T>
std::string first_non_finite(const Parameters<T>& p, const Gradients<T>& g) {
  const auto finite = [](const T* x, Index n) {
    return std::all_of(x, x + n, [](T v) { return std::isfinite(v); });
  };
  for (ParameterId id = 0; id < g.count(); ++id) {
    if (!g.wants(id)) continue;
    if (!g.is_sparse(id)) {
      if (!finite(g[id].data, g[id].size())) return p.name(id);
      continue;
    }
    const SparseRows<T>& rows = g.sparse(id);
    for (Index r = 0; r < rows.count(); ++r) {
      if (!finite(rows.values(r), rows.cols())) return p.name(id);
    }
  }
  return {};
}

#define ASKBASE_INSTANTIATE(T)                                      \
  template class Optimizer<T>;                                      \
  template double sum_gradients<T>(std::span<Gradients<T>>, Team&); \
  template double gradient_norm<T>(const Gradients<T>&, Team&);     \
  template double clip_gradients<T>(Gradients<T>&, double, Team&);  \
  template std::string first_non_finite<T>(const Parameters<T>&, const Gradients<T>&);
ASKBASE_INSTANTIATE(float)
ASKBASE_INSTANTIATE(double)
#undef ASKBASE_INSTANTIATE

}  // namespace askbase::nn
