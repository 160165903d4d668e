// Convolution, pooling and ABCNN blocks against PyTorch and against differences.
#include "nn/abcnn.h"
#include "nn/conv1d.h"
#include "nn/pooling.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::golden;
using test::matrix_of;
using test::random_matrix;
using test::segments_of;

TEST_CASE_TEMPLATE("convolutions of every padding are PyTorch's", T, float, double) {
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-8;
  int checked = 0;
  const auto cases = golden("conv.json");
  for (const auto& item : cases.items()) {
    const std::string& name = item.key();
    const nlohmann::json& expected = item.value();
    if (!name.starts_with("conv ")) continue;
    INFO(name);
    const auto padding = padding_by_name(expected["padding"].template get<std::string>());
    REQUIRE(padding.has_value());
    CHECK(padding_name(*padding) == expected["padding"].template get<std::string>());
    Parameters<T> p;
    const Conv1d<T> layer(p, "c", 3, 2, expected["kernel"], *padding, expected["dilation"]);
    test::set_parameters(p, {{"weight", expected["weight"]}, {"bias", expected["bias"]}}, "c.");
    const Segments input = segments_of({4, 1, 6});
    const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
    REQUIRE(layer.output(input).total() == dy.rows());
    Matrix<T> y(dy.rows(), 2), dx(11, 3);
    typename Conv1d<T>::Cache cache;
    Gradients<T> g(p);
    layer.forward(p, x, input, y, cache, {});
    layer.backward(p, cache, dy, dx, g, {});
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
    test::check_gradients(p, g, {{"weight", expected["dweight"]}, {"bias", expected["dbias"]}}, tolerance,
                          "c.");
    ++checked;
  }
  CHECK(checked == 7);
  CHECK(!padding_by_name("half").has_value());
}

TEST_CASE("convolution: sequences of length 0 and 1, gradients by differences, the same in a team") {
  std::uint64_t seed = 0;
  Team team(2);
  Context shared;
  shared.team = &team;
  const Segments input = segments_of({0, 3, 1, 0, 5});
  for (const Padding padding : {Padding::valid, Padding::same, Padding::full}) {
    for (const Index kernel : {1, 2, 3}) {
      for (const Index dilation : {1, 2}) {
        Parameters<double> p;
        const Conv1d<double> layer(p, "c", 2, 3, kernel, padding, dilation);
        p.initialise(++seed);
        Matrix<double> x = random_matrix<double>(9, 2, ++seed);
        const Segments output = layer.output(input);
        CHECK(output.length(0) == 0);
        CHECK(output.length(3) == 0);
        const Matrix<double> dy = random_matrix<double>(output.total(), 3, ++seed);
        Matrix<double> y(output.total(), 3), again(output.total(), 3), dx(9, 2);
        Conv1d<double>::Cache cache;
        Gradients<double> g(p);
        layer.forward(p, x, input, again, cache, shared);
        const auto loss = [&] {
          layer.forward(p, x, input, y, cache, {});
          return test::weighted_sum(y.view(), dy.view());
        };
        loss();
        CHECK(difference(y, again) < 1e-12);
        layer.backward(p, cache, dy, dx, g, shared);
        test::check_by_differences(p, g, &x, &dx, loss);
      }
    }
  }
  Parameters<double> p;
  CHECK_THROWS_AS(Conv1d<double>(p, "c", 2, 3, 0), std::logic_error);
  const Conv1d<double> layer(p, "c", 2, 3, 3);
  Matrix<double> x(4, 2), y(3, 3);
  Conv1d<double>::Cache cache;
  CHECK_THROWS_AS(layer.forward(p, x, Segments::one(4), y, cache, {}), std::logic_error);
}

TEST_CASE_TEMPLATE("pooling of sequences and windows is PyTorch's", T, float, double) {
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-8;
  const Segments input = segments_of({4, 1, 6});
  const auto cases = golden("conv.json");
  for (const Pooling kind : {Pooling::max, Pooling::mean, Pooling::first, Pooling::last}) {
    const auto& expected = cases.at("pool " + std::string(pooling_name(kind)));
    CHECK(pooling_by_name(pooling_name(kind)) == kind);
    const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
    Matrix<T> y(3, 3), dx(11, 3);
    std::vector<Index> chosen;
    pool<T>(kind, x, input, y.view(), &chosen);
    pool_backward<T>(kind, input, chosen, dy, dx.view());
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
  }
  CHECK(!pooling_by_name("median").has_value());
  for (const std::string name : {"max", "mean"}) {
    const auto& expected = cases.at("window " + name);
    const Matrix<T> x = matrix_of<T>(expected["x"]), dy = matrix_of<T>(expected["dy"]);
    REQUIRE(window_output(input, 3) == segments_of({2, 0, 4}));
    Matrix<T> y(6, 3), dx(11, 3);
    if (name == "max") {
      std::vector<Index> chosen;
      window_max<T>(x, input, 3, y.view(), &chosen);
      window_max_backward<T>(chosen, dy, dx.view());
    } else {
      window_sum<T>(x, {}, input, 3, T(1) / 3, y.view());
      window_sum_backward<T>(x, {}, input, 3, T(1) / 3, dy, dx.view(), {});
    }
    CHECK(difference(y, matrix_of<T>(expected["y"])) < tolerance);
    CHECK(difference(dx, matrix_of<T>(expected["dx"])) < tolerance);
  }
}

TEST_CASE("pooling: nothing gives zeros, a number that is none is not lost, the first of equals is chosen") {
  const Segments segments = segments_of({0, 2, 0});
  Matrix<double> x(2, 2), y(3, 2), dx(2, 2);
  x(0, 0) = x(1, 0) = 1;
  x(0, 1) = 3;
  x(1, 1) = NAN;
  std::vector<Index> chosen;
  for (const Pooling kind : {Pooling::max, Pooling::mean, Pooling::first, Pooling::last}) {
    y.fill(9);
    pool<double>(kind, x, segments, y.view(), &chosen);
    CHECK(y(0, 0) == 0.0);
    CHECK(y(2, 1) == 0.0);
    CHECK(y(1, 0) == 1.0);
    CHECK(std::isnan(y(1, 1)) == (kind != Pooling::first));
    dx.fill(9);
    if (kind == Pooling::max) CHECK(chosen == std::vector<Index>{-1, -1, 0, 1, -1, -1});
    pool_backward<double>(kind, segments, chosen, y, dx.view());
    CHECK(dx(1, 0) == (kind == Pooling::last ? 1.0 : kind == Pooling::mean ? 0.5 : 0.0));
  }
  CHECK_THROWS_AS(pool_backward<double>(Pooling::max, segments, {}, y, dx.view()), std::logic_error);
  Matrix<double> wrong(2, 2);
  CHECK_THROWS_AS(pool<double>(Pooling::max, x, segments, wrong.view()), std::logic_error);
}

TEST_CASE("weighted windows: gradients of rows and weights are differences") {
  const Segments segments = segments_of({3, 0, 1, 4});
  Matrix<double> x = random_matrix<double>(8, 2, 1), weights = random_matrix<double>(1, 8, 2);
  const Segments output = window_output(segments, 2);
  const Matrix<double> dy = random_matrix<double>(output.total(), 2, 3);
  Matrix<double> y(output.total(), 2), dx(8, 2), d_weights(1, 8);
  const auto loss = [&] {
    window_sum<double>(x, weights.view().row_span(0), segments, 2, 0.7, y.view());
    return test::weighted_sum(y.view(), dy.view());
  };
  window_sum_backward<double>(x, weights.view().row_span(0), segments, 2, 0.7, dy, dx.view(),
                              d_weights.view().row_span(0));
  Parameters<double> nothing;
  const Gradients<double> none(nothing);
  test::check_by_differences(nothing, none, &x, &dx, loss);
  test::check_by_differences(nothing, none, &weights, &d_weights, loss);
}

TEST_CASE("ABCNN blocks of all three kinds and without attention are Yin's") {
  const auto cases = golden("conv.json");
  struct Kind {
    std::string name;
    bool before, after;
  };
  for (const Kind& kind : {Kind{"bcnn", false, false}, Kind{"abcnn1", true, false},
                           Kind{"abcnn2", false, true}, Kind{"abcnn3", true, true}}) {
    const std::string& name = kind.name;
    INFO(name);
    const auto& expected = cases.at(name);
    Parameters<double> p;
    const AbcnnBlock<double> block(p, "b",
                                   {.in = 3,
                                    .out = 2,
                                    .kernel = 2,
                                    .attention_before = kind.before,
                                    .attention_after = kind.after,
                                    .longest = 5});
    test::set_parameters(p, expected["parameters"], "b.");
    const Both<Segments> segments{segments_of({3, 5}), segments_of({4, 2})};
    const Matrix<double> x0 = matrix_of(expected["x0"]), x1 = matrix_of(expected["x1"]);
    Matrix<double> y0(8, 2), y1(6, 2), s0(2, 2), s1(2, 2), dx0(8, 3), dx1(6, 3);
    AbcnnBlock<double>::Cache cache;
    Gradients<double> g(p);
    block.forward(p, {x0, x1}, segments, {y0, y1}, {s0, s1}, cache, {});
    block.backward(p, {x0, x1}, cache, {matrix_of(expected["dy0"]), matrix_of(expected["dy1"])},
                   {matrix_of(expected["d_summary0"]), matrix_of(expected["d_summary1"])}, {dx0, dx1}, g, {});
    CHECK(difference(y0, matrix_of(expected["y0"])) < 1e-8);
    CHECK(difference(y1, matrix_of(expected["y1"])) < 1e-8);
    CHECK(difference(s0, matrix_of(expected["summary0"])) < 1e-8);
    CHECK(difference(s1, matrix_of(expected["summary1"])) < 1e-8);
    CHECK(difference(dx0, matrix_of(expected["dx0"])) < 1e-8);
    CHECK(difference(dx1, matrix_of(expected["dx1"])) < 1e-8);
    test::check_gradients(p, g, expected["gradients"], 1e-8, "b.");
    if (kind.before) {
      const Matrix<double> matrix = matrix_of(expected["matrix"]);
      const View<const double> a = block.attention_before(cache, 0);
      CHECK(difference(a, View<const double>(matrix.data(), 3, 4)) < 1e-9);
    }
  }
}

TEST_CASE("ABCNN: texts of length 0, texts past the longest, outputs left out; gradients are differences") {
  std::uint64_t seed = 70;
  for (const bool before : {false, true}) {
    for (const bool after : {false, true}) {
      Parameters<double> p;
      const AbcnnBlock<double> block(p, "b",
                                     {.in = 2,
                                      .out = 2,
                                      .kernel = 3,
                                      .attention_before = before,
                                      .attention_after = after,
                                      .longest = 3});
      p.initialise(++seed);
      const Both<Segments> segments{segments_of({4, 0, 2, 0}), segments_of({1, 2, 0, 0})};
      Matrix<double> x0 = random_matrix<double>(6, 2, ++seed), x1 = random_matrix<double>(3, 2, ++seed);
      const Matrix<double> dy0 = random_matrix<double>(6, 2, ++seed),
                           ds1 = random_matrix<double>(4, 2, ++seed);
      Matrix<double> y0(6, 2), s1(4, 2), dx0(6, 2), dx1(3, 2);
      AbcnnBlock<double>::Cache cache;
      Gradients<double> g(p);
      const auto loss = [&] {
        block.forward(p, {x0, x1}, segments, {y0.view(), View<double>()}, {View<double>(), s1.view()}, cache,
                      {});
        return test::weighted_sum(y0.view(), dy0.view()) + test::weighted_sum(s1.view(), ds1.view());
      };
      loss();
      CHECK(s1(2, 0) == 0.0);
      block.backward(p, {x0, x1}, cache, {dy0.view(), View<const double>()},
                     {View<const double>(), ds1.view()}, {dx0, dx1}, g, {});
      test::check_by_differences(p, g, &x0, &dx0, loss);
      Parameters<double> nothing;
      test::check_by_differences(nothing, Gradients<double>(nothing), &x1, &dx1, loss);
    }
  }
}

}  // namespace askbase::nn
