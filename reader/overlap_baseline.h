// What word overlap alone answers: the measure of how much a trained reader has learned. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace askbase::reader {

// The sentence that shares most with the question, by pairs of neighbouring characters, of which one that
// stands in few sentences counts more (inverse document frequency over the sentences of the text).
std::string best_sentence(std::string_view question, std::string_view text);

// The clause that has most of the question beside it, after the sliding window and the distances of
// Richardson, Burges and Renshaw 2013, turned from choosing among given answers to choosing a clause: a
// character of the question counts log(1 + 1 / its number in the text), less by a tenth with each place that
// lies between it and the clause, and by two thirds more where a sentence ends between them; those inside of
// the clause count against it twice, for they are what is known.
std::string nearest_clause(std::string_view question, std::string_view text);

}  // namespace askbase::reader
