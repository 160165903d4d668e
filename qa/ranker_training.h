// Fits the weights of qa/ranker.h to readings of questions whose right reading is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qa/ranker.h"

namespace askbase::qa {

// A reading as the fit sees it.
struct RankedReading {
  Features features{};
  bool right = false;
  // Neither right nor wrong: it takes no part in the fit. Such as another predicate with the right answers.
  bool neutral = false;
  // Readings of one question with the same answers have the same number.
  std::uint32_t answers = 0;
};

struct RankExample {
  std::vector<RankedReading> readings;  // without a right one: the KB has no answer
  double weight = 1;
};

struct RankerFit {
  RankWeights weights;
  double loss = 0, prior_loss = 0;  // mean over the examples, of these weights and of the prior
  int steps = 0;
};

// The weights under which the right readings stand before the others, and before the choice of none, which
// has score 0: the mean of
//   -log(sum over right readings of exp(score) / (1 + sum over all readings of exp(score)))
// with 1 above the line for examples without a right reading, plus `strength` / 2 times the squared distance
// from the prior's weights. Scores are therefore log-odds against "none". Minimised by Newton's method on the
// bound that the concave part's tangent gives (a step never raises the loss). A feature that `fixed` names
// keeps the prior's weight. Throws std::logic_error without examples.
RankerFit fit_ranker(std::span<const RankExample> examples, const RankWeights& prior, double strength,
                     std::span<const Feature> fixed = {});

// Sets scale, shift and rival so that the confidence of the best reading is the share of right ones, by the
// likelihood of examples that the weights were not fitted to. Examples without readings are passed over; the
// weights stay as they are when the best reading is right for all examples or for none.
void calibrate(RankWeights& weights, std::span<const RankExample> examples);

// What the weights make of examples, mean over all of them.
struct RankerFigures {
  double right = 0;     // the best reading is a right one, of examples that have one
  double log_loss = 0;  // of the best reading's confidence
  std::size_t examples = 0, answerable = 0;
};
RankerFigures measure_ranker(const RankWeights& weights, std::span<const RankExample> examples);

}  // namespace askbase::qa
