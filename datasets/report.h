// The page of `eval kbqa --report`: one HTML file that needs nothing else, with the figures, the reliability
// and risk-coverage curves and the errors by stage. It shows no question, so that a test set stays unseen.
#pragma once

#include <string>
#include <vector>

#include "datasets/metrics.h"

namespace askbase::datasets {

struct ReportInput {
  std::string title;               // "kbqa on questions.jsonl"
  std::vector<std::string> notes;  // one sentence each, under the title: the KB, the split, the time taken
  const Evaluation* evaluation = nullptr;
  const std::vector<Record>* records = nullptr;
  Figure baseline_hits_at_1;  // no value: not shown
};

std::string report_html(const ReportInput& input);

}  // namespace askbase::datasets
