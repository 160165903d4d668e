#include "kb/embedding/options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace askbase::kb::embedding {

namespace {

constexpr std::array<std::string_view, 4> loss_names = {"margin", "logistic", "self-adversarial",
                                                        "cross-entropy"};
constexpr std::array<std::string_view, 3> sampling_names = {"uniform", "bernoulli", "typed"};
constexpr std::array<std::string_view, 3> optimiser_names = {"sgd", "adagrad", "adam"};

template <typename Kind, std::size_t n>
std::optional<Kind> find_name(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}

}  // namespace

std::string_view loss_name(LossKind kind) { return loss_names.at(static_cast<std::size_t>(kind)); }
std::optional<LossKind> loss_from_name(std::string_view name) {
  return find_name<LossKind>(loss_names, name);
}
std::string_view sampling_name(Sampling sampling) {
  return sampling_names.at(static_cast<std::size_t>(sampling));
}
std::optional<Sampling> sampling_from_name(std::string_view name) {
  return find_name<Sampling>(sampling_names, name);
}
std::string_view optimiser_name(OptimiserKind kind) {
  return optimiser_names.at(static_cast<std::size_t>(kind));
}
std::optional<OptimiserKind> optimiser_from_name(std::string_view name) {
  return find_name<OptimiserKind>(optimiser_names, name);
}

base::Status validate(const TrainOptions& options) {
  ASKBASE_TRY(validate(options.model));
  const auto refuse = [](std::string message, std::string hint) {
    return base::fail(base::ErrorCode::invalid_argument, std::move(message), std::move(hint));
  };
  const ModelKind kind = options.model.kind;
  const std::string name(model_name(kind));
  const bool l1 = options.model.norm == Norm::l1 && kind != ModelKind::distmult && kind != ModelKind::complex;
  if (options.matrix()) {
    if (kind == ModelKind::transh || kind == ModelKind::transr) {
      return refuse(name + " sees the entities differently with each relation: it cannot share negatives",
                    "give --negatives N, a few for each fact, without --shared");
    }
    if (l1) {
      return refuse("with the L1 norm there are no scores by matrix products",
                    "give --norm l2, or --negatives N without --shared");
    }
    if (options.loss == LossKind::margin) {
      return refuse("the margin loss is for negatives of each fact",
                    "give --negatives N without --shared, or --loss cross-entropy");
    }
  } else if (options.dropout > 0) {
    return refuse("dropout is for shared negatives or all entities", "add --shared, or leave out --dropout");
  }
  const auto within = [](double x, double low, double high) {
    return std::isfinite(x) && x >= low && x <= high;
  };
  if (!within(options.rate, 1e-9, 1e3)) return refuse("the learning rate must be above 0", "try --rate 0.1");
  if (options.epochs < 1) return refuse("training takes at least one epoch", "give --epochs 1 or more");
  if (options.batch < 1) return refuse("a batch has at least one query", "give --batch 1 or more");
  if (options.negatives < 0) return refuse("negatives cannot be fewer than 0", "0 means all entities");
  if (!within(options.dropout, 0, 0.95))
    return refuse("dropout lies between 0 and 0.95", "try --dropout 0.2");
  if (!within(options.initial, 1e-9, 1e3)) return refuse("the first numbers need a deviation above 0", "");
  if (!within(options.l2, 0, 1e6) || !within(options.n3, 0, 1e6))
    return refuse("the weight of a regulariser is 0 or more", "");
  if (options.threads < 1) return refuse("training takes at least one thread", "give --threads 1 or more");
  return {};
}

}  // namespace askbase::kb::embedding
