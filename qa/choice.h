// From judged readings to what is said: an answer, or the reason why there is none.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "qa/answer.h"
#include "qa/reading.h"

namespace askbase::qa {

struct Chosen {
  const Reading* reading = nullptr;
  double confidence = 0;
};

// Entities of one name between which the question leaves the choice.
struct Namesakes {
  const Mention* mention = nullptr;
  std::vector<const Candidate*> candidates;  // best first
};

struct Choice {
  Reason reason = Reason::none;
  std::vector<Chosen> answers;  // best first; empty with a reason
  std::vector<Namesakes> namesakes;
  const Reading* about = nullptr;  // the reading that the reason speaks of, may be null
  std::string subject_text;        // the name that the reason speaks of, as written; may be empty
};

// readings: judged, best first; they must outlive the choice. Errors: corrupt, io.
base::Result<Choice> choose(const Context& context, const std::vector<Reading>& readings, double threshold);

bool is_check(const Reading& reading);
// True when the number of the answers is the answer (not when a number is recorded).
bool counts_answers(const Context& context, const Reading& reading);
// The answers, or for a check the values that the KB has.
std::vector<kb::TermId> answer_ids(const Reading& reading);

}  // namespace askbase::qa
