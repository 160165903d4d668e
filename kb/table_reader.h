// Reads tables as people have them: text with separators, in UTF-8, UTF-16 or GB18030, with or without
// quotation marks (RFC 4180), with any line ends. Knows nothing of headers or facts.
//
// A reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/charset.h"
#include "base/input.h"
#include "base/result.h"

namespace askbase::kb {

// Where "..." encloses a field. rfc4180: everywhere, line breaks included. line: only where the field closes
// properly on its line; any other quotation mark is text (tab-separated files often have such).
enum class Quoting : std::uint8_t { rfc4180, line };

struct TableFormat {
  base::Charset charset = base::Charset::utf8;
  char separator = ',';
  Quoting quoting = Quoting::rfc4180;
};

// Looks at the beginning of the file (up to the first bytes above 0x7F for the charset, 64 KiB for the rest).
// A separator of 0 is found out. Errors: unsupported (encoding; names the line), bad_input, io.
base::Result<TableFormat> detect_table(base::Input& input, char separator);

struct TableRow {
  std::uint64_t line = 0;                // where it starts, from 1
  std::vector<std::string_view> fields;  // white space at the ends is kept; live until the next row
  std::vector<bool> quoted;              // for each field
  std::string problem;                   // of a bad row
};

class TableReader {
 public:
  TableReader(base::Input& input, const TableFormat& format);

  // bad: the row cannot be used (TableRow::problem says why, without the place); reading can go on.
  enum class Outcome : std::uint8_t { row, bad, end };
  // Blank lines are skipped. Errors: too_large for a row over 16 MiB, and what the input says.
  base::Result<Outcome> next(TableRow& row);

 private:
  enum class FieldEnd : std::uint8_t { field, row, end };

  bool fill();  // more into text_; false at the end or on an error (status_)
  std::string decode_rows(std::string_view raw);
  bool peek(char& c);
  void skip_line_end(char c);
  FieldEnd read_field(std::string& problem);
  FieldEnd read_plain();
  FieldEnd read_quoted(std::string& problem);
  FieldEnd read_quoted_on_line();
  FieldEnd end_field();
  bool is_end(char c) const { return c == format_.separator || c == '\n' || c == '\r'; }
  base::Status too_long() const;

  base::Input& input_;
  TableFormat format_;
  base::Status status_;
  std::string raw_;      // read, not yet decoded
  std::string text_;     // decoded
  std::size_t at_ = 0;   // in text_
  bool at_end_ = false;  // of the input
  bool has_marker_ = false;
  std::uint64_t line_ = 1;  // where at_ stands
  std::uint64_t row_line_ = 1;
  std::string record_;  // the fields' text, one after the other
  std::vector<std::size_t> ends_;
  std::vector<bool> quoted_;
};

}  // namespace askbase::kb
