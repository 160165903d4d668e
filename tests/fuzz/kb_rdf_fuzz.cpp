// Any bytes as N-Triples, N-Quads, Turtle and TriG, strict and leaving bad lines out. What is read must be
// facts that N-Triples can write and read back.
#include "base/input.h"
#include "kb/ntriples_reader.h"
#include "kb/rdf_reader.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/kb_load_support.h"

using namespace askbase;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const kb::Format format = static_cast<kb::Format>(1 + (data[0] & 3));
  const bool strict = (data[0] & 4) != 0;
  const std::string text(test::bytes(data + 1, size - 1));
  test::Collector sink(strict);
  const auto status = test::read_rdf(text, format, sink);
  FUZZ_CHECK(status || status.error().code != base::ErrorCode::internal);
  const kb::BlankLabels blanks("test");
  for (const kb::Fact& fact : sink.facts) {
    const std::string line = test::Collector::line(fact);
    kb::Fact again;
    kb::NTriplesLine reader(line, true, blanks);
    const auto read = reader.next(again);
    FUZZ_CHECK(read && *read);
    FUZZ_CHECK(again.subject == fact.subject && again.predicate == fact.predicate &&
               again.object == fact.object && again.graph == fact.graph);
  }
  return 0;
}
