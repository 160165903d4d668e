// Scores of facts from vectors: TransE and its family behind one small interface. Higher is more plausible.
//
//   h, r, t: rows of the tables of entities and relations; |.| the L1 or L2 norm
//   TransE    -|h + r - t|                                Bordes et al. 2013, eq. 1
//   TransH    -|(h - w(w.h)) + d - (t - w(w.t))|          Wang et al. 2014, section 3.1; relation row: d, w;
//   |w| = 1 TransR    -|M h + r - M t|                            Lin et al. 2015, eq. 8; relation row: r, M
//   by rows RotatE    -|h o e^(i theta) - t|                      Sun et al. 2019, eq. 2; h, t complex;
//   relation row: theta DistMult  sum_i h_i r_i t_i                           Yang et al. 2015, eq. 2 ComplEx
//   Re(sum_i h_i r_i conj(t_i))                 Trouillon et al. 2016, eq. 9; all complex
//
// TransE with L2 is the norm itself, not its square. RotatE with L1 sums the moduli, as its authors do.
//
// All of them are computed as compare(query(anchor, relation), project(candidate)): the query is the
// place where the missing entity should be. It makes one question against many candidates cheap, and for all
// but TransH and TransR (whose candidates depend on the relation) a matrix product.
//
// Layout: a complex row is its real parts, then its imaginary parts. Each part is padded with zeros to
// whole groups of 8 numbers; padding stays zero through scores, gradients and updates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kb/embedding/facts.h"
#include "nn/matrix.h"
#include "nn/team.h"

namespace askbase::kb::embedding {

using nn::Index;

enum class ModelKind : std::uint8_t { transe, transh, transr, rotate, distmult, complex };
std::string_view model_name(ModelKind kind);  // "transe", ...
std::optional<ModelKind> model_from_name(std::string_view name);

enum class Norm : std::uint8_t { l1, l2 };

struct ModelConfig {
  ModelKind kind = ModelKind::transe;
  Index dim = 100;         // numbers of an entity; complex models have half as many complex ones
  Index relation_dim = 0;  // TransR: numbers of the relation's space; 0: as dim
  Norm norm = Norm::l2;    // of the models with a distance
};
// Error invalid_argument: dimension 0 or above 4096, an odd one for a complex model.
base::Status validate(const ModelConfig& config);

// How a query and a candidate are compared.
enum class Comparison : std::uint8_t { dot, l1, l2, moduli };

// The vectors of a model. Rows are padded (see above).
template <typename T>
struct Tables {
  nn::Matrix<T> entities, relations;
};

// Immutable: thread-safe. Every pointer is to a padded row.
template <typename T>
class Model {
 public:
  // The configuration must be valid (std::logic_error).
  static std::unique_ptr<const Model> make(const ModelConfig& config);
  virtual ~Model() = default;

  const ModelConfig& config() const { return config_; }
  virtual Index entity_width() const = 0;    // numbers in a padded row
  virtual Index relation_width() const = 0;  // as above
  virtual Index query_width() const = 0;
  virtual Comparison comparison() const = 0;
  virtual bool projects() const = 0;  // candidates depend on the relation

  virtual T score(const T* head, const T* relation, const T* tail) const = 0;
  // Adds weight times the gradient of the score. Where a norm has none (at zero), 0 is taken.
  virtual void add_gradient(const T* head, const T* relation, const T* tail, T weight, T* d_head,
                            T* d_relation, T* d_tail) const = 0;

  virtual void query(Side missing, const T* anchor, const T* relation, T* query) const = 0;
  virtual void add_query_gradient(Side missing, const T* anchor, const T* relation, const T* d_query,
                                  T* d_anchor, T* d_relation) const = 0;
  // The candidates as this relation sees them: (n, entity_width) -> (n, query_width). Only when projects().
  virtual void project(const T* relation, nn::View<const T> entities, nn::View<T> out,
                       nn::Team& team) const = 0;

  // First vectors: N(0, scale) (relations of RotatE: phases uniform over the circle; w of TransH of length 1;
  // M of TransR the identity). A function of the seed.
  void initialise(Tables<T>& tables, std::size_t entities, std::size_t relations, std::uint64_t seed,
                  double scale) const;
  // One more row of entities as initialise() makes them.
  void initialise_entity(T* row, std::uint64_t seed, std::uint64_t index, double scale) const;
  // Restores what the model promises of a relation's row (TransH: |w| = 1).
  virtual void constrain_relation(T* relation) const = 0;

  // Rows without padding, as files hold them.
  Index entity_size() const;
  Index relation_size() const;
  void pack_entity(const T* row, T* packed) const;
  void unpack_entity(const T* packed, T* row) const;
  void pack_relation(const T* row, T* packed) const;
  void unpack_relation(const T* packed, T* row) const;

 protected:
  explicit Model(const ModelConfig& config) : config_(config) {}
  virtual void initialise_relation(T* row, std::uint64_t seed, std::uint64_t index, double scale) const = 0;
  ModelConfig config_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace askbase::kb::embedding
