// What the tests of embeddings share.
#pragma once

#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kb/embedding/model.h"
#include "tests/test_support.h"

namespace askbase::test {

inline nlohmann::json embedding_golden() {
  std::ifstream in(source_folder() / "tests/golden/kb/embedding.json");
  REQUIRE(in.good());
  return nlohmann::json::parse(in);
}

// Every model with every norm that it has; dim must be even.
inline std::vector<kb::embedding::ModelConfig> all_models(kb::embedding::Index dim,
                                                          kb::embedding::Index relation_dim) {
  using namespace kb::embedding;
  std::vector<ModelConfig> out;
  for (const ModelKind kind : {ModelKind::transe, ModelKind::transh, ModelKind::transr, ModelKind::rotate,
                               ModelKind::distmult, ModelKind::complex}) {
    for (const Norm norm : {Norm::l1, Norm::l2}) {
      ModelConfig config;
      config.kind = kind;
      config.dim = dim;
      config.relation_dim = kind == ModelKind::transr ? relation_dim : 0;
      config.norm = norm;
      out.push_back(config);
    }
  }
  return out;
}

inline std::string case_name(const kb::embedding::ModelConfig& config) {
  return std::string(model_name(config.kind)) + (config.norm == kb::embedding::Norm::l1 ? "_l1" : "_l2");
}

}  // namespace askbase::test
