// What word overlap alone answers: the measure of how much a trained reader has learned. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace askbase::reader {

// The sentence that shares most with the question, by pairs of neighbouring characters, of which one that
// stands in few sentences counts more (inverse document frequency over the sentences of the text).
std::string best_sentence(std::string_view question, std::string_view text);

// Sliding window (Richardson, Burges and Renshaw 2013, algorithm 1), turned from choosing among given answers
// to choosing a clause: each clause is scored by the window of as many characters as question and clause have
// together that lies around it, where a character of the question counts log(1 + 1 / its number in the text);
// characters of the clause itself that stand in the question count against it, for they are what is known.
std::string window_clause(std::string_view question, std::string_view text);

}  // namespace askbase::reader
