// The embedding against PyTorch, against differences, with rows that do not learn, and with wrong ids.
#include "nn/embedding.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::matrix_of;

namespace {

// A row of the gradient, sparse or dense; zeros where sparse has none.
template <typename T>
Matrix<T> gradient(const Parameters<T>& p, const Gradients<T>& g, ParameterId id) {
  Matrix<T> all(p[id].rows, p[id].cols);
  if (!g.is_sparse(id)) {
    std::copy_n(g[id].data, all.size(), all.data());
    return all;
  }
  const SparseRows<T>& rows = g.sparse(id);
  for (Index i = 0; i < rows.count(); ++i)
    std::copy_n(rows.values(i), all.cols(), all.row(rows.table_row(i)));
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("embeddings are PyTorch's, with sparse and dense gradients, in teams", T, float, double) {
  const auto cases = test::golden("embedding.json");
  const auto& expected = cases.at("embedding");
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-9;
  Team two(2);
  for (const bool sparse : {false, true}) {
    Parameters<T> p;
    const Embedding<T> layer(p, "words", {.rows = 7, .dim = 3, .sparse = sparse});
    test::set_parameters(p, expected["parameters"], "words.");
    const auto ids = expected["ids"].template get<std::vector<Index>>();
    const std::vector<std::int32_t> small(ids.begin(), ids.end());
    const Matrix<T> dy = matrix_of<T>(expected["dy"]);
    Matrix<T> y(6, 3), y_small(6, 3);
    layer.forward(p, ids, y, {.team = &two});
    layer.forward(p, small, y_small, {});
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    CHECK(difference(y_small, y) == 0.0);
    Gradients<T> g(p);
    CHECK(g.is_sparse(layer.weight()) == sparse);
    layer.backward(ids, dy, g);
    CHECK(difference(gradient(p, g, layer.weight()), matrix_of<T>(expected["gradients"]["weight"])) <
          tolerance);
    if (sparse) CHECK(g.sparse(layer.weight()).count() == 4);
    layer.backward(small, dy, g);  // adds
    Matrix<T> twice = matrix_of<T>(expected["gradients"]["weight"]);
    for (Index i = 0; i < twice.size(); ++i) twice.data()[i] *= 2;
    CHECK(difference(gradient(p, g, layer.weight()), twice) < tolerance);
  }
}

TEST_CASE("gradients of embeddings are the differences of their values") {
  for (const bool sparse : {false, true}) {
    Parameters<double> p;
    const Embedding<double> layer(p, "e", {.rows = 5, .dim = 4, .sparse = sparse});
    p.initialise(1);
    const std::vector<Index> ids{3, 3, 0, 1};
    const Matrix<double> dy = test::random_matrix<double>(4, 4, 2);
    Matrix<double> y(4, 4);
    Gradients<double> g(p);
    layer.backward(ids, dy, g);
    test::check_by_differences(p, g, nullptr, nullptr, [&] {
      layer.forward(p, ids, y, {});
      return test::weighted_sum(y.view(), dy.view());
    });
  }
}

TEST_CASE("frozen rows have no gradient and no decay; a frozen table none at all") {
  for (const bool sparse : {false, true}) {
    Parameters<double> p;
    const Embedding<double> some(p, "some",
                                 {.rows = 6, .dim = 2, .sparse = sparse, .frozen_begin = 1, .frozen_end = 3});
    const Embedding<double> all(p, "all", {.rows = 6, .dim = 2, .sparse = sparse, .frozen = true});
    CHECK(!p.options(some.weight()).decay);
    const std::vector<Index> ids{0, 1, 2, 3};
    Matrix<double> dy(4, 2);
    dy.fill(1);
    Gradients<double> g(p);
    some.backward(ids, dy, g);
    all.backward(ids, dy, g);
    CHECK(!g.wants(all.weight()));
    const Matrix<double> sums = gradient(p, g, some.weight());
    for (Index row = 0; row < 6; ++row) CHECK(sums(row, 0) == (row == 0 || row == 3 ? 1.0 : 0.0));
    if (sparse) CHECK(g.sparse(some.weight()).count() == 2);
  }
}

TEST_CASE("embeddings refuse ids and shapes that do not fit, before anything is written") {
  Parameters<float> p;
  const Embedding<float> layer(p, "e", {.rows = 3, .dim = 2});
  Matrix<float> y(2, 2);
  y.fill(9);
  Gradients<float> g(p);
  for (const Index wrong : {Index{-1}, Index{3}}) {
    const std::vector<Index> ids{0, wrong};
    CHECK_THROWS_AS(layer.forward(p, ids, y, {}), std::logic_error);
    CHECK_THROWS_AS(layer.backward(ids, y, g), std::logic_error);
  }
  CHECK(y(0, 0) == 9.0F);
  CHECK(g.sparse(layer.weight()).count() == 0);
  const std::vector<Index> ids{0};
  CHECK_THROWS_AS(layer.forward(p, ids, y, {}), std::logic_error);
  const std::vector<Index> none;
  layer.forward(p, none, Matrix<float>(0, 2), {});
  CHECK_THROWS_AS(Embedding<float>(p, "f", {.rows = 3, .dim = 2, .frozen_begin = 2, .frozen_end = 4}),
                  std::logic_error);
}

}  // namespace askbase::nn
