// Any bytes as JSON lines of facts and of wordings. What is read must be facts that N-Triples can write.
#include "base/input.h"
#include "base/text.h"
#include "kb/jsonl_reader.h"
#include "kb/ntriples_reader.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/kb_load_support.h"

using namespace askbase;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(test::bytes(data + 1, size - 1));
  const kb::BlankLabels blanks("test");
  const auto input = base::Input::from_string(text, "test");
  test::Collector sink((data[0] & 1) != 0);
  if ((data[0] & 2) != 0) {
    const auto resolve = [](std::string_view name) -> base::Result<std::string> {
      if (name.size() % 2 == 0) return std::string("urn:p");
      return base::fail(base::ErrorCode::not_found, "none");
    };
    (void)kb::read_wordings(*input, resolve, sink);
  } else {
    (void)kb::read_jsonl(*input, blanks, sink);
  }
  for (kb::Fact& fact : sink.facts) {
    fact.graph.clear();  // any text may name a source
    kb::Fact again;
    const std::string line = test::Collector::line(fact);
    kb::NTriplesLine reader(line, false, blanks);
    const auto read = reader.next(again);
    FUZZ_CHECK(read && *read);
    FUZZ_CHECK(again.subject == fact.subject && again.predicate == fact.predicate &&
               again.object == fact.object);
  }
  return 0;
}
