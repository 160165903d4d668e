// Scores and gradients of the embedding models: against PyTorch, against differences, against each other.
#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "kb/embedding/model.h"
#include "nn/random.h"
#include "tests/kb_embedding_support.h"

using namespace askbase;
using namespace askbase::kb::embedding;
using namespace askbase::test;

TEST_CASE("embedding models: scores and gradients are PyTorch's") {
  const nlohmann::json cases = embedding_golden();
  for (const ModelConfig& config : all_models(6, 4)) {
    const std::string name = case_name(config);
    CAPTURE(name);
    const auto& golden = cases.at(name);
    const auto model = Model<double>::make(config);
    const auto row = [&](const char* key, bool entity) {
      const std::vector<double> packed = golden.at(key).at("data").get<std::vector<double>>();
      std::vector<double> out(
          static_cast<std::size_t>(entity ? model->entity_width() : model->relation_width()));
      REQUIRE(static_cast<Index>(packed.size()) == (entity ? model->entity_size() : model->relation_size()));
      entity ? model->unpack_entity(packed.data(), out.data())
             : model->unpack_relation(packed.data(), out.data());
      return out;
    };
    const auto h = row("h", true), r = row("r", false), t = row("t", true);
    CHECK(model->score(h.data(), r.data(), t.data()) ==
          doctest::Approx(golden.at("score").get<double>()).epsilon(1e-9));
    std::vector<double> dh(h.size(), 0), dr(r.size(), 0), dt(t.size(), 0);
    model->add_gradient(h.data(), r.data(), t.data(), 1.0, dh.data(), dr.data(), dt.data());
    const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
      double worst = 0;
      for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
      return worst < 1e-8;
    };
    CHECK(same(dh, row("dh", true)));
    CHECK(same(dr, row("dr", false)));
    CHECK(same(dt, row("dt", true)));
  }
}

TEST_CASE("embedding models: gradients are those of differences, with padding and weight") {
  for (const Index dim : {2, 10, 16, 50}) {
    for (const ModelConfig& config : all_models(dim, 7)) {
      CAPTURE(case_name(config));
      const auto model = Model<double>::make(config);
      Tables<double> tables;
      model->initialise(tables, 3, 2, 11, 0.7);
      double* h = tables.entities.row(0);
      double* r = tables.relations.row(1);
      double* t = tables.entities.row(2);
      std::vector<double> dh(static_cast<std::size_t>(model->entity_width()), 0),
          dt = dh, dr(static_cast<std::size_t>(model->relation_width()), 0);
      model->add_gradient(h, r, t, -1.5, dh.data(), dr.data(), dt.data());
      const auto check = [&](double* row, const std::vector<double>& gradient) {
        double worst = 0;
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          const double kept = row[i], step = 1e-6;
          if (kept == 0 && gradient[i] == 0) continue;  // padding
          row[i] = kept + step;
          const double above = model->score(h, r, t);
          row[i] = kept - step;
          const double below = model->score(h, r, t);
          row[i] = kept;
          worst = std::max(worst, std::abs(gradient[i] + 1.5 * (above - below) / (2 * step)));
        }
        CHECK(worst < 1e-6);
      };
      check(h, dh);
      check(r, dr);
      check(t, dt);
    }
  }
}

TEST_CASE("embedding models: either end asked for gives the same score") {
  for (const ModelConfig& config : all_models(12, 5)) {
    CAPTURE(case_name(config));
    const auto model = Model<double>::make(config);
    Tables<double> tables;
    model->initialise(tables, 2, 1, 5, 0.5);
    const double* h = tables.entities.row(0);
    const double* r = tables.relations.row(0);
    const double* t = tables.entities.row(1);
    nn::Matrix<double> seen(2, model->query_width());
    if (model->projects()) {
      model->project(r, tables.entities, seen, nn::one_thread());
    } else {
      seen = tables.entities;
    }
    const double score = model->score(h, r, t);
    for (const Side missing : {Side::tail, Side::head}) {
      std::vector<double> q(static_cast<std::size_t>(model->query_width()));
      model->query(missing, missing == Side::tail ? h : t, r, q.data());
      const double* candidate = seen.row(missing == Side::tail ? 1 : 0);
      double sum = 0;
      const Index n = model->query_width();
      for (Index i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double e = q[k] - candidate[i];
        switch (model->comparison()) {
          case Comparison::dot:
            sum += q[k] * candidate[i];
            break;
          case Comparison::l1:
            sum += std::abs(e);
            break;
          case Comparison::l2:
            sum += e * e;
            break;
          case Comparison::moduli:
            if (i < n / 2)
              sum += std::hypot(e, q[k + static_cast<std::size_t>(n / 2)] - candidate[i + n / 2]);
            break;
        }
      }
      const double expected = model->comparison() == Comparison::dot  ? sum
                              : model->comparison() == Comparison::l2 ? -std::sqrt(sum)
                                                                      : -sum;
      CHECK(expected == doctest::Approx(score).epsilon(1e-9));
    }
  }
}

TEST_CASE("embedding models: rows are packed and unpacked, first vectors depend on the seed alone") {
  for (const ModelConfig& config : all_models(10, 3)) {
    CAPTURE(case_name(config));
    const auto model = Model<float>::make(config);
    Tables<float> a, b, c;
    model->initialise(a, 5, 3, 1, 0.1);
    model->initialise(b, 9, 3, 1, 0.1);
    model->initialise(c, 5, 3, 2, 0.1);
    CHECK(std::equal(a.entities.data(), a.entities.data() + a.entities.size(), b.entities.data()));
    CHECK_FALSE(std::equal(a.entities.data(), a.entities.data() + a.entities.size(), c.entities.data()));
    std::vector<float> packed(static_cast<std::size_t>(model->relation_size())),
        row(static_cast<std::size_t>(model->relation_width()), 9.0F);
    model->pack_relation(a.relations.row(1), packed.data());
    model->unpack_relation(packed.data(), row.data());
    CHECK(std::equal(row.begin(), row.end(), a.relations.row(1)));
  }
  ModelConfig transh{.kind = ModelKind::transh, .dim = 9};
  const auto model = Model<float>::make(transh);
  Tables<float> tables;
  model->initialise(tables, 2, 1, 1, 0.3);
  double length = 0;
  for (Index i = 0; i < 9; ++i) length += std::pow(tables.relations.row(0)[model->entity_width() + i], 2);
  CHECK(length == doctest::Approx(1));
}

TEST_CASE("embedding models: configurations that cannot be are refused") {
  CHECK_FALSE(validate(ModelConfig{.dim = 0}));
  CHECK_FALSE(validate(ModelConfig{.dim = -3}));
  CHECK_FALSE(validate(ModelConfig{.dim = 5000}));
  CHECK_FALSE(validate(ModelConfig{.kind = ModelKind::complex, .dim = 7}));
  CHECK_FALSE(validate(ModelConfig{.kind = ModelKind::rotate, .dim = 1}));
  CHECK(validate(ModelConfig{.kind = ModelKind::transe, .dim = 7}));
  CHECK_THROWS_AS(Model<float>::make(ModelConfig{.dim = 0}), std::logic_error);
  CHECK(model_from_name("rotate") == ModelKind::rotate);
  CHECK_FALSE(model_from_name("TransE"));
}
