// Where the readers of files put what they read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kb/term.h"

namespace askbase::kb {

struct Fact {
  Term subject, predicate, object;
  std::string graph;      // an IRI, "_:label", or empty for the default graph
  std::uint64_t row = 0;  // as Origin::row
};

// A reader fills slot() (every field, for slots are reused with what the last fact left in them) and hands
// it over with add(); what it cannot read goes to bad(). Used by one thread.
class FactSink {
 public:
  virtual ~FactSink() = default;
  virtual Fact& slot() = 0;
  // An error ends the reading: the fact is refused, the user interrupted, or the store failed.
  virtual base::Status add() = 0;
  // Something on this line (from 1) is wrong. An error (strict mode) ends the reading; otherwise the reader
  // goes on with what follows.
  virtual base::Status bad(std::uint64_t line, std::string_view reason) = 0;

  base::Status add(const Term& subject, const Term& predicate, const Term& object, std::uint64_t row) {
    Fact& fact = slot();
    fact.subject = subject;
    fact.predicate = predicate;
    fact.object = object;
    fact.graph.clear();
    fact.row = row;
    return add();
  }
};

}  // namespace askbase::kb
