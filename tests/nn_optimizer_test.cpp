// Optimisers, schedules and clipping against PyTorch; batches by length.
#include <algorithm>
#include <numeric>
#include <set>

#include "nn/batching.h"
#include "nn/optimizer.h"
#include "nn/schedule.h"
#include "tests/nn_support.h"

namespace askbase::nn {

using test::difference;
using test::golden;
using test::matrix_of;
using test::random_matrix;

namespace {

template <typename T>
void set(View<T> to, const Matrix<T>& from) {
  REQUIRE(to.size() == from.size());
  std::copy(from.data(), from.data() + from.size(), to.data);
}

OptimizerConfig config_of(const std::string& name) {
  if (name == "sgd") return {.kind = OptimizerKind::sgd, .weight_decay = 0.1};
  if (name == "sgd_momentum") return {.kind = OptimizerKind::sgd, .momentum = 0.9, .weight_decay = 0.1};
  if (name == "adagrad") return {.kind = OptimizerKind::adagrad, .epsilon = 1e-10, .weight_decay = 0.1};
  if (name == "adam") return {.kind = OptimizerKind::adam, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1};
  return {.kind = OptimizerKind::adamw, .epsilon = 1e-6, .weight_decay = 0.1};
}

double rate_of(const std::string& name) { return name.starts_with("adam") ? 0.05 : 0.1; }

}  // namespace

TEST_CASE_TEMPLATE("dense updates are PyTorch's", T, float, double) {
  const auto cases = golden("training.json");
  for (const std::string name : {"sgd", "sgd_momentum", "adagrad", "adam", "adamw"}) {
    CAPTURE(name);
    const auto& expected = cases.at(name);
    Parameters<T> p;
    const ParameterId w = p.add("w", {3, 4}), b = p.add("b", {5}, {.decay = false});
    test::set_parameters(p, expected["parameters"]);
    Optimizer<T> optimizer(p, config_of(name));
    const double rate = rate_of(name);
    for (const auto& step : expected["steps"]) {
      Gradients<T> g(p);
      // The gradients come as half of themselves: the scale makes them whole.
      set(g[w], matrix_of<T>(step["gradients"]["w"]));
      set(g[b], matrix_of<T>(step["gradients"]["b"]));
      g.scale(T(0.5));
      optimizer.step(p, g, rate, 2.0);
      const double tolerance = sizeof(T) == 4 ? 3e-6 : 1e-9;
      CHECK(difference(p[w], matrix_of<T>(step["w"]).view()) < tolerance);
      CHECK(difference(p[b], matrix_of<T>(step["b"]).view()) < tolerance);
    }
    CHECK(optimizer.steps() == 6);
  }
}

TEST_CASE("sparse updates are PyTorch's, SparseAdam's for Adam") {
  const auto cases = golden("training.json");
  for (const std::string name : {"sgd", "adagrad", "adam"}) {
    CAPTURE(name);
    const auto& expected = cases.at("sparse_" + name);
    Parameters<double> p;
    const ParameterId table = p.add("table", {5, 3}, {.sparse = true});
    set(p.mutable_view(table), matrix_of(expected["table"]));
    OptimizerConfig config = config_of(name);
    config.weight_decay = 0;
    if (name == "adam") config.epsilon = 1e-30;
    Optimizer<double> optimizer(p, config);
    for (const auto& step : expected["steps"]) {
      Gradients<double> g(p);
      const Matrix<double> values = matrix_of(step["values"]);
      for (Index r = 0; r < values.rows(); ++r) {
        double* row = g.sparse(table).row(step["rows"][static_cast<std::size_t>(r)].get<Index>());
        for (Index c = 0; c < 3; ++c) row[c] += values(r, c);
      }
      optimizer.step(p, g, rate_of(name));
      CHECK(difference(p[table], matrix_of(step["table"]).view()) < 1e-9);
    }
  }
}

TEST_CASE("sparse SGD and Adagrad are the dense updates; lazy Adam leaves untouched rows alone") {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adagrad, OptimizerKind::adamw}) {
    Parameters<double> sparse, dense;
    sparse.add("t", {6, 4}, {.sparse = true});
    dense.add("t", {6, 4});
    const Matrix<double> start = random_matrix<double>(6, 4, 3);
    set(sparse.mutable_view(0), start);
    set(dense.mutable_view(0), start);
    Optimizer<double> a(sparse, {.kind = kind}), b(dense, {.kind = kind});
    for (int step = 0; step < 4; ++step) {
      Gradients<double> gs(sparse), gd(dense);
      for (const Index row : {Index{5}, Index{step % 2}}) {
        const Matrix<double> values = random_matrix<double>(1, 4, 10 * static_cast<std::uint64_t>(step) + 1);
        for (Index c = 0; c < 4; ++c) {
          gs.sparse(0).row(row)[c] += values(0, c);
          gd[0](row, c) += values(0, c);
        }
      }
      a.step(sparse, gs, 0.1);
      b.step(dense, gd, 0.1);
    }
    if (kind == OptimizerKind::adamw) {
      // Row 5 has had a gradient every time; rows 0 and 1 keep still in between where the dense moments move
      // on.
      CHECK(difference(sparse[0].rows_from(5, 1), dense[0].rows_from(5, 1)) < 1e-12);
      CHECK(difference(sparse[0].rows_from(0, 1), dense[0].rows_from(0, 1)) > 1e-3);
    } else {
      CHECK(difference(sparse[0], dense[0]) < 1e-12);
    }
    CHECK(difference(sparse[0].rows_from(2, 3), View<const double>(start.view()).rows_from(2, 3)) == 0.0);
  }
}

TEST_CASE("an optimiser: threads change nothing, state can be saved, prefixes change rates, frozen stays") {
  const auto run = [](Team& team, bool through_state) {
    Parameters<float> p;
    p.add("big", {300, 700});
    p.add("table", {50, 8}, {.sparse = true});
    p.add("frozen", {3, 3}, {.frozen = true});
    p.initialise(4);
    const OptimizerConfig config{.weight_decay = 0.01};
    auto optimizer = std::make_unique<Optimizer<float>>(p, config);
    for (int step = 0; step < 4; ++step) {
      if (through_state && step == 2) {
        auto other = std::make_unique<Optimizer<float>>(p, config);
        const auto from = optimizer->state(p), to = other->state(p);
        REQUIRE(from.size() == 4);
        CHECK(from[0].name == "big.exp_avg");
        CHECK(from[3].name == "table.exp_avg_sq");
        for (std::size_t i = 0; i < from.size(); ++i) {
          std::copy(from[i].values.data, from[i].values.data + from[i].values.size(), to[i].values.data);
        }
        other->set_steps(optimizer->steps());
        optimizer = std::move(other);
      }
      Gradients<float> g(p);
      const Matrix<float> values = random_matrix<float>(300, 700, static_cast<std::uint64_t>(step));
      set(g[0], values);
      for (Index r = 0; r < 50; r += 3) g.sparse(1).row(r)[r % 8] = 0.5F;
      optimizer->step(p, g, 0.01, 1.0, team);
    }
    return p;
  };
  Team two(2), three(3);
  const Parameters<float> expected = run(one_thread(), false);
  for (const Parameters<float>& other : {run(two, false), run(three, false), run(two, true)}) {
    for (ParameterId id = 0; id < 3; ++id) CHECK(difference(expected[id], other[id]) == 0.0);
  }

  Parameters<double> p;
  for (const char* name : {"embeddings.word", "embeddings.word.deep", "other"}) p.add(name, {1});
  Optimizer<double> optimizer(p,
                              {.kind = OptimizerKind::sgd,
                               .rate_factors = {{"embeddings.", 0.1}, {"embeddings.word.", 0.5}, {"x", 9}}});
  Gradients<double> g(p);
  for (ParameterId id = 0; id < 3; ++id) g[id](0, 0) = 1;
  optimizer.step(p, g, 1.0);
  CHECK(p[0](0, 0) == doctest::Approx(-0.1));
  CHECK(p[1](0, 0) == doctest::Approx(-0.5));
  CHECK(p[2](0, 0) == doctest::Approx(-1.0));

  CHECK_THROWS_AS(Optimizer<double>(p, {.beta1 = 1.0}), std::logic_error);
  CHECK_THROWS_AS(Optimizer<double>(p, {.weight_decay = -1.0}), std::logic_error);
  CHECK(optimizer_by_name("adamw") == OptimizerKind::adamw);
  CHECK(optimizer_name(OptimizerKind::adagrad) == "adagrad");
  CHECK(!optimizer_by_name("lamb").has_value());
}

TEST_CASE("clipping is PyTorch's; sums of workers and norms do not depend on threads") {
  const auto expected = golden("training.json").at("clip");
  Parameters<double> p;
  p.add("x", {4, 3});
  p.add("y", {7});
  Gradients<double> g(p);
  set(g[0], matrix_of(expected["x"]));
  set(g[1], matrix_of(expected["y"]));
  CHECK(clip_gradients(g, expected["max_norm"].get<double>()) ==
        doctest::Approx(expected["norm"].get<double>()).epsilon(1e-9));
  CHECK(difference(g[0], matrix_of(expected["x_after"]).view()) < 1e-9);
  CHECK(difference(g[1], matrix_of(expected["y_after"]).view()) < 1e-9);
  CHECK(clip_gradients(g, 100.0) == doctest::Approx(2.0).epsilon(1e-6));
  CHECK(gradient_norm(g) == doctest::Approx(2.0).epsilon(1e-6));  // the second call changed nothing
  CHECK(clip_factor(10.0, 0.0) == 1.0);

  Parameters<float> q;
  q.add("dense", {150, 900});
  q.add("table", {40, 5}, {.sparse = true});
  const auto workers = [&] {
    std::vector<Gradients<float>> all;
    for (std::uint64_t k = 0; k < 3; ++k) {
      all.emplace_back(q);
      set(all.back()[0], random_matrix<float>(150, 900, k));
      for (Index row = static_cast<Index>(k); row < 40; row += 7)
        all.back().sparse(1).row(39 - row)[2] = 1.5F;
    }
    return all;
  };
  Team two(2), three(3);
  std::vector<Gradients<float>> first = workers();
  const double norm = sum_gradients<float>(first);
  CHECK(std::sqrt(norm) == doctest::Approx(gradient_norm(first[0])).epsilon(1e-12));
  const SparseRows<float>& rows = first[0].sparse(1);
  for (Index i = 1; i < rows.count(); ++i) CHECK(rows.table_row(i - 1) < rows.table_row(i));
  for (Team* team : {&two, &three}) {
    std::vector<Gradients<float>> again = workers();
    CHECK(sum_gradients<float>(again, *team) == norm);
    CHECK(difference(first[0][0], again[0][0]) == 0.0);
  }
  CHECK(first_non_finite(q, first[0]).empty());
  first[0].sparse(1).row(3)[0] = INFINITY;
  CHECK(first_non_finite(q, first[0]) == "table");
}

TEST_CASE("schedules: warm-up, straight lines, half a wave") {
  const ScheduleConfig constant{.rate = 0.5, .warmup_steps = 4};
  CHECK(learning_rate(constant, 0) == doctest::Approx(0.125));
  CHECK(learning_rate(constant, 3) == doctest::Approx(0.5));
  CHECK(learning_rate(constant, 1000) == doctest::Approx(0.5));

  const ScheduleConfig linear{
      .kind = ScheduleKind::linear, .rate = 2.0, .warmup_share = 0.1, .total_steps = 100, .final_share = 0.1};
  CHECK(learning_rate(linear, 9) == doctest::Approx(2.0));
  CHECK(learning_rate(linear, 10) == doctest::Approx(2.0));
  CHECK(learning_rate(linear, 55) == doctest::Approx(2.0 * (0.1 + 0.9 * 0.5)));
  CHECK(learning_rate(linear, 100) == doctest::Approx(0.2));
  CHECK(learning_rate(linear, 5000) == doctest::Approx(0.2));

  const ScheduleConfig cosine{
      .kind = ScheduleKind::cosine, .rate = 1.0, .warmup_steps = 0, .total_steps = 60};
  CHECK(learning_rate(cosine, 0) == doctest::Approx(1.0));
  CHECK(learning_rate(cosine, 20) == doctest::Approx(0.75));
  CHECK(learning_rate(cosine, 30) == doctest::Approx(0.5));
  CHECK(learning_rate(cosine, 60) == doctest::Approx(0.0));
  CHECK(schedule_by_name("cosine") == ScheduleKind::cosine);
  CHECK(schedule_name(ScheduleKind::linear) == "linear");
  CHECK(!schedule_by_name("step").has_value());
}

TEST_CASE("batches: every example once an epoch, similar lengths, limits kept, the same for the same seed") {
  Random random(3);
  std::vector<Index> lengths;
  for (int i = 0; i < 1003; ++i) lengths.push_back(static_cast<Index>(random.below(60)));
  lengths[17] = 500;  // longer than a batch may be
  const BatchingConfig config{.max_examples = 16, .max_tokens = 400, .sort_window = 20};
  Batches batches(lengths, config, 7), again(lengths, config, 7), other(lengths, config, 8);
  std::vector<Index> first_order;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    batches.plan(epoch);
    std::vector<Index> seen;
    double spread = 0;
    for (Index i = 0; i < batches.count(); ++i) {
      const auto batch = batches.batch(i);
      REQUIRE(!batch.empty());
      Index tokens = 0, longest = 0, shortest = 1000;
      for (const Index example : batch) {
        seen.push_back(example);
        tokens += batches.length(example);
        longest = std::max(longest, batches.length(example));
        shortest = std::min(shortest, batches.length(example));
      }
      CHECK(batch.size() <= 16);
      CHECK((tokens <= 400 || batch.size() == 1));
      spread += static_cast<double>(longest - shortest) / static_cast<double>(batches.count());
    }
    CHECK(spread < 8);  // of lengths 0 to 59 in no order it would be about 50
    if (epoch > 0) CHECK(seen != first_order);
    first_order = seen;
    std::sort(seen.begin(), seen.end());
    for (std::size_t i = 0; i < seen.size(); ++i) REQUIRE(seen[i] == static_cast<Index>(i));
    REQUIRE(seen.size() == lengths.size());
  }
  // A plan does not depend on the ones before it.
  again.plan(2);
  other.plan(2);
  REQUIRE(again.count() == batches.count());
  bool same_as_other = again.count() == other.count();
  for (Index i = 0; i < again.count(); ++i) {
    CHECK(std::ranges::equal(again.batch(i), batches.batch(i)));
    same_as_other = same_as_other && std::ranges::equal(again.batch(i), other.batch(i));
  }
  CHECK(!same_as_other);

  // Limits beyond any size: one batch.
  Batches whole(lengths, {.max_examples = Index{1} << 62, .sort_window = Index{1} << 62}, 1);
  whole.plan(0);
  CHECK(whole.count() == 1);

  Batches in_order(lengths, {.max_examples = 10, .shuffle = false}, 1);
  in_order.plan(5);
  CHECK(in_order.count() == 101);
  CHECK(in_order.batch(100)[2] == 1002);
  CHECK_THROWS_AS(Batches({}, config, 1), std::logic_error);
  CHECK_THROWS_AS(Batches({1}, {.max_examples = 0}, 1), std::logic_error);
  CHECK_THROWS_AS(Batches({-1}, config, 1), std::logic_error);
}

}  // namespace askbase::nn
