#include "nn/backend.h"
#include "nn/eigen.h"

namespace askbase::nn::backend {

namespace {

template <typename T>
void eigen_product(Op op_a, Op op_b, T alpha, View<const T> a, View<const T> b, T beta, View<T> c) {
  auto out = matrix(c);
  if (beta == T(0)) {
    out.setZero();
  } else if (beta != T(1)) {
    out *= beta;
  }
  const auto x = matrix(a), y = matrix(b);
  if (op_a == Op::none && op_b == Op::none) {
    out.noalias() += alpha * (x * y);
  } else if (op_a == Op::none) {
    out.noalias() += alpha * (x * y.transpose());
  } else if (op_b == Op::none) {
    out.noalias() += alpha * (x.transpose() * y);
  } else {
    out.noalias() += alpha * (x.transpose() * y.transpose());
  }
}

}  // namespace

void product(Op op_a, Op op_b, double alpha, View<const double> a, View<const double> b, double beta,
             View<double> c) {
  eigen_product(op_a, op_b, alpha, a, b, beta, c);
}

#ifndef ASKBASE_ONEDNN
void product(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
             View<float> c) {
  eigen_product(op_a, op_b, alpha, a, b, beta, c);
}

std::string name() {
  return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}
#endif

}  // namespace askbase::nn::backend
