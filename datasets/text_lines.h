// Lines of a file with their place in messages. Internal to datasets/.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/input.h"
#include "base/result.h"
#include "base/text.h"

namespace askbase::datasets {

class TextLines {
 public:
  static base::Result<TextLines> open(const std::filesystem::path& path) {
    ASKBASE_ASSIGN(std::unique_ptr<base::Input> input, base::Input::open(path));
    return TextLines(std::move(input));
  }
  // False at the end. The view lives until the next call. Errors: io, bad_input (not UTF-8).
  base::Result<bool> next(std::string_view& line) {
    ASKBASE_ASSIGN(const bool more, reader_->next(line));
    if (more && !base::valid_utf8(line)) return bad("not UTF-8", "convert the file to UTF-8");
    return more;
  }
  std::uint64_t number() const { return reader_->line_number(); }
  std::string place() const { return input_->name() + ":" + std::to_string(number()); }
  tl::unexpected<base::Error> bad(const std::string& what, const std::string& hint) const {
    return base::fail(base::ErrorCode::bad_input, place() + ": " + what, hint);
  }

 private:
  explicit TextLines(std::unique_ptr<base::Input> input)
      : input_(std::move(input)), reader_(std::make_unique<base::LineReader>(*input_)) {}
  std::unique_ptr<base::Input> input_;
  std::unique_ptr<base::LineReader> reader_;
};

}  // namespace askbase::datasets
