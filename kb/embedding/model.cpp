#include "kb/embedding/model.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <sys/mman.h>
#include <vector>

#include "kb/embedding/kernels.h"
#include "kb/embedding/table.h"
#include "nn/gemm.h"
#include "nn/random.h"

namespace askbase::kb::embedding {

namespace {

constexpr std::array<std::string_view, 6> names = {"transe", "transh",   "transr",
                                                   "rotate", "distmult", "complex"};

bool is_complex(ModelKind kind) { return kind == ModelKind::rotate || kind == ModelKind::complex; }

// A padded row is `parts` parts of `padded` numbers, of which the first `size` count.
struct Parts {
  Index parts = 1, size = 0, padded = 0;
};
Parts parts_of(Index parts, Index size) { return {parts, size, round_up(size, kGroup)}; }

Parts entity_parts(const ModelConfig& config) {
  return is_complex(config.kind) ? parts_of(2, config.dim / 2) : parts_of(1, config.dim);
}

// TransR: r has relation_dim numbers, each row of M dim; these parts differ, so M comes apart.
Index space_of(const ModelConfig& config) {
  return config.relation_dim > 0 ? config.relation_dim : config.dim;
}
Parts relation_parts(const ModelConfig& config) {
  switch (config.kind) {
    case ModelKind::complex:
      return parts_of(2, config.dim / 2);
    case ModelKind::rotate:
      return parts_of(1, config.dim / 2);
    case ModelKind::transh:
      return parts_of(2, config.dim);
    case ModelKind::transr:
      return parts_of(1, space_of(config));
    case ModelKind::transe:
    case ModelKind::distmult:
      break;
  }
  return parts_of(1, config.dim);
}

template <typename T>
void pack(const Parts& parts, const T* row, T* packed) {
  for (Index p = 0; p < parts.parts; ++p) {
    std::copy_n(row + p * parts.padded, parts.size, packed + p * parts.size);
  }
}
template <typename T>
void unpack(const Parts& parts, const T* packed, T* row) {
  for (Index p = 0; p < parts.parts; ++p) {
    std::copy_n(packed + p * parts.size, parts.size, row + p * parts.padded);
    std::fill(row + p * parts.padded + parts.size, row + (p + 1) * parts.padded, T(0));
  }
}

constexpr std::uint64_t entity_stream = 0x656E7469, relation_stream = 0x72656C61;

template <typename T, typename Kernel>
class ModelOf final : public Model<T> {
 public:
  ModelOf(const ModelConfig& config, const Kernel& kernel) : Model<T>(config), kernel_(kernel) {}

  Index entity_width() const override { return kernel_.width; }
  Index relation_width() const override { return kernel_.relation_width(); }
  Index query_width() const override { return kernel_.query_width(); }
  Comparison comparison() const override { return Kernel::comparison; }
  bool projects() const override { return Kernel::projects; }
  void constrain_relation(T* relation) const override { kernel_.constrain_relation(relation); }

  T score(const T* head, const T* relation, const T* tail) const override {
    std::vector<T> q(size(query_width())), p;
    kernel_.query(Side::tail, head, relation, q.data());
    return kernel_.compare(q.data(), seen(relation, tail, p));
  }

  void add_gradient(const T* head, const T* relation, const T* tail, T weight, T* d_head, T* d_relation,
                    T* d_tail) const override {
    const std::size_t n = size(query_width());
    std::vector<T> q(n), dq(n, T(0)), p, dp(n, T(0));
    kernel_.query(Side::tail, head, relation, q.data());
    const T* place = seen(relation, tail, p);
    const T s = kernel_.compare(q.data(), place);
    if constexpr (Kernel::projects) {
      kernel_.add_compare_gradient(q.data(), place, s, weight, dq.data(), dp.data());
      kernel_.add_project_gradient(relation, tail, dp.data(), d_tail, d_relation);
    } else {
      kernel_.add_compare_gradient(q.data(), place, s, weight, dq.data(), d_tail);
    }
    kernel_.add_query_gradient(Side::tail, head, relation, q.data(), dq.data(), d_head, d_relation);
  }

  void query(Side missing, const T* anchor, const T* relation, T* query) const override {
    kernel_.query(missing, anchor, relation, query);
  }
  void add_query_gradient(Side missing, const T* anchor, const T* relation, const T* d_query, T* d_anchor,
                          T* d_relation) const override {
    thread_local std::vector<T> q;
    q.resize(size(query_width()));
    kernel_.query(missing, anchor, relation, q.data());
    kernel_.add_query_gradient(missing, anchor, relation, q.data(), d_query, d_anchor, d_relation);
  }

  void project(const T* relation, nn::View<const T> entities, nn::View<T> out,
               nn::Team& team) const override {
    if constexpr (Kernel::projects) {
      if (this->config_.kind == ModelKind::transr) {
        const Index space = query_width(), width = entity_width();
        nn::gemm<T>(nn::Op::none, nn::Op::transpose, T(1), entities,
                    nn::View<const T>(relation + space, space, width), T(0), out, team);
        return;
      }
      team.parallel_for(entities.rows, 256, [&](Index begin, Index end) {
        for (Index e = begin; e < end; ++e) kernel_.project(relation, entities.row(e), out.row(e));
      });
    } else {
      throw std::logic_error("kb::embedding: this model projects no candidates");
    }
  }

 private:
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
  const T* seen(const T* relation, const T* candidate, std::vector<T>& p) const {
    if constexpr (Kernel::projects) {
      p.resize(size(query_width()));
      kernel_.project(relation, candidate, p.data());
      return p.data();
    } else {
      return candidate;
    }
  }

  void initialise_relation(T* row, std::uint64_t seed, std::uint64_t index, double scale) const override {
    nn::Random random(seed, relation_stream + (index << 32));
    std::fill(row, row + relation_width(), T(0));
    std::vector<T> packed(size(this->relation_size()));
    if (this->config_.kind == ModelKind::rotate) {
      for (T& x : packed) x = static_cast<T>(random.uniform(-std::numbers::pi, std::numbers::pi));
    } else if (this->config_.kind == ModelKind::transr) {
      const Index space = space_of(this->config_), dim = this->config_.dim;
      for (Index k = 0; k < space; ++k) {
        packed[size(k)] = static_cast<T>(scale * random.normal());
        if (k < dim) packed[size(space + k * dim + k)] = T(1);
      }
    } else {
      for (T& x : packed) x = static_cast<T>(scale * random.normal());
    }
    this->unpack_relation(packed.data(), row);
    kernel_.constrain_relation(row);
  }

  Kernel kernel_;
};

}  // namespace

void want_huge_pages(void* memory, std::size_t bytes) {
  constexpr std::size_t huge = std::size_t{2} << 20, worth_it = 4 * huge;
  if (bytes < worth_it) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + huge - 1) / huge * huge;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / huge * huge;
  // Advice only: without it, everything works more slowly.
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

std::string_view model_name(ModelKind kind) { return names.at(static_cast<std::size_t>(kind)); }

std::optional<ModelKind> model_from_name(std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<ModelKind>(at - names.begin());
}

base::Status validate(const ModelConfig& config) {
  const auto refuse = [](std::string message, std::string hint) {
    return base::fail(base::ErrorCode::invalid_argument, std::move(message), std::move(hint));
  };
  if (config.dim < 1 || config.dim > 4096) {
    return refuse("an embedding cannot have " + std::to_string(config.dim) + " dimensions",
                  "give --dim between 1 and 4096; 100 to 200 is usual");
  }
  if (config.relation_dim < 0 || config.relation_dim > 4096) {
    return refuse("a relation's space cannot have " + std::to_string(config.relation_dim) + " dimensions",
                  "give --relation-dim between 1 and 4096");
  }
  if (is_complex(config.kind) && config.dim % 2 != 0) {
    return refuse(std::string(model_name(config.kind)) + " needs an even number of dimensions, not " +
                      std::to_string(config.dim),
                  "its vectors are complex: half real, half imaginary parts");
  }
  return {};
}

template <typename T>
std::unique_ptr<const Model<T>> Model<T>::make(const ModelConfig& config) {
  if (!validate(config)) throw std::logic_error("kb::embedding: a model of an invalid configuration");
  return with_kernel<T>(config, [&](const auto& kernel) -> std::unique_ptr<const Model<T>> {
    return std::make_unique<ModelOf<T, std::decay_t<decltype(kernel)>>>(config, kernel);
  });
}

template <typename T>
void Model<T>::initialise(Tables<T>& tables, std::size_t entities, std::size_t relations, std::uint64_t seed,
                          double scale) const {
  tables.entities = make_table<T>(static_cast<Index>(entities), entity_width());
  tables.relations = make_table<T>(static_cast<Index>(relations), relation_width());
  for (Index e = 0; e < tables.entities.rows(); ++e)
    initialise_entity(tables.entities.row(e), seed, static_cast<std::uint64_t>(e), scale);
  for (Index r = 0; r < tables.relations.rows(); ++r)
    initialise_relation(tables.relations.row(r), seed, static_cast<std::uint64_t>(r), scale);
}

template <typename T>
void Model<T>::initialise_entity(T* row, std::uint64_t seed, std::uint64_t index, double scale) const {
  nn::Random random(seed, entity_stream + (index << 32));
  std::vector<T> packed(static_cast<std::size_t>(entity_size()));
  for (T& x : packed) x = static_cast<T>(scale * random.normal());
  unpack_entity(packed.data(), row);
}

template <typename T>
Index Model<T>::entity_size() const {
  const Parts parts = entity_parts(config_);
  return parts.parts * parts.size;
}
template <typename T>
Index Model<T>::relation_size() const {
  const Parts parts = relation_parts(config_);
  return parts.parts * parts.size + (config_.kind == ModelKind::transr ? parts.size * config_.dim : 0);
}
template <typename T>
void Model<T>::pack_entity(const T* row, T* packed) const {
  pack(entity_parts(config_), row, packed);
}
template <typename T>
void Model<T>::unpack_entity(const T* packed, T* row) const {
  unpack(entity_parts(config_), packed, row);
}
template <typename T>
void Model<T>::pack_relation(const T* row, T* packed) const {
  const Parts parts = relation_parts(config_);
  pack(parts, row, packed);
  if (config_.kind != ModelKind::transr) return;
  pack({parts.size, config_.dim, round_up(config_.dim, kGroup)}, row + parts.padded, packed + parts.size);
}
template <typename T>
void Model<T>::unpack_relation(const T* packed, T* row) const {
  const Parts parts = relation_parts(config_);
  unpack(parts, packed, row);
  if (config_.kind != ModelKind::transr) return;
  std::fill(row + parts.padded, row + relation_width(), T(0));
  unpack({parts.size, config_.dim, round_up(config_.dim, kGroup)}, packed + parts.size, row + parts.padded);
}

template class Model<float>;
template class Model<double>;

}  // namespace askbase::kb::embedding
