// Dropout, layer norm, multi-head attention and the Transformer block.
#include "nn/dropout.h"
#include "nn/layer_norm.h"
#include "nn/multi_head_attention.h"
#include "nn/transformer.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::golden;
using test::matrix_of;
using test::random_matrix;
using test::segments_of;

namespace {

Context training(std::uint64_t key, Team& team = one_thread()) {
  return {.team = &team, .training = true, .dropout_key = key};
}

}  // namespace

TEST_CASE("dropout keeps the right share, scales it, and says the same again") {
  const Dropout<double> dropout(0.3, 5);
  const Context context = training(77);
  Matrix<double> x(300, 301), y(300, 301), again(300, 301);
  x.fill(2.0);
  dropout.apply(x, y, context);
  Index kept = 0;
  for (Index i = 0; i < y.size(); ++i) {
    CHECK_MESSAGE((y.data()[i] == 0.0 || y.data()[i] == doctest::Approx(2.0 / 0.7).epsilon(1e-4)),
                  y.data()[i]);
    kept += y.data()[i] != 0.0;
  }
  CHECK(std::abs(static_cast<double>(kept) / static_cast<double>(y.size()) - 0.7) < 0.006);
  Team three(3);
  dropout.apply(x, again, training(77, three));
  CHECK(difference(y, again) == 0.0);
  // One row as a fused loop asks for it.
  dropout.apply_row(17, x.row(17), again.row(17), 301, context);
  CHECK(difference(y, again) == 0.0);
  std::vector<double> mask(301);
  dropout.mask_row(17, mask.data(), 301, context);
  for (Index c = 0; c < 301; ++c) CHECK(mask[static_cast<std::size_t>(c)] * 2.0 == y(17, c));

  const auto alike = [&](const Dropout<double>& other, std::uint64_t key) {
    other.apply(x, again, training(key));
    Index same = 0;
    for (Index i = 0; i < y.size(); ++i) same += (y.data()[i] == 0.0) == (again.data()[i] == 0.0);
    return static_cast<double>(same) / static_cast<double>(y.size());
  };
  CHECK(std::abs(alike(Dropout<double>(0.3, 6), 77) - 0.58) < 0.01);  // 0.7^2 + 0.3^2: independent
  CHECK(std::abs(alike(dropout, 78) - 0.58) < 0.01);

  Context inference = context;
  inference.training = false;
  dropout.apply(x, again, inference);
  CHECK(difference(x, again) == 0.0);
  CHECK_THROWS_AS(Dropout<double>(1.0, 0), std::logic_error);
}

TEST_CASE_TEMPLATE("layer norm is PyTorch's", T, float, double) {
  const auto expected = golden("transformer.json").at("layer_norm");
  Parameters<T> p;
  const LayerNorm<T> norm(p, "n", 6);
  test::set_parameters(p, expected["parameters"], "n.");
  const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
  Matrix<T> y(3, 6), dx(3, 6);
  typename LayerNorm<T>::Cache cache;
  norm.forward(p, x, y, cache, {});
  Gradients<T> g(p);
  norm.backward(p, cache, x, dy, dx, g, {});
  const double tolerance = sizeof(T) == 4 ? 5e-6 : 1e-8;
  CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
  CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
  test::check_gradients(p, g, expected["gradients"], tolerance, "n.");
}

TEST_CASE_TEMPLATE("multi-head attention is PyTorch's, over ragged pairs, in one thread and three", T, float,
                   double) {
  const auto expected = golden("transformer.json").at("attention");
  const Segments queries = segments_of(expected["queries"]), keys = segments_of(expected["keys"]);
  const MultiHeadAttention<T> attention(6, expected["heads"]);
  const Matrix<T> q = matrix_of<T>(expected["q"]), k = matrix_of<T>(expected["k"]),
                  v = matrix_of<T>(expected["v"]), dy = matrix_of<T>(expected["dy"]);
  const double tolerance = sizeof(T) == 4 ? 5e-6 : 1e-8;
  Team three(3);
  for (Team* team : {&one_thread(), &three}) {
    const Context context{.team = team};
    typename MultiHeadAttention<T>::Cache cache;
    Matrix<T> y(q.rows(), 6), dq(q.rows(), 6), dk(k.rows(), 6), dv(v.rows(), 6);
    attention.forward(q, k, v, queries, keys, y, cache, context);
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    CHECK_THROWS_AS(attention.backward(q, k, v, queries, keys, cache, dy, dq, dk, dv, context),
                    std::logic_error);
    cache.keep_weights = true;
    attention.forward(q, k, v, queries, keys, y, cache, context);
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    CHECK(difference(attention.weights(cache, queries, keys, 0, 1), matrix_of<T>(expected["first_weights"])) <
          tolerance);
    attention.backward(q, k, v, queries, keys, cache, dy, dq, dk, dv, context);
    CHECK(difference(dq, matrix_of<T>(expected["dq"])) < tolerance);
    CHECK(difference(dk, matrix_of<T>(expected["dk"])) < tolerance);
    CHECK(difference(dv, matrix_of<T>(expected["dv"])) < tolerance);
  }
}

TEST_CASE(
    "attention's gradients, dropout on, are the differences of its values; empty sequences give zeros") {
  const Segments queries = segments_of({3, 0, 2, 1}), keys = segments_of({2, 3, 0, 4});
  const MultiHeadAttention<double> attention(4, 2, Dropout<double>(0.4, 9));
  Matrix<double> q = random_matrix<double>(6, 4, 1), k = random_matrix<double>(9, 4, 2),
                 v = random_matrix<double>(9, 4, 3);
  const Matrix<double> dy = random_matrix<double>(6, 4, 4);
  Matrix<double> y(6, 4), dq(6, 4), dk(9, 4), dv(9, 4);
  MultiHeadAttention<double>::Cache cache;
  cache.keep_weights = true;
  const Context context = training(3);
  const auto loss = [&] {
    attention.forward(q, k, v, queries, keys, y, cache, context);
    return test::weighted_sum(y.view(), dy.view());
  };
  loss();
  for (Index c = 0; c < 4; ++c) CHECK(y(3, c) == 0.0);  // the third segment has no keys
  const Matrix<double> weights = attention.weights(cache, queries, keys, 3, 1);
  CHECK(weights(0, 0) + weights(0, 1) + weights(0, 2) + weights(0, 3) == doctest::Approx(1.0));
  attention.backward(q, k, v, queries, keys, cache, dy, dq, dk, dv, context);
  Parameters<double> none;
  const Gradients<double> g(none);
  test::check_by_differences(none, g, &q, &dq, loss);
  test::check_by_differences(none, g, &k, &dk, loss);
  test::check_by_differences(none, g, &v, &dv, loss);
}

TEST_CASE_TEMPLATE("the Transformer block is PyTorch's encoder layer", T, float, double) {
  const auto expected = golden("transformer.json").at("block");
  const Segments segments = segments_of(expected["lengths"]);
  Parameters<T> p;
  const TransformerBlock<T> block(p, "layer.0",
                                  {.hidden = expected["hidden"],
                                   .heads = expected["heads"],
                                   .feed_forward = expected["feed_forward"],
                                   .dropout = 0,
                                   .attention_dropout = 0},
                                  0);
  test::set_parameters(p, expected["parameters"], "layer.0.");
  const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
  const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-8;
  Team two(2);
  for (Team* team : {&one_thread(), &two}) {
    const Context context{.team = team, .training = true};
    typename TransformerBlock<T>::Cache cache;
    Matrix<T> y(x.rows(), x.cols()), dx(x.rows(), x.cols());
    block.forward(p, x, segments, y, cache, context);
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    Gradients<T> g(p);
    block.backward(p, x, segments, cache, dy, dx, g, context);
    CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
    test::check_gradients(p, g, expected["gradients"], tolerance, "layer.0.");
    // Without gradients kept for later, the same values.
    typename TransformerBlock<T>::Cache light;
    Matrix<T> again(x.rows(), x.cols());
    block.forward(p, x, segments, again, light, {.team = team});
    CHECK(difference(y, again) < 1e-6);
  }
}

TEST_CASE("the block's gradients, with dropout on, are the differences of its values") {
  const Segments segments = segments_of({2, 0, 3});
  Parameters<double> p;
  const TransformerBlock<double> block(
      p, "b", {.hidden = 4, .heads = 2, .feed_forward = 6, .dropout = 0.2, .attention_dropout = 0.3}, 11);
  p.initialise(2);
  for (ParameterId id = 0; id < p.count(); ++id) {  // larger than BERT's first values: no gradient near 0
    View<double> value = p.mutable_view(id);
    for (Index i = 0; i < value.size(); ++i)
      value.data[i] = value.data[i] * 20 + 0.05 * static_cast<double>(i % 5);
  }
  Matrix<double> x = random_matrix<double>(5, 4, 1);
  const Matrix<double> dy = random_matrix<double>(5, 4, 2);
  Matrix<double> y(5, 4), dx(5, 4);
  TransformerBlock<double>::Cache cache;
  const Context context = training(12345);
  const auto loss = [&] {
    block.forward(p, x, segments, y, cache, context);
    return test::weighted_sum(y.view(), dy.view());
  };
  loss();
  Gradients<double> g(p);
  block.backward(p, x, segments, cache, dy, dx, g, context);
  test::check_by_differences(p, g, &x, &dx, loss, 1e-5);
}

TEST_CASE("a sequence's output does not depend on its neighbours in the batch") {
  Parameters<float> p;
  const TransformerBlock<float> block(p, "b", {.hidden = 8, .heads = 2, .feed_forward = 16}, 0);
  p.initialise(1);
  const Matrix<float> x = random_matrix<float>(9, 8, 4);
  Matrix<float> together(9, 8), alone(4, 8);
  TransformerBlock<float>::Cache cache;
  block.forward(p, x, segments_of({5, 4}), together, cache, {});
  block.forward(p, x.view().rows_from(5, 4), Segments::one(4), alone, cache, {});
  CHECK(difference(View<const float>(together.view().rows_from(5, 4)), View<const float>(alone.view())) <
        1e-6);
}

}  // namespace askbase::nn
