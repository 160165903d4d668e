// What the unit tests share: scratch folders and the benchmark data's place.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>

namespace askbase::test {

// A fresh folder, removed with everything in it at the end of the scope.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "askbase-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// The folder of benchmark data, nothing when this machine has none.
inline std::optional<std::filesystem::path> data_folder() {
  const char* value = std::getenv("ASKBASE_DATA");
  if (value == nullptr || !std::filesystem::is_directory(value)) return std::nullopt;
  return std::filesystem::path(value);
}

inline std::filesystem::path source_folder() {
  const char* value = std::getenv("ASKBASE_SOURCE_DIR");
  return value == nullptr ? std::filesystem::path(".") : std::filesystem::path(value);
}

}  // namespace askbase::test
