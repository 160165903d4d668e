#include "nn/crf.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "nn/elementwise.h"

namespace askbase::nn {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

bool allowed(const std::vector<unsigned char>& bytes, Index i) {
  return bytes.empty() || bytes[static_cast<std::size_t>(i)] != 0;
}

// log of the sum of exp of n numbers, which it overwrites.
double log_sum_exp(double* values, Index n) {
  const double most = *std::max_element(values, values + n);
  if (most == kNever) return kNever;
  for (Index i = 0; i < n; ++i) values[i] -= most;
  exp<double>(values, values, n);
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += values[i];
  return most + std::log(sum);
}

[[noreturn]] void no_tagging() {
  throw std::logic_error("nn::Crf: the constraints allow no tagging of a sequence of this length");
}

}  // namespace

CrfConstraints iob_constraints(std::span<const std::string> tags) {
  CrfConstraints out;
  out.transitions.assign(tags.size() * tags.size(), 1);
  out.start.assign(tags.size(), 1);
  for (std::size_t to = 0; to < tags.size(); ++to) {
    if (!tags[to].starts_with("I-")) continue;
    out.start[to] = 0;
    for (std::size_t from = 0; from < tags.size(); ++from) {
      const bool inside = tags[from].starts_with("B-") || tags[from].starts_with("I-");
      if (!inside || tags[from].substr(2) != tags[to].substr(2)) out.transitions[from * tags.size() + to] = 0;
    }
  }
  return out;
}

template <typename T>
Crf<T>::Crf(Parameters<T>& p, const std::string& name, Index tags, CrfConstraints constraints)
    : tags_(tags), constraints_(std::move(constraints)) {
  const auto fits = [](const std::vector<unsigned char>& bytes, Index n) {
    return bytes.empty() || static_cast<Index>(bytes.size()) == n;
  };
  if (tags < 1 || !fits(constraints_.transitions, tags * tags) || !fits(constraints_.start, tags) ||
      !fits(constraints_.end, tags))
    throw std::logic_error("nn::Crf: constraints that do not fit the number of tags");
  const ParameterOptions options{.fan_in = 100, .decay = false};  // 1 / sqrt(100) = 0.1
  transitions_ = p.add(name + ".transitions", {tags, tags}, options);
  start_ = p.add(name + ".start_transitions", {tags}, options);
  end_ = p.add(name + ".end_transitions", {tags}, options);
}

template <typename T>
bool Crf<T>::allows(std::span<const Index> tags) const {
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (tags[i] < 0 || tags[i] >= tags_) return false;
    if (i > 0 && !allowed(constraints_.transitions, tags[i - 1] * tags_ + tags[i])) return false;
  }
  return tags.empty() ||
         (allowed(constraints_.start, tags.front()) && allowed(constraints_.end, tags.back()));
}

template <typename T>
void Crf<T>::prepare(const Parameters<T>& p, View<const T> x, const Segments& segments,
                     CrfCache& cache) const {
  if (x.rows != segments.total() || x.cols != tags_)
    throw std::logic_error("nn::Crf: x is not (rows of the segments, tags)");
  cache.transitions_.resize(tags_, tags_);
  cache.transitions_t_.resize(tags_, tags_);
  cache.start_.resize(1, tags_);
  cache.end_.resize(1, tags_);
  for (Index i = 0; i < tags_; ++i) {
    for (Index j = 0; j < tags_; ++j) {
      const double score = allowed(constraints_.transitions, i * tags_ + j)
                               ? static_cast<double>(p[transitions_](i, j))
                               : kNever;
      cache.transitions_(i, j) = cache.transitions_t_(j, i) = score;
    }
    cache.start_(0, i) = allowed(constraints_.start, i) ? static_cast<double>(p[start_](0, i)) : kNever;
    cache.end_(0, i) = allowed(constraints_.end, i) ? static_cast<double>(p[end_](0, i)) : kNever;
  }
  cache.alpha_.resize(x.rows, tags_);
  cache.work_.resize(segments.count(), tags_);
  cache.values_.resize(1, segments.count());
}

template <typename T>
double Crf<T>::forward_sums(View<const T> x, Index sequence, const Segments& segments,
                            CrfCache& cache) const {
  const Index begin = segments.begin(sequence), end = segments.end(sequence);
  if (begin == end) return 0;
  double* work = cache.work_.row(sequence);
  for (Index j = 0; j < tags_; ++j)
    cache.alpha_(begin, j) = cache.start_(0, j) + static_cast<double>(x(begin, j));
  for (Index t = begin + 1; t < end; ++t) {
    const double* before = cache.alpha_.row(t - 1);
    for (Index j = 0; j < tags_; ++j) {
      const double* into = cache.transitions_t_.row(j);
      for (Index i = 0; i < tags_; ++i) work[i] = before[i] + into[i];
      cache.alpha_(t, j) = log_sum_exp(work, tags_) + static_cast<double>(x(t, j));
    }
  }
  for (Index j = 0; j < tags_; ++j) work[j] = cache.alpha_(end - 1, j) + cache.end_(0, j);
  return log_sum_exp(work, tags_);
}

template <typename T>
void Crf<T>::backward_sums(View<const T> x, Index sequence, const Segments& segments, CrfCache& cache) const {
  const Index begin = segments.begin(sequence), end = segments.end(sequence);
  if (begin == end) return;
  double* work = cache.work_.row(sequence);
  std::copy_n(cache.end_.data(), tags_, cache.beta_.row(end - 1));
  for (Index t = end - 1; t-- > begin;) {
    const double* after = cache.beta_.row(t + 1);
    for (Index i = 0; i < tags_; ++i) {
      const double* out = cache.transitions_.row(i);
      for (Index j = 0; j < tags_; ++j) work[j] = out[j] + static_cast<double>(x(t + 1, j)) + after[j];
      cache.beta_(t, i) = log_sum_exp(work, tags_);
    }
  }
}

template <typename T>
double Crf<T>::loss(const Parameters<T>& p, View<const T> x, const Segments& segments,
                    std::span<const Index> tags, View<T> dx, Gradients<T>* g, CrfCache& cache,
                    const Context& context, T scale) const {
  prepare(p, x, segments, cache);
  if (static_cast<Index>(tags.size()) != x.rows || (!dx.empty() && (dx.rows != x.rows || dx.cols != tags_)))
    throw std::logic_error("nn::Crf: tags or dx that do not fit x");
  const auto tags_of = [&](Index sequence) {
    return tags.subspan(static_cast<std::size_t>(segments.begin(sequence)),
                        static_cast<std::size_t>(segments.length(sequence)));
  };
  for (Index sequence = 0; sequence < segments.count(); ++sequence) {
    if (!allows(tags_of(sequence)))
      throw std::logic_error("nn::Crf: the tags of sequence " + std::to_string(sequence) +
                             " are out of range or break the constraints");
  }
  const bool learns = g != nullptr && (g->wants(transitions_) || g->wants(start_) || g->wants(end_));
  const bool gradients = learns || !dx.empty();
  const Index pairs = tags_ * tags_, all = pairs + 2 * tags_;
  if (gradients) cache.beta_.resize(x.rows, tags_);
  if (learns) cache.counts_.resize(segments.count(), all);
  context.team->parallel_for(segments.count(), 4, [&](Index first, Index last) {
    for (Index s = first; s < last; ++s) {
      const std::span<const Index> gold = tags_of(s);
      const Index begin = segments.begin(s), end = segments.end(s);
      double* counts = learns ? cache.counts_.row(s) : nullptr;
      if (learns) std::fill_n(counts, all, 0.0);
      const double log_sum = forward_sums(x, s, segments, cache);
      double score = 0;
      for (std::size_t t = 0; t < gold.size(); ++t) {
        score += static_cast<double>(x(begin + static_cast<Index>(t), gold[t])) +
                 (t == 0 ? cache.start_(0, gold[t]) : cache.transitions_(gold[t - 1], gold[t]));
      }
      if (!gold.empty()) score += cache.end_(0, gold.back());
      cache.values_(0, s) = log_sum - score;
      if (!gradients || gold.empty()) continue;
      backward_sums(x, s, segments, cache);
      double* work = cache.work_.row(s);
      for (Index t = begin; t < end; ++t) {
        const Index seen = gold[static_cast<std::size_t>(t - begin)];
        for (Index j = 0; j < tags_; ++j) work[j] = cache.alpha_(t, j) + cache.beta_(t, j) - log_sum;
        exp<double>(work, work, tags_);
        work[seen] -= 1;
        if (!dx.empty()) {
          for (Index j = 0; j < tags_; ++j) dx(t, j) = static_cast<T>(static_cast<double>(scale) * work[j]);
        }
        if (!learns) continue;
        for (Index j = 0; j < tags_; ++j) {
          if (t == begin) counts[pairs + j] = work[j];
          if (t + 1 == end) counts[pairs + tags_ + j] = work[j];
        }
        if (t + 1 == end) break;
        for (Index i = 0; i < tags_; ++i) {
          for (Index j = 0; j < tags_; ++j) {
            work[j] = cache.alpha_(t, i) + cache.transitions_(i, j) + static_cast<double>(x(t + 1, j)) +
                      cache.beta_(t + 1, j) - log_sum;
          }
          exp<double>(work, work, tags_);
          for (Index j = 0; j < tags_; ++j) counts[i * tags_ + j] += work[j];
        }
        counts[seen * tags_ + gold[static_cast<std::size_t>(t + 1 - begin)]] -= 1;
      }
    }
  });
  // In the order of the sequences, whoever worked on them.
  double sum = 0;
  for (Index s = 0; s < segments.count(); ++s) sum += cache.values_(0, s);
  if (g == nullptr || !learns) return sum;
  const auto add = [&](ParameterId id, Index at, const std::vector<unsigned char>& allowed_bytes) {
    if (!g->wants(id)) return;
    View<T> to = (*g)[id];
    for (Index i = 0; i < to.size(); ++i) {
      if (!allowed(allowed_bytes, i)) continue;
      double total = 0;
      for (Index s = 0; s < segments.count(); ++s) total += cache.counts_(s, at + i);
      to.data[i] += static_cast<T>(static_cast<double>(scale) * total);
    }
  };
  add(transitions_, 0, constraints_.transitions);
  add(start_, pairs, constraints_.start);
  add(end_, pairs + tags_, constraints_.end);
  return sum;
}

template <typename T>
void Crf<T>::marginals(const Parameters<T>& p, View<const T> x, const Segments& segments, View<T> y,
                       CrfCache& cache, const Context& context) const {
  prepare(p, x, segments, cache);
  if (y.rows != x.rows || y.cols != tags_) throw std::logic_error("nn::Crf: y does not fit x");
  cache.beta_.resize(x.rows, tags_);
  context.team->parallel_for(segments.count(), 4, [&](Index first, Index last) {
    for (Index s = first; s < last; ++s) {
      const double log_sum = cache.values_(0, s) = forward_sums(x, s, segments, cache);
      backward_sums(x, s, segments, cache);
      for (Index t = segments.begin(s); t < segments.end(s); ++t) {
        for (Index j = 0; j < tags_; ++j)
          y(t, j) = static_cast<T>(std::exp(cache.alpha_(t, j) + cache.beta_(t, j) - log_sum));
      }
    }
  });
  for (Index s = 0; s < segments.count(); ++s) {
    if (cache.values_(0, s) == kNever) no_tagging();
  }
}

template <typename T>
void Crf<T>::viterbi(const Parameters<T>& p, View<const T> x, const Segments& segments, std::span<Index> tags,
                     std::span<double> scores, CrfCache& cache, const Context& context) const {
  prepare(p, x, segments, cache);
  if (static_cast<Index>(tags.size()) != x.rows ||
      (!scores.empty() && static_cast<Index>(scores.size()) != segments.count()))
    throw std::logic_error("nn::Crf: tags or scores that do not fit x");
  cache.from_.resize(x.rows, tags_);
  context.team->parallel_for(segments.count(), 16, [&](Index first, Index last) {
    for (Index s = first; s < last; ++s) {
      const Index begin = segments.begin(s), end = segments.end(s);
      cache.values_(0, s) = 0;
      if (begin == end) continue;
      for (Index j = 0; j < tags_; ++j)
        cache.alpha_(begin, j) = cache.start_(0, j) + static_cast<double>(x(begin, j));
      // The best way to get here: the first of the greatest.
      const auto best_of = [&](Index t, const double* step) {
        Index best = 0;
        for (Index i = 1; i < tags_; ++i) {
          if (cache.alpha_(t, i) + step[i] > cache.alpha_(t, best) + step[best]) best = i;
        }
        return best;
      };
      for (Index t = begin + 1; t < end; ++t) {
        for (Index j = 0; j < tags_; ++j) {
          const Index best = best_of(t - 1, cache.transitions_t_.row(j));
          cache.from_(t, j) = static_cast<std::int32_t>(best);
          cache.alpha_(t, j) =
              cache.alpha_(t - 1, best) + cache.transitions_(best, j) + static_cast<double>(x(t, j));
        }
      }
      Index tag = best_of(end - 1, cache.end_.data());
      cache.values_(0, s) = cache.alpha_(end - 1, tag) + cache.end_(0, tag);
      for (Index t = end; t-- > begin;) {
        tags[static_cast<std::size_t>(t)] = tag;
        if (t > begin) tag = cache.from_(t, tag);
      }
    }
  });
  for (Index s = 0; s < segments.count(); ++s) {
    if (cache.values_(0, s) == kNever) no_tagging();
    if (!scores.empty()) scores[static_cast<std::size_t>(s)] = cache.values_(0, s);
  }
}

template class Crf<float>;
template class Crf<double>;

}  // namespace askbase::nn
