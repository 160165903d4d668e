// Training by matrix products. For a batch of queries Q (B, w) and candidates C (N, w), the scores are made
// of Q C^T; with G = d loss / d scores, dQ = G C and dC = G^T Q. The L2 norm needs no more: with d_ij = |q_i
// - c_j| from |q|^2 + |c|^2 - 2 q.c and W = G / d, dQ = W C - rowsum(W) Q and dC = W^T Q - colsum(W) C.
//
// A query stands once in an epoch with all its answers: the gradients are those of the single facts (when
// they share a batch), for the price of one.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "kb/embedding/engine.h"
#include "kb/embedding/kernels.h"
#include "kb/embedding/loss.h"
#include "nn/elementwise.h"
#include "nn/gemm.h"
#include "nn/random.h"

namespace askbase::kb::embedding {

namespace {

constexpr Index kScoreNumbers = Index{1} << 24;  // scores held at a time
constexpr Index kTileRows = 32;                  // queries scored at a time by a thread

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

template <typename T>
T largest(const T* s, Index n, T start) {
  Vector<T> best = splat(start);
  Index j = 0;
  for (; j + kGroup <= n; j += kGroup) {
    const Vector<T> v = load(s + j);
    best = v > best ? v : best;
  }
  T out = start;
  for (Index k = 0; k < kGroup; ++k) out = std::max(out, best[k]);
  for (; j < n; ++j) out = std::max(out, s[j]);
  return out;
}
// Sum in groups: the rest one by one.
template <typename T>
T total(const T* s, Index n) {
  const Index whole = n / kGroup * kGroup;
  T out = sum_groups<T>(whole, [&](Index i) { return load(s + i); });
  for (Index j = whole; j < n; ++j) out += s[j];
  return out;
}

// The loss of one query, and what each score weighs in its gradient.
template <typename T>
struct RowLoss {
  LossKind kind;
  T margin, temperature;
  T correction;  // what a negative counts, in cross-entropy

  // scores: of the candidates, minus infinity where excluded; become their weights. positive: scores of the
  // answers; become their weights. Each answer counts `weight`. `inside`: the answers are among the
  // candidates as well and stay there (1-vs-all unfiltered). Returns the loss.
  double operator()(T* scores, Index n, T* positive, Index answers, T weight, bool inside,
                    std::vector<T>& scratch) const {
    const T all = weight * static_cast<T>(answers);
    double loss = 0;
    if (kind == LossKind::cross_entropy) {
      T top = std::numeric_limits<T>::lowest();
      for (Index i = 0; i < answers; ++i) top = std::max(top, positive[i]);
      top = largest(scores, n, top);
      shift(scores, n, T(1), -top);
      nn::exp(scores, scores, n);
      const T sum = total(scores, n) * correction;
      T factor = 0;
      for (Index i = 0; i < answers; ++i) {
        const T own = std::exp(positive[i] - top), z = inside ? sum : sum + own;
        loss += static_cast<double>(weight * (std::log(z) + top - positive[i]));
        factor += weight / z;
        positive[i] = inside ? -weight : weight * (own / z - T(1));
      }
      shift(scores, n, factor * correction, T(0));
      return loss;
    }
    for (Index i = 0; i < answers; ++i) {
      const T x = margin + positive[i];
      loss += static_cast<double>(weight * softplus(-x));
      positive[i] = -weight * logistic(-x);
    }
    if (kind == LossKind::self_adversarial) {
      scratch.resize(at(n));
      const T top = largest(scores, n, std::numeric_limits<T>::lowest());
      // Excluded ones have no chance, whatever the temperature.
      for (Index j = 0; j < n; ++j) {
        const bool excluded = scores[j] < std::numeric_limits<T>::lowest();
        scratch[at(j)] = excluded ? T(-1000) : temperature * (scores[j] - top);
      }
      nn::exp(scratch.data(), scratch.data(), n);
      const T sum = total(scratch.data(), n);
      const T scale = sum > T(0) ? all / sum : T(0);
      for (Index j = 0; j < n; ++j) {
        if (scratch[at(j)] == T(0)) {
          scores[j] = 0;
          continue;
        }
        const T p = scratch[at(j)] * scale, x = margin + scores[j];
        loss += static_cast<double>(p * softplus(x));
        scores[j] = p * logistic(x);
      }
      return loss;
    }
    for (Index j = 0; j < n; ++j) {  // logistic; of minus infinity both are 0
      const T x = margin + scores[j];
      loss += static_cast<double>(all * softplus(x));
      scores[j] = all * logistic(x);
    }
    return loss;
  }

  static void shift(T* s, Index n, T factor, T summand) {
    for (Index j = 0; j < n; ++j) s[j] = factor * s[j] + summand;
  }
};

template <typename T>
class MatrixEngine final : public Engine<T> {
 public:
  MatrixEngine(const Model<T>& model, const TrainOptions& options, const TrainingFacts& facts, nn::Team& team)
      : model_(model),
        options_(options),
        facts_(facts),
        team_(team),
        index_({facts.facts}),
        order_(index_.size()),
        width_(model.entity_width()),
        l2_(model.comparison() == Comparison::l2) {
    if (model.projects() || (!l2_ && model.comparison() != Comparison::dot))
      throw std::logic_error("kb::embedding: this model has no scores by matrix products");
    const std::size_t relations = facts.relations * (options.reciprocal ? 2 : 1);
    d_entities_ = nn::Matrix<T>(static_cast<Index>(facts.entities), width_);
    d_relations_ = nn::Matrix<T>(static_cast<Index>(relations), model.relation_width());
    entity_.resize(facts.entities);
    relation_.resize(relations);
  }

  std::uint64_t batches() const override {
    return (order_.size() + at(options_.batch) - 1) / at(options_.batch);
  }

  EpochReport epoch(TrainState<T>& state, const std::function<bool(std::uint64_t)>& go_on) override {
    std::iota(order_.begin(), order_.end(), 0U);
    nn::Random(options_.seed, batch_stream(state.epoch, 0) ^ 0x6F72646572ULL).shuffle(order_);
    EpochReport report;
    for (; state.batch < batches(); ++state.batch) {
      if (!go_on(state.batch)) {
        report.finished = false;
        break;
      }
      const std::size_t begin = state.batch * at(options_.batch);
      const std::size_t end = std::min(order_.size(), begin + at(options_.batch));
      train_batch(state, std::span<const std::uint32_t>(order_).subspan(begin, end - begin), report);
    }
    if (report.facts > 0) report.loss /= static_cast<double>(report.facts);
    report.facts /= 2;
    if (report.finished) {
      ++state.epoch;
      state.batch = 0;
    }
    return report;
  }

 private:
  // What is known of a row of a table during one batch.
  struct Touch {
    bool touched = false;
    T count = 0;  // facts that it stands in, for regularisation
  };

  void touch(std::uint32_t entity, T count) {
    Touch& one = entity_[entity];
    if (!one.touched) {
      one.touched = true;
      touched_entities_.push_back(entity);
    }
    one.count += count;
  }
  void touch_relation(std::uint32_t relation, T count) {
    Touch& one = relation_[relation];
    if (!one.touched) {
      one.touched = true;
      touched_relations_.push_back(relation);
    }
    one.count += count;
  }

  // The query as the model is asked it: with inverse relations, always for the tail.
  Query asked(std::uint32_t which) const {
    Query query = index_.query(which);
    if (options_.reciprocal && query.missing == Side::head) {
      query.missing = Side::tail;
      query.relation += static_cast<std::uint32_t>(facts_.relations);
    }
    return query;
  }
  T weight_of(std::size_t answers) const {
    return static_cast<T>(std::pow(static_cast<double>(answers), options_.power - 1));
  }

  void train_batch(TrainState<T>& state, std::span<const std::uint32_t> batch, EpochReport& report) {
    nn::Random random(options_.seed, batch_stream(state.epoch, state.batch + 1));
    const bool all = options_.negatives == 0;
    choose_candidates(state, random);
    make_queries(state, batch, random);
    const Index n = candidates_.rows, rows = static_cast<Index>(batch.size());
    const Index pass = std::clamp<Index>(kScoreNumbers / std::max<Index>(1, n), 1, rows);
    d_queries_.resize(rows, width_);
    d_candidates_.resize(n, width_);
    losses_.assign(at(rows), 0);
    answer_begin_.assign(1, 0);
    for (const std::uint32_t which : batch)
      answer_begin_.push_back(answer_begin_.back() + index_.answers(which).size());
    answer_weights_.resize(answer_begin_.back());
    for (Index begin = 0; begin < rows; begin += pass) {
      const Index count = std::min(pass, rows - begin);
      scores_.resize(count, n);
      team_.parallel_for((count + kTileRows - 1) / kTileRows, 1, [&](Index first, Index last) {
        Scratch scratch;
        for (Index tile = first; tile < last; ++tile) {
          const Index row = tile * kTileRows, tile_rows = std::min(kTileRows, count - row);
          score_tile(state, batch, begin, row, tile_rows, scratch);
        }
      });
      // Gradients of the candidates: each thread has some of them, and all the queries.
      const nn::View<const T> queries = queries_.view().rows_from(begin, count);
      team_.parallel_for((n + 63) / 64, 1, [&](Index first, Index last) {
        const Index from = first * 64, many = std::min(last * 64, n) - from;
        const nn::View<T> block = d_candidates_.view().rows_from(from, many);
        nn::gemm<T>(nn::Op::transpose, nn::Op::none, T(1), scores_.view().cols_from(from, many), queries,
                    begin == 0 ? T(0) : T(1), block);
        if (!l2_) return;
        std::vector<T> sums(at(many), T(0));
        for (Index i = 0; i < count; ++i) {
          const T* w = scores_.row(i) + from;
          for (Index j = 0; j < many; ++j) sums[at(j)] += w[j];
        }
        for (Index j = 0; j < many; ++j)
          add_scaled(block.row(j), -sums[at(j)], candidates_.row(from + j), width_);
      });
    }
    gather_gradients(state, batch, all);
    for (const double loss : losses_) report.loss += loss;
    for (const std::uint32_t which : batch) report.facts += index_.answers(which).size();
    update(state, static_cast<T>(1.0 / static_cast<double>(options_.batch)));
  }

  void choose_candidates(const TrainState<T>& state, nn::Random& random) {
    const nn::Matrix<T>& entities = state.values.entities;
    if (options_.negatives == 0) {
      candidates_ = entities.view();
    } else {
      candidate_ids_.resize(at(options_.negatives));
      for (std::uint32_t& id : candidate_ids_)
        id = static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(entities.rows())));
      std::sort(candidate_ids_.begin(), candidate_ids_.end());
      gathered_.resize(options_.negatives, width_);
      for (std::size_t i = 0; i < candidate_ids_.size(); ++i)
        std::copy_n(entities.row(candidate_ids_[i]), width_, gathered_.row(static_cast<Index>(i)));
      candidates_ = gathered_.view();
    }
    if (!l2_) return;
    squares_.resize(at(candidates_.rows));
    team_.parallel_for(candidates_.rows, 1024, [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) squares_[at(j)] = squares(candidates_.row(j), width_);
    });
  }

  void make_queries(const TrainState<T>& state, std::span<const std::uint32_t> batch, nn::Random& random) {
    const Index rows = static_cast<Index>(batch.size()), relation_width = model_.relation_width();
    queries_.resize(rows, width_);
    const bool drops = options_.dropout > 0;
    if (drops) {
      anchor_mask_.resize(rows, width_);
      relation_mask_.resize(rows, relation_width);
      const double keep = 1 - options_.dropout;
      const auto fill = [&](nn::Matrix<T>& mask) {
        const auto bound = static_cast<std::uint32_t>(keep * 4294967295.0);
        for (Index i = 0; i < mask.size(); ++i)
          mask.data()[i] = random.next_u32() <= bound ? static_cast<T>(1 / keep) : T(0);
      };
      fill(anchor_mask_);
      fill(relation_mask_);
    }
    anchor_.resize(at(width_));
    relation_row_.resize(at(relation_width));
    for (Index i = 0; i < rows; ++i) {
      const Query query = asked(batch[at(i)]);
      const T* anchor = state.values.entities.row(query.anchor);
      const T* relation = state.values.relations.row(query.relation);
      if (drops) std::tie(anchor, relation) = dropped(i, anchor, relation);
      model_.query(query.missing, anchor, relation, queries_.row(i));
    }
  }
  std::pair<const T*, const T*> dropped(Index i, const T* anchor, const T* relation) {
    for (Index k = 0; k < anchor_mask_.cols(); ++k) anchor_[at(k)] = anchor[k] * anchor_mask_(i, k);
    for (Index k = 0; k < relation_mask_.cols(); ++k)
      relation_row_[at(k)] = relation[k] * relation_mask_(i, k);
    return {anchor_.data(), relation_row_.data()};
  }

  struct Scratch {
    std::vector<T> distances, row;
    std::vector<std::uint32_t> excluded;
  };

  // Scores rows [row, row + count) of the pass that begins with query `begin`, and turns them into the
  // weights of the gradient; makes the gradients of their queries.
  void score_tile(const TrainState<T>& state, std::span<const std::uint32_t> batch, Index begin, Index row,
                  Index count, Scratch& scratch) {
    const bool all = options_.negatives == 0;
    const Index n = candidates_.rows;
    const nn::View<T> tile = scores_.view().rows_from(row, count);
    const nn::View<const T> queries = queries_.view().rows_from(begin + row, count);
    nn::gemm<T>(nn::Op::none, nn::Op::transpose, T(1), queries, candidates_, T(0), tile);
    const double corrected =
        all ? 1.0 : static_cast<double>(facts_.entities) / static_cast<double>(options_.negatives);
    const RowLoss<T> row_loss{options_.loss, static_cast<T>(options_.margin),
                              static_cast<T>(options_.temperature), static_cast<T>(corrected)};
    const bool exclude = options_.filter || options_.loss != LossKind::cross_entropy;
    for (Index i = 0; i < count; ++i) {
      const Index global = begin + row + i;
      const T* q = queries.row(i);
      const auto answers = index_.answers(batch[at(global)]);
      T* s = tile.row(i);
      const T q2 = l2_ ? squares(q, width_) : T(0);
      if (l2_) {
        scratch.distances.resize(at(n));
        to_distances(s, q2, n, scratch.distances.data());
      }
      T* positive = answer_weights_.data() + answer_begin_[at(global)];
      for (std::size_t a = 0; a < answers.size(); ++a) {
        positive[a] = all ? s[answers[a]] : own_score(q, q2, state.values.entities.row(answers[a]));
      }
      if (all && exclude) {
        for (const std::uint32_t answer : answers) s[answer] = -std::numeric_limits<T>::infinity();
      } else if (options_.filter) {
        for (std::size_t a = 0, c = 0; a < answers.size() && c < candidate_ids_.size();) {
          if (candidate_ids_[c] < answers[a]) {
            ++c;
          } else if (candidate_ids_[c] > answers[a]) {
            ++a;
          } else {
            s[c++] = -std::numeric_limits<T>::infinity();
          }
        }
      }
      losses_[at(global)] = row_loss(s, n, positive, static_cast<Index>(answers.size()),
                                     weight_of(answers.size()), all && !exclude, scratch.row);
      if (all) {
        for (std::size_t a = 0; a < answers.size(); ++a) s[answers[a]] += positive[a];
      }
      if (l2_) {
        for (Index j = 0; j < n; ++j) s[j] /= scratch.distances[at(j)];
      }
    }
    const nn::View<T> d_queries = d_queries_.view().rows_from(begin + row, count);
    nn::gemm<T>(nn::Op::none, nn::Op::none, T(1), tile, candidates_, T(0), d_queries);
    if (!l2_) return;
    for (Index i = 0; i < count; ++i)
      add_scaled(d_queries.row(i), -total(tile.row(i), n), queries.row(i), width_);
  }

  // In place: dot products become minus the distances, which are kept as well.
  void to_distances(T* s, T q2, Index n, T* distances) const {
    const T* c2 = squares_.data();
    for (Index j = 0; j < n; ++j) {
      const T square = q2 + c2[j] - T(2) * s[j];
      const T distance = std::sqrt(square > kLeast ? square : kLeast);
      distances[j] = distance;
      s[j] = -distance;
    }
  }
  T own_score(const T* q, T q2, const T* c) const {
    const T product = dot(q, c, width_);
    return l2_ ? -std::sqrt(std::max(kLeast, q2 + squares(c, width_) - T(2) * product)) : product;
  }

  // From gradients of queries and candidates to those of the tables.
  void gather_gradients(const TrainState<T>& state, std::span<const std::uint32_t> batch, bool all) {
    const nn::Matrix<T>& entities = state.values.entities;
    if (all) {
      std::swap(d_entities_, d_candidates_);
      for (std::uint32_t e = 0; e < facts_.entities; ++e) touch(e, T(0));
    } else {
      for (std::size_t c = 0; c < candidate_ids_.size(); ++c) {
        touch(candidate_ids_[c], T(0));
        add_scaled(d_entities_.row(candidate_ids_[c]), T(1), d_candidates_.row(static_cast<Index>(c)),
                   width_);
      }
    }
    std::vector<T> d_anchor(at(width_)), d_relation(at(model_.relation_width()));
    for (Index i = 0; i < static_cast<Index>(batch.size()); ++i) {
      const std::uint32_t which = batch[at(i)];
      const Query query = asked(which);
      const auto answers = index_.answers(which);
      const T weight = weight_of(answers.size());
      const T* q = queries_.row(i);
      T* dq = d_queries_.row(i);
      const T* own = answer_weights_.data() + answer_begin_[at(i)];
      for (std::size_t a = 0; a < answers.size(); ++a) {
        touch(answers[a], weight);
        if (all) continue;
        const T* c = entities.row(answers[a]);
        T* dc = d_entities_.row(answers[a]);
        if (l2_) {
          const T w = own[a] / distance(q, c);
          for (Index k = 0; k < width_; k += kGroup) {
            const Vector<T> g = w * (load(q + k) - load(c + k));
            store<T>(dc + k, load(dc + k) + g);
            store<T>(dq + k, load(dq + k) - g);
          }
        } else {
          add_scaled(dc, own[a], q, width_);
          add_scaled(dq, own[a], c, width_);
        }
      }
      const T whole = weight * static_cast<T>(answers.size());
      touch(query.anchor, whole);
      touch_relation(query.relation, whole);
      const T* anchor = entities.row(query.anchor);
      const T* relation = state.values.relations.row(query.relation);
      if (options_.dropout > 0) {
        std::tie(anchor, relation) = dropped(i, anchor, relation);
        std::fill(d_anchor.begin(), d_anchor.end(), T(0));
        std::fill(d_relation.begin(), d_relation.end(), T(0));
        model_.add_query_gradient(query.missing, anchor, relation, dq, d_anchor.data(), d_relation.data());
        T* da = d_entities_.row(query.anchor);
        T* dr = d_relations_.row(query.relation);
        for (Index k = 0; k < width_; ++k) da[k] += d_anchor[at(k)] * anchor_mask_(i, k);
        for (Index k = 0; k < relation_mask_.cols(); ++k) dr[k] += d_relation[at(k)] * relation_mask_(i, k);
      } else {
        model_.add_query_gradient(query.missing, anchor, relation, dq, d_entities_.row(query.anchor),
                                  d_relations_.row(query.relation));
      }
    }
  }
  T distance(const T* q, const T* c) const { return -own_score(q, squares(q, width_), c); }

  void update(TrainState<T>& state, T scale) {
    ++state.step;
    const RowUpdate<T> rule(options_, rate_of(options_, state.epoch), state.step);
    const auto apply = [&](nn::Matrix<T>& values, nn::Matrix<T>& squares, nn::Matrix<T>& means,
                           nn::Matrix<T>& gradients, std::vector<std::uint32_t>& rows,
                           std::vector<Touch>& touches, bool entities) {
      const Index n = values.cols();
      team_.parallel_for(static_cast<Index>(rows.size()), 64, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const Index r = rows[at(i)];
          T* gradient = gradients.row(r);
          regularise(values.row(r), gradient, n, touches[at(r)].count, entities);
          for (Index k = 0; k < n; ++k) gradient[k] *= scale;
          rule.apply(values.row(r), gradient, squares.empty() ? nullptr : squares.row(r),
                     means.empty() ? nullptr : means.row(r), n);
          if (entities && options_.unit_entities) {
            const T length = std::sqrt(embedding::squares(values.row(r), n));
            if (length > T(0)) {
              for (Index k = 0; k < n; ++k) values.row(r)[k] /= length;
            }
          }
          if (!entities) model_.constrain_relation(values.row(r));
          std::fill(gradient, gradient + n, T(0));
          touches[at(r)] = {};
        }
      });
      rows.clear();
    };
    apply(state.values.entities, state.squares.entities, state.means.entities, d_entities_, touched_entities_,
          entity_, true);
    apply(state.values.relations, state.squares.relations, state.means.relations, d_relations_,
          touched_relations_, relation_, false);
  }

  void regularise(const T* row, T* gradient, Index n, T count, bool entity) const {
    if (count == T(0)) return;
    const bool phases = !entity && model_.config().kind == ModelKind::rotate;  // angles have no size
    if (phases) return;
    if (options_.l2 > 0) {
      const T twice = static_cast<T>(2 * options_.l2) * count;
      for (Index k = 0; k < n; ++k) gradient[k] += twice * row[k];
    }
    if (options_.n3 > 0) {
      const T thrice = static_cast<T>(3 * options_.n3) * count;
      const ModelKind kind = model_.config().kind;
      if (kind == ModelKind::complex || kind == ModelKind::rotate) {
        const Index half = n / 2;
        for (Index k = 0; k < half; ++k) {
          const T factor = thrice * std::sqrt(row[k] * row[k] + row[half + k] * row[half + k]);
          gradient[k] += factor * row[k];
          gradient[half + k] += factor * row[half + k];
        }
      } else {
        for (Index k = 0; k < n; ++k) gradient[k] += thrice * std::abs(row[k]) * row[k];
      }
    }
  }

  static constexpr T kLeast = T(1e-12);  // of a squared distance

  const Model<T>& model_;
  const TrainOptions options_;
  const TrainingFacts facts_;
  nn::Team& team_;
  const QueryIndex index_;
  std::vector<std::uint32_t> order_;
  const Index width_;
  const bool l2_;

  // Of the batch.
  nn::View<const T> candidates_;
  std::vector<std::uint32_t> candidate_ids_;  // ascending; of shared negatives
  nn::Matrix<T> gathered_, queries_, d_queries_, d_candidates_, scores_, anchor_mask_, relation_mask_;
  std::vector<T> squares_, anchor_, relation_row_, answer_weights_;
  std::vector<std::size_t> answer_begin_;
  std::vector<double> losses_;

  nn::Matrix<T> d_entities_, d_relations_;  // zero between batches
  std::vector<Touch> entity_, relation_;
  std::vector<std::uint32_t> touched_entities_, touched_relations_;
};

}  // namespace

template <typename T>
std::unique_ptr<Engine<T>> matrix_engine(const Model<T>& model, const TrainOptions& options,
                                         const TrainingFacts& facts, nn::Team& team) {
  return std::make_unique<MatrixEngine<T>>(model, options, facts, team);
}

template std::unique_ptr<Engine<float>> matrix_engine(const Model<float>&, const TrainOptions&,
                                                      const TrainingFacts&, nn::Team&);
template std::unique_ptr<Engine<double>> matrix_engine(const Model<double>&, const TrainOptions&,
                                                       const TrainingFacts&, nn::Team&);

}  // namespace askbase::kb::embedding
