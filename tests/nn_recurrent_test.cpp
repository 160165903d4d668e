// LSTM and GRU against PyTorch, against differences, and against themselves in other batches, precisions and
// teams.
#include "nn/recurrent.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::golden;
using test::matrix_of;
using test::random_matrix;
using test::segments_of;

namespace {

// One pass forward and back, with everything that comes out.
template <typename T>
struct Pass {
  Parameters<T>& p;
  const Recurrent<T>& layer;
  Segments segments;
  Matrix<T> x{}, h0{}, c0{}, dy{}, dh{}, dc{};  // in
  Matrix<T> y{}, h{}, c{}, dx{}, dh0{}, dc0{};  // out
  RecurrentCache<T> cache{};
  Context context{};

  void forward(Team& team = one_thread()) {
    context.team = &team;
    y.resize(x.rows(), layer.outputs());
    layer.forward(p, x, segments, y, cache, context, {h0.view(), c0.view()});
    const RecurrentStates<const T> last = cache.last();
    h.resize(last.h.rows, last.h.cols);
    std::copy_n(last.h.data, h.size(), h.data());
    c.resize(last.c.rows, last.c.cols);
    std::copy_n(last.c.data, c.size(), c.data());
  }
  void backward(Gradients<T>& g, Team& team = one_thread()) {
    dx.resize(x.rows(), x.cols());
    dh0.resize(segments.count(), layer.states());
    dc0.resize(layer.options().kind == RecurrentKind::gru ? 0 : segments.count(), layer.states());
    context.team = &team;
    layer.backward(p, cache, dy, dx, g, context, {dh.view(), dc.view()}, {dh0.view(), dc0.view()});
  }
  double loss() {
    forward();
    return test::weighted_sum(y.view(), dy.view()) + test::weighted_sum(h.view(), dh.view()) +
           test::weighted_sum(c.view(), dc.view());
  }
};

// A pass over random numbers.
template <typename T>
Pass<T> random_pass(Parameters<T>& p, const Recurrent<T>& layer, const std::vector<Index>& lengths) {
  const Segments s = segments_of(lengths);
  const bool lstm = layer.options().kind == RecurrentKind::lstm;
  const auto states = [&](std::uint64_t seed) {
    return random_matrix<T>(s.count(), layer.states(), seed, 0.7);
  };
  Pass<T> pass{p, layer, s};
  pass.x = random_matrix<T>(s.total(), layer.options().input, 1);
  pass.dy = random_matrix<T>(s.total(), layer.outputs(), 2);
  pass.h0 = states(3);
  pass.dh = states(4);
  if (lstm) pass.c0 = states(5);
  if (lstm) pass.dc = states(6);
  return pass;
}

const std::vector<RecurrentOptions> kForms{
    {.input = 3, .hidden = 2},
    {.input = 2, .hidden = 9, .bidirectional = true},
    {.input = 3, .hidden = 3, .layers = 2, .bidirectional = true},
    {.input = 2, .hidden = 3, .bidirectional = true, .lstm = {.peepholes = true}},
    {.input = 2, .hidden = 3, .layers = 2, .lstm = {.coupled = true}},
    {.input = 2, .hidden = 9, .lstm = {.peepholes = true, .coupled = true}},
    {.input = 3, .hidden = 2, .kind = RecurrentKind::gru},
    {.input = 2, .hidden = 9, .bidirectional = true, .kind = RecurrentKind::gru},
    {.input = 3, .hidden = 3, .layers = 2, .bidirectional = true, .kind = RecurrentKind::gru}};

}  // namespace

TEST_CASE_TEMPLATE("recurrent layers are PyTorch's", T, float, double) {
  const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-8;
  Team two(2);
  const auto cases = golden("recurrent.json");
  for (const auto& item : cases.items()) {
    const std::string& name = item.key();
    const nlohmann::json& expected = item.value();
    for (Team* team : {&one_thread(), &two}) {
      CAPTURE(name);
      RecurrentOptions options{.input = expected["input"].template get<Index>(),
                               .hidden = expected["hidden"].template get<Index>(),
                               .layers = expected["layers"].template get<Index>(),
                               .bidirectional = expected["bidirectional"].template get<bool>(),
                               .kind = *recurrent_by_name(expected["kind"].template get<std::string>())};
      options.lstm.peepholes = expected["peepholes"].template get<bool>();
      options.lstm.coupled = expected["coupled"].template get<bool>();
      Parameters<T> p;
      const Recurrent<T> layer(p, "encoder", options);
      CHECK(p.count() == static_cast<int>(expected["parameters"].size()));
      test::set_parameters(p, expected["parameters"], "encoder.");
      Pass<T> pass{p, layer, segments_of(expected["lengths"].template get<std::vector<Index>>())};
      const auto optional = [&](const char* key) {
        return expected.contains(key) ? matrix_of<T>(expected[key]) : Matrix<T>();
      };
      pass.x = matrix_of<T>(expected["x"]);
      pass.dy = matrix_of<T>(expected["dy"]);
      pass.h0 = optional("h0");
      pass.c0 = optional("c0");
      pass.dh = optional("dh");
      pass.dc = optional("dc");
      pass.forward(*team);
      Gradients<T> g(p);
      pass.backward(g, *team);
      CHECK(difference(pass.y, matrix_of<T>(expected["y"])) < tolerance);
      CHECK(difference(pass.h, matrix_of<T>(expected["h"])) < tolerance);
      CHECK(difference(pass.dx, matrix_of<T>(expected["dx"])) < tolerance);
      if (expected.contains("c")) CHECK(difference(pass.c, matrix_of<T>(expected["c"])) < tolerance);
      if (expected.contains("dh0")) CHECK(difference(pass.dh0, matrix_of<T>(expected["dh0"])) < tolerance);
      if (expected.contains("dc0")) CHECK(difference(pass.dc0, matrix_of<T>(expected["dc0"])) < tolerance);
      test::check_gradients(p, g, expected["gradients"], tolerance, "encoder.");
    }
  }
}

TEST_CASE("gradients of recurrent layers are the differences of their values") {
  for (const RecurrentOptions& options : kForms) {
    CAPTURE(options.hidden);
    CAPTURE(options.layers);
    Parameters<double> p;
    const Recurrent<double> layer(p, "r", options);
    p.initialise(7);
    Pass<double> pass = random_pass(p, layer, {2, 0, 3, 1});
    Gradients<double> g(p);
    pass.forward();
    pass.backward(g);
    const auto loss = [&] { return pass.loss(); };
    test::check_by_differences(p, g, &pass.x, &pass.dx, loss);
    Parameters<double> none;
    const Gradients<double> no_gradients(none);
    test::check_by_differences(none, no_gradients, &pass.h0, &pass.dh0, loss);
    if (pass.c0.size() > 0) test::check_by_differences(none, no_gradients, &pass.c0, &pass.dc0, loss);
  }
}

TEST_CASE("a batch gives what its sequences give one by one, in any order") {
  for (const RecurrentOptions& options : kForms) {
    Parameters<double> p;
    const Recurrent<double> layer(p, "r", options);
    p.initialise(3);
    const std::vector<Index> lengths{4, 0, 90, 1, 4, 2};
    Pass<double> batch = random_pass(p, layer, lengths);
    Gradients<double> g(p), sum(p);
    batch.forward();
    batch.backward(g);
    Pass<double> single{p, layer, {}};
    for (Index i = 0; i < batch.segments.count(); ++i) {
      const Index begin = batch.segments.begin(i), length = batch.segments.length(i);
      const auto rows = [](const Matrix<double>& m, Index from, Index count) {
        Matrix<double> part(m.size() == 0 ? 0 : count, m.cols());
        std::copy_n(m.row(from), part.size(), part.data());
        return part;
      };
      single.segments = Segments::one(length);
      single.x = rows(batch.x, begin, length);
      single.dy = rows(batch.dy, begin, length);
      single.h0 = rows(batch.h0, i, 1);
      single.dh = rows(batch.dh, i, 1);
      if (batch.c0.size() > 0) single.c0 = rows(batch.c0, i, 1);
      if (batch.c0.size() > 0) single.dc = rows(batch.dc, i, 1);
      single.forward();
      single.backward(sum);
      CHECK(difference(single.y, rows(batch.y, begin, length)) < 1e-12);
      CHECK(difference(single.dx, rows(batch.dx, begin, length)) < 1e-12);
      CHECK(difference(single.h, rows(batch.h, i, 1)) < 1e-12);
      CHECK(difference(single.dh0, rows(batch.dh0, i, 1)) < 1e-12);
      if (length == 0) CHECK(difference(single.h, single.h0) == 0.0);
    }
    for (ParameterId id = 0; id < p.count(); ++id)
      CHECK(difference(View<const double>(g[id]), View<const double>(sum[id])) < 1e-11);
  }
}

TEST_CASE("float agrees with double, and a team of two with one, at full size") {
  for (const RecurrentKind kind : {RecurrentKind::lstm, RecurrentKind::gru}) {
    const RecurrentOptions options{
        .input = 60, .hidden = 37, .layers = 2, .bidirectional = true, .kind = kind};
    Parameters<float> p;
    Parameters<double> exact;
    const Recurrent<float> layer(p, "r", options);
    const Recurrent<double> exact_layer(exact, "r", options);
    p.initialise(1);
    exact.initialise(1);
    std::vector<Index> lengths;
    for (Index i = 0; i < 40; ++i) lengths.push_back((i * 7) % 19);
    Pass<float> one = random_pass(p, layer, lengths), both = random_pass(p, layer, lengths);
    Pass<double> reference = random_pass(exact, exact_layer, lengths);
    Team two(2);
    Gradients<float> g(p), g_both(p);
    Gradients<double> g_reference(exact);
    one.forward();
    one.backward(g);
    both.forward(two);
    both.backward(g_both, two);
    reference.forward();
    reference.backward(g_reference);
    CHECK(difference(one.y, reference.y) < 1e-5);
    CHECK(difference(one.dx, reference.dx) < 1e-5);
    CHECK(difference(one.dh0, reference.dh0) < 1e-5);
    // Each direction is one thread's work from end to end.
    CHECK(difference(both.y, one.y) == 0.0);
    CHECK(difference(both.h, one.h) == 0.0);
    CHECK(difference(both.dx, one.dx) < 1e-6);
    for (ParameterId id = 0; id < p.count(); ++id) {
      CHECK(difference(View<const float>(g[id]), View<const double>(g_reference[id])) < 1e-4);
      CHECK(difference(View<const float>(g_both[id]), View<const float>(g[id])) < 1e-5);
    }
  }
}

TEST_CASE("one direction shares its steps between the threads of a team") {
  Parameters<double> p;
  const Recurrent<double> layer(p, "r", {.input = 8, .hidden = 40, .lstm = {.peepholes = true}});
  p.initialise(2);
  const std::vector<Index> lengths(70, 3);
  Pass<double> one = random_pass(p, layer, lengths), both = random_pass(p, layer, lengths);
  Team two(2);
  Gradients<double> g(p), g_both(p);
  one.forward();
  one.backward(g);
  both.forward(two);
  both.backward(g_both, two);
  CHECK(difference(both.y, one.y) < 1e-13);
  CHECK(difference(both.dx, one.dx) < 1e-13);
  for (ParameterId id = 0; id < p.count(); ++id)
    CHECK(difference(View<const double>(g_both[id]), View<const double>(g[id])) < 1e-12);
}

TEST_CASE("parts that nobody wants are left out without changing the others") {
  for (const RecurrentKind kind : {RecurrentKind::lstm, RecurrentKind::gru}) {
    Parameters<double> p;
    const Recurrent<double> layer(
        p, "r", {.input = 3, .hidden = 5, .bidirectional = true, .kind = kind, .lstm = {.peepholes = true}});
    p.initialise(2);
    Pass<double> pass = random_pass(p, layer, {2, 3});
    Gradients<double> g(p);
    pass.forward();
    pass.backward(g);
    p.set_frozen(p.find("r.weight_ih_l0"), true);
    p.set_frozen(p.find("r.weight_hh_l0_reverse"), true);
    p.set_frozen(p.find("r.bias_hh_l0"), true);
    Gradients<double> some(p);
    RecurrentCache<double> cache;
    layer.forward(p, pass.x, pass.segments, Matrix<double>(), cache, {}, {pass.h0.view(), pass.c0.view()});
    CHECK(difference(cache.last().h, View<const double>(pass.h)) == 0.0);
    layer.backward(p, cache, pass.dy, {}, some, {}, {pass.dh.view(), pass.dc.view()});
    for (ParameterId id = 0; id < p.count(); ++id) {
      if (some.wants(id)) CHECK(difference(View<const double>(some[id]), View<const double>(g[id])) == 0.0);
    }
    // No dy: only the last states count. That is a dy of zeros.
    Gradients<double> empty(p), zeros(p);
    pass.dy = Matrix<double>();
    pass.forward();
    pass.backward(empty);
    const Matrix<double> dx = pass.dx;
    pass.dy = Matrix<double>(pass.x.rows(), layer.outputs());
    pass.forward();
    pass.backward(zeros);
    CHECK(difference(dx, pass.dx) == 0.0);
    CHECK(dx.size() > 0);
  }
}

TEST_CASE("dropout between layers: in training alone, with its gradients, and by its key") {
  for (const RecurrentKind kind : {RecurrentKind::lstm, RecurrentKind::gru}) {
    RecurrentOptions options{.input = 2, .hidden = 4, .layers = 3, .bidirectional = true, .kind = kind};
    Parameters<double> p, q;
    const Recurrent<double> plain(p, "r", options);
    options.dropout = 0.5;
    const Recurrent<double> dropped(q, "r", options);
    p.initialise(3);
    q.initialise(3);
    Pass<double> without = random_pass(p, plain, {3, 1}), with = random_pass(q, dropped, {3, 1});
    without.forward();
    with.forward();
    CHECK(difference(with.y, without.y) == 0.0);
    with.context.training = true;
    with.context.dropout_key = 1;
    with.forward();
    const Matrix<double> first = with.y;
    CHECK(difference(first, without.y) > 1e-3);
    with.context.dropout_key = 2;
    with.forward();
    CHECK(difference(first, with.y) > 1e-3);
    Gradients<double> g(q);
    with.backward(g);
    test::check_by_differences(q, g, &with.x, &with.dx, [&] { return with.loss(); });
  }
}

TEST_CASE("an empty batch, and one of empty sequences") {
  for (const RecurrentOptions& options : kForms) {
    Parameters<double> p;
    const Recurrent<double> layer(p, "r", options);
    p.initialise(3);
    for (const std::vector<Index>& lengths : {std::vector<Index>{}, std::vector<Index>{0, 0}}) {
      Pass<double> pass = random_pass(p, layer, lengths);
      Gradients<double> g(p);
      pass.forward();
      CHECK(difference(pass.h, pass.h0) == 0.0);
      pass.backward(g);
      CHECK(difference(pass.dh0, pass.dh) == 0.0);
      CHECK(g.squared_norm() == 0.0);
    }
  }
}

TEST_CASE("the forget bias lets a new cell remember") {
  for (const bool coupled : {false, true}) {
    Parameters<double> p;
    const Recurrent<double> layer(
        p, "r", {.input = 1, .hidden = 2, .bidirectional = true, .lstm = {.coupled = coupled}});
    p.initialise(3);
    for (ParameterId id = 0; id < p.count(); ++id) {
      View<double> v = p.mutable_view(id);
      std::fill_n(v.data, v.size(), 0.0);
    }
    layer.set_forget_bias(p, 30);  // remember everything, add nothing
    Pass<double> pass = random_pass(p, layer, {5, 2});
    pass.forward();
    CHECK(difference(pass.c, pass.c0) < 1e-9);
  }
}

TEST_CASE("recurrent layers refuse what does not fit") {
  Parameters<double> p;
  CHECK_THROWS_AS(Recurrent<double>(p, "a", {.input = 0, .hidden = 2}), std::logic_error);
  const Recurrent<double> layer(p, "r", {.input = 3, .hidden = 2, .kind = RecurrentKind::gru});
  Pass<double> pass = random_pass(p, layer, {2, 3});
  Gradients<double> g(p);
  CHECK_THROWS_AS(pass.backward(g), std::logic_error);  // nothing to go back from
  pass.forward();
  pass.backward(g);
  CHECK_THROWS_AS(pass.backward(g), std::logic_error);  // used up
  pass.c0 = random_matrix<double>(2, 2, 1);             // GRU has none
  CHECK_THROWS_AS(pass.forward(), std::logic_error);
  pass.c0 = {};
  pass.h0 = random_matrix<double>(2, 3, 1);
  CHECK_THROWS_AS(pass.forward(), std::logic_error);
  pass.h0 = {};
  pass.x = random_matrix<double>(4, 3, 1);
  CHECK_THROWS_AS(pass.forward(), std::logic_error);
  CHECK(!recurrent_by_name("rnn").has_value());
  CHECK(recurrent_name(RecurrentKind::gru) == "gru");
}

TEST_CASE("packing: longest first, step by step, from both ends") {
  Packing packing;
  packing.set(segments_of({1, 0, 3, 1}));
  const auto same = [](std::span<const Index> a, const std::vector<Index>& b) {
    return std::vector<Index>(a.begin(), a.end()) == b;
  };
  CHECK(same(packing.order(), {2, 0, 3, 1}));
  CHECK(same(packing.source(), {1, 0, 4, 2, 3}));
  CHECK(same(packing.forward().first, {0, 1, 2}));
  CHECK(same(packing.reverse().first, {4, 1, 2}));
  const auto steps = packing.reverse().steps;
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].begin == 4);
  CHECK(steps[1].next_begin == 0);
  CHECK(steps[1].next_rows == 1);
  CHECK(steps[2].next_rows == 0);
}

}  // namespace askbase::nn
