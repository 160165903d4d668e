// Training: losses and their gradients in both engines, samplers, determinism, checkpoints, bad input.
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <limits>
#include <set>
#include <vector>

#include "kb/embedding/engine.h"
#include "kb/embedding/trainer.h"
#include "nn/random.h"
#include "tests/kb_embedding_support.h"

using namespace askbase;
using namespace askbase::kb::embedding;
using namespace askbase::test;

namespace {

const std::vector<Fact> graph = {{0, 0, 1}, {0, 0, 2}, {1, 1, 3}, {3, 0, 4}, {4, 1, 0}, {2, 1, 3}};

bool go(std::uint64_t) { return true; }

// The loss of one epoch from these vectors, summed over facts and ends.
double loss_of(const Model<double>& model, TrainOptions options, const Tables<double>& values,
               std::span<const Fact> facts, std::size_t entities, std::size_t relations) {
  options.rate = 0;
  const TrainingFacts data{facts, entities, relations};
  const auto engine = options.matrix() ? matrix_engine(model, options, data, nn::one_thread())
                                       : sampled_engine(model, options, data);
  TrainState<double> state;
  state.values = values;
  const EpochReport report = engine->epoch(state, go);
  return report.loss * static_cast<double>(report.facts) * (options.matrix() ? 2 : 1);
}

struct Step {
  double loss = 0;
  Tables<double> gradient;
};
// The gradient by which one step of SGD moved the vectors.
Step step_of(const Model<double>& model, TrainOptions options, const Tables<double>& values,
             std::span<const Fact> facts, std::size_t entities, std::size_t relations) {
  options.rate = 1e-6;
  const TrainingFacts data{facts, entities, relations};
  const auto engine = options.matrix() ? matrix_engine(model, options, data, nn::one_thread())
                                       : sampled_engine(model, options, data);
  TrainState<double> state;
  state.values = values;
  const EpochReport report = engine->epoch(state, go);
  Step out;
  out.loss = report.loss * static_cast<double>(report.facts) * (options.matrix() ? 2 : 1);
  const double scale = (options.matrix() ? static_cast<double>(options.batch) : 1) / options.rate;
  const auto difference = [&](const nn::Matrix<double>& a, const nn::Matrix<double>& b) {
    nn::Matrix<double> d(a.rows(), a.cols());
    for (Index i = 0; i < d.size(); ++i) d.data()[i] = scale * (a.data()[i] - b.data()[i]);
    return d;
  };
  out.gradient = {difference(values.entities, state.values.entities),
                  difference(values.relations, state.values.relations)};
  return out;
}

void check_by_differences(const Model<double>& model, const TrainOptions& options,
                          std::span<const Fact> facts, std::size_t entities, std::size_t relations) {
  Tables<double> values;
  model.initialise(values, entities, relations * (options.reciprocal ? 2 : 1), 3, 0.6);
  const Step step = step_of(model, options, values, facts, entities, relations);
  nn::Random random(9);
  double worst = 0, largest = 0;
  const auto probe = [&](nn::Matrix<double>& table, const nn::Matrix<double>& gradient) {
    for (int k = 0; k < 24; ++k) {
      const auto i = static_cast<Index>(random.below(static_cast<std::uint64_t>(table.size())));
      double& x = table.data()[i];
      const double kept = x, h = 1e-5;
      if (kept == 0 && gradient.data()[i] == 0) continue;  // padding
      x = kept + h;
      const double above = loss_of(model, options, values, facts, entities, relations);
      x = kept - h;
      const double below = loss_of(model, options, values, facts, entities, relations);
      x = kept;
      const double expected = (above - below) / (2 * h);
      worst = std::max(worst, std::abs(expected - gradient.data()[i]) / std::max(1.0, std::abs(expected)));
      largest = std::max(largest, std::abs(expected));
    }
  };
  probe(values.entities, step.gradient.entities);
  probe(values.relations, step.gradient.relations);
  CHECK(worst < 2e-5);
  CHECK(largest > 1e-4);
}

TrainOptions options_of(const ModelConfig& model, LossKind loss) {
  TrainOptions options;
  options.model = model;
  options.loss = loss;
  options.optimiser = OptimiserKind::sgd;
  options.margin = loss == LossKind::margin ? 3 : 0.4;
  options.temperature = 0.7;
  options.batch = 64;
  return options;
}

// A graph that can be learned: entity i has relation r to entity i + 1 + r, in a ring.
std::vector<Fact> ring(std::uint32_t entities, std::uint32_t relations) {
  std::vector<Fact> out;
  for (std::uint32_t r = 0; r < relations; ++r) {
    for (std::uint32_t e = 0; e < entities; ++e) out.push_back({e, r, (e + 1 + r) % entities});
  }
  return out;
}

TrainOptions quick_options() {
  TrainOptions options;
  options.model.dim = 16;
  options.epochs = 12;
  options.batch = 16;
  options.rate = 0.2;
  return options;
}

bool same_tables(const Tables<float>& a, const Tables<float>& b) {
  return a.entities.size() == b.entities.size() && a.relations.size() == b.relations.size() &&
         std::equal(a.entities.data(), a.entities.data() + a.entities.size(), b.entities.data()) &&
         std::equal(a.relations.data(), a.relations.data() + a.relations.size(), b.relations.data());
}

}  // namespace

TEST_CASE("embedding training: 1-vs-all cross-entropy is PyTorch's") {
  const nlohmann::json cases = embedding_golden();
  for (const ModelKind kind :
       {ModelKind::transe, ModelKind::rotate, ModelKind::distmult, ModelKind::complex}) {
    for (const bool filter : {false, true}) {
      const std::string name = "one_vs_all_" + std::string(model_name(kind)) + (filter ? "_filtered" : "");
      CAPTURE(name);
      const auto& golden = cases.at(name);
      const ModelConfig config{.kind = kind, .dim = 6};
      const auto model = Model<double>::make(config);
      const auto table = [&](const char* key, bool entities) {
        const auto data = golden.at(key).at("data").get<std::vector<double>>();
        const Index size = entities ? model->entity_size() : model->relation_size();
        nn::Matrix<double> out(static_cast<Index>(data.size()) / size,
                               entities ? model->entity_width() : model->relation_width());
        for (Index r = 0; r < out.rows(); ++r) {
          entities ? model->unpack_entity(data.data() + r * size, out.row(r))
                   : model->unpack_relation(data.data() + r * size, out.row(r));
        }
        return out;
      };
      std::vector<Fact> facts;
      for (const auto& fact : golden.at("facts")) facts.push_back({fact[0], fact[1], fact[2]});
      TrainOptions options = options_of(config, LossKind::cross_entropy);
      options.filter = filter;
      const Tables<double> values{table("entities", true), table("relations", false)};
      const Step step = step_of(*model, options, values, facts, 5, 2);
      CHECK(step.loss == doctest::Approx(golden.at("loss").get<double>()).epsilon(1e-9));
      const auto worst = [](const nn::Matrix<double>& a, const nn::Matrix<double>& b) {
        double out = 0;
        for (Index i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a.data()[i] - b.data()[i]));
        return out;
      };
      CHECK(worst(step.gradient.entities, table("d_entities", true)) < 1e-6);
      CHECK(worst(step.gradient.relations, table("d_relations", false)) < 1e-6);
    }
  }
}

TEST_CASE("embedding training: gradients of matrix products are those of differences") {
  for (const ModelKind kind :
       {ModelKind::transe, ModelKind::rotate, ModelKind::distmult, ModelKind::complex}) {
    const ModelConfig config{.kind = kind, .dim = 10};
    const auto model = Model<double>::make(config);
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::logistic, LossKind::self_adversarial}) {
      for (const int variant : {0, 1, 2, 3}) {
        CAPTURE(case_name(config));
        CAPTURE(loss_name(loss));
        CAPTURE(variant);
        TrainOptions options = options_of(config, loss);
        options.negatives = variant == 1 || variant == 3 ? 7 : 0;
        options.shared = options.negatives > 0;
        options.filter = variant != 2;
        options.reciprocal = variant == 3;
        options.power = variant == 1 ? 0.5 : 1;
        options.dropout = variant == 3 ? 0.3 : 0;
        // The chances of self-adversarial negatives are taken as constant: no differences of them.
        if (loss == LossKind::self_adversarial) options.temperature = 0;
        check_by_differences(*model, options, graph, 5, 2);
      }
    }
  }
}

TEST_CASE("embedding training: gradients of own negatives are those of differences") {
  const std::vector<Fact> one = {{0, 1, 2}};
  for (const ModelConfig& config : all_models(10, 5)) {
    const auto model = Model<double>::make(config);
    for (const LossKind loss :
         {LossKind::margin, LossKind::cross_entropy, LossKind::logistic, LossKind::self_adversarial}) {
      for (const Index negatives : {1, 5}) {
        CAPTURE(case_name(config));
        CAPTURE(loss_name(loss));
        TrainOptions options = options_of(config, loss);
        options.negatives = negatives;
        if (loss == LossKind::self_adversarial) options.temperature = 0;
        // |w| = 1 is restored after a step of TransH: only the other numbers can be compared.
        if (config.kind == ModelKind::transh) continue;
        check_by_differences(*model, options, one, 9, 2);
      }
    }
  }
}

TEST_CASE("embedding training: a step of TransH goes down and keeps its normal vectors") {
  const std::vector<Fact> one = {{0, 0, 2}};
  for (const Norm norm : {Norm::l1, Norm::l2}) {
    ModelConfig config{.kind = ModelKind::transh, .dim = 10, .norm = norm};
    const auto model = Model<double>::make(config);
    TrainOptions options = options_of(config, LossKind::margin);
    options.negatives = 4;
    Tables<double> values;
    model->initialise(values, 9, 1, 3, 0.6);
    const double before = loss_of(*model, options, values, one, 9, 1);
    const Step step = step_of(*model, options, values, one, 9, 1);
    for (Index i = 0; i < values.entities.size(); ++i)
      values.entities.data()[i] -= 1e-3 * step.gradient.entities.data()[i];
    CHECK(loss_of(*model, options, values, one, 9, 1) < before);
    options.rate = 0.5;
    TrainState<double> state;
    state.values = values;
    sampled_engine(*model, options, {one, 9, 1})->epoch(state, go);
    double length = 0;
    for (Index i = 0; i < 10; ++i)
      length += std::pow(state.values.relations.row(0)[model->entity_width() + i], 2);
    CHECK(length == doctest::Approx(1));
  }
}

TEST_CASE("embedding training: regularisers add what they promise") {
  for (const ModelKind kind : {ModelKind::distmult, ModelKind::complex}) {
    const ModelConfig config{.kind = kind, .dim = 4};
    const auto model = Model<double>::make(config);
    Tables<double> values;
    model->initialise(values, 3, 1, 3, 0.6);
    const std::vector<Fact> one = {{0, 0, 2}};
    TrainOptions plain = options_of(config, LossKind::cross_entropy), with = plain;
    with.n3 = 0.1;
    with.l2 = 0.2;
    const Step a = step_of(*model, plain, values, one, 3, 1), b = step_of(*model, with, values, one, 3, 1);
    // The fact is asked for at both ends, so each of its rows counts twice.
    const double x = values.entities.row(0)[1],
                 y = kind == ModelKind::complex ? values.entities.row(0)[8 + 1] : 0;
    const double expected = 2 * (3 * 0.1 * std::hypot(x, y) * x + 2 * 0.2 * x);
    CHECK(b.gradient.entities.row(0)[1] - a.gradient.entities.row(0)[1] ==
          doctest::Approx(expected).epsilon(1e-5));
    CHECK(b.gradient.entities.row(1)[1] - a.gradient.entities.row(1)[1] == doctest::Approx(0).epsilon(1e-6));
  }
}

TEST_CASE("embedding training: every model and optimiser learns a small graph") {
  const std::vector<Fact> facts = ring(24, 2);
  const QueryIndex known({facts});
  for (const ModelConfig& config : all_models(16, 16)) {
    for (const OptimiserKind optimiser : {OptimiserKind::adagrad, OptimiserKind::adam, OptimiserKind::sgd}) {
      if (optimiser != OptimiserKind::adagrad && config.norm == Norm::l1) continue;  // enough of them
      CAPTURE(case_name(config));
      CAPTURE(optimiser_name(optimiser));
      TrainOptions options;
      options.model = config;
      options.optimiser = optimiser;
      options.rate = optimiser == OptimiserKind::adagrad ? 0.2
                     : optimiser == OptimiserKind::adam  ? 0.02
                                                         : 0.1;
      options.initial = 0.3;
      options.epochs = 60;
      options.batch = 8;
      options.negatives = 12;
      options.loss = LossKind::cross_entropy;
      const auto trainer = Trainer::create(options, {facts, {}, {}, 24, 2}).value();
      const auto before = mean_reciprocal_rank(
          rank_facts(trainer->model(), trainer->tables(), facts, known, {}, nn::one_thread()));
      REQUIRE(trainer->run({})->finished);
      const auto after = mean_reciprocal_rank(
          rank_facts(trainer->model(), trainer->tables(), facts, known, {}, nn::one_thread()));
      CHECK(after > before + 0.15);
    }
  }
}

TEST_CASE("embedding training: negatives are no facts, and typed ones stand where the relation allows") {
  const std::vector<Fact> facts = {{0, 0, 1}, {2, 0, 3}, {4, 1, 5}, {5, 1, 4}};
  const FactFilter filter(facts);
  for (const Fact& fact : facts) CHECK(filter.contains(fact));
  std::size_t strangers = 0;
  for (std::uint32_t h = 0; h < 60; ++h) {
    for (std::uint32_t t = 0; t < 60; ++t) strangers += filter.contains({h, 0, t}) ? 1 : 0;
  }
  CHECK(strangers == 2);
  CHECK_FALSE(FactFilter().contains({0, 0, 0}));
  // With typed negatives, entities 4 and 5 stay as they are while relation 0 is trained alone.
  TrainOptions options = quick_options();
  options.negatives = 2;
  options.sampling = Sampling::typed;
  options.filter = true;
  options.loss = LossKind::self_adversarial;
  const std::vector<Fact> two = {{0, 0, 1}, {2, 0, 3}};
  const auto trainer = Trainer::create(options, {two, {}, {}, 6, 1}).value();
  const Tables<float> first = trainer->tables();
  REQUIRE(trainer->run({}));
  const auto moved = [&](Index row) {
    return !std::equal(first.entities.row(row), first.entities.row(row) + first.entities.cols(),
                       trainer->tables().entities.row(row));
  };
  CHECK(moved(0));
  CHECK(moved(3));
  CHECK_FALSE(moved(4));
  CHECK_FALSE(moved(5));
}

TEST_CASE("embedding training: categories of relations as Bordes et al. count them") {
  const std::vector<Fact> facts = {{0, 0, 1}, {2, 0, 3}, {0, 1, 1}, {0, 1, 2}, {0, 2, 5},
                                   {1, 2, 5}, {0, 3, 4}, {0, 3, 5}, {1, 3, 4}, {1, 3, 5}};
  const auto statistics = relation_statistics(facts, 5);
  CHECK(statistics[0].category == Category::one_to_one);
  CHECK(statistics[1].category == Category::one_to_many);
  CHECK(statistics[2].category == Category::many_to_one);
  CHECK(statistics[3].category == Category::many_to_many);
  CHECK(statistics[1].tails_per_head == 2);
  CHECK(statistics[4].facts == 0);
  CHECK(category_name(Category::one_to_many) == "1-N");
}

TEST_CASE("embedding training: the same numbers every time, and after an interruption") {
  const ScratchFolder folder;
  const std::vector<Fact> facts = ring(30, 3), held = {{0, 0, 1}, {4, 2, 7}, {9, 1, 11}};
  for (const int variant : {0, 1, 2, 3}) {
    CAPTURE(variant);
    TrainOptions options = quick_options();
    options.validate_every = 3;
    options.dropout = variant == 0 ? 0.2 : 0;
    options.optimiser = variant == 1 ? OptimiserKind::adam : OptimiserKind::adagrad;
    if (variant == 1) {
      options.negatives = 9;
      options.shared = true;
      options.reciprocal = true;
    }
    if (variant >= 2) {
      options.negatives = 3;
      options.loss = variant == 2 ? LossKind::margin : LossKind::self_adversarial;
      options.margin = 1;
      options.threads = 2;
      options.deterministic = true;
    }
    const TrainingData data{facts, held, {}, 30, 3};
    const auto whole = Trainer::create(options, data).value();
    const auto outcome = whole->run({}).value();
    const auto again = Trainer::create(options, data).value();
    REQUIRE(again->run({}));
    CHECK(same_tables(whole->tables(), again->tables()));

    const auto file = folder / ("checkpoint" + std::to_string(variant));
    std::uint64_t epochs = 0;
    for (int part = 0; part < 100; ++part) {
      const auto piece = Trainer::create(options, data).value();
      if (part > 0) REQUIRE(piece->resume(file));
      int asked = 0;
      const auto done = piece->run({.go_on = [&] { return ++asked < 7; }, .checkpoint = file}).value();
      epochs = done.epochs;
      if (!done.finished) continue;
      CHECK(same_tables(whole->tables(), piece->tables()));
      CHECK(done.best_mrr == outcome.best_mrr);
      CHECK(done.best_epoch == outcome.best_epoch);
      CHECK(part > 0);
      break;
    }
    CHECK(epochs == 12);
  }
}

TEST_CASE("embedding training: a checkpoint of another run, or a damaged one, is refused") {
  const ScratchFolder folder;
  const std::vector<Fact> facts = ring(10, 1);
  std::vector<Fact> changed = facts;
  changed[0].tail = 5;
  const TrainOptions options = quick_options();
  const auto file = folder / "checkpoint";
  const auto trainer = Trainer::create(options, {facts, {}, {}, 10, 1}).value();
  int asked = 0;
  REQUIRE_FALSE(trainer->run({.go_on = [&] { return ++asked < 4; }, .checkpoint = file})->finished);
  TrainOptions other = options;
  other.rate = 0.3;
  const auto a = Trainer::create(other, {facts, {}, {}, 10, 1}).value()->resume(file);
  REQUIRE_FALSE(a);
  CHECK(a.error().message.find("rate") != std::string::npos);
  const auto b = Trainer::create(options, {changed, {}, {}, 10, 1}).value()->resume(file);
  REQUIRE_FALSE(b);
  CHECK(b.error().message.find("other facts") != std::string::npos);
  const auto c = Trainer::create(options, {facts, {}, {}, 10, 1}).value()->resume(folder / "none");
  REQUIRE_FALSE(c);
  CHECK(c.error().code == base::ErrorCode::not_found);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  const auto d = Trainer::create(options, {facts, {}, {}, 10, 1}).value()->resume(file);
  REQUIRE_FALSE(d);
  CHECK(d.error().code == base::ErrorCode::corrupt);
  other = options;
  other.epochs = 99;  // may be raised
  other.threads = 2;
  const auto fresh = Trainer::create(options, {facts, {}, {}, 10, 1}).value();
  asked = 0;
  REQUIRE(fresh->run({.go_on = [&] { return ++asked < 4; }, .checkpoint = file}));
  CHECK(Trainer::create(other, {facts, {}, {}, 10, 1}).value()->resume(file));
}

TEST_CASE("embedding training: ends when the held-out facts are not found any better") {
  const std::vector<Fact> facts = ring(20, 1), held = {{0, 0, 7}};  // not to be learned
  TrainOptions options = quick_options();
  options.epochs = 1000;
  options.validate_every = 1;
  options.patience = 3;
  const auto trainer = Trainer::create(options, {facts, held, {}, 20, 1}).value();
  const auto outcome = trainer->run({}).value();
  CHECK(outcome.finished);
  CHECK(outcome.stopped_early);
  CHECK(outcome.epochs < 1000);
  CHECK(outcome.best_epoch + 3 == outcome.epochs);
}

TEST_CASE("embedding training: lock-free threads learn as well") {
  const std::vector<Fact> facts = ring(200, 3);
  TrainOptions options = quick_options();
  options.epochs = 40;
  options.negatives = 8;
  options.loss = LossKind::self_adversarial;
  options.margin = 3;
  options.threads = 4;
  const auto trainer = Trainer::create(options, {facts, {}, {}, 200, 3}).value();
  double first = 0, last = 0;
  REQUIRE(trainer->run({.on_epoch = [&](const EpochSummary& e) { (e.epoch == 1 ? first : last) = e.loss; }}));
  CHECK(last < 0.7 * first);
}

TEST_CASE("embedding training: bad input") {
  const std::vector<Fact> one = {{0, 0, 1}}, outside = {{0, 0, 9}};
  TrainOptions options = quick_options();
  const auto refused = [&](const TrainOptions& o, const TrainingData& data) {
    const auto trainer = Trainer::create(o, data);
    REQUIRE_FALSE(trainer);
    CHECK(trainer.error().code == base::ErrorCode::invalid_argument);
    CHECK_FALSE(trainer.error().message.empty());
  };
  refused(options, {});
  refused(options, {one, {}, {}, 1, 1});
  refused(options, {outside, {}, {}, 2, 1});
  refused(options, {one, outside, {}, 2, 1});
  const auto with = [&](auto change) {
    TrainOptions o = options;
    change(o);
    return o;
  };
  const TrainingData data{one, {}, {}, 2, 1};
  refused(with([](TrainOptions& o) { o.model.dim = 0; }), data);
  refused(with([](TrainOptions& o) { o.model.kind = ModelKind::transr; }), data);
  refused(with([](TrainOptions& o) { o.model.norm = Norm::l1; }), data);
  refused(with([](TrainOptions& o) { o.loss = LossKind::margin; }), data);
  refused(with([](TrainOptions& o) { o.rate = 0; }), data);
  refused(with([](TrainOptions& o) { o.rate = std::numeric_limits<double>::quiet_NaN(); }), data);
  refused(with([](TrainOptions& o) { o.epochs = 0; }), data);
  refused(with([](TrainOptions& o) { o.batch = 0; }), data);
  refused(with([](TrainOptions& o) { o.dropout = 1; }), data);
  refused(with([](TrainOptions& o) { o.threads = 0; }), data);

  // A single fact, and a relation with a single one, are trained on.
  for (const Index negatives : {0, 1, 4}) {
    for (const Sampling sampling : {Sampling::uniform, Sampling::bernoulli, Sampling::typed}) {
      options.negatives = negatives;
      options.sampling = sampling;
      const auto trainer = Trainer::create(options, data).value();
      CHECK(trainer->run({})->finished);
      CHECK(std::isfinite(trainer->tables().entities(0, 0)));
    }
  }
  // A rate far too high.
  options = quick_options();
  options.model.kind = ModelKind::complex;
  options.optimiser = OptimiserKind::sgd;
  options.rate = 1000;
  options.initial = 100;
  options.n3 = 1000;
  const auto diverged = Trainer::create(options, {graph, {}, {}, 5, 2}).value()->run({});
  REQUIRE_FALSE(diverged);
  CHECK(diverged.error().message.find("diverged") != std::string::npos);
}
