// The readers that a program has, one a language, shared by all who read: the questions about documents and
// POST /api/v1/read.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/language.h"
#include "base/result.h"
#include "qa/analysis.h"
#include "reader/text_reader.h"

namespace askbase::qa {

// Thread-safe. As many texts are read at once as there are threads; others wait for their turn, no longer
// than their deadline.
class TextReaders {
 public:
  // Null: no reader of that language. threads: that one reading may use, and readings at once.
  TextReaders(std::shared_ptr<const reader::TextReader> english,
              std::shared_ptr<const reader::TextReader> chinese, int threads);
  ~TextReaders();
  TextReaders(const TextReaders&) = delete;
  TextReaders& operator=(const TextReaders&) = delete;

  bool reads(base::Language language) const;

  // One reading a text, in order; offsets in code points of the text. Errors: unsupported without a reader
  // of the language; timeout.
  base::Result<std::vector<reader::Reading>> read(base::Language language, std::string_view question,
                                                  std::span<const std::string_view> texts,
                                                  const reader::ReadOptions& options,
                                                  const Deadline& deadline) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace askbase::qa
