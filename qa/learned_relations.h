// Relations that the learned matcher (qa/path_matcher.h) finds likely, joined with those that the words name.
#pragma once

#include <memory>
#include <span>

#include "qa/learned.h"
#include "qa/relation.h"

namespace askbase::qa {

// What the words say comes from `lexical`; every match gets the matcher's scores, and the predicates that the
// matcher likes best come beside. All arguments must outlive the result, which belongs to one thread.
std::unique_ptr<RelationMatcher> with_path_matcher(std::unique_ptr<RelationMatcher> lexical,
                                                   const Question& question, const PathMatcher& matcher,
                                                   const EncodedPaths& paths);

// log(sum of exp(logit)), of at least one.
float log_of_sum(std::span<const float> logits);

}  // namespace askbase::qa
