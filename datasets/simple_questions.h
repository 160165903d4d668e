// Single-fact questions measured stage by stage: SimpleQuestions (Bordes et al. 2015) and its relatives. All
// functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/kb_questions.h"
#include "datasets/metrics.h"

namespace askbase::datasets {

// What a system said to one question. Ids as the gold has them.
struct SimplePrediction {
  std::string subject;                // of its best reading; empty: none
  std::vector<PathStep> path;         // of the same
  std::string mention;                // the words of the question that it takes for the subject's name
  std::vector<std::string> entities;  // all that it considered, the likeliest first
  bool object = false;                // a gold answer is among the objects of subject and path
  bool fact_there = true;             // the KB has the gold fact
  bool topic_named = false;           // it took some words for a name that the gold topic bears
  bool answered = false;
  double confidence = 0;  // of the answer
};

// Where a question was lost, in the order in which an answer is made.
enum class SimpleStage : std::uint8_t { none, fact_missing, mention, linking, relation };
std::string_view simple_stage_name(SimpleStage stage);  // "fact_missing" ...

struct SimpleVerdict {
  bool subject = false, relation = false;  // the path, with its directions
  bool both = false, object = false;
  std::optional<bool> mention;  // of questions whose mention is given and stands in them
  std::uint32_t rank = 0;       // of the topic among the entities, from 1; 0: not there
  bool answered = false;
  double confidence = 0;
  SimpleStage stage = SimpleStage::none;
};
// The mention is right when it is the given one under base::match_key().
SimpleVerdict judge_simple(const KbQuestion& gold, const SimplePrediction& prediction);

struct SimpleFigures {
  std::uint64_t questions = 0;
  Figure subject_relation, object, subject, mention_exact, recall_at_1, recall_at_10, recall_at_50, answered;
  // Of answered questions: does the confidence tell that the object is right?
  Figure ece, auroc;
  std::vector<StageErrors> errors;  // of questions without the right subject and relation
};
SimpleFigures simple_figures(const std::vector<SimpleVerdict>& verdicts);

// Expected calibration error over bins of equal mass (Nixon et al. 2019): questions sorted by confidence, cut
// into so many bins of as many questions each. confidence and right have equal lengths.
double equal_mass_ece(const std::vector<double>& confidence, const std::vector<double>& right,
                      std::size_t bins);

}  // namespace askbase::datasets
