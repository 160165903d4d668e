// askbase train reader --kind bilstm
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "reader/char_training.h"

namespace askbase::cli {

struct CharReaderArguments {
  std::vector<std::string> data, test;
  std::string lac, valid, out, curves, report;
  reader::CharTraining training;
  reader::CharNetworkConfig network;
  double share = 1;  // of the training contexts
  int threads = 1;
  bool json = false;
};

// Trains, chooses by `valid`, fits the confidence to it, measures what was written on each of `test`, and
// prints.
base::Result<int> run_train_char_reader(CharReaderArguments arguments);

}  // namespace askbase::cli
