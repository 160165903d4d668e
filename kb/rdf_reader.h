// Reads RDF files: N-Triples, N-Quads, Turtle and TriG (W3C RDF 1.1).
//
// N-Triples and N-Quads are read by kb/ntriples_reader; Turtle and TriG by the library serd behind
// kb/turtle_filter. A reader belongs to one thread.
#pragma once

#include <string>

#include "base/input.h"
#include "base/result.h"
#include "kb/fact_sink.h"
#include "kb/load.h"
#include "kb/rdf_terms.h"

namespace askbase::kb {

// Relative IRIs are resolved against base_iri. Errors: what the sink and the input say, bad_input, too_large.
base::Status read_rdf(base::Input& input, Format format, const std::string& base_iri,
                      const BlankLabels& blanks, FactSink& sink);

}  // namespace askbase::kb
