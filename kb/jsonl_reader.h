// Reads JSON lines: facts {"s", "p", "o", "source"?} and wordings {"predicate", "lang", "wording"}. One
// object a line; blank lines are skipped. docs/loading.md has the fields. A reader belongs to one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/input.h"
#include "base/result.h"
#include "kb/fact_sink.h"
#include "kb/rdf_terms.h"

namespace askbase::kb {

// Names become IRIs (kb/load_names.h) with a label. A fact's "source" is put into Fact::graph. Errors: what
// the sink and the input say.
base::Status read_jsonl(base::Input& input, const BlankLabels& blanks, FactSink& sink);

// The IRI of a predicate that a wording names; the error says what is near.
using PredicateResolver = std::function<base::Result<std::string>(std::string_view name)>;
base::Status read_wordings(base::Input& input, const PredicateResolver& resolve, FactSink& sink);

}  // namespace askbase::kb
