// Reads N-Triples and N-Quads (W3C RDF 1.1), a line at a time.
//
// Everything the grammar forbids is refused: relative IRIs, bad escapes, surrogates, invalid UTF-8. A reader
// belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/input.h"
#include "base/result.h"
#include "kb/fact_sink.h"
#include "kb/rdf_terms.h"

namespace askbase::kb {

// quads: a fourth place may name the graph. Errors: what the sink and the input say; too_large for a line
// over 16 MiB.
base::Status read_ntriples(base::Input& input, bool quads, const BlankLabels& blanks, FactSink& sink);

// One line: true when it holds a fact, false when it is blank or a comment (or its fact has been read: a
// line may hold several where they are separated by lone carriage returns).
class NTriplesLine {
 public:
  NTriplesLine(std::string_view line, bool quads, const BlankLabels& blanks);
  // Error bad_input: the reason, with the column (bytes, from 1).
  base::Result<bool> next(Fact& fact);

 private:
  void skip_blanks();
  bool at_end() const { return at_ == end_; }
  bool resource(Term& term, const char* expected);  // an IRI or a blank node
  bool subject(Term& term);
  bool object(Term& term);
  bool iri(std::string& out);
  bool blank(std::string& out);
  bool literal(Term& term);
  bool graph(std::string& out);
  bool escape(std::string& out, bool in_iri);
  bool wrong(const char* reason) {
    reason_ = reason;
    return false;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool quads_;
  bool checked_ = false;  // for UTF-8
  const BlankLabels& blanks_;
  const char* reason_ = nullptr;
  std::string label_;  // scratch
};

}  // namespace askbase::kb
