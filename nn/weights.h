// Copies of a model's weights that the trainer keeps beside them. Internal to trainer.cpp.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nn/optimizer.h"
#include "nn/parameters.h"
#include "nn/team.h"

namespace askbase::nn {

// A copy of the weights that are trained (not of the frozen ones): averages, and the best so far. Belongs to
// one thread.
template <typename T>
class Weights {
 public:
  bool empty() const { return values_.empty(); }

  void copy_from(const Parameters<T>& p) {
    values_.resize(static_cast<std::size_t>(p.count()));
    each(p, [&](Matrix<T>& to, View<const T> from) {
      to.resize(from.rows, from.cols);
      std::copy(from.data, from.data + from.size(), to.data());
    });
  }
  void copy_to(Parameters<T>& p) const {
    for (ParameterId id = 0; id < p.count(); ++id) {
      const Matrix<T>& from = values_[static_cast<std::size_t>(id)];
      if (from.size() > 0) std::copy(from.data(), from.data() + from.size(), p.mutable_view(id).data);
    }
  }
  void swap_with(Parameters<T>& p) {
    for (ParameterId id = 0; id < p.count(); ++id) {
      Matrix<T>& mine = values_[static_cast<std::size_t>(id)];
      if (mine.size() > 0) std::swap_ranges(mine.data(), mine.data() + mine.size(), p.mutable_view(id).data);
    }
  }
  // this += share * (p - this)
  void move_towards(const Parameters<T>& p, double share, Team& team) {
    const T factor = static_cast<T>(share);
    each(p, [&](Matrix<T>& to, View<const T> from) {
      team.parallel_for(to.size(), 1 << 15, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) to.data()[i] += factor * (from.data[i] - to.data()[i]);
      });
    });
  }
  void add_views(const Parameters<T>& p, const std::string& prefix, std::vector<NamedView<T>>& views) {
    for (ParameterId id = 0; id < p.count(); ++id) {
      if (!p.options(id).frozen) {
        views.push_back({prefix + p.name(id), values_[static_cast<std::size_t>(id)].view()});
      }
    }
  }

 private:
  template <typename Visit>
  void each(const Parameters<T>& p, Visit&& visit) {
    for (ParameterId id = 0; id < p.count(); ++id) {
      if (!p.options(id).frozen) visit(values_[static_cast<std::size_t>(id)], p[id]);
    }
  }
  std::vector<Matrix<T>> values_;
};

}  // namespace askbase::nn
