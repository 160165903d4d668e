#include "qa/memory_network.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "qa/path_text.h"

namespace askbase::qa {

namespace {

using nn::Index;

constexpr Index gate_columns = 3, of_questions = 0, of_predicates = 1, of_names = 2;

template <typename T>
T dot(const T* a, const T* b, Index n) {
  T sum = 0;
  for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <typename T>
void add(T* to, const T* from, T factor, Index n) {
  for (Index i = 0; i < n; ++i) to[i] += factor * from[i];
}

template <typename T>
void softmax_of(const std::vector<T>& scores, std::vector<T>& shares) {
  shares.resize(scores.size());
  T most = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end()), sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) sum += shares[i] = std::exp(scores[i] - most);
  for (T& share : shares) share /= sum;
}

template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

MemoryFeatures memory_features_of(std::string_view mention, std::string_view name, std::uint32_t facts) {
  const std::vector<std::string> a = path_words(mention), b = path_words(name);
  std::size_t shared = 0;
  for (const std::string& word : a) shared += std::find(b.begin(), b.end(), word) != b.end();
  const std::size_t words = std::max<std::size_t>(1, std::max(a.size(), b.size()));
  return {base::match_key(mention) == base::match_key(name) ? 1.0F : 0.0F,
          static_cast<float>(shared) / static_cast<float>(words),
          std::min(1.5F, std::log1p(static_cast<float>(facts)) / 8)};
}

template <typename T>
MemoryNetwork<T>::MemoryNetwork(nn::Parameters<T>& p, const MemoryConfig& config, Index vocabulary)
    : config_(config) {
  const Index d = config.dimensions;
  nn::ParameterOptions table;
  table.sparse = true;
  table.fan_in = d;
  table.decay = false;
  table_ = p.add("words.weight", {vocabulary, d}, table);
  nn::ParameterOptions gates;
  gates.sparse = true;
  gates.initial = nn::Initial::zeros;
  gates.decay = false;
  gates_ = p.add("gates.weight", {vocabulary, gate_columns}, gates);
  nn::ParameterOptions features;
  features.initial = nn::Initial::zeros;
  features_ = p.add("features.weight", {1, memory_features}, features);
  key_[0] = nn::Linear<T>(p, "key", MemoryPredicateBags::parts * d, d);
  key_[1] = nn::Linear<T>(p, "inverse_key", MemoryPredicateBags::parts * d, d);
  value_ = nn::Linear<T>(p, "value", 2 * d, d, false);
  query_ = nn::Linear<T>(p, "query", d, d);
  subject_ = nn::Linear<T>(p, "subject", d, d, false);
  if (config.episodic) {
    gate_ = nn::Linear<T>(p, "episode_gates", 2 * d, 2 * d);
    out_map_ = nn::Linear<T>(p, "episode_out", d, d);
    state_map_ = nn::Linear<T>(p, "episode_state", d, d);
  } else {
    for (Index h = 0; h < config.hops; ++h) {
      hop_[static_cast<std::size_t>(h)] = nn::Linear<T>(p, "hop" + std::to_string(h), d, d, false);
    }
  }
}

template <typename T>
void MemoryNetwork<T>::initialise(nn::Parameters<T>& p, std::uint64_t seed) const {
  p.initialise(seed);
  const Index d = config_.dimensions;
  const auto set = [&](const nn::Linear<T>& layer, std::initializer_list<double> parts) {
    const nn::View<T> w = p.mutable_view(layer.weight());
    for (Index r = 0; r < w.rows; ++r) {
      for (Index c = 0; c < w.cols; ++c) w(r, c) *= T(0.1);
      Index begin = 0;
      for (const double part : parts) {
        w(r, begin + r) += T(part);
        begin += d;
      }
    }
  };
  set(query_, {2});
  set(subject_, {1});
  set(key_[0], {1, 1, 0.5, 0.5, 0.2});
  set(key_[1], {1, 1, 0.5, 0.5, 0.2});
  p.mutable_view(features_)(0, 0) = 1;
}

template <typename T>
void MemoryNetwork<T>::pool(const nn::Parameters<T>& p, Bags& bags, Index column, nn::View<T> out) const {
  const nn::View<const T> table = p[table_], gates = p[gates_];
  const Index d = config_.dimensions;
  bags.shares.clear();
  bags.begins.clear();
  std::vector<T> logits, shares;
  for (std::size_t b = 0; b < bags.bags.size(); ++b) {
    const MemoryBag& bag = *bags.bags[b];
    T* y = out.row(static_cast<Index>(b));
    std::fill_n(y, d, T(0));
    bags.begins.push_back(bags.shares.size());
    logits.clear();
    std::int32_t begin = 0;
    for (const std::int32_t end : bag.ends) {
      T sum = 0;
      for (std::int32_t r = begin; r < end; ++r) sum += gates(bag.rows[static_cast<std::size_t>(r)], column);
      logits.push_back(sum / static_cast<T>(end - begin));
      begin = end;
    }
    softmax_of(logits, shares);
    begin = 0;
    for (std::size_t t = 0; t < bag.size(); ++t) {
      for (std::int32_t r = begin; r < bag.ends[t]; ++r) {
        const auto at = static_cast<std::size_t>(r);
        add(y, table.row(bag.rows[at]), shares[t] * static_cast<T>(bag.weights[at]), d);
      }
      begin = bag.ends[t];
    }
    bags.shares.insert(bags.shares.end(), shares.begin(), shares.end());
  }
}

template <typename T>
void MemoryNetwork<T>::pool_backward(const nn::Parameters<T>& p, const Bags& bags, Index column,
                                     nn::View<const T> d_out, nn::Gradients<T>& g) const {
  const nn::View<const T> table = p[table_];
  const Index d = config_.dimensions;
  nn::SparseRows<T>&d_table = g.sparse(table_), &d_gates = g.sparse(gates_);
  std::vector<T> d_shares;
  for (std::size_t b = 0; b < bags.bags.size(); ++b) {
    const MemoryBag& bag = *bags.bags[b];
    const T* dy = d_out.row(static_cast<Index>(b));
    const T* shares = bags.shares.data() + bags.begins[b];
    d_shares.assign(bag.size(), 0);
    T mean = 0;
    std::int32_t begin = 0;
    for (std::size_t t = 0; t < bag.size(); ++t) {
      for (std::int32_t r = begin; r < bag.ends[t]; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const auto weight = static_cast<T>(bag.weights[at]);
        d_shares[t] += weight * dot(dy, table.row(bag.rows[at]), d);
        add(d_table.row(bag.rows[at]), dy, shares[t] * weight, d);
      }
      mean += shares[t] * d_shares[t];
      begin = bag.ends[t];
    }
    begin = 0;
    for (std::size_t t = 0; t < bag.size(); ++t) {
      const T d_logit = shares[t] * (d_shares[t] - mean) / static_cast<T>(bag.ends[t] - begin);
      for (std::int32_t r = begin; r < bag.ends[t]; ++r) {
        d_gates.row(bag.rows[static_cast<std::size_t>(r)])[column] += d_logit;
      }
      begin = bag.ends[t];
    }
  }
}

template <typename T>
void MemoryNetwork<T>::encode(const nn::Parameters<T>& p, Keys& keys, const nn::Context& context) const {
  const Index d = config_.dimensions, n = static_cast<Index>(keys.predicates.size());
  constexpr Index parts = MemoryPredicateBags::parts;
  nn::Matrix<T> pooled(n, parts * d);
  for (Index part = 0; part < parts; ++part) {
    Bags& bags = keys.bags[static_cast<std::size_t>(part)];
    bags.bags.clear();
    for (const MemoryPredicateBags* predicate : keys.predicates) bags.bags.push_back(&predicate->part(part));
    pool(p, bags, of_predicates, pooled.view().cols_from(part * d, d));
  }
  keys.key.resize(n, d);
  for (std::size_t way = 0; way < 2; ++way) {
    auto& chosen = keys.of_direction[way];
    chosen.clear();
    for (Index i = 0; i < n; ++i) {
      if ((keys.inverse[static_cast<std::size_t>(i)] != 0) == (way == 1)) chosen.push_back(i);
    }
    const auto count = static_cast<Index>(chosen.size());
    keys.parts[way].resize(count, parts * d);
    keys.made[way].resize(count, d);
    if (count == 0) continue;
    for (Index i = 0; i < count; ++i) {
      std::copy_n(pooled.row(chosen[static_cast<std::size_t>(i)]), parts * d, keys.parts[way].row(i));
    }
    key_[way].forward(p, keys.parts[way], keys.made[way], context);
    for (Index i = 0; i < count; ++i) {
      std::copy_n(keys.made[way].row(i), d, keys.key.row(chosen[static_cast<std::size_t>(i)]));
    }
  }
  keys.value_in.resize(n, 2 * d);
  for (Index i = 0; i < n; ++i) {
    std::copy_n(keys.key.row(i), d, keys.value_in.row(i));
    std::copy_n(pooled.row(i) + (parts - 1) * d, d, keys.value_in.row(i) + d);
  }
  keys.value.resize(n, d);
  value_.forward(p, keys.value_in, keys.value, context);
}

template <typename T>
void MemoryNetwork<T>::encode_backward(const nn::Parameters<T>& p, Keys& keys, nn::Gradients<T>& g,
                                       const nn::Context& context) const {
  const Index d = config_.dimensions, n = keys.key.rows();
  constexpr Index parts = MemoryPredicateBags::parts;
  nn::Matrix<T> d_value_in(n, 2 * d), d_pooled(n, parts * d);
  value_.backward(p, keys.value_in, keys.d_value, d_value_in, g, context);
  for (std::size_t way = 0; way < 2; ++way) {
    const auto& chosen = keys.of_direction[way];
    const auto count = static_cast<Index>(chosen.size());
    if (count == 0) continue;
    nn::Matrix<T> d_made(count, d), d_parts(count, parts * d);
    for (Index i = 0; i < count; ++i) {
      const Index at = chosen[static_cast<std::size_t>(i)];
      std::copy_n(keys.d_key.row(at), d, d_made.row(i));
      add(d_made.row(i), d_value_in.row(at), T(1), d);
    }
    key_[way].backward(p, keys.parts[way], d_made, d_parts, g, context);
    for (Index i = 0; i < count; ++i) {
      std::copy_n(d_parts.row(i), parts * d, d_pooled.row(chosen[static_cast<std::size_t>(i)]));
    }
  }
  for (Index i = 0; i < n; ++i) add(d_pooled.row(i) + (parts - 1) * d, d_value_in.row(i) + d, T(1), d);
  for (Index part = 0; part < parts; ++part) {
    pool_backward(p, keys.bags[static_cast<std::size_t>(part)], of_predicates,
                  d_pooled.view().cols_from(part * d, d), g);
  }
}

template <typename T>
void MemoryNetwork<T>::step(const nn::Parameters<T>& p, Reading& reading, std::size_t hop,
                            const nn::Context& context) const {
  const Index d = config_.dimensions;
  const nn::Matrix<T>&q = reading.state[hop], &o = reading.read_out[hop];
  nn::Matrix<T>& next = reading.state[hop + 1];
  next.resize(1, d);
  if (!config_.episodic) {
    hop_[hop].forward(p, o, next, context);
    add(next.data(), q.data(), T(1), d);
    return;
  }
  nn::Matrix<T> both(1, 2 * d), gates(1, 2 * d), from_out(1, d);
  std::copy_n(o.data(), d, both.data());
  std::copy_n(q.data(), d, both.data() + d);
  gate_.forward(p, both, gates, context);
  nn::Matrix<T>&z = reading.update[hop], &r = reading.reset[hop], &c = reading.candidate[hop],
  &s = reading.mapped[hop];
  for (nn::Matrix<T>* m : {&z, &r, &c, &s}) m->resize(1, d);
  out_map_.forward(p, o, from_out, context);
  state_map_.forward(p, q, s, context);
  for (Index i = 0; i < d; ++i) {
    z(0, i) = sigmoid(gates(0, i));
    r(0, i) = sigmoid(gates(0, d + i));
    c(0, i) = std::tanh(from_out(0, i) + r(0, i) * s(0, i));
    next(0, i) = (1 - z(0, i)) * q(0, i) + z(0, i) * c(0, i);
  }
}

template <typename T>
void MemoryNetwork<T>::step_backward(const nn::Parameters<T>& p, const Reading& reading, std::size_t hop,
                                     nn::Matrix<T>& dq, nn::Matrix<T>& d_out, nn::Gradients<T>& g,
                                     const nn::Context& context) const {
  const Index d = config_.dimensions;
  const nn::Matrix<T>&q = reading.state[hop], &o = reading.read_out[hop];
  d_out.resize(1, d);
  if (!config_.episodic) {
    hop_[hop].backward(p, o, dq, d_out, g, context);
    return;
  }
  const nn::Matrix<T>&z = reading.update[hop], &r = reading.reset[hop], &c = reading.candidate[hop],
        &s = reading.mapped[hop];
  nn::Matrix<T> both(1, 2 * d), d_gates(1, 2 * d), d_both(1, 2 * d), d_inner(1, d), d_s(1, d), d_q(1, d);
  std::copy_n(o.data(), d, both.data());
  std::copy_n(q.data(), d, both.data() + d);
  for (Index i = 0; i < d; ++i) {
    const T dy = dq(0, i);
    d_inner(0, i) = dy * z(0, i) * (1 - c(0, i) * c(0, i));
    d_gates(0, i) = dy * (c(0, i) - q(0, i)) * z(0, i) * (1 - z(0, i));
    d_gates(0, d + i) = d_inner(0, i) * s(0, i) * r(0, i) * (1 - r(0, i));
    d_s(0, i) = d_inner(0, i) * r(0, i);
    dq(0, i) = dy * (1 - z(0, i));
  }
  out_map_.backward(p, o, d_inner, d_out, g, context);
  state_map_.backward(p, q, d_s, d_q, g, context);
  gate_.backward(p, both, d_gates, d_both, g, context);
  add(d_out.data(), d_both.data(), T(1), d);
  add(dq.data(), d_both.data() + d, T(1), d);
  add(dq.data(), d_q.data(), T(1), d);
}

template <typename T>
void MemoryNetwork<T>::read(const nn::Parameters<T>& p, Reading& reading, const std::vector<const T*>& key,
                            const std::vector<const T*>& value, const nn::Context& context) const {
  const Index d = config_.dimensions;
  const std::size_t n = reading.slots.size();
  const auto pool_all = [&](Bags& bags, std::vector<const MemoryBag*> list, Index column,
                            nn::Matrix<T>& out) {
    bags.bags = std::move(list);
    out.resize(static_cast<Index>(bags.bags.size()), d);
    pool(p, bags, column, out);
  };
  pool_all(reading.question_bag, {&reading.question}, of_questions, reading.pooled);
  pool_all(reading.mention_bag, {&reading.mention}, of_names, reading.mention_pooled);
  std::vector<const MemoryBag*> subjects;
  for (const MemoryBag& bag : reading.subjects) subjects.push_back(&bag);
  pool_all(reading.subject_bags, std::move(subjects), of_names, reading.subjects_pooled);
  reading.mention_mapped.resize(1, d);
  subject_.forward(p, reading.mention_pooled, reading.mention_mapped, context);
  const nn::View<const T> weights = p[features_];
  reading.prior.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Slot& slot = reading.slots[i];
    T prior = dot<T>(reading.mention_mapped.data(), reading.subjects_pooled.row(slot.subject), d);
    for (Index f = 0; f < memory_features; ++f) {
      prior += weights(0, f) * static_cast<T>(slot.features[static_cast<std::size_t>(f)]);
    }
    reading.prior[i] = prior;
  }
  reading.state[0].resize(1, d);
  query_.forward(p, reading.pooled, reading.state[0], context);
  const auto score = [&](const nn::Matrix<T>& q, std::vector<T>& scores) {
    scores.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      scores[i] = dot(q.data(), key[static_cast<std::size_t>(reading.slots[i].key)], d) + reading.prior[i];
    }
  };
  const auto hops = static_cast<std::size_t>(config_.hops);
  reading.hops.resize(hops);
  for (std::size_t h = 0; h < hops; ++h) {
    score(reading.state[h], reading.scores);
    softmax_of(reading.scores, reading.hops[h]);
    reading.read_out[h].resize(1, d);
    reading.read_out[h].fill(0);
    for (std::size_t i = 0; i < n; ++i) {
      add(reading.read_out[h].data(), value[static_cast<std::size_t>(reading.slots[i].key)],
          reading.hops[h][i], d);
    }
    step(p, reading, h, context);
  }
  score(reading.state[hops], reading.scores);
}

template <typename T>
void MemoryNetwork<T>::read_backward(const nn::Parameters<T>& p, Reading& reading, const Keys& keys,
                                     const std::vector<T>& d_scores, nn::Matrix<T>& d_key,
                                     nn::Matrix<T>& d_value, nn::Gradients<T>& g,
                                     const nn::Context& context) const {
  const Index d = config_.dimensions;
  const std::size_t n = reading.slots.size();
  const auto hops = static_cast<std::size_t>(config_.hops);
  std::vector<T> d_prior(n, 0), ds = d_scores;
  nn::Matrix<T> dq(1, d), d_out;
  // Of q . key + prior.
  const auto score_backward = [&](const nn::Matrix<T>& q) {
    for (std::size_t i = 0; i < n; ++i) {
      d_prior[i] += ds[i];
      add(dq.data(), keys.key.row(reading.slots[i].key), ds[i], d);
      add(d_key.row(reading.slots[i].key), q.data(), ds[i], d);
    }
  };
  score_backward(reading.state[hops]);
  for (std::size_t h = hops; h-- > 0;) {
    step_backward(p, reading, h, dq, d_out, g, context);
    const std::vector<T>& shares = reading.hops[h];
    T mean = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Index k = reading.slots[i].key;
      ds[i] = dot(d_out.data(), keys.value.row(k), d);
      mean += shares[i] * ds[i];
      add(d_value.row(k), d_out.data(), shares[i], d);
    }
    for (std::size_t i = 0; i < n; ++i) ds[i] = shares[i] * (ds[i] - mean);
    score_backward(reading.state[h]);
  }
  nn::Matrix<T> d_pooled(1, d), d_mapped(1, d), d_mention(1, d),
      d_subjects(static_cast<Index>(reading.subjects.size()), d);
  query_.backward(p, reading.pooled, dq, d_pooled, g, context);
  pool_backward(p, reading.question_bag, of_questions, d_pooled, g);
  const nn::View<T> d_weights = g[features_];
  for (std::size_t i = 0; i < n; ++i) {
    const Slot& slot = reading.slots[i];
    add(d_mapped.data(), reading.subjects_pooled.row(slot.subject), d_prior[i], d);
    add(d_subjects.row(slot.subject), reading.mention_mapped.data(), d_prior[i], d);
    for (Index f = 0; f < memory_features; ++f) {
      d_weights(0, f) += d_prior[i] * static_cast<T>(slot.features[static_cast<std::size_t>(f)]);
    }
  }
  subject_.backward(p, reading.mention_pooled, d_mapped, d_mention, g, context);
  pool_backward(p, reading.mention_bag, of_names, d_mention, g);
  pool_backward(p, reading.subject_bags, of_names, d_subjects, g);
}

template class MemoryNetwork<float>;
template class MemoryNetwork<double>;

}  // namespace askbase::qa
