// The files of a load: formats, standard input, and the hash that tells a file that has not changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "base/result.h"
#include "kb/load.h"
#include "kb/table_plan.h"

namespace askbase::kb {

// A file that can be read as often as needed.
class LoadFile {
 public:
  // Standard input ("-") and pipes are copied into a temporary file (without a name) in the folder, which is
  // asked for only then. Errors: unsupported for a format that is not known, with what to do; not_found, io.
  static base::Result<LoadFile> open(
      const std::filesystem::path& path, const LoadOptions& options,
      const std::function<base::Result<std::filesystem::path>()>& temporary_folder);

  Format format() const { return format_; }
  // For messages: the path as given.
  const std::string& name() const { return name_; }
  // What a source made of this file alone is called: the file's name without its folder.
  std::string source_name() const;
  // Files only: their bytes as they are on disk. Errors: io, cancelled.
  base::Result<std::string> hash() const;
  // Error when the file is another one than when it was opened.
  base::Status check_unchanged() const;
  base::Result<std::unique_ptr<base::Input>> input() const;
  TableSource table(const std::string& table_name) const;

 private:
  struct Stamp {
    std::uint64_t size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  base::Result<Stamp> stamp() const;

  std::filesystem::path path_;  // to read from
  std::string name_;
  Format format_ = Format::unknown;
  Stamp stamp_;
  std::shared_ptr<int> spool_;  // keeps the temporary file's descriptor
};

}  // namespace askbase::kb
