#include "web/assets.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/file.h"

namespace askbase::web {
namespace {

std::string_view type_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> types = {{
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
  }};
  for (const auto& [ending, type] : types) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

}  // namespace

std::string weak_etag(std::string_view content) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string tag = "W/\"";
  for (int shift = 60; shift >= 0; shift -= 4) tag.push_back(digits[hash >> shift & 15]);
  return tag + "\"";
}

std::optional<Asset> Assets::find(std::string_view name) const {
  const auto files = built_in_files();
  const auto built_in =
      std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == name; });
  if (folder_.empty()) {
    if (built_in == files.end()) return std::nullopt;
    return Asset{type_of(name), std::string(built_in->content), weak_etag(built_in->content)};
  }
  // A file that is new in the folder is served too, as long as its name is a plain one.
  const bool plain = !name.empty() && name.front() != '.' &&
                     name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
  if (!plain) return std::nullopt;
  auto content = base::read_file(std::filesystem::path(folder_) / name, 16 << 20);
  if (!content) return std::nullopt;
  std::string tag = weak_etag(*content);
  return Asset{type_of(name), std::move(*content), std::move(tag)};
}

}  // namespace askbase::web
