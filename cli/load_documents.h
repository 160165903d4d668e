// askbase load --documents: what cli/load.cpp leaves to others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.h"

namespace askbase::cli {

struct DocumentArguments {
  std::string source, format;
  std::size_t tokens = 128, overlap = 32;
  bool skip_bad = false, no_vectors = false, json = false;
};

base::Result<int> run_load_documents(const std::vector<std::filesystem::path>& paths,
                                     const DocumentArguments& arguments, const Globals& globals);

}  // namespace askbase::cli
