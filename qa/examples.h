// Questions that a KB can answer, made from its own predicates.
#pragma once

#include <string>
#include <vector>

#include "base/language.h"
#include "base/result.h"
#include "kb/store.h"
#include "qa/lexicon.h"

namespace askbase::qa {

// Both directions in turn, predicates with many facts first, no subject twice while there are others. Only
// entities with a name in the language, when the KB has such. Errors: corrupt, io.
base::Result<std::vector<std::string>> make_examples(const kb::View& view, const Lexicon& lexicon,
                                                     base::Language language, std::size_t limit);

}  // namespace askbase::qa
