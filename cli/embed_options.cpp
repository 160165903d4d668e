#include "cli/embed_options.h"

#include <utility>

namespace askbase::cli {

namespace embedding = kb::embedding;

void EmbedOptions::declare(const Command& command) {
  command.option("--kind", "MODEL", kind, "transe, transh, transr, rotate, distmult or complex; transe",
                 Command::one_of({"transe", "transh", "transr", "rotate", "distmult", "complex"}));
  command.option("--dim", "N", dim, "Numbers of a vector; 128", 0, 4096);
  command.option("--relation-dim", "N", relation_dim, "transr: numbers of a relation's space; as --dim", 0,
                 4096);
  command.option("--norm", "NORM", norm, "l1 or l2, of models with a distance; l2",
                 Command::one_of({"l1", "l2"}));
  command.option("--epochs", "N", epochs, "Rounds over the facts at most; 100", 1, 1000000);
  command.option("--loss", "LOSS", loss,
                 "margin, logistic, self-adversarial or cross-entropy; cross-entropy, for transh and transr "
                 "self-adversarial",
                 Command::one_of({"margin", "logistic", "self-adversarial", "cross-entropy"}));
  command.option(
      "--negatives", "N", negatives,
      "False facts to a true one; 0 is all entities. 1024 shared by a batch, for transh and transr 32", 0,
      1000000);
  command.flag("--own-negatives", own, "Each fact has negatives of its own, and threads train lock-free");
  command.option("--sampling", "WAY", sampling,
                 "uniform, bernoulli or typed: how own negatives are drawn; bernoulli",
                 Command::one_of({"uniform", "bernoulli", "typed"}));
  command.flag("--no-filter", no_filter, "Known facts may be negatives");
  command.option("--batch", "N", batch, "Queries of a batch; 128 for distances, else 256", 1, 1000000);
  command.option("--optimiser", "NAME", optimiser, "sgd, adagrad or adam; adagrad",
                 Command::one_of({"sgd", "adagrad", "adam"}));
  command.option("--rate", "X", rate, "Learning rate; 0.1", 1e-9, 1000);
  command.option("--final-rate", "X", train.final_rate, "Share of the rate that is left at the last epoch; 1",
                 0, 1);
  command.option("--margin", "X", margin, "Of margin, logistic and self-adversarial losses; 9 for distances",
                 0, 1000);
  command.option("--temperature", "X", train.temperature, "Of self-adversarial negatives; 1", 0, 1000);
  command.option("--n3", "X", n3, "Weight of the cubed moduli; for complex and distmult 0.05", 0, 1000);
  command.option("--l2", "X", train.l2, "Weight of the squares; 0", 0, 1000);
  command.option("--dropout", "P", train.dropout, "Share of numbers left out in training; 0", 0, 0.95);
  command.option("--power", "X", train.power, "A query with k answers counts k^X times; 1", 0, 1);
  command.option("--initial", "X", initial, "Deviation of the first numbers; 0.05", 1e-9, 1000);
  command.flag("--reciprocal", train.reciprocal, "Each relation has an inverse with a vector of its own");
  command.flag("--unit", train.unit_entities, "Keep entities within length 1");
  command.option("--seed", "N", seed, "Of all random numbers; 1", 0, SIZE_MAX);
  command.flag("--deterministic", train.deterministic, "The same numbers every time, with own negatives too");
  command.option("--validate-every", "N", validate_every, "Epochs between looks at the held-out facts; 5", 1,
                 1000000);
  command.option("--patience", "N", patience, "Looks without a better MRR before the end; 10", 1, 1000000);
}

base::Result<embedding::TrainOptions> EmbedOptions::resolve(const Globals& globals) const {
  using embedding::ModelKind;
  embedding::TrainOptions out = train;
  out.model.kind = *embedding::model_from_name(kind);
  out.model.dim = static_cast<embedding::Index>(dim);
  out.model.relation_dim = static_cast<embedding::Index>(relation_dim);
  out.model.norm = norm == "l1" ? embedding::Norm::l1 : embedding::Norm::l2;
  const bool projects = out.model.kind == ModelKind::transh || out.model.kind == ModelKind::transr;
  const bool products = out.model.kind == ModelKind::distmult || out.model.kind == ModelKind::complex;
  const bool alone =
      own || projects || loss == "margin" || (out.model.norm == embedding::Norm::l1 && !products);
  out.loss = !loss.empty() ? *embedding::loss_from_name(loss)
             : alone       ? embedding::LossKind::self_adversarial
                           : embedding::LossKind::cross_entropy;
  out.negatives = negatives >= 0                            ? negatives
                  : out.loss == embedding::LossKind::margin ? 1
                  : alone                                   ? 32
                                                            : 1024;
  out.shared = !alone;
  out.sampling = *embedding::sampling_from_name(sampling);
  out.filter = !no_filter;
  out.batch = batch > 0 ? static_cast<embedding::Index>(batch) : products ? 256 : 128;
  out.optimiser =
      optimiser.empty() ? embedding::OptimiserKind::adagrad : *embedding::optimiser_from_name(optimiser);
  out.rate = rate > 0 ? rate : 0.1;
  out.initial = initial > 0 ? initial : 0.05;
  out.n3 = n3 >= 0 ? n3 : products ? 0.05 : 0;
  out.margin = margin >= 0 ? margin : out.loss == embedding::LossKind::margin ? 1 : products ? 0 : 9;
  out.epochs = epochs;
  out.seed = seed;
  out.validate_every = validate_every;
  out.patience = patience;
  out.threads = static_cast<int>(globals.thread_count());
  ASKBASE_TRY(embedding::validate(out));
  return out;
}

}  // namespace askbase::cli
