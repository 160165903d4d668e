// How embeddings are trained.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "kb/embedding/model.h"

namespace askbase::kb::embedding {

// Of a fact with score s and its negatives with scores s_j; x = margin + s.
//   margin            sum_j max(0, margin - s + s_j)                                Bordes et al. 2013, eq. 2
//   logistic          log(1 + exp(-x)) + sum_j log(1 + exp(x_j))                    Trouillon et al. 2016,
//   eq. 10 self_adversarial  log(1 + exp(-x)) + sum_j p_j log(1 + exp(x_j)),               Sun et al. 2019,
//   eq. 5-6
//                     p = softmax(temperature * s_j), taken as constant
//   cross_entropy     log(exp(s) + sum_j exp(s_j)) - s                              Lacroix et al. 2018, eq.
//   3
// In cross-entropy, scores from K shared negatives of N entities are weighted by N / K, so that it estimates
// the loss over all of them.
enum class LossKind : std::uint8_t { margin, logistic, self_adversarial, cross_entropy };
std::string_view loss_name(LossKind kind);  // "margin", "logistic", "self-adversarial", "cross-entropy"
std::optional<LossKind> loss_from_name(std::string_view name);

// Which end of a fact is replaced, and by what.
enum class Sampling : std::uint8_t {
  uniform,    // either end with equal chance, by any entity
  bernoulli,  // the head with chance tph / (tph + hpt) of the relation (Wang et al. 2014), by any entity
  typed,      // as bernoulli, by entities that stand at this end of the relation in some fact
};
std::string_view sampling_name(Sampling sampling);
std::optional<Sampling> sampling_from_name(std::string_view name);

enum class OptimiserKind : std::uint8_t { sgd, adagrad, adam };
std::string_view optimiser_name(OptimiserKind kind);
std::optional<OptimiserKind> optimiser_from_name(std::string_view name);

struct TrainOptions {
  ModelConfig model;
  LossKind loss = LossKind::cross_entropy;
  OptimiserKind optimiser = OptimiserKind::adagrad;
  double rate = 0.1;
  double final_rate = 1;  // the rate falls linearly to this share of it at the last epoch
  std::uint64_t epochs = 100;
  // Facts, or with shared negatives queries (a head or tail with a relation, all its answers together), whose
  // gradients are summed before an update. Ignored by lock-free threads, which update after every fact.
  Index batch = 512;
  // Negatives of each fact; 0: all entities (1-vs-all, by matrix products).
  Index negatives = 0;
  bool shared = false;  // one set of negatives for the whole batch, by matrix products
  Sampling sampling = Sampling::bernoulli;
  bool filter = true;  // what is known to be true is not a negative
  double margin = 0;
  double temperature = 1;  // of self-adversarial negatives
  double initial = 0.05;   // deviation of the first numbers
  double l2 = 0;           // times the sum of squares of the vectors of each fact
  double n3 = 0;           // times the sum of cubed moduli (Lacroix et al. 2018, section 4.2)
  double dropout = 0;      // of the numbers of anchors and relations, with shared or all negatives
  // A query with k answers counts k^power times, so 1 is every fact the same, below 1 gives rare ones more.
  double power = 1;
  bool reciprocal = false;     // heads are asked for by an inverse relation of its own (Lacroix et al. 2018)
  bool unit_entities = false;  // entities are scaled back to length 1 (Bordes et al. 2013)
  std::uint64_t seed = 1;
  int threads = 1;
  // The same numbers every time: threads then share matrix products only. Without it, sampled negatives are
  // trained lock-free (Hogwild, Recht et al. 2011), and results differ from run to run with two threads or
  // more.
  bool deterministic = false;
  // Early stopping: validated every so many epochs; ends when the MRR has not risen for `patience` of these.
  std::uint64_t validate_every = 5, patience = 10;

  bool matrix() const { return negatives == 0 || shared; }
};
// Errors invalid_argument, each with what to change.
base::Status validate(const TrainOptions& options);

}  // namespace askbase::kb::embedding
