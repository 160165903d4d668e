// Answers compared with gold answers. All functions are thread-safe.
//
// A predicted value and a gold answer are the same when
//   - the gold is the value's id, or the last part of that id ("Q90" of http://www.wikidata.org/entity/Q90);
//   - both are numbers and equal as numbers ("1,000" = "1000.0"), or both are truth values and equal;
//   - otherwise, when the gold does not look like an IRI, the texts meet under base::match_key(), where every
//     name of an entity counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "datasets/questions.h"

namespace askbase::datasets {

// One value of an answer: an entity, or a literal, count or boolean.
struct PredictedValue {
  std::string id;                  // IRI of an entity; empty otherwise
  std::vector<std::string> texts;  // as shown first, then its lexical form or the entity's further names
  bool boolean = false;            // the answer to a yes-no question
};

// What a system said to one question.
struct Prediction {
  // Best first; each answer is the set of its values (one, or the members of a list). Empty: declined.
  std::vector<std::vector<PredictedValue>> answers;
  double confidence = 0;  // of the first answer
  std::string reason;     // of a declined question
  double milliseconds = 0;
};

// How that compares with the gold. Sets are those of the first answer.
struct Outcome {
  bool answerable = false, answered = false;
  // The first answer is made of gold answers only; for a question without an answer: declined.
  bool right = false;
  double precision = 0, recall = 0,
         f1 = 0;  // 1 for a rightly declined question, 0 for a wrongly declined one
  double confidence = 0;
  bool reason_stated = false, reason_right = false;  // of questions whose gold has a reason
  std::uint32_t rank = 0;  // of the first right answer among all, from 1; 0 when there is none
};

bool same_answer(const PredictedValue& value, std::string_view gold);
Outcome judge(const Question& question, const Prediction& prediction);

// A line of `eval kbqa --out`: the question, what was said, and how that was judged.
struct Record {
  Question question;
  Prediction prediction;
  Outcome outcome;
};
std::string to_json_line(const Record& record);
// Reads such a line back, with every field of Record but further answers and names. Error bad_input.
base::Result<Record> parse_record(std::string_view line);
// A whole file of them. Errors: bad_input with file:line: reason (also for an id that comes twice),
// not_found, io.
base::Result<std::vector<Record>> read_records(const std::filesystem::path& path);

}  // namespace askbase::datasets
