// A reader's answers to the questions of a set in SQuAD's form.
#pragma once

#include <vector>

#include "base/result.h"
#include "datasets/squad.h"
#include "datasets/squad_metric.h"
#include "nn/team.h"
#include "reader/text_reader.h"

namespace askbase::cli {

struct SquadReadings {
  std::vector<datasets::ReadAnswer> answers;  // one a question; no text where a context has nothing to offer
  std::vector<double> log_shares;             // of the answers (reader::ReadSpan)
  double seconds = 0;
};

// Reads every question in its context, one at a time as a user asks. Shows progress. Error cancelled after
// Ctrl-C.
base::Result<SquadReadings> read_squad_set(const reader::TextReader& model, const datasets::SquadSet& set,
                                           nn::Team& team);

}  // namespace askbase::cli
