// What `eval simplequestions` compares: the engine's findings, the memory network alone, and the baseline of
// the longest name with naive Bayes over relations.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "datasets/kb_questions.h"
#include "datasets/simple_questions.h"
#include "kb/store.h"
#include "qa/findings.h"

namespace askbase::cli {

// With the mention given: the chance to choose the right one of all relations of the KB, 1 or 0, or 1 / n
// where n have the best score. Relations count in the directions that the questions use.
struct RelationChoices {
  std::optional<double> matcher, memory, baseline;  // nothing: no such scorer, or no mention
};

// Thread-safe once made.
class SimpleSystems {
 public:
  // questions: those that tell the directions of relations. train: of the baseline; empty: none. models: the
  // folder that en-memory, zh-memory, en-matcher and zh-matcher may lie in. Errors: those of the store and of
  // models.
  static base::Result<std::unique_ptr<SimpleSystems>> make(std::shared_ptr<const kb::View> view,
                                                           const std::vector<datasets::KbQuestion>& questions,
                                                           const std::vector<datasets::KbQuestion>& train,
                                                           const std::filesystem::path& models);
  virtual ~SimpleSystems() = default;

  virtual bool has_baseline() const = 0;
  virtual bool has_memory(const std::string& lang) const = 0;

  // The best reading with a path, and all entities: those of the readings in their order, then the candidates
  // of the mentions. `answered` and `confidence` are left to the caller.
  virtual base::Result<datasets::SimplePrediction> from_findings(const datasets::KbQuestion& question,
                                                                 const qa::Findings& findings) const = 0;
  virtual base::Result<datasets::SimplePrediction> by_memory(const datasets::KbQuestion& question,
                                                             const qa::Findings& findings) const = 0;
  virtual base::Result<datasets::SimplePrediction> baseline(const datasets::KbQuestion& question) const = 0;
  virtual base::Result<RelationChoices> choose_relation(const datasets::KbQuestion& question) const = 0;
  // Whether the KB has the gold fact of a question with a path of one step; true for other questions.
  virtual base::Result<bool> fact_there(const datasets::KbQuestion& question) const = 0;
};

}  // namespace askbase::cli
