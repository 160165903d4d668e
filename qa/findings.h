// What answering from facts considered, as values: for measuring its stages (cli/eval_simplequestions.cpp).
// The same data as the explanation (qa/trace.h), whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace askbase::qa {

struct Context;
struct Reading;

struct FoundCandidate {
  std::string id;    // IRI
  std::string name;  // the one that fits the mention
  double score = 0;
  std::uint32_t facts = 0;
};

struct FoundMention {
  std::string text;
  std::uint32_t begin = 0, end = 0;  // code points of the question
  bool exact = true, weak = false;
  std::vector<FoundCandidate> candidates;  // best first
};

struct FoundStep {
  std::string predicate;  // IRI
  bool inverse = false;   // followed from object to subject
  auto operator<=>(const FoundStep&) const = default;
};

struct FoundReading {
  std::string_view shape;            // shape_name()
  std::string subject;               // IRI of the entity that the reading is about; empty without one
  int mention = -1;                  // index into Findings::mentions; -1: none
  std::vector<FoundStep> path;       // from the subject to the answers; empty without a predicate
  std::vector<std::string> answers;  // IRIs and lexical forms, at most 20
  std::uint64_t answers_total = 0;
  std::vector<std::pair<std::string_view, float>> features;  // those that are not 0
  double score = 0, confidence = 0;
};

struct Findings {
  std::vector<FoundMention> mentions;  // longest first
  std::vector<FoundReading> readings;  // best first, all of them
  bool familiar = false;               // RelationCodes::familiar, of the question's language
};

// readings: judged, best first. Errors: corrupt, io.
base::Result<Findings> make_findings(const Context& context, const std::vector<Reading>& readings);

}  // namespace askbase::qa
