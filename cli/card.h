// What the cards of models have in common.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace askbase::cli {

// Without its folders.
std::string file_name(const std::string& path);
// SHA-256 of the file, hex. Errors: not_found, io.
base::Result<std::string> hash_of(const std::string& path);
// Each {name} of the text replaced by its value.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace askbase::cli
