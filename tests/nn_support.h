// What the tests of nn/ share: golden values, random views, and gradients checked by differences.
#pragma once

#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "nn/parameters.h"
#include "nn/random.h"
#include "tests/test_support.h"

namespace askbase::nn::test {

// The cases of tests/golden/nn/<file>.
inline nlohmann::json golden(const std::string& file) {
  std::ifstream in(askbase::test::source_folder() / "tests/golden/nn" / file);
  REQUIRE_MESSAGE(in.good(), file);
  return nlohmann::json::parse(in);
}

// One tensor of a case: a matrix of the first dimension by the rest, or (1, n).
template <typename T = double>
Matrix<T> matrix_of(const nlohmann::json& tensor) {
  const auto& shape = tensor.at("shape");
  const auto& data = tensor.at("data");
  const Index rows = shape.size() <= 1 ? 1 : shape[0].get<Index>();
  Matrix<T> m(rows, rows == 0 ? 0 : static_cast<Index>(data.size()) / rows);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = data[static_cast<std::size_t>(i)].template get<T>();
  return m;
}

inline Segments segments_of(const std::vector<Index>& lengths) {
  Segments segments;
  for (const Index length : lengths) segments.add(length);
  return segments;
}

template <typename T>
Matrix<T> random_matrix(Index rows, Index cols, std::uint64_t seed, double scale = 1.0) {
  Random random(seed);
  Matrix<T> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<T>(scale * random.normal());
  return m;
}

// Largest |a - b| / max(1, |b|); infinite when shapes differ.
template <typename A, typename B>
double difference(View<A> a, View<B> b) {
  if (a.rows != b.rows || a.cols != b.cols) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (Index r = 0; r < a.rows; ++r) {
    for (Index c = 0; c < a.cols; ++c) {
      const double x = static_cast<double>(a(r, c)), y = static_cast<double>(b(r, c));
      const double d = std::abs(x - y) / std::max(1.0, std::abs(y));
      if (!(d <= worst)) worst = d;  // a NaN stays
    }
  }
  return worst;
}
template <typename A, typename B>
double difference(const Matrix<A>& a, const Matrix<B>& b) {
  return difference(a.view(), b.view());
}

// Copies the tensors of a case's "parameters" into those of the same name; every one must be there.
template <typename T>
void set_parameters(Parameters<T>& p, const nlohmann::json& tensors, const std::string& prefix = "") {
  for (const auto& item : tensors.items()) {
    const std::string& name = item.key();
    const nlohmann::json& tensor = item.value();
    const ParameterId id = p.find(prefix + name);
    REQUIRE_MESSAGE(id >= 0, (prefix + name));
    const Matrix<T> value = matrix_of<T>(tensor);
    View<T> target = p.mutable_view(id);
    REQUIRE(value.size() == target.size());
    std::copy(value.data(), value.data() + value.size(), target.data);
  }
}

// Compares the dense gradients with a case's "gradients".
template <typename T>
void check_gradients(const Parameters<T>& p, const Gradients<T>& g, const nlohmann::json& tensors,
                     double tolerance = 1e-8, const std::string& prefix = "") {
  for (const auto& item : tensors.items()) {
    const std::string& name = item.key();
    const nlohmann::json& tensor = item.value();
    const ParameterId id = p.find(prefix + name);
    REQUIRE_MESSAGE(id >= 0, (prefix + name));
    const Matrix<T> expected = matrix_of<T>(tensor);
    const View<const T> actual = g[id];
    CHECK_MESSAGE(difference(View<const T>(actual.data, expected.rows(), expected.cols()), expected.view()) <=
                      tolerance,
                  (prefix + name));
  }
}

// Every dense gradient in g, and dx, against central differences of loss() in double precision. loss() must
// be the sum whose gradients they are, reading p and x anew at each call.
inline void check_by_differences(Parameters<double>& p, const Gradients<double>& g, Matrix<double>* x,
                                 const Matrix<double>* dx, const std::function<double()>& loss,
                                 double tolerance = 1e-6, double step = 1e-5) {
  const auto check = [&](const std::string& name, double& value, double gradient) {
    const double kept = value;
    value = kept + step;
    const double above = loss();
    value = kept - step;
    const double below = loss();
    value = kept;
    const double expected = (above - below) / (2 * step);
    const double error = std::abs(expected - gradient) / std::max(1.0, std::abs(expected));
    CHECK_MESSAGE(error <= tolerance, name << ": " << gradient << " where differences give " << expected);
  };
  for (ParameterId id = 0; id < p.count(); ++id) {
    if (!g.wants(id)) continue;
    View<double> value = p.mutable_view(id);
    for (Index i = 0; i < value.size(); ++i) {
      double gradient = 0;
      if (g.is_sparse(id)) {
        const SparseRows<double>& rows = g.sparse(id);
        for (Index r = 0; r < rows.count(); ++r) {
          if (rows.table_row(r) == i / value.cols) gradient = rows.values(r)[i % value.cols];
        }
      } else {
        gradient = g[id].data[i];
      }
      check(p.name(id) + "[" + std::to_string(i) + "]", value.data[i], gradient);
    }
  }
  if (x == nullptr) return;
  for (Index i = 0; i < x->size(); ++i) check("x[" + std::to_string(i) + "]", x->data()[i], dx->data()[i]);
}

// sum(y * dy): the loss whose gradient at y is dy.
template <typename A, typename B>
double weighted_sum(View<A> y, View<B> dy) {
  double sum = 0;
  for (Index r = 0; r < y.rows; ++r) {
    for (Index c = 0; c < y.cols; ++c) sum += static_cast<double>(y(r, c)) * static_cast<double>(dy(r, c));
  }
  return sum;
}

}  // namespace askbase::nn::test
