// The text of a Turtle or TriG file on its way to the parser library, a byte at a time.
//
// Does what the parser library leaves out: refuses invalid UTF-8, NUL, escapes that are no character, nesting
// that would exhaust the stack and terms over 16 MiB; counts lines; and, after an error, finds where the next
// statement starts. Blank node labels that start with b, B or x get an x in front, so that they cannot meet
// the labels that the library makes up itself.
//
// For that it follows the outer form of the text (comments, IRIs, strings, names), not its grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/input.h"
#include "base/result.h"
#include "kb/fact_sink.h"

namespace askbase::kb {

class TurtleFilter {
 public:
  // Faults go to the sink; when it tolerates them, what is bad is replaced by `marker`, so that the term
  // that holds it can be recognised and left out.
  TurtleFilter(base::Input& input, FactSink& sink);

  // The next byte; false at the end, or after a failure (then status() has it).
  bool next(char& byte);
  const base::Status& status() const { return status_; }
  // Of the byte last returned, from 1.
  std::uint64_t line() const { return line_; }
  std::uint64_t column() const { return column_; }

  // Moves to the end of the statement (or of the graph block, whose rest would lose its graph).
  void skip_statement();

  // U+FFFE, a character that stands in no text. True in has_marker once one was put in.
  static constexpr std::string_view marker = "\xEF\xBF\xBE";
  bool has_marker() const { return has_marker_; }

 private:
  enum class State : std::uint8_t { normal, comment, iri, text, long_text };

  bool produce();  // the next unit of the text goes from in_ to pending_
  bool fill();     // more into in_
  bool is_next(std::string_view text) const { return std::string_view(in_).substr(at_, text.size()) == text; }
  void take(std::size_t count);
  template <typename Ordinary>
  void take_run(const Ordinary& is_ordinary);
  void in_normal(char c);
  bool in_term(char c);
  bool escape();
  bool fault(std::string_view reason, std::size_t skipped);
  void fail(base::Error error);

  base::Input& input_;
  FactSink& sink_;
  base::Status status_;
  std::string in_;                // read ahead
  std::size_t at_ = 0, bad_ = 0;  // in in_: the next byte; the first byte that is not UTF-8 (or its size)
  bool at_end_ = false;           // of the input
  std::string pending_;           // produced, not yet returned
  std::size_t pending_at_ = 0;
  State state_ = State::normal;
  char quote_ = 0;
  bool in_name_ = false;  // the byte before belongs to a name or a number
  int depth_ = 0;         // of brackets that are open
  int braces_ = 0;
  std::size_t term_bytes_ = 0;
  std::uint64_t line_ = 1, column_ = 0;
  bool line_ended_ = false;
  char last_mark_ = 0;  // '.' or '}' when nothing but white space has come since
  bool has_marker_ = false;
};

}  // namespace askbase::kb
