#include "cli/card.h"

#include <filesystem>

#include "base/file.h"
#include "base/sha256.h"

namespace askbase::cli {

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

base::Result<std::string> hash_of(const std::string& path) {
  ASKBASE_ASSIGN(const std::string content, base::read_file(path));
  return base::sha256(content);
}

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    const std::string place = "{" + name + "}";
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += value.size()) {
      text.replace(at, place.size(), value);
    }
  }
  return text;
}

}  // namespace askbase::cli
