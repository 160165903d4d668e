// How probable each span is as a mention, under the conditional random field of the tagger. Internal to qa/.
//
//   p(i..j) = sum over all taggings with begin at i, inside at i+1 .. j, and no inside at j+1
//           = alpha_i(B) exp(score of the path B I ... I) sum_{k in O, B} t(., k) beta_{j+1}(k) / Z
//
// alpha and beta are the forward and backward sums (Rabiner 1989), taken in logarithms and in double.
#pragma once

#include <vector>

#include "nn/matrix.h"
#include "qa/mention_text.h"

namespace askbase::qa {

struct ScoredSpan {
  TokenSpan span;
  double probability = 0;
};

struct SpanSums {
  std::vector<ScoredSpan> spans;  // the most probable first; of equals the earlier, then the shorter
  std::vector<double> inside;     // of each token: that it is part of a mention
};

// scores (tokens, mention_tags) of one sentence; transitions (mention_tags, mention_tags) from row to column,
// start and end (1, mention_tags) as of nn/crf.h; that "inside" only follows "begin" and "inside" is built
// in. Spans of at most max_length tokens and at least this probability.
SpanSums span_sums(nn::View<const float> scores, nn::View<const float> transitions,
                   nn::View<const float> start, nn::View<const float> end, std::size_t max_length,
                   double least_probability);

}  // namespace askbase::qa
