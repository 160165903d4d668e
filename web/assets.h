// The files of the web page: built into the program (web/embed.cmake), or read from a folder while someone
// works on them. Thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace askbase::web {

struct BuiltInFile {
  std::string_view name;  // "app.js"
  std::string_view content;
};
std::span<const BuiltInFile> built_in_files();

struct Asset {
  std::string_view content_type;
  std::string content;
  std::string etag;  // weak: the same for the compressed form
};

class Assets {
 public:
  // folder: empty for the built-in files.
  explicit Assets(std::string folder) : folder_(std::move(folder)) {}
  // Only files of the page's own folder have a name here, so that no path leads elsewhere.
  std::optional<Asset> find(std::string_view name) const;

 private:
  std::string folder_;
};

// FNV-1a, 64 bits, as a weak entity tag.
std::string weak_etag(std::string_view content);

}  // namespace askbase::web
