#include <algorithm>
#include <stdexcept>

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

class PlainInt8Weights : public Int8Weights {
 public:
  explicit PlainInt8Weights(View<const std::int8_t> weight) : weight_(weight.rows, weight.cols) {
    for (Index r = 0; r < weight.rows; ++r) std::copy_n(weight.row(r), weight.cols, weight_.row(r));
  }

  void product(const std::uint8_t* a, Index rows, std::int32_t* c) const override {
    const Index n = weight_.cols();
    // Weights outside: a row of them stays in the first cache while all the activations pass.
    for (Index o = 0; o < weight_.rows(); ++o) {
      const std::int8_t* w = weight_.row(o);
      for (Index r = 0; r < rows; ++r) {
        const std::uint8_t* x = a + r * n;
        std::int32_t sum = 0;
        for (Index i = 0; i < n; ++i) sum += std::int32_t{x[i]} * std::int32_t{w[i]};
        c[r * weight_.rows() + o] = sum;
      }
    }
  }

 private:
  Matrix<std::int8_t> weight_;
};

}  // namespace

void product(Op op_a, Op op_b, double alpha, View<const double> a, View<const double> b, double beta,
             View<double> c) {
  eigen_product(op_a, op_b, alpha, a, b, beta, c);
}

void plain_product(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
                   View<float> c) {
  eigen_product(op_a, op_b, alpha, a, b, beta, c);
}

std::unique_ptr<Int8Weights> plain_pack_int8(View<const std::int8_t> weight) {
  return std::make_unique<PlainInt8Weights>(weight);
}

#ifndef ASKBASE_ONEDNN
void product(Op op_a, Op op_b, float alpha, View<const float> a, View<const float> b, float beta,
             View<float> c) {
  eigen_product(op_a, op_b, alpha, a, b, beta, c);
}

void product_bf16(Op, Op, float, View<const float>, View<const float>, float, View<float>) {
  throw std::logic_error("nn: bfloat16 products need oneDNN");
}
bool bf16_available() { return false; }

std::unique_ptr<Int8Weights> pack_int8(View<const std::int8_t> weight) { return plain_pack_int8(weight); }
int activation_limit() { return 255; }

std::string name() {
  return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}
#endif

}  // namespace askbase::nn::backend
