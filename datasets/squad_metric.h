// Exact match and F1 of answers taken from a text. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/metrics.h"
#include "datasets/squad.h"

namespace askbase::datasets {

struct AnswerScore {
  double exact = 0, f1 = 0;
};

enum class AnswerForm {
  squad,  // the official script of SQuAD 1.1 and 2.0
  cmrc,   // the official script of CMRC 2018
};

// The best score over the right answers. Right answers without any word are none; where none is left, an
// answer without words is right (1, 1), as SQuAD 2.0's script has it, and any other is wrong.
//   squad: lower case, no ASCII punctuation, no a, an, the; F1 over the bag of words (Rajpurkar 2016).
//   cmrc: lower case, no punctuation; Chinese characters stand alone, other characters in words; F1 over the
//     longest run of tokens that both share (Cui 2019, "mixed segmentation").
AnswerScore answer_score(AnswerForm form, std::string_view answer, const std::vector<SquadAnswer>& right);

// What the SQuAD script calls normalize_answer.
std::string normalized_squad_answer(std::string_view text);

// One question, answered by a system that may abstain.
struct ReadAnswer {
  std::string text;      // the best span; empty: abstains
  double null_odds = 0;  // the larger, the surer that there is no answer
};

// Figures in percent, over one answer a question in the set's order. A question that has no prediction counts
// as wrong.
struct SquadFigures {
  std::size_t questions = 0;
  Figure exact_match, f1;
};
SquadFigures squad_figures(AnswerForm form, const SquadSet& set, const std::vector<std::string>& answers,
                           const BootstrapOptions& bootstrap = {});

// The figures of SQuAD 2.0: questions whose null_odds are above the threshold are answered with nothing.
struct Squad2Figures {
  std::size_t questions = 0, has_answer = 0, no_answer = 0;
  Figure exact_match, f1, has_exact, has_f1, no_exact, no_f1;
  double best_exact = 0, best_exact_threshold = 0;  // over all thresholds: what hindsight would give
  double best_f1 = 0, best_f1_threshold = 0;
  // The largest mean of has_f1 and no_f1, as if half of the questions had no answer, however many of the set
  // have none.
  double best_balanced_f1 = 0, balanced_threshold = 0;
  double always_abstain_f1 = 0;
};
Squad2Figures squad2_figures(AnswerForm form, const SquadSet& set, const std::vector<ReadAnswer>& answers,
                             double threshold, const BootstrapOptions& bootstrap = {});

}  // namespace askbase::datasets
