// Linear-chain conditional random field (Lafferty, McCallum and Pereira 2001) over the scores of a tagger, in
// the form of Lample et al. 2016 with learnt scores of the first and the last tag:
//
//   score(x, tags) = start[tags_1] + sum_t x_t[tags_t] + sum_t transitions[tags_t, tags_t+1] + end[tags_n]
//   log p(tags | x) = score(x, tags) - log sum over all tag sequences of exp score
//
// Transitions may be forbidden: they have no part in the sum, are never decoded, and do not learn. A sequence
// of length 0 has one tagging, the empty one, of score 0. Sums are taken in double, whatever T is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/context.h"
#include "nn/parameters.h"

namespace askbase::nn {

// What may be, one byte each: transitions[from * tags + to], start[tag], end[tag]. An empty vector: all of
// it.
struct CrfConstraints {
  std::vector<unsigned char> transitions, start, end;
};

// For tags named "O", "B-TYPE", "I-TYPE" (IOB2): I-TYPE only after B-TYPE or I-TYPE of the same type.
CrfConstraints iob_constraints(std::span<const std::string> tags);

// Scratch of one caller, kept from call to call.
class CrfCache {
 private:
  template <typename>
  friend class Crf;
  Matrix<double> transitions_, transitions_t_, start_, end_;  // minus infinity where forbidden
  Matrix<double> alpha_, beta_;                               // (rows, tags): sums over what is before, after
  Matrix<double> work_;                                       // (sequences, tags)
  Matrix<double> counts_;  // (sequences, tags * tags + 2 * tags): expected minus seen, per parameter
  Matrix<double> values_;  // (1, sequences)
  Matrix<std::int32_t> from_;
};

// Immutable after construction; any number of threads may call it, each with its own cache and gradients.
// x is (rows, tags), sequences below each other; sequences are shared between the threads of the context's
// team, and results do not depend on how many there are.
template <typename T>
class Crf {
 public:
  Crf() = default;
  // Adds "<name>.transitions" (tags, tags) from row to column, "<name>.start_transitions" and
  // "<name>.end_transitions" (tags), U(-0.1, 0.1).
  Crf(Parameters<T>& p, const std::string& name, Index tags, CrfConstraints constraints = {});

  // Sum over the sequences of -log p(tags | x). Where dx is not empty it receives `scale` times the gradient,
  // and where g is not null `scale` times the parameters' gradients are added to it. A tag outside [0,
  // tags()), or a tagging that the constraints forbid, is a programmer error (std::logic_error): see
  // allows().
  double loss(const Parameters<T>& p, View<const T> x, const Segments& segments, std::span<const Index> tags,
              View<T> dx, Gradients<T>* g, CrfCache& cache, const Context& context, T scale = T(1)) const;

  // p(tag at this place | x) for every place and tag; y (rows, tags).
  void marginals(const Parameters<T>& p, View<const T> x, const Segments& segments, View<T> y,
                 CrfCache& cache, const Context& context) const;

  // The best tagging of each sequence (Viterbi 1967) to tags (rows), and, where scores is not empty, its
  // score to scores (sequences). Of equal ones, that with the lower tag last where they differ last. When the
  // constraints allow no tagging of some length: std::logic_error.
  void viterbi(const Parameters<T>& p, View<const T> x, const Segments& segments, std::span<Index> tags,
               std::span<double> scores, CrfCache& cache, const Context& context) const;

  // Whether the tags of one sequence are inside [0, tags()) and follow the constraints.
  bool allows(std::span<const Index> tags) const;

  Index tags() const { return tags_; }
  ParameterId transitions() const { return transitions_; }
  ParameterId start() const { return start_; }
  ParameterId end() const { return end_; }

 private:
  void prepare(const Parameters<T>& p, View<const T> x, const Segments& segments, CrfCache& cache) const;
  // log of the sum over all taggings of one sequence; fills its rows of alpha (and beta).
  double forward_sums(View<const T> x, Index sequence, const Segments& segments, CrfCache& cache) const;
  void backward_sums(View<const T> x, Index sequence, const Segments& segments, CrfCache& cache) const;

  Index tags_ = 0;
  CrfConstraints constraints_;
  ParameterId transitions_ = -1, start_ = -1, end_ = -1;
};

extern template class Crf<float>;
extern template class Crf<double>;

}  // namespace askbase::nn
