// Training fact by fact: each visit replaces one end of the fact by negatives of its own, and updates the
// rows at once. Threads share the tables without locks (Hogwild, Recht et al. 2011): facts rarely meet in a
// row, and a lost update of one of them does no harm. Facts come in chunks whose random numbers depend on
// seed, epoch and chunk alone.
//
// At a few hundred nanoseconds a fact, memory is what counts: rows are prefetched some facts ahead.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "kb/embedding/engine.h"
#include "kb/embedding/kernels.h"
#include "kb/embedding/loss.h"

namespace askbase::kb::embedding {

namespace {

constexpr std::uint64_t kChunk = 2048;                  // facts
constexpr std::uint64_t kChunksPerThread = 32;          // between two questions whether to go on
constexpr std::size_t kAhead = 4;                       // facts whose rows are fetched before their turn
constexpr std::size_t kCached = std::size_t{32} << 20;  // bytes of a table that caches hold
constexpr std::size_t kPool = 512;  // entities that the negatives of a chunk come from then
constexpr int kTries = 16;          // for a negative that is no fact

// SplitMix64 (Steele, Lea & Flood 2014): a few cycles a number.
class FastRandom {
 public:
  explicit FastRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

template <typename T>
void prefetch(const T* row, Index n) {
  for (Index i = 0; i < n; i += static_cast<Index>(64 / sizeof(T))) __builtin_prefetch(row + i, 1, 2);
}

// The loss of a fact and its negatives; the scores become the derivatives by them.
template <typename T>
struct FactLoss {
  LossKind kind;
  T margin, temperature;

  T operator()(T& positive, T* negative, Index n, std::uint64_t& active) const {
    switch (kind) {
      case LossKind::margin: {
        T loss = 0, count = 0;
        for (Index j = 0; j < n; ++j) {
          const T gap = margin - positive + negative[j];
          negative[j] = gap > T(0) ? T(1) : T(0);
          if (gap <= T(0)) continue;
          loss += gap;
          count += T(1);
        }
        active += static_cast<std::uint64_t>(count);
        positive = -count;
        return loss;
      }
      case LossKind::logistic: {
        T loss = softplus(-(margin + positive));
        positive = -logistic(-(margin + positive));
        for (Index j = 0; j < n; ++j) {
          loss += softplus(margin + negative[j]);
          negative[j] = logistic(margin + negative[j]);
        }
        return loss;
      }
      case LossKind::self_adversarial: {
        T loss = softplus(-(margin + positive)), sum = 0;
        positive = -logistic(-(margin + positive));
        const T top = *std::max_element(negative, negative + n);
        for (Index j = 0; j < n; ++j) sum += std::exp(temperature * (negative[j] - top));
        for (Index j = 0; j < n; ++j) {
          const T p = std::exp(temperature * (negative[j] - top)) / sum, x = margin + negative[j];
          loss += p * softplus(x);
          negative[j] = p * logistic(x);
        }
        return loss;
      }
      case LossKind::cross_entropy:
        break;
    }
    const T top = std::max(positive, *std::max_element(negative, negative + n));
    T sum = std::exp(positive - top);
    const T own = sum;
    for (Index j = 0; j < n; ++j) sum += negative[j] = std::exp(negative[j] - top);
    const T loss = std::log(sum) + top - positive;
    positive = own / sum - T(1);
    for (Index j = 0; j < n; ++j) negative[j] /= sum;
    return loss;
  }
};

// A fact to train on: what is asked, its answer, and where its negatives stand.
struct Task {
  Query asked;
  std::uint32_t answer = 0;
};

// What one thread works with.
template <typename T>
struct Scratch {
  std::vector<Task> tasks;
  std::vector<Side> missing;             // of the facts of the tasks
  std::vector<std::uint32_t> pool;       // where they come from; empty: from everywhere
  std::vector<std::uint32_t> negatives;  // of all tasks of a chunk
  std::vector<T> q, dq, places, d_place, d_row, d_relation, scores;
};

template <typename Kernel>
struct IsTransE : std::false_type {};
template <typename T, typename Compare>
struct IsTransE<TransEKernel<T, Compare>> : std::true_type {};

template <typename T, typename Kernel>
class SampledEngine final : public Engine<T> {
 public:
  SampledEngine(const Kernel& kernel, const TrainOptions& options, const TrainingFacts& facts)
      : kernel_(kernel),
        options_(options),
        facts_(facts),
        count_(std::max<Index>(1, options.negatives)),
        loss_{options.loss, static_cast<T>(options.margin), static_cast<T>(options.temperature)},
        team_(options.deterministic ? 1 : options.threads),
        order_(facts.facts.size()) {
    if (options.filter) filter_ = FactFilter(facts.facts);
    if (options.sampling != Sampling::uniform)
      statistics_ = relation_statistics(facts.facts, facts.relations);
    if (options.sampling == Sampling::bernoulli) {
      for (RelationStatistics& one : statistics_) one.heads = one.tails = {};
    }
    // The step without buffers, where there is one.
    plain_ = IsTransE<Kernel>::value && options.loss == LossKind::margin &&
             options.optimiser == OptimiserKind::sgd && count_ == 1 && options.l2 == 0 && options.n3 == 0;
  }

  std::uint64_t batches() const override { return (order_.size() + kChunk - 1) / kChunk; }

  EpochReport epoch(TrainState<T>& state, const std::function<bool(std::uint64_t)>& go_on) override {
    std::iota(order_.begin(), order_.end(), 0U);
    FastRandom random(options_.seed ^ batch_stream(state.epoch, 0));
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[random.below(static_cast<std::uint32_t>(i))]);
    EpochReport report;
    const std::uint64_t chunks = batches();
    const auto threads = static_cast<std::uint64_t>(team_.size());
    scratch_.resize(threads);
    while (state.batch < chunks) {
      if (!go_on(state.batch)) {
        report.finished = false;
        break;
      }
      const std::uint64_t count = std::min(chunks - state.batch, kChunksPerThread * threads);
      reports_.assign(count, {});
      // Each thread takes the next chunk when it is free: one that gets less of its processor takes fewer.
      std::atomic<std::uint64_t> next = 0;
      team_.parallel_for(static_cast<Index>(std::min(threads, count)), 1, [&](Index begin, Index end) {
        for (auto t = static_cast<std::uint64_t>(begin); t < static_cast<std::uint64_t>(end); ++t) {
          for (std::uint64_t c = next++; c < count; c = next++)
            train_chunk(state, state.batch + c, scratch_[t], reports_[c]);
        }
      });
      state.batch += count;
      for (const EpochReport& one : reports_) {
        report.loss += one.loss;
        report.facts += one.facts;
        report.pairs += one.pairs;
        report.active += one.active;
      }
      state.step += 1;
    }
    if (report.facts > 0) report.loss /= static_cast<double>(report.facts);
    if (report.finished) {
      ++state.epoch;
      state.batch = 0;
    }
    return report;
  }

 private:
  std::size_t size(Index n) const { return static_cast<std::size_t>(n); }

  bool replaces_head(const Fact& fact, FastRandom& random) const {
    if (options_.sampling == Sampling::uniform) return (random.next() >> 63) != 0;
    const RelationStatistics& one = statistics_[fact.relation];
    const double chance = one.tails_per_head / (one.tails_per_head + one.heads_per_tail);
    return static_cast<double>(random.next() >> 11) * 0x1.0p-53 < chance;
  }

  // Something for the missing end. late: the first tries all were facts; where everything of a type is true,
  // any entity has to do.
  std::uint32_t pick(const Fact& fact, Side missing, FastRandom& random, const Scratch<T>& scratch,
                     bool late) const {
    if (options_.sampling == Sampling::typed && !late) {
      const RelationStatistics& one = statistics_[fact.relation];
      const auto& pool = missing == Side::tail ? one.tails : one.heads;
      if (pool.size() > 1) return pool[random.below(static_cast<std::uint32_t>(pool.size()))];
    }
    if (scratch.pool.empty() || late) return random.below(static_cast<std::uint32_t>(facts_.entities));
    return scratch.pool[random.below(static_cast<std::uint32_t>(scratch.pool.size()))];
  }
  static Fact with(const Fact& fact, Side missing, std::uint32_t entity) {
    return missing == Side::tail ? Fact{fact.head, fact.relation, entity}
                                 : Fact{entity, fact.relation, fact.tail};
  }
  bool allowed(const Fact& fact, Side missing, std::uint32_t entity) const {
    return options_.filter ? !filter_.contains(with(fact, missing, entity))
                           : entity != answer_of(fact, missing);
  }

  void prepare(std::uint64_t begin, std::uint64_t end, FastRandom& random, Scratch<T>& scratch) const {
    scratch.tasks.clear();
    scratch.missing.clear();
    scratch.negatives.clear();
    scratch.pool.clear();
    // Beyond the caches, the negatives of a chunk come from few entities, whose rows stay near.
    const std::size_t table = facts_.entities * static_cast<std::size_t>(kernel_.width) * sizeof(T);
    if (table > kCached && options_.sampling != Sampling::typed) {
      for (std::size_t k = 0; k < kPool; ++k)
        scratch.pool.push_back(random.below(static_cast<std::uint32_t>(facts_.entities)));
    }
    for (std::uint64_t i = begin; i < end; ++i) {
      if (i + 16 < end) __builtin_prefetch(&facts_.facts[order_[i + 16]]);
      const Fact& fact = facts_.facts[order_[i]];
      const Side missing = replaces_head(fact, random) ? Side::head : Side::tail;
      Task task{query_of(fact, missing), answer_of(fact, missing)};
      if (options_.reciprocal && missing == Side::head) {
        task.asked.missing = Side::tail;
        task.asked.relation += static_cast<std::uint32_t>(facts_.relations);
      }
      scratch.tasks.push_back(task);
      scratch.missing.push_back(missing);
      for (Index j = 0; j < count_; ++j) {
        scratch.negatives.push_back(pick(fact, missing, random, scratch, false));
        if (options_.filter) filter_.prefetch(with(fact, missing, scratch.negatives.back()));
      }
    }
    // In a second round, when the places in the filter have come near.
    std::size_t k = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const Fact& fact = facts_.facts[order_[i]];
      const Side missing = scratch.missing[i - begin];
      for (Index j = 0; j < count_; ++j, ++k) {
        std::uint32_t& negative = scratch.negatives[k];
        for (int attempt = 1; attempt < kTries && !allowed(fact, missing, negative); ++attempt)
          negative = pick(fact, missing, random, scratch, attempt >= kTries / 2);
      }
    }
  }

  void fetch(const TrainState<T>& state, const Scratch<T>& scratch, std::size_t task) const {
    const Task& one = scratch.tasks[task];
    const auto rows = [&](const Tables<T>& tables) {
      if (tables.entities.empty()) return;
      prefetch(tables.entities.row(one.asked.anchor), kernel_.width);
      // Other threads write it, too. Of TransR's the matrix comes as it is read.
      prefetch(tables.relations.row(one.asked.relation), std::min<Index>(kernel_.relation_width(), 256));
      prefetch(tables.entities.row(one.answer), kernel_.width);
      for (Index j = 0; j < std::min<Index>(count_, 8); ++j)
        prefetch(tables.entities.row(scratch.negatives[task * size(count_) + size(j)]), kernel_.width);
    };
    rows(state.values);
    rows(state.squares);
  }

  __attribute__((no_sanitize("thread"))) void train_chunk(TrainState<T>& state, std::uint64_t chunk,
                                                          Scratch<T>& scratch, EpochReport& report) {
    FastRandom random(options_.seed ^ batch_stream(state.epoch, chunk + 1));
    const std::uint64_t begin = chunk * kChunk, end = std::min<std::uint64_t>(order_.size(), begin + kChunk);
    prepare(begin, end, random, scratch);
    const std::uint64_t steps = state.epoch * order_.size() + begin + 1;
    const double rate = rate_of(options_, state.epoch);
    const RowUpdate<T> rule(options_, rate, steps);
    for (std::size_t i = 0; i < std::min(kAhead, scratch.tasks.size()); ++i) fetch(state, scratch, i);
    double loss = 0;
    for (std::size_t i = 0; i < scratch.tasks.size(); ++i) {
      if (i + kAhead < scratch.tasks.size()) fetch(state, scratch, i + kAhead);
      if constexpr (IsTransE<Kernel>::value) {
        if (plain_) {
          loss += plain_step(state.values, scratch.tasks[i], scratch.negatives[i], static_cast<T>(rate),
                             report.active);
          continue;
        }
      }
      loss += step(state, scratch.tasks[i], scratch.negatives.data() + i * size(count_), rule, scratch,
                   report.active);
    }
    report.loss = loss;
    report.facts = scratch.tasks.size();
    report.pairs = report.facts * static_cast<std::uint64_t>(count_);
  }

  // TransE, margin loss, one negative, SGD: two passes over the four rows.
  T plain_step(Tables<T>& tables, const Task& task, std::uint32_t negative, T rate,
               std::uint64_t& active) const {
    const Index n = kernel_.width;
    T* a = tables.entities.row(task.asked.anchor);
    T* r = tables.relations.row(task.asked.relation);
    T* p = tables.entities.row(task.answer);
    T* m = tables.entities.row(negative);
    const Vector<T> sign = splat(task.asked.missing == Side::tail ? T(1) : T(-1));
    constexpr bool l1 = Kernel::comparison == Comparison::l1;
    Vector<T> sp{}, sm{};
    for (Index i = 0; i < n; i += kGroup) {
      const Vector<T> q = load(a + i) + sign * load(r + i);
      const Vector<T> ep = q - load(p + i), em = q - load(m + i);
      sp += l1 ? absolute<T>(ep) : ep * ep;
      sm += l1 ? absolute<T>(em) : em * em;
    }
    T to_p = sum_of<T>(sp), to_m = sum_of<T>(sm), scale_p = rate, scale_m = rate;
    if constexpr (!l1) {
      to_p = std::sqrt(to_p);
      to_m = std::sqrt(to_m);
      scale_p = to_p > T(0) ? rate / to_p : T(0);
      scale_m = to_m > T(0) ? rate / to_m : T(0);
    }
    const T loss = loss_.margin + to_p - to_m;
    if (loss <= T(0)) return T(0);
    ++active;
    for (Index i = 0; i < n; i += kGroup) {
      const Vector<T> va = load(a + i), vr = load(r + i), vp = load(p + i), vm = load(m + i);
      const Vector<T> q = va + sign * vr;
      const Vector<T> gp = scale_p * (l1 ? sign_of<T>(q - vp) : q - vp);
      const Vector<T> gm = scale_m * (l1 ? sign_of<T>(q - vm) : q - vm);
      const Vector<T> dq = gp - gm;
      store<T>(a + i, va - dq);
      store<T>(r + i, vr - sign * dq);
      // Read anew: the anchor may be the answer or the negative.
      store<T>(p + i, load(p + i) + gp);
      store<T>(m + i, load(m + i) - gm);
    }
    if (options_.unit_entities) {
      into_unit_ball(a);
      into_unit_ball(p);
      into_unit_ball(m);
    }
    return loss;
  }
  void into_unit_ball(T* row) const {
    const T square = squares(row, kernel_.width);
    if (square <= T(1)) return;
    const T factor = T(1) / std::sqrt(square);
    for (Index i = 0; i < kernel_.width; i += kGroup) store<T>(row + i, factor * load(row + i));
  }

  T step(TrainState<T>& state, const Task& task, const std::uint32_t* negatives, const RowUpdate<T>& rule,
         Scratch<T>& scratch, std::uint64_t& active) const {
    const Index width = kernel_.width, query_width = kernel_.query_width();
    scratch.q.resize(size(query_width));
    scratch.scores.resize(size(count_ + 1));
    if constexpr (Kernel::projects) scratch.places.resize(size((count_ + 1) * query_width));
    nn::Matrix<T>& entities = state.values.entities;
    T* relation = state.values.relations.row(task.asked.relation);
    kernel_.query(task.asked.missing, entities.row(task.asked.anchor), relation, scratch.q.data());
    // Candidate 0 is the answer, the others are the negatives.
    const auto candidate = [&](Index j) { return j == 0 ? task.answer : negatives[j - 1]; };
    const auto place = [&](Index j) -> const T* {
      if constexpr (Kernel::projects) {
        return scratch.places.data() + j * query_width;
      } else {
        return entities.row(candidate(j));
      }
    };
    for (Index j = 0; j <= count_; ++j) {
      if constexpr (Kernel::projects)
        kernel_.project(relation, entities.row(candidate(j)), scratch.places.data() + j * query_width);
      scratch.scores[size(j)] = kernel_.compare(scratch.q.data(), place(j));
    }
    thread_local std::vector<T> weights;
    weights = scratch.scores;
    const T loss = loss_(weights[0], weights.data() + 1, count_, active);
    if (loss <= T(0) && options_.l2 == 0 && options_.n3 == 0) return T(0);

    scratch.dq.assign(size(query_width), T(0));
    scratch.d_relation.assign(size(kernel_.relation_width()), T(0));
    for (Index j = 0; j <= count_; ++j) {
      if (weights[size(j)] == T(0) && j > 0) continue;
      scratch.d_row.assign(size(width), T(0));
      T* row = entities.row(candidate(j));
      if constexpr (Kernel::projects) {
        scratch.d_place.assign(size(query_width), T(0));
        kernel_.add_compare_gradient(scratch.q.data(), place(j), scratch.scores[size(j)], weights[size(j)],
                                     scratch.dq.data(), scratch.d_place.data());
        kernel_.add_project_gradient(relation, row, scratch.d_place.data(), scratch.d_row.data(),
                                     scratch.d_relation.data());
      } else {
        kernel_.add_compare_gradient(scratch.q.data(), row, scratch.scores[size(j)], weights[size(j)],
                                     scratch.dq.data(), scratch.d_row.data());
      }
      if (j == 0) regularise(row, scratch.d_row.data(), width);
      update_entity(state, candidate(j), scratch.d_row.data(), rule);
    }
    T* anchor = entities.row(task.asked.anchor);
    scratch.d_row.assign(size(width), T(0));
    kernel_.add_query_gradient(task.asked.missing, anchor, relation, scratch.q.data(), scratch.dq.data(),
                               scratch.d_row.data(), scratch.d_relation.data());
    regularise(anchor, scratch.d_row.data(), width);
    update_entity(state, task.asked.anchor, scratch.d_row.data(), rule);
    const Index r = task.asked.relation, relation_width = kernel_.relation_width();
    if (options_.model.kind != ModelKind::rotate)  // angles have no size
      regularise(relation, scratch.d_relation.data(), relation_width);
    rule.apply(relation, scratch.d_relation.data(), row_or_null(state.squares.relations, r),
               row_or_null(state.means.relations, r), relation_width);
    kernel_.constrain_relation(relation);
    return loss;
  }

  static T* row_or_null(nn::Matrix<T>& table, Index r) { return table.empty() ? nullptr : table.row(r); }

  void update_entity(TrainState<T>& state, std::uint32_t entity, const T* gradient,
                     const RowUpdate<T>& rule) const {
    T* row = state.values.entities.row(entity);
    rule.apply(row, gradient, row_or_null(state.squares.entities, entity),
               row_or_null(state.means.entities, entity), kernel_.width);
    if (options_.unit_entities) into_unit_ball(row);
  }

  void regularise(const T* row, T* gradient, Index n) const {
    if (options_.l2 > 0) add_scaled(gradient, static_cast<T>(2 * options_.l2), row, n);
    if (options_.n3 > 0) {
      const T thrice = static_cast<T>(3 * options_.n3);
      const Index half = n / 2;
      if (options_.model.kind == ModelKind::complex || options_.model.kind == ModelKind::rotate) {
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

  const Kernel kernel_;
  const TrainOptions options_;
  const TrainingFacts facts_;
  const Index count_;  // negatives a fact
  const FactLoss<T> loss_;
  nn::Team team_;
  FactFilter filter_;
  std::vector<RelationStatistics> statistics_;
  std::vector<std::uint32_t> order_;
  std::vector<Scratch<T>> scratch_;
  std::vector<EpochReport> reports_;
  bool plain_ = false;
};

}  // namespace

template <typename T>
std::unique_ptr<Engine<T>> sampled_engine(const Model<T>& model, const TrainOptions& options,
                                          const TrainingFacts& facts) {
  return with_kernel<T>(model.config(), [&](const auto& kernel) -> std::unique_ptr<Engine<T>> {
    return std::make_unique<SampledEngine<T, std::decay_t<decltype(kernel)>>>(kernel, options, facts);
  });
}

template std::unique_ptr<Engine<float>> sampled_engine(const Model<float>&, const TrainOptions&,
                                                       const TrainingFacts&);
template std::unique_ptr<Engine<double>> sampled_engine(const Model<double>&, const TrainOptions&,
                                                        const TrainingFacts&);

}  // namespace askbase::kb::embedding
