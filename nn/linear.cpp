#include "nn/linear.h"

#include <algorithm>

#include "nn/eigen.h"
#include "nn/gemm.h"

namespace askbase::nn {

template <typename T>
Linear<T>::Linear(Parameters<T>& p, const std::string& name, Index in, Index out, bool bias, Initial initial)
    : in_(in), out_(out) {
  weight_ = p.add(name + ".weight", {out, in}, {.initial = initial});
  if (bias) {
    const bool zero = initial != Initial::fan_in_uniform;
    bias_ = p.add(name + ".bias", {out},
                  {.initial = zero ? Initial::zeros : Initial::fan_in_uniform, .fan_in = in, .decay = false});
  }
}

template <typename T>
void Linear<T>::forward(const Parameters<T>& p, View<const T> x, View<T> y, const Context& context) const {
  gemm<T>(Op::none, Op::transpose, T(1), x, p[weight_], T(0), y, *context.team, context.precision);
  if (bias_ >= 0) add_to_rows<T>(p[bias_], y, *context.team);
}

template <typename T>
void Linear<T>::backward(const Parameters<T>& p, View<const T> x, View<const T> dy, View<T> dx,
                         Gradients<T>& g, const Context& context) const {
  if (g.wants(weight_))
    gemm<T>(Op::transpose, Op::none, T(1), dy, x, T(1), g[weight_], *context.team, context.precision);
  if (bias_ >= 0 && g.wants(bias_)) add_row_sums<T>(dy, g[bias_]);
  if (!dx.empty())
    gemm<T>(Op::none, Op::none, T(1), dy, p[weight_], T(0), dx, *context.team, context.precision);
}

template <typename T>
void add_row_sums(View<const std::type_identity_t<T>> dy, View<T> db) {
  for (Index r = 0; r < dy.rows; ++r) array(db) += array(dy.rows_from(r, 1));
}

template <typename T>
void add_to_rows(View<const std::type_identity_t<T>> b, View<T> x, Team& team) {
  team.parallel_for(x.rows, std::max<Index>(1, 16384 / std::max<Index>(1, x.cols)),
                    [&](Index begin, Index end) {
                      for (Index r = begin; r < end; ++r) array(x.rows_from(r, 1)) += array(b);
                    });
}

template class Linear<float>;
template class Linear<double>;
template void add_row_sums<float>(View<const float>, View<float>);
template void add_row_sums<double>(View<const double>, View<double>);
template void add_to_rows<float>(View<const float>, View<float>, Team&);
template void add_to_rows<double>(View<const double>, View<double>, Team&);

}  // namespace askbase::nn
