// Questions with the place of the name that they are about: made from knowledge-base questions, and measured.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "datasets/kb_questions.h"
#include "datasets/metrics.h"
#include "qa/mention_tagger.h"
#include "qa/mention_text.h"

namespace askbase::cli {

// Names of the things that questions are about, by id.
class TopicNames {
 public:
  // A file of names (datasets/kb_questions.h), or of facts whose subjects are called by their id. Of names
  // that were found in questions, those from the test and validation parts are left out.
  base::Status read_names(const std::string& path);
  base::Status read_subjects(const std::string& path);

  const std::vector<std::string>& of(const std::string& id) const;
  // Whether some thing is called so, by the letters and digits of the name alone.
  bool has(const std::string& letters) const { return known_.contains(letters); }
  bool empty() const { return known_.empty(); }

 private:
  void add(const std::string& id, const std::string& name);
  std::unordered_map<std::string, std::vector<std::string>> names_;
  std::unordered_set<std::string> known_;
};

struct AlignedQuestion {
  std::string id, question;
  qa::TokenSpan mention;
};
struct Alignment {
  std::vector<AlignedQuestion> aligned;
  std::size_t by_mention = 0, by_name = 0;  // how the aligned ones were found
  std::size_t not_found = 0;                // the name does not stand in the question
  std::size_t repeated = 0;  // left out: the same question as one before, or one to be kept apart
};
// Where a question states its mention, that; else the longest name of its topic that stands in it, from the
// question's own names of the topic, the topic's id itself (names, in Chinese sets) and `names`. Questions
// whose letters are in `seen` are left out, and those used are added to it; null: none is left out.
Alignment align_mentions(const std::vector<datasets::KbQuestion>& questions, const TopicNames& names,
                         std::unordered_set<std::string>* seen);
// What `seen` holds of a question.
std::string question_letters(const std::string& question);

// What a tagger finds.
struct MentionFigures {
  std::size_t questions = 0, not_aligned = 0;
  datasets::Figure exact;         // the most probable span is the mention, to the token
  datasets::Figure exact_of_all;  // those that could not be aligned counted as wrong
  datasets::Figure among_five;    // one of the five most probable ones is
  datasets::Figure covered;       // the most probable span shares a token with it
  datasets::Figure longest_name;  // the longest name of `names` in the question is the mention: the baseline
  double milliseconds = 0;        // mean
};
MentionFigures measure_mentions(const qa::MentionTagger& tagger, const Alignment& questions,
                                const TopicNames& names);

base::Json figures_json(const MentionFigures& figures);
std::vector<std::vector<std::string>> figure_rows(const MentionFigures& figures);

}  // namespace askbase::cli
